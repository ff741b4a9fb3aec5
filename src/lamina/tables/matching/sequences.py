"""Several columns that may name the core, or the site, of each row."""

from itertools import groupby

from ...support.text import is_number
from ..file import Table
from ..headers import Header, squash
from ..messages import option, quote

#: Rows of a core, on average, in a column that names cores.
_ROWS_EACH = 2


def telling_apart(table: Table, columns: list[Header]) -> list[Header]:
    """The columns of cores or sites, without those that tell the same rows apart by other names, such as numbers.

    If the user names a column, that one if it is among them, and any else: it plays no part.
    """
    chosen = table.options.sequence
    if chosen is not None:
        return [h for h in columns if squash(h.text) == squash(chosen)][:1] or columns[:1]
    found: dict[tuple[int, ...], Header] = {}
    for header in columns:
        cells = table.column(header)
        first = {cell: i for i, cell in reversed(list(enumerate(cells)))}
        rows = tuple(first[cell] for cell in cells)
        if rows not in found or "name" in header.word:
            found[rows] = header
    return list(found.values())


def stacked(table: Table) -> Header | None:
    """A column without a role whose cells are one text for some rows, then another, as if it named cores; else None."""
    if table.options.sequence is not None or any(h.role in ("core", "site") for h in table.headers):
        return None
    for header in table.headers:
        cells = table.column(header)
        blocks = [cell for cell, _ in groupby(cells)]
        several = 1 < len(blocks) == len(set(blocks)) and len(cells) >= _ROWS_EACH * len(blocks)
        if (
            header.text
            and header.role in (None, "label")
            and several
            and all(blocks)
            and not any(map(is_number, blocks))
        ):
            return header
    return None


def or_sequence(table: Table, **answers: str) -> tuple[str, dict[str, str]]:
    """What to say first, and the likeliest answer, if a column seems to name cores; else nothing, and ``answers``."""
    cores = stacked(table)
    if cores is None:
        return "", answers
    first = f"say {option('sequence', quote(cores.text))} if {cores} names cores or sites, or "
    return first, {"sequence": cores.text}
