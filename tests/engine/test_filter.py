"""Laws of the likelihood: what must not change it, what it must be in the limits, and how far it reaches."""

from dataclasses import replace

import numpy as np
import pytest
from oracles import Oracle
from problems import KERNELS, PRIORS, Problem, problem

from lamina import dense, markov
from lamina.engine.filter import Series, log_likelihood_terms
from lamina.engine.statespace import make_process
from lamina.kernels import Constant, Linear, Matern32, Sum
from lamina.model.trend import design

STATIONARY = {name: kernel for name, kernel in KERNELS.items() if not kernel.trend}
each_kernel = pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS.keys())
each_stationary = pytest.mark.parametrize("kernel", STATIONARY.values(), ids=STATIONARY.keys())
P15 = problem(15, "even", seed=2, log_y_sd=(-2.0, 0.0))


def flat(kernel) -> int:
    """How many coefficients have a flat prior: as many rows are needed."""
    return sum(np.isinf(term.sd) for term in kernel.trend)


def scaled(kernel, time=1.0, y=1.0):
    """The kernel in other units of time and of y."""

    def one(term):
        if hasattr(term, "length"):
            return replace(term, length=term.length * time, sd=term.sd * y)
        unit = y / time ** term.slope()
        changed = replace(term, sd=term.sd * unit, mean=term.mean * unit)
        return replace(changed, origin=term.origin * time) if term.slope() else changed

    return Sum(tuple(one(term) for term in kernel.terms))


def shifted(kernel, time):
    """The kernel with its origin moved."""
    terms = (replace(term, origin=term.origin + time) if hasattr(term, "origin") else term for term in kernel.terms)
    return Sum(tuple(terms))


@each_kernel
def test_log_determinant_and_products_equal_the_dense_engine(kernel):
    d = design(kernel, *P15)
    process = make_process(kernel.blocks(), d.Z.shape[1])
    log_det, E = log_likelihood_terms(process, Series(P15.tau, d.Z, P15.y_sd**2))
    solved = dense.solve(kernel, *P15)
    assert log_det == pytest.approx(2.0 * np.log(np.diag(solved.L)).sum())
    expected = d.Z.T @ solved.A
    assert pytest.approx(expected, abs=1e-10 * np.abs(expected).max()) == E


@each_kernel
def test_a_shift_of_time_changes_nothing(kernel):
    shift = 2.0**12  # exact in binary, so that the gaps stay what they were
    tau = np.round(P15.tau * 2**30) / 2**30
    expected = markov.log_likelihood(kernel, tau, P15.y, P15.y_sd)
    assert markov.log_likelihood(shifted(kernel, shift), tau + shift, P15.y, P15.y_sd) == pytest.approx(
        expected, rel=1e-11
    )


@each_kernel
def test_units_of_time_and_y(kernel):
    time, y = 37.0, 0.02
    expected = markov.log_likelihood(kernel, *P15)
    found = markov.log_likelihood(scaled(kernel, time, y), P15.tau * time, P15.y * y, P15.y_sd * y)
    # the density of y has a unit, once for each row; each flat coefficient takes one unit back
    units = -len(P15.y) * np.log(y)
    units += sum(np.log(y / time ** term.slope()) for term in kernel.trend if np.isinf(term.sd))
    assert found == pytest.approx(expected + units, rel=1e-12)


@each_kernel
def test_reversed_time_changes_nothing(kernel):
    mirrored = []
    for term in kernel.terms:
        turned = term if not hasattr(term, "origin") else replace(term, origin=-term.origin, mean=-term.mean)
        mirrored.append(turned)
    found = markov.log_likelihood(Sum(tuple(mirrored)), -P15.tau[::-1], P15.y[::-1].copy(), P15.y_sd[::-1].copy())
    assert found == pytest.approx(markov.log_likelihood(kernel, *P15), rel=1e-12)


@each_stationary
def test_far_separated_halves_are_independent(kernel):
    late = P15._replace(tau=P15.tau + 1000.0)
    both = Problem(*(np.concatenate(pair) for pair in zip(P15, late, strict=True)))
    assert markov.log_likelihood(kernel, *both) == pytest.approx(2.0 * markov.log_likelihood(kernel, *P15), rel=1e-12)


def check_against_extended_precision(kernel, p):
    value, d_tau, d_theta = markov.value_and_gradient(kernel, *p)
    oracle = Oracle(kernel, *p)
    expected_d_tau, expected_d_theta = oracle.gradient()
    assert value == pytest.approx(oracle.value(), rel=1e-10)
    assert d_tau == pytest.approx(expected_d_tau, abs=1e-8 * np.abs(expected_d_tau).max() + 1e-300)
    assert d_theta == pytest.approx(expected_d_theta, abs=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "n"), [(name, n) for name in KERNELS for n in (1, 2) if flat(KERNELS[name]) <= n])
