"""Embedded records. Each file beside this one names its sources in its first lines."""

import csv
from importlib import resources

from ..errors import LaminaError
from ..record import Record


def names() -> tuple[str, ...]:
    """The names that `load` knows."""
    return tuple(_LOADERS)


def load(name: str) -> Record:
    """An embedded record.

    "nassau": relative sea level at Nassau Landing, Florida. The rows of the core are one sequence, "core",
    increasing in age CE down the rows; the decadal means of the tide gauge are exact inputs and in none.

    Raises LaminaError for an unknown name.
    """
    if name not in _LOADERS:
        raise LaminaError(f"unknown dataset {name!r}. Choose one of: {', '.join(names())}.")
    return _LOADERS[name]()


def _rows(filename: str) -> list[dict[str, str]]:
    """The rows of a CSV file beside this one, without its leading comments."""
    text = resources.files(__name__).joinpath(filename).read_text(encoding="utf-8")
    return list(csv.DictReader(line for line in text.splitlines() if not line.startswith("#")))


def _nassau() -> Record:
    rows = _rows("nassau_landing.csv")
    return Record(
        t=[float(row["age_ce"]) for row in rows],
        t_sd=[float(row["age_sd"]) for row in rows],
        y=[float(row["rsl_m"]) for row in rows],
        y_sd=[float(row["rsl_sd"]) for row in rows],
        order="increasing",
        sequence=["core" if row["source"] == "core" else None for row in rows],
        t_name="Year",
        t_unit="CE",
        y_name="Relative sea level",
        y_unit="m",
    )


_LOADERS = {"nassau": _nassau}
