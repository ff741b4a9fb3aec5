"""The report of a core with everything: it says so, and shows outliers and offsets."""

import fits
import numpy as np
import pytest
from cores import unsampled

from lamina import report
from lamina.dates import StudentT, Uniform

N = len(fits.TRUE)
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def page():
    record = fits.record(
        y_sd=np.where(np.isin(np.arange(N), [3, 8]), np.inf, 0.1),
        t_sd=np.where(np.arange(N) == 4, np.inf, 0.3),
        sequence=["<a>"] * 5 + ["b"] * 5,
        dates=[StudentT(0.3, 0.2), Uniform(0.7, 1.6), *[None] * 8],
        depth=[0.0, 1.0, 1.0, 2.0, 3.0, 0.0, 1.0, 2.0, 3.0, 4.0],
        tie=[*[None] * 7, "x", "x", None],
        hiatus=np.arange(N) == 6,
        least_gap=0.02,
        limit=[None, "above", *[None] * 8],
    )
    posterior = unsampled(record, outliers="mixture", offsets=0.3)
    posterior.draws.factor[0, 0] = 100.0  # the first value is an outlier
    return report.html(posterior)


@pytest.mark.parametrize(
    "said",
    [
        "1 date was Student-t",
        "1 date was uniform over a range",
        "1 layer had no date",
        "time per unit of depth",
        "1 row shared the layer of another",
        "1 block of rows at equal depth",
        "1 hiatus could have any length",
        "at least 0.0200",
        "1 row bounded the curve from one side (1 from below, 0 from above)",
        "an outlier, with 10 times its reported error",
        "vertical offset with a normal prior of standard deviation 0.300",
        "&lt;a&gt;",
        "more likely an outlier than not",
    ],
)
def test_the_methods_and_tables_describe_what_the_record_holds(page, said):
    assert said in page
