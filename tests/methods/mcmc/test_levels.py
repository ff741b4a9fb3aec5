"""Tents, ramps, slides and warps: what they propose, and their acceptance ratio without the likelihood.

The ratio must be that of the density of dates and gaps, from first principles, times the determinant of the map of the
inputs, by finite differences. Whether whole chains follow the posterior is tested in ``test_sweep``.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from numba import njit
from problems import FIELDS, N, uneven

import lamina
from lamina import Matern32
from lamina.dates import SplitNormal
from lamina.engine.stack import hold
from lamina.gaps.moves import draw_split_with_memory, sum_innovations
from lamina.methods import mcmc
from lamina.methods.mcmc import new_state
from lamina.methods.mcmc.levels.lone import choose_lone, propose_lone
from lamina.methods.mcmc.levels.tent import EARLY_RAMP, LATE_RAMP, SLIDE, TENT, choose_members, propose_members
from lamina.methods.mcmc.levels.warp import choose_positions, propose_warp
from lamina.methods.mcmc.levels.window import Window, count_windows, last_end
from lamina.methods.mcmc.positions import make_pass, place_all
from lamina.methods.target import log_prior, make_target, set_memory
from lamina.model.model import Model
from lamina.model.problem import build_problem

SEVERAL = {
    "two sequences": {"sequence": ["a", "b", "b"] * 4},
    "sequences, rows alone and exact ones": {
        "sequence": ["a", "b", None] * 4,
        "t_sd": np.where(np.isin(np.arange(N), [3, 8]), 0.0, 0.3),
    },
}
WINDOWS = [Window(0, N, 0), Window(0, 7, 0), Window(2, 9, 0), Window(5, N, 0)]


def build(fields, memory):
    problem = build_problem(
        uneven(**fields), Model(Matern32(), memory=memory, fixed={"memory": 0.5} if memory else None)
    )
    target = make_target(problem)
    return problem, target, new_state(problem, target, problem.rows.t.copy(), problem.start.copy())


@njit(cache=True)
def _propose_tent(target, state, moves, window, scale, rng, out):
    """Kind, log-ratio and change of the total of a proposal; the new inputs go to out (N,)."""
    target, state = hold(target), hold(state)
    set_memory(target.needs.memory, target.rows, state.phi)
    now = hold(make_pass(target, state, moves, 0.0, 1))
    place_all(now, state.order)
    sum_innovations(now.rows, now.tau, now.total)
    chosen = choose_members(now, window, int(len(now.total) * rng.random()), rng)
    if not chosen.possible:
        return -1, 0.0
    ratio, _ = propose_members(now, window, chosen, scale, rng)
    for k in range(chosen.low, chosen.high + 1):
        out[now.row[now.proposal.at[k]]] = now.proposal.time[k]
    return chosen.kind, ratio


@njit(cache=True)
def _propose_warp(target, state, moves, window, scale, rng, out):
    """The same for a warp."""
    target, state = hold(target), hold(state)
    set_memory(target.needs.memory, target.rows, state.phi)
    now = hold(make_pass(target, state, moves, 0.0, 1))
    place_all(now, state.order)
    sum_innovations(now.rows, now.tau, now.total)
    chosen = choose_positions(now, window, rng)
    if not chosen.possible:
        return -1, 0.0
    ratio = propose_warp(now, chosen, scale, rng)
    for k in range(chosen.low, chosen.high + 1):
        out[now.row[now.proposal.at[k]]] = now.proposal.time[k]
    return chosen.kind, ratio


@njit(cache=True)
def _propose_lone(target, state, moves, window, scale, rng, out):
    """The same for a lone move; the kind is 0 for a step and 1 for a draw from the date."""
    target, state = hold(target), hold(state)
    set_memory(target.needs.memory, target.rows, state.phi)
    now = hold(make_pass(target, state, moves, 0.0, 1))
    place_all(now, state.order)
    sum_innovations(now.rows, now.tau, now.total)
    if not choose_lone(now, window, rng):
        return -1, 0.0
    ratio, _, stepped = propose_lone(now, window, scale, rng)
    out[now.row[now.proposal.at[0]]] = now.proposal.time[0]
    return 0 if stepped else 1, ratio


def propose(function, problem, target, tau, window, seed, scale=0.05):
    """One proposal from inputs tau; the same seed makes the same step from anywhere."""
    state = new_state(problem, target, tau.copy(), problem.start.copy())
    out = tau.copy()
    kind, ratio = function(target, state, mcmc.MOVES, window, scale, np.random.default_rng(seed), out)
    np.testing.assert_array_equal(state.tau, tau)
    return kind, ratio, out


def check(function, problem, target, window, seed):
    """Returns the kind of the proposal, or -1 if it is impossible."""
    tau = problem.rows.t.copy()
    kind, ratio, new = propose(function, problem, target, tau, window, seed)
    if kind < 0 or ratio == -math.inf:
        return -1
    step, columns = 1e-6, []
    for i in range(N):
        high, low = tau.copy(), tau.copy()
        high[i] += step
        low[i] -= step
        ends = [propose(function, problem, target, one, window, seed)[2] for one in (high, low)]
        columns.append((ends[0] - ends[1]) / (2.0 * step))
    scratch = np.zeros(N), np.zeros(len(problem.start))
    old_value, new_value = (log_prior(target, one, problem.start, *scratch) for one in (tau, new))
    assert ratio == pytest.approx(new_value - old_value + np.linalg.slogdet(np.array(columns))[1], abs=1e-6)
    assert (new != tau).any()
    np.testing.assert_array_equal(new[problem.record.exact], tau[problem.record.exact])
    for _, rows in problem.record.sequences:
        assert (np.diff(new[rows]) > 0.0).all()
    return kind


@pytest.mark.slow
@pytest.mark.parametrize("memory", [False, True])
@pytest.mark.parametrize("fields", FIELDS.values(), ids=FIELDS)
def test_ratio_of_tents(fields, memory):
    problem, target, _ = build(fields, memory)
    kinds = {check(_propose_tent, problem, target, window, seed) for window in WINDOWS for seed in range(12)}
    assert kinds >= ({TENT, EARLY_RAMP, LATE_RAMP} if "t_sd" in fields else {TENT, EARLY_RAMP, LATE_RAMP, SLIDE})


@pytest.mark.slow
@pytest.mark.parametrize("function", [_propose_tent, _propose_warp])
@pytest.mark.parametrize("memory", [False, True])
@pytest.mark.parametrize("fields", SEVERAL.values(), ids=SEVERAL)
def test_ratio_of_tents_and_warps_with_several_sequences(function, fields, memory):
    problem, target, _ = build(fields, memory)
    kinds = {check(function, problem, target, window, seed) for window in WINDOWS for seed in range(24)}
    assert kinds >= ({TENT} if "t_sd" in fields else {TENT, EARLY_RAMP, LATE_RAMP})


LONE = SEVERAL | {"dates as tables": {"sequence": ["a", "b", None] * 4, "t": None, "t_sd": None}}


def lone_cases(name, memory):
    fields = dict(LONE[name])
    if name == "dates as tables":
        fields["dates"] = [SplitNormal(float(t), 0.2, 0.4) for t in uneven().t]
    return build(fields, memory)


@pytest.mark.parametrize("memory", [False, True])
@pytest.mark.parametrize("name", LONE)
def test_ratio_of_lone_moves(name, memory):
    """That of dates and gaps for a step; for a draw from the date, that of the gaps alone."""
    problem, target, _ = lone_cases(name, memory)
    tau, scratch = problem.rows.t.copy(), (np.zeros(N), np.zeros(len(problem.start)))
    kinds = set()
    for window in WINDOWS:
        for seed in range(40):
            kind, ratio, new = propose(_propose_lone, problem, target, tau, window, seed)
            if kind < 0 or ratio == -math.inf:
                continue
            expected = log_prior(target, new, problem.start, *scratch) - log_prior(target, tau, problem.start, *scratch)
            if kind == 1:
                row = np.flatnonzero(new != tau)[0]
                expected -= log_density_of_date(problem, row, new[row]) - log_density_of_date(problem, row, tau[row])
            assert ratio == pytest.approx(expected, abs=0.02 if name == "dates as tables" and kind == 1 else 1e-9)
            kinds.add(kind)
    assert kinds == {0, 1}


def log_density_of_date(problem, row, time):
    date = problem.record.dates[row] if problem.record.dates is not None else None
    if date is None:
        return -0.5 * ((time - problem.rows.t[row]) / problem.record.t_sd[row]) ** 2
    off = problem.to_user(np.array([time]))[0] - date.t
    return -0.5 * (off / (date.sd_before if off < 0.0 else date.sd_after)) ** 2


def test_lone_moves_stay_in_their_window_and_between_their_neighbours():
    problem, target, _ = build(SEVERAL["sequences, rows alone and exact ones"], memory=False)
    tau, moved, passed = problem.rows.t.copy(), set(), 0
    by_time, window = np.argsort(tau), WINDOWS[2]
    low, high = tau[by_time[window.start - 1]], tau[by_time[window.stop]]
    for seed in range(600):
        kind, ratio, new = propose(_propose_lone, problem, target, tau, window, seed, scale=1.0)
        if kind < 0:
            continue
        row = np.flatnonzero(new != tau)
        assert len(row) == 1
        r = row[0]
        before, after = problem.rows.before[r], problem.rows.after[r]
        least, most = max(low, tau[before] if before >= 0 else low), min(high, tau[after] if after >= 0 else high)
        assert (ratio > -math.inf) == (least < new[r] < most)
        passed += ratio > -math.inf and (np.argsort(new) != by_time).any()
        moved.add(r)
    assert passed > 20
    assert moved == {r for r in by_time[window.start : window.stop] if problem.rows.t_var[r] > 0.0}


def _with_one_power_more(function):
    """Proposals whose Jacobian has one power too many of the factor by which gaps are scaled."""

    def planted(target, state, moves, window, scale, rng, out):
        kind, ratio = function(target, state, moves, window, scale, rng, out)
        order = np.argsort(state.tau)
        factor = np.diff(out[order]) / np.diff(state.tau[order])
        changed = np.flatnonzero(np.abs(factor - 1.0) > 1e-9)
        return kind, ratio + math.log(factor[changed[0]]) if changed.size else ratio

    return planted


@pytest.mark.slow
@pytest.mark.parametrize(("function", "fields"), [(_propose_tent, {}), (_propose_warp, SEVERAL["two sequences"])])
def test_a_wrong_exponent_of_the_jacobian_is_noticed(function, fields):
    problem, target, _ = build(fields, memory=False)
    noticed = set()
    for window in WINDOWS:
        for seed in range(12):
            kind = check(function, problem, target, window, seed)
            if kind in (TENT, EARLY_RAMP, LATE_RAMP):
                with pytest.raises(AssertionError):
                    check(_with_one_power_more(function), problem, target, window, seed)
                noticed.add(kind)
    assert noticed == {TENT, EARLY_RAMP, LATE_RAMP}


@njit(cache=True)
def _draw_splits(target, state, moves, row, rng, out):
    """Times of a row from its proposal with memory, and log q(here) / q(there), into out (n, 2)."""
    target, state = hold(target), hold(state)
    set_memory(target.needs.memory, target.rows, state.phi)
    now = hold(make_pass(target, state, moves, 0.0, 1))
    place_all(now, state.order)
    for k in range(len(out)):
        out[k, 0], out[k, 1] = draw_split_with_memory(now, row, state.tau[row], 0.0, rng)


def test_rows_with_memory_are_drawn_with_the_density_that_the_ratio_has(rng):
    """By the distribution function of 4,000 draws; a density that is wrong by a power of 1.2 is noticed."""
    _, target, state = build({}, memory=True)
    out = np.empty((4000, 2))
    _draw_splits(target, state, mcmc.MOVES, 4, rng, out)
    time, log_ratio = out[np.argsort(out[:, 0])].T
    assert np.isfinite(out).all()

    def furthest(power):
        density = np.exp(power * (log_ratio.min() - log_ratio))
        total = np.concatenate([[0.0], np.cumsum(np.diff(time) * 0.5 * (density[1:] + density[:-1]))])
        return np.sqrt(len(time)) * np.abs(total / total[-1] - np.linspace(0.0, 1.0, len(time))).max()

    assert furthest(1.0) < 1.63 < furthest(1.2)  # 1 % of Kolmogorov's distribution


@pytest.mark.parametrize("N", [1, 2, 7, 64, 100])
@pytest.mark.parametrize(("shortest", "growth"), [(4, 2), (16, 2), (8, 4)])
def test_every_window_has_a_step_of_its_own(N, shortest, growth):
    first, length = 0, shortest
    while length < growth * N:
        for offset in range((length + 1) // 2, (length + 1) // 2 + length):
            last = last_end.py_func(N, offset, length)
            windows = (last - offset) // length + 2 if last else 1
            assert windows <= N // length + 2
        first += N // length + 2
        length *= growth
    assert first == count_windows(N, shortest, growth)


@pytest.mark.parametrize(
    ("names", "tents", "shortest", "spread"),
    [("a", 1, 4, 3), ("ab", 2, 8, 2), ("abc", 3, 16, 2), ("abcdefgh", 1, 4, 3)],
)
def test_a_few_interleaved_sequences_have_a_tent_each_in_longer_windows(names, tents, shortest, spread):
    rows = 3 * len(names)
    record = lamina.Record(t=np.arange(rows), t_sd=0.3, y=np.zeros(rows), y_sd=0.1, sequence=list(names) * 3)
    moves = mcmc.moves_of(build_problem(record, Model(Matern32())))
    assert moves == mcmc.MOVES._replace(tents=tents, shortest=shortest, spread=spread)


@pytest.mark.parametrize("N", [1, 2, 3, 5, 8, 21, 64, 100])
@pytest.mark.parametrize("length", [4, 8, 64])
def test_windows_divide_the_positions_into_parts_of_about_one_length(N, length):
    for offset in range(length // 2, length // 2 + length):
        last = last_end.py_func(N, offset, length)
        ends = list(range(offset, last + 1, length)) if last else []
        sizes = np.diff([0, *ends, N])
        assert sizes.sum() == N
        assert (sizes > 0).all()
        if ends:
            assert (sizes >= length // 2).all()
            assert (sizes <= length + length // 2).all()
