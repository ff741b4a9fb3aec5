"""The O(1) conditionals that the sampler evaluates: exactly the change of the whole likelihood."""

import numpy as np
import pytest
from numba import njit
from problems import KERNELS, problem

from lamina import dense
from lamina.engine.backward import Information, backward, expand, factorise, join
from lamina.engine.filter import Series, State, begin, copy_state
from lamina.engine.local import (
    backward_step,
    condition_on,
    log_gap,
    log_input,
    log_segment,
    log_with_data,
    new_line,
    predict_to,
)
from lamina.engine.statespace import Process, make_process

TESTED = ["matern32", "matern12+matern52+rate"]
each_kernel = pytest.mark.parametrize("kernel", [KERNELS[name].stationary for name in TESTED], ids=TESTED)
each_tilt = pytest.mark.parametrize("tilt", [0.0, -0.7])
each_size = pytest.mark.parametrize("n", [1, 2, 12])


@njit(cache=True)
def _state(process):
    return State(np.zeros((len(process.dims), 1)), np.zeros((len(process.dims), len(process.dims))))


@njit(cache=True)
def _arrive(process, line, p, past, here):
    """The state on arrival at position p, given that after the row before it."""
    if p == 0:
        begin(process, here.P)
    else:
        predict_to(process, past, line.time[p] - line.time[p - 1], here)


@njit(cache=True)
def _backward_pass(process, line):
    d = len(process.dims)
    later = Information(np.zeros((d, d)), np.zeros((d, 1)))
    for p in range(len(line.time) - 1, -1, -1):
        backward_step(process, line, p, later)


@njit(cache=True)
def _input_log_ratios(process, line, tilt, proposal):
    """Of one proposal of every row, each on its own."""
    N, ratios = len(line.time), np.zeros(len(line.time))
    past, here, ahead = _state(process), _state(process), _state(process)
    for p in range(N):
        after = line.time[min(p + 1, N - 1)]
        for time, sign in ((proposal[p], 1.0), (line.time[p], -1.0)):
            if p == 0:
                copy_state(process, _state(process), here)
                begin(process, here.P)
            else:
                predict_to(process, past, time - line.time[p - 1], here)
            z = line.z[p, 0] + tilt * (time - line.time[p])
            own, future = log_input(process, line, p, after - time, z, here, ahead)
            ratios[p] += sign * (own + future)
        copy_state(process, here, past)
    return ratios


@njit(cache=True)
def _gap_log_ratios(process, line, gaps):
    """Of one proposal of every gap, each on its own."""
    N, past, here, ahead = len(line.time), _state(process), _state(process), _state(process)
    ratios = np.empty(max(N - 1, 0))
    for p in range(N - 1):
        _arrive(process, line, p, past, here)
        condition_on(process, line.z[p, 0], line.y_var[p], here)
        ratios[p] = log_gap(process, line, p, gaps[p], here, ahead)
        ratios[p] -= log_gap(process, line, p, line.time[p + 1] - line.time[p], here, ahead)
        copy_state(process, here, past)
    return ratios


@njit(cache=True)
def _segments(process, line, z, y_var):
    """log p(y) from the rows before p, a segment p ... q and everything later, for all p <= q.

    And the same with other data at p.
    """
    N, value = len(line.time), 0.0
    found, with_data = np.full((N, N), np.nan), np.empty(N)
    past, here = _state(process), _state(process)
    for p in range(N):
        _arrive(process, line, p, past, here)
        for q in range(p, N):
            found[p, q] = value + log_segment(process, line, past if p > 0 else here, p, q, 0.0)
        gap = line.time[p + 1] - line.time[p] if p < N - 1 else 0.0
        with_data[p] = value + log_with_data(process, line, here, p, z[p], y_var[p], gap)
        value += condition_on(process, line.z[p, 0], line.y_var[p], here)
        copy_state(process, here, past)
    return found, with_data


class Chain:
    """A record and what later rows know."""

    def __init__(self, kernel, n, spacing="even", seed=6, log_y_sd=(-2.0, 0.0)):
        self.kernel = kernel
        self.tau, self.z, self.y_sd = problem(n, spacing, seed, log_y_sd)
        self.process = make_process(kernel.blocks())
        self.line = new_line(n, len(self.process.dims))
        self.line.time[:], self.line.z[:, 0], self.line.y_var[:] = self.tau, self.z, self.y_sd**2
        _backward_pass(self.process, self.line)

    def value(self, tau, tilt=0.0):
        """The likelihood with the inputs at tau, where the data of a row change by ``tilt`` per unit of its time."""
        return dense.log_likelihood(self.kernel, tau, self.z + tilt * (tau - self.tau), self.y_sd)


@each_kernel
@each_tilt
@each_size
def test_one_input_moves(kernel, tilt, n):
    c = Chain(kernel, n)
    rng = np.random.default_rng(n)
    left = np.concatenate([[c.tau[0] - 2.0], c.tau[:-1]])
    right = np.concatenate([c.tau[1:], [c.tau[-1] + 2.0]])
    for proposal in (rng.uniform(left, right), left, right):  # also up to the neighbours
        found = _input_log_ratios(c.process, c.line, tilt, proposal)
        for i in range(n):
            moved = c.tau.copy()
            moved[i] = proposal[i]
            expected = c.value(moved, tilt) - c.value(c.tau, tilt)
            assert found[i] == pytest.approx(expected, rel=1e-8, abs=1e-8)


