"""The log-posterior that mcmc and nuts sample: its value from first principles, its gradient by finite differences."""

import numpy as np
import pytest
from scipy.stats import norm

from lamina import Constant, Linear, Matern32, Record, gaps
from lamina.methods.target import log_density, make_target
from lamina.model.model import Model
from lamina.model.problem import build_problem


def record(n=9, seed=0, exact=(), sequence=None, order="increasing"):
    """n rows near the times 0, 1, 2, ..., or those backwards."""
    rng = np.random.default_rng(seed)
    truth = np.arange(float(n)) if order == "increasing" else np.arange(float(n))[::-1]
    t_sd = rng.uniform(0.2, 0.5, n)
    t_sd[list(exact)] = 0.0
    t = truth + 100.0 + t_sd * rng.standard_normal(n)
    y = 3.0 + np.sin(truth) + 0.1 * rng.standard_normal(n)
    return Record(t=t, t_sd=t_sd, y=y, y_sd=rng.uniform(0.05, 0.3, n), order=order, sequence=sequence)


INTERLEAVED = ["a", "b", "a", None, "b", "a", "b", None, "a"]
CASES = {
    "one sequence": (record(), {}),
    "uniform": (record(), {"gaps": "uniform"}),
    "log-uniform": (record(), {"gaps": "log-uniform"}),
    "exponential": (record(), {"gaps": "exponential"}),
    "two sequences, rows alone and exact ones": (record(exact=(3, 4), sequence=INTERLEAVED), {}),
    "two sequences, exponential": (record(sequence=INTERLEAVED), {"gaps": "exponential"}),
    "exact rows inside the sequence": (record(exact=(0, 4, 5)), {}),
    "decreasing": (record(order="decreasing"), {}),
    "scales": (record(), {"estimate": ("t_scale", "y_scale")}),
    "scales, two sequences": (record(exact=(4,), sequence=INTERLEAVED), {"estimate": ("t_scale", "y_scale")}),
    "level with a prior": (record(), {"kernel": Matern32() + Constant(mean=2.0, sd=0.7)}),
    "linear": (record(), {"mean": "linear"}),
    "linear, decreasing, scales": (
        record(order="decreasing", exact=(2,)),
        {"mean": "linear", "estimate": ("t_scale", "y_scale")},
    ),
    "rate with a prior, decreasing": (
        record(order="decreasing"),
        {"kernel": Matern32() + Constant() + Linear(mean=0.4, sd=0.2, origin=103.0)},
    ),
    "own priors, one parameter known": (record(), {"priors": {"length": (2.0, 1.5)}, "fixed": {"sd": 1.3}}),
}


#: Cases that are compiled apart: three columns.
LONG = ("linear", "linear, decreasing, scales", "rate with a prior, decreasing")


@pytest.fixture(
    params=[pytest.param(one, id=name, marks=[pytest.mark.slow] * (name in LONG)) for name, one in CASES.items()]
)
def case(request):
    """A record, its problem, and the trend terms that were asked for, in the user's time."""
    found, options = request.param
    options = dict(options)
    kernel = options.pop("kernel", Matern32())
    trend = kernel.trend or ((Constant(), Linear()) if options.get("mean") == "linear" else (Constant(),))
    return found, build_problem(found, Model(kernel, **options)), trend


def ours(problem, tau, phi):
    """The compiled value and gradients at inputs tau, in internal time, and parameters phi."""
    d_tau, d_phi = np.full(len(tau), np.nan), np.full(len(phi), np.nan)
    target = make_target(problem)
    value = log_density(target, tau, phi, d_tau, d_phi)
    return value, d_tau, d_phi


def from_first_principles(found, problem, trend, tau, phi):
    """The log-posterior with all its constants, from the covariance matrix of y, in the user's time."""
    time = problem.to_user(tau)
    length, sd, _, more_than_one, t_scale, y_scale = np.exp(phi)
    x = np.sqrt(3.0) * np.abs(time[:, None] - time) / length
    K = sd**2 * (1.0 + x) * np.exp(-x) + np.diag((y_scale * found.y_sd) ** 2)
    rest = found.y.copy()
    flat = []
    for term in trend:
        column = term.column(time)
        rest -= term.mean * column
        if np.isfinite(term.sd):
            K += term.sd**2 * np.outer(column, column)
        else:
            flat.append(column)
    X = np.array(flat).T.reshape(len(time), len(flat))
    G = X.T @ np.linalg.solve(K, X)
    left = rest - X @ np.linalg.solve(G, X.T @ np.linalg.solve(K, rest)) if flat else rest
    value = -0.5 * (np.linalg.slogdet(K)[1] + np.linalg.slogdet(G)[1] + left @ np.linalg.solve(K, left))

    uncertain = found.t_sd > 0
    value += norm.logpdf(found.t[uncertain], time[uncertain], t_scale * found.t_sd[uncertain]).sum()
    for _, rows in found.sequences:
        value += gaps.log_prior(problem.model.gaps, found.sign * time[rows], 1.0 + more_than_one, problem.floor)[0]
    return value + norm.logpdf(phi, problem.prior_mean, problem.prior_sd)[problem.free].sum()


def somewhere(problem, rng):
    """Inputs that keep the order, away from the dates, and parameters."""
    found = problem.record
    while True:
        tau = problem.rows.t + 0.7 * found.t_sd * rng.standard_normal(len(found))
        if all((np.diff(tau[rows]) > 0.05).all() for _, rows in found.sequences):
            return tau, problem.start + 0.4 * rng.standard_normal(len(problem.start)) * problem.free


def test_value_from_first_principles(case, rng):
    """Up to a constant, which is taken out by comparing differences between places."""
    found, problem, trend = case
    places = [somewhere(problem, rng) for _ in range(6)]
    values = np.array([ours(problem, *place)[0] for place in places])
    expected = np.array([from_first_principles(found, problem, trend, *place) for place in places])
    assert np.ptp(expected) > 0.5
    np.testing.assert_allclose(values - values[0], expected - expected[0], rtol=0, atol=1e-7)


def test_gradient_by_finite_differences(case, rng):
    _, problem, _ = case
    step = 1e-5
    for tau, phi in (somewhere(problem, rng), somewhere(problem, rng)):
        _, d_tau, d_phi = ours(problem, tau, phi)
        for row in range(len(tau)):
            shift = step * (np.arange(len(tau)) == row)
            difference = ours(problem, tau + shift, phi)[0] - ours(problem, tau - shift, phi)[0]
            assert d_tau[row] == pytest.approx(difference / (2.0 * step), rel=1e-5, abs=1e-4), f"row {row}"
        for i, name in enumerate(problem.names):
            shift = step * (np.arange(len(phi)) == i)
            difference = ours(problem, tau, phi + shift)[0] - ours(problem, tau, phi - shift)[0]
            assert d_phi[i] == pytest.approx(difference / (2.0 * step), rel=1e-5, abs=1e-4), name


def test_broken_order_has_no_density(rng):
    problem = build_problem(record(), Model(Matern32()))
    tau, phi = somewhere(problem, rng)
    tau[[3, 4]] = tau[[4, 3]]
    assert ours(problem, tau, phi)[0] == -np.inf
