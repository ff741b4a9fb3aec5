"""Default priors: their scale comes from the data, and changes with its units."""

import numpy as np
import pytest

import lamina
from lamina.model.model import Model
from lamina.model.problem import build_problem

T = np.linspace(0.0, 800.0, 20)
Y = np.sin(T / 100.0)


def medians(kernel, t=T, y=Y, y_sd=0.1):
    problem = build_problem(lamina.Record(t=t, t_sd=1.0, y=y, y_sd=y_sd), Model(kernel))
    return dict(zip(problem.names, np.exp(problem.prior_mean), strict=True))


def test_one_kernel_gets_an_eighth_of_the_span_and_the_spread_of_y():
    found = medians(lamina.Matern32())
    assert found["length"] == pytest.approx(100.0)
    assert found["sd"] == pytest.approx(Y.std())


def test_several_kernels_go_from_slow_to_fast_and_share_the_spread():
    found = medians(lamina.Matern52() + lamina.Matern12())
    assert [found["length_1"], found["length_2"]] == pytest.approx([400.0, 50.0])
    assert [found["sd_1"], found["sd_2"]] == pytest.approx([Y.std() / np.sqrt(2)] * 2)


def test_the_length_of_a_periodic_kernel_has_no_unit():
    found = medians(lamina.Matern32() + lamina.Periodic())
    assert found["length_1"] == pytest.approx(100.0)
    assert found["length_2"] == pytest.approx(1.0)
    assert found["period_2"] == pytest.approx(200.0)


def test_of_a_product_only_the_first_factor_has_the_unit_of_y():
    kernel = lamina.Matern32() * lamina.Periodic()
    small, large = medians(kernel), medians(kernel, y=1000.0 * Y, y_sd=100.0)
    ratio = {name: large[name] / small[name] for name in small}
    assert ratio == pytest.approx({name: 1000.0 if name == "sd_1" else 1.0 for name in small})


@pytest.mark.parametrize("level", [0.3, 7.0])
def test_where_all_values_are_alike_their_errors_give_the_scale(level):
    assert medians(lamina.Matern32(), y=np.full(20, level))["sd"] == pytest.approx(0.1)
