"""White noise of a field: what gauges have beyond their errors is not a curve."""

import numpy as np
import pytest

import lamina
from lamina import KernelError, Matern32, Nearby, WhiteNoise

RECORD = lamina.Record([0.0, 1.0, 2.0], 0.1, [0.0, 1.0, 0.5], 0.1)


def coast(seed, scatter):
    """Six cores, and three gauges with decadal means whose errors are far smaller than their scatter."""
    rng = np.random.default_rng(seed)
    latitude, longitude = np.linspace(31.0, 44.0, 9), np.linspace(-81.0, -64.0, 9)
    t = np.concatenate([np.tile(np.linspace(0.0, 2000.0, 35), 6), np.tile(np.arange(1905.0, 2010.0, 10.0), 3)])
    site = np.concatenate([np.repeat(np.arange(6), 35), np.repeat(np.arange(6, 9), 11)])
    common = 0.05 * np.sin(t / 150.0) + 0.0015 * np.maximum(t - 1880.0, 0.0)
    y_sd = np.where(site < 6, 0.06, 0.003)
    y = common + 0.001 * (t - 2000.0) * (1.0 + 0.1 * site) + y_sd * rng.standard_normal(len(t))
    y += np.where(site < 6, 0.0, scatter) * rng.standard_normal(len(t))
    places = {"site": [f"site {s}" for s in site], "latitude": list(latitude), "longitude": list(longitude)}
    return lamina.Record(t, 0.0, y, y_sd, sequence=[None] * len(t), t_unit="CE", y_unit="m", **places)


@pytest.mark.slow
def test_scatter_of_gauges_is_no_curve():
    posterior = lamina.fit(coast(0, 0.02), method="gp", seed=0)
    found = dict(zip(posterior.problem.names, np.exp(posterior.draws.phi[0]), strict=True))
    assert found["sd_5"] == pytest.approx(0.02, rel=0.4)
    assert found["length_1"] > 50.0
    level = posterior.common([1900.0, 2000.0])["mean"]
    before = posterior.common([0.0, 1700.0])["mean"]
    rise = (level[1] - level[0]) / 100.0 - (before[1] - before[0]) / 1700.0
    assert rise == pytest.approx(0.0015, abs=0.0005)


@pytest.mark.slow
def test_without_scatter_there_is_none():
    posterior = lamina.fit(coast(1, 0.0), method="gp", seed=0)
    assert np.exp(posterior.draws.phi[0][posterior.problem.names.index("sd_5")]) < 0.01


@pytest.mark.slow
def test_white_noise_is_an_error_and_not_a_part_of_the_curve():
    kernel = Matern32() + Matern32() * Nearby()
    known = {"length_1": 200.0, "sd_1": 0.1, "length_2": 100.0, "sd_2": 0.05, "length_km_2": 500.0}
    record = coast(2, 0.02)
    wider = lamina.Record(
        record.t,
        0.0,
        record.y,
        np.hypot(record.y_sd, 0.02),
        sequence=[None] * len(record),
        **record.places.columns(),
    )
    one = lamina.fit(record, method="gp", kernel=kernel + WhiteNoise(), fixed=known | {"sd_3": 0.02})
    other = lamina.fit(wider, method="gp", kernel=kernel, fixed=known)
    for found, expected in ((p.curve([500.0, 1950.0], site="site 7") for p in (one, other)),):
        np.testing.assert_allclose(found[["mean", "sd"]], expected[["mean", "sd"]], rtol=1e-8)


@pytest.mark.parametrize("engine", ["auto", "dense"])
def test_one_curve_has_none(engine):
    with pytest.raises(KernelError, match="white noise, which are for fields"):
        lamina.fit(RECORD, kernel=Matern32() + WhiteNoise(), engine=engine)


@pytest.mark.parametrize("sd", [0.0, -1.0, np.inf, "wide"])
def test_its_sd_is_a_positive_number(sd):
    with pytest.raises(KernelError, match="WhiteNoise: sd"):
        WhiteNoise(sd)
