"""Independent pieces of work on the cores of this machine (joblib), or on a Dask cluster by its address.

Results come as they are ready. Work must be a function of one argument that can be imported by name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from .cores import available_cores
from .errors import LaminaError, MissingExtraError

#: Seconds to wait for a scheduler.
PATIENCE = 10.0
#: A piece of work may lose its worker so many times; then the fault is its own.
TRIES = 3


class ClusterError(LaminaError):
    """A cluster cannot be used."""


class WorkerDied(RuntimeError):
    """The process that did a piece of work ended before it was done, again and again."""


def local(work: Callable[[Any], Any], tasks: Sequence[Any], workers: int | None = None) -> Iterator[tuple[int, Any]]:
    """(position of the task, result) on several processes. What fails has its exception for a result."""
    from joblib import Parallel, delayed
    from joblib.externals.loky.process_executor import TerminatedWorkerError

    waiting, size = dict(enumerate(tasks)), workers or available_cores()
    for _ in range(TRIES):
        parallel = Parallel(n_jobs=size, return_as="generator_unordered", batch_size=1)
        try:
            for k, result in parallel(delayed(_done)(work, k, task) for k, task in list(waiting.items())):
                del waiting[k]
                yield k, result
        except TerminatedWorkerError:
            continue  # nobody says which piece it was: all that are not done begin again
        if not waiting:
            return
    yield from _alone(work, waiting)


def _alone(work: Callable[[Any], Any], waiting: dict[int, Any]) -> Iterator[tuple[int, Any]]:
    """Each piece in a process of its own, so that one that kills its worker takes no other with it."""
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool
    from multiprocessing import get_context

    for k, task in waiting.items():
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            try:
                yield pool.submit(_done, work, k, task).result()
            except BrokenProcessPool:
                yield k, WorkerDied(f"its worker died {TRIES + 1} times")


def _done(work: Callable[[Any], Any], k: int, task: Any) -> tuple[int, Any]:
    try:
        return k, work(task)
    except Exception as error:  # told to the user with the piece of work it belongs to
        return k, error


def on_dask(work: Callable[[Any], Any], tasks: Sequence[Any], address: str) -> Iterator[tuple[int, Any]]:
    """The same on the cluster whose scheduler is at ``address``. Raises ClusterError if it cannot be used."""
    try:
        from distributed import Client, KilledWorker, as_completed
    except ImportError:
        raise MissingExtraError('a Dask cluster needs distributed: pip install "lamina[dask]".') from None
    try:
        client = Client(address, timeout=PATIENCE)
    except (OSError, ValueError, TimeoutError) as error:
        raise ClusterError(
            f"no Dask scheduler answers at {address!r} ({error or type(error).__name__}). Start one with "
            "dask scheduler, and give the address that it tells."
        ) from None
    with client:
        _check_workers(client, address)
        futures = {client.submit(_done, work, k, task, pure=False, retries=TRIES): k for k, task in enumerate(tasks)}
        for future in as_completed(futures):
            try:
                yield future.result()
            except KilledWorker:
                yield futures[future], WorkerDied("the workers it was given to died")
            future.release()


def _check_workers(client: Any, address: str) -> None:
    """All workers must have this lamina."""
    from importlib.metadata import version

    from . import __version__

    found = client.run(version, "lamina", on_error="return")  # a function that a worker without lamina has too
    if not found:
        raise ClusterError(f"the Dask scheduler at {address!r} has no workers. Start some: dask worker {address}.")
    for worker, has in found.items():
        if has != __version__:
            what = f"has lamina {has}" if isinstance(has, str) else "has no lamina"
            raise ClusterError(
                f"the Dask worker {worker} {what}; install lamina {__version__} there and start it again."
            )
