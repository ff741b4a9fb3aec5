"""One Metropolis-within-Gibbs sweep over the inputs: O(1) a proposal, in merged time order.

Rows of several sequences, rows without order and exact rows interleave in time. The sweep visits *positions* of the
merged order. At each it may propose

    exchange   the rows at positions p and p + 1 trade places, or one is reflected across the other (``exchange``)
    renew      new values for a limit or an outlier (``renewal``)
    move       the row at position p moves between its neighbours, Eq. (51) (``single``)
    stretch    the gap after position p is scaled and everything later shifts along, Eq. (52) (``stretch``)

Each leaves the posterior invariant, because which move is tried depends on the position and never on the row. A
backward pass computes b, Eq. (28), what later rows know; the filter then runs forward, and every decision is taken
where the two meet. A sweep runs forwards or backwards in time (``way`` = +1 or -1, times negated): the process is
reversible, and a gap that cannot be stretched one way because exact rows lie ahead can be stretched the other way.
"""

from __future__ import annotations

from numba import njit

from ...engine.backward import Information
from ...engine.filter import State, begin, copy_state
from ...engine.local import backward_step, condition_on, log_future, predict_to
from ...engine.stack import INLINE, LEAN, hold, zeros
from ...gaps.moves import sum_innovations
from .exchange import exchange
from .positions import States, make_pass, place_all, sum_later
from .renewal import renew
from .single import move_input
from .stretch import can_stretch, stretch


@njit(**INLINE)
def _prepare(now, order):
    """Put the rows at their positions, and compute b and all sums."""
    N, dims = len(order), now.process.dims
    place_all(now, order)
    sum_innovations(now.rows, now.tau, now.total)
    for s in range(len(now.passed)):
        now.passed[s] = -1
    later = Information(zeros(dims, dims), zeros(dims, (0,)))
    for p in range(N - 1, -1, -1):
        backward_step(now.process, now.line, p, later)
        sum_later(now, p)


@njit(**INLINE)
def _visit(now, states, p, shift, rng):
    """All moves at position p: returns the shift of everything later.

    What is known of the current state is never computed twice: ``states`` is kept from position to position.
    """
    process, rows, line = now.process, now.rows, now.line
    is_last = p == len(now.row) - 1
    line.time[p] += shift
    now.tau[now.row[p]] = now.way * line.time[p]
    if not is_last and exchange(now.needs.trades, now, states.past, p, shift, rng) and p > 0:
        predict_to(process, states.past, line.time[p] - line.time[p - 1], states.ahead)
    r, gap = now.row[p], 0.0 if is_last else line.time[p + 1] + shift - line.time[p]
    stretchable, movable = can_stretch(now, p, rng), rows.t_var[r] > 0.0
    renew(now.needs.renewals, now, states.ahead, p, gap, rng)
    copy_state(process, states.ahead, states.here)
    own, future = condition_on(process, line.z[p, 0], line.y_var[p], states.here), 0.0
    if not is_last:
        predict_to(process, states.here, gap, states.ahead)
        if movable or stretchable:
            future = log_future(process, states.ahead, line, p + 1)
    if movable:
        future = move_input(now, states, p, shift, own, future, rng)
    copy_state(process, states.here, states.past)
    if rows.sequence[r] >= 0:
        now.passed[rows.sequence[r]] = r
    return stretch(now, states, p, shift, future, rng) if stretchable else shift


@njit(**LEAN)
def sweep(target, state, moves, rate, way, rng):
    """One sweep over all positions. ``state.tau``, its order, and what changes in ``target.rows`` are updated in place.

    ``rate`` > 0 adapts the steps (warm-up only).
    """
    dims, now = target.process.dims, hold(make_pass(target, state, moves, rate, way))
    _prepare(now, state.order)
    states = States(
        State(zeros(dims, (0,)), zeros(dims, dims)), State(zeros(dims, (0,)), zeros(dims, dims)),
        State(zeros(dims, (0,)), zeros(dims, dims)), State(zeros(dims, (0,)), zeros(dims, dims)),
        State(zeros(dims, (0,)), zeros(dims, dims)),
    )  # fmt: skip
    begin(now.process, states.past.P)
    copy_state(now.process, states.past, states.ahead)
    N, shift = len(state.order), 0.0
    for p in range(N):
        shift = _visit(now, states, p, shift, rng)
    for p in range(N):
        state.order[p if way > 0 else N - 1 - p] = now.row[p]
