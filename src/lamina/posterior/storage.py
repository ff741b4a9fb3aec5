"""Posteriors on disk: one NetCDF file with the draws, the record and the model. No pickle."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import dates
from ..dates import Date
from ..errors import LaminaError
from ..methods.draws import Draws
from ..methods.registry import METHODS
from ..model.model import Model
from ..model.problem import Problem, build_problem
from ..record import Record
from ..support.checks import Labels
from ..support.files import WriteError, replacing

if TYPE_CHECKING:
    import xarray as xr

    from .posterior import Posterior

#: Written into every file; a reader refuses what it does not know.
FORMAT = "lamina posterior 4"

_COLUMNS, _TEXTS = ("t", "t_sd", "y", "y_sd"), ("t_name", "t_unit", "y_name", "y_unit", "depth_unit")
_BESIDE = ("shift", "factor")


class StorageError(LaminaError):
    """A file cannot be read as a posterior, or not be written."""


def save(posterior: Posterior, path: str | Path) -> None:
    """Write a posterior to a NetCDF file; an existing file is replaced only when the new one is complete.

    Labels other than text and numbers come back as text.
    """
    import xarray as xr

    problem, draws, record = posterior.problem, posterior.draws, posterior.record
    inputs = "row" if len(problem.record) == len(record) else "layer"  # tied rows share one input
    data: dict[str, Any] = {
        "tau": (("draw", inputs), draws.tau),
        "phi": (("draw", "parameter"), draws.phi),
        "weight": ("draw", draws.weight),
        **{name: ("row", getattr(record, name)) for name in _COLUMNS},
    }
    if draws.moments is not None:
        data["moments"] = (("moment", inputs), draws.moments)
    if draws.extra_var is not None:
        data["extra_var"] = (inputs, draws.extra_var)
    for name in _BESIDE:
        if getattr(draws, name) is not None:
            data[name] = (("draw", inputs), getattr(draws, name))
    facts = {
        "record": {
            **{name: getattr(record, name) for name in ("order", *_TEXTS)},
            **{name: _plain_labels(getattr(record, name)) for name in ("sequence", "label", "tie")},
            **{name: getattr(record, name) for name in ("depth", "hiatus", "least_gap", "limit")},
            "dates": None if record.dates is None else [_date_to_dict(date) for date in record.dates],
        },
        "chains": draws.chains,
        "diagnostics": {key: _marked(value) for key, value in draws.diagnostics.items()},
        "model": problem.model.to_dict(),
    }
    # A variable, because HDF5 has no room for long attributes.
    data["facts"] = ((), json.dumps(facts, default=plain))
    try:
        with replacing(path) as partial:
            xr.Dataset(data, attrs={"format": FORMAT}).to_netcdf(partial, engine="h5netcdf")
    except WriteError as error:
        raise StorageError(str(error)) from None


def read(path: str | Path) -> tuple[Problem, Draws]:
    """The parts of a posterior from a file that ``save`` wrote."""
    import xarray as xr

    path = Path(path)
    if not path.is_file():
        raise StorageError(f"there is no file {path}.")
    try:
        with xr.open_dataset(path, engine="h5netcdf") as opened:
            dataset = opened.load()
    except (OSError, ValueError, TypeError) as error:
        raise StorageError(f"{path} is not a NetCDF file that can be read ({error}).") from None
    if dataset.attrs.get("format") != FORMAT:
        raise StorageError(
            f"{path} was not written by this version of lamina: its format is {dataset.attrs.get('format')!r}."
        )
    try:
        return _restored(dataset)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise StorageError(f"{path} is damaged: {type(error).__name__}, {error}.") from None


def _restored(dataset: xr.Dataset) -> tuple[Problem, Draws]:
    facts = json.loads(dataset["facts"].item())
    columns: dict[str, Any] = {name: dataset[name].to_numpy() for name in _COLUMNS}
    told = facts["record"]
    for name, kind in ("depth", float), ("hiatus", bool), ("least_gap", float), ("limit", int):
        told[name] = None if told[name] is None else np.array(told[name], dtype=kind)
    if told["dates"] is not None:
        told["dates"] = [_date_from_dict(date) for date in told["dates"]]
    record = Record(**columns, **told)
    # What is not learnt need not be possible: a method without gaps may have rows at one time.
    method = METHODS.get(facts["diagnostics"].get("method", ""))
    problem = build_problem(record, Model.from_dict(facts["model"]), method is None or method.uses_order)
    optional = [name for name in ("extra_var", "moments", *_BESIDE) if name in dataset]
    beside: dict[str, Any] = {name: dataset[name].to_numpy() for name in optional}
    draws = Draws(
        tau=dataset["tau"].to_numpy(),
        phi=dataset["phi"].to_numpy(),
        weight=dataset["weight"].to_numpy(),
        chains=facts["chains"],
        diagnostics={key: _unmarked(value) for key, value in facts["diagnostics"].items()},
        **beside,
    )
    return problem, draws


def _date_to_dict(date: Date | None) -> dict[str, Any] | None:
    return None if date is None else {"kind": type(date).__name__, **date.arguments()}


def _date_from_dict(told: dict[str, Any] | None) -> Date | None:
    if told is None:
        return None
    return getattr(dates, told["kind"])(**{name: value for name, value in told.items() if name != "kind"})


def plain(value: Any) -> Any:
    """NumPy values for JSON."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    return str(value)


def _plain_labels(labels: Labels | None) -> list[Any] | None:
    if labels is None:
        return None
    return [one if isinstance(one, str | int | float | None) else str(one) for one in labels]


def _marked(value: Any) -> Any:
    """An array told from a list."""
    return {"array": value} if isinstance(value, np.ndarray) else value


def _unmarked(value: Any) -> Any:
    return np.asarray(value["array"]) if isinstance(value, dict) and list(value) == ["array"] else value
