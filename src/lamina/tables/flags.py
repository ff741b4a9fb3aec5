"""Rows that the table itself marks: rejected dates, limiting dates, hiatuses, and the rows of other sites."""

from .aliases import Columns, must_be_named
from .facts import Notes
from .grid import Grid
from .headers import Header
from .options import Options
from .problems import Faults, listing, name_lines, option, problem, quote

_YES = {
    "yes",
    "y",
    "true",
    "t",
    "1",
    "x",
    "reject",
    "rejected",
    "exclude",
    "excluded",
    "omit",
    "omitted",
    "discarded",
    "outlier",
}
_NO = {"", "no", "n", "false", "f", "0", "keep", "kept", "accept", "accepted", "ok", "use", "used", "na", "nan", "-"}
_INDEX = {
    "",
    "0",
    "no",
    "n",
    "none",
    "false",
    "na",
    "slip",
    "index",
    "index point",
    "sea level index point",
    "sea-level index point",
}
_LIMITING = {"1", "-1", "2", "yes", "y", "true", "x", "marine", "terrestrial", "freshwater"}
#: Words for what lies below the water, where the curve is above it, and for what lies above.
_SIDES = {"marine": "above", "terrestrial": "below", "freshwater": "below", "fresh water": "below"}


def rows_of_site(grid: Grid, columns: Columns, options: Options, notes: Notes) -> list[int]:
    """The rows of the site or core that the user asked for; all rows without one. Raises TableError."""
    everything = list(range(len(grid.cells)))
    if options.site is None:
        return everything
    if options.sequence is not None and options.sequence.lower() != "none":
        headers = [must_be_named(grid, options.sequence, option("sequence", "COLUMN"))]
    else:
        headers = [header for header in (columns.site, columns.core) if header is not None]
    if not headers:
        raise problem(grid.path, "no column names sites or cores", f"name it with {option('sequence', 'COLUMN')}")
    wanted = options.site.strip().casefold()
    for header in headers:
        rows = [i for i in everything if grid.cells[i][header.index].casefold() == wanted]
        if rows:
            notes.fact("site", f"{len(rows)} of {len(everything)} rows, those of {quote(options.site)}", "you said so")
            return rows
    names = listing(dict.fromkeys(name for name in grid.column(headers[0]) if name))
    raise problem(
        grid.path, f"there is no {quote(options.site)}, but {names}", "correct the site", column=headers[0].text
    )


def rows_to_use(grid: Grid, columns: Columns, options: Options, notes: Notes) -> list[int]:
    """The rows that no flag leaves out. Raises TableError for a flag that is not clear, or if none is left."""
    rows = list(range(len(grid.cells)))
    faults = Faults()
    marked = {header.index: {i for i in rows if _is_set(grid, header, i, faults)} for header in columns.rejects}
    for header in columns.rejects:
        rejected = marked[header.index]
        lines = f" ({name_lines([grid.lines[i] for i in sorted(rejected)])})" if rejected else ""
        notes.fact("rejected", f"{len(rejected)} rows left out{lines}", f"the column {quote(header.text)}")
    rows = [i for i in rows if not any(i in rejected for rejected in marked.values())]
    if columns.limiting is not None and _tells_limiting(grid, columns.limiting):
        limiting = [i for i in rows if _is_limiting(grid, columns.limiting, i, faults)]
        used = [i for i in limiting if options.limiting != "drop" and _side(grid, columns.limiting, i) is not None]
        dropped = sorted({*limiting} - {*used})
        rows = [i for i in rows if i not in dropped]
        _note_limiting(grid, columns.limiting, used, dropped, options, notes)
    faults.refuse(grid.path)
    if not rows:
        raise problem(grid.path, "every row is marked as rejected or limiting", "check the flags")
    return rows


def limits(grid: Grid, columns: Columns) -> list[str | None] | None:
    """On which side of each row's value the curve lies, "above" or "below", None where it is measured. None for none.

    The grid holds the rows to use only.
    """
    if columns.limiting is None or not _tells_limiting(grid, columns.limiting):
        return None
    sides = [_side(grid, columns.limiting, i) for i in range(len(grid.cells))]
    return sides if any(sides) else None


def flagged(grid: Grid, header: Header, faults: Faults) -> list[bool]:
    """Whether each row has a yes in a column of flags. Cells that are neither yes nor no are added to the faults."""
    return [_is_set(grid, header, i, faults) for i in range(len(grid.cells))]


def _note_limiting(
    grid: Grid, header: Header, used: list[int], dropped: list[int], options: Options, notes: Notes
) -> None:
    why = f"the column {quote(header.text)}"
    if used:
        sides = {side: [grid.lines[i] for i in used if _side(grid, header, i) == side] for side in ("above", "below")}
        told = "; ".join(f"the curve is {side} {name_lines(lines)}" for side, lines in sides.items() if lines)
        notes.fact("limits", told, f"{why}; leave them out with {option('limiting', 'drop')}")
    if dropped:
        said = ", you said so" if options.limiting == "drop" else ""
        notes.fact("limiting", f"{len(dropped)} rows left out", why + said)
    if dropped and options.limiting != "drop":
        notes.warn(
            "limiting dates bound the sea level from one side only; those that do not say which are left out "
            f"({name_lines([grid.lines[i] for i in dropped])}). Write marine or terrestrial to use them."
        )


def _side(grid: Grid, header: Header, row: int) -> str | None:
    """ "above" or "below" if a cell says on which side of its value the curve lies."""
    flag = grid.cells[row][header.index].casefold()
    if flag in _INDEX:
        return None
    found = {side for word, side in _SIDES.items() if word in flag}
    return found.pop() if len(found) == 1 else None


def _is_set(grid: Grid, header: Header, row: int, faults: Faults) -> bool:
    flag = grid.cells[row][header.index].casefold()
    if flag not in _YES | _NO:
        _unclear(grid, header, row, faults)
    return flag in _YES


def _is_limiting(grid: Grid, header: Header, row: int, faults: Faults) -> bool:
    flag = grid.cells[row][header.index].casefold()
    limiting = flag in _LIMITING or "limiting" in flag
    if not limiting and flag not in _INDEX:
        _unclear(grid, header, row, faults)
    return limiting


def _tells_limiting(grid: Grid, header: Header) -> bool:
    """A column called "type" may be about anything; it counts if each of its cells is one of our words."""
    if header.rank == 0:
        return True
    flags = {flag.casefold() for flag in grid.column(header)}
    if flags & {"0", "1", "-1"}:
        return "0" in flags and flags <= {"0", "1", "-1", ""}
    known = {flag for flag in flags if flag in _INDEX | _LIMITING or "limiting" in flag}
    return flags == known and flags != {""}


def _unclear(grid: Grid, header: Header, row: int, faults: Faults) -> None:
    faults.add(
        f"found {quote(grid.cells[row][header.index])} as a flag", "write yes or no", grid.lines[row], header.text
    )
