"""All sites of a field at once: the same as one site after the other."""

import numpy as np
import pandas as pd
import pytest

import lamina
from lamina.posterior.fields.sites import curves_and_rates
from lamina.posterior.intervals import interval_rates


@pytest.fixture(scope="module")
def posterior():
    rng = np.random.default_rng(2)
    site = np.repeat(["A", "B", "C"], 6)
    t = np.tile(np.linspace(0.0, 1000.0, 6), 3)
    record = lamina.Record(
        t=t + rng.normal(0.0, 10.0, 18), t_sd=10.0, y=0.001 * t + rng.normal(0.0, 0.05, 18), y_sd=0.05,
        sequence=[None] * 18, site=site, latitude=[40.0, 41.0, 43.0], longitude=[-74.0, -72.0, -70.0],
        gia=[0.001, 0.0012, 0.0008], gia_sd=0.0002,
    )  # fmt: skip
    with pytest.warns(lamina.NotConverged):
        return lamina.fit(record, chains=2, warmup=20, max_sweeps=10, draws=100, seed=1)


def test_curves_and_rates_are_those_of_each_site(posterior):
    at = np.array([500.0, -50.0, 999.0])
    for name, pair in zip("ABC", curves_and_rates(posterior, at), strict=True):
        for found, expected in zip(pair, posterior.curve_and_rate(at, site=name), strict=True):
            pd.testing.assert_frame_equal(found, expected, rtol=1e-8)


def test_rates_of_all_sites_are_those_of_their_draws(posterior):
    found = interval_rates(posterior, [(0.0, 500.0), (500.0, 1000.0)], 40, 3, scale=1000.0)
    assert found["site"].tolist() == ["A", "A", "B", "B", "C", "C"]
    drawn = posterior.sample_curves([0.0, 500.0, 1000.0], 40, 3, site="B")
    rates = 1000.0 * np.diff(drawn) / 500.0
    own = found[found["site"] == "B"]
    np.testing.assert_allclose(own["mean"], rates.mean(axis=0))
    assert own["p>0:500"].iloc[1] == pytest.approx((rates[:, 1] > rates[:, 0]).mean())
