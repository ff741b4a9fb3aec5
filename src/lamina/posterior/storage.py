"""Posteriors on disk: one NetCDF file with the draws, the record and the model. No pickle."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import dates
from ..errors import LaminaError
from ..methods.draws import Draws
from ..methods.registry import METHODS
from ..model.model import Model
from ..model.problem import Problem, build_problem
from ..record import Record
from ..support.files import WriteError, replacing_stream

if TYPE_CHECKING:
    import xarray as xr

    from .posterior import Posterior

#: Written into every file; a reader refuses others.
FORMAT = "lamina posterior 4"

#: Fields of a record and of draws that are variables of the file, with their dimensions. Inputs have one entry for each
#: row, or for each layer where rows are tied.
_RECORD = ("t", "t_sd", "y", "y_sd")
_DRAWS = {
    "tau": ("draw", "input"),
    "phi": ("draw", "parameter"),
    "weight": ("draw",),
    "extra_var": ("input",),
    "shift": ("draw", "input"),
    "factor": ("draw", "input"),
    "moments": ("moment", "input"),
}


class StorageError(LaminaError):
    """A posterior cannot be read from a file, or cannot be written to it."""


def save(posterior: Posterior, path: str | Path) -> None:
    """Write a posterior to a NetCDF file; an existing file is replaced only when the new one is complete.

    Labels other than text and numbers come back as text.
    """
    import xarray as xr

    draws, record = posterior.draws, posterior.record
    inputs = "row" if len(posterior.problem.record) == len(record) else "layer"
    data: dict[str, Any] = {name: ("row", getattr(record, name)) for name in _RECORD}
    for name, dimensions in _DRAWS.items():
        if getattr(draws, name) is not None:
            data[name] = ([inputs if one == "input" else one for one in dimensions], getattr(draws, name))
    facts = {
        "record": {one.name: _plain(getattr(record, one.name)) for one in fields(record) if one.name not in _RECORD},
        "chains": draws.chains,
        "diagnostics": draws.diagnostics,
        "model": posterior.model.to_dict(),
    }
    # A variable, because HDF5 limits the length of attributes.
    data["facts"] = ((), json.dumps(facts, default=_encode))
    try:
        with replacing_stream(path) as file:
            xr.Dataset(data, attrs={"format": FORMAT}).to_netcdf(file, engine="h5netcdf")
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
    found = dataset.attrs.get("format")
    if found != FORMAT:
        raise StorageError(
            f"{path} was not written by this version of lamina: its format is {found!r}, and this version reads "
            f"{FORMAT!r}. Fit the record again."
        )
    try:
        return _restored(dataset)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise StorageError(f"{path} is damaged: {type(error).__name__}, {error}.") from None


def _restored(dataset: xr.Dataset) -> tuple[Problem, Draws]:
    facts = json.loads(dataset["facts"].item(), object_hook=_decode)
    measured: dict[str, Any] = {name: dataset[name].to_numpy() for name in _RECORD}
    drawn: dict[str, Any] = {name: dataset[name].to_numpy() for name in _DRAWS if name in dataset}
    draws = Draws(**drawn, chains=facts["chains"], diagnostics=facts["diagnostics"])
    # A method without gaps may have rows at one time, which others refuse.
    method = METHODS.get(facts["diagnostics"].get("method", ""))
    uses_order = method is None or method.uses_order
    record = Record(**measured, **facts["record"])
    return build_problem(record, Model.from_dict(facts["model"]), uses_order), draws


def _plain(value: Any) -> Any:
    """Labels as text and numbers; other fields as they are."""
    if not isinstance(value, tuple):
        return value
    return [one if isinstance(one, str | int | float | dates.Date | None) else str(one) for one in value]


def _encode(value: Any) -> Any:
    """For JSON, which has neither arrays nor dates."""
    if isinstance(value, np.ndarray):
        return {"array": value.tolist()}
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, dates.Date):
        return {"date": type(value).__name__, "arguments": value.arguments()}
    return str(value)


def _decode(found: dict[str, Any]) -> Any:
    """What ``_encode`` made of arrays and dates."""
    if list(found) == ["array"]:
        return np.asarray(found["array"])
    if list(found) == ["date", "arguments"]:
        return getattr(dates, found["date"])(**found["arguments"])
    return found
