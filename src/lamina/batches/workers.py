"""Independent pieces of work on the cores of this machine (joblib), or on a Dask cluster by its address.

Results come as they are ready. Work must be a function of one argument that can be imported by name.
"""

from __future__ import annotations

import signal
import warnings
from collections.abc import Callable, Generator, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, nullcontext
from multiprocessing import resource_tracker
from typing import Any

from ..errors import LaminaError, MissingExtraError
from ..support.cpus import available_cores

#: Seconds to wait for a scheduler.
PATIENCE = 10.0
#: On this machine workers may die so many times, with nothing done in between, before the pieces at work are each
#: tried in a process of their own. On a cluster the scheduler counts deaths (its setting allowed-failures), and this
#: is how often a piece is tried again that a worker could not begin.
TRIES = 3


class ClusterError(LaminaError):
    """A cluster cannot be used."""


class WorkerDied(RuntimeError):
    """The process that did a piece of work ended before it was done, again and again."""


def local(work: Callable[[Any], Any], tasks: Sequence[Any], workers: int | None = None) -> Generator[tuple[int, Any]]:
    """(position of the task, result) on several processes. What fails has its exception for a result.

    One worker is this process itself: there is nothing to start, and nothing to survive.
    """
    from joblib import Parallel, delayed

    waiting, size, deaths = dict(enumerate(tasks)), workers or available_cores(), 0
    while waiting:
        parallel = Parallel(n_jobs=size, return_as="generator_unordered", batch_size=1)
        pieces = (delayed(_done)(work, k, task) for k, task in list(waiting.items()))
        with nullcontext() if size == 1 else _interrupts_kept_from_workers():
            results = parallel(pieces)
        try:
            for k, result in results:
                del waiting[k]
                deaths = 0
                yield k, result
        except BrokenProcessPool:
            deaths += 1  # nobody says which piece it was: all that are not done begin again
        finally:
            _stop(results)
        if deaths == TRIES:
            deaths = 0
            for k, result in _alone(work, list(waiting.items())[:size]):  # those that began first
                del waiting[k]
                yield k, result


@contextmanager
def _interrupts_kept_from_workers() -> Generator[None]:
    """A terminal sends an interrupt to all processes; here it is for the one that waits for the results.

    Workers that are begun inside have it blocked from their birth, and so have those that joblib's thread begins later.
    """
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    resource_tracker.ensure_running()  # if the first worker had to begin it, it would let interrupts through again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _stop(results: Any) -> None:
    """End the workers if their results are no longer wanted."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # joblib says what is lost, which is meant
        results.close()


def _alone(work: Callable[[Any], Any], tasks: Sequence[tuple[int, Any]]) -> Generator[tuple[int, Any]]:
    """Each piece in a process of its own, so that one that kills its worker takes no other with it."""
    from joblib.externals.loky import ProcessPoolExecutor

    for k, task in tasks:
        pool = ProcessPoolExecutor(1)
        try:
            yield pool.submit(_done, work, k, task).result()
        except BrokenProcessPool:
            yield k, WorkerDied("its worker died again and again, at last in a process that did nothing else")
        finally:
            pool.shutdown(kill_workers=True)


def _done(work: Callable[[Any], Any], k: int, task: Any) -> tuple[int, Any]:
    try:
        return k, work(task)
    except Exception as error:  # told to the user with the piece of work it belongs to
        return k, error


def on_dask(work: Callable[[Any], Any], tasks: Sequence[Any], address: str) -> Generator[tuple[int, Any]]:
    """The same on the cluster whose scheduler is at ``address``. Raises ClusterError if it cannot be used any more."""
    try:
        from distributed import CancelledError, Client, as_completed
    except ImportError:
        raise MissingExtraError('a Dask cluster needs distributed: pip install "lamina[dask]".') from None
    try:
        client = Client(address, timeout=PATIENCE)
    except (OSError, ValueError, TypeError) as error:
        raise ClusterError(
            f"no Dask scheduler answers at {address!r} ({error or type(error).__name__}). Start one with "
            "dask scheduler, and give the address that it tells."
        ) from None
    try:
        with client:
            _check_workers(client, address)
            again = {"pure": False, "retries": TRIES}
            futures = {client.submit(_done, work, k, task, **again): k for k, task in enumerate(tasks)}
            deserted = 0
            while futures:
                try:
                    for future in as_completed(futures, timeout=PATIENCE):
                        yield futures.pop(future), _result(future)
                        future.release()
                except TimeoutError:  # so long they always take; but somebody must be at work
                    deserted = 0 if client.scheduler_info()["workers"] else deserted + 1
                if deserted == TRIES:
                    raise ClusterError(
                        f"the Dask scheduler at {address!r} has lost all its workers. Start some: dask worker "
                        f"{address}. Records that are finished stay; go on with --resume (resume=True)."
                    )
    except (CancelledError, OSError) as error:
        raise ClusterError(
            f"the connection to the Dask scheduler at {address!r} was lost ({type(error).__name__}). Records that are "
            "finished stay; go on with --resume (resume=True)."
        ) from None


def _result(future: Any) -> Any:
    """What came of a piece of work on a cluster: where its worker died, or could not even begin, that exception."""
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
    from importlib.metadata import version

    from .. import __version__

    found = client.run(version, "lamina", on_error="return")  # a function that a worker without lamina has too
    if not found:
        raise ClusterError(f"the Dask scheduler at {address!r} has no workers. Start some: dask worker {address}.")
    for worker, has in found.items():
        if has != __version__:
            what = f"has lamina {has}" if isinstance(has, str) else "has no lamina"
            raise ClusterError(
                f"the Dask worker {worker} {what}; install lamina {__version__} there and start it again."
            )
