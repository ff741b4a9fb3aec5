"""What is read off joint draws: first times above a level, extremes, which period rose faster."""

import fits
import numpy as np
import pytest
from scipy.stats import norm

import lamina
from lamina.engine.quantiles import LEVELS, QUANTILES
from lamina.posterior import functionals
from lamina.posterior.functionals import first_above

SPAN = np.linspace(0.0, 10.0, 41)


def nearly_known(t, y, **rest) -> lamina.Posterior:
    """Rows so close and so precise that all draws are nearly one curve."""
    return fits.at_known(lamina.Record(t=t, t_sd=0.0, y=y, y_sd=1e-4, **rest), lamina.Matern52(5.0, 2.0))


@pytest.fixture(scope="module")
def wave():
    """sin t from 0 to 10."""
    return nearly_known(SPAN, np.sin(SPAN))


@pytest.fixture(scope="module")
def ages():
    """The same wave on a scale of ages: time t is an age of 10 - t."""
    return nearly_known(10.0 - SPAN, np.sin(SPAN), order="decreasing", t_unit="ka BP")


@pytest.mark.slow
def test_the_first_time_above_a_level_is_that_of_the_true_curve(wave):
    table = wave.first_exceeds([0.5, -0.5, 2.0])
    assert list(table.columns) == ["level", "p", "p_start", "mean", "sd", *QUANTILES]
    assert table["p"].tolist() == [1.0, 1.0, 0.0]
    assert table["p_start"].tolist() == [0.0, 1.0, 0.0]
    assert table["mean"][0] == pytest.approx(np.pi / 6.0, abs=1e-3)
    assert table["mean"][1] == 0.0  # above it from the beginning
    assert table.loc[2, "mean":].isna().all()
    later = wave.first_exceeds(0.5, between=(3.0, 10.0))
    assert later["q50"][0] == pytest.approx(2.0 * np.pi + np.pi / 6.0, abs=1e-3)


@pytest.mark.slow
def test_the_first_time_above_a_rate(wave):
    table = wave.first_exceeds(0.5, between=(2.0, 10.0), of="rate")  # cos t
    assert table["mean"][0] == pytest.approx(2.0 * np.pi - np.pi / 3.0, abs=1e-2)
    assert wave.first_exceeds(1.5, of="rate")["p"][0] == 0.0


def test_on_a_scale_of_ages_first_is_oldest_and_rates_go_forward_in_time(wave, ages):
    """The wave as before: what was found at t is now found at 10 - t, and its rates keep their sign."""
    assert ages.first_exceeds(0.5)["mean"][0] == pytest.approx(10.0 - np.pi / 6.0, abs=1e-3)
    assert ages.first_exceeds(-0.5)["p_start"][0] == 1.0
    rates = ages.first_exceeds(0.5, between=(0.0, 8.0), of="rate")
    assert rates["mean"][0] == pytest.approx(10.0 - (2.0 * np.pi - np.pi / 3.0), abs=1e-2)
    forward = {"rose": (5.0, 7.0), "fell": (2.0, 4.0)}
    assert wave.faster(forward["rose"], forward["fell"]) == 1.0
    backward = {name: (10.0 - b, 10.0 - a) for name, (a, b) in forward.items()}
    assert ages.faster(backward["rose"], backward["fell"]) == 1.0
    assert ages.faster(backward["fell"], backward["rose"]) == 0.0


def test_without_a_calendar_larger_is_later_whatever_the_order_of_the_rows():
    posterior = nearly_known(SPAN[::-1], np.sin(SPAN[::-1]), order="decreasing")
    assert posterior.first_exceeds(0.5)["mean"][0] == pytest.approx(np.pi / 6.0, abs=1e-3)


def test_the_extremes_are_those_of_the_true_curve(wave):
    table = wave.extremes().set_index(["extreme", "quantity"])
    assert (table["p_end"] < 0.05).all()
    assert wave.extremes(between=(0.0, 0.5)).set_index(["extreme", "quantity"])["p_end"].min() > 0.9
    assert list(table.columns) == ["p_end", "mean", "sd", *QUANTILES]
    assert table.loc[("maximum", "size"), "mean"] == pytest.approx(1.0, abs=2e-3)
    assert table.loc[("minimum", "size"), "mean"] == pytest.approx(-1.0, abs=2e-3)
    assert table.loc[("minimum", "time"), "mean"] == pytest.approx(1.5 * np.pi, abs=0.02)
    early = wave.extremes(between=(0.0, 3.0)).set_index(["extreme", "quantity"])
    assert early.loc[("maximum", "time"), "q50"] == pytest.approx(0.5 * np.pi, abs=0.02)
    assert early.loc[("minimum", "time"), "q50"] == pytest.approx(0.0, abs=0.01)
    rates = wave.extremes(between=(1.0, 8.0), of="rate").set_index(["extreme", "quantity"])
    assert rates.loc[("minimum", "time"), "mean"] == pytest.approx(np.pi, abs=0.05)
    assert rates.loc[("maximum", "size"), "mean"] == pytest.approx(1.0, abs=0.01)


