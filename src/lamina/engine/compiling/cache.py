"""Compiled code: a notice when something is compiled, where and how long it is kept.

Numba keeps compiled code beside the source or else in the user's cache folder. If it can write to neither, it raises an
error; so it does if the disk is full, or if what it has kept is damaged. A fit can compile again instead.

Numba compiles a function again when its file changes. Code that is inlined from other files would stay as it was.
Here a function of lamina is compiled again when any file with compiled code has changed.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import pickle
import shutil
import stat
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache, partialmethod
from importlib.metadata import version
from pathlib import Path
from typing import Any

from numba.core import caching, event

from ...support.memory import check_compiler

PACKAGE = Path(__file__).resolve().parents[2]
#: Where there is compiled code.
COMPILED_FILES = ("*.py", "engine/**/*.py", "gaps/**/*.py", "model/**/*.py", "field/**/*.py", "methods/**/*.py")
#: The notice that code has to be compiled: for each kind of record, once.
NOTICE = "Compiling code for this kind of record. This happens once and usually takes ten to twenty seconds."
#: Set once there has been a warning, so that worker processes do not repeat it.
WARNED = "LAMINA_CACHE_WARNED"
_ADVICE = "Set NUMBA_CACHE_DIR to a folder that you can write to."
_UNREADABLE = (OSError, EOFError, pickle.UnpicklingError, ValueError, TypeError, KeyError, AttributeError, ImportError)


class LastResort(caching.UserProvidedCacheLocator):
    """Where the functions of lamina are kept if Numba knows of no place for them."""

    def __init__(self, py_func: Any, py_file: str) -> None:
        self._py_file, self._lineno = py_file, py_func.__code__.co_firstlineno
        self._cache_path = os.path.join(last_resort(), self.get_suitable_cache_subpath(py_file))

    @classmethod
    def from_function(cls, py_func: Any, py_file: str) -> LastResort | None:
        """The place of a function; None for those of other packages."""
        if not Path(py_file).resolve().is_relative_to(PACKAGE):
            return None
        found = cls(py_func, py_file)
        with suppress(OSError):
            found.ensure_cache_path()
        return found


@cache
def last_resort() -> str:
    """A folder for temporary files, which processes started from here use too; or one that is not there."""
    folder = _temporary()
    if folder is None:
        _warn("compiled code cannot be kept anywhere: every start compiles again, which may take a minute.")
        return str(PACKAGE / "nowhere")
    _warn(f"neither the folder of lamina nor your home can be written to: compiled code is kept in {folder}.")
    os.environ["NUMBA_CACHE_DIR"] = str(folder)
    return str(folder)


def _temporary() -> Path | None:
    """A folder of this user and no other: others could put code into it that would be run."""
    owner = os.getuid() if hasattr(os, "getuid") else 0
    try:
        folder = Path(tempfile.gettempdir()) / f"lamina-{version('lamina')}-{owner}"
        folder.mkdir(mode=0o700, exist_ok=True)
        facts = folder.lstat()
        private = not hasattr(os, "getuid") or (facts.st_uid == owner and not facts.st_mode & 0o077)
        if not (stat.S_ISDIR(facts.st_mode) and private):
            folder = Path(tempfile.mkdtemp(prefix="lamina-"))
            atexit.register(shutil.rmtree, folder, ignore_errors=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        return None
    return folder


def _warn(what: str) -> None:
    if WARNED not in os.environ:
        os.environ[WARNED] = "1"
        warnings.warn(f"{what} {_ADVICE}", stacklevel=2)


def _save(cache: Any, signature: Any, compiled: Any, save: Callable[..., None]) -> None:
    try:
        save(cache, signature, compiled)
    except OSError as error:
        _drop_index(cache)
        _warn(f"compiled code cannot be kept in {cache.cache_path}: {error.strerror or error}.")


def _load(cache: Any, signature: Any, context: Any, load: Callable[..., Any]) -> Any:
    try:
        return load(cache, signature, context)
    except _UNREADABLE:
        _drop_index(cache)
        return None


def _drop_index(cache: Any) -> None:
    """Remove the index of the code that was kept: it may list code that is damaged or missing."""
    with suppress(OSError):
        os.unlink(cache._cache_file._index_path)


@cache
def _stamp() -> str:
    """A digest of the source of all compiled functions."""
    files = sorted(file for pattern in COMPILED_FILES for file in PACKAGE.glob(pattern))
    return hashlib.sha256(b"\0".join(file.read_bytes() for file in files)).hexdigest()


def _source_stamp(locator: Any, stamp: Callable[..., Any]) -> Any:
    """What compiled code is kept with: it is used as long as this is the same."""
    return _stamp() if Path(locator._py_file).resolve().is_relative_to(PACKAGE) else stamp(locator)


def take_over() -> None:
    """From now on, no function of lamina fails because its compiled code cannot be kept or read, or is out of date."""
    if LastResort not in caching.CacheImpl._locator_classes:
        caching.CacheImpl._locator_classes.append(LastResort)
        event.register("numba:compile", _EnoughMemory())
        found: Any = caching.FunctionCache
        found.save_overload = partialmethod(_save, save=found.save_overload)
        found.load_overload = partialmethod(_load, load=found.load_overload)
        backed: Any = caching._SourceFileBackedLocatorMixin
        backed.get_source_stamp = partialmethod(_source_stamp, stamp=backed.get_source_stamp)


class _EnoughMemory(event.Listener):
    """Refuses to compile a function for which there is not enough memory: LLVM would end the process."""

    def __init__(self) -> None:
        self.depth = 0

    def on_start(self, event: Any) -> None:
        self.depth += 1
        if self.depth == 1:  # not inside the compiler, which would hide the error
            check_compiler()

    def on_end(self, event: Any) -> None:
        self.depth -= 1


class Watch(event.Listener):
    """Calls ``report`` when a function of lamina is first compiled, and adds up the ``seconds`` of compiling."""

    def __init__(self, report: Callable[[], None]) -> None:
        self.report, self.done = report, False
        self.seconds, self._depth, self._began = 0.0, 0, 0.0

    def on_start(self, event: Any) -> None:
        self._depth += 1  # a function compiles those that it calls
        if self._depth == 1:
            self._began = time.perf_counter()
        if not self.done and event.data["dispatcher"].py_func.__module__.startswith("lamina."):
            self.done = True
            self.report()

    def on_end(self, event: Any) -> None:
        self._depth = max(self._depth - 1, 0)  # the end comes without a beginning if there is not enough memory
        if self._depth == 0 and self._began:
            self.seconds += time.perf_counter() - self._began
            self._began = 0.0


@contextmanager
def watch(report: Callable[[], None] = lambda: None) -> Iterator[Watch]:
    """Inside, ``report`` is called once if something has to be compiled. Gives the seconds that this took."""
    watching = Watch(report)
    with event.install_listener("numba:compile", watching):
        yield watching
