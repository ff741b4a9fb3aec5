"""Cells that hold more, or less, than one number each: they are rewritten before anything is read."""
