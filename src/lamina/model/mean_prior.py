"""The prior of the mean time per unit of depth, which is integrated out; and whether the dates contradict it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..errors import MethodError
from ..record import Record
from ..records.axes import describe
from .priors import ACC_MEAN, usual_step

if TYPE_CHECKING:
    from .problem import Problem

#: A mean that the dates give contradicts its prior if it lies outside so many standard deviations of the logarithm.
CONTRADICTION = 2.0


class MeanPrior(NamedTuple):
    """Gamma(weight, floor), of the rate of gamma gaps at alpha = 1, Eq. (83)."""

    weight: float
    floor: float


def mean_prior(given: Mapping[str, tuple[float, float]], record: Record, gaps: str) -> MeanPrior | None:
    """The prior of the mean from the user's (median, factor) of acc_mean, or None.

    The mean is inverse-gamma distributed, and its logarithm has standard deviation log(factor). Raises MethodError
    where there is no such mean.
    """
    if ACC_MEAN not in given:
        return None
    if record.depth is None:
        raise MethodError(f"priors: {ACC_MEAN} is the mean time per unit of depth, and the record has no depths.")
    if gaps not in ("gamma", "exponential"):
        raise MethodError(f'priors: {ACC_MEAN} needs gaps="gamma" or "exponential", got gaps="{gaps}".')
    median, factor = given[ACC_MEAN]
    weight = _weight(math.log(factor) ** 2)
    return MeanPrior(weight, median * usual_step(record) * _gamma_median(weight))


def _weight(log_var: float) -> float:
    """The shape of a gamma variable whose logarithm has this variance: between both bounds of the trigamma function."""
    from scipy.optimize import brentq
    from scipy.special import polygamma

    low, high = 1.0 / log_var, (1.0 + math.sqrt(1.0 + 4.0 * log_var)) / (2.0 * log_var)
    return float(brentq(lambda weight: float(polygamma(1, weight)) - log_var, low, high))


def _gamma_median(shape: float) -> float:
    from scipy.special import gammaincinv

    return float(gammaincinv(shape, 0.5))


def contradictions(problem: Problem) -> list[str]:
    """Warnings about a prior of the mean that the dates contradict, one for each sequence."""
    record, depth = problem.record, problem.record.depth
    if ACC_MEAN not in problem.model.priors or depth is None:
        return []
    median, factor = problem.model.priors[ACC_MEAN]
    unit = f"{describe(record).duration or 'units of time'} per {record.depth_unit or 'unit of depth'}"
    found = []
    for name, rows in record.sequences:
        dated = rows[record.dated[rows]]
        if len(dated) < 2 or not np.ptp(depth[dated]) > 0.0:
            continue
        mean = abs(record.t[dated[-1]] - record.t[dated[0]]) / abs(depth[dated[-1]] - depth[dated[0]])
        if abs(math.log(max(mean, 1e-300) / median)) > CONTRADICTION * math.log(factor):
            which = f" of {name}" if len(record.sequences) > 1 else ""
            found.append(
                f"the prior of the mean accumulation rate has a median of {median:g} {unit} (factor "
                f"{factor:g}), but the dates{which} give {mean:.3g} from the first to the last. Check the units, or "
                "give it a larger factor."
            )
    return found
