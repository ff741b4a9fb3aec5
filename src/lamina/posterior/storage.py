"""Posteriors on disk: one NetCDF file with the draws, the record and the model. No pickle.

The file ends with a line that NetCDF ignores: the format and a checksum of all before it. It is verified before HDF5
sees the file, because HDF5 can crash on a damaged file, or read it for ever.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from .. import dates
from ..errors import StorageError
from ..methods.draws import Draws
from ..methods.registry import METHODS
from ..model.model import Model
from ..model.problem import Problem, build_problem
from ..record import Record
from ..records.places import Places
from ..support.checks import LARGEST
from ..support.files import WriteError, replacing_stream

if TYPE_CHECKING:
    from .posterior import Posterior

Array = np.ndarray

#: Written into every file; a reader refuses others.
FORMAT = "lamina posterior 6"
#: How every HDF5 file, and so every NetCDF file, begins.
SIGNATURE = b"\x89HDF\r\n\x1a\n"
#: The checksum is computed in parts of this many bytes.
BYTES_AT_ONCE = 2**20

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
#: The kinds of dates that a file may name.
_DATES = tuple(name for name, kind in vars(dates).items() if isinstance(kind, type) and issubclass(kind, dates.Date))
#: What a library says about a damaged file may be long.
LONGEST_REASON = 200
#: How far the sum of the weights may be from one.
WEIGHTS_ROUNDING = 1e-6
#: Parameters are stored as logarithms; those of larger ones are not numbers that a computer holds.
LARGEST_LOG = 700.0
#: Diagnostics of every fit.
_ALWAYS = ("method", "seconds", "converged", "interrupted")
#: The types of those diagnostics that are shown to users.
_TYPES: dict[str, tuple[type, ...]] = {
    "method": (str,),
    "engine": (str,),
    "converged": (bool,),
    "interrupted": (bool,),
    **dict.fromkeys(("seconds", "r_hat", "ess", "objective", "last_change", "effective_members"), (int, float)),
    **dict.fromkeys(("chains", "sweeps", "warmup", "thin", "steps", "members", "divergent", "evaluations"), (int,)),
    **dict.fromkeys(("r_hat_theta", "ess_theta"), (dict,)),
    **dict.fromkeys(("r_hat_inputs", "ess_inputs", "watched_rows"), (np.ndarray,)),
    **dict.fromkeys(("r_hat_curve", "ess_curve", "watched_times"), (np.ndarray,)),
}


def save(posterior: Posterior, path: str | Path) -> None:
    """Write a posterior to a NetCDF file; an existing file is replaced only when the new one is complete.

    Labels other than text and numbers come back as text.
    """
    load_libraries()
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
    # A variable, because HDF5 limits the length of attributes; of bytes, because text of any length is stored in a way
    # that HDF5 does not read safely.
    data["facts"] = ((), np.bytes_(json.dumps(facts, default=_encode).encode()))
    try:
        with replacing_stream(path) as file:
            xr.Dataset(data, attrs={"format": FORMAT}).to_netcdf(file, engine="h5netcdf")
            size = file.seek(0, 2)
            file.write(_seal(file, size))
    except WriteError as error:
        raise StorageError(str(error)) from None


def load_libraries() -> None:
    """Load what ``save`` needs. Raises StorageError where that fails, for lack of memory, for example."""
    try:
        import h5py  # noqa: F401
        import xarray  # noqa: F401
    except ImportError as error:
        raise StorageError(
            f"the libraries that write NetCDF files cannot be loaded ({_reason(error)}). Check that they are "
            "installed, and that this process may use enough memory (ulimit -v)."
        ) from None


def read(path: str | Path) -> tuple[Problem, Draws]:
    """The parts of a posterior from a file that ``save`` wrote. Raises StorageError for any other file."""
    path = Path(path)
    if not path.is_file():
        raise StorageError(f"there is no file {path}.")
    try:
        with path.open("rb") as file:
            _check_seal(path, file, path.stat().st_size)
    except OSError as error:
        raise StorageError(f"{path} cannot be read: {error.strerror or error}.") from None
    # What is sealed may be of others still, and fail anywhere in the libraries that read it, with any exception.
    try:
        return _restored(*_contents(path))
    except Exception as error:
        raise _damaged(path, _reason(error)) from None


def _seal(file: IO[bytes], size: int) -> bytes:
    """The last line of a file whose first ``size`` bytes hold the posterior."""
    found = hashlib.sha256()
    file.seek(0)
    while size > 0 and (part := file.read(min(BYTES_AT_ONCE, size))):
        found.update(part)
        size -= len(part)
    return f"\n{FORMAT} sha256 {found.hexdigest()}\n".encode()


def _check_seal(path: Path, file: IO[bytes], size: int) -> None:
    """Raise StorageError unless a file ends with the checksum of all before it."""
    if file.read(len(SIGNATURE)) != SIGNATURE:
        raise StorageError(f"{path} is not a NetCDF file that can be read.")
    right = _seal(file, size - len(_seal(file, 0)))
    end = file.read()
    if end == right:
        return
    if not end.startswith(right[: right.index(b"sha256")]):
        raise StorageError(
            f"{path} was not written by this version of lamina, or is cut short: it does not end with the line of "
            f"{FORMAT!r}. Take another copy of the file, or fit the record again."
        )
    raise _damaged(path, "its bytes are not those that were written")


def _damaged(path: Path, why: str) -> StorageError:
    return StorageError(f"{path} is damaged: {why}. Take another copy of the file, or fit the record again.")


def _contents(path: Path) -> tuple[dict[str, Array], str]:
    """The arrays of a file by name, and the other facts as text.

    Read with h5py: xarray would scale values, or turn them into dates, as an attribute tells it to.
    """
    import h5py

    with h5py.File(path, "r") as file:
        found = {name: file[name] for name in (*_RECORD, *_DRAWS, "facts") if _is_inside(file, name)}
        if sum(values.nbytes for values in found.values()) > path.stat().st_size:
            raise ValueError("it declares more numbers than it contains")
        if any(values.dtype.kind not in "fS" for values in found.values()):
            raise ValueError("a variable holds neither numbers nor text")
        arrays = {name: np.asarray(values[()]) for name, values in found.items()}
    return arrays, arrays.pop("facts").tobytes().decode()


def _is_inside(file: Any, name: str) -> bool:
    """Whether a file holds a variable itself, and not a link to another file."""
    import h5py

    if not isinstance(file.get(name, getlink=True), h5py.HardLink):
        return False
    return not (file[name].is_virtual or file[name].external)


def _reason(error: Exception) -> str:
    """An exception in one line."""
    words = " ".join(str(error).split()).rstrip(".")
    return words[:LONGEST_REASON] or type(error).__name__


def _restored(arrays: dict[str, Array], text: str) -> tuple[Problem, Draws]:
    facts = json.loads(text, object_hook=_decode)
    measured: dict[str, Any] = {name: _check_array(name, arrays[name], 1) for name in _RECORD}
    _check_diagnostics(facts["diagnostics"])
    # A method without gaps may have rows at one time, which others refuse.
    method = METHODS.get(facts["diagnostics"].get("method", ""))
    has_gap_prior = method is None or method.has_gap_prior
    problem = build_problem(Record(**measured, **facts["record"]), Model.from_dict(facts["model"]), has_gap_prior)
    drawn: dict[str, Any] = {name: arrays[name] for name in _DRAWS if name in arrays}
    _check_draws(problem, drawn, facts["chains"])
    return problem, Draws(**drawn, chains=facts["chains"], diagnostics=facts["diagnostics"])


def _plain(value: Any) -> Any:
    """Labels as text and numbers; other fields as they are."""
    if not isinstance(value, tuple):
        return value
    return [one if isinstance(one, str | int | float | dates.Date | None) else str(one) for one in value]


def _encode(value: Any) -> Any:
    """For JSON, which has neither arrays nor places nor dates."""
    if isinstance(value, np.ndarray):
        return {"array": value.tolist()}
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Places):
        return {"places": {one.name: getattr(value, one.name) for one in fields(value)}}
    if isinstance(value, dates.Date):
        return {"date": type(value).__name__, "arguments": value.arguments()}
    return str(value)


def _decode(found: dict[str, Any]) -> Any:
    """What ``_encode`` made of arrays, places and dates."""
    if list(found) == ["array"]:
        return np.asarray(found["array"])
    if list(found) == ["places"] and isinstance(found["places"], dict):
        return Places(**found["places"])
    if list(found) == ["date", "arguments"]:
        if found["date"] not in _DATES:
            raise ValueError(f"there is no kind of date {found['date']!r}")
        return getattr(dates, found["date"])(**found["arguments"])
    return found


def _check_array(name: str, values: Any, dimensions: int) -> Array:
    """An array of floats with this many dimensions, or ValueError."""
    if not (isinstance(values, np.ndarray) and values.dtype.kind == "f" and values.dtype.itemsize in (4, 8)):
        raise ValueError(f"{name} holds no floating-point numbers")
    if values.ndim != dimensions:
        raise ValueError(f"{name} has {values.ndim} dimensions, not {dimensions}")
    return values


def _check_diagnostics(facts: Any) -> None:
    """Raise ValueError for diagnostics that could not be shown."""
    if not isinstance(facts, dict):
        raise ValueError("its diagnostics have no names")
    missing = [name for name in _ALWAYS if name not in facts]
    if missing:
        raise ValueError(f"it has no diagnostic {missing[0]}")
    for name, kinds in _TYPES.items():
        value = facts.get(name)
        if name in facts and (not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds)):
            raise ValueError(f"the diagnostic {name} is {value!r}")
    for name in "r_hat_theta", "ess_theta":
        if not all(isinstance(value, float | int) for value in facts.get(name, {}).values()):
            raise ValueError(f"the diagnostic {name} holds no numbers")
    if "method" in facts and facts["method"] not in METHODS:
        raise ValueError(f"there is no method {facts['method']!r}")


def _check_draws(problem: Problem, drawn: Mapping[str, Array], chains: Any) -> None:
    """Raise ValueError unless the arrays of ``Draws`` are draws of this problem."""
    n, size = len(problem.record), len(drawn["tau"]) if np.ndim(drawn["tau"]) else 0
    shapes = {
        "tau": (size, n),
        "phi": (size, len(problem.start)),
        "weight": (size,),
        "extra_var": (n,),
        "shift": (size, n),
        "factor": (size, n),
        "moments": (2, n),
    }
    if size == 0:
        raise ValueError("it holds no draws")
    for name, values in drawn.items():
        _check_array(name, values, len(shapes[name]))
        if values.shape != shapes[name]:
            raise ValueError(f"{name} has the shape {values.shape}, where the record needs {shapes[name]}")
        if values.dtype.itemsize != 8 and name != "tau":
            raise ValueError(f"{name} is not in double precision")
        if not (np.abs(values) < LARGEST).all():
            raise ValueError(f"{name} is NaN or infinite in places")
    _check_ranges(drawn)
    if isinstance(chains, bool) or not isinstance(chains, int) or chains < 1 or size % chains:
        raise ValueError(f"{size} draws are not those of {chains!r} chains")


def _check_ranges(drawn: Mapping[str, Array]) -> None:
    if (np.abs(drawn["phi"]) > LARGEST_LOG).any():
        raise ValueError("a parameter is zero or infinite")
    weight = drawn["weight"]
    if (weight < 0.0).any() or abs(weight.sum() - 1.0) > WEIGHTS_ROUNDING:
        raise ValueError("the weights of the draws are negative, or do not sum to one")
    if (drawn.get("extra_var", weight) < 0.0).any() or (drawn.get("moments", np.zeros((2, 1)))[1] < 0.0).any():
        raise ValueError("a variance is negative")
    if ("shift" in drawn) != ("factor" in drawn) or (drawn.get("factor", np.ones(1)) <= 0.0).any():
        raise ValueError("a factor of the variance of y is missing or not positive")
