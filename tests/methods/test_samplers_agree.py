"""mcmc and nuts share a density and no move: where both have converged, they agree on inputs, parameters and curve."""

from dataclasses import replace

import numpy as np
import pytest

import lamina
from lamina import Record
from lamina.dates import StudentT
from lamina.methods.prediction import curves
from lamina.support.convergence import mean_standard_error, r_hat

AT = np.array([-1.0, 0.4, 2.0, 3.3, 5.9, 8.0])


def record(n=12, t_sd=0.2, exact=(), order="increasing", sequence=None):
    """A slow wave, measured well enough that the posterior has one mode."""
    rng = np.random.default_rng(5)
    truth = np.linspace(0.0, 6.0, n)[:: -1 if order == "decreasing" else 1]
    errors = np.full(n, t_sd)
    errors[list(exact)] = 0.0
    t = truth + errors * rng.standard_normal(n)
    y = 1.0 + np.sin(truth) + 0.15 * rng.standard_normal(n)
    return Record(t=t, t_sd=errors, y=y, y_sd=0.15, order=order, sequence=sequence)


NARROW = {"length": (2.0, 1.5), "sd": (1.0, 1.5), "alpha": (4.0, 1.5)}
SCALES = {"t_scale": (1.0, 1.3), "y_scale": (1.0, 1.3)}
CASES = {
    "one sequence": (record(), {}),
    "two sequences": (record(n=14, sequence=list("abbabaababbaab")), {}),
    "exact rows": (record(exact=(0, 5, 11), order="decreasing", sequence=[*"aaaaa", None, *"aaaaaa"]), {}),
    "linear": (record(), {"mean": "linear", "gaps": "exponential"}),
    "scales": (record(), {"estimate": ("t_scale", "y_scale"), "priors": NARROW | SCALES}),
}


NO_DATE, NO_VALUE = np.full(12, 0.2), np.full(12, 0.15)
NO_DATE[[2, 6, 7]], NO_VALUE[[3, 7]] = np.inf, np.inf
DEPTH = np.cumsum(np.tile([1.0, 2.0, 0.5], 4))
PLAIN = record()
CASES |= {
    "depths, layers without date or value": (
        replace(PLAIN, t_sd=NO_DATE, y_sd=NO_VALUE, depth=DEPTH),
        {"priors": NARROW},
    ),
    "tie, hiatus and least gaps": (
        replace(PLAIN, tie=[None, 1, 1, *[None] * 9], hiatus=np.arange(12) == 5, least_gap=0.1),
        {},
    ),
    "Student-t dates": (replace(PLAIN, dates=[StudentT(one, 0.2) for one in PLAIN.t]), {"priors": NARROW}),
    "offsets": (replace(PLAIN, sequence=list("abbabaababba")), {"offsets": 0.3, "priors": NARROW}),
}


def moments(posterior, centre=None):
    """Draws (chains, n, V) whose means are those of inputs, parameters and curve, and then their squared deviations.

    The curve enters through its mean and variance given each draw.
    """
    problem, draws = posterior.problem, posterior.draws
    mean, var, _, _ = curves(problem, draws, problem.to_internal(AT))
    values = np.hstack([draws.tau[:, ~problem.record.exact], draws.phi[:, problem.free], mean])
    within = np.hstack([np.zeros((len(values), values.shape[1] - len(AT))), var])
    centre = values.mean(axis=0) if centre is None else centre
    found = np.hstack([values, (values - centre) ** 2 + within])
    return found.reshape(draws.chains, -1, found.shape[1]), centre


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_mcmc_and_nuts_agree(name):
    """Means within 5 Monte-Carlo standard errors, standard deviations within 10 %."""
    found, options = CASES[name]
    mcmc = lamina.fit(found, "mcmc", seed=1, draws=12_000, **options)
    nuts = lamina.fit(found, "nuts", seed=2, chains=2, draws=3000, warmup=600, target_accept=0.95, **options)
    assert nuts.diagnostics["divergent"] == 0
    ours, centre = moments(mcmc)
    theirs, _ = moments(nuts, centre)
    assert r_hat(ours).max() < 1.02
    assert r_hat(theirs).max() < 1.02
    difference = ours.mean(axis=(0, 1)) - theirs.mean(axis=(0, 1))
    z = difference / np.hypot(mean_standard_error(ours), mean_standard_error(theirs))
    assert np.abs(z).max() < 5.0
    half = ours.shape[2] // 2
    ratio = np.sqrt(ours.mean(axis=(0, 1))[half:] / theirs.mean(axis=(0, 1))[half:])
    np.testing.assert_allclose(ratio, 1.0, atol=0.1)