def test_crossings_are_interpolated_between_the_times():
    time = np.array([0.0, 1.0, 2.0])
    values = np.array([[0.0, 1.0, 0.0], [0.0, 0.2, 1.0], [1.0, 0.0, 1.0], [0.0, 0.1, 0.2], [0.5, 0.5, 1.5]])
    np.testing.assert_allclose(first_above(time, values, 0.5), [0.5, 1.375, 0.0, np.nan, 1.0])
    np.testing.assert_allclose(first_above(time[::-1], values, 0.5), [1.5, 0.625, 2.0, np.nan, 1.0])


def test_laws_of_uncertain_curves():
    posterior = fits.posterior("mcmc")
    levels = np.linspace(1.5, 4.5, 7)
    table = posterior.first_exceeds(levels)
    assert (np.diff(table["p"]) <= 0.0).all()  # a higher level is exceeded less often
    assert (np.diff(table["p_start"]) <= 0.0).all()
    assert (table["p_start"] <= table["p"]).all()
    assert 0.0 < table["p"].min() < table["p"].max() <= 1.0
    sizes = posterior.extremes().set_index(["extreme", "quantity"]).loc[("maximum", "size")]
    for name, level in zip(QUANTILES, LEVELS, strict=True):
        # the level was exceeded exactly where the maximum is above it
        assert posterior.first_exceeds(sizes[name])["p"][0] == pytest.approx(1.0 - level, abs=1e-3)
    one, other = (0.0, 3.0), (2.0, 5.0)
    assert posterior.faster(one, other) + posterior.faster(other, one) == pytest.approx(1.0)
    turned = posterior.first_exceeds(3.0, between=one)["p"][0]
    assert turned <= posterior.first_exceeds(3.0, between=(0.0, 9.0))["p"][0] + 0.05


def test_the_probability_at_a_single_time_is_that_of_the_curve():
    posterior = fits.posterior("gp")
    curve = posterior.curve(5.0).iloc[0]
    found = posterior.first_exceeds(curve["mean"] + 0.5 * curve["sd"], between=(5.0, 5.0 + 1e-9), draws=20000)
    assert found["p_start"][0] == pytest.approx(norm.sf(0.5), abs=0.015)


def test_the_same_seed_gives_the_same_events():
    posterior = fits.posterior("mcmc")
    ask = {"levels": [3.0], "rates": [0.5], "with_extremes": True, "draws": 200}
    table = functionals.events(posterior, **ask, seed=2)
    assert table.equals(functionals.events(posterior, **ask, seed=2))
    assert table["event"].tolist() == ["first above", "first above", *["maximum"] * 2, *["minimum"] * 2]
    assert table["of"].tolist() == ["curve", "rate", *["curve"] * 4]
    one = posterior.first_exceeds(3.0, draws=200, seed=2).iloc[0]
    assert table.loc[0, "mean"] == one["mean"]
    assert len(functionals.events(posterior)) == 0


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda p: p.first_exceeds(np.nan), "level"),
        (lambda p: p.first_exceeds("high"), "level"),
        (lambda p: p.first_exceeds(1.0, between=(5.0, 1.0)), "5:1 runs backwards"),
        (lambda p: p.extremes(between=(1.0, 1.0)), "1:1 has no length"),
        (lambda p: p.extremes(of="slope"), "of must be 'curve' or 'rate', got 'slope'"),
        (lambda p: p.extremes(draws=0), "n must be a whole number"),
        (lambda p: p.faster((0.0, 1.0), (0.0, 1.0)), "0:1 is given twice"),
    ],
)
def test_what_cannot_be_asked_is_refused(ask, message):
    with pytest.raises(lamina.MethodError, match=message):
        ask(fits.posterior("gp"))


def test_a_curve_without_a_rate_has_no_rate_to_exceed():
    rough = fits.at_known(fits.record(), lamina.Matern12())
    with pytest.raises(lamina.KernelError, match="no rate of change"):
        rough.first_exceeds(1.0, of="rate")
