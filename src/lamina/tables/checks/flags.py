"""Columns that leave rows out: reject and outlier, include and used, and status or quality, whose cells say which."""

from ..columns import Reading
from ..headers import Header
from ..messages import counted, flag, listing, quote

YES = {
    *("yes", "y", "true", "t", "1", "1.0", "x", "+"),
    *("reject", "rejected", "exclude", "excluded", "omit", "omitted", "discard", "discarded", "outlier"),
}
NO = {
    *(
        "",
        "no",
        "n",
        "false",
        "f",
        "0",
        "0.0",
        "keep",
        "kept",
        "accept",
        "accepted",
        "ok",
        "use",
        "used",
        "na",
        "nan",
        "-",
    ),
    *("include", "included", "valid", "good"),
}
#: Words for rows to use and to leave out under a header that does not say which, such as status.
_GOOD = {
    "good",
    "ok",
    "accept",
    "accepted",
    "use",
    "used",
    "valid",
    "keep",
    "kept",
    "include",
    "included",
    "reliable",
    "pass",
}
_BAD = {
    *("bad", "reject", "rejected", "outlier", "exclude", "excluded", "invalid", "unreliable", "discard", "discarded"),
    *("omit", "omitted", "fail", "failed", "not used", "unused", "not accepted"),
}
#: Ranks of headers: a yes leaves the row out, or the cells say which. (1 is a yes that keeps the row.)
_LEFT_OUT, _EITHER = 0, 2


def rejected_rows(reading: Reading) -> set[int]:
    """The rows that a column of flags leaves out. Flags that are not clear become faults and questions."""
    rejected: set[int] = set()
    for header in reading.columns.rejects:
        if reading.options.flags == "ignore":
            reading.fact("rejected", f"no row, whatever {header} says", reading.set_by("flags"))
            continue
        marked = _either(reading, header) if header.rank == _EITHER else _marked(reading, header)
        if marked is None:
            continue
        lines = f" ({reading.name_lines(marked)})" if marked else ""
        reading.fact("rejected", f"{counted(len(marked), 'row')} left out{lines}", f"the column {header}")
        rejected |= set(marked)
    return rejected


def flagged(reading: Reading, header: Header) -> list[bool]:
    """Whether each row has a yes in a column of flags. Cells that are neither yes nor no become faults."""
    flags = [cell.casefold() for cell in reading.column(header)]
    for i, text in enumerate(flags):
        if text not in YES and text not in NO:
            note_unclear(reading, header, i)
    return [text in YES for text in flags]


def note_unclear(reading: Reading, header: Header, row: int) -> None:
    """Note a flag that is neither yes nor no."""
    found = f"found {quote(reading.cells[row][header.index])} as a flag"
    reading.fault(found, "write yes or no", row, header)


def _marked(reading: Reading, header: Header) -> list[int]:
    """The rows to leave out under a header that says what a yes means."""
    cells = [cell.casefold() for cell in reading.column(header)]
    if header.rank == _LEFT_OUT:
        return [i for i, is_set in enumerate(flagged(reading, header)) if is_set]
    out = []
    for i, cell in enumerate(cells):
        if cell in _BAD or (cell in NO and cell not in _GOOD):
            out.append(i)
        elif cell not in YES | _GOOD:
            note_unclear(reading, header, i)
    return out


def _either(reading: Reading, header: Header) -> list[int] | None:
    """The rows to leave out under a header such as status; None if it is about something else."""
    cells = [cell.casefold() for cell in reading.column(header)]
    named = {cell for cell in cells if cell}
    if named & _BAD and named <= _GOOD | _BAD:
        return [i for i, cell in enumerate(cells) if cell in _BAD]
    codes = {cell for cell in named if len(cell) <= 2}
    if len(named) > 1 and (named & _BAD or codes == named):
        reading.ask(
            f"the values {listing(sorted(named))} do not say which rows to leave out",
            f"say {flag('flags')} ignore (flags= in Python) to use all rows, or write yes and no into a column named "
            "reject",
            None,
            header,
            flags="ignore",
        )
    return None
