"""Which core or site each row belongs to."""

from .aliases import Columns, must_be_named
from .facts import Notes
from .grid import Grid
from .options import Options
from .problems import listing, option, quote


def label_rows(grid: Grid, columns: Columns, options: Options, notes: Notes) -> list[str | None] | None:
    """The sequence of each row, None for a row that has none; None for all if no column names any."""
    if options.sequence is not None and options.sequence.lower() == "none":
        notes.fact("sequences", "one, with all rows", "you said so")
        return None
    if options.sequence is not None:
        headers = [must_be_named(grid, options.sequence, option("sequence", "COLUMN"))]
    else:
        headers = [h for h in (columns.site, columns.core) if h is not None and any(grid.column(h))]
        varying = [h for h in headers if len(set(grid.column(h))) > 1]
        headers = varying or headers[-1:]
    if not headers:
        notes.fact("sequences", "one, with all rows", "no column names cores or sites")
        return None
    labels = []
    for row in grid.cells:
        parts = [row[header.index] for header in headers]
        labels.append(" / ".join(parts) if all(parts) else None)
    names = list(dict.fromkeys(label for label in labels if label is not None))
    why = f"the column {' and '.join(quote(h.text) for h in headers)}"
    notes.fact("sequences", f"{len(names)}: {listing(names)}", why)
    if any(h is columns.site for h in headers) and len(names) > 1:
        notes.warn(
            f"{len(names)} sites share one curve, each with an order of its own. To fit one site, say "
            f"{option('site', 'NAME')}."
        )
    return labels