@each_kernel
@each_size
def test_one_gap_changes_and_all_later_rows_shift(kernel, n):
    c = Chain(kernel, n)
    gap = np.diff(c.tau)
    rng = np.random.default_rng(n)
    for proposal in (gap * rng.uniform(0.1, 4.0, n - 1), 0.0 * gap, gap + 30.0):
        found = _gap_log_ratios(c.process, c.line, proposal)
        assert found.shape == (n - 1,)
        for i in range(n - 1):
            moved = c.tau + np.where(np.arange(n) > i, proposal[i] - gap[i], 0.0)
            assert found[i] == pytest.approx(c.value(moved) - c.value(c.tau), rel=1e-8, abs=1e-8)


@each_kernel
def test_moving_nothing_changes_nothing_however_precise_the_rows(kernel):
    c = Chain(kernel, 20, "clusters", log_y_sd=(-4.0, 1.0))
    assert not _input_log_ratios(c.process, c.line, 0.3, c.tau).any()
    assert not _gap_log_ratios(c.process, c.line, np.diff(c.tau)).any()


@each_kernel
@each_size
def test_a_segment_gives_the_same_likelihood_wherever_it_begins(kernel, n):
    """And other data at one row, or another variance, change it as they change the whole likelihood."""
    c = Chain(kernel, n)
    rng = np.random.default_rng(n)
    z, y_sd = c.z + rng.standard_normal(n), c.y_sd * rng.uniform(0.5, 10.0, n)
    found, with_data = _segments(c.process, c.line, z, y_sd**2)
    for p in range(n):
        assert found[: p + 1, p] == pytest.approx(found[0, p], rel=1e-9, abs=1e-9)  # up to the constant of b after p
        at_p = np.arange(n) == p
        changed = dense.log_likelihood(c.kernel, c.tau, np.where(at_p, z, c.z), np.where(at_p, y_sd, c.y_sd))
        assert with_data[p] - found[p, p] == pytest.approx(changed - c.value(c.tau), rel=1e-8, abs=1e-8)


@njit(cache=True)
def _joined(process, G, h):
    state = _state(process)
    begin(process, state.P)
    return join(process, state, G, h)


@each_kernel
@each_size
def test_what_all_rows_know_joined_with_the_prior_is_the_likelihood(kernel, n):
    c = Chain(kernel, n)
    d = len(c.process.dims)
    for C in (1, 2):  # with data equal to 1 as well
        Z, reference = np.column_stack([c.z, np.ones(n)][:C]), np.array([0.0, 1.0])[:C]
        Gs, hs = np.empty((n, d, d)), np.empty((n, d, C))
        constants = backward(make_process(kernel.blocks(), C), Series(c.tau, Z, c.y_sd**2), reference, Gs, hs)
        value = _joined(c.process, Gs[0], np.ascontiguousarray(hs[0, :, :1]))
        value += constants[0, 0, C] - 0.5 * constants[0, 0, 0]
        assert value == pytest.approx(c.value(c.tau), rel=1e-9)
        assert pytest.approx(Gs) == c.line.G
        assert c.line.h[:, :, 0] == pytest.approx(hs[:, :, 0])


@njit(cache=True)
def _factorised(process, Lam, eta):
    G, h = np.zeros_like(Lam), np.zeros_like(eta)
    factorise(process, Information(Lam, eta), G, h)
    again = Information(np.zeros_like(Lam), np.zeros_like(eta))
    expand(process, G, h, again)
    return G, h, again


@pytest.mark.parametrize("rank", [1, 2, 4])
def test_what_rows_know_survives_its_factors(rank, rng):
    """Lam = G G' and eta = G h, also where Lam is singular and its rows differ in scale by many orders."""
    root = rng.standard_normal((4, rank)) * np.array([1e4, 1e-3, 1e2, 1.0])[:, None]
    Lam, eta = root @ root.T, root @ rng.standard_normal((rank, 1))
    G, h, again = _factorised(Process((), (0,) * 4, (0,)), Lam, eta)
    size = np.sqrt(np.diag(Lam))
    assert G @ G.T / np.outer(size, size) == pytest.approx(Lam / np.outer(size, size), abs=1e-14)
    assert (G @ h)[:, 0] / size == pytest.approx(eta[:, 0] / size, abs=1e-14)
    assert again.Lam == pytest.approx(G @ G.T)
    assert again.eta == pytest.approx(G @ h)


def test_an_indefinite_remainder_does_not_spoil_the_rest():
    """Rounding left a pivot of 1e-20 where the off-diagonal entry is 1e-9: divided by it, that would be 100."""
    Lam = np.array([[3e3, 0.0, 0.0], [0.0, 1e-20, 1e-9], [0.0, 1e-9, 1e-3]])
    G, _, _ = _factorised(Process((), (0,) * 3, (0,)), Lam, np.ones((3, 1)))
    assert np.abs(G @ G.T - Lam).max() < 1e-12
    assert abs((G @ G.T)[2, 2] - Lam[2, 2]) < 1e-15


def test_no_knowledge_has_no_factor():
    G, h, again = _factorised(Process((), (0,) * 3, (0,)), np.zeros((3, 3)), np.zeros((3, 1)))
    assert not any(matrix.any() for matrix in (G, h, *again))
