"""How far apart the curves of several methods are."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd


def differences(curves: Mapping[str, pd.DataFrame], converged: Mapping[str, str] | None = None) -> pd.DataFrame:
    """One row for each pair of methods, from what ``Posterior.curve`` gave at the same times.

    difference: mean absolute difference of the means. divergence: KL(p|q) + KL(q|p) of Gaussians with the means and
    variances of the two, averaged over the times (Tran, Pavlovic & Kopp 2015, Table 1). With ``converged``: whether
    each of the two methods has, in a word such as "yes" or "no", as first_converged and second_converged.
    """
    import pandas as pd

    found = pd.DataFrame([_pair(a, b, curves[a], curves[b]) for a, b in combinations(curves, 2)])
    if converged is not None:
        for side in "first", "second":
            found[f"{side}_converged"] = [converged[name] for name in found[side]]
    return found


def _pair(first: str, second: str, a: pd.DataFrame, b: pd.DataFrame) -> dict[str, Any]:
    off, va, vb = a["mean"] - b["mean"], a["sd"] ** 2, b["sd"] ** 2
    divergence = 0.5 * ((va + off**2) / vb + (vb + off**2) / va) - 1.0
    return {
        "first": first,
        "second": second,
        "difference": float(off.abs().mean()),
        "divergence": float(divergence.mean()),
    }
