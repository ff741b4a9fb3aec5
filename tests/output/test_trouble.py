"""Where results are written: full disks, other processes, settings of Matplotlib, and cells of spreadsheets."""

import errno
import gc
import json
import os
import shutil
import sys
from collections import namedtuple
from contextlib import contextmanager
from pathlib import Path

import pandas as pd
import pytest
from commands import lamina, write_table

import lamina as library
from lamina.output import folder as folders
from lamina.support.files import WriteError, replacing_stream
from lamina.support.locks import locked

CORES = """\
core,depth,age,age_sd,value,value_sd
=A1,1,100,10,0.1,0.1
=A1,2,200,10,0.2,0.1
=A1,3,300,10,0.3,0.1
-b,1,110,10,0.1,0.1
-b,2,210,10,0.2,0.1
"""


def fit(tmp_path, *arguments):
    table = write_table(tmp_path)
    return lamina("fit", table, "--out", tmp_path / "out", "--method", "gp", "--quiet", *arguments)


def test_a_folder_that_another_process_writes_into_is_refused(tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    with locked(out):
        for arguments in [], ["--force"]:
            done = fit(tmp_path, *arguments)
            assert done.exit_code == 2
            assert "another lamina is writing into the folder" in done.stderr
    assert os.listdir(out) == []
    with locked(out), pytest.raises(WriteError, match="another lamina"):
        library.batch({"a": RECORD}, out, method="gp", workers=1)


def test_results_that_another_process_wrote_in_the_meantime_are_not_overwritten(tmp_path, monkeypatch):
    def meanwhile(path, force=False):
        path.mkdir()
        (path / "run.json").write_text("{}")

    monkeypatch.setattr("lamina.output.fit.check_folder", meanwhile)
    monkeypatch.setattr("lamina.fitting.Fit.run", lambda *_, **__: pytest.fail("the fit began"))
    done = fit(tmp_path)
    assert done.exit_code == 2
    assert "holds the results of another run" in done.stderr


def test_a_disk_that_is_nearly_full_is_refused_before_the_fit(tmp_path, monkeypatch):
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage(10**9, 10**9 - 10**6, 10**6))
    monkeypatch.setattr("lamina.fitting.Fit.run", lambda *_, **__: pytest.fail("the fit began"))
    done = fit(tmp_path)
    assert done.exit_code == 2
    assert "the disk has 1.0 MB left, and the results need at least 16 MB" in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.fixture
def limited():
    """A function that sets the largest size of a file: a write beyond it fails, as on a full disk."""
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    yield lambda size: resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


RECORD = library.Record(t=range(5), t_sd=0.1, y=range(5), y_sd=0.1)


@pytest.mark.parametrize("size", [0, 100, 2000, 5000, 9000])
def test_a_posterior_that_finds_no_room_is_one_error(tmp_path, capfd, limited, size):
    posterior = library.fit(RECORD, "gp")
    limited(size)
    with pytest.raises(library.StorageError, match=r"cannot write .*posterior\.nc: File too large"):
        posterior.save(tmp_path / "posterior.nc")
    limited(10**9)
    gc.collect()
    assert capfd.readouterr().err == ""
    assert os.listdir(tmp_path) == []


def test_libraries_that_cannot_be_loaded_are_noticed_before_the_fit(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "h5py", None)  # as an import that finds no memory
    monkeypatch.setattr("lamina.fitting.Fit.run", lambda *_, **__: pytest.fail("the fit began"))
    done = fit(tmp_path)
    assert done.exit_code == 2
    assert "the libraries that write NetCDF files cannot be loaded (import of h5py halted" in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("kind", [ImportError, MemoryError])
def test_the_posterior_is_kept_where_the_report_finds_no_memory(tmp_path, monkeypatch, kind):
    def full(*_, **__):
        raise kind("failed to map segment from shared object")

    monkeypatch.setattr("lamina.output.fit.write_run", full)
    done = fit(tmp_path)
    assert done.exit_code == 2
    path = tmp_path / "out" / "posterior.nc"
    assert done.stderr == (
        "lamina: cannot write all results: failed to map segment from shared object. Allow more memory (ulimit -v). "
        f"The posterior is in {path}: lamina.load reads it.\n"
    )
    assert library.load(path).curve([300.0]).notna().all(axis=None)


@pytest.mark.parametrize("size", [0, 100, 5000])
def test_a_file_of_which_only_the_first_bytes_find_room_is_one_error(tmp_path, limited, size):
    limited(size)
    with pytest.raises(WriteError, match="File too large"), replacing_stream(tmp_path / "a") as file:
        assert file.write(bytes(5001)) == 5001  # as one of the libraries would: the count is not looked at
    limited(10**9)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(("full", "kept"), [("posterior.nc", "tmp"), ("figure.png", "out"), ("figure.pdf", "out")])
def test_the_posterior_of_a_fit_whose_disk_is_full_is_kept(tmp_path, monkeypatch, full, kept):
    @contextmanager
    def no_room(path):
        with replacing_stream(path) as file:
            if Path(path) == tmp_path / "out" / full:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            yield file

    for module in "posterior.storage", "output.folder":
        monkeypatch.setattr(f"lamina.{module}.replacing_stream", no_room)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    (tmp_path / "tmp").mkdir()
    done = fit(tmp_path)
    assert done.exit_code == 2
    assert f"{full}: No space left on device" in done.stderr
    (path,) = (tmp_path / kept).rglob("posterior.nc")
    assert f"The posterior is in {path}: lamina.load reads it." in done.stderr
    assert library.load(path).curve([300.0]).notna().all(axis=None)
    assert {"curve.csv", "inputs.csv", "theta.csv"} <= set(os.listdir(tmp_path / "out"))
    assert "run.json" not in os.listdir(tmp_path / "out")


