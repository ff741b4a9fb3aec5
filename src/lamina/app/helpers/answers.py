"""``python -m lamina.app.helpers.answers``: a process that answers questions to saved posteriors."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import MethodError
from ...methods.draws import affordable
from ...output.fit import TABLE_DRAWS
from ...output.folder import POSTERIOR, RUN
from ...output.run import read_run
from ...posterior.boxes import date_density, input_shifts
from ...posterior.intervals import field_rates, interval_name, interval_rates
from ...posterior.posterior import Posterior, load
from ...records.axes import Axes, describe
from ...report.fields.answers import rate_draws
from ...support.numbers import number, plain, probability, with_range, with_sd
from ...support.text import visible
from .lines import answer_lines

POINTS, BINS = 121, 40


@lru_cache(maxsize=2)
def _loaded(folder: str, changed: int) -> Posterior:
    return load(Path(folder) / POSTERIOR)


def _posterior(folder: str) -> Posterior:
    return _loaded(folder, (Path(folder) / RUN).stat().st_mtime_ns)


def rate(folder: str, first: float, last: float) -> dict[str, Any]:
    """The mean rate over an interval, forward in time, as ``--interval`` gives it: from joint draws of the curve.

    Of a field, the rate of the common curve, if it has one, and under "sites" that of each site.
    """
    posterior = _posterior(folder)
    record, axes = posterior.record, describe(posterior.record)
    if not record.measured.any():
        raise MethodError("an age-depth model has no curve whose rate could be computed.")
    seed = int((read_run(Path(folder)) or {}).get("seed", 0))
    pair = (min(first, last), max(first, last))
    about = {
        "first": pair[0],
        "last": pair[1],
        "span": f"{plain(pair[0])} to {plain(pair[1])}",
        "interval": interval_name(*pair),
        "forward": axes.backwards,
    }
    if record.places is None:
        draws = affordable(len(record), *TABLE_DRAWS)
        (found,) = interval_rates(posterior, [pair], draws, seed, scale=axes.time_sign).to_dict("records")
        return about | _in_words(found, axes)
    sites, common = field_rates(posterior, [pair], rate_draws(record), seed, scale=axes.time_sign)
    shared = [_in_words(one, axes) for one in common.to_dict("records")]
    rows = [{"site": visible(one["site"])} | _in_words(one, axes) for one in sites.to_dict("records")]
    return about | {"common": shared, "sites": rows}


def _in_words(found: dict[Any, Any], axes: Axes) -> dict[str, Any]:
    """A line of a table of rates, as the page shows it."""
    mean, low, high = (axes.unit_factor * found[name] for name in ("mean", "q2.5", "q97.5"))
    text = with_range(mean, low, high, axes.rate_unit)
    return {"text": text, "above": probability(found["p>0"]), "mean": found["mean"]}


def date(folder: str, row: int) -> dict[str, Any]:
    """The reported and the posterior density of one input, and both in words."""
    posterior = _posterior(folder)
    record = posterior.record
    if not 0 <= row < len(record):
        raise MethodError(f"there is no row {row}; the record has {len(record)}.")
    found = input_shifts(posterior, np.array([row])).to_dict("records")[0]
    answer: dict[str, Any] = {"reported": "no date", "posterior": f"{with_sd(found['mean'], found['sd'])}", "prior": []}
    if record.dated[row]:
        exact = record.t_sd[row] == 0.0
        answer["reported"] = f"{plain(record.t[row])} (exact)" if exact else with_sd(found["t"], found["t_sd"])
        if not exact:
            times, height = date_density(record, row, POINTS)
            answer["prior"] = [times.tolist(), (height / np.trapezoid(height, times)).tolist()]
            answer["moved"] = f"{number(found['shift'] / found['t_sd'], 2)} standard deviations"
    if record.depth is not None:
        answer["depth"] = f"{plain(record.depth[row])} {record.depth_unit}".rstrip()
    if record.label is not None and record.label[row] is not None:
        answer["label"] = str(record.label[row])
    values = np.empty(0) if posterior.as_measured else posterior.input_moments(np.array([row]))[0][:, 0]
    if values.size and np.ptp(values) > 0.0:
        heights, edges = np.histogram(values, BINS, weights=posterior.draws.weight, density=True)
        answer["draws"] = [(0.5 * (edges[1:] + edges[:-1])).tolist(), heights.tolist()]
    return {**answer, "unit": record.t_unit, "name": describe(record).time}


def ready() -> bool:
    """A question that only wakes the process."""
    return True


if __name__ == "__main__":
    answer_lines({"rate": rate, "date": date, "ready": ready})
