"""The queue: what a run says, how it ends, and that nothing outlives the server."""

import asyncio
import http.client
import json
import signal
import sys
import time

import psutil
import pytest
from commands import TABLE, lamina, write_table

from lamina.app import jobs as jobs_module
from lamina.app.jobs import JobError, Jobs

#: In place of the command line: does what its first argument says. The name of its folder comes last.
PROGRAM = """
import json, os, pathlib, signal, sys, time
what = sys.argv[1]
def stopped(*_):
    (pathlib.Path(sys.argv[-1]) / "run.json").write_text("{}")
    sys.exit(130)
signal.signal(signal.SIGINT, signal.SIG_IGN if what == "deaf" else stopped)
pathlib.Path(sys.argv[-1]).mkdir()
print(json.dumps({"stage": "sampling", "sweeps": 7, "r_hat": 1.2, "ess": 50.0}), file=sys.stderr, flush=True)
print("x" * 300_000, flush=True)
if what == "crash":
    print("lamina: so far", file=sys.stderr, flush=True)
    os.kill(os.getpid(), signal.SIGSEGV)
if what == "refuse":
    print("lamina: core.csv, line 3: no", file=sys.stderr)
    sys.exit(2)
if what in ("wait", "deaf"):
    time.sleep(60)
"""


@pytest.fixture
def program(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    return sys.executable, str(path)


async def until(true):
    end = time.monotonic() + 30.0
    while not true():
        assert time.monotonic() < end
        await asyncio.sleep(0.01)


def scenario(tmp_path, program, steps, at_once=1):
    async def run():
        jobs = Jobs(tmp_path, at_once, program)
        try:
            await steps(jobs)
        finally:
            await jobs.close()
        assert all(job.process is None or job.process.returncode is not None for job in jobs.jobs.values())

    asyncio.run(run())


def test_runs_wait_for_each_other(tmp_path, program):
    async def steps(jobs):
        first, second, third = (jobs.add([what], f"out{k}", "a.csv") for k, what in enumerate(["wait", "end", "end"]))
        await until(lambda: first.progress)
        assert (first.state, second.state, third.state) == ("running", "queued", "queued")
        assert first.progress == {"stage": "sampling", "sweeps": 7, "r_hat": 1.2, "ess": 50.0}
        jobs.stop(third)
        assert (third.state, third.process) == ("interrupted", None)
        jobs.stop(first)
        await until(lambda: second.over)
        assert (first.state, first.written, second.state, second.written) == ("interrupted", True, "converged", False)

    scenario(tmp_path, program, steps)


def test_as_many_run_as_there_is_room_for(tmp_path, program):
    async def steps(jobs):
        made = [jobs.add(["wait"], f"out{k}", "a.csv") for k in range(3)]
        await until(lambda: made[0].progress and made[1].progress)
        assert [job.state for job in made] == ["running", "running", "queued"]

    scenario(tmp_path, program, steps, at_once=2)


def test_a_crash_is_a_message_and_the_next_run_begins(tmp_path, program):
    async def steps(jobs):
        crash, refused, end = (jobs.add([what], what, "a.csv") for what in ("crash", "refuse", "end"))
        await until(lambda: end.over)
        assert crash.state == "crashed"
        assert crash.said == f"The run has crashed (code {-signal.SIGSEGV}). so far"
        assert (refused.state, refused.said) == ("refused", "core.csv, line 3: no")
        assert end.state == "converged"

    scenario(tmp_path, program, steps)


def test_closing_ends_a_run_that_does_not_listen(tmp_path, program, monkeypatch):
    monkeypatch.setattr("lamina.app.jobs.PATIENCE", 0.5)

    async def steps(jobs):
        job = jobs.add(["deaf"], "out", "a.csv")
        await until(lambda: job.progress)

    began = time.monotonic()
    scenario(tmp_path, program, steps)
    assert time.monotonic() - began < 20.0


def test_a_run_that_is_stopping_is_not_interrupted_again(tmp_path, program, monkeypatch):
    sent, send = [], jobs_module._signal
    monkeypatch.setattr(jobs_module, "PATIENCE", 0.5)
    monkeypatch.setattr(jobs_module, "_signal", lambda job, number: (sent.append(number), send(job, number)))

    async def steps(jobs):
        job = jobs.add(["deaf"], "out", "a.csv")
        await until(lambda: job.progress)
        jobs.stop(job)
        jobs.stop(job)

    scenario(tmp_path, program, steps)  # which closes the queue
    assert sent == [signal.SIGINT, signal.SIGKILL]


def test_a_text_that_no_process_can_be_given_is_a_message(tmp_path, program):
    async def steps(jobs):
        bad, end = jobs.add(["wait", "a\0b"], "bad", "a.csv"), jobs.add(["end"], "end", "a.csv")
        await until(lambda: end.over)
        assert (bad.state, end.state) == ("crashed", "converged")
        assert "The run cannot begin: embedded null byte." in bad.said

    scenario(tmp_path, program, steps)


def test_the_queue_has_an_end(tmp_path, program):
    async def steps(jobs):
        for k in range(100):
            jobs.add(["wait"], f"out{k}", "a.csv")
        with pytest.raises(JobError, match="waiting already"):
            jobs.add(["wait"], "more", "a.csv")

    scenario(tmp_path, program, steps)


# --- the command itself ----------------------------------------------------------------------------------------------

NUMBERS = ("curve.csv", "rate.csv", "inputs.csv", "theta.csv", "intervals.csv")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"interval": ["100:500"]}, []),
        ({"method": "npv", "interval": ["100:500"], "t_sigma": "1"}, ["--method", "npv", "--t-sigma", "1"]),
    ],
)
def test_the_numbers_are_those_of_the_command(server, tmp_path, options, words):
    job = server.wait(server.begin(server.put("core.csv", TABLE.encode()), **options))
    assert job["state"] == "converged"
    here, there = server.folder / job["folder"], tmp_path / "there"
    assert lamina("fit", write_table(tmp_path), "--interval", "100:500", *words, "--out", there).exit_code == 0
    for name in NUMBERS:
        assert (there / name).read_text() == (here / name).read_text()
    mine, theirs = (json.loads((folder / "run.json").read_text()) for folder in (here, there))
    for volatile in "command", "seconds", "files", "diagnostics":
        del mine[volatile], theirs[volatile]
    assert mine == theirs


