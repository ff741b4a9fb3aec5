"""mcmc on everything a real core may hold, against importance sampling with an independent, dense likelihood."""

import itertools

import numpy as np
import pytest
from scipy.special import log_ndtr, logsumexp
from scipy.stats import invgamma

from lamina import Matern32, Record
from lamina.dates import SplitNormal, StudentT, Tabulated, Uniform
from lamina.methods import mcmc
from lamina.methods.mcmc import renewal
from lamina.model.model import Model
from lamina.model.problem import build_problem
from lamina.support.convergence import mean_standard_error

pytestmark = pytest.mark.slow

LENGTH, SD, ALPHA, T_SD, Y_SD = 1.5, 1.0, 2.5, 0.5, 0.4
KNOWN = {"length": LENGTH, "sd": SD, "alpha": ALPHA}
T, Y = np.array([0.2, 1.4, 2.3, 3.9]), np.array([0.3, 1.0, -0.4, 0.2])
BUMPS = Tabulated(np.linspace(0.5, 3.0, 51), np.exp(-8.0 * (np.linspace(0.5, 3.0, 51) - 1.2) ** 2) + 0.2)
NO_DATE, NO_VALUE = [T_SD, np.inf, T_SD, T_SD], [Y_SD, np.inf, Y_SD, Y_SD]


def record(**fields):
    return Record(**({"t": T, "t_sd": T_SD, "y": Y, "y_sd": Y_SD} | fields))


FIVE = {"t": np.append(T, 5.2), "y": np.append(Y, 0.1)}

#: record and model
CASES = {
    "plain": (record(), {}),
    "undated and unmeasured": (record(t_sd=NO_DATE, y_sd=NO_VALUE), {}),
    "unmeasured, dated": (record(y_sd=NO_VALUE), {}),
    "depths": (record(depth=[1.0, 1.5, 4.0, 5.0]), {}),
    "depths, undated, decreasing": (record(t=-T, depth=[1.0, 1.5, 4.0, 5.0], t_sd=NO_DATE, order="decreasing"), {}),
    "block": (record(**FIVE, depth=[1.0, 2.0, 2.0, 3.0, 4.5]), {}),
    "block of three, decreasing": (record(t=-T, depth=[3.0, 2.0, 2.0, 2.0], order="decreasing"), {}),
    "hiatus": (record(**FIVE, hiatus=[False, True, False, False, False]), {}),
    "least gap": (record(least_gap=[0.3, 0.0, 0.4, 0.0]), {}),
    "least gap, exponential": (record(least_gap=0.2), {"gaps": "exponential"}),
    "split normal": (record(dates=[None, SplitNormal(1.4, 0.2, 0.8), None, None]), {}),
    "uniform": (record(dates=[None, Uniform(0.8, 2.2), Uniform(1.5, 3.0), None]), {}),
    "uniform, decreasing": (record(t=-T, dates=[None, Uniform(-2.2, -0.8), None, None], order="decreasing"), {}),
    "student": (record(dates=[StudentT(one, 0.4) for one in T]), {}),
    "table": (record(dates=[None, BUMPS, BUMPS, None]), {}),
    "mixture": (record(y=[0.3, 4.0, -0.4, 0.2]), {"outliers": "mixture"}),
    "student outliers": (record(y=[0.3, 3.0, -0.4, 0.2]), {"outliers": "student"}),
    "above": (record(limit=[None, "above", None, None]), {}),
    "below": (record(limit=[None, None, "terrestrial", None]), {}),
    "offsets": (record(sequence=["a", "b", "a", "b"]), {"offsets": 0.7}),
    "linear trend": (
        record(limit=[None, "above", None, None], least_gap=0.1, depth=[0.0, 1.0, 3.0, 4.0]),
        {"tilt": 0.5},
    ),
}


def problem(name):
    found, model = CASES[name]
    model = dict(model)
    tilt = model.pop("tilt", None)
    if tilt is not None:
        from lamina import Linear

        model["kernel"] = Matern32() + Linear(mean=0.0, sd=tilt)
    model = {
        "kernel": Matern32(),
        "mean": None if tilt else "zero",
        "fixed": KNOWN if model.get("gaps") is None else None,
    } | model
    if model["fixed"] is None:
        model["fixed"] = {"length": LENGTH, "sd": SD}
    return build_problem(found, Model(**model))


def proposals(posed, rng, size):
    """Inputs (S, N) in internal time, drawn from their dates; rows without a date evenly over a wide range."""
    found = posed.record
    tau = np.empty((size, len(found)))
    log_weight = np.zeros(size)
    for i in range(len(found)):
        date = None if found.dates is None else found.dates[i]
        if date is not None:
            tau[:, i] = posed.to_internal(date.quantile(rng.uniform(1e-12, 1.0 - 1e-12, size)))
        elif found.dated[i]:
            tau[:, i] = posed.rows.t[i] + found.t_sd[i] * rng.standard_normal(size)
        else:
            tau[:, i] = rng.uniform(-5.0, 5.0, size)
    return tau, log_weight


