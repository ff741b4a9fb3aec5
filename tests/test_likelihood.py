"""The front door: what it takes, what it refuses and what it says then."""

import numpy as np
import pandas as pd
import pytest
from problems import KERNELS, problem

import lamina
from lamina.errors import KernelError, LaminaError, MethodError, OrderError, RecordError
from lamina.likelihood import choose_engine

KERNEL = KERNELS["matern32"]
TAU, Y, Y_SD = problem(6, "even", seed=1, log_y_sd=(-1.0, 0.0))


def with_entry(column, row, value):
    changed = list(column)
    changed[row] = value
    return changed


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS.keys())
def test_the_engines_agree_and_auto_is_the_fast_one(kernel):
    fast = lamina.log_likelihood(TAU, Y, Y_SD, kernel, gradient=True)
    slow = lamina.log_likelihood(TAU, Y, Y_SD, kernel, gradient=True, engine="dense")
    named = lamina.log_likelihood(TAU, Y, Y_SD, kernel, gradient=True, engine="markov")
    for one, other, same in zip(fast, slow, named, strict=True):
        assert one == pytest.approx(other, rel=1e-9, abs=1e-9)
        assert np.array_equal(one, same)
    assert choose_engine(kernel) is lamina.markov
    value = lamina.log_likelihood(TAU, Y, Y_SD, kernel)
    assert isinstance(value, float)
    assert value == pytest.approx(fast[0], rel=1e-14)


def test_the_gradient_has_one_entry_a_row_and_one_a_parameter():
    value, d_tau, d_theta = lamina.log_likelihood(TAU, Y, Y_SD, KERNEL, gradient=True)
    assert isinstance(value, float)
    assert d_tau.shape == (6,)
    assert d_theta.shape == (len(KERNEL.names),)


def test_a_kernel_without_state_space_form_goes_to_the_dense_engine():
    kernel = lamina.SquaredExponential(length=1.0, sd=1.0)
    assert choose_engine(kernel) is lamina.dense
    value = lamina.log_likelihood(TAU, Y, Y_SD, kernel)
    assert value == lamina.dense.log_likelihood(kernel, TAU, Y, Y_SD)
    backwards = lamina.log_likelihood(TAU[::-1], Y[::-1], Y_SD[::-1], kernel)
    assert backwards == pytest.approx(value)


@pytest.mark.parametrize("convert", [list, tuple, pd.Series, np.array, lambda x: np.repeat(x, 2)[::2]])
def test_columns_of_every_kind(convert):
    expected = lamina.log_likelihood(TAU, Y, Y_SD, KERNEL, gradient=True)
    found = lamina.log_likelihood(convert(TAU), convert(Y), convert(Y_SD), KERNEL, gradient=True)
    assert all(np.array_equal(one, other) for one, other in zip(found, expected, strict=True))


def test_whole_numbers_and_single_precision():
    tau, y = np.arange(4), np.array([1, 0, 2, 1])
    expected = lamina.log_likelihood(tau.astype(float), y.astype(float), np.full(4, 0.5), KERNEL)
    assert lamina.log_likelihood(tau, y, 0.5, KERNEL) == expected
    assert lamina.log_likelihood(tau.astype(np.float32), y, np.full(4, 0.5, np.float32), KERNEL) == expected


def test_one_standard_deviation_serves_all_rows():
    assert lamina.log_likelihood(TAU, Y, 0.3, KERNEL) == lamina.log_likelihood(TAU, Y, np.full(6, 0.3), KERNEL)


def test_the_arguments_are_left_alone():
    tau, y, y_sd = TAU.copy(), Y.copy(), Y_SD.copy()
    for column in (tau, y, y_sd):
        column.flags.writeable = False
    lamina.log_likelihood(tau, y, y_sd, KERNEL, gradient=True)
    assert np.array_equal(tau, TAU)


