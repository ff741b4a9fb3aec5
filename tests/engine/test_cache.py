"""Compiled code that cannot be kept, or read, never stops a fit; and a notice says when something is compiled."""

import os
import shutil
import stat
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from numba import njit

import lamina
from lamina.engine.compiling import cache
from lamina.engine.compiling.cache import watch

#: Compiles a small function of lamina and prints what it gives.
PROGRAM = """
import numpy as np
from lamina import gaps
print(gaps.log_jacobian(np.array([0.25, 0.75])))
"""


def _without_power_over_files():
    """Root may write anywhere, unless it gives up that right (Linux)."""
    if os.getuid() == 0:
        import ctypes

        ctypes.CDLL(None).prctl(24, 1, 0, 0, 0)  # PR_CAPBSET_DROP, CAP_DAC_OVERRIDE


@pytest.fixture
def read_only():
    """A copy of the package that cannot be written to."""
    with tempfile.TemporaryDirectory() as folder:
        package = Path(folder) / "lamina"
        shutil.copytree(Path(lamina.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
        folders = [path for path in (package, *package.rglob("*")) if path.is_dir()]
        for path in folders:
            path.chmod(0o555)
        yield Path(folder)
        for path in folders:
            path.chmod(0o755)


def run(program, read_only, tmp_path, temporary):
    for name in "home", "tmp":
        (tmp_path / name).mkdir(exist_ok=True)
    (tmp_path / "home").chmod(0o555)
    (tmp_path / "tmp").chmod(0o755 if temporary else 0o555)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("NUMBA", "XDG", "LAMINA"))}
    places = {"HOME": str(tmp_path / "home"), "TMPDIR": str(tmp_path / "tmp"), "PYTHONPATH": str(read_only)}
    return subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=300, cwd=tmp_path / "home",
        env=kept | places | {"PYTHONDONTWRITEBYTECODE": "1"}, preexec_fn=_without_power_over_files,
    )  # fmt: skip


@pytest.mark.skipif(os.name == "nt", reason="permissions of folders are those of POSIX")
def test_where_nothing_can_be_written_code_is_kept_in_a_temporary_folder(read_only, tmp_path):
    done = run(PROGRAM, read_only, tmp_path, temporary=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "1.0\n"
    assert "compiled code is kept in" in done.stderr
    assert done.stderr.count("Warning:") == 1
    (folder,) = (tmp_path / "tmp").iterdir()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*.nbc")}
    assert before
    assert run(PROGRAM, read_only, tmp_path, temporary=True).returncode == 0
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*.nbc")} == before


@pytest.mark.skipif(os.name == "nt", reason="permissions of folders are those of POSIX")
def test_where_there_is_no_temporary_folder_either_nothing_is_kept(read_only, tmp_path):
    program = f"import tempfile\ntempfile.tempdir = {str(tmp_path / 'tmp')!r}\n{PROGRAM}"
    done = run(program, read_only, tmp_path, temporary=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "1.0\n"
    assert "compiled code cannot be kept anywhere" in done.stderr
    assert done.stderr.count("Warning:") == 1
    assert list((tmp_path / "tmp").iterdir()) == []


@pytest.mark.skipif(os.name == "nt", reason="users are those of POSIX")
def test_a_temporary_folder_that_others_may_write_to_is_not_used(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    taken = cache._temporary()
    assert taken.parent == tmp_path
    taken.chmod(0o777)
    assert cache._temporary() != taken


def test_damaged_code_is_compiled_again(tmp_path):
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    for broken in b"", b"\x80\x04nonsense", None:
        done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, env=environment)
        assert (done.returncode, done.stdout, done.stderr) == (0, "1.0\n", "")
        kept = list(tmp_path.rglob("*.nb?"))
        assert kept
        for path in kept if broken is not None else ():
            path.write_bytes(broken)


@pytest.mark.slow
def test_code_is_compiled_again_when_another_file_with_compiled_code_has_changed(tmp_path):
    package, kept = tmp_path / "source" / "lamina", tmp_path / "kept"
    shutil.copytree(Path(lamina.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    environment = os.environ | {"NUMBA_CACHE_DIR": str(kept), "PYTHONPATH": str(package.parent)}

    def compiled():
        done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, env=environment)
        assert (done.returncode, done.stdout, done.stderr) == (0, "1.0\n", "")
        return {path: path.stat().st_mtime_ns for path in kept.rglob("*.nbc")}

    def change(file):
        file.write_text(file.read_text() + "# another line\n")

    first = compiled()
    assert first
    assert compiled() == first
    change(package / "tables" / "messages.py")
    assert compiled() == first
    change(package / "methods" / "mcmc" / "levels" / "window.py")
    again = compiled()
    assert all(again[path] > first[path] for path in first)


def function(module):
    """A new compiled function, as if it stood in this module."""

    def add_one(x):
        return x + 1

    add_one.__module__ = module
    return njit(add_one)


def test_all_files_with_compiled_code_count():
    known = {file for pattern in cache.COMPILED_FILES for file in cache.PACKAGE.glob(pattern)}
    assert {file for file in cache.PACKAGE.rglob("*.py") if "njit(" in file.read_text(encoding="utf-8")} <= known


def test_one_notice_says_that_code_of_lamina_is_compiled():
    notices, one, other = [], function("lamina.somewhere"), function("lamina.elsewhere")
    with watch(lambda: notices.append(True)):
        one(1)
        one(1.0)
        other(1)
    assert notices == [True]


def test_a_function_is_not_compiled_without_memory_and_is_later(monkeypatch):
    def none():
        raise MemoryError("too little")

    one = function("lamina.somewhere")
    with monkeypatch.context() as without:
        without.setattr(cache, "check_compiler", none)
        with pytest.raises(MemoryError, match="too little"):
            one(1)
        with pytest.raises(MemoryError, match="too little"):
            one(1)
    assert one(1) == 2


def test_the_seconds_of_compiling_are_those_of_the_outermost_function():
    inner = function("lamina.somewhere")

    @njit
    def outer(x):
        return inner(x) + 1

    began = time.perf_counter()
    with watch() as compiling:
        outer(1)
    took = time.perf_counter() - began
    assert 0.2 * took < compiling.seconds <= took
    with watch() as again:
        outer(2)
    assert again.seconds == 0.0


def test_there_is_no_notice_of_code_that_is_compiled_already_or_of_others():
    notices, done = [], function("lamina.somewhere")
    done(1)
    with watch(lambda: notices.append(True)):
        done(2)
        function("another_package")(1)
    assert notices == []
