"""Calibration curves: the radiocarbon age of each calendar year."""

from __future__ import annotations

import importlib.util
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..errors import MissingExtraError

Array = np.ndarray


class Curve(NamedTuple):
    """A calibration curve in steps of one calendar year: year (BP, increasing), radiocarbon age and its sd, (n,)."""

    year: Array
    age: Array
    sd: Array


@lru_cache
def load_curve(name: str) -> Curve:
    """The calibration curve of this name, interpolated linearly to whole calendar years, as in iosacal.

    It is read from the files of iosacal. Importing iosacal itself would load Matplotlib.
    """
    spec = importlib.util.find_spec("iosacal")
    if spec is None or not spec.submodule_search_locations:
        raise MissingExtraError(
            'radiocarbon ages need the curves of iosacal, which is not installed: pip install "lamina[radiocarbon]".'
        )
    path = Path(spec.submodule_search_locations[0], "data", f"{name.lower()}.14c")
    year, age, sd = np.loadtxt(path, delimiter=",", usecols=(0, 1, 2), encoding="latin-1")[::-1].T
    years = np.arange(year[0], year[-1])
    curve = Curve(years, np.interp(years, year, age), np.interp(years, year, sd))
    for values in curve:
        values.setflags(write=False)
    return curve