BAD_COLUMNS = {
    "y too short": ({"y": Y[:-1]}, r"y has 5 values.* 6"),
    "y_sd too long": ({"y_sd": np.append(Y_SD, 1.0)}, r"y_sd has 7 values.* 6"),
    "NaN": ({"y": with_entry(Y, 2, np.nan)}, r"y is missing, NaN or infinite in row 2"),
    "infinite tau": ({"tau": with_entry(TAU, 5, np.inf)}, r"tau .*infinite in row 5"),
    "infinite start": ({"tau": with_entry(TAU, 0, -np.inf)}, r"tau .*infinite in row 0"),
    "infinite y_sd": ({"y_sd": with_entry(Y_SD, 1, np.inf)}, r"y_sd .*infinite in row 1"),
    "negative y_sd": ({"y_sd": with_entry(Y_SD, 3, -0.1)}, r"y_sd is not positive in row 3.*above 0"),
    "y_sd zero": ({"y_sd": with_entry(Y_SD, 4, 0.0)}, r"y_sd is not positive in row 4.*above 0"),
    "one y_sd, zero": ({"y_sd": 0.0}, r"y_sd is not positive in rows 0, 1"),
    "text": ({"y": with_entry(Y, 1, "n/a")}, r"y must hold real numbers.*row 1 is the text 'n/a'"),
    "text that looks like a number": ({"y_sd": "0.1"}, r"y_sd must hold real numbers.*text '0.1'"),
    "two dimensions": ({"tau": TAU.reshape(2, 3)}, r"tau must have one dimension.*\(2, 3\)"),
    "a single time": ({"tau": 1.0}, r"tau must have one dimension.*single value"),
    "empty": ({"tau": [], "y": [], "y_sd": []}, r"hold no values.*at least one row"),
    "booleans": ({"y": np.array([True] * 6)}, r"y must hold real numbers, got booleans"),
}


@pytest.mark.parametrize("as_array", [False, True], ids=["list", "array"])
@pytest.mark.parametrize("engine", ["markov", "dense", "auto"])
@pytest.mark.parametrize(("changes", "message"), BAD_COLUMNS.values(), ids=BAD_COLUMNS.keys())
def test_bad_columns_are_refused_by_name_and_row(changes, message, engine, as_array):
    columns = {"tau": TAU, "y": Y, "y_sd": Y_SD} | changes
    if as_array:
        columns = {name: np.asarray(column) for name, column in columns.items()}
        message = message.replace(r"real numbers.*row 1 is the text 'n/a'", "real numbers")
    with pytest.raises(RecordError, match=message):
        lamina.log_likelihood(**columns, kernel=KERNEL, engine=engine)


@pytest.mark.parametrize("engine", ["markov", "auto"])
def test_inputs_out_of_order_are_refused_by_the_chain_and_taken_by_the_dense_engine(engine):
    tau = TAU.copy()
    tau[[2, 3]] = tau[[3, 2]]
    with pytest.raises(OrderError, match=r'must not decrease.*row 3 .*Sort the rows by tau, or use engine="dense"'):
        lamina.log_likelihood(tau, Y, Y_SD, KERNEL, engine=engine)
    order = np.argsort(tau)
    found = lamina.log_likelihood(tau, Y, Y_SD, KERNEL, engine="dense")
    assert found == pytest.approx(lamina.log_likelihood(tau[order], Y[order], Y_SD[order], KERNEL))


def test_equal_inputs_are_in_order():
    tau = with_entry(TAU, 3, TAU[2])
    assert np.isfinite(lamina.log_likelihood(tau, Y, Y_SD, KERNEL, engine="markov"))


@pytest.mark.parametrize("value", [0.0, -1.0, np.nan, np.inf, "long", None])
@pytest.mark.parametrize("name", ["length", "sd"])
def test_kernel_parameters_that_are_not_positive_are_refused(name, value):
    with pytest.raises(KernelError, match=rf"Matern32: {name} must be a positive finite number, got"):
        lamina.Matern32(**{name: value})


def test_an_unknown_engine_is_refused():
    with pytest.raises(MethodError, match=r'"auto", "markov" or "dense", got \'fast\''):
        lamina.log_likelihood(TAU, Y, Y_SD, KERNEL, engine="fast")


def test_a_kernel_that_the_chain_cannot_run_is_refused():
    kernel = lamina.SquaredExponential() + lamina.Matern32()
    with pytest.raises(KernelError, match=r'SquaredExponential has no exact state-space form.*engine="dense"'):
        lamina.log_likelihood(TAU, Y, Y_SD, kernel, engine="markov")


@pytest.mark.parametrize("kernel", ["matern32", None, lamina.Matern32])
def test_what_is_not_a_kernel_is_refused(kernel):
    with pytest.raises(KernelError, match=r"kernel must be a kernel such as lamina.Matern32"):
        lamina.log_likelihood(TAU, Y, Y_SD, kernel)


def test_all_errors_are_value_errors_of_one_family():
    for error in (RecordError, KernelError, OrderError, MethodError):
        assert issubclass(error, LaminaError)
        assert issubclass(error, ValueError)
