"""R-hat, effective draws and standard errors: the numbers of ArviZ, and the theory of autoregressive chains."""

import warnings

import numpy as np
import pytest
from scipy.signal import lfilter
from scipy.stats import norm, rankdata

from lamina.support.convergence import effective_draws, mean_standard_error, most_effective_draws, r_hat

with warnings.catch_warnings():
    warnings.simplefilter("ignore", FutureWarning)
    import arviz


def autoregressive(rng, correlation, chains=4, n=1000):
    """Stationary chains x_k = correlation * x_(k-1) + noise of unit variance, shape (chains, n)."""
    noise = rng.standard_normal((chains, n))
    noise[:, 1:] *= np.sqrt(1.0 - correlation**2)
    return lfilter([1.0], [1.0, -correlation], noise)


def converged_and_not():
    """Chains (chains, n) of many kinds."""
    rng = np.random.default_rng(4)
    found = {f"correlation {c}": autoregressive(rng, c) for c in (-0.5, 0.0, 0.5, 0.9, 0.98)}
    found |= {
        "one chain elsewhere": autoregressive(rng, 0.5) + np.array([[0.0], [0.0], [0.0], [0.8]]),
        "one chain wider": autoregressive(rng, 0.3) * np.array([[1.0], [1.0], [1.0], [2.5]]),
        "drift": autoregressive(rng, 0.7) + np.linspace(0.0, 1.5, 1000),
        "heavy tails": rng.standard_cauchy((4, 1000)),
        "log-normal": np.exp(2.0 * autoregressive(rng, 0.6)),
        "far from zero": 1e6 + autoregressive(rng, 0.8),
        "repeated values": np.repeat(autoregressive(rng, 0.5, n=250), 4, axis=1),
        "few values": np.round(autoregressive(rng, 0.5)),
        "odd length": autoregressive(rng, 0.6, n=501),
        "two short chains": autoregressive(rng, 0.4, chains=2, n=40),
        "six chains": autoregressive(rng, 0.9, chains=6, n=300),
    }
    return found


CHAINS = converged_and_not()
each_kind = pytest.mark.parametrize("draws", CHAINS.values(), ids=CHAINS.keys())


@each_kind
def test_r_hat_is_that_of_arviz(draws):
    assert r_hat(draws[:, :, None])[0] == pytest.approx(float(arviz.rhat(draws, method="rank")), rel=1e-9)


# ArviZ counts the last pair of autocorrelations half where the sum never comes to an end, hence not 1e-9.
@each_kind
def test_effective_draws_are_those_of_arviz(draws):
    assert effective_draws(draws[:, :, None])[0] == pytest.approx(float(arviz.ess(draws, method="bulk")), rel=0.01)


@each_kind
def test_standard_error_of_the_mean_is_that_of_arviz(draws):
    expected = np.squeeze(arviz.mcse(draws, method="mean"))
    assert mean_standard_error(draws[:, :, None])[0] == pytest.approx(float(expected), rel=0.01)


def test_quantities_do_not_mix():
    alike = [draws for draws in CHAINS.values() if draws.shape == (4, 1000)]
    together = np.stack(alike, axis=2)
    for function in r_hat, effective_draws, mean_standard_error:
        alone = [function(draws[:, :, None])[0] for draws in alike]
        np.testing.assert_allclose(function(together), alone, rtol=1e-9)


def test_r_hat_of_one_chain_compares_its_halves(rng):
    chain = autoregressive(rng, 0.4, chains=1, n=400)[0] + np.linspace(0.0, 1.0, 400)
    halves = chain.reshape(2, 200)
    expected = []
    for values in halves, np.abs(halves - np.median(halves)):
        scores = norm.ppf((rankdata(values).reshape(values.shape) - 0.375) / (400 + 0.25))
        within, between = scores.var(axis=1, ddof=1).mean(), scores.mean(axis=1).var(ddof=1)
        expected.append(np.sqrt(199 / 200 + between / within))
    assert r_hat(chain[None, :, None])[0] == pytest.approx(max(expected), rel=1e-9)


@pytest.mark.parametrize("correlation", [0.0, 0.5, 0.9, 0.97])
def test_effective_draws_of_an_autoregressive_chain(correlation, rng):
    """n (1 - c) / (1 + c) of them, on average over many chains."""
    n = 4000
    draws = np.stack([autoregressive(rng, correlation, chains=2, n=n) for _ in range(40)], axis=2)
    expected = 2 * n * (1.0 - correlation) / (1.0 + correlation)
    found = effective_draws(draws)
    assert found.mean() == pytest.approx(expected, rel=0.1)
    assert mean_standard_error(draws).mean() == pytest.approx(expected**-0.5, rel=0.1)


def test_standard_error_is_the_spread_of_means(rng):
    draws = np.stack([autoregressive(rng, 0.8, chains=4, n=500) for _ in range(400)], axis=2)
    spread = draws.mean(axis=(0, 1)).std(ddof=1)
    assert mean_standard_error(draws).mean() == pytest.approx(spread, rel=4 / np.sqrt(2 * 400) + 0.05)


def test_r_hat_tells_chains_that_have_converged_from_those_that_have_not():
    judged = {name: bool(r_hat(draws[:, :, None])[0] > 1.01) for name, draws in CHAINS.items()}
    assert judged["one chain elsewhere"]
    assert judged["one chain wider"]  # the means agree: only the folded version sees it
    assert judged["drift"]
    assert not judged["correlation 0.5"]
    assert not judged["heavy tails"]


def test_a_constant_has_not_converged(rng):
    """A chain that is stuck must not pass: R-hat is finite and above any limit, and there is no count of draws."""
    draws = np.stack([np.full((4, 100), 3.0), autoregressive(rng, 0.2, n=100)], axis=2)
    assert r_hat(draws)[0] > 1.1
    assert r_hat(draws)[1] < 1.1
    assert not effective_draws(draws)[0] > 0.0
    assert effective_draws(draws)[1] > 50.0
    assert not mean_standard_error(draws)[0] > 0.0


def test_too_few_draws_say_nothing(rng):
    draws = rng.standard_normal((4, 7, 2))
    assert (r_hat(draws) == np.inf).all()
    assert (effective_draws(draws) == 0.0).all()
    enough = rng.standard_normal((4, 8, 2))
    assert np.isfinite(r_hat(enough)).all()
    assert (effective_draws(enough) > 0.0).all()


def test_the_most_effective_draws_are_too_few_in_one_case_in_a_hundred(rng):
    """Whatever the number of quantities, of which all have 400."""
    for quantities in 1, 50:
        means = rng.standard_normal((4, 20_000 // quantities, quantities)) / np.sqrt(100.0)
        found = np.array([most_effective_draws(one, np.ones((4, quantities))) for one in means.swapaxes(0, 1)])
        low = np.mean(found < 400.0)
        assert low == pytest.approx(0.01, abs=4.0 * np.sqrt(0.01 / len(found)))


def test_the_most_effective_draws_find_the_slowest_of_many(rng):
    means = rng.standard_normal((4, 100_000)) / np.sqrt(1000.0)
    assert most_effective_draws(means, np.ones_like(means)) > 400.0
    means[:, 77_777] = [0.0, 0.0, 0.0, 1.0]
    assert most_effective_draws(means, np.ones_like(means)) < 400.0


def test_known_quantities_and_single_chains_leave_the_number_of_effective_draws_open():
    assert most_effective_draws(np.zeros((4, 3)), np.zeros((4, 3))) == np.inf
    assert most_effective_draws(np.ones((1, 3)), np.ones((1, 3))) == np.inf
