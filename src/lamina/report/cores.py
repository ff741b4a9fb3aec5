"""What a report says of the things that only real cores have: kinds of dates, layers, depths, limits, outliers."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from ..methods.mcmc.renewal import FREEDOM, OUTLIER_FACTOR, OUTLIER_SHARE
from ..support.numbers import count, join_words, number, percent, with_sd

if TYPE_CHECKING:
    from .content import Content

_KINDS = {
    "SplitNormal": "split-normal (errors that differ on both sides)",
    "Uniform": "uniform over a range",
    "StudentT": "Student-t, so that single dates may be far off (Christen & Pérez 2009)",
    "Tabulated": "given as a table of density",
    "Radiocarbon": "radiocarbon ages, calibrated within the posterior with",
}
#: A row whose value is more likely an outlier than not is named.
NAMED = 0.5


def methods(content: Content) -> list[str]:
    """Sentences for the methods paragraph; none for a plain record."""
    return [*_dates(content), *_layers(content), *_values(content)]


def _dates(content: Content) -> list[str]:
    record = content.posterior.record
    kinds = Counter(type(date).__name__ for date in record.dates or () if date is not None)
    curves = sorted({str(getattr(date, "curve", "")) for date in record.dates or ()} - {""})
    said = [
        f"{count(n, 'date')} {'was' if n == 1 else 'were'} {_KINDS[kind]}"
        + (f" {join_words(curves)}" if kind == "Radiocarbon" else "")
        for kind, n in kinds.items()
    ]
    undated = int((~record.dated).sum())
    if undated:
        said.append(
            f"{count(undated, 'layer')} had no date and took {'its' if undated == 1 else 'their'} place from the others"
        )
    return [f"{join_words(said)[0].upper()}{join_words(said)[1:]}."] if said else []


def _layers(content: Content) -> list[str]:
    problem, record = content.posterior.problem, content.posterior.record
    rows, text = problem.rows, []
    if record.depth is not None and not content.as_measured:
        text.append("Gaps were measured in time per unit of depth.")
    said = []
    if len(problem.record) < len(record):
        said.append(f"{count(len(record) - len(problem.record), 'row')} shared the layer of another")
    blocks = len(set(rows.block[rows.block >= 0].tolist()))
    if blocks:
        said.append(f"the order within {count(blocks, 'block')} of rows at equal depth was taken as unknown")
    if record.hiatus is not None and record.hiatus.any():
        said.append(f"{count(int(record.hiatus.sum()), 'hiatus', 'hiatuses')} could have any length")
    if rows.least.any():
        least = rows.least[rows.least > 0.0]
        span = number(float(least.min())) if np.ptp(least) == 0.0 else f"{number(least.min())} to {number(least.max())}"
        said.append(f"neighbours were at least {span} {content.axes.duration} apart".replace("  ", " "))
    return text + ([f"{join_words(said)[0].upper()}{join_words(said)[1:]}."] if said else [])


def _values(content: Content) -> list[str]:
    problem, record, text = content.posterior.problem, content.posterior.record, []
    if record.limit is not None and record.limit.any():
        above, below = int((record.limit > 0).sum()), int((record.limit < 0).sum())
        text.append(
            f"{count(above + below, 'row')} bounded the curve from one side ({above} from below, {below} from above), "
            "through the probability that a value with the reported error would lie on that side."
        )
    if problem.model.outliers == "mixture":
        text.append(
            f"A value was an outlier, with {np.sqrt(OUTLIER_FACTOR):g} times its reported error, with a prior "
            f"probability of {percent(OUTLIER_SHARE)}."
        )
    elif problem.model.outliers == "student":
        text.append(f"Errors of the values followed Student's t with {FREEDOM:g} degrees of freedom.")
    if problem.model.offsets is not None:
        text.append(
            "Each sequence had a vertical offset with a normal prior of standard deviation "
            f"{number(problem.model.offsets)} {record.y_unit}".rstrip()
            + "."
        )
    return text


def outliers(content: Content) -> tuple[str, list[list[str]]] | None:
    """A sentence and a table (row, probability) of the likely outliers; None if there was no such model."""
    if content.posterior.model.outliers is None:
        return None
    from .answer import row_name

    found = content.posterior.outliers()
    likely = found[found > NAMED].sort_values(ascending=False)
    if not len(likely):
        return f"No value is more likely an outlier than not; the highest probability is {percent(found.max())}.", []
    told = [[row_name(content, int(str(row))), percent(p)] for row, p in likely.items()]
    return f"{count(len(likely), 'value')} {'is' if len(likely) == 1 else 'are'} more likely an outlier than not:", told


def offsets(content: Content) -> list[list[str]]:
    """One line for each sequence: its name, and its offset."""
    if content.posterior.model.offsets is None:
        return []
    table = content.posterior.offsets()
    return [
        [str(one["sequence"]), with_sd(one["mean"], one["sd"]), f"{number(one['q2.5'])} to {number(one['q97.5'])}"]
        for one in table.to_dict("records")
    ]
