"""Calibration curves: the radiocarbon age of each calendar year.

``curves.npz`` holds the published curves: of each an integer array, (3, n), of calendar age BP, radiocarbon age and its
standard deviation, in tenths of a year, each row as differences. ``postbomb.csv`` holds post-bomb carbon of five zones.

- IntCal20: Reimer et al. (2020), Radiocarbon 62, doi:10.1017/RDC.2020.41
- SHCal20: Hogg et al. (2020), Radiocarbon 62, doi:10.1017/RDC.2020.59
- Marine20: Heaton et al. (2020), Radiocarbon 62, doi:10.1017/RDC.2020.68
- IntCal13, Marine13: Reimer et al. (2013), Radiocarbon 55. SHCal13: Hogg et al. (2013), Radiocarbon 55
- IntCal09, Marine09: Reimer et al. (2009), Radiocarbon 51
- IntCal04: Reimer et al. (2004), Marine04: Hughen et al. (2004), SHCal04: McCormac et al. (2004), Radiocarbon 46
- IntCal98: Stuiver et al. (1998), Marine98: Stuiver, Reimer & Braziunas (1998), Radiocarbon 40
- post-bomb carbon: Hua et al. (2021), Radiocarbon 64: 723-745, doi:10.1017/RDC.2021.95
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..support.curves import ZONES

Array = np.ndarray

#: The step of a curve that continues to the present, in years: radiocarbon ages changed by 2000 years in 1963 alone.
FINE = 0.05
#: Neighbouring years that are looked at together to find out which part of a curve matters for a date.
COARSE_STEP = 32
_FOLDER = Path(__file__).parent


@dataclass(frozen=True, eq=False)
class Curve:
    """A calibration curve at regular calendar years (BP, increasing), with the radiocarbon age and its sd, (n,)."""

    year: Array
    age: Array
    sd: Array

    def part(self, which: slice) -> Curve:
        """The curve at some of its years."""
        return Curve(self.year[which], self.age[which], self.sd[which])

    @cached_property
    def runs(self) -> Runs:
        """What is known of each run of neighbouring years."""
        starts = np.arange(0, self.year.size, COARSE_STEP)
        lowest, highest = np.minimum.reduceat, np.maximum.reduceat
        return Runs(*(limit(values, starts) for values in (self.age, self.sd) for limit in (lowest, highest)))


class Runs(NamedTuple):
    """The limits of the radiocarbon age and of its sd in each run of years of a curve, (m,)."""

    least_age: Array
    most_age: Array
    least_sd: Array
    most_sd: Array


@lru_cache
def load_curve(name: str) -> Curve:
    """The calibration curve of this name, interpolated linearly to whole calendar years, as in iosacal."""
    year, age, sd = _published(name)
    years = np.arange(year[0], year[-1])
    return _frozen(years, np.interp(years, year, age), np.interp(years, year, sd))


@lru_cache
def load_zone(zone: str) -> Curve:
    """Post-bomb carbon of a zone, from its last year to 1950, in steps of 0.05 years."""
    return joined(zone, 0.0)


@lru_cache(maxsize=8)
def joined(zone: str, oldest: float) -> Curve:
    """Post-bomb carbon of a zone, and before 1950 the curve of its hemisphere, to a calendar age of `oldest` BP."""
    bomb, before = _post_bomb(zone), _published(ZONES[zone])
    young = bomb[0] < 0.0
    year, age, sd = (np.concatenate([new[young], old]) for new, old in zip(bomb, before, strict=True))
    years = year[0] + FINE * np.arange(round((oldest - year[0]) / FINE) + 1)
    return _frozen(years, np.interp(years, year, age), np.interp(years, year, sd))


def _published(name: str) -> Array:
    """Calendar age, radiocarbon age and its standard deviation, (3, n), as published."""
    with np.load(_FOLDER / "curves.npz") as curves:
        return np.cumsum(curves[name], axis=1, dtype=float) / 10.0


def _post_bomb(zone: str) -> Array:
    """The same of post-bomb carbon."""
    lines = (_FOLDER / "postbomb.csv").read_text(encoding="utf-8").splitlines()
    rows = [line.split(",")[1:] for line in lines if line.startswith(f"{zone},")]
    return np.array(rows, dtype=float).T


def _frozen(*columns: Array) -> Curve:
    for values in columns:
        values.setflags(write=False)
    return Curve(*columns)
