"""A Dask scheduler that does not answer any more ends in one message, after a stated time."""

import gc
import os
import signal
import socket
import subprocess
import sys
import time

import pytest

from lamina.batches import workers as parallel

pytestmark = [pytest.mark.slow, pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")]

SCHEDULER = """
import asyncio, sys
from distributed import Scheduler, Worker
async def serve():
    async with Scheduler(port=int(sys.argv[1]), dashboard=False) as scheduler:
        async with Worker(scheduler.address, nthreads=1, dashboard=False):
            print(scheduler.address, flush=True)
            await scheduler.finished()
asyncio.run(serve())
"""


@pytest.fixture
def scheduler():
    """A scheduler in a process of its own: that process, and its address."""
    pytest.importorskip("distributed")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    served = subprocess.Popen(
        [sys.executable, "-c", SCHEDULER, str(port)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    with served:
        yield served, served.stdout.readline().strip()
        served.send_signal(signal.SIGCONT)
        served.kill()


def test_a_scheduler_that_freezes_at_work_is_given_up(scheduler, monkeypatch, capfd):
    served, address = scheduler
    results = parallel.on_dask(time.sleep, [0.0, 60.0], address)
    assert next(results) == (0, None)
    monkeypatch.setattr(parallel, "PATIENCE", 0.5)
    served.send_signal(signal.SIGSTOP)
    began = time.perf_counter()
    with pytest.raises(parallel.ClusterError, match=r"was lost \(no answer for 3 s\).*--resume"):
        next(results)
    assert time.perf_counter() - began < 20.0
    gc.collect()
    assert "Traceback" not in capfd.readouterr().err


def test_a_scheduler_that_is_frozen_from_the_start_is_given_up(scheduler, monkeypatch, capfd):
    served, address = scheduler
    monkeypatch.setattr(parallel, "PATIENCE", 0.5)
    served.send_signal(signal.SIGSTOP)
    with pytest.raises(parallel.ClusterError, match="no Dask scheduler answers"):
        list(parallel.on_dask(time.sleep, [0.0], address))
    gc.collect()
    assert "Traceback" not in capfd.readouterr().err
