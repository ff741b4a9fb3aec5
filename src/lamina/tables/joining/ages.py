"""A table without ages, whose rows get them from the ensemble of another age model, by depth."""

import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np

from ..ensembles import SummaryWarning, read_ensemble
from ..file import Table
from ..headers import Header
from ..messages import Fact, TableError, in_lines
from ..numbers import has_decimal_commas
from .depths import find_depth, numbers

#: A smaller standard deviation would be that of an exact input, which no other model gives.
_LEAST_SD = 1e-3
_INPUTS = ("t", "radiocarbon age")


def add_ages(table: Table, path: Path) -> Table:
    """The same table with columns of the mean age and its standard deviation, unless it has an input itself.

    Raises TableError if there are no depths, or they lie outside the ensemble.
    """
    if table.options.t is not None or any(h.role in _INPUTS and not h.error for h in table.headers):
        return table
    table, depth = find_depth(table)
    at = numbers(table, depth)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SummaryWarning)  # given when the ensemble is read for the fit
        try:
            members = read_ensemble(path, at)
        except TableError as error:
            raise TableError(in_lines(error, table.lines)) from None
    mean, sd = members.mean(axis=0), np.maximum(members.std(axis=0), _LEAST_SD)
    width = len(table.headers)
    older = _increases(at, mean) == (depth.role == "depth")
    scale = table.options.scale or ("BP" if older else "CE")
    way = f"ages in {path.name} get {'larger' if older else 'smaller'} downwards"
    assumed = {} if table.options.scale else {"scale": way}
    headers = [
        *table.headers,
        Header(width, "age", role="t", word="age", scale=scale, unit=scale),
        Header(width + 1, "age_sd", role="t", word="age", error=True, says_error=True, sigma=1),
    ]
    point = "," if has_decimal_commas(cell for row in table.cells for cell in row) else "."
    added = [[f"{m:.10g}", f"{s:.6g}"] if np.isfinite(m) else ["", ""] for m, s in zip(mean, sd, strict=True)]
    cells = [[*row, *(cell.replace(".", point) for cell in more)] for row, more in zip(table.cells, added, strict=True)]
    why = "by its mean and standard deviation at the depth of each row"
    fact = Fact("ages", f"from {path.name}, {len(members)} members", why)
    options = replace(table.options, scale=scale)
    table = replace(table, headers=headers, cells=cells, options=options, assumed={**table.assumed, **assumed})
    return table.noting(fact)


def _increases(at: np.ndarray, mean: np.ndarray) -> bool:
    """Whether ages increase with depth."""
    known = np.isfinite(at) & np.isfinite(mean)
    return bool(np.sum((at[known] - at[known].mean()) * (mean[known] - mean[known].mean())) >= 0.0)
