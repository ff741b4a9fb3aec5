"""Several columns that may name the core, or the site, of each row."""

from ..file import Table
from ..headers import Header, squash


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
