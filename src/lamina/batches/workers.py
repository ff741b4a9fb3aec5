"""Independent pieces of work on the CPUs of this machine (joblib), or on a Dask cluster by its address.

Results come as they are ready. Work must be a function of one argument that can be imported by name.
"""

from __future__ import annotations

import logging
import os
import signal
import threading
import time
import warnings
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, nullcontext, suppress
from importlib.metadata import version
from multiprocessing import resource_tracker
from typing import Any

from ..errors import LaminaError, MissingExtraError
from ..support.cpus import available_cpus

#: Seconds to wait for an answer of a scheduler. One that is silent this long, TRIES times in a row, is given up.
PATIENCE = 10.0
#: Seconds to wait for the end of a connection.
PARTING = 2.0
#: Workers look this often, in seconds, whether the process that started them is still there.
LOOK = 1.0
#: On this machine, after this many deaths of workers with nothing done in between, each piece at work is tried in a
#: process of its own. On a cluster the scheduler counts deaths (its setting allowed-failures); a piece that a worker
#: could not begin is tried again this many times.
TRIES = 3


class ClusterError(LaminaError):
    """A cluster cannot be used."""


class WorkerDied(RuntimeError):
    """The process that did a piece of work repeatedly ended before it was done."""


def local(work: Callable[[Any], Any], tasks: Sequence[Any], workers: int | None = None) -> Generator[tuple[int, Any]]:
    """Yield (position of the task, result) from several processes. The result of what fails is its exception.

    A single worker is this process itself.
    """
    from joblib import Parallel, delayed

    waiting, deaths = dict(enumerate(tasks)), 0
    size = min(workers or available_cpus(), max(len(waiting), 1))
    while waiting:
        begin = {} if size == 1 else {"initializer": end_with_parent, "initargs": (os.getpid(),)}
        parallel = Parallel(n_jobs=size, return_as="generator_unordered", batch_size=1, **begin)
        pieces = (delayed(_done)(work, k, task) for k, task in list(waiting.items()))
        with nullcontext() if size == 1 else _interrupts_kept_from_workers():
            results = parallel(pieces)
        try:
            for k, result in results:
                del waiting[k]
                deaths = 0
                yield k, result
        except BrokenProcessPool:
            deaths += 1  # joblib does not say which piece it was: all that are not done begin again
        finally:
            _stop(results)
        if deaths == TRIES:
            deaths = 0
            for k, result in _alone(work, list(waiting.items())[:size]):  # those that began first
                del waiting[k]
                yield k, result


