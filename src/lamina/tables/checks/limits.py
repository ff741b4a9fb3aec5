"""Limits that look like errors, and errors too large to be errors."""

import re

import numpy as np
from numpy.typing import NDArray

from ..columns import Reading
from ..headers import Header
from ..messages import flag, listing, option
from ..numbers import Array

#: Words that only limits have.
_LIMITS = re.compile("min|max|old|young|limit|bound|range|interval|ci|hpd|%|bottom|top", re.IGNORECASE)
#: Share of rows in which limits must be on both sides of their value, and in which errors may be by chance.
_MOST, _FEW, _HALF = 0.8, 0.1, 0.5
#: An error that differs from its age by less than this part of it is a limit.
_NEAR = 0.25
#: An error is refused if it is larger than its age, and than the record by this factor; or by this one, whatever its
#: age: dates with such errors would scatter far more.
_SPANS, _MANY_SPANS = 2.0, 5.0
_FEWEST, _SEVERAL = 3, 5
#: Upper and lower errors that differ by less than this part of their mean count as one; for limits, which are often
#: rounded, the second.
_ALIKE, _ROUGHLY_ALIKE = 0.05, 0.2
#: Radiocarbon ages below this one may be smaller than their errors, in years.
_OLD = 1000.0


def are_limits(reading: Reading, role: str, pair: tuple[Header, Header], up: Array, low: Array, centre: Array) -> bool:
    """Whether an upper and a lower column hold limits around the values `centre`, not errors. Asks if unclear."""
    name = f"{role}_sides"
    chosen = getattr(reading.options, name)
    if chosen is not None:
        reading.fact(f"{'input' if role == 't' else 'output'} sides", chosen, reading.set_by(name))
        return bool(chosen == "limits")
    known = np.isfinite(up + low + centre)
    up, low, centre = up[known], low[known], centre[known]
    if not centre.size:
        return False
    inside = (np.minimum(up, low) <= centre) & (centre <= np.maximum(up, low)) & (up != low)
    share = float(inside.mean())
    if any(header.says_error for header in pair):
        if share >= _MOST and (_near(up, low, centre) or not _plausible(up, low, centre)):
            _ask(reading, role, pair, f"the limits of {centre[0]:g} would be {low[0]:g} and {up[0]:g}")
            return True
        return False
    if any(_LIMITS.search(header.text) for header in pair):
        return share > _HALF
    by_chance = low.max() <= up.min() or share < 1.0
    if share > _FEW and by_chance and centre.size >= _FEWEST and _plausible(up, low, centre):
        _ask(reading, role, pair, "the numbers could be either")
    return share > _HALF


def _plausible(up: Array, low: Array, centre: Array) -> bool:
    """Whether the numbers could be errors: none negative, and smaller than the values vary or are."""
    if (up < 0.0).any() or (low < 0.0).any():
        return False
    size = max(float(np.ptp(centre)), float(np.abs(centre).max()))
    return bool(max(up.max(), low.max()) <= 1.5 * size)


def _near(up: Array, low: Array, centre: Array) -> bool:
    """Whether the numbers are as large as the value between them, as limits are and errors are not."""
    near = np.abs(centre - 0.5 * (up + low)) < _NEAR * np.abs(centre)
    return bool(near.mean() >= _MOST)


def _ask(reading: Reading, role: str, pair: tuple[Header, Header], why: str) -> None:
    name = f"{role}_sides"
    reading.ask(
        f"{listing(pair)} may hold limits or errors: {why}",
        f"say {flag(name)} limits or {flag(name)} errors ({name}= in Python)",
        None,
        None,
        **{name: "limits"},
    )


