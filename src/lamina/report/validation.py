"""The section on dates that were left out of an age-depth model: words, table and figures, as plain data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..records.axes import describe
from ..support.numbers import percent, plain, with_range, with_sd
from ..validation import COVERAGE_LEVELS, Validation
from . import drawing as draw
from .drawing import Figure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..posterior.posterior import Posterior


def section(validation: Validation) -> dict[str, Any]:
    """What the template shows beside the figures."""
    rows = [
        [percent(one["level"]), one["inside"], f"{one['usual_low']} to {one['usual_high']}", percent(one["share"]),
         f"{percent(one['low'])} to {percent(one['high'])}"]
        for one in validation.coverage().to_dict("records")
    ]  # fmt: skip
    return {"summary": str(validation), "n": len(validation.table), "rows": rows}


def figures(validation: Validation, posterior: Posterior, names: Sequence[str] | None) -> dict[str, Figure]:
    """The figures by name. ``names`` are those of the rows of the table that was validated."""
    return {"left-out": _left_out(validation, posterior, names), "calibration": _calibration(validation)}


def _left_out(validation: Validation, posterior: Posterior, names: Sequence[str] | None) -> Figure:
    """Each date less its prediction, with the range of the prediction as a stick."""
    record, axes, table = posterior.record, describe(posterior.record), validation.table
    depth, middle = table["depth"].to_numpy(), table["q50"].to_numpy()
    low, high = (table[name].to_numpy() - middle for name in ("q2.5", "q97.5"))
    off, two = table["t"].to_numpy() - middle, 2.0 * table["t_sd"].to_numpy()
    hovers = [
        draw.hover(
            f"{axes.along} {plain(one['depth'])} {record.depth_unit}".rstrip()
            + ("" if names is None else f", {names[one['row']]}"),
            f"dated {with_sd(one['t'], one['t_sd'])} {record.t_unit}",
            f"predicted {with_range(one['q50'], one['q2.5'], one['q97.5'], record.t_unit)}",
            f"{percent(one['pit'])} of the predicted dates are below it",
        )
        for one in table.to_dict("records")
    ]
    inside = validation.inside(COVERAGE_LEVELS[-1])
    traces = [
        draw.sticks(depth, low, high, name="95 % of the prediction", line={"color": "band-95", "width": 8}),
        draw.sticks(depth, off - two, off + two, name="± 2 sd", line={"color": "group-1", "width": 1}),
    ]
    for which, symbol, name in (inside, "circle", "left out"), (~inside, "circle-open", "outside their 95 % range"):
        some = np.flatnonzero(which)
        if some.size:
            look = {"color": "group-1", "size": 7, "symbol": symbol}
            traces.append(draw.points(depth[some], off[some], [hovers[k] for k in some], marker=look, name=name))
    unit = f" ({axes.duration})" if axes.duration else ""
    frame = draw.layout(axes.depth, f"Date less prediction{unit}")
    frame["shapes"] = [draw.level(0.0)]
    return {"data": traces, "layout": frame}


def _calibration(validation: Validation) -> Figure:
    """The share of the dates that the range of each probability holds."""
    table = validation.calibration()
    level, share, low, high = (table[name].to_numpy() for name in ("level", "share", "low", "high"))
    hovers = [
        draw.hover(f"{percent(p)} range", f"holds {percent(k)} of the dates") for p, k in zip(level, share, strict=True)
    ]
    traces = [
        draw.band(level, low, high, "band-95", name="usual"),
        draw.line([0.0, 1.0], [0.0, 1.0], name="as it should be", line={"color": "muted", "width": 1}),
        draw.centre(level, share, hovers, "dates left out"),
    ]
    return {"data": traces, "layout": draw.layout("Probability of the range", "Share of the dates inside", (0.0, 1.0))}
