"""Settings that all tests share."""

import hashlib
import os
import re
import shutil
import signal
import time
from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).resolve().parent.parent
KEPT_SECONDS = 3600


def fresh_compiled_code(sources: Path, caches: Path) -> Path:
    """The folder for compiled code that belongs to the sources as they are now; those of older sources are removed.

    Numba recompiles a file that has changed, but not the files that import from it: their old machine code would be
    run, with the old functions inlined. Files that do not speak of Numba are left out of the sum: they change often,
    and compiling all again takes minutes. A folder used within the last hour may belong to tests that still run.
    """
    digest = hashlib.sha256()
    for path in sorted(sources.rglob("*.py")):
        content = path.read_bytes()
        if b"numba" in content:
            digest.update(str(path.relative_to(sources)).encode() + b"\0" + content + b"\0")
    current = caches / digest.hexdigest()[:16]
    current.mkdir(parents=True, exist_ok=True)
    os.utime(current)
    for folder in caches.iterdir():
        if folder != current and time.time() - folder.stat().st_mtime > KEPT_SECONDS:
            shutil.rmtree(folder, ignore_errors=True)
    return current


# Before anything imports Numba, which reads it once. Python processes that tests start inherit it.
os.environ.setdefault("NUMBA_CACHE_DIR", str(fresh_compiled_code(ROOT / "src" / "lamina", ROOT / ".numba_cache")))
# The matrices are small: threads would mostly wait for each other.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# A shell without job control lets what it runs in the background ignore Ctrl-C, and nohup ignores SIGHUP: tests of
# them would wait for ever.
signal.signal(signal.SIGINT, signal.default_int_handler)
if hasattr(signal, "SIGHUP"):
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

# No deadline, because the first call of a compiled function takes seconds; the same examples in every run.
settings.register_profile("lamina", deadline=None, derandomize=True, database=None)
settings.load_profile("lamina")


#: The order of the first files: the sampler takes a minute to compile, and the others need not wait for it, nor compile
#: it once more. A worker takes the first and the third of them, the other the second and the fourth, and so on.
FIRST = (
    "test_fitting.py",
    "engine/test_filter.py",
    "methods/mcmc/test_sweep.py",
    "test_likelihood.py",
    "engine",
    "gaps",
    "dense",
    "tables",
    "dates",
    "test_record.py",
    "test_kernels.py",
    "test_rooms.py",
)


def pytest_collection_modifyitems(items):
    """Leave kernels that are compiled apart, for which the laws of the engine hold as well, to ``make test-all``."""
    from problems import COMPILED_APART, COMPILED_IN_PART

    def named(kernels):
        return re.compile(rf"[\[-]({'|'.join(map(re.escape, kernels))})[-\]]").search

    apart, in_part = named(COMPILED_APART), named(COMPILED_IN_PART)
    for item in items:
        if item.path.parent.name not in ("engine", "markov", "tests"):
            continue
        further = item.path.stem in ("test_local", "test_smoothing", "test_curvature")
        if apart(item.name) or (further and in_part(item.name)):
            item.add_marker(pytest.mark.slow)

    def place(item):
        path = item.path.relative_to(ROOT / "tests").as_posix()
        return next((k for k, first in enumerate(FIRST) if path.startswith(first)), len(FIRST))

    items.sort(key=place)


@pytest.fixture
def rng():
    """A NumPy generator with the same numbers in every test."""
    import numpy as np

    return np.random.default_rng(20150501)
