"""Checkpoints: the state of a fit that has not converged, from which ``--resume`` continues it."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import MethodError, StorageError
from ..methods.chains import check_checksum
from ..support.files import replacing_stream
from .folder import CHECKPOINT, RUN

if TYPE_CHECKING:
    from ..posterior.posterior import Posterior
    from .run import OutputRequest

#: Settings that a run may be resumed with other values of.
_MAY_CHANGE = ("max_sweeps",)


def write_checkpoint(posterior: Posterior, folder: Path) -> None:
    """Write the checkpoint of a posterior; remove that of an earlier run if it has none."""
    path = folder / CHECKPOINT
    if posterior.checkpoint is None:
        path.unlink(missing_ok=True)
        return
    with replacing_stream(path) as file:
        np.savez(file, allow_pickle=False, **posterior.checkpoint)


def resume(folder: Path, sha256: str | None, request: OutputRequest) -> dict[str, np.ndarray]:
    """The checkpoint to continue from. Raises MethodError if the folder has none for this table and these settings.

    sha256: checksum of the table; None for the embedded record, which has none.
    """
    before, checkpoint = _read(folder)
    same = {name: value for name, value in before["settings"].items() if name not in _MAY_CHANGE}
    now = {name: value for name, value in request.settings.items() if name not in _MAY_CHANGE}
    anew = "start again with another --out, or with --force instead of --resume"
    if before["sha256"] != sha256:
        raise MethodError(
            f"--resume: the run in {folder} used another table, or {before['table']} has changed since. Give that "
            f"table, or {anew}."
        )
    if before["seed"] != request.seed:
        raise MethodError(
            f"--resume: the run in {folder} had the seed {before['seed']}, not {request.seed}. Give --seed "
            f"{before['seed']}, or {anew}."
        )
    if same != json.loads(json.dumps(now)):
        raise MethodError(
            f"--resume: the run in {folder} had other settings: {json.dumps(same)}. Give the same, or {anew}."
        )
    if checkpoint is None:
        raise MethodError(f"--resume: the run in {folder} is {before['state']}; there is nothing to continue.")
    return checkpoint


def _read(folder: Path) -> tuple[dict[str, Any], dict[str, np.ndarray] | None]:
    """run.json of a folder, and its checkpoint if it has one.

    Raises MethodError if there is no run, StorageError if it is damaged.
    """
    path = folder / CHECKPOINT
    # A damaged file may fail anywhere in the libraries that read it, with any exception.
    try:
        if not (folder / RUN).is_file():
            raise MethodError(f"--resume: the folder {folder} contains no run to continue.")
        run = json.loads((folder / RUN).read_text(encoding="utf-8"))
        found = {name: run[name] for name in ("sha256", "seed", "state", "table")}
        found["settings"] = dict(run["settings"])
        return found, _arrays(path) if path.is_file() else None
    except MethodError:
        raise
    except StorageError as error:
        raise StorageError(
            f"--resume: {str(error).removesuffix('Start without it.')}Run it again with --force."
        ) from None
    except Exception as error:
        raise StorageError(
            f"--resume: the run in {folder} is damaged and cannot continue ({' '.join(str(error).split())}). Run it "
            "again with --force."
        ) from None


def _arrays(path: Path) -> dict[str, np.ndarray]:
    """The arrays of a checkpoint."""
    with zipfile.ZipFile(path) as parts:
        if sum(part.file_size for part in parts.infolist()) > path.stat().st_size:
            raise ValueError(f"{path.name} declares more numbers than it contains")
    with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
        return check_checksum(dict(arrays))
