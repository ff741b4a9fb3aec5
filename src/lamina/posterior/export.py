"""Posterior ages as an ensemble for other programs: depth by members, the layout of Bacon, Pyleoclim and geoChronR."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ..errors import MethodError, MissingExtraError
from ..support.arviz_notice import no_refactor_notice
from ..support.checks import check_whole
from ..support.files import write_text
from .times import default_times

if TYPE_CHECKING:
    import arviz
    import pandas as pd
    import pyleoclim

    from .posterior import Posterior

Array = np.ndarray


def ages(posterior: Posterior, n: int = 1000, seed: int = 0, sequence: Any = None) -> pd.DataFrame:
    """Joint draws of the inputs: first a column ``depth``, or ``row`` where there are no depths, then n members 1 to n.

    One line per measurement, in the record's order and scale. ``sequence``: the label of one core, to get its rows
    only. Without it, rows of several cores have their position in the record, counted from 0, because their depths
    would be mixed up. Raises MethodError if the method takes the inputs as measured, or there is no such sequence.
    """
    import pandas as pd

    record = posterior.record
    if posterior.as_measured:
        method = posterior.draws.diagnostics["method"]
        raise MethodError(
            f'method="{method}" takes the inputs as measured: there is no ensemble of them. Fit with method="mcmc".'
        )
    check_whole("n", n, 1)
    rows = np.arange(len(record))
    if sequence is not None:
        known = dict(record.sequences)
        if sequence not in known:
            raise MethodError(f"there is no sequence {sequence!r}; there are: {', '.join(map(repr, known))}.")
        rows = known[sequence]
    weight, rng = posterior.draws.weight, np.random.default_rng(seed)
    again = n > len(weight) or np.ptp(weight) > 0.0
    which = rng.choice(len(weight), size=n, p=weight, replace=again)
    members = posterior.tau_of(rows)[which]
    table = pd.DataFrame(members.T, columns=[str(k) for k in range(1, n + 1)])
    if record.depth is not None and (sequence is not None or record.sequence is None):
        table.insert(0, "depth", record.depth[rows])
    else:
        table.insert(0, "row", rows)
    return table


def write(posterior: Posterior, path: str | Path, n: int = 1000, seed: int = 0, sequence: Any = None) -> None:
    """Write ``ages`` to a CSV file."""
    table = ages(posterior, n, seed, sequence)
    write_text(path, table.to_csv(index=False, float_format="%.10g", lineterminator="\n"))


def to_pyleoclim(
    posterior: Posterior, at: ArrayLike | None = None, n: int = 100, seed: int = 0
) -> pyleoclim.EnsembleSeries:
    """n joint draws of the curve as a pyleoclim.EnsembleSeries, at times ``at`` (default: the grid of the figures).

    Raises MissingExtraError where Pyleoclim is not installed.
    """
    try:
        import pyleoclim
    except ImportError:
        raise MissingExtraError("to_pyleoclim needs the package Pyleoclim: pip install pyleoclim.") from None
    record = posterior.record
    times = np.asarray(default_times(posterior) if at is None else at, dtype=float)
    words = {"time_name": record.t_name, "time_unit": record.t_unit, "value_name": record.y_name}
    words |= {"value_unit": record.y_unit}
    given = {name: text for name, text in words.items() if text}
    drawn = posterior.sample_curves(times, n=n, seed=seed)
    return pyleoclim.EnsembleSeries([pyleoclim.Series(time=times, value=one, verbose=False, **given) for one in drawn])


def to_arviz(posterior: Posterior) -> arviz.InferenceData:
    """The draws as ArviZ's InferenceData: tau and the parameters, by chain."""
    with no_refactor_notice():
        import arviz

    chains = posterior.draws.chains
    theta = posterior.problem.to_theta(posterior.draws.phi)
    draws: dict[str, Array] = {name: values.reshape(chains, -1) for name, values in theta.items()}
    draws["tau"] = posterior.tau.reshape(chains, -1, len(posterior.record))
    return arviz.from_dict(posterior=draws, dims={"tau": ["row"]})
