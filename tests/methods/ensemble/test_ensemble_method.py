"""Inputs from another age model: both forms agree with each other, with mcmc and with sums written out."""

import numpy as np
import pytest
from fits import quietly

import lamina
from lamina import Record
from lamina.methods.ensemble.members import TRIED
from lamina.methods.prediction import curves
from lamina.support.convergence import mean_standard_error

AT = np.array([0.4, 2.0, 3.3, 5.9])
PRIORS = {"priors": {"length": (2.0, 1.5), "sd": (1.0, 1.5)}}
KNOWN = {"fixed": {"length": 1.5, "sd": 1.0}}
QUICK = {"draws": 400, "warmup": 200, "max_sweeps": 100}


def record(n=7, t_sd=0.3, y_sd=0.2, **rest):
    """A slow wave whose rows have no known order, unless they are given one."""
    rng = np.random.default_rng(5)
    truth = np.linspace(0.0, 6.0, n)
    rest = {"sequence": [None] * n} | rest
    t = truth + t_sd * rng.standard_normal(n)
    return Record(t=t, t_sd=t_sd, y=np.sin(truth) + y_sd * rng.standard_normal(n), y_sd=y_sd, **rest)


def drawn(covariance, t, n, seed=1):
    return np.random.default_rng(seed).multivariate_normal(t, covariance, size=n)


def moments(posterior, centre=None):
    """Draws (chains, n, V) of inputs, parameters and curve, and then of their squared deviations; and their centre."""
    problem, draws = posterior.problem, posterior.draws
    mean, var, _, _ = curves(problem, draws, problem.to_internal(AT))
    values = np.hstack([posterior.tau, draws.phi[:, problem.free], mean])
    within = np.hstack([np.zeros((len(values), values.shape[1] - len(AT))), var])
    centre = values.mean(axis=0) if centre is None else centre
    found = np.hstack([values, (values - centre) ** 2 + within])
    return found.reshape(draws.chains, -1, found.shape[1]), centre


def check_agree(one, other):
    """Means and squared deviations within 5 standard errors, of the chains and of the members there are."""
    ours, centre = moments(one)
    theirs, _ = moments(other, centre)
    variance = np.zeros(ours.shape[2])
    for posterior, found in (one, ours), (other, theirs):
        members = posterior.diagnostics.get("effective_members", np.inf)
        variance += mean_standard_error(found) ** 2 + found.var(axis=(0, 1)) / members
    z = (ours.mean(axis=(0, 1)) - theirs.mean(axis=(0, 1))) / np.sqrt(variance)
    assert np.abs(z).max() < 5.0


@pytest.mark.slow
def test_independent_errors_give_what_mcmc_gives_without_order():
    """Three samplers that share no move of the inputs."""
    found = record()
    mcmc = lamina.fit(found, "mcmc", draws=8000, seed=1, **PRIORS)
    independent = np.diag(found.t_sd**2)
    members = lamina.fit(found, "ensemble", members=drawn(independent, found.t, 50_000), draws=8000, seed=2, **PRIORS)
    normal = lamina.fit(found, "ensemble", covariance=independent, draws=8000, seed=3, **PRIORS)
    check_agree(mcmc, members)
    check_agree(mcmc, normal)


@pytest.mark.slow
def test_correlated_errors_as_members_and_as_a_covariance_agree():
    found = record(order="decreasing")
    covariance = 0.4**2 * np.exp(-0.5 * np.abs(np.subtract.outer(found.t, found.t)))
    members = lamina.fit(found, "ensemble", members=drawn(covariance, found.t, 20_000), draws=4000, seed=2, **PRIORS)
    normal = lamina.fit(found, "ensemble", covariance=covariance, draws=4000, seed=3, **PRIORS)
    check_agree(members, normal)
    assert np.corrcoef(normal.tau[:, 2:4].T)[0, 1] > 0.4


