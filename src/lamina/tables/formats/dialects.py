"""Tables of other programs, recognised by their columns, in the words of lamina."""

from ..file import Grid
from .bacon import from_bacon
from .bchron import from_bchron
from .clam import from_clam
from .undatable import from_undatable

_PROGRAMS = (from_bacon, from_bchron, from_clam, from_undatable)


def translate(grid: Grid) -> Grid:
    """A grid of a known program with the headers and cells of other tables; any other grid as it is."""
    for program in _PROGRAMS:
        grid = program(grid)
        if grid.program:
            break
    return grid
