"""Rows that the table itself marks: rejected dates, limiting dates, and the rows of other sites."""

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


def rows_to_use(grid: Grid, columns: Columns, notes: Notes) -> list[int]:
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
        limiting = {i for i in rows if _is_limiting(grid, columns.limiting, i, faults)}
        rows = [i for i in rows if i not in limiting]
        if limiting:
            lines = name_lines([grid.lines[i] for i in sorted(limiting)])
            notes.fact("limiting", f"{len(limiting)} rows left out", f"the column {quote(columns.limiting.text)}")
            notes.warn(f"limiting dates bound the sea level from one side only and are left out ({lines}).")
    faults.refuse(grid.path)
    if not rows:
        raise problem(grid.path, "every row is marked as rejected or limiting", "check the flags")
    return rows


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
