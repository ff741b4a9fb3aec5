"""Moves of alpha and memory together with the gaps: inverses of each other, with the right Jacobian."""

import numpy as np
import pytest
from numba import njit

from lamina import Matern32, Record
from lamina.gaps.pace import set_carry
from lamina.gaps.spread import Spread, spread
from lamina.model.model import Model
from lamina.model.problem import build_problem

N = 12
T = np.cumsum(np.random.default_rng(0).gamma(20.0, 0.05, N))
FIELDS = {
    "plain": {},
    "exact row": {"t_sd": np.where(np.arange(N) == 5, 0.0, 0.3)},
    "depths, hiatus and least gap": {
        "depth": T + np.random.default_rng(1).uniform(0.0, 0.2, N),
        "hiatus": np.arange(N) == 3,
        "least_gap": np.full(N, 0.01),
    },
    "two sequences and rows alone": {"sequence": ["a", "b", None] * 4},
    "decreasing": {"t": -T, "order": "decreasing"},
}


def posed(fields):
    return build_problem(
        Record(**({"t": T, "t_sd": 0.3, "y": np.sin(T), "y_sd": 0.1} | fields)), Model(Matern32(), memory=True)
    )


@njit(cache=True)
def _set_carry(rows, memory):
    set_carry(rows, memory)


@njit(cache=True)
def _spread(rows, tau, move, trial):
    return spread(rows, tau, move, trial)


def moved(problem, tau, power, memories, run, skip):
    rows, trial = problem.rows, np.empty(len(tau))
    _set_carry(rows, memories[0])
    old = rows.carry.copy()
    _set_carry(rows, memories[1])
    return trial, _spread(rows, tau, Spread(power, old, run, skip), trial)


MOVES = [(1.3, (1e-3, 1e-3)), (0.8, (0.9, 0.9)), (1.0, (0.4, 0.8)), (0.9, (0.9, 0.3))]


@pytest.mark.parametrize("fields", FIELDS.values(), ids=FIELDS)
@pytest.mark.parametrize(("power", "memories"), MOVES)
@pytest.mark.parametrize(("run", "skip"), [(N, 0), (4, 0), (4, 3), (3, 1)])
def test_jacobian_and_inverse(fields, power, memories, run, skip):
    problem = posed(fields)
    tau = problem.rows.t.copy()
    trial, log_jacobian = moved(problem, tau, power, memories, run, skip)
    back, log_back = moved(problem, trial, 1.0 / power, memories[::-1], run, skip)
    np.testing.assert_allclose(back, tau, atol=1e-9)
    assert log_back == pytest.approx(-log_jacobian, abs=1e-9)
    step, columns = 1e-6, []
    for i in range(N):
        high, low = tau.copy(), tau.copy()
        high[i] += step
        low[i] -= step
        ends = [moved(problem, one, power, memories, run, skip)[0] for one in (high, low)]
        columns.append((ends[0] - ends[1]) / (2.0 * step))
    assert log_jacobian == pytest.approx(np.linalg.slogdet(np.array(columns))[1], abs=1e-6)
    assert np.count_nonzero(trial != tau) >= 2
    assert trial[problem.record.exact] == pytest.approx(tau[problem.record.exact])
    for _, rows in problem.record.sequences:
        assert (np.diff(trial[rows]) > 0.0).all()


def test_a_record_without_two_neighbouring_gaps_has_no_memory():
    from lamina import MethodError

    with pytest.raises(MethodError, match="no sequence has two gaps next to each other"):
        posed({"sequence": [k // 2 for k in range(N)]})
