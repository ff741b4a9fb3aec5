"""Embedded records. Each file beside this one names its sources in its first lines."""

import csv
from importlib import resources

from ..errors import LaminaError
from ..record import Record

MM_PER_M = 1000.0


def names() -> tuple[str, ...]:
    """The names that `load` knows."""
    return tuple(_LOADERS)


def load(name: str) -> Record:
    """An embedded record.

    "nassau": relative sea level at Nassau Landing, Florida. The rows of the core are one sequence, "core",
    increasing in age CE down the rows; the decadal means of the tide gauge are exact inputs and in none.

    "atlantic": relative sea level on the Atlantic coast of North America, 43 places. 1,715 index points of 21 sites,
    collected by Upton et al. (2023) for the package reslr; 217 decadal means of 22 tide gauges (Permanent Service for
    Mean Sea Level, as averaged for Kopp et al. 2016), which are exact inputs; and rates of glacial isostasy, ICE-5G
    (Peltier 2004), without errors. Levels are in m, rates in m/year. No row is in a sequence: the ages of the index
    points come from age-depth models, which used the order of the layers, and it must not be used a second time. If you
    publish results, cite the original studies of the sites beside these collections.

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


def _atlantic() -> Record:
    rows, sites = _rows("atlantic.csv"), _rows("atlantic_sites.csv")
    return Record(
        t=[float(row["age_ce"]) for row in rows],
        t_sd=[float(row["age_sd"]) for row in rows],
        y=[float(row["rsl_m"]) for row in rows],
        y_sd=[float(row["rsl_sd_m"]) for row in rows],
        order="increasing",
        sequence=[None] * len(rows),
        site=[row["site"] for row in rows],
        latitude={row["site"]: float(row["latitude"]) for row in sites},
        longitude={row["site"]: float(row["longitude"]) for row in sites},
        gia={row["site"]: float(row["gia_mm_per_year"]) / MM_PER_M for row in sites},
        t_name="Year",
        t_unit="CE",
        y_name="Relative sea level",
        y_unit="m",
    )


_LOADERS = {"nassau": _nassau, "atlantic": _atlantic}
