"""File formats: bytes to rows of cells, and the columns of other programs to those of lamina. One format per module."""
