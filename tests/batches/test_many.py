"""Many records: names that are safe, workers that die, and a cluster."""

import errno
import json
import os
import signal
import subprocess
import sys
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import lamina
from lamina.batches import batch as many
from lamina.batches import summary, tasks
from lamina.batches import workers as parallel
from lamina.batches.batch import safe_names
from lamina.batches.tasks import describe_settings, fingerprint
from lamina.fitting import Fit
from lamina.output.run import OutputRequest


def record(seed=0, n=8):
    rng = np.random.default_rng(seed)
    t = np.arange(n) + 0.2 * rng.standard_normal(n)
    return lamina.Record(t=t, t_sd=0.2, y=np.sin(t), y_sd=0.1)


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ("../../etc", "etc"),
        ("/absolute", "absolute"),
        ("Nassau Landing", "Nassau_Landing"),
        ("Ålesund", "Ålesund"),
        ("..", "record"),
        ("a" * 300, "a" * 80),
        ("index.html", "index.html_"),
        ("x\x00y\n", "x_y"),
    ],
)
def test_names_become_folders_that_stay_where_they_belong(name, safe):
    assert safe_names([name]) == {name: safe}


@pytest.mark.parametrize("names", [("index.html", "index.html_"), ("_Summary.csv", "summary.csv")])
def test_names_that_make_room_for_the_summary_may_not_meet_another(names):
    with pytest.raises(lamina.WriteError, match=r"would share the folder \S+_\. Rename"):
        safe_names(list(names))


def test_the_fingerprint_tells_records_apart():
    assert fingerprint(record(0)) == fingerprint(record(0))
    assert fingerprint(record(0)) != fingerprint(record(1))


def test_records_of_python_and_an_error_among_them(tmp_path):
    few = lamina.Record(t=[1.0, 2.0], t_sd=0.1, y=[0.0, 1.0], y_sd=0.1)
    seen = []
    found = lamina.batch(
        {"a": record(0), "few": few, "b": record(1)}, tmp_path, method="gp", workers=1,
        progress=lambda done, total: seen.append((done, total)),
    )  # fmt: skip
    assert found["state"].tolist() == ["converged", "failed", "converged"]
    assert "too few" in found["error"][1]
    assert seen == [(1, 3), (2, 3), (3, 3)]
    assert not (tmp_path / "few").exists()


def test_an_option_that_no_record_can_have_is_an_error_and_nothing_is_written(tmp_path):
    with pytest.raises(lamina.MethodError, match="has no option 'chains'"):
        lamina.batch({"a": record(0), "b": record(1)}, tmp_path / "out", method="gp", chains=4, workers=1)
    assert not (tmp_path / "out").exists()


BAD = {
    "a list": ([record()], {}, "records by name, a dict such as .* got list"),
    "no record": ({"a": record(), "b": [1.0, 2.0]}, {}, "the record 'b' is of type list"),
    "no workers": ({"a": record()}, {"workers": 0}, "workers must be a whole number of at least 1, got 0"),
    "workers below zero": ({"a": record()}, {"workers": -1}, "of at least 1, got -1"),
    "workers and dask": ({"a": record()}, {"workers": 1, "dask": "tcp://127.0.0.1:1"}, "give one of them"),
    "times that are none": ({"a": record()}, {"at": [1.0, np.nan]}, r"at is missing, NaN or infinite in row 1"),
    "text for a time": ({"a": record()}, {"at": "1900"}, "at must hold real numbers"),
    "no times": ({"a": record()}, {"at": []}, "at holds no times"),
}


@pytest.mark.parametrize(("records", "options", "text"), BAD.values(), ids=BAD.keys())
def test_bad_input_is_told_before_any_work(tmp_path, monkeypatch, records, options, text):
    monkeypatch.setattr(tasks, "prepare", lambda *_, **__: pytest.fail("the work began"))
    with pytest.raises(lamina.LaminaError, match=text):
        lamina.batch(records, tmp_path / "out", method="gp", **options)
    assert not (tmp_path / "out").exists()