@pytest.mark.parametrize("n", [TRIED, 20 * TRIED], ids=["tried whole", "tried in part"])
def test_members_have_the_weight_of_their_likelihood(n):
    """With theta known the posterior is a sum over the members, here written out."""
    found = record(t_sd=0.5)
    members = drawn(np.diag(found.t_sd**2), found.t, n)
    kernel = lamina.Matern32(length=1.5, sd=1.0) + lamina.Constant()
    order = np.argsort(members, axis=1)
    value = [
        lamina.log_likelihood(tau[i], found.y[i], found.y_sd[i], kernel) for tau, i in zip(members, order, strict=True)
    ]
    weight = np.exp(value - np.max(value))
    weight /= weight.sum()
    posterior = quietly(found, "ensemble", members=members, draws=8000, seed=1, **KNOWN)
    facts = posterior.diagnostics
    assert facts["members"] == n
    assert facts["effective_members"] == pytest.approx(1.0 / np.sum(weight**2), rel=0.05)
    draws = posterior.tau.reshape(facts["chains"], -1, len(found))
    z = (draws.mean(axis=(0, 1)) - weight @ members) / mean_standard_error(draws)
    assert np.abs(z).max() < 5.0


def test_one_member_is_the_same_as_exact_inputs():
    found = record()
    ages = found.t + 0.1
    one = lamina.fit(found, "ensemble", members=ages[None], draws=4000, seed=1, **PRIORS)
    known = Record(t=ages, t_sd=0.0, y=found.y, y_sd=found.y_sd, sequence=found.sequence)
    exact = lamina.fit(known, "mcmc", draws=4000, seed=2, priors=PRIORS["priors"])
    np.testing.assert_allclose(one.tau, np.tile(ages, (len(one.tau), 1)), rtol=1e-12)
    assert one.diagnostics["converged"]
    assert one.diagnostics["effective_members"] == 1.0
    ours, theirs = (post.draws.phi[:, post.problem.free].reshape(post.draws.chains, -1, 2) for post in (one, exact))
    standard_error = np.hypot(mean_standard_error(ours), mean_standard_error(theirs))
    assert (np.abs(ours.mean(axis=(0, 1)) - theirs.mean(axis=(0, 1))) < 5.0 * standard_error).all()
    np.testing.assert_allclose(one.curve(AT)["mean"], exact.curve(AT)["mean"], atol=0.03)


def test_a_checkpoint_of_another_method_is_refused():
    found, short = record(), {"chains": 2, "draws": 40, "warmup": 20, "max_sweeps": 20}
    ages = {"covariance": np.diag(found.t_sd**2)}
    part = quietly(found, "ensemble", **ages, **short)
    with pytest.raises(lamina.MethodError, match="another model or method"):
        lamina.fit(found, checkpoint=part.checkpoint, **short)


@pytest.mark.slow
@pytest.mark.parametrize("form", ["members", "covariance"])
def test_the_order_of_the_rows_plays_no_part(form):
    found = record()
    independent = np.diag(found.t_sd**2)
    ages = {"members": drawn(independent, found.t, 500), "covariance": independent}
    loose = quietly(found, "ensemble", **{form: ages[form]}, **QUICK)
    ordered = quietly(record(sequence=None), "ensemble", **{form: ages[form]}, **QUICK)
    np.testing.assert_array_equal(loose.tau, ordered.tau)
    assert "alpha" not in ordered.theta.columns
    assert (np.diff(ordered.tau, axis=1) < 0).any()