@contextmanager
def _interrupts_kept_from_workers() -> Generator[None]:
    """Keep Ctrl-C and SIGHUP, which a terminal sends to all processes, for the one that waits for the results.

    Workers that start inside block it from the beginning, and so do those that joblib's thread starts later.
    """
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    resource_tracker.ensure_running()  # started by the first worker, it would let interrupts through again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGHUP})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def end_with_parent(parent: int) -> None:
    """Watch from now on that the process ``parent`` has not ended, in a worker: nobody would wait for its results.

    Windows gives an orphan no new parent: there, a worker ends after it has been idle for some minutes.
    """

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(LOOK)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _stop(results: Any) -> None:
    """End the workers if their results are no longer wanted."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # joblib warns of lost results, which nobody wants any more
        results.close()


def _alone(work: Callable[[Any], Any], tasks: Sequence[tuple[int, Any]]) -> Generator[tuple[int, Any]]:
    """Each piece in a process of its own, so that one that kills its worker takes no other with it."""
    from joblib.externals.loky import ProcessPoolExecutor

    for k, task in tasks:
        pool = ProcessPoolExecutor(1, initializer=end_with_parent, initargs=(os.getpid(),))
        try:
            yield pool.submit(_done, work, k, task).result()
        except BrokenProcessPool:
            yield k, WorkerDied("its worker died repeatedly, the last time in a process of its own")
        finally:
            pool.shutdown(kill_workers=True)


def _done(work: Callable[[Any], Any], k: int, task: Any) -> tuple[int, Any]:
    try:
        return k, work(task)
    except Exception as error:  # reported to the user with the piece of work it belongs to
        return k, error


def on_dask(work: Callable[[Any], Any], tasks: Sequence[Any], address: str) -> Generator[tuple[int, Any]]:
    """The same on the cluster whose scheduler is at ``address``. Raises ClusterError if it cannot be used."""
    try:
        from distributed import CancelledError
    except ImportError:
        raise MissingExtraError('a Dask cluster needs distributed: pip install "lamina[dask]".') from None
    with _cluster_is_silent():
        client = _connect(address)
        try:
            _check_workers(client, address)
            yield from _gather(client, work, tasks, address)
        except (CancelledError, OSError) as error:
            raise _lost(address, type(error).__name__) from None
        finally:
            with suppress(Exception):  # a scheduler that does not answer now is left
                _within(PARTING, client.close, timeout=PARTING)


def _connect(address: str) -> Any:
    from distributed import Client

    try:
        return _within(2.0 * PATIENCE, Client, address, timeout=PATIENCE)
    except (OSError, ValueError, TypeError) as error:
        raise ClusterError(
            f"no Dask scheduler answers at {address!r} ({str(error) or 'it is silent'}). Start one with "
            "dask scheduler, and give the address that it prints."
        ) from None


def _gather(client: Any, work: Callable[[Any], Any], tasks: Sequence[Any], address: str) -> Generator[tuple[int, Any]]:
    """Results as they come, as long as the scheduler answers and has workers."""
    from distributed import as_completed

    again = {"pure": False, "retries": TRIES}
    futures = {client.submit(_done, work, k, task, **again): k for k, task in enumerate(tasks)}
    deserted = silent = 0
    while futures:
        try:
            for future in as_completed(futures, timeout=PATIENCE):
                yield futures.pop(future), _result(future)
                future.release()
                deserted = silent = 0
        except TimeoutError:  # records may take this long, but the scheduler must answer, and some worker be there
            try:
                deserted = 0 if _within(PATIENCE, client.scheduler_info)["workers"] else deserted + 1
                silent = 0
            except TimeoutError:
                silent += 1
        if deserted == TRIES:
            raise ClusterError(
                f"the Dask scheduler at {address!r} has lost all its workers. Start some: dask worker {address}. "
                "Finished records are kept; continue with --resume (resume=True)."
            )
        if silent == TRIES:
            raise _lost(address, f"no answer for {2.0 * TRIES * PATIENCE:.0f} s")


def _lost(address: str, why: str) -> ClusterError:
    return ClusterError(
        f"the connection to the Dask scheduler at {address!r} was lost ({why}). Records that are finished stay; go on "
        "with --resume (resume=True)."
    )


def _within(seconds: float, call: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    """The result of a call that may never return. Raises TimeoutError if it has not after so many seconds."""
    answer: Future[Any] = Future()

    def run() -> None:
        try:
            answer.set_result(call(*arguments, **options))
        except BaseException as error:  # raised where it is waited for
            answer.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return answer.result(timeout=seconds)


@contextmanager
def _cluster_is_silent() -> Generator[None]:
    """Keep the tracebacks that Dask logs about lost connections from the terminal: one message says it."""
    loggers = [logging.getLogger(name) for name in ("distributed", "tornado", "asyncio")]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


def _result(future: Any) -> Any:
    """The result of a piece of work on a cluster; an exception if its worker died or could not begin."""
    from distributed import CancelledError, KilledWorker

    try:
        return future.result()[1]
    except KilledWorker:
        return WorkerDied("the workers it was given to died")
    except (CancelledError, OSError):
        raise  # of the connection
    except Exception as error:
        return error


def _check_workers(client: Any, address: str) -> None:
    """All workers must have this lamina."""
    here = version("lamina")
    # A function that a worker without lamina has too.
    found = _within(PATIENCE, client.run, version, "lamina", on_error="return")
    if not found:
        raise ClusterError(f"the Dask scheduler at {address!r} has no workers. Start some: dask worker {address}.")
    for worker, has in found.items():
        if has != here:
            what = f"has lamina {has}" if isinstance(has, str) else "has no lamina"
            raise ClusterError(f"the Dask worker {worker} {what}; install lamina {here} there and start it again.")