def test_what_one_record_cannot_have_stops_no_other(tmp_path):
    t = [0.0, 1.0, 1.0, 2.0, 3.0]
    equal = lamina.Record(t=t, t_sd=0.0, y=np.sin(t), y_sd=0.1)
    found = lamina.batch({"a": record(0), "equal": equal}, tmp_path, method="npv", gaps="log-uniform", workers=1)
    assert found["state"].tolist()[1] == "failed"
    assert "gap of zero" in found["error"][1]
    assert (tmp_path / "a" / "run.json").is_file()


def test_records_none_of_which_can_be_read_are_one_error_and_nothing_is_written(tmp_path):
    errors = {name: lamina.TableError(f"no {name}") for name in "ab"}
    with pytest.raises(lamina.TableError, match=r"none of 2 records can be read\. no a"):
        lamina.batch(errors, tmp_path / "out")
    with pytest.raises(lamina.TableError, match=r"^no b$"):
        lamina.batch({"b": errors["b"]}, tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_files_of_an_earlier_run_do_not_stay(tmp_path):
    lamina.batch({"a": record(0)}, tmp_path, method="gp", figures=True, intervals=[(1.0, 3.0)], workers=1)
    (tmp_path / "a" / "checkpoint.npz").write_text("of a run before")
    lamina.batch({"a": record(0)}, tmp_path, method="gp", kernel=lamina.Matern12(), workers=1)
    assert not {"figure.png", "intervals.csv", "rate.csv", "checkpoint.npz"} & set(os.listdir(tmp_path / "a"))


@pytest.mark.parametrize(
    "other",
    [
        {"at": [1.0, 2.0]},
        {"intervals": [(1.0, 3.0)]},
        {"figures": True},
        {"seed": 1},
        pytest.param({"kernel": lamina.Matern52()}, marks=pytest.mark.slow),
    ],
    ids=lambda other: next(iter(other)),
)
def test_a_resume_that_asks_for_something_else_does_it_again(tmp_path, other):
    def run(**more):
        lamina.batch({"a": record()}, tmp_path, method="gp", workers=1, resume=True, **more)
        return (tmp_path / "a" / "run.json").stat().st_mtime_ns

    first = run()
    assert run() == first
    second = run(**other)
    assert second > first
    assert run(**other) == second


RECORDS = {"a": record(0), "b": record(1)}


def test_a_resume_with_another_lamina_does_it_again(tmp_path, monkeypatch):
    lamina.batch(RECORDS, tmp_path, method="gp", workers=1)
    monkeypatch.setattr(summary, "version", lambda _: "0.0.0")
    monkeypatch.setattr(many, "fit_one", refuse)
    assert (lamina.batch(RECORDS, tmp_path, method="gp", workers=1, resume=True)["state"] == "failed").all()


@pytest.mark.parametrize("lost", ["diagnostics", "lamina", "time_runs", "curve.csv", "report.html", "emptied rate.csv"])
def test_a_resume_does_again_what_is_not_whole(tmp_path, lost):
    lamina.batch(RECORDS, tmp_path, method="gp", workers=1)
    path = tmp_path / "a" / "run.json"
    if lost.startswith("emptied"):  # as after a power cut
        (tmp_path / "a" / lost.split()[1]).write_text("")
    elif "." in lost:
        (tmp_path / "a" / lost).unlink()
    else:
        path.write_text(json.dumps({key: value for key, value in json.loads(path.read_text()).items() if key != lost}))
    before = [(tmp_path / name / "run.json").stat().st_mtime_ns for name in "ab"]
    found = lamina.batch(RECORDS, tmp_path, method="gp", workers=1, resume=True)
    after = [(tmp_path / name / "run.json").stat().st_mtime_ns for name in "ab"]
    assert (found["state"] == "converged").all()
    assert after[0] > before[0]
    assert after[1] == before[1]
    assert (tmp_path / "a" / "curve.csv").is_file()


def test_settings_that_are_arrays_are_told_apart_in_every_number():
    members = np.zeros((100, 50))
    other = members.copy()
    other[50, 25] = 1e-9
    assert str(other) == str(members)  # as text they are shortened

    def settings_of(members):
        return describe_settings({"method": "ensemble", "members": members}, OutputRequest())

    assert settings_of(members) == settings_of(members.tolist()) != settings_of(other)
    assert settings_of(members)["method"] == "ensemble"


def test_earlier_results_go_if_a_fit_fails_and_stay_if_the_table_cannot_be_read(tmp_path, monkeypatch):
    records = {**RECORDS, "c": record(2)}
    lamina.batch(records, tmp_path, method="gp", workers=1)
    (tmp_path / "b" / "notes.txt").write_text("of the user")
    fit_one = many.fit_one
    monkeypatch.setattr(many, "fit_one", lambda task: refuse(task.name) if task.name == "b" else fit_one(task))
    records["c"] = lamina.TableError("no such table")
    found = lamina.batch(records, tmp_path, method="gp", workers=1, seed=1)
    assert found["state"].tolist() == ["converged", "failed", "failed"]
    assert (tmp_path / "a" / "run.json").is_file()
    assert os.listdir(tmp_path / "b") == ["notes.txt"]
    assert (tmp_path / "c" / "report.html").is_file()


def test_a_file_that_cannot_be_removed_is_told(tmp_path):
    (tmp_path / "a" / "run.json").mkdir(parents=True)
    with pytest.raises(lamina.WriteError, match=r"cannot remove .*run\.json of an earlier run: .*--resume"):
        lamina.batch({"a": record()}, tmp_path, method="gp", workers=1)


def test_an_interrupt_stops_the_batch_and_keeps_what_is_done(tmp_path, monkeypatch):
    run, begun = Fit.run, []

    def stop(state):
        raise KeyboardInterrupt

    def interrupted(fit):
        begun.append(fit)
        return run(fit, progress=stop if len(begun) == 2 else None)

    few = {"chains": 1, "draws": 50, "warmup": 50, "max_sweeps": 100}
    monkeypatch.setattr(Fit, "run", interrupted)
    with pytest.raises(KeyboardInterrupt):
        lamina.batch({**RECORDS, "c": record(2)}, tmp_path, workers=1, **few)
    assert len(begun) == 2
    assert pd.read_csv(tmp_path / "summary.csv")["state"].tolist() == ["not converged", "not done", "not done"]
    page = (tmp_path / "index.html").read_text()
    assert page.count("<svg") == 1
    assert "3 records: 1 not converged, 2 not done" in page
    assert not (tmp_path / "b" / "run.json").exists()


def test_a_record_whose_files_were_written_when_the_interrupt_came_is_in_the_summary(tmp_path, monkeypatch):
    kept = many.keep_result

    def interrupted(*result):
        kept(*result)
        raise KeyboardInterrupt

    monkeypatch.setattr(many, "keep_result", interrupted)
    with pytest.raises(KeyboardInterrupt):
        lamina.batch(RECORDS, tmp_path, method="gp", workers=1)
    assert pd.read_csv(tmp_path / "summary.csv")["state"].tolist() == ["converged", "not done"]


def test_the_default_sampler_gives_the_same_on_one_worker_and_on_two(tmp_path):
    few = {"chains": 2, "draws": 100, "warmup": 50, "max_sweeps": 200}
    for workers in 1, 2:
        lamina.batch(RECORDS, tmp_path / str(workers), workers=workers, **few)
    for name in RECORDS:
        assert files(tmp_path / "1" / name) == files(tmp_path / "2" / name)
    assert files(tmp_path / "1" / "a") != files(tmp_path / "1" / "b")


def test_a_full_disk_stops_the_batch_and_leaves_what_is_finished(tmp_path, monkeypatch):
    write_bytes, records = Path.write_bytes, {name: record(k) for k, name in enumerate("abc")}

    def full(path, data):
        if path.parent == tmp_path / "b" and path.suffix == ".html":
            write_bytes(path, data[:100])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write_bytes(path, data)

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(lamina.WriteError, match=r"report\.html: No space left on device.*--resume"):
        lamina.batch(records, tmp_path, method="gp", workers=1)
    assert os.listdir(tmp_path / "b") == []  # so that there is room for the summary
    assert not [path for path in tmp_path.rglob("*") if "part" in path.name]
    assert pd.read_csv(tmp_path / "summary.csv")["state"].tolist() == ["converged", "not done", "not done"]
    before = (tmp_path / "a" / "run.json").stat().st_mtime_ns
    monkeypatch.undo()
    found = lamina.batch(records, tmp_path, method="gp", workers=1, resume=True)
    assert (found["state"] == "converged").all()
    assert (tmp_path / "a" / "run.json").stat().st_mtime_ns == before


def test_a_worker_whose_disk_is_full_stops_the_batch_and_earlier_results_stay(tmp_path, monkeypatch):
    lamina.batch(RECORDS, tmp_path, method="gp", workers=1)
    write_text = Path.write_text

    def full(path, *arguments, **options):
        if path.suffix == ".js":  # Plotly, which all records share, and no worker writes
            return write_text(path, *arguments, **options)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(lamina.WriteError, match=r"a worker cannot write its files: .*No space left .*TMPDIR.*--resume"):
        lamina.batch(RECORDS, tmp_path, method="gp", workers=1, seed=1)
    assert all((tmp_path / name / "report.html").is_file() for name in RECORDS)


def square(x):
    return x * x


def stumble(x):
    """The worker dies the first time it gets 3; always if it gets -1."""
    path, number = x
    if number == -1 or (number == 3 and not path.exists()):
        path.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def refuse(x):
    raise ValueError(f"not {x}")


def test_results_come_with_their_place():
    assert sorted(parallel.local(square, [1, 2, 3], workers=2)) == [(0, 1), (1, 4), (2, 9)]


def test_an_error_belongs_to_its_piece_of_work():
    [(k, error)] = parallel.local(refuse, ["x"], workers=2)
    assert k == 0
    assert str(error) == "not x"


def test_deaths_with_progress_in_between_do_not_add_up(monkeypatch):
    class Dying:
        """Joblib whose workers die after each piece of work."""

        def __init__(self, **_):
            pass

        def __call__(self, calls):
            for number, (function, arguments, _) in enumerate(calls):
                if number == 1:
                    raise BrokenProcessPool
                yield function(*arguments)

    monkeypatch.setattr("joblib.Parallel", Dying)
    monkeypatch.setattr(parallel, "_alone", lambda *_: pytest.fail("no piece of work is to blame"))
    assert list(parallel.local(square, range(2 * parallel.TRIES), workers=2)) == [(k, k * k) for k in range(6)]


@pytest.mark.slow
def test_the_record_of_a_dead_worker_is_run_again(tmp_path):
    tasks = [(tmp_path / "died", number) for number in range(6)]
    assert sorted(parallel.local(stumble, tasks, workers=2)) == [(k, k) for k in range(6)]


@pytest.mark.slow
def test_a_piece_of_work_that_always_kills_its_worker_is_told_and_the_others_are_done(tmp_path):
    tasks = [(tmp_path / "died", number) for number in (0, -1, 2)]
    found = dict(parallel.local(stumble, tasks, workers=2))
    assert (found[0], found[2]) == (0, 2)
    assert isinstance(found[1], parallel.WorkerDied)


def test_a_scheduler_that_does_not_answer_is_named(monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr(parallel, "PATIENCE", 0.5)
    with pytest.raises(parallel.ClusterError, match=r"no Dask scheduler answers at 'tcp://127\.0\.0\.1:1'"):
        list(parallel.on_dask(square, [1], "tcp://127.0.0.1:1"))


@pytest.mark.parametrize(
    ("address", "error"),
    [("tls://host:1", TypeError("TLS expects a context")), ("nonsense", ValueError("missing port number"))],
)
def test_an_address_that_is_none_is_named(monkeypatch, address, error):
    distributed = pytest.importorskip("distributed")

    def client(*_, **__):  # what it does; a real one would leave a thread behind
        raise error

    monkeypatch.setattr(distributed, "Client", client)
    with pytest.raises(parallel.ClusterError, match=f"no Dask scheduler answers at '{address}' .{error}"):
        list(parallel.on_dask(square, [1], address))


@pytest.fixture(scope="module")
def cluster():
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster:
        yield cluster


def files(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in ("curve.csv", "inputs.csv", "theta.csv")}


@pytest.mark.slow
def test_a_dask_cluster_gives_the_same_results_to_the_bit_and_survives_a_death(tmp_path, cluster):
    records = {f"r{k}": record(k) for k in range(4)}
    lamina.batch(records, tmp_path / "here", method="npv", workers=1)
    killed = []

    def kill_one(done, total):
        if done == 1 and not killed:
            worker = next(iter(cluster.workers.values()))
            killed.append(worker)
            os.kill(worker.process.pid, signal.SIGKILL)

    found = lamina.batch(records, tmp_path / "there", method="npv", dask=cluster.scheduler_address, progress=kill_one)
    assert killed
    assert (found["state"] == "converged").all(), found["error"].tolist()
    for name in records:
        assert files(tmp_path / "here" / name) == files(tmp_path / "there" / name)


#: A Dask worker in an environment that has no lamina.
STRANGER = """
import asyncio, importlib.metadata as metadata, sys
class Without:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "lamina":
            raise ModuleNotFoundError(name)
def version(name, known=metadata.version):
    if name == "lamina":
        raise metadata.PackageNotFoundError(name)
    return known(name)
sys.meta_path.insert(0, Without())
metadata.version = version
from distributed import Worker
async def work():
    await (await Worker(sys.argv[1], nthreads=1, dashboard=False)).finished()
asyncio.run(work())
"""


@pytest.mark.slow
def test_a_worker_without_lamina_is_named(cluster):
    with cluster.get_client() as client:
        stranger = subprocess.Popen([sys.executable, "-c", STRANGER, cluster.scheduler_address])
        try:
            client.wait_for_workers(3, timeout=60)
            with pytest.raises(parallel.ClusterError, match=r"the Dask worker tcp://\S+ has no lamina; install lamina"):
                list(parallel.on_dask(square, [1], cluster.scheduler_address))
        finally:
            stranger.kill()
            stranger.wait()


def not_begun(work, k, task):
    raise ModuleNotFoundError("No module named 'lamina'")


@pytest.mark.slow
def test_a_piece_of_work_that_a_dask_worker_cannot_begin_is_told(cluster, monkeypatch):
    monkeypatch.setattr(parallel, "_done", not_begun)  # as on a worker without lamina that came later
    [(k, error)] = parallel.on_dask(square, [1], cluster.scheduler_address)
    assert k == 0
    assert isinstance(error, ModuleNotFoundError)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("lose", "patience", "text"),
    [
        (lambda cluster: cluster.close(), 10.0, r"connection to the Dask scheduler at .* was lost .*--resume"),
        (lambda cluster: cluster.scale(0), 0.2, r"has lost all its workers\. Start some.*--resume"),
    ],
    ids=["scheduler", "workers"],
)
def test_a_cluster_that_is_lost_is_told_and_what_is_done_is_kept(tmp_path, monkeypatch, lose, patience, text):
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=":0") as cluster:

        def lost(done, total):
            if done == 1:
                monkeypatch.setattr(parallel, "PATIENCE", patience)
                lose(cluster)

        records = {f"r{k}": record(k) for k in range(20)}
        with pytest.raises(parallel.ClusterError, match=text):
            lamina.batch(records, tmp_path, method="npv", dask=cluster.scheduler_address, progress=lost)
    assert set(pd.read_csv(tmp_path / "summary.csv")["state"]) == {"converged", "not done"}


@pytest.mark.slow
def test_a_piece_of_work_that_kills_dask_workers_is_told(tmp_path, cluster):
    [(k, error)] = parallel.on_dask(stumble, [(tmp_path / "died", -1)], cluster.scheduler_address)
    assert k == 0
    assert isinstance(error, parallel.WorkerDied)


def test_without_dask_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(lamina.MissingExtraError, match=r"pip install .lamina\[dask\]"):
        list(parallel.on_dask(square, [1], "tcp://127.0.0.1:1"))