def warn_of_uneven(
    reading: Reading, pair: tuple[Header, Header], up: Array, low: Array, what: str, instead: str, *, limits: bool
) -> None:
    """Warn that upper and lower errors, or the distances of two limits, differ, with the row where they do so most."""
    mean, least = (up + low) / 2.0, _ROUGHLY_ALIKE if limits else _ALIKE
    with np.errstate(invalid="ignore", divide="ignore"):
        differ = np.where(mean > 0.0, np.abs(up - low) / mean, 0.0)
    rows = np.flatnonzero(differ > least)
    if rows.size:
        worst = int(np.argmax(np.where(np.isfinite(differ), differ, 0.0)))
        reading.warn(
            f"upper and lower {what} ({listing(pair)}) differ by more than {100 * least:.0f} % in "
            f"{reading.name_lines(rows)}, most in {reading.name_lines(worst)}, {up[worst]:g} and {low[worst]:g}; both "
            f"sides get their mean. {instead}".rstrip()
        )


def refuse_odd_errors(reading: Reading, header: Header, sd: Array, age: Array) -> Array:
    """The errors of radiocarbon ages. Those below 1 year, or larger than an old age, become faults: no laboratory has
    such errors, but other units and limits are like that.
    """
    with np.errstate(invalid="ignore"):
        small, large = (sd > 0.0) & (sd < 1.0), sd > np.maximum(age, _OLD)
    for wrong, what in (small, "smaller than that of any laboratory"), (large, "larger than the age"):
        for i in np.flatnonzero(wrong):
            found = f"the error {sd[i]:g} of a radiocarbon age is {what}"
            reading.fault(found, "check its unit, which must be years, and whether it is a limit", i, header)
    return sd


def warn_of_large_outputs(reading: Reading, header: Header, error: Array, y: Array) -> None:
    """Warn of errors of the output so large that the values would scatter far more: they may be in another unit."""
    known = np.isfinite(error + y)
    if known.sum() <= _FEWEST:
        return
    span, usual = float(np.ptp(y[known])), float(np.median(error[known]))
    if usual > _MANY_SPANS * span > 0.0:
        reading.warn(
            f"the errors in {header} ({usual:g} in the middle) are far larger than the range of all values ({span:g}). "
            "Check their unit, and name it in the header, such as (mm)."
        )


def refuse_large(reading: Reading, header: Header, error: Array, age: Array) -> None:
    """Refuse errors of the input that are larger than the age and the record, with what they are likely to be."""
    known = np.flatnonzero(np.isfinite(error + age) & (error > 0.0))
    if known.size < _FEWEST or reading.options.t_sides is not None:
        return
    span = float(np.ptp(age[known]))
    near = np.abs(error[known] - np.abs(age[known])) <= _NEAR * np.abs(age[known])
    decides = f"or say {option('t_sides', 'errors')} if these are errors"
    if near.mean() >= _MOST and error[known].max() > _HALF * span:
        i = int(known[np.flatnonzero(near)[0]])
        found = f"{error[i]:g} for an age of {age[i]:g} is not an error; it looks like a limit"
        do = f"give both limits as columns age_min and age_max, {decides}"
        raise reading.problem(found, do, known[near], header)
    large = known[(error[known] > _SPANS * span) & (error[known] > np.abs(age[known]))]
    beyond = "the age {age:g} and than the whole record ({span:g})"
    if not large.size and known.size >= _SEVERAL:
        large, beyond = known[error[known] > _MANY_SPANS * span], "the whole record ({span:g}) several times"
    if not large.size or span == 0.0:
        _warn_of_wide(reading, header, known[error[known] > span] if known.size >= _SEVERAL else known[:0], span)
        return
    i = int(large[0])
    what = f"the error {error[i]:g} is larger than {beyond.format(age=age[i], span=span)}"
    if large.size > _HALF * known.size:
        do = f"check its unit and name it in the header, such as {header.text} (yr), {decides}"
        raise reading.problem(what, do, large, header)
    reading.fault(what, f"correct it, {decides}", large, header)


def _warn_of_wide(reading: Reading, header: Header, rows: NDArray[np.intp], span: float) -> None:
    """Warn of errors that are larger than all dates span: such dates say next to nothing, unless the unit is wrong."""
    if rows.size and span > 0.0:
        reading.warn(
            f"the error in {reading.name_lines(rows)} is larger than all dates span ({span:g}), so that the date says "
            f"next to nothing. Check the unit of {header}."
        )
