"""Commands that are ended from outside: results are kept, the exit code says why, and no process stays behind."""

import os
import signal
import subprocess
import sys
import time

import pandas as pd
import pytest
from test_batch import HEAD, site

psutil = pytest.importorskip("psutil")
pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")

MESSAGE = "lamina: interrupted. Finished records are kept; continue with --resume.\n"


@pytest.fixture
def begun(tmp_path):
    """A batch on two workers of which a record is done: the process, its folder, and its workers."""
    path, out = tmp_path / "sites.csv", tmp_path / "out"
    path.write_text(HEAD + "".join(site(f"site{k}", k) for k in range(200)))
    options = ["--by", "site", "--out", out, "--workers", "2", "--method", "gp"]
    running = subprocess.Popen(
        [sys.executable, "-m", "lamina", "batch", path, *options],
        stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )
    while running.poll() is None and not list(out.glob("*/run.json")):
        time.sleep(0.05)
    below = psutil.Process(running.pid).children(recursive=True)
    assert len(below) >= 2
    yield running, out, below
    running.kill()
    running.stderr.close()
    running.wait()


def all_gone(processes, seconds=15.0):
    return not psutil.wait_procs(processes, timeout=seconds)[1]


@pytest.mark.slow
@pytest.mark.parametrize("to_all", [False, True], ids=["to the parent", "to all"])
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_batch_that_is_asked_to_end_writes_its_summary(begun, number, code, to_all):
    running, out, below = begun
    (os.killpg if to_all else os.kill)(running.pid, number)
    _, said = running.communicate(timeout=60)
    assert running.returncode == code
    assert said == MESSAGE
    assert set(pd.read_csv(out / "summary.csv")["state"]) == {"converged", "not done"}
    assert all_gone(below)
    assert ".lamina.lock" not in os.listdir(out)


@pytest.mark.slow
def test_workers_end_when_their_parent_is_killed(begun):
    running, _, below = begun
    running.send_signal(signal.SIGKILL)
    assert all_gone(below)


WATCHED = """
import os, subprocess, sys, time
from lamina.batches.workers import end_with_parent
if len(sys.argv) > 1:
    end_with_parent(int(sys.argv[1]))
    print("watching", flush=True)
    time.sleep(60)
child = subprocess.Popen([sys.executable, *sys.orig_argv[1:], str(os.getpid())], stdout=subprocess.PIPE, text=True)
child.stdout.readline()
print(child.pid, flush=True)
time.sleep(60)
"""


def test_a_worker_ends_with_its_parent():
    with subprocess.Popen([sys.executable, "-c", WATCHED], stdout=subprocess.PIPE, text=True) as parent:
        child = psutil.Process(int(parent.stdout.readline()))
        assert child.is_running()
        parent.kill()
    assert all_gone([child])


ENDED = """
import os, signal
from lamina.cli import terminal
terminal.end_by_interrupt()
for _ in range(2):
    try:
        os.kill(os.getpid(), signal.{name})
    except KeyboardInterrupt:
        print("interrupted", terminal.exit_code())
"""


@pytest.mark.parametrize(("name", "code"), [("SIGTERM", 143), ("SIGHUP", 129)])
def test_a_signal_to_end_is_an_interrupt_and_a_second_one_does_not_disturb(name, code):
    done = subprocess.run([sys.executable, "-c", ENDED.format(name=name)], capture_output=True, text=True)
    assert done.stdout == f"interrupted {code}\n"
    assert done.stderr == ""


def test_a_signal_that_is_ignored_stays_so():
    ignoring = f"import signal; signal.signal(signal.SIGHUP, signal.SIG_IGN)\n{ENDED.format(name='SIGHUP')}"
    done = subprocess.run([sys.executable, "-c", ignoring], capture_output=True, text=True)
    assert done.stdout == ""
    assert done.returncode == 0
