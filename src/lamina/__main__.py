"""``python -m lamina``: fit an embedded record and print what comes out."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TextIO

import numpy as np

from . import datasets
from .fitting import fit

if TYPE_CHECKING:
    from .posterior import Posterior

YEARS = (-500.0, 0.0, 500.0, 1000.0, 1500.0, 1800.0, 1900.0, 1950.0, 2000.0)
#: The rate is also told as a difference over these years, from joint draws of the curve.
FIRST, LAST = 1900.0, 2000.0
#: Back to the beginning of the line, and wipe it.
CLEAR = "\r\x1b[K"


def main() -> None:
    """Fit and print; how far the fit has got is shown on a terminal only."""
    record = datasets.load("nassau")
    print(f"Relative sea level at Nassau Landing, Florida: {record!r}\n")
    progress = progress_line(sys.stderr)
    posterior = fit(record, seed=0, progress=progress)
    if progress is not None:
        sys.stderr.write(CLEAR)
    print(posterior.summary(), table(posterior), difference(posterior), sep="\n\n")


def progress_line(stream: TextIO) -> Callable[[dict[str, Any]], None] | None:
    """A function that rewrites one line of a terminal; None where the stream is no terminal."""
    if not stream.isatty():
        return None

    def show(state: dict[str, Any]) -> None:
        known = (
            f", worst R-hat {state['r_hat']:.3f}, fewest effective draws {state['ess']:.0f}" if "ess" in state else ""
        )
        stream.write(f"{CLEAR}{state['stage']}: {state['sweeps']} sweeps{known}")
        stream.flush()

    return show


def table(posterior: Posterior) -> str:
    """The curve (m) and its rate (mm a year) with their 90 % intervals."""
    curve, rate = posterior.curve(YEARS), posterior.rate(YEARS)
    lines = ["  year    sea level, m (90 %)          rate, mm/year (90 %)"]
    for (_, f), (_, r) in zip(curve.iterrows(), rate.iterrows(), strict=True):
        lines.append(
            f"{f['at']:>6.0f}   {f['mean']:>6.2f}  ({f['q5']:>5.2f} to {f['q95']:>5.2f})   "
            f"{1000 * r['mean']:>6.2f}  ({1000 * r['q5']:>5.2f} to {1000 * r['q95']:>5.2f})"
        )
    return "\n".join(lines)


def difference(posterior: Posterior) -> str:
    """The mean rate between two years, from joint draws of the curve."""
    ends = posterior.sample_curves([FIRST, LAST], n=2000, seed=0)
    rate = 1000.0 * (ends[:, 1] - ends[:, 0]) / (LAST - FIRST)
    low, high = np.quantile(rate, [0.05, 0.95])
    return f"mean rate {FIRST:.0f} to {LAST:.0f}: {rate.mean():.2f} mm/year (90 %: {low:.2f} to {high:.2f})"


if __name__ == "__main__":
    main()
