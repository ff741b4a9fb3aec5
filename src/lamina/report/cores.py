"""Sentences about what only real cores have: kinds of dates, layers, depths, limits, outliers, offsets."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from ..methods.mcmc.renewal import FREEDOM, OUTLIER_FACTOR, OUTLIER_SHARE
from ..records.axes import describe
from ..support.numbers import count, join_words, number, percent

if TYPE_CHECKING:
    from ..posterior import Posterior

_KINDS = {
    "SplitNormal": "split-normal (errors that differ on both sides)",
    "Uniform": "uniform over a range",
    "StudentT": "Student-t, so that single dates may be far off (Christen & Pérez 2009)",
    "Tabulated": "given as a table of density",
    "Radiocarbon": "radiocarbon ages, calibrated within the posterior with",
}


def methods(posterior: Posterior) -> list[str]:
    """Sentences for the methods paragraph; none for a plain record."""
    return [*_dates(posterior), *_layers(posterior), *_values(posterior)]


def _sentence(facts: list[str]) -> list[str]:
    text = join_words(facts)
    return [f"{text[0].upper()}{text[1:]}."] if text else []


def _dates(posterior: Posterior) -> list[str]:
    record = posterior.record
    kinds = Counter(type(date).__name__ for date in record.dates or () if date is not None)
    curves = sorted({str(getattr(date, "curve", "")) for date in record.dates or ()} - {""})
    facts = [
        f"{count(n, 'date')} {'was' if n == 1 else 'were'} {_KINDS[kind]}"
        + (f" {join_words(curves)}" if kind == "Radiocarbon" else "")
        for kind, n in kinds.items()
    ]
    if posterior.model.t_errors == "student":
        facts.append(f"dates given with a standard deviation had errors that were {_KINDS['StudentT']}")
    thick = 0 if record.thickness is None else int((record.dated & (record.thickness > 0.0)).sum())
    if thick:
        of = "was of a slice" if thick == 1 else "were of slices"
        facts.append(
            f"{count(thick, 'date')} {of} of core, from an unknown depth within, which adds to the error what the "
            "accumulation near it gives"
        )
    undated = int((~record.dated).sum())
    if undated:
        its = "its" if undated == 1 else "their"
        facts.append(f"{count(undated, 'layer')} had no date; {its} age follows from the others")
    return _sentence(facts)


def _layers(posterior: Posterior) -> list[str]:
    problem, record, rows = posterior.problem, posterior.record, posterior.problem.rows
    text, facts = [], []
    if record.depth is not None and not posterior.as_measured:
        text.append("Gaps were measured in time per unit of depth.")
    if len(problem.record) < len(record):
        facts.append(f"{count(len(record) - len(problem.record), 'row')} shared the layer of another")
    blocks = len(set(rows.block[rows.block >= 0].tolist()))
    if blocks:
        facts.append(f"the order within {count(blocks, 'block')} of rows at equal depth was taken as unknown")
    if record.hiatus is not None and record.hiatus.any():
        facts.append(f"{count(int(record.hiatus.sum()), 'hiatus', 'hiatuses')} could have any length")
    if rows.least.any():
        least = rows.least[rows.least > 0.0]
        span = number(float(least.min())) if np.ptp(least) == 0.0 else f"{number(least.min())} to {number(least.max())}"
        facts.append(f"neighbours were at least {span} {describe(record).duration} apart".replace("  ", " "))
    return text + _sentence(facts)


def _values(posterior: Posterior) -> list[str]:
    model, record, text = posterior.model, posterior.record, []
    if record.limit is not None and record.limit.any():
        above, below = int((record.limit > 0).sum()), int((record.limit < 0).sum())
        text.append(
            f"{count(above + below, 'row')} bounded the curve from one side ({above} from below, {below} from above), "
            "through the probability that a value with the reported error would lie on that side."
        )
    if model.outliers == "mixture":
        text.append(
            f"A value was an outlier, with {np.sqrt(OUTLIER_FACTOR):g} times its reported error, with a prior "
            f"probability of {percent(OUTLIER_SHARE)}."
        )
    elif model.outliers == "student":
        text.append(f"Errors of the values followed Student's t with {FREEDOM:g} degrees of freedom.")
    if model.offsets is not None:
        sd = f"{number(model.offsets)} {record.y_unit}".rstrip()
        text.append(f"Each sequence had a vertical offset with a normal prior of standard deviation {sd}.")
    return text