def log_gaps(posed, tau):
    """The gap prior of all sequences, -inf where the order is broken; blocks are put in order first.

    With depths it is that of a gamma process, whose shape is alpha over the median distance of dates.
    """
    found, total = posed.record, np.zeros(len(tau))
    least = np.zeros(len(found)) if found.least_gap is None else found.least_gap
    for _, rows in found.sequences:
        own = tau[:, rows].copy()
        depth = np.arange(len(rows), dtype=float) if found.depth is None else np.abs(found.depth[rows])
        for one in np.unique(depth):
            own[:, depth == one] = np.sort(own[:, depth == one], axis=1)
        step = np.abs(np.diff(depth))
        regular = step > 0.0
        if found.hiatus is not None:
            regular &= ~found.hiatus[rows[:-1]]
        room = np.diff(own, axis=1) - least[rows[:-1]]
        broken = (room <= 0.0).any(axis=1)
        time = np.where(room > 0.0, room, 1.0)[:, regular]
        between_dates = np.diff(np.unique(depth[found.dated[rows]]))
        unit = step[regular] / np.median(between_dates) if found.depth is not None else 1.0
        shape = (ALPHA if posed.model.gaps == "gamma" else 1.0) * unit * np.ones(regular.sum())
        total += np.log(time) @ (shape - 1.0) - shape.sum() * np.log(time.sum(axis=1) + posed.floor)
        total[broken] = -np.inf
    return total


def log_likelihood(posed, tau, factor):
    """log p(y | tau, factor) (S,): limits through the probability that a further value is beyond them."""
    found = posed.record
    limit = np.zeros(len(found), dtype=int) if found.limit is None else found.limit
    x = np.sqrt(3.0) * np.abs(tau[:, :, None] - tau[:, None, :]) / LENGTH
    K = SD**2 * (1.0 + x) * np.exp(-x)
    for term in posed.kernel.trend:
        column = term.column(tau)
        K = K + term.sd**2 * column[:, :, None] * column[:, None, :]
    if posed.model.offsets is not None:
        same = np.equal.outer(np.array(found.sequence), np.array(found.sequence))
        K = K + posed.model.offsets**2 * same
    y_var = np.where(found.measured, found.y_sd, 1.0) ** 2 * factor
    K = K + y_var[:, :, None] * np.eye(len(found))
    sure = found.measured & (limit == 0)
    C, y = K[:, sure][:, :, sure], found.y[sure]
    solved = np.linalg.solve(C, np.broadcast_to(y[:, None], (len(tau), sure.sum(), 1)))[:, :, 0]
    value = -0.5 * (np.linalg.slogdet(C)[1] + solved @ y)
    for i in np.flatnonzero(limit):
        cross = K[:, i][:, sure]
        mean = (cross * solved).sum(axis=1)
        var = K[:, i, i] - (cross * np.linalg.solve(C, cross[:, :, None])[:, :, 0]).sum(axis=1)
        value = value + log_ndtr(limit[i] * (mean - found.y[i]) / np.sqrt(var))
    return value


def reference(posed, rng, size=300_000):
    """Draws of tau, their weights, and the probability that each row is an outlier, (S, N)."""
    tau, log_weight = proposals(posed, rng, size)
    log_weight = log_weight + log_gaps(posed, tau)
    kept = log_weight > -np.inf
    tau, log_weight = tau[kept], log_weight[kept]
    n = tau.shape[1]
    wild = np.zeros((len(tau), n))
    if posed.model.outliers == "mixture":
        every = np.array(list(itertools.product([0, 1], repeat=n)))
        share, factor = renewal.OUTLIER_SHARE, renewal.OUTLIER_FACTOR
        prior = every.sum(axis=1) * np.log(share) + (n - every.sum(axis=1)) * np.log(1.0 - share)
        values = (
            np.stack([log_likelihood(posed, tau, np.tile(factor**one, (len(tau), 1))) for one in every], axis=1) + prior
        )
        total = logsumexp(values, axis=1)
        wild = np.exp(values - total[:, None]) @ every
        log_weight = log_weight + total
    elif posed.model.outliers == "student":
        half = 0.5 * renewal.FREEDOM
        factor = invgamma.rvs(half, scale=half, size=tau.shape, random_state=rng)
        wild = (factor > 10.0).astype(float)
        log_weight = log_weight + log_likelihood(posed, tau, factor)
    else:
        log_weight = log_weight + log_likelihood(posed, tau, np.ones((len(tau), n)))
    weight = np.exp(log_weight - log_weight.max())
    return tau, weight / weight.sum(), wild


def quantities(tau, wild):
    """Inputs, their squares and products, which of two rows is earlier, and outliers: (S, V)."""
    i, j = np.triu_indices(tau.shape[1])
    first, second = np.triu_indices(tau.shape[1], 1)
    return np.hstack([tau, tau[:, i] * tau[:, j], (tau[:, first] < tau[:, second]).astype(float), wild])


@pytest.mark.parametrize("name", CASES)
def test_draws_follow_the_posterior(name):
    """Means, second moments, probabilities of order and of outliers, within Monte-Carlo error."""
    posed = problem(name)
    tau, weight, wild = reference(posed, np.random.default_rng(1))
    expected = quantities(tau, wild)
    assert 1.0 / (weight**2).sum() > 2000, "the reference itself has too few effective draws"
    mean = weight @ expected
    error = np.sqrt(weight**2 @ (expected - mean) ** 2)
    draws = mcmc.run(posed, seed=2, chains=2, draws=16_000, max_sweeps=8_000, warmup=500)
    assert (log_gaps(posed, draws.tau) > -np.inf).all()
    found_wild = np.zeros_like(draws.tau) if posed.model.outliers is None else (draws.factor > 10.0).astype(float)
    found = quantities(draws.tau, found_wild).reshape(2, -1, len(mean))
    varies = (np.ptp(expected, axis=0) > 0) & (np.ptp(found, axis=(0, 1)) > 0)
    found_error = mean_standard_error(found[:, :, varies])
    z = (found.mean(axis=(0, 1))[varies] - mean[varies]) / np.hypot(found_error, error[varies])
    assert np.abs(z).max() < 4.5
    np.testing.assert_allclose(found.mean(axis=(0, 1))[~varies], mean[~varies], atol=0.02)