def test_one_and_two_rows(name, n):
    kernel, p = KERNELS[name], Problem(*(column[:n] for column in P15))
    value, d_tau, d_theta = markov.value_and_gradient(kernel, *p)
    oracle = Oracle(kernel, *p)
    expected_d_tau, expected_d_theta = oracle.gradient()
    assert value == pytest.approx(oracle.value(), rel=1e-12)
    assert d_tau == pytest.approx(expected_d_tau, abs=1e-10)
    assert d_theta == pytest.approx(expected_d_theta, abs=1e-10)
    assert markov.gap_hessian_diagonal(kernel, *p) == pytest.approx(oracle.gap_hessian(), abs=1e-8)


@each_kernel
def test_ties_are_the_limit_of_small_gaps(kernel):
    tau = P15.tau.copy()
    tau[4:8] = tau[4]
    tied = P15._replace(tau=tau)
    check_against_extended_precision(kernel, tied)
    opened = tied._replace(tau=tau + np.where(np.arange(15) > 5, 1e-13, 0.0))
    assert markov.log_likelihood(kernel, *opened) == pytest.approx(markov.log_likelihood(kernel, *tied), rel=1e-6)
    hessian = markov.gap_hessian_diagonal(kernel, *tied)
    assert np.isfinite(hessian).all()
    assert not hessian[4:7].any()


@pytest.mark.slow
@pytest.mark.parametrize("kernel", [*STATIONARY.values(), PRIORS["matern32+level+rate"]])
def test_all_rows_at_one_time(kernel):
    check_against_extended_precision(kernel, P15._replace(tau=np.full(15, 2.5)))


@each_kernel
def test_constant_y(kernel):
    check_against_extended_precision(kernel, P15._replace(y=np.full(15, 3.0)))


@pytest.mark.parametrize("name", ["matern32+flat level+flat rate", "matern12+matern32+matern52+level"])
def test_offsets_of_a_billion(name):
    """Times and values that differ from small ones by 1e9 exactly: only the level notices."""
    offset = 1e9
    tau, y = np.round(P15.tau * 2**20) / 2**20, np.round(P15.y * 2**20) / 2**20
    terms = []
    for term in shifted(KERNELS[name], offset).terms:
        moves = isinstance(term, Constant) and np.isfinite(term.sd)
        terms.append(replace(term, mean=term.mean + offset) if moves else term)
    found = markov.value_and_gradient(Sum(tuple(terms)), tau + offset, y + offset, P15.y_sd)
    expected = markov.value_and_gradient(KERNELS[name], tau, y, P15.y_sd)
    for one, other in zip(found, expected, strict=True):
        assert one == pytest.approx(other, rel=1e-9, abs=1e-9)


def test_a_wide_prior_absorbs_an_offset_of_a_billion():
    kernel = Matern32() + Constant(sd=1e10) + Linear(sd=1.0)
    p = P15._replace(y=P15.y + 1e9)
    assert markov.log_likelihood(kernel, *p) == pytest.approx(Oracle(kernel, *p).value(), rel=1e-9)


@each_kernel
@pytest.mark.parametrize("factor", [1e-6, 1e6])
def test_length_scales_far_from_the_span(kernel, factor):
    span = P15.tau[-1] - P15.tau[0]
    terms = (replace(t, length=span * factor * t.length) if hasattr(t, "length") else t for t in kernel.terms)
    check_against_extended_precision(Sum(tuple(terms)), P15)


def test_a_trend_with_a_prior_keeps_its_digits_on_a_short_record():
    """Data over a span of 1e-7 say nothing of a rate whose prior is narrow; a fitted one would be 1e6 and cancel."""
    kernel = KERNELS["matern12+matern52+rate"]
    tau = np.array([0.0, 1.4e-7, 1.5e-7, 1.6e-7])
    p = Problem(tau, 0.3 + 1e-5 * np.arange(4.0), np.full(4, 2.5e-5))
    assert markov.log_likelihood(kernel, *p) == pytest.approx(Oracle(kernel, *p).value(), rel=1e-12)


@pytest.mark.slow
def test_a_million_rows():
    n = 1_000_000
    rng = np.random.default_rng(0)
    tau = np.cumsum(rng.exponential(0.1, n))
    y, y_sd = np.sin(tau) + 0.1 * rng.standard_normal(n), np.full(n, 0.1)
    kernel = KERNELS["matern52"]
    value, d_tau, d_theta = markov.value_and_gradient(kernel, tau, y, y_sd)
    assert np.isfinite(d_tau).all()
    assert abs(d_tau.sum()) < 1e-9 * np.abs(d_tau).sum()
    # a chain forgets: the likelihood of the whole is near the sum over its halves, and between them is one row's worth
    halves = sum(
        markov.log_likelihood(kernel, tau[half], y[half], y_sd[half]) for half in (slice(0, n // 2), slice(n // 2, n))
    )
    assert 0.0 < value - halves < 20.0
    assert np.isfinite(d_theta).all()
