"""The covariance of npv's Gaussians: what is shared, what it changes, and what it leaves as it is."""

import fits
import numpy as np
import pytest
from test_npv import EVERY_RECORD, KNOWN_LEVEL, close, slopes, somewhere

import lamina
from lamina.methods.npv import _uncertain_everywhere
from lamina.methods.npv.covariance import COVARIANCES, LOG_GAP_LIMITS, expand, make_covariance, tie, tie_gradient
from lamina.methods.npv.inference import Inference
from lamina.methods.npv.objective import variance_part
from lamina.model.model import Model
from lamina.model.problem import build_problem

FEW = {"method": "npv", "restarts": 2, "seed": 1, "draws": 200}


def infer(record: lamina.Record, covariance: str) -> Inference:
    problem = build_problem(record, Model(KNOWN_LEVEL, estimate="t_scale"))
    return Inference(_uncertain_everywhere(problem), 3, 50, covariance)


@pytest.fixture(params=EVERY_RECORD)
def record(request) -> lamina.Record:
    return request.param()


@pytest.mark.parametrize("covariance", COVARIANCES)
def test_the_gradient_in_the_free_variances_is_that_of_finite_differences(record, covariance, rng):
    inference = infer(record, covariance)
    m, _, phi = somewhere(inference)
    curvature = inference._curvature(m, phi)
    log_v = rng.normal(-4.0, 0.3, (3, len(inference.covariance.limits)))

    def value(log_v, d_v):
        v = expand(inference.covariance, log_v)
        return variance_part(inference.plan, inference.target.rows, m, v, curvature, 1.3, d_v), v

    d_v = np.empty(inference.shape)
    _, v = value(log_v, d_v)
    expected = slopes(lambda log_v: value(log_v, np.empty(inference.shape))[0], log_v, 1e-5)
    close(tie_gradient(inference.covariance, d_v * v), expected, 1e-5)


def test_isotropic_is_one_variance_for_log_gaps_and_for_starts_in_units_of_their_errors(record):
    inference = infer(record, "isotropic")
    found = inference.climb(np.random.SeedSequence(1))
    t_var = inference.target.rows.t_var[inference.plan.rows]
    shared = found.v / np.where(inference.is_start, t_var, 1.0)
    np.testing.assert_allclose(shared, np.broadcast_to(shared[:, :1], shared.shape), rtol=1e-12)
    assert (shared <= np.exp(LOG_GAP_LIMITS[1])).all()


def test_at_given_means_own_variances_reach_at_least_the_objective_of_a_shared_one(record):
    """And exactly that, where they begin at the shared one and are not moved."""
    reached = {}
    for covariance in COVARIANCES:
        inference = infer(record, covariance)
        m, _, phi = somewhere(inference)
        curvature = inference._curvature(m, phi)
        log_v = inference._climb_variances(m, inference._first_variances(m), phi, curvature)
        reached[covariance] = inference._objective(m, expand(inference.covariance, log_v), phi, curvature)
    assert reached["diagonal"] >= reached["isotropic"] - 1e-6


def test_tied_variances_are_the_isotropic_ones(record):
    """A diagonal covariance whose variances are equal has the objective of the isotropic one."""
    both = [infer(record, covariance) for covariance in COVARIANCES]
    m, _, phi = somewhere(both[0])
    curvature = both[0]._curvature(m, phi)
    shared = expand(both[1].covariance, np.full((3, 1), -4.0))
    tied = expand(both[0].covariance, np.log(shared))
    np.testing.assert_allclose(tied, shared, rtol=1e-12)
    assert both[0]._objective(m, tied, phi, curvature) == pytest.approx(both[1]._objective(m, shared, phi, curvature))


def test_a_shared_variance_lies_between_those_that_it_stands_for(record, rng):
    plan, rows = infer(record, "diagonal").plan, infer(record, "diagonal").target.rows
    precision = rng.uniform(1.0, 50.0, (3, len(plan.rows)))
    covariance = make_covariance("isotropic", plan, rows.t_var)
    shared, own = np.exp(tie(covariance, precision)), 1.0 / (precision * covariance.unit)
    assert (shared[:, 0] >= np.minimum(own.min(axis=1), 1.0)).all()
    assert (shared[:, 0] <= own.max(axis=1)).all()


@pytest.mark.slow
def test_with_a_single_coordinate_there_is_nothing_to_share():
    given, t_sd = fits.record(), np.zeros(10)
    t_sd[4] = 0.3
    t = np.where(t_sd > 0.0, given.t, fits.TRUE)
    record = lamina.Record(t=t, t_sd=t_sd, y=given.y, y_sd=given.y_sd, sequence=[None] * 10)
    one, two = (fits.quietly(record, covariance=covariance, **FEW) for covariance in COVARIANCES)
    assert one.diagnostics["objective"] == pytest.approx(two.diagnostics["objective"], abs=0.02)
    assert one.inputs()["mean"][4] == pytest.approx(two.inputs()["mean"][4], abs=0.02)
    assert one.inputs()["sd"][4] == pytest.approx(two.inputs()["sd"][4], rel=0.1)


@pytest.mark.parametrize("covariance", COVARIANCES)
@pytest.mark.parametrize(("factor", "shift"), [(1.0, 40.0), (250.0, 0.0)], ids=["shift", "scale"])
def test_the_unit_and_the_origin_of_time_do_not_matter(covariance, factor, shift):
    """F, at the Q that belongs to the moved record, differs by a constant only."""
    given = fits.record()
    moved = lamina.Record(t=factor * given.t + shift, t_sd=factor * given.t_sd, y=given.y, y_sd=given.y_sd)
    here, there = infer(given, covariance), infer(moved, covariance)
    length = [name == "length" for name in here.problem.names]
    origin = there.problem.rows.t[0] - factor * here.problem.rows.t[0]
    differences = []
    for seed in range(2):
        m, _, phi = somewhere(here, seed)
        log_v = here._first_variances(m) + 0.1 * seed
        x = np.where(here.is_start, factor * m + origin, m + np.log(factor))
        own_unit = here.is_start if covariance == "diagonal" else np.zeros(1, dtype=bool)
        values = []
        for one, at, variances, parameters in (
            (here, m, log_v, phi),
            (
                there,
                x,
                log_v + np.where(own_unit, 2.0 * np.log(factor), 0.0),
                phi + np.where(length, np.log(factor), 0),
            ),
        ):
            v, curvature = expand(one.covariance, variances), one._curvature(at, parameters)
            values.append(one._objective(at, v, parameters, curvature))
        differences.append(values[1] - values[0])
    assert differences[0] == pytest.approx(differences[1], abs=1e-6)


def test_the_covariance_is_kept_with_the_posterior(tmp_path):
    found = fits.quietly(fits.record(), covariance="isotropic", **FEW)
    assert found.diagnostics["covariance"] == "isotropic"
    found.save(tmp_path / "posterior.nc")
    assert lamina.load(tmp_path / "posterior.nc").diagnostics["covariance"] == "isotropic"
    assert fits.posterior("npv").diagnostics["covariance"] == "diagonal"