def interrupt(*_, **__):
    raise KeyboardInterrupt


@pytest.mark.parametrize("where", ["_curves", "write_tables", "write_run"])
def test_an_interrupt_while_results_are_written_keeps_the_posterior(tmp_path, monkeypatch, where):
    monkeypatch.setattr(f"lamina.output.fit.{where}", interrupt)
    done = fit(tmp_path)
    path = tmp_path / "out" / "posterior.nc"
    assert done.exit_code == 130
    assert done.stderr == (
        f"lamina: interrupted before all results were written. The posterior is in {path}: lamina.load reads it.\n"
    )
    assert library.load(path).curve([300.0]).notna().all(axis=None)
    assert "run.json" not in os.listdir(tmp_path / "out")


def test_the_posterior_of_an_earlier_run_is_not_taken_for_the_new_one(tmp_path, monkeypatch):
    assert fit(tmp_path).exit_code == 0
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr("lamina.output.fit._curves", interrupt)
    done = fit(tmp_path, "--force")
    (path,) = set(tmp_path.rglob("posterior.nc")) - {tmp_path / "out" / "posterior.nc"}
    assert f"The posterior is in {path}: lamina.load reads it." in done.stderr


@pytest.mark.parametrize("where", ["_curves", "write_run"])
def test_an_interrupt_of_a_run_that_goes_on_keeps_the_earlier_results_too(tmp_path, monkeypatch, where):
    table, out, scratch = write_table(tmp_path), tmp_path / "out", tmp_path / "tmp"
    scratch.mkdir()
    common = ("fit", table, "--out", out, "--chains", "2", "--quiet")
    assert lamina(*common, "--max-sweeps", "1").exit_code == 3
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    with monkeypatch.context() as patch:
        patch.setattr("tempfile.tempdir", str(scratch))
        patch.setattr(f"lamina.output.fit.{where}", interrupt)
        done = lamina(*common, "--max-sweeps", "2", "--resume")
    (path,) = scratch.rglob("posterior.nc")
    assert done.exit_code == 130
    assert f"The posterior is in {path}: lamina.load reads it. The earlier results are still in {out}:" in done.stderr
    assert library.load(path).curve([300.0]).notna().all(axis=None)
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before
    assert lamina(*common, "--max-sweeps", "2", "--resume").exit_code == 3


def test_figures_do_not_need_latex(tmp_path, monkeypatch):
    matplotlib = pytest.importorskip("matplotlib")
    monkeypatch.setitem(matplotlib.rcParams, "text.usetex", True)
    assert fit(tmp_path).exit_code == 0
    assert {"figure.png", "figure.pdf", "figure.svg"} <= set(os.listdir(tmp_path / "out"))


def test_figures_that_matplotlib_cannot_draw_are_a_warning_and_all_else_is_written(tmp_path, monkeypatch):
    def broken(*_, **__):
        raise ValueError("no such backend")

    monkeypatch.setattr("lamina.plots.summary", broken)
    table = write_table(tmp_path)
    done = lamina("fit", table, "--out", tmp_path / "out", "--method", "gp")
    assert done.exit_code == 0
    assert "warning: Matplotlib cannot draw the figure (ValueError: no such backend)." in done.stderr
    run = json.loads((tmp_path / "out" / "run.json").read_text())
    assert [one for one in run["warnings"] if "cannot draw" in one]
    assert "report.html" in run["files"]
    assert not [name for name in run["files"] if name.startswith("figure")]


def test_control_characters_do_not_reach_an_svg(tmp_path):
    from xml.etree import ElementTree

    evil = "\x1b[31m\x07\x00"
    record = library.Record(
        t=range(5), t_sd=0.1, y=range(5), y_sd=0.1, t_name=f"t{evil}", y_unit=f"m{evil}", sequence=[evil] * 5
    )
    assert not folders.write_figure(lambda: library.plots.summary(library.fit(record, "gp")), tmp_path, "figure")
    ElementTree.fromstring((tmp_path / "figure.svg").read_bytes())
    assert "\x1b" not in repr(record)


def test_text_that_looks_like_a_formula_is_text_in_a_spreadsheet_and_is_read_back(tmp_path):
    table = tmp_path / "cores.csv"
    table.write_text(CORES)
    out = tmp_path / "out"
    assert lamina("fit", table, "--out", out, "--method", "gp", "--quiet").exit_code == 0
    cells = pd.read_csv(out / "inputs.csv")["sequence"]
    assert cells.tolist() == ["'=A1"] * 3 + ["'-b"] * 2
    again = library.tables.read(out / "inputs.csv", library.tables.Options(t="t", t_sigma=1, y_sigma=1))
    assert sorted(again.record.sequence) == ["-b"] * 2 + ["=A1"] * 3
    done = lamina("batch", table, "--by", "core", "--out", tmp_path / "batch", "--method", "gp", "--workers", "1")
    assert "=A1: converged" in done.output or done.exit_code == 3
    assert pd.read_csv(tmp_path / "batch" / "summary.csv")["name"].tolist() == ["'=A1", "'-b"]