@pytest.mark.slow
def test_a_run_that_is_stopped_keeps_its_draws_and_can_go_on(server):
    key = server.put("long.csv", long_table(500).encode())
    job = server.begin(key)
    server.wait(job, lambda one: one["progress"].get("stage") == "sampling")
    server.json(f"/api/jobs/{job}/stop", {})
    found = server.wait(job)
    assert (found["state"], found["written"]) == ("interrupted", True)
    again = server.json("/api/run/again", {"name": found["folder"], "resume": True})["job"]
    server.wait(again, lambda one: one["progress"])
    assert server.json(f"/api/run?name={found['folder']}")["busy"]
    assert "still working" in server.json("/api/run/again", {"name": found["folder"], "resume": True})["error"]
    server.json(f"/api/jobs/{again}/stop", {})
    assert server.wait(again)["folder"] == found["folder"]


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP, signal.SIGKILL])
def test_nothing_outlives_the_server(new_server, number):
    job = new_server.begin(new_server.put("long.csv", long_table(500).encode()))
    new_server.wait(job, lambda one: one["progress"].get("sweeps"))
    started = psutil.Process(new_server.process.pid).children(recursive=True)
    assert len(started) >= 2  # the run, and the process that reads tables
    page = http.client.HTTPConnection("127.0.0.1", new_server.port, timeout=30.0)
    page.request("GET", "/api/events", headers={"Cookie": f"lamina-{new_server.port}={new_server.token}"})
    page.getresponse().readline()  # a page that is open does not keep the server from ending
    new_server.close(number)
    page.close()
    _, alive = psutil.wait_procs(started, timeout=20.0)
    assert alive == []


def long_table(rows: int) -> str:
    lines = [f"{k},{20 * k + 7 * (k % 3)},60,{0.01 * (k * 7919 % 101):.2f},0.05" for k in range(rows)]
    return "\n".join(["depth,age BP,age_sd,rsl,rsl_sd", *lines])


def test_a_run_that_is_killed_is_a_message_and_the_server_lives_on(new_server):
    key = new_server.put("core.csv", TABLE.encode())
    new_server.read(key)
    before = {one.pid for one in psutil.Process(new_server.process.pid).children(recursive=True)}
    job = new_server.begin(key)
    made: list[psutil.Process] = []
    end = time.monotonic() + 60.0
    while not made:
        assert time.monotonic() < end
        made = [one for one in psutil.Process(new_server.process.pid).children() if one.pid not in before]
    made[0].kill()
    found = new_server.wait(job)
    assert found["state"] == "crashed"
    assert "crashed" in found["said"]
    assert new_server.ask("/")[0] == 200
    assert new_server.read(key)["works"]


def test_the_process_that_reads_tables_is_started_again_after_a_crash(new_server):
    key = new_server.put("core.csv", TABLE.encode())
    assert new_server.read(key)["works"]
    killed = psutil.Process(new_server.process.pid).children(recursive=True)
    assert killed
    for one in killed:
        one.kill()
    _, alive = psutil.wait_procs(killed, timeout=20.0)
    assert alive == []
    found = new_server.read(key)
    assert found.get("works") or "crashed" in found["error"]  # the server may have noticed before it asked
    assert new_server.read(key)["works"]
    started = psutil.Process(new_server.process.pid).children(recursive=True)
    assert started
    assert not {one.pid for one in killed} & {one.pid for one in started}


def test_a_table_that_is_refused_says_what_the_command_says(server):
    job = server.wait(server.begin(server.put("core.csv", TABLE.encode()), at="1:2:x"))
    assert job["state"] == "refused"
    assert job["said"] == "--at: 'x' in '1:2:x' is not a number."
    assert not job["written"]
