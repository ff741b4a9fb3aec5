"""A covariance file is compared with the errors of the table."""

from pathlib import Path

import numpy as np
import pytest

from lamina.tables import TableError
from lamina.tables.checks.covariance import refuse_other_matrices

SD = np.array([20.0, 30.0, 40.0])
CORRELATION = np.array([[1.0, 0.5, 0.2], [0.5, 1.0, 0.5], [0.2, 0.5, 1.0]])
COVARIANCE = CORRELATION * np.outer(SD, SD)


@pytest.mark.parametrize(
    ("matrix", "words"),
    [
        (CORRELATION, "correlations"),
        (CORRELATION * np.sqrt(np.outer(SD, SD)), "not their squares"),
        (COVARIANCE / 1e6, "0.001 times"),
    ],
)
def test_other_matrices_are_refused(matrix, words):
    with pytest.raises(TableError, match=f"ages.csv: .*{words}"):
        refuse_other_matrices(Path("ages.csv"), matrix, SD)


def test_covariances_pass():
    refuse_other_matrices(Path("ages.csv"), COVARIANCE, SD)
    refuse_other_matrices(Path("ages.csv"), 0.3 * COVARIANCE, SD)
    refuse_other_matrices(Path("ages.csv"), CORRELATION, np.ones(3))