@pytest.mark.slow
@pytest.mark.parametrize("form", ["members", "covariance"])
def test_intervals_of_simulated_records_cover_the_truth(form):
    """12 records with correlated errors of the ages, from the model itself: the 90 % intervals hold 90 %, roughly."""
    n, length, grid, at = 12, 3.0, np.linspace(0.0, 9.0, 12), np.linspace(0.3, 8.7, 12)
    covariance = 0.4**2 * np.exp(-np.abs(np.subtract.outer(grid, grid)))
    held, kept = [], []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        truth = rng.multivariate_normal(grid, covariance)
        both = np.concatenate([truth, at])
        lag = np.sqrt(3.0) * np.abs(np.subtract.outer(both, both)) / length
        f = 5.0 + rng.multivariate_normal(np.zeros(2 * n), 4.0 * (1.0 + lag) * np.exp(-lag))
        found = Record(t=grid, t_sd=0.4, y=f[:n] + 0.1 * rng.standard_normal(n), y_sd=0.1)
        ages = {"members": drawn(covariance, grid, 20_000, seed), "covariance": covariance}[form]
        posterior = lamina.fit(found, "ensemble", **{form: ages}, fixed={"length": length, "sd": 2.0})
        inputs, curve = posterior.inputs(), posterior.curve(at)
        pairs = (truth, inputs), (f[n:], curve)
        held.append([np.mean((values > table["q5"]) & (values < table["q95"])) for values, table in pairs])
        kept.append(np.mean(inputs["sd"] / 0.4))
    assert np.mean(kept) < 0.92  # the curve has narrowed the ages
    assert np.all(np.abs(np.mean(held, axis=0) - 0.9) < 0.08)


def test_an_ensemble_that_the_data_leave_a_handful_of_has_not_converged():
    found = record(n=12, t_sd=0.5, y_sd=0.02)
    members = drawn(np.diag(found.t_sd**2), found.t, 300)
    with pytest.warns(lamina.NotConverged, match=r"effective members \d"):
        posterior = lamina.fit(found, "ensemble", members=members, max_sweeps=500)
    assert posterior.diagnostics["effective_members"] < 20.0
    assert not posterior.diagnostics["converged"]
    assert "effective members" in posterior.summary()


@pytest.mark.parametrize("form", ["members", "covariance"])
def test_exact_rows_stay_what_they_are(form):
    known = Record(
        t=[0.0, 1.0, 2.1, 2.9, 4.0], t_sd=[0.0, 0.3, 0.3, 0.3, 0.0], y=[0.0, 0.9, 0.8, 0.3, -0.7], y_sd=0.1,
        order="decreasing", sequence=[None] * 5,
    )  # fmt: skip
    covariance = np.diag(known.t_sd**2)
    members = drawn(covariance, known.t, 500)
    members[:, 4] = np.nan  # as read_ensemble leaves rows that have no depth
    ages = {"members": members, "covariance": covariance}[form]
    posterior = quietly(known, "ensemble", **{form: ages}, **QUICK)
    np.testing.assert_allclose(posterior.tau[:, [0, 4]], np.tile([0.0, 4.0], (len(posterior.tau), 1)), atol=1e-12)
    assert posterior.inputs()["sd"].tolist()[::4] == [0.0, 0.0]
    assert np.isfinite(posterior.diagnostics["r_hat"])


@pytest.mark.parametrize("form", ["members", "covariance"])
def test_a_fit_that_was_interrupted_goes_on_with_the_same_ages_only(form):
    found = record()
    independent = np.diag(found.t_sd**2)
    ages = {"members": drawn(independent, found.t, 500), "covariance": independent}[form]
    limits = {"method": "ensemble", "chains": 2, "draws": 80, "warmup": 40, "max_sweeps": 200, "seed": 3}

    def interrupt(state):
        if state["stage"] == "sampling" and state["sweeps"] > 100:
            raise KeyboardInterrupt

    part = quietly(found, progress=interrupt, **{form: ages}, **limits)
    left = limits | {"max_sweeps": 400 - part.diagnostics["sweeps"], "checkpoint": part.checkpoint}
    rest = quietly(found, **{form: ages}, **left)
    whole = quietly(found, **{form: ages}, **limits | {"max_sweeps": 360})
    assert part.diagnostics["interrupted"]
    np.testing.assert_array_equal(rest.tau, whole.tau)
    np.testing.assert_array_equal(rest.theta, whole.theta)
    assert rest.diagnostics.get("effective_members") == whole.diagnostics.get("effective_members")
    with pytest.raises(lamina.MethodError, match="it was made with other ages"):
        lamina.fit(found, **{form: 1.01 * ages}, **left)


