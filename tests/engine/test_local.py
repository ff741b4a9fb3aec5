"""The O(1) conditionals: exactly the change of the whole likelihood."""

import numpy as np
import pytest
from numba import njit
from problems import KERNELS, problem

from lamina import dense
from lamina.engine.backward import backward, expand, factorise, join
from lamina.engine.filter import stationary
from lamina.engine.local import gap_log_ratios, input_log_ratios
from lamina.engine.statespace import dimensions

TESTED = ["matern32", "matern12+matern52+rate"]
each_kernel = pytest.mark.parametrize("kernel", [KERNELS[name].stationary for name in TESTED], ids=TESTED)
each_tilt = pytest.mark.parametrize("tilt", [0.0, -0.7])


class Chain:
    """A record and what later rows know."""

    def __init__(self, kernel, n, spacing="even", seed=6, log_y_sd=(-2.0, 0.0)):
        self.kernel = kernel
        self.tau, self.z, y_sd = problem(n, spacing, seed, log_y_sd)
        self.y_sd, self.y_var = y_sd, y_sd**2
        self.blocks = kernel.blocks()
        self.dims = dimensions(self.blocks)

    def back(self, unit: bool):
        """Gs, hs and constants; with ``unit`` also those of data equal to 1."""
        n, d, C = len(self.tau), len(self.dims), 2 if unit else 1
        Z = np.column_stack([self.z, np.ones(n)][:C])
        Gs, hs = np.empty((n, d, d)), np.empty((n, d, C))
        reference = np.array([0.0, 1.0])[:C]
        columns, both = (0,) * C, (0,) * (d + C)
        constants = backward(self.blocks, self.dims, columns, both, self.tau, Z, self.y_var, reference, Gs, hs)
        return Gs, hs, constants

    def value(self, tau, tilt):
        """The likelihood with the inputs at tau, where the data of a row change by ``tilt`` per unit of its time."""
        return dense.log_likelihood(self.kernel, tau, self.z + tilt * (tau - self.tau), self.y_sd)


@each_kernel
@each_tilt
@pytest.mark.parametrize("n", [1, 2, 12])
def test_one_input_moves(kernel, tilt, n):
    c = Chain(kernel, n)
    rng = np.random.default_rng(n)
    left = np.concatenate([[c.tau[0] - 2.0], c.tau[:-1]])
    right = np.concatenate([c.tau[1:], [c.tau[-1] + 2.0]])
    Gs, hs, _ = c.back(unit=False)
    for proposal in (rng.uniform(left, right), left, right):  # also up to the neighbours
        found = input_log_ratios(c.blocks, c.dims, c.tau, c.z, c.y_var, tilt, proposal, Gs, hs)
        for i in range(n):
            moved = c.tau.copy()
            moved[i] = proposal[i]
            expected = c.value(moved, tilt) - c.value(c.tau, tilt)
            assert found[i] == pytest.approx(expected, rel=1e-8, abs=1e-8)


@each_kernel
@each_tilt
@pytest.mark.parametrize("n", [1, 2, 12])
def test_one_gap_changes_and_all_later_rows_shift(kernel, tilt, n):
    c = Chain(kernel, n)
    Gs, hs, constants = c.back(unit=True)
    gap = np.diff(c.tau)
    rng = np.random.default_rng(n)
    for proposal in (gap * rng.uniform(0.1, 4.0, n - 1), 0.0 * gap, gap + 30.0):
        found = gap_log_ratios(c.blocks, c.dims, c.tau, c.z, c.y_var, tilt, proposal, Gs, hs, constants)
        assert found.shape == (n - 1,)
        for i in range(n - 1):
            moved = c.tau + np.where(np.arange(n) > i, proposal[i] - gap[i], 0.0)
            expected = c.value(moved, tilt) - c.value(c.tau, tilt)
            assert found[i] == pytest.approx(expected, rel=1e-8, abs=1e-8)


@each_kernel
def test_moving_nothing_changes_nothing_however_precise_the_rows(kernel):
    c = Chain(kernel, 20, "clusters", log_y_sd=(-4.0, 1.0))
    Gs, hs, constants = c.back(unit=True)
    gap = np.diff(c.tau)
    assert not input_log_ratios(c.blocks, c.dims, c.tau, c.z, c.y_var, 0.3, c.tau, Gs, hs).any()
    assert not gap_log_ratios(c.blocks, c.dims, c.tau, c.z, c.y_var, 0.3, gap, Gs, hs, constants).any()


@njit(cache=True)
def _joined(blocks, dims, G, h):
    d = len(dims)
    P, other = np.zeros((d, d)), np.zeros((d, d))
    stationary(blocks, P, other, other.copy(), np.zeros((d, 1)), dims)
    return join(np.zeros((d, 1)), P, G, h, dims)


@each_kernel
@pytest.mark.parametrize("n", [1, 2, 12])
def test_what_all_rows_know_joined_with_the_prior_is_the_likelihood(kernel, n):
    c = Chain(kernel, n)
    for unit in (False, True):
        Gs, hs, constants = c.back(unit)
        C = hs.shape[2]
        value = _joined(c.blocks, c.dims, Gs[0], np.ascontiguousarray(hs[0, :, :1]))
        value += constants[0, 0, C] - 0.5 * constants[0, 0, 0]
        assert value == pytest.approx(c.value(c.tau, 0.0), rel=1e-9)


@njit(cache=True)
def _factorised(Lam, eta, dims, columns):
    G, h = np.zeros_like(Lam), np.zeros_like(eta)
    factorise(Lam, eta, G, h, dims, columns)
    d = len(dims)
    again, B = np.zeros_like(Lam), np.zeros((d, d + len(columns)))
    expand(G, h, again, B, dims, columns[1:])
    return G, h, again, B


@pytest.mark.parametrize("rank", [1, 2, 4])
def test_what_rows_know_survives_its_factors(rank, rng):
    """Lam = G G' and eta = G h, also where Lam is singular and its rows differ in scale by many orders."""
    root = rng.standard_normal((4, rank)) * np.array([1e4, 1e-3, 1e2, 1.0])[:, None]
    Lam, eta = root @ root.T, root @ rng.standard_normal((rank, 1))
    G, h, again, B = _factorised(Lam, eta, (0,) * 4, (0,))
    size = np.sqrt(np.diag(Lam))
    assert G @ G.T / np.outer(size, size) == pytest.approx(Lam / np.outer(size, size), abs=1e-14)
    assert (G @ h)[:, 0] / size == pytest.approx(eta[:, 0] / size, abs=1e-14)
    assert again == pytest.approx(G @ G.T)
    assert B[:, :4] == pytest.approx(again)
    assert B[:, 4:] == pytest.approx(G @ h)


def test_an_indefinite_remainder_does_not_spoil_the_rest():
    """Rounding left a pivot of 1e-20 where the off-diagonal entry is 1e-9: divided by it, that would be 100."""
    Lam = np.array([[3e3, 0.0, 0.0], [0.0, 1e-20, 1e-9], [0.0, 1e-9, 1e-3]])
    G, _, _, _ = _factorised(Lam, np.ones((3, 1)), (0,) * 3, (0,))
    assert np.abs(G @ G.T - Lam).max() < 1e-12
    assert abs((G @ G.T)[2, 2] - Lam[2, 2]) < 1e-15


def test_no_knowledge_has_no_factor():
    G, h, again, _ = _factorised(np.zeros((3, 3)), np.zeros((3, 1)), (0,) * 3, (0,))
    assert not any(matrix.any() for matrix in (G, h, again))
