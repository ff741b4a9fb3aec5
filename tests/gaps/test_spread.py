"""Moves of alpha and memory together with the gaps: inverses of each other, with the right Jacobian."""

import math

import numpy as np
import pytest
from numba import njit
from problems import FIELDS, N, uneven
from scipy.stats import gamma

from lamina import Matern32, Record
from lamina.gaps.pace import set_carry
from lamina.gaps.spread import Spread, spread, spread_roots
from lamina.model.model import Model
from lamina.model.problem import build_problem

SEVERAL = {**FIELDS, "two sequences and rows alone": {"sequence": ["a", "b", None] * 4}}


def build(fields, memory=True):
    return build_problem(uneven(**fields), Model(Matern32(), memory=memory))


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


@njit(cache=True)
def _spread_roots(rows, tau, ratio, run, skip, trial):
    return spread_roots(rows, tau, ratio, run, skip, trial)


def with_other_roots(problem, tau, ratio, run, skip):
    trial = np.empty(len(tau))
    return trial, _spread_roots(problem.rows, tau, ratio, run, skip, trial)


MOVES = [(1.3, (1e-3, 1e-3)), (0.8, (0.9, 0.9)), (1.0, (0.4, 0.8)), (0.9, (0.9, 0.3))]


@pytest.mark.parametrize("fields", SEVERAL.values(), ids=SEVERAL)
@pytest.mark.parametrize(("power", "memories"), MOVES)
@pytest.mark.parametrize(("run", "skip"), [(N, 0), (4, 0), (4, 3), (3, 1)])
def test_jacobian_and_inverse(fields, power, memories, run, skip):
    problem = build(fields)

    def there(tau):
        return moved(problem, tau, power, memories, run, skip)

    def back(tau):
        return moved(problem, tau, 1.0 / power, memories[::-1], run, skip)

    check(problem, there, back)


@pytest.mark.parametrize("fields", SEVERAL.values(), ids=SEVERAL)
@pytest.mark.parametrize("ratio", [1.3, 0.7])
@pytest.mark.parametrize(("run", "skip"), [(N, 0), (4, 0), (4, 3), (3, 1)])
def test_jacobian_and_inverse_of_roots(fields, ratio, run, skip):
    problem = build(fields, memory=False)

    def there(tau):
        return with_other_roots(problem, tau, ratio, run, skip)

    def back(tau):
        return with_other_roots(problem, tau, 1.0 / ratio, run, skip)

    check(problem, there, back)


@pytest.mark.parametrize("with_memory", [False, True])
def test_a_wrong_exponent_of_the_jacobian_is_noticed(with_memory):
    problem = build({}, memory=with_memory)

    def there(tau):
        move = (problem, tau, 1.3, (0.9, 0.3), N, 0) if with_memory else (problem, tau, 1.3, N, 0)
        trial, log_jacobian = (moved if with_memory else with_other_roots)(*move)
        return trial, log_jacobian * (1.0 + 1.0 / N)

    with pytest.raises(AssertionError):
        check(problem, there, lambda tau: (problem.rows.t.copy(), -there(problem.rows.t)[1]))


def test_roots_turn_gaps_of_one_alpha_into_gaps_of_another(rng):
    """Of many gamma gaps of shape 3, those of shape 5: mean and quantiles, to the error of the approximation."""
    n = 20_000
    tau = np.concatenate([[0.0], np.cumsum(rng.gamma(3.0, 1.0 / 3.0, n))])
    problem = build_problem(Record(t=tau, t_sd=0.3, y=tau, y_sd=0.1), Model(Matern32()))
    trial, _ = with_other_roots(problem, problem.rows.t, math.sqrt(3.0 / 5.0), 2**40, 0)
    share = np.linspace(0.01, 0.99, 25)
    found, expected = np.quantile(np.diff(trial), share), gamma.ppf(share, 5.0, scale=1.0 / 5.0)
    np.testing.assert_allclose(found, expected, rtol=0.03, atol=0.01)


def check(problem, there, back):
    """``back`` undoes ``there``, whose Jacobian is the determinant of derivatives; exact rows and the order stay."""
    tau = problem.rows.t.copy()
    trial, log_jacobian = there(tau)
    again, log_back = back(trial)
    np.testing.assert_allclose(again, tau, atol=1e-9)
    assert log_back == pytest.approx(-log_jacobian, abs=1e-9)
    step, columns = 1e-6, []
    for i in range(N):
        high, low = tau.copy(), tau.copy()
        high[i] += step
        low[i] -= step
        ends = [there(one)[0] for one in (high, low)]
        columns.append((ends[0] - ends[1]) / (2.0 * step))
    assert log_jacobian == pytest.approx(np.linalg.slogdet(np.array(columns))[1], abs=1e-6)
    assert np.count_nonzero(trial != tau) >= 2
    assert trial[problem.record.exact] == pytest.approx(tau[problem.record.exact])
    for _, rows in problem.record.sequences:
        assert (np.diff(trial[rows]) > 0.0).all()


def test_a_record_without_two_neighbouring_gaps_has_no_memory():
    from lamina import MethodError

    with pytest.raises(MethodError, match="no sequence has two gaps next to each other"):
        build({"sequence": [k // 2 for k in range(N)]})
