"""How many CPUs this process may use."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import pairwise

import numpy as np

_most: ContextVar[int | None] = ContextVar("most", default=None)


def available_cpus() -> int:
    """The number of CPUs that this process may run on: all of the machine where the system does not limit them.

    Inside ``at_most``, no more than its limit.
    """
    there = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    most = _most.get()
    return there if most is None else min(there, most)


@contextmanager
def at_most(cpus: int) -> Iterator[None]:
    """Inside, ``available_cpus`` is no more than this: for one of several processes that share the machine."""
    before = _most.set(cpus)
    try:
        yield
    finally:
        _most.reset(before)


def in_parts(n: int, work: Callable[[slice], None], multiple: int = 1) -> None:
    """Do 0..n in slices, one for each CPU, on threads: for compiled code, which runs outside Python's lock.

    Slices begin at multiples of ``multiple``.
    """
    blocks = -(-n // multiple)
    edges = np.minimum(np.linspace(0, blocks, min(available_cpus(), blocks) + 1).astype(int) * multiple, n)
    parts = [slice(int(a), int(b)) for a, b in pairwise(edges)]
    if len(parts) <= 1:
        for part in parts:
            work(part)
        return
    with ThreadPoolExecutor(len(parts)) as pool:
        list(pool.map(work, parts))
