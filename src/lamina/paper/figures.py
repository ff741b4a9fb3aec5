"""The figures of the paper, drawn from the results of the experiments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import ScalarFormatter

from .functions import FUNCTIONS
from .nassau import SeaLevel

if TYPE_CHECKING:
    import pandas as pd

#: Colours of Okabe & Ito, which colour-blind readers can distinguish, and a marker for prints in grey.
STYLE = {
    "npv": ("#D55E00", "o"),
    "mcmc": ("#0072B2", "s"),
    "nigp": ("#009E73", "^"),
    "gp": ("#666666", "v"),
    "lamina": ("#CC79A7", "D"),
    "measured": ("#000000", "x"),
}
#: The methods that Figure 1 draws, and those of them that estimate the inputs.
SHOWN, ESTIMATING = ("gp", "nigp", "npv", "mcmc", "lamina"), ("npv", "mcmc", "lamina")
LABELS = {"lamina": "lamina (default)", "measured": "measured inputs"}


def figure1(results: pd.DataFrame, y_sd: float) -> Figure:
    """Errors of the curve above, errors of the inputs below, a column for each function."""
    part = results[results["y_sd"] == y_sd]
    functions = [name for name in FUNCTIONS if name in set(part["function"])]
    figure = Figure(figsize=(3.0 * len(functions), 6.2), layout="constrained")
    axes = figure.subplots(2, len(functions), sharex=True, squeeze=False)
    for k, function in enumerate(functions):
        _errors(axes[0, k], part[part["function"] == function], "rmse", SHOWN)
        _errors(axes[1, k], part[part["function"] == function], "mae", ESTIMATING)
        axes[0, k].set_title(f"({chr(97 + k)}) {function}", fontsize=9)
        axes[1, k].set_title(f"({chr(97 + len(functions) + k)}) {function}", fontsize=9)
        axes[1, k].set_xlabel("input error σ_t")
    axes[0, 0].set_ylabel("RMSE of the curve")
    axes[1, 0].set_ylabel("MAE of the inputs")
    figure.suptitle(f"Output error σ_y = {y_sd:g}; mean and standard deviation of the repetitions", fontsize=10)
    _legend(figure, axes)
    return figure


def _errors(ax: Any, part: pd.DataFrame, value: str, methods: tuple[str, ...]) -> None:
    shown = [name for name in methods if name in set(part["method"])]
    for k, name in enumerate(shown):
        own = part[part["method"] == name].groupby("t_sd")[value]
        colour, mark = STYLE[name]
        at = np.array(list(own.groups)) * 1.03 ** (k - len(shown) / 2)  # side by side, so that bars do not overlap
        ax.errorbar(at, own.mean(), own.std(ddof=0), color=colour, marker=mark, ms=4, lw=1.2, capsize=2,
                    label=LABELS.get(name, name))  # fmt: skip
    if value == "mae":
        baseline = part.groupby("t_sd")["baseline"].mean()
        colour, mark = STYLE["measured"]
        ax.plot(baseline.index, baseline, color=colour, marker=mark, ms=4, ls=":", label=LABELS["measured"])
    ax.set_xscale("log")
    ticks = sorted(set(part["t_sd"]))
    ax.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    ax.minorticks_off()
    ax.set_ylim(bottom=0)
    ax.grid(alpha=0.25)


def _legend(figure: Figure, axes: Any) -> None:
    known: dict[str, Any] = {}
    for ax in np.ravel(axes):
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
            known.setdefault(label, handle)
    figure.legend(list(known.values()), list(known), loc="outside lower center", ncols=len(known), frameon=False)


def steps(results: pd.DataFrame) -> Figure:
    """Seconds for one step of each method against N, by algorithm."""
    figure = Figure(figsize=(10.5, 3.8), layout="constrained")
    axes = figure.subplots(1, 3, sharex=True)
    what = {"gp": "likelihood and gradient (gp, nigp)", "npv": "gradient and curvature of 3 components (npv)",
            "mcmc": "sweep over all inputs (mcmc)"}  # fmt: skip
    look = {"markov": ("#0072B2", "s", "O(N) engine"), "dense": ("#D55E00", "o", "the paper's algorithm"),
            "dense, no Woodbury": ("#666666", "v", "without Woodbury")}  # fmt: skip
    for ax, (method, title) in zip(axes, what.items(), strict=True):
        for algorithm, (colour, mark, label) in look.items():
            part = results[
                (results["kind"] == "step") & (results["method"] == method) & (results["algorithm"] == algorithm)
            ]
            if len(part):
                ax.plot(part["n"], 1000.0 * part["seconds"], color=colour, marker=mark, ms=4, label=label)
        ax.set(xscale="log", yscale="log", xlabel="rows N", title=title)
        ax.title.set_fontsize(9)
        ticks = sorted(set(results.loc[results["kind"] == "step", "n"]))
        ax.set_xticks(ticks, [str(tick) for tick in ticks])
        ax.minorticks_off()
        ax.grid(alpha=0.25)
    axes[0].set_ylabel("milliseconds")
    _legend(figure, axes)
    return figure


def figure2(found: SeaLevel) -> Figure:
    """The reconstruction by each method: mean and one standard deviation, as in the paper."""
    methods = [name for name in ("npv", "mcmc", "nigp", "gp") if name in found.posteriors]
    figure = Figure(figsize=(10.0, 7.0), layout="constrained")
    axes = figure.subplots(2, 2, sharex=True, sharey=True).ravel()
    for k, (ax, name) in enumerate(zip(axes, methods, strict=False)):
        _data(ax, found)
        _curve(ax, found.curve[found.curve["method"] == name], STYLE[name][0])
        ax.set_title(f"({chr(97 + k)}) {name}", fontsize=10)
    for ax in axes[len(methods) :]:
        ax.set_visible(False)
    for ax in axes[2:]:
        ax.set_xlabel("year CE")
    for ax in axes[::2]:
        ax.set_ylabel("relative sea level, m")
    return figure


def added(found: SeaLevel) -> Figure:
    """What lamina adds: the default curve, its rate with bands, and the shifts of the inputs."""
    figure = Figure(figsize=(10.0, 9.0), layout="constrained")
    level, rate, shifts = figure.subplots(3, 1, sharex=True)
    colour = STYLE["lamina"][0]
    _data(level, found)
    _bands(level, found.curve[found.curve["method"] == "lamina"], colour)
    level.set(ylabel="relative sea level, m", title="lamina's default: mean, 68 % and 90 % bands")
    _bands(rate, found.rate[found.rate["method"] == "lamina"], colour)
    rate.axhline(0.0, color="black", lw=0.8)
    rate.set(ylabel="rate, mm/year")
    for name in ESTIMATING:
        if name in found.posteriors:
            own = found.inputs[(found.inputs["method"] == name) & (found.inputs["t_sd"] > 0)]
            colour, mark = STYLE[name]
            look = {"color": colour, "marker": mark, "ms": 3.5, "ls": "", "lw": 0.8, "label": LABELS.get(name, name)}
            shifts.errorbar(own["t"], own["mean"] - own["t"], own["sd"], **look)
    shifts.axhline(0.0, color="black", lw=0.8)
    shifts.set(ylabel="posterior − reported age, years", xlabel="year CE")
    shifts.legend(frameon=False, ncols=3, loc="upper left")
    for ax in level, rate, shifts:
        ax.title.set_fontsize(10)
        ax.grid(alpha=0.25)
        ax.xaxis.set_major_formatter(ScalarFormatter())
    return figure


def _data(ax: Any, found: SeaLevel) -> None:
    record = next(iter(found.posteriors.values())).record
    ax.errorbar(record.t, record.y, record.y_sd, record.t_sd, ls="", color="#4477AA", lw=0.6, alpha=0.7, zorder=1)


def _curve(ax: Any, curve: pd.DataFrame, colour: str) -> None:
    ax.fill_between(
        curve["at"], curve["mean"] - curve["sd"], curve["mean"] + curve["sd"], color=colour, alpha=0.3, lw=0
    )
    ax.plot(curve["at"], curve["mean"], color=colour, lw=1.5)
    ax.grid(alpha=0.25)


def _bands(ax: Any, curve: pd.DataFrame, colour: str) -> None:
    ax.fill_between(curve["at"], curve["q5"], curve["q95"], color=colour, alpha=0.2, lw=0)
    _curve(ax, curve, colour)
