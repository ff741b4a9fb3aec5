"""A file of covariances against the errors that the table reports: it may hold correlations, or another unit."""

from pathlib import Path

import numpy as np

from ..messages import TableError, problem
from ..numbers import Array

#: Standard deviations of a covariance differ from the reported ones by less than this factor, in the median.
_FACTOR = 10.0
_CLOSE = 0.02


def refuse_other_matrices(path: Path, matrix: Array, sd: Array) -> None:
    """Raise TableError if the diagonal of a matrix is not one of variances like those of the reported errors `sd`."""
    diagonal = np.diag(matrix)
    known = np.isfinite(sd) & (sd > 0.0) & np.isfinite(diagonal)
    if not known.any():
        return
    diagonal, sd = diagonal[known], sd[known]
    if np.allclose(diagonal, 1.0, atol=1e-6) and not np.allclose(sd, 1.0, rtol=0.5):
        found = "its diagonal is 1 and the errors of the table are not, so that it seems to hold correlations"
        raise _wrong(path, found, "multiply each by the standard deviations of its row and its column")
    if (diagonal <= 0.0).any():
        return  # which the model refuses, and says why
    if np.allclose(diagonal, sd, rtol=_CLOSE) and not np.allclose(sd, 1.0, rtol=0.5):
        raise _wrong(path, "its diagonal holds the errors of the table, not their squares", "square it")
    ratio = float(np.median(np.sqrt(diagonal) / sd))
    if not 1.0 / _FACTOR < ratio < _FACTOR:
        found = f"the errors on its diagonal are {ratio:.2g} times those of the table"
        raise _wrong(path, found, "give covariances in the square of the unit of the ages, or correct the errors")


def _wrong(path: Path, found: str, do: str) -> TableError:
    return problem(path, found, do)
