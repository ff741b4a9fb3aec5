"""The tables that come with lamina, as files that one could have dropped on the page."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path

_HOME = Path(__file__).parents[1] / "datasets"


def _nassau() -> str:
    return (_HOME / "nassau_landing.csv").read_text(encoding="utf-8")


def _atlantic() -> str:
    """The rows of all sites, each with the place of its site and the rate of glacial isostasy there."""
    places = {row["site"]: row for row in _rows("atlantic_sites.csv")}
    written = io.StringIO()
    added = ("latitude", "longitude", "gia_mm_per_year")
    rows = _rows("atlantic.csv")
    table = csv.DictWriter(written, [*rows[0], *added], lineterminator="\n")
    table.writeheader()
    table.writerows(row | {name: places[row["site"]][name] for name in added} for row in rows)
    return written.getvalue()


def _rows(name: str) -> list[dict[str, str]]:
    text = (_HOME / name).read_text(encoding="utf-8")
    return list(csv.DictReader(line for line in text.splitlines() if not line.startswith("#")))


#: The name of each file, and what makes its text, by the name of the record.
EMBEDDED: dict[str, tuple[str, Callable[[], str]]] = {
    "nassau": ("nassau_landing.csv", _nassau),
    "atlantic": ("atlantic.csv", _atlantic),
}
