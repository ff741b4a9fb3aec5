"""Lone moves take a row from one place that suits it to another, past what separates them."""

import numpy as np
import pytest

import lamina

N, LONE, ALPHA = 18, 1, 2.0
SEQUENCES = {
    "no order": [None] * N,
    "among rows of a sequence": ["a", None] + ["a"] * (N - 2),
    "of a sequence": ["b", "b"] + [None] * (N - 3) + ["b"],
}


def between_two_slopes(sequence):
    """Exact rows along a narrow peak, and one row of value 0.3, dated to the peak: it belongs to one side of it."""
    t, t_sd, y_sd = np.insert(np.linspace(-2.0, 2.0, N - 1), LONE, 0.1), np.zeros(N), np.full(N, 0.01)
    y = 4.0 * np.exp(-0.5 * (t / 0.5) ** 2)
    t_sd[LONE], y[LONE], y_sd[LONE] = 0.6, 0.3, 0.1
    return lamina.Record(t=t, t_sd=t_sd, y=y, y_sd=y_sd, sequence=sequence)


def log_posterior(record, kernel, time):
    """Of the row that is uncertain, up to a constant; between the ends of its sequence its gaps have a prior."""
    tau = record.t.copy()
    tau[LONE] = time
    order = np.argsort(tau)
    value = lamina.log_likelihood(tau[order], record.y[order], record.y_sd[order], kernel)
    value -= 0.5 * ((time - record.t[LONE]) / record.t_sd[LONE]) ** 2
    if record.unordered.size == N - 3:
        value += (ALPHA - 1.0) * np.log((time - tau[0]) * (tau[-1] - time)) if tau[0] < time < tau[-1] else -np.inf
    return value


@pytest.mark.parametrize("sequence", SEQUENCES.values(), ids=SEQUENCES)
def test_a_row_is_found_on_both_sides_of_a_peak(sequence):
    record, kernel = between_two_slopes(sequence), lamina.Matern32(length=1.0, sd=2.0)
    fixed = {"length": 1.0, "sd": 2.0} | ({"alpha": ALPHA} if any(sequence) else {})
    found = lamina.fit(record, kernel=lamina.Matern32(), mean="zero", fixed=fixed, seed=3, draws=4000)
    grid = np.linspace(-3.0, 3.0, 3001)
    log_density = np.array([log_posterior(record, kernel, x) for x in grid])
    weight = np.exp(log_density - log_density.max())
    weight /= weight.sum()
    below = weight[grid < 0.0].sum()
    assert 0.2 < below < 0.8
    assert weight[np.abs(grid) < 0.5].sum() < 1e-6, "there is a way between the two"
    assert found.diagnostics["converged"]
    share = np.mean(found.problem.to_user(found.draws.tau[:, LONE]) < 0.0)
    assert share == pytest.approx(below, abs=4.0 * np.sqrt(below * (1.0 - below) / found.diagnostics["ess"]))
