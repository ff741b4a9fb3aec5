"""The sampler draws from the posterior: records of few rows, against importance sampling from first principles.

The reference draws inputs from their dates and parameters from their priors, keeps what is in order, and weighs it by
the likelihood, from the covariance matrix of y, and by the gap prior. It shares no code with the sampler.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import gammaln

from lamina import Matern32, Record
from lamina.methods import mcmc
from lamina.methods.chains import DrawBudget
from lamina.model.model import Model
from lamina.model.problem import build_problem
from lamina.support.convergence import mean_standard_error

KNOWN = {"length": 1.5, "sd": 1.0}
PRIORS = {"length": (1.5, 1.5), "sd": (1.0, 1.4)}
#: Data that say nothing about the inputs, so that dates, order and gap prior decide alone.
VAGUE = 1e4


def record(t, t_sd, y=None, y_sd=VAGUE, **rest):
    return Record(t=t, t_sd=t_sd, y=np.zeros(len(t)) if y is None else y, y_sd=y_sd, **rest)


def case(found, gaps="uniform", fixed=None, floor=0.8, **options):
    """With a floor that takes from the exponential and gamma priors their spike at a span of zero, hard to sample."""
    problem = build_problem(found, Model(Matern32(), gaps, fixed=KNOWN if fixed is None else fixed, **options))
    return replace(problem, floor=floor)


#: Dates that contradict the order, so that it matters.
CASES = {
    "one sequence": case(record([0.0, 0.5, 0.2, 1.0], [0.5, 0.4, 0.6, 0.5])),
    "exponential": case(record([0.0, 0.5, 0.2, 1.0], [0.5, 0.4, 0.6, 0.5]), "exponential"),
    "gamma": case(record([0.0, 0.5, 0.2, 1.0], [0.5, 0.4, 0.6, 0.5]), "gamma", {**KNOWN, "alpha": 3.0}),
    "gamma, alpha learnt": case(
        record([0.0, 0.5, 0.2, 1.0], [0.5, 0.4, 0.6, 0.5]), "gamma", priors={"alpha": (3.0, 1.8)}
    ),
    "regular": case(record([0.0, 0.6, 1.0], 0.4), "gamma", {**KNOWN, "alpha": 8.0}, floor=0.1),
    "two sequences": case(record([0.0, 0.3, 0.2, 0.1, 0.6], [0.5, 0.5, 0.6, 0.5, 0.4], sequence=list("ababa"))),
    "two sequences, alpha learnt": case(
        record([0.0, 0.3, 0.2, 0.1, 0.6], [0.5, 0.5, 0.6, 0.5, 0.4], sequence=list("ababa")),
        "gamma",
        priors={"alpha": (2.0, 1.8)},
    ),
    "rows alone": case(record([0.0, 0.3, 0.2, 0.1], [0.5, 0.5, 0.6, 0.5], sequence=["a", "a", None, None])),
    "exact row between sequences": case(
        record([0.0, 0.3, 0.2, 0.25], [0.5, 0.5, 0.6, 0.0], sequence=["a", "a", "b", None]), "exponential"
    ),
    "exact row in the sequence": case(
        record([0.0, 0.5, 0.3, 0.1], [0.5, 0.4, 0.0, 0.5]), "gamma", {**KNOWN, "alpha": 2.0}
    ),
    "exact rows at both ends, alpha learnt": case(
        record([0.0, 0.9, 0.5, 0.4, 1.2], [0.0, 0.4, 0.3, 0.5, 0.0]), "gamma", priors={"alpha": (2.0, 1.8)}
    ),
    "memory learnt": case(
        record([0.0, 0.5, 0.2, 1.0], [0.5, 0.4, 0.6, 0.5]),
        "gamma",
        priors={"alpha": (2.5, 1.6), "memory": (1.2, 1.8)},
        memory=True,
    ),
    "memory over uneven depths, with an exact row, a least gap and a hiatus": case(
        record(
            [0.0, 0.4, 0.7, 1.8, 2.3, 2.9],
            [0.3, 0.2, 0.0, 0.4, 0.3, 0.4],
            depth=[0.0, 1.0, 1.5, 3.5, 4.0, 5.0],
            hiatus=[False, False, False, True, False, False],
            least_gap=[0.0, 0.1, 0.0, 0.0, 0.0, 0.0],
        ),
        "gamma",
        priors={"alpha": (2.0, 1.5), "memory": (0.8, 1.8)},
        memory=True,
    ),
    "memory, innovations of shape below 1": case(
        record([0.0, 0.4, 0.6, 1.4, 1.7], 0.3, depth=[0.0, 1.0, 1.9, 3.1, 4.0]),
        "gamma",
        {**KNOWN, "alpha": 0.75, "memory": 0.8},
        memory=True,
    ),
    "memory, only dates known": case(
        record([0.0, 0.5, 0.9, 1.6], [0.4, 0.4, 0.5, 0.5], np.full(4, np.nan), np.inf, depth=[0.0, 1.0, 1.8, 3.0]),
        "gamma",
        {},
        priors={"alpha": (2.5, 1.6), "memory": (0.7, 1.8)},
        memory=True,
    ),
    "memory, only dates known, two sequences with a hiatus": case(
        record(
            [0.0, 0.3, 0.7, 1.3, 1.5, 1.9],
            [0.4, 0.4, 0.4, 0.5, 0.4, 0.5],
            np.full(6, np.nan),
            np.inf,
            depth=[0.0, 0.5, 1.0, 1.5, 2.0, 2.5],
            sequence=list("ababaa"),
            hiatus=[False, False, False, False, True, False],
            least_gap=[0.0, 0.05, 0.0, 0.0, 0.0, 0.0],
        ),
        "gamma",
        {},
        priors={"alpha": (2.5, 1.5), "memory": (0.6, 1.8)},
        memory=True,
    ),
    "memory with rows of unknown order": case(
        record([0.0, 0.3, 0.6, 0.7, 1.0, 1.4], 0.3, depth=[0.0, 1.0, 2.0, 2.0, 3.0, 4.0]),
        "gamma",
        priors={"alpha": (2.0, 1.5), "memory": (1.0, 1.8)},
        memory=True,
    ),
    "long memory known, two sequences, decreasing": case(
        record([1.2, 0.5, 0.7, 0.1, 0.3, 0.0], 0.4, sequence=list("ababab"), order="decreasing"),
        "gamma",
        {**KNOWN, "alpha": 2.0, "memory": 2.0},
        memory=True,
    ),
    "decreasing": case(record([1.0, 0.2, 0.5, 0.0], [0.5, 0.4, 0.6, 0.5], order="decreasing"), "exponential"),
    "t_scale": case(
        record([0.0, 0.5, 0.2, 1.0], [0.5, 0.4, 0.6, 0.5]),
        "exponential",
        estimate=("t_scale",),
        priors={"t_scale": (1.0, 1.4)},
    ),
}
Y, Y_SD = np.array([0.3, 1.0, 0.2, -0.4, 0.5]), np.array([0.4, 0.3, 0.5, 0.3, 0.4])
WITH_DATA = {
    "one sequence, informative y": case(record([0.0, 0.5, 0.4, 1.0], [0.4, 0.4, 0.3, 0.4], Y[:4], Y_SD[:4])),
    "two sequences, informative y": case(
        record([0.0, 0.3, 0.2, 0.1, 0.6], [0.4, 0.4, 0.5, 0.4, 0.4], Y, Y_SD, sequence=list("ababa")), "exponential"
    ),
    "exact rows and rows alone, informative y": case(
        record([0.0, 0.3, 0.2, 0.1, 0.6], [0.4, 0.0, 0.5, 0.4, 0.0], Y, Y_SD, sequence=["a", "b", "a", None, None]),
        "gamma",
        {**KNOWN, "alpha": 2.0},
    ),
    "exact rows at one time, informative y": case(
        record([0.3, 0.2, 0.3, 0.5, 0.3], [0.0, 0.5, 0.0, 0.5, 0.0], Y, Y_SD, sequence=[None, "a", "b", "a", "c"])
    ),
    "all learnt": case(
        record([0.0, 0.5, 0.4, 1.0], [0.4, 0.4, 0.3, 0.4], Y[:4], Y_SD[:4]),
        "gamma",
        {},
        estimate=("t_scale", "y_scale"),
        priors={**PRIORS, "alpha": (2.5, 1.6), "t_scale": (1.0, 1.3), "y_scale": (1.0, 1.4)},
    ),
    "memory, informative y": case(
        record([0.0, 0.4, 0.6, 1.0, 1.3], [0.3, 0.2, 0.3, 0.3, 0.3], Y, 1.5 * Y_SD),
        "gamma",
        priors={"alpha": (2.5, 1.6), "memory": (1.0, 1.8)},
        memory=True,
    ),
    "memory, linear": case(
        record([0.0, 0.8, 0.7, 1.5, 2.2], [0.3, 0.3, 0.3, 0.3, 0.0], 2.0 * Y + 3.0, Y_SD),
        "gamma",
        mean="linear",
        priors={"alpha": (2.5, 1.6), "memory": (1.0, 1.8)},
        memory=True,
    ),
    "linear": case(
        record([0.0, 0.8, 0.7, 1.5, 2.2], [0.3, 0.3, 0.3, 0.3, 0.0], 2.0 * Y + 3.0, Y_SD), "exponential", mean="linear"
    ),
    "linear, decreasing, all learnt": case(
        record([2.2, 1.5, 0.7, 0.8, 0.0], [0.3, 0.0, 0.3, 0.3, 0.3], 2.0 * Y + 3.0, Y_SD, order="decreasing"),
        "gamma",
        {},
        mean="linear",
        priors={**PRIORS, "alpha": (2.5, 1.6)},
    ),
}
CASES |= WITH_DATA
#: Held against the reference by ``make test``; the others, and other compiled code for a trend, by ``make test-all``.
QUICK = ("gamma, alpha learnt",)


def log_likelihoods(problem, tau, phi):
    """log p(y | tau, phi) up to a constant for draws (S, N) and (S, P), flat trend coefficients integrated out."""
    found = problem.record
    n, q = len(found), len(problem.columns) - 1
    length, sd, _, _, _, y_scale = np.exp(phi).T[:, :, None, None]
    x = np.sqrt(3.0) * np.abs(tau[:, :, None] - tau[:, None, :]) / length
    K = sd**2 * (1.0 + x) * np.exp(-x) + y_scale**2 * np.diag(found.y_sd**2)
    trend = np.stack([np.ones_like(tau), tau], axis=2)[:, :, :q]
    y = np.broadcast_to(found.y[:, None], (len(tau), n, 1))
    solved = np.linalg.solve(K, np.concatenate([y, trend], axis=2))
    E = np.swapaxes(np.concatenate([y, trend], axis=2), 1, 2) @ solved
    G, b = E[:, 1:, 1:], E[:, 1:, :1]
    left = E[:, 0, 0] - (b * np.linalg.solve(G, b)).sum(axis=(1, 2))
    return -0.5 * (np.linalg.slogdet(K)[1] + np.linalg.slogdet(G)[1] + left)


def along(found, tau, rows):
    """Inputs of a sequence (S, n), those of one depth put in order."""
    own = tau[:, rows].copy()
    for depth in () if found.depth is None else np.unique(found.depth[rows]):
        block = found.depth[rows] == depth
        own[:, block] = np.sort(own[:, block], axis=1)
    return own


def log_gap_prior(problem, tau, phi):
    """Of all sequences, with what depends on alpha, for draws (S, N) and (S, P)."""
    total = np.zeros(len(tau))
    alpha = (1.0 if problem.record.depth is None else 0.0) + np.exp(phi[:, -3])
    if problem.model.memory:
        return log_gap_prior_with_memory(problem, tau, alpha, np.exp(phi[:, -4]))
    for _, rows in problem.record.sequences:
        n = len(rows) - 1
        if n < 1 or problem.model.gaps == "uniform":
            continue
        gaps = np.diff(tau[:, rows], axis=1)
        span = gaps.sum(axis=1) + problem.floor
        if problem.model.gaps == "exponential":
            total -= n * np.log(span)
        else:
            total += gammaln(alpha * n) - n * gammaln(alpha) + (alpha - 1.0) * np.log(gaps).sum(axis=1)
            total -= alpha * n * np.log(span)
    return total


def log_gap_prior_with_memory(problem, tau, alpha, memory):
    """The pace of each gap is a share of that of the gap before it, exp(-distance / memory), and a share that is new.

    What is new, times its step in depth, follows the gamma prior: with depths, a gamma process of shape alpha over
    the median distance of dates. After a hiatus, and after rows of one depth, all is new.
    """
    found, total = problem.record, np.zeros(len(tau))
    for _, rows in found.sequences:
        depth = np.arange(len(rows)) if found.depth is None else found.depth[rows]
        step = np.abs(np.diff(depth))
        least = 0.0 if found.least_gap is None else found.least_gap[rows[:-1]]
        unit = np.where(step > 0.0, step / np.median(np.diff(np.unique(depth))), 1.0)
        pace = (np.diff(along(found, tau, rows), axis=1) - least) / unit
        follows = step > 0.0
        if found.hiatus is not None:
            follows &= ~found.hiatus[rows[:-1]]
        new, log_share = [], 0.0
        for k in np.flatnonzero(follows):
            carry = np.exp(-(step[k - 1] + step[k]) / 2.0 / memory) if k > 0 and follows[k - 1] else 0.0 * memory
            new.append((pace[:, k] - carry * pace[:, k - 1]) / (1.0 - carry))
            log_share = log_share + np.log(1.0 - carry)
        new, unit = np.array(new), unit[follows][:, None]
        possible = (new > 0.0).all(axis=0) & (pace > 0.0).all(axis=1)
        time, shape = unit * np.where(possible, new, 1.0), alpha * unit
        total += gammaln(shape.sum(axis=0)) - gammaln(shape).sum(axis=0) - log_share
        total += ((shape - 1.0) * np.log(time)).sum(axis=0) - shape.sum(axis=0) * np.log(
            time.sum(axis=0) + problem.floor
        )
        total[~possible] = -np.inf
    return total


def importance_sample(problem, rng, size=400_000):
    """Draws of (tau, phi) and their weights."""
    free, found = problem.free, problem.record
    phi = np.tile(problem.start, (size, 1))
    phi[:, free] = (problem.prior_mean + problem.prior_sd * rng.standard_normal(phi.shape))[:, free]
    scale = np.exp(phi[:, -2:-1]) * found.t_sd
    tau = problem.rows.t + scale * rng.standard_normal((size, len(found)))
    ordered = np.ones(size, dtype=bool)
    for _, rows in found.sequences:
        ordered &= (np.diff(along(found, tau, rows), axis=1) > 0.0).all(axis=1)
    tau, phi = tau[ordered], phi[ordered]
    log_weight = log_gap_prior(problem, tau, phi)
    if found.y_sd[0] < VAGUE:
        log_weight += log_likelihoods(problem, tau, phi)
    weight = np.exp(log_weight - log_weight.max())
    return tau, phi, weight / weight.sum()


def quantities(problem, tau, phi):
    """What is compared, (S, V): inputs and parameters, their squares and products, and which of two rows is earlier."""
    values = np.hstack([tau[:, ~problem.record.exact], phi[:, problem.free]])
    i, j = np.triu_indices(values.shape[1])
    first, second = np.triu_indices(tau.shape[1], 1)
    earlier = (tau[:, first] < tau[:, second]).astype(float)
    return np.hstack([values, values[:, i] * values[:, j], earlier])


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name in QUICK else pytest.mark.slow) for name in CASES]
)
def test_draws_follow_the_posterior(name):
    """Means, second moments and probabilities of order, within Monte-Carlo error."""
    problem = CASES[name]
    tau, phi, weight = importance_sample(problem, np.random.default_rng(1))
    expected = quantities(problem, tau, phi)
    assert 1.0 / (weight**2).sum() > 4000, "the reference itself has too few effective draws"
    mean = weight @ expected
    error = np.sqrt(weight**2 @ (expected - mean) ** 2)

    draws = mcmc.run(problem, seed=2, chains=2, draws=20_000, max_sweeps=10_000, warmup=500)
    found = quantities(problem, draws.tau, draws.phi).reshape(2, -1, len(mean))
    spread = np.sqrt(weight @ (expected - mean) ** 2)
    moves = np.ptp(found, axis=(0, 1)) > 0
    assert moves[spread > 0.02].all()
    varies = (spread > 0.0) & moves  # the order within a sequence does not
    np.testing.assert_allclose(found.mean(axis=(0, 1))[~varies], mean[~varies], atol=1e-3)
    found_error = mean_standard_error(found[:, :, varies])
    z = (found.mean(axis=(0, 1))[varies] - mean[varies]) / np.hypot(found_error, error[varies])
    assert np.abs(z).max() < 4.5


@pytest.mark.slow
@pytest.mark.parametrize("name", ["gamma, alpha learnt", "memory learnt", "all learnt"])
def test_gaps_that_move_a_few_at_a_time_follow_the_posterior(name, monkeypatch):
    """As in long records, where some rows stay when alpha or memory moves together with the gaps."""
    monkeypatch.setattr(mcmc, "RUNS", (2,))
    test_draws_follow_the_posterior(name)


#: Each move of many inputs, switched on alone, and a record on which it moves something.
ALONE = {
    "tents": ("gamma, alpha learnt", 1),
    "ramps at the early end": ("all learnt", 2),
    "ramps at the late end": ("memory learnt", 4),
    "slides": ("gamma, alpha learnt", 8),
    "tents and ramps among other rows": ("exact rows and rows alone, informative y", 7),
    "slides past another sequence": ("two sequences", 8),
    "warps": ("two sequences", 1 << 4),
    "warps at the ends": ("two sequences", 6 << 4),
    "warps of all rows": ("exact rows and rows alone, informative y", 15 << 4),
    "warps with a shared alpha": ("two sequences, alpha learnt", 15 << 4),
    "tents with memory and a hiatus": ("memory over uneven depths, with an exact row, a least gap and a hiatus", 15),
    "tents with memory and a block": ("memory with rows of unknown order", 15),
    "warps with memory": ("long memory known, two sequences, decreasing", 15 << 4),
    "tents under a linear trend": ("memory, linear", 15),
    "lone moves": ("exact rows and rows alone, informative y", 0),
    "paths": ("memory, only dates known", 0),
    "paths of several sequences": ("memory, only dates known, two sequences with a hiatus", 0),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", ALONE)
def test_each_move_of_many_inputs_follows_the_posterior(name, monkeypatch):
    """Beside the moves of single inputs, made three times a window so that errors in it would prevail."""
    case, kinds = ALONE[name]
    lone = 3 if name == "lone moves" else 0
    leaps = 40 if name.startswith("paths") else 0
    moves = mcmc.MOVES._replace(spread=0, stretches=0, tents=3, warps=3, lone=lone, kinds=kinds, leaps=leaps)
    monkeypatch.setattr(mcmc, "MOVES", moves)
    test_draws_follow_the_posterior(case)


@pytest.fixture(scope="module")
def mixed():
    """Two sequences, rows alone and exact ones of each kind, with dates that contradict the order; decreasing."""
    rng = np.random.default_rng(6)
    n = 24
    truth = np.linspace(4.0, 0.0, n)
    t_sd = rng.uniform(0.1, 0.8, n)
    t_sd[[2, 9, 10, 17]] = 0.0
    sequence = [None if k % 6 == 5 else "ab"[k % 2] for k in range(n)]
    sequence[10] = None
    t = np.where(t_sd > 0, truth + t_sd * rng.standard_normal(n), truth)
    found = record(t, t_sd, np.sin(truth), 0.2, order="decreasing", sequence=sequence)
    return build_problem(found, Model(Matern32()))


def run(problem, **options):
    return mcmc.run(problem, **{"seed": 3, "chains": 2, "draws": 1000, "warmup": 200, "max_sweeps": 500} | options)


@pytest.mark.slow
def test_order_is_kept_and_exact_rows_stay(mixed):
    draws = run(mixed)
    tau, found = mixed.to_user(draws.tau), mixed.record
    assert len(tau) == 1000
    for _, rows in found.sequences:
        assert (np.diff(tau[:, rows], axis=1) < 0.0).all()
    np.testing.assert_array_equal(draws.tau[:, found.exact], np.tile(mixed.rows.t[found.exact], (1000, 1)))
    assert (np.ptp(tau[:, ~found.exact], axis=0) > 0.0).all()


def test_rows_of_different_sequences_pass_each_other(mixed):
    """And rows pass exact ones that are not of their sequence: the order in time is not always the same."""
    tau, found = run(mixed).tau, mixed.record
    names = np.array(["" if name is None else name for name in found.sequence])
    passed = 0
    for i, j in zip(*np.triu_indices(len(found), 1), strict=True):
        earlier = (tau[:, i] < tau[:, j]).mean()
        if names[i] == names[j] != "":
            assert earlier in (0.0, 1.0)
        passed += 0.0 < earlier < 1.0 and (found.exact[i] or found.exact[j])
    assert passed > 5


def test_the_same_seed_gives_the_same_draws_on_one_core_and_on_two(mixed):
    one, two, other = run(mixed, cores=1), run(mixed, cores=2), run(mixed, seed=4)
    np.testing.assert_array_equal(one.tau, two.tau)
    np.testing.assert_array_equal(one.phi, two.phi)
    uncertain = ~mixed.record.exact
    assert (one.tau != other.tau)[:, uncertain].any(axis=0).all()
    first, second = one.tau.reshape(2, -1, len(mixed.record))
    assert (first != second)[:, uncertain].any(axis=0).all()  # each chain has its own random numbers


def test_steps_are_adapted_in_warm_up_only(mixed):
    chain = mcmc.MarkovChain(mixed, np.random.SeedSequence(0), DrawBudget(100, 100))

    def steps():
        state = chain.state
        tuning = [values.ravel() for values in state.tuning]
        return np.concatenate([*tuning, state.steps, state.root.ravel()])

    before = steps()
    chain.advance(150, 1, adapt=True)
    warmed = steps()
    chain.advance(100, 1, adapt=False)
    assert (before != warmed).sum() > len(mixed.record)
    np.testing.assert_array_equal(steps(), warmed)
