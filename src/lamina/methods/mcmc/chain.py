"""One Markov chain of the mcmc method: parameters and inputs in turn, compiled, outside Python's lock.

A round of the chain makes these moves, each of which leaves the posterior, Eq. (2), invariant:

    theta      joint moves of the kernel's parameters and y_scale, trend coefficients integrated out (``theta``)
    spread     alpha, and memory, together with the gaps (``spreading``)
    gaps       under a linear trend, gaps are stretched, trend coefficients integrated out (``spreading``)
    beta       the trend coefficients, drawn from their exact conditional
    alone      alpha, memory and t_scale given the inputs (``parameters``)
    path       all innovations, alpha and memory, by Hamiltonian Monte Carlo (``paths``)
    levels     tents, ramps and warps: many inputs at once, at all scales (``levels``)
    then the parameters once more, from theta to alone
    sweep      one sweep over the inputs, forwards and backwards in time in turn (``sweep``)

Compiled is what the record needs (``target.Needs``). A further move is one function in a file of its own,

    @njit(**LEAN)
    def move(wanted, target, state, rate, rng):
        if wanted is None:
            return
        ...

called in ``advance`` with ``target.needs.something``, or in ``sweep._visit`` with ``now.needs.something``, as its first
argument. Numba drops the rest of the function before it types it, with all that it calls, if that is None. Without
such an argument the move is compiled for every record. ``target``, ``state`` and ``now`` are passed by address
(``stack.hold``), so further arrays in them cost little. No move makes an array: that takes long to compile, and to run.
Of ``np`` functions and ``a[:] = b`` each takes up to four seconds to compile: write loops.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from ...engine.stack import ENTRY, INLINE, LEAN, copy_array, hold
from ...model.parameters import ALPHA, MEMORY, T_SCALE
from ...model.trend import draw
from ..target import Trend, collapsed, set_memory
from .levels.level import move_levels
from .metropolis import ALPHA_STEP, MEMORY_STEP, T_SCALE_STEP, Moves
from .parameters import move_alone
from .paths.path import move_along_path
from .positions import Tuning, Work
from .spreading import move_gaps, move_spread
from .sweep import sweep
from .theta import learn_covariance, learning_rate, move_theta

#: Parameters that move together with the gaps, with places in ``Tuning.spread``; and those that move alone given the
#: inputs, with places in ``State.steps``.
WITH_GAPS = ((ALPHA, 0), (MEMORY, 1))
ALONE = ((ALPHA, ALPHA_STEP), (MEMORY, MEMORY_STEP), (T_SCALE, T_SCALE_STEP))


class State(NamedTuple):
    """Where a chain is, and how it proposes. What it changes in the rows is in its target."""

    tau: np.ndarray  #: (N,)
    order: np.ndarray  #: (N,) rows by time
    phi: np.ndarray  #: (P,)
    beta: np.ndarray  #: (q,)
    tuning: Tuning
    mean: np.ndarray  #: (J,) running mean of theta in warm-up
    covariance: np.ndarray  #: (J, J)
    root: np.ndarray  #: (J, J) its Cholesky factor, as proposals use it
    steps: np.ndarray  #: (4,) of the moves of parameters, see ``metropolis``
    rounds: np.ndarray  #: (2,) in all, and in this part of the warm-up
    runs: np.ndarray  #: (K,) when alpha or memory moves together with the gaps, one row in ``runs[k]`` stays
    moments: np.ndarray  #: (3, N) of all sweeps after warm-up: a place near tau, sums of tau less it and of the squares
    seen: np.ndarray  #: (1,) the number of these sweeps
    work: Work
    trend: Trend
    proposal: np.ndarray  #: (P,) scratch, like all below
    noise: np.ndarray  #: (J,)
    trial: np.ndarray  #: (N,) proposed inputs
    trial_order: np.ndarray  #: (N,) and their order
    sums: np.ndarray  #: (S, 5) of the gaps, see ``gaps.prior.Sums``
    carry: np.ndarray  #: (N,) as it was before a proposal
    paths: np.ndarray  #: (16, N + S + 2) see ``paths.places``; empty where there are none


class Schedule(NamedTuple):
    """What ``advance`` has to do."""

    rounds: int
    thin: int  #: every ``thin``-th round is kept
    moves: Moves
    adapts: bool  #: whether this is warm-up


class Kept(NamedTuple):
    """Arrays for the rounds that are kept."""

    tau: np.ndarray  #: (n, N)
    phi: np.ndarray  #: (n, P)
    shift: np.ndarray  #: (n, N), or (0, N) where there are neither limits nor outliers
    factor: np.ndarray  #: the same


@njit(**INLINE)
def keep(target, state, kept, n):
    """Write the state down as number n."""
    copy_array(state.tau, kept.tau[n])
    copy_array(state.phi, kept.phi[n])
    if len(kept.shift) > 0:
        copy_array(target.rows.shift, kept.shift[n])
        copy_array(target.rows.factor, kept.factor[n])


@njit(**INLINE)
def _add_to_moments(state):
    """Add the inputs as they are now to the sums over all sweeps."""
    if state.seen[0] == 0:
        copy_array(state.tau, state.moments[0])
    state.seen[0] += 1
    for r in range(len(state.tau)):
        off = state.tau[r] - state.moments[0, r]
        state.moments[1, r] += off
        state.moments[2, r] += off * off


@njit(**LEAN)
def _move_parameters(target, state, schedule, rate, rng):
    """Moves of the parameters, some of them together with the inputs."""
    needs = target.needs
    here = collapsed(target, state.tau, state.order, state.phi, state.trend, np.int64(0))
    here = move_theta(target, state, here, schedule.moves.theta, rate, rng)
    for i, which in WITH_GAPS:
        if target.free[i]:
            here = move_spread(target, state, here, (i, which, schedule.moves.spread), rate, rng)
    here = move_gaps(needs.tilt, target, state, here, rate, rng)
    draw(state.trend.root[here.place], state.trend.whitened[here.place], rng, state.beta)
    for i, step in ALONE:
        if target.free[i]:
            move_alone(needs, target, state, (i, step), rate, rng)


@njit(**ENTRY)
def advance(target, state, schedule, rng, kept):
    """Run a chain for ``schedule.rounds`` rounds."""
    target, state = hold(target), hold(state)
    set_memory(target.needs.memory, target.rows, state.phi)
    for k in range(schedule.rounds):
        state.rounds[0] += 1
        rate = learning_rate(state, schedule.adapts)
        _move_parameters(target, state, schedule, rate, rng)
        move_along_path(target.needs.paths, target, state, schedule.moves.leaps, rate, rng)
        move_levels(target, state, schedule.moves, rate, rng)
        _move_parameters(target, state, schedule, rate, rng)
        sweep(target, state, schedule.moves, rate, 1 if state.rounds[0] % 2 == 0 else -1, rng)
        if schedule.adapts:
            learn_covariance(target, state)
        if not schedule.adapts:
            _add_to_moments(state)
        if (k + 1) % schedule.thin == 0:
            keep(target, state, kept, k // schedule.thin)
