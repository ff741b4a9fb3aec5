"""Inputs as real numbers and back: every kind of run, its Jacobian and its gradient."""

import numpy as np
import pytest

from lamina import Matern32, Record
from lamina.methods.coordinates import ABOVE, BELOW, BETWEEN, OPEN, make_plan, pull_gradient, to_coordinates, to_inputs
from lamina.model.model import Model
from lamina.model.problem import build_problem


def record(t, t_sd, sequence=None, order="increasing"):
    return Record(t=t, t_sd=t_sd, y=np.zeros(len(t)), y_sd=1.0, order=order, sequence=sequence)


#: A record for each kind of run, and the kinds that its plan has. An uncertain row has t_sd = 1, an exact one 0.
RECORDS = {
    "open": (record([0.0, 1.0, 3.0, 4.5], 1.0), [OPEN]),
    "above": (record([0.0, 1.0, 3.0, 4.5], [0, 1, 1, 1]), [ABOVE]),
    "below": (record([0.0, 1.0, 3.0, 4.5], [1, 1, 1, 0]), [BELOW]),
    "between": (record([0.0, 1.0, 3.0, 4.5, 5.0], [0, 1, 1, 1, 0]), [BETWEEN]),
    "one between": (record([0.0, 1.0, 3.0], [0, 1, 0]), [BETWEEN]),
    "alone": (record([0.0, 1.0, 0.5], 1.0, sequence=[None, None, None]), [OPEN, OPEN, OPEN]),
    "all in one sequence": (
        record([0.0, 1.0, 2.0, 3.0, 3.4, 4.0, 5.0, 6.0, 7.0], [1, 1, 0, 1, 1, 0, 0, 1, 1]),
        [BELOW, BETWEEN, ABOVE],
    ),
    "two sequences, rows alone and exact ones": (
        record(
            [0.0, 0.2, 1.0, 0.7, 2.0, 1.5, 2.5, 3.0, 2.2, 1.1],
            [1, 1, 1, 0, 1, 1, 0, 1, 1, 0],
            sequence=["a", "b", "a", "b", "a", "b", "b", None, "b", None],
        ),
        [OPEN, OPEN, BELOW, BETWEEN, ABOVE],
    ),
    "decreasing": (record([7.0, 6.0, 4.0, 3.0, 1.0], [1, 0, 1, 1, 1], order="decreasing"), [BELOW, ABOVE]),
}


@pytest.fixture(params=RECORDS.values(), ids=RECORDS.keys())
def case(request):
    """A problem, its plan, and inputs away from the dates that keep the order."""
    found, kinds = request.param
    problem = build_problem(found, Model(Matern32()))
    rng = np.random.default_rng(3)
    plan = make_plan(problem)
    tau = problem.rows.t + 0.0
    uncertain = np.flatnonzero(~found.exact)
    for _ in range(200):
        moved = tau.copy()
        moved[uncertain] += 0.2 * rng.standard_normal(len(uncertain))
        if all((np.diff(moved[rows]) > 0).all() for _, rows in found.sequences):
            tau = moved
    return problem, plan, tau, kinds


def test_the_plan_has_the_runs_of_the_record(case):
    problem, plan, _, kinds = case
    assert plan.kind.tolist() == kinds
    assert sorted(plan.rows.tolist()) == np.flatnonzero(~problem.record.exact).tolist()


def test_round_trip_from_inputs(case):
    problem, plan, tau, _ = case
    back = problem.rows.t.copy()
    to_inputs(plan, to_coordinates(plan, tau), back)
    np.testing.assert_allclose(back, tau, rtol=0, atol=1e-12)


def test_any_real_numbers_give_ordered_inputs_and_come_back(case, rng):
    problem, plan, _, _ = case
    for _ in range(20):
        x = 1.5 * rng.standard_normal(len(plan.rows))
        tau = problem.rows.t.copy()
        to_inputs(plan, x, tau)
        np.testing.assert_array_equal(tau[problem.record.exact], problem.rows.t[problem.record.exact])
        for _, rows in problem.record.sequences:
            within = np.diff(tau[rows]) > 0
            both_exact = problem.record.exact[rows][1:] & problem.record.exact[rows][:-1]
            assert (within | both_exact).all()
        np.testing.assert_allclose(to_coordinates(plan, tau), x, rtol=0, atol=1e-8)


def differences(function, x, step=1e-6):
    """Central differences of a vector function, shape (outputs, len(x))."""
    columns = []
    for i in range(len(x)):
        shift = np.zeros(len(x))
        shift[i] = step
        columns.append((function(x + shift) - function(x - shift)) / (2.0 * step))
    return np.array(columns).T


def laid(problem, plan, x):
    """Inputs (N,), and the log-Jacobian."""
    tau = problem.rows.t.copy()
    log_jacobian = to_inputs(plan, x, tau)
    return tau, log_jacobian


def test_log_jacobian_is_that_of_the_numeric_determinant(case):
    problem, plan, tau, _ = case
    x = to_coordinates(plan, tau)
    jacobian = differences(lambda x: laid(problem, plan, x)[0][plan.rows], x)
    _, expected = np.linalg.slogdet(jacobian)
    assert laid(problem, plan, x)[1] == pytest.approx(expected, abs=1e-7)


@pytest.mark.parametrize("with_jacobian", [False, True])
def test_pull_carries_gradients_back(case, with_jacobian, rng):
    """The gradient in x of weight · tau, with and without that of the log-Jacobian."""
    problem, plan, tau, _ = case
    weight = rng.standard_normal(len(tau))

    def value(x):
        inputs, log_jacobian = laid(problem, plan, x)
        return np.array([weight @ inputs + with_jacobian * log_jacobian])

    x = to_coordinates(plan, tau)
    found = np.empty(len(x))
    pull_gradient(plan, x, weight, with_jacobian, found)
    np.testing.assert_allclose(found, differences(value, x)[0], rtol=1e-6, atol=1e-7)


def test_rooms_stay_finite_far_out():
    """Log-ratios of hundreds, as a sampler may try them, neither overflow nor give a wrong Jacobian."""
    problem = build_problem(RECORDS["between"][0], Model(Matern32()))
    plan = make_plan(problem)
    for x in np.array([800.0, 0.0, -800.0]), np.array([-900.0, -900.0, -900.0]), np.array([0.0, 700.0, 0.0]):
        tau, log_jacobian = laid(problem, plan, x)
        assert np.isfinite(tau).all()
        assert (np.diff(tau) >= 0).all()
        top = max(x.max(), 0.0)
        log_total = top + np.log(np.exp(-top) + np.exp(x - top).sum())
        room = plan.ceiling[0] - plan.floor[0]
        assert log_jacobian == pytest.approx(3 * np.log(room) + x.sum() - 4 * log_total, rel=1e-12)
