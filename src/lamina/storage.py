"""Posteriors on disk: one NetCDF file with the draws, the record and the model. No pickle."""

from __future__ import annotations

import json
import os
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from . import kernels
from .errors import LaminaError
from .kernels import Kernel, Product, Sum
from .methods.draws import Draws
from .posterior import Posterior
from .problem import Problem, pose
from .record import Record

#: Written into every file; a reader refuses what it does not know.
FORMAT = "lamina posterior 1"


class StorageError(LaminaError):
    """A file cannot be read as a posterior, or not be written."""


def save(posterior: Posterior, path: str | Path) -> None:
    """Write a posterior to a NetCDF file; an existing file is replaced only when the new one is complete."""
    import xarray as xr

    problem, draws, record = posterior.problem, posterior.draws, posterior.record
    data: dict[str, Any] = {
        "tau": (("draw", "row"), draws.tau),
        "phi": (("draw", "parameter"), draws.phi),
        "weight": ("draw", draws.weight),
        **{name: ("row", getattr(record, name)) for name in ("t", "t_sd", "y", "y_sd")},
    }
    if draws.extra_var is not None:
        data["extra_var"] = ("row", draws.extra_var)
    facts = {
        "record": {name: getattr(record, name) for name in ("order", "sequence", "label", *_TEXTS)},
        "chains": draws.chains,
        "diagnostics": draws.diagnostics,
        "kernel": _kernel_to_dict(problem.kernel),
        "gaps": problem.gaps,
        "free": problem.free,
        "start": problem.start,
        "prior_mean": problem.prior_mean,
        "prior_sd": problem.prior_sd,
    }
    dataset = xr.Dataset(data, attrs={"format": FORMAT, "facts": json.dumps(facts, default=_plain)})
    path = Path(path)
    try:
        handle, partial = tempfile.mkstemp(suffix=".nc", prefix=".lamina-", dir=path.parent)
        os.close(handle)
    except OSError as error:
        raise StorageError(f"cannot write to the folder {path.parent}: {error.strerror}. Choose another one.") from None
    try:
        dataset.to_netcdf(partial, engine="h5netcdf")
        os.replace(partial, path)
    except OSError as error:
        raise StorageError(f"cannot write {path}: {error.strerror or error}.") from None
    finally:
        Path(partial).unlink(missing_ok=True)


def load(path: str | Path) -> Posterior:
    """Read a posterior that ``Posterior.save`` wrote."""
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
    facts = json.loads(dataset.attrs["facts"])
    record = Record(**{name: dataset[name].to_numpy() for name in ("t", "t_sd", "y", "y_sd")}, **facts["record"])
    problem = _restored(record, facts)
    draws = Draws(
        tau=dataset["tau"].to_numpy(),
        phi=dataset["phi"].to_numpy(),
        weight=dataset["weight"].to_numpy(),
        chains=facts["chains"],
        extra_var=dataset["extra_var"].to_numpy() if "extra_var" in dataset else None,
        diagnostics={key: _as_array(value) for key, value in facts["diagnostics"].items()},
    )
    return Posterior(problem, draws)


_TEXTS = ("t_name", "t_unit", "y_name", "y_unit")


def _restored(record: Record, facts: dict[str, Any]) -> Problem:
    from dataclasses import replace

    numbers = {name: np.asarray(facts[name]) for name in ("free", "start", "prior_mean", "prior_sd")}
    return replace(pose(record, _kernel_from_dict(facts["kernel"]), facts["gaps"], internal=True), **numbers)


def _kernel_to_dict(kernel: Kernel) -> dict[str, Any]:
    if isinstance(kernel, Sum | Product):
        return {"kind": type(kernel).__name__, "parts": [_kernel_to_dict(part) for part in kernel.parts]}
    return {"kind": type(kernel).__name__, **asdict(kernel)}  # type: ignore[call-overload]


def _kernel_from_dict(facts: dict[str, Any]) -> Kernel:
    kind = getattr(kernels, facts["kind"])
    if "parts" in facts:
        return kind(tuple(_kernel_from_dict(part) for part in facts["parts"]))
    return kind(**{name: value for name, value in facts.items() if name != "kind"})


def _plain(value: Any) -> Any:
    """NumPy values for JSON."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    return str(value)


def _as_array(value: Any) -> Any:
    return np.asarray(value) if isinstance(value, list) and value and isinstance(value[0], int | float) else value
