"""Model: what is fitted, apart from the record and the method."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields
from types import MappingProxyType
from typing import Any

import numpy as np

from ..errors import KernelError, MethodError
from ..gaps import PRIORS
from ..kernels import Kernel, Matern32, Product, SpaceTime, Spatial, Sum
from .priors import check_fixed, check_priors

MEANS = ("constant", "linear", "zero")
ENGINES = ("auto", "markov", "dense")
OUTLIERS = ("mixture", "student", None)
T_ERRORS = ("normal", "student")
SCALES = ("t_scale", "y_scale")


@dataclass(frozen=True)
class Model:
    """The description of a fit; the fields are those arguments of ``lamina.fit`` that describe the model.

    A Model is checked when it is made, as far as that is possible without a record. Raises MethodError or KernelError.
    """

    kernel: Kernel = field(default_factory=Matern32)
    gaps: str = "gamma"
    mean: str | None = None
    priors: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    fixed: Mapping[str, float] = field(default_factory=dict)
    estimate: tuple[str, ...] = ()
    outliers: str | None = None
    offsets: float | None = None
    memory: bool = False
    t_errors: str = "normal"
    engine: str = "auto"

    def __post_init__(self) -> None:
        self._check_kernel()
        self._check_choices()
        cleaned = {
            "priors": MappingProxyType(check_priors(self.priors)),
            "fixed": MappingProxyType(check_fixed(self.fixed)),
            "estimate": _checked_scales(self.estimate),
            "memory": bool(self.memory),
        }
        for name, value in cleaned.items():
            object.__setattr__(self, name, value)

    def __hash__(self) -> int:
        plain = [getattr(self, one.name) for one in fields(self) if one.name not in ("priors", "fixed")]
        return hash((*plain, frozenset(self.priors.items()), frozenset(self.fixed.items())))

    def __reduce__(self) -> tuple[Any, ...]:
        """For pickle and copy, which cannot handle mappings that do not change."""
        values = {one.name: getattr(self, one.name) for one in fields(self)}
        return _remake, (values | {"priors": dict(self.priors), "fixed": dict(self.fixed)},)

    def _check_kernel(self) -> None:
        if not isinstance(self.kernel, Kernel):
            raise KernelError(f"kernel must be a kernel such as lamina.Matern32(), got {self.kernel!r}.")
        if self.engine not in ENGINES:
            raise MethodError(f"engine must be one of {', '.join(ENGINES)}, got {self.engine!r}.")
        if self.engine == "markov":
            self.kernel.blocks()  # raises KernelError, with a remedy, if there are none
        if self.mean is not None and self.mean not in MEANS:
            raise MethodError(f"mean must be one of {', '.join(MEANS)}, got {self.mean!r}.")
        if self.mean is not None and self.kernel.trend:
            raise MethodError("give the trend once: as terms of the kernel or as mean, not both.")

    def _check_choices(self) -> None:
        if self.gaps not in PRIORS:
            raise MethodError(f"unknown gap prior {self.gaps!r}. Choose one of: {', '.join(PRIORS)}.")
        if self.outliers not in OUTLIERS:
            raise MethodError(f"outliers must be 'mixture', 'student' or None, got {self.outliers!r}.")
        if self.t_errors not in T_ERRORS:
            raise MethodError(f"t_errors must be 'normal' or 'student', got {self.t_errors!r}.")
        if self.t_errors == "student" and "t_scale" in self.estimate:
            raise MethodError(
                "estimate: t_scale is that of normal dates, and t_errors='student' makes them Student-t dates. "
                "Give t_errors='normal', or leave t_scale out."
            )
        if not isinstance(self.memory, bool | np.bool_):
            raise MethodError(
                f"memory is True or False, got {self.memory!r}; its prior goes into priors={{'memory': ...}}."
            )
        if self.memory and self.gaps != "gamma":
            raise MethodError(f'memory between gaps needs gaps="gamma", got gaps="{self.gaps}".')
        sd = self.offsets
        if sd is not None and not (isinstance(sd, int | float) and 0.0 < sd < math.inf):
            raise MethodError(
                f"offsets takes the prior standard deviation of the offsets, a positive number, got {sd!r}."
            )

    @property
    def runs_on(self) -> str:
        """The engine that inference runs on: "markov" or "dense"."""
        return "markov" if self.kernel.is_markov and self.engine != "dense" else "dense"

    @staticmethod
    def split(settings: dict[str, Any], kernel: Kernel | None = None) -> tuple[Model, dict[str, Any]]:
        """A Model of those settings that are its fields, where None stands for the default, and the other settings.

        kernel: the default one, if not Matern32().
        """
        names = {one.name for one in fields(Model)}
        own: dict[str, Any] = {} if kernel is None else {"kernel": kernel}
        own |= {name: value for name, value in settings.items() if name in names and value is not None}
        return Model(**own), {name: value for name, value in settings.items() if name not in names}

    def to_dict(self) -> dict[str, Any]:
        """The model as JSON has it: text, numbers, lists and dicts."""
        found = {one.name: getattr(self, one.name) for one in fields(self)}
        found["kernel"] = _kernel_to_dict(self.kernel)
        found["priors"] = {name: list(prior) for name, prior in self.priors.items()}
        return found | {"fixed": dict(self.fixed), "estimate": list(self.estimate)}

    @staticmethod
    def from_dict(found: dict[str, Any]) -> Model:
        """The model that ``to_dict`` described."""
        return Model(**found | {"kernel": _kernel_from_dict(found["kernel"])})


def _remake(values: dict[str, Any]) -> Model:
    return Model(**values)


def _checked_scales(estimate: Any) -> tuple[str, ...]:
    given = (estimate,) if isinstance(estimate, str) else estimate
    if not isinstance(given, tuple | list):
        raise MethodError(f"estimate takes 't_scale' and 'y_scale', alone or in a tuple, got {estimate!r}.")
    unknown = [name for name in given if name not in SCALES]
    if unknown:
        raise MethodError(f"estimate takes 't_scale' and 'y_scale', got {unknown[0]!r}.")
    return tuple(given)


def _kernel_to_dict(kernel: Kernel) -> dict[str, Any]:
    kind = {"kind": type(kernel).__name__}
    if isinstance(kernel, Sum | Product):
        return kind | {"parts": [_kernel_to_dict(part) for part in kernel.parts]}
    if isinstance(kernel, SpaceTime):
        space = {"kind": type(kernel.space).__name__} | asdict(kernel.space)  # type: ignore[call-overload]
        return kind | {"time": _kernel_to_dict(kernel.time), "space": space}
    values: dict[str, float] = asdict(kernel)  # type: ignore[call-overload]
    # An infinite sd, a flat prior, is the default; JSON has no infinity.
    return kind | {name: value for name, value in values.items() if math.isfinite(value)}


def _kernel_from_dict(found: dict[str, Any]) -> Kernel:
    kinds = {kind.__name__: kind for kind in _kinds(Kernel)}
    if found["kind"] not in kinds:
        raise KernelError(f"there is no kernel {found['kind']}. Define its class, then try again.")
    if "parts" in found:
        return kinds[found["kind"]](tuple(_kernel_from_dict(part) for part in found["parts"]))
    if "space" in found:
        spaces = {kind.__name__: kind for kind in _kinds(Spatial)}
        return SpaceTime(_kernel_from_dict(found["time"]), _made(spaces, found["space"]))
    return _made(kinds, found)


def _made(kinds: dict[str, type], found: dict[str, Any]) -> Any:
    """A kernel of one of the kinds from its parameters."""
    return kinds[found["kind"]](**{name: value for name, value in found.items() if name != "kind"})


def _kinds(kind: type) -> Iterator[type]:
    """All classes of kernels, also those that were defined elsewhere."""
    found: list[type] = kind.__subclasses__()
    for one in found:
        yield one
        yield from _kinds(one)
