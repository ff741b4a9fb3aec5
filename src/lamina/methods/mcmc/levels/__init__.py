"""Moves of many inputs at once, at all scales: windows of positions, and the tents, ramps, slides and warps in them."""