RECORD = record()
N = len(RECORD)
AGES = np.tile(RECORD.t, (3, 1))
SOME_EXACT = Record(t=RECORD.t, t_sd=[0.0, *[0.3] * (N - 1)], y=RECORD.y, y_sd=0.2, sequence=RECORD.sequence)
TIED = Record(t=RECORD.t, t_sd=0.3, y=RECORD.y, y_sd=0.2, sequence=RECORD.sequence, tie=["a", "a", *[None] * (N - 2)])
UNDATED = Record(t=RECORD.t, t_sd=[0.3, np.inf, *[0.3] * (N - 2)], y=RECORD.y, y_sd=0.2)


@pytest.mark.parametrize(
    ("found", "options", "said"),
    [
        (RECORD, {}, "takes either members, .* or covariance"),
        (RECORD, {"members": AGES, "covariance": np.eye(N)}, "takes either members, .* or covariance"),
        (RECORD, {"members": "ages.csv"}, "members must be an array of numbers, got str"),
        (RECORD, {"members": AGES[:, 1:]}, r"one column for each of the 7 rows of the record, got shape \(3, 6\)\.$"),
        (RECORD, {"members": AGES.T}, r"got shape \(7, 3\). Transpose it"),
        (RECORD, {"members": AGES[:0]}, r"got shape \(0, 7\)"),
        (RECORD, {"members": np.where(np.arange(N) == 2, np.nan, AGES)}, "NaN or infinite in row 2"),
        (RECORD, {"members": 1950.0 - AGES}, "do not reach the t of rows 0, 1, 2, 3, 4, 5 and 6 .*time scale"),
        (SOME_EXACT, {"members": AGES + 0.1}, "members differ from t in row 0 .*whose input is exact"),
        (SOME_EXACT, {"covariance": np.eye(N)}, "has a variance in row 0 .*whose input is exact"),
        (TIED, {"members": AGES}, "rows 0 and 1 .*are tied.*Leave the tie out"),
        (RECORD, {"covariance": np.ones(N)}, r"one row and one column for each of the 7 rows, got shape \(7,\)"),
        (RECORD, {"covariance": np.full((N, N), np.nan)}, "covariance is NaN or infinite in rows 0, 1"),
        (RECORD, {"covariance": np.triu(np.ones((N, N)))}, "not a covariance matrix: it is not symmetric"),
        (RECORD, {"covariance": 1.0 - 2.0 * np.eye(N)}, "negative eigenvalue"),
        (UNDATED, {"covariance": np.eye(N)}, "errors of t, which row 1 .*does not have"),
        (RECORD, {"members": AGES, "kernel": lamina.SquaredExponential()}, "on the O.N. engine only: use a Matérn"),
        (RECORD, {"members": AGES, "estimate": "y_scale"}, "cannot estimate y_scale; npv, mcmc, nuts can"),
        (RECORD, {"members": AGES, "outliers": "mixture"}, 'has no outliers. Use method="mcmc"'),
    ],
)
def test_ages_that_do_not_fit_the_record_are_refused(found, options, said):
    with pytest.raises(lamina.MethodError, match=said):
        lamina.fit(found, "ensemble", **options)


def test_rows_without_a_date_have_those_of_the_members():
    posterior = quietly(UNDATED, "ensemble", members=drawn(0.3**2 * np.eye(N), RECORD.t, 500), **QUICK)
    assert posterior.inputs()["mean"][1] == pytest.approx(RECORD.t[1], abs=0.6)


def test_an_ensemble_read_from_a_file_fits(tmp_path):
    depth = np.linspace(10.0, 70.0, N)
    found = Record(t=RECORD.t, t_sd=0.3, y=RECORD.y, y_sd=0.2, depth=depth)
    members = drawn(0.3**2 * np.eye(N), RECORD.t, 300)
    table = np.column_stack([depth, members.T])
    np.savetxt(tmp_path / "ages.csv", table, delimiter=",", header="depth" + ",age" * 300, comments="")
    read = lamina.read_ensemble(tmp_path / "ages.csv", found.depth)
    one, other = (quietly(found, "ensemble", members=ages, **QUICK) for ages in (read, members))
    np.testing.assert_allclose(one.tau, other.tau, atol=1e-9)
