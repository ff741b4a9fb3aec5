"""The likelihood of a set of inputs: one function in front of both engines."""

from __future__ import annotations

import math
from types import ModuleType
from typing import Any, Literal, overload

import numpy as np
from numba import njit
from numpy.typing import ArrayLike

from . import dense, markov
from .engine.filter import sound
from .errors import KernelError, MethodError, RecordError
from .kernels import Kernel
from .support.checks import check_length, numbers

Array = np.ndarray
_FLOAT64 = np.dtype(np.float64)
Engine = Literal["auto", "markov", "dense"]


@overload
def log_likelihood(
    tau: ArrayLike,
    y: ArrayLike,
    y_sd: ArrayLike,
    kernel: Kernel,
    *,
    gradient: Literal[False] = False,
    engine: Engine = "auto",
) -> float: ...
@overload
def log_likelihood(
    tau: ArrayLike,
    y: ArrayLike,
    y_sd: ArrayLike,
    kernel: Kernel,
    *,
    gradient: Literal[True],
    engine: Engine = "auto",
) -> tuple[float, Array, Array]: ...
def log_likelihood(
    tau: ArrayLike,
    y: ArrayLike,
    y_sd: ArrayLike,
    kernel: Kernel,
    *,
    gradient: bool = False,
    engine: Engine = "auto",
) -> float | tuple[float, Array, Array]:
    """log p(y | tau, theta): how well a curve with this kernel, through inputs tau, explains the measurements.

    Arguments
    ---------
    tau: inputs, shape (N,). For the Markov engine they must not decrease down the rows; equal ones are fine.
    y, y_sd: measured outputs and their standard deviations, shape (N,); y_sd may be one number.
    kernel: a kernel or a sum of kernels; trend terms (``Constant``, ``Linear``) are integrated out.
    gradient: also return d_tau, shape (N,), and d_theta, shape (p,): the derivatives in the logarithms of
        ``kernel.names``.
    engine: "markov" is exact in O(N) and takes Matérn kernels and their sums; "dense" is O(N³) and takes any
        kernel. "auto" is "markov" wherever the kernel allows it.

    Raises RecordError, KernelError or OrderError, each naming the rows and the remedy.
    """
    chosen = choose_engine(kernel, engine)
    if gradient and chosen is markov and not kernel.trend and _are_plain(tau, y, y_sd):
        found = markov.value_and_gradient(kernel, tau, y, y_sd)  # type: ignore[arg-type]
        if found[0] < math.inf:
            return found
    tau, y, y_sd = _plain(tau), _plain(y), _plain(y_sd)
    if not _is_sound(tau, y, y_sd):
        tau, y, y_sd = _checked(tau, y, y_sd)
        if chosen is markov:
            markov.check_order(tau)
    return (chosen.value_and_gradient if gradient else chosen.log_likelihood)(kernel, tau, y, y_sd)


def choose_engine(kernel: Kernel, engine: Engine = "auto") -> ModuleType:
    """The engine module of that name that can run this kernel."""
    if not isinstance(kernel, Kernel):
        raise KernelError(f"kernel must be a kernel such as lamina.Matern32(length=..., sd=...), got {kernel!r}.")
    kernel.check_in_time()
    if engine == "auto":
        return markov if kernel.is_markov else dense
    if engine == "markov":
        kernel.blocks()  # raises KernelError, with a remedy, if there are none
        return markov
    if engine == "dense":
        return dense
    raise MethodError(f'engine must be "auto", "markov" or "dense", got {engine!r}.')


def _are_plain(tau: Any, y: Any, y_sd: Any) -> bool:
    """Whether all three are float64 columns of one length in the memory layout that the engines are compiled for.

    Then the engine can check them itself: the shortest way, for what optimisers call thousands of times.
    """
    return (
        type(tau) is type(y) is type(y_sd) is np.ndarray
        and tau.dtype is y.dtype is y_sd.dtype is _FLOAT64
        and tau.shape == y.shape == y_sd.shape
        and tau.ndim == 1
        and tau.size > 0
        and tau.flags.carray
        and y.flags.carray
        and y_sd.flags.carray
    )


def _plain(values: Any) -> Any:
    """A float64 column in the one memory layout that the engines are compiled for; anything else as it is."""
    if type(values) is np.ndarray and values.dtype == _FLOAT64 and values.ndim == 1:
        return values if values.flags.carray else values.copy()
    return values


def _is_sound(tau: Any, y: Any, y_sd: Any) -> bool:
    """Whether nothing is left to check or to convert."""
    return _are_plain(tau, y, y_sd) and _sound(tau, y, y_sd)


@njit(cache=True)
def _sound(tau: Array, y: Array, y_sd: Array) -> bool:
    return sound(tau, y, y_sd)


def _checked(tau: ArrayLike, y: ArrayLike, y_sd: ArrayLike) -> tuple[Array, Array, Array]:
    """The three columns as float64 arrays of one length, finite, y_sd positive."""
    tau, y = numbers("tau", tau), numbers("y", y)
    check_length("y", len(y), len(tau))
    if len(tau) == 0:
        raise RecordError("tau and y hold no values. Give at least one row.")
    y_sd = numbers("y_sd", y_sd, broadcast_to=len(tau))
    check_length("y_sd", len(y_sd), len(tau))
    bad = np.flatnonzero(y_sd <= 0.0)
    if bad.size:
        raise RecordError("y_sd is not positive in {rows}. Give a standard deviation above 0.", rows=bad)
    return tau, y, y_sd
