"""The coordinates in which npv climbs: exact for dates and independent gaps, and good enough for long records."""

import numpy as np
import pytest
from test_npv import EVERY_RECORD, close, interleaved, slopes, somewhere

import lamina
from lamina.methods.npv import _uncertain_everywhere
from lamina.methods.npv.inference import Found, Inference
from lamina.methods.npv.metric import JointMetric, gradient_of, later_precision, make_metric, step_of
from lamina.model.model import Model
from lamina.model.problem import build_problem


@pytest.fixture(params=EVERY_RECORD)
def inference(request) -> Inference:
    return Inference(_uncertain_everywhere(build_problem(request.param(), Model())), components=3, max_steps=50)


def matrix(inference: Inference, function, metric) -> np.ndarray:
    """The matrix of a linear map, column by column."""
    out = np.empty((inference.n, inference.n))
    for j, unit in enumerate(np.eye(inference.n)):
        column = np.empty(inference.n)
        function(inference.plan, metric, unit, column)
        out[:, j] = column
    return out


def test_the_curvature_of_dates_and_independent_gaps_is_the_identity(inference, rng):
    """A' H A = I with H = J' diag(1 / t_var) J + diag(c), J = d E tau / dx."""
    m, v, _ = somewhere(inference)
    stiffness = rng.uniform(0.5, 5.0, inference.n)
    metric = make_metric(inference.plan, inference.target.rows, m[0], v[0], stiffness, 1.3)
    A, back = matrix(inference, step_of, metric), matrix(inference, gradient_of, metric)
    np.testing.assert_allclose(back, A.T, rtol=1e-10, atol=1e-12)
    J = inference._directions(m[0] + 0.5 * v[0])[:, inference.plan.rows].T
    W = 1.0 / (1.3**2 * inference.target.rows.t_var[inference.plan.rows])
    H = J.T @ (W[:, None] * J) + np.diag(np.where(inference.is_start, 0.0, stiffness))
    np.testing.assert_allclose(A.T @ H @ A, np.eye(inference.n), atol=1e-8)


def test_the_gradient_in_the_joint_coordinates_is_that_of_finite_differences(inference, rng):
    """Also where gaps shrink to less than half, and change otherwise from there."""
    m, v, phi = somewhere(inference)
    metric = inference._joint_metric(m, v, phi, inference._curvature(m, phi))
    z = 2.0 * rng.standard_normal(m.size + len(inference.unknown))
    d_m, d_phi = np.empty(m.shape), np.empty(len(phi))

    def value(z):
        change, slope = metric.step(z)
        trial = phi.copy()
        trial[inference.unknown] += change[m.size :]
        found = inference._first_order(m + change[: m.size].reshape(m.shape), v, trial, d_m, d_phi)
        return found, slope

    _, slope = value(z)
    found = metric.gradient(slope, d_m.copy(), d_phi[inference.unknown])
    assert slope.max() == 2.0
    close(found, slopes(lambda z: value(z)[0], z, 1e-6), 1e-4)


def test_parameters_that_pull_on_the_means_have_unit_curvature_with_them(inference, rng):
    """For any curvature [[H, C], [C', D]] whose H is the metric's own, L' [[H, C], [C', D]] L = I."""
    m, v, _ = somewhere(inference)
    n, t_var = inference.n, inference.target.rows.t_var
    own = [make_metric(inference.plan, inference.target.rows, m[0], v[0], np.full(n, 2.0), 1.0)]
    J, W = inference._directions(m[0] + 0.5 * v[0])[:, inference.plan.rows].T, 1.0 / t_var[inference.plan.rows]
    H = J.T @ (W[:, None] * J) + np.diag(np.where(inference.is_start, 0.0, 2.0))
    C = H @ rng.normal(size=(n, 2))
    D = C.T @ np.linalg.solve(H, C) + np.array([[2.0, 0.5], [0.5, 1.0]])
    metric = JointMetric(inference.plan, own, C.T.reshape(2, 1, n), D, np.full(2, 0.01))
    small = 1e-6
    L = np.array([metric.step(small * unit)[0] / small for unit in np.eye(n + 2)]).T
    np.testing.assert_allclose(L.T @ np.block([[H, C], [C.T, D]]) @ L, np.eye(n + 2), atol=1e-3)


def test_a_gap_is_held_by_all_later_dates_of_its_sequence():
    inference = Inference(build_problem(interleaved(), Model()), components=1, max_steps=1)
    plan, t_var = inference.plan, inference.target.rows.t_var
    found = later_precision(plan, inference.target.rows)
    for a, b in zip(plan.first[:-1], plan.first[1:], strict=True):
        for i in range(a, b):
            assert found[i] == pytest.approx((1.0 / t_var[plan.rows[i:b]]).sum())


def long_record(n: int, t_sd: float = 0.7) -> lamina.Record:
    rng = np.random.default_rng(n)
    tau = np.cumsum(rng.gamma(4.0, 0.25, n))
    y = np.sin(tau / 20.0) + 0.2 * rng.standard_normal(n)
    return lamina.Record(t=tau + t_sd * rng.standard_normal(n), t_sd=t_sd, y=y, y_sd=0.2)


@pytest.mark.parametrize("covariance", ["diagonal", "isotropic"])
def test_a_long_record_converges_in_a_few_steps(covariance):
    """In log-gaps alone, 1,500 rows would not converge in fifty steps."""
    found = lamina.fit(long_record(1500), "npv", restarts=1, draws=20, covariance=covariance).diagnostics
    assert found["converged"]
    assert found["steps"] < 20


def test_draws_of_long_records_are_kept_in_single_precision_and_in_order(rng):
    inference = Inference(build_problem(long_record(6000, 0.1), Model()), components=1, max_steps=1)
    m = np.array([inference._start(rng)])
    drawn = inference.draw(Found(m, np.full(m.shape, 1e-4), inference.problem.start, [0.0]), 5, rng)
    assert drawn.dtype == np.float32
    assert drawn.shape == (5, 6000)
    assert (np.diff(drawn, axis=1) >= 0.0).all()


def test_a_climb_begins_near_the_dates_however_long_the_record(rng):
    """No more than jitter, ties and the halfway step to equal spacing move them."""
    inference = Inference(build_problem(long_record(6000, 0.3), Model()), components=1, max_steps=1)
    found = Found(inference._start(rng)[None], np.zeros((1, inference.n)), inference.problem.start, [0.0])
    off = (inference.expected(found) - inference.problem.rows.t) / 0.3
    assert np.sqrt(np.mean(off**2)) < 4.0
    assert np.abs(off[-100:].mean()) < 2.0
