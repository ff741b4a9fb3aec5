"""How much memory this process may use, and the refusal of what would need more."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from ..errors import MethodError

resource: Any = None
with suppress(ImportError):  # Windows has none
    import resource

#: Limits of a container, in the two versions of Linux's control groups.
_CONTAINER = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")

#: A fit of six rows needs as many addresses: code of LLVM, linear algebra and Matplotlib, and the stacks of threads.
LEAST_ADDRESSES = 1.2e9
#: Addresses that the compiler needs beside those in use, with the stacks and heaps of its threads.
COMPILER_ADDRESSES = 1.1e9


def memory_limit() -> float:
    """Bytes that this process may use at most: those of the machine, the container or the shell (ulimit -v)."""
    limits = [float("inf")]
    with suppress(ValueError, OSError, AttributeError):  # a system that does not say
        limits.append(float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")))
    for path in _CONTAINER:
        with suppress(ValueError, OSError):  # "max", or no such file
            limits.append(float(Path(path).read_text()))
    return min(*limits, address_limit())


def address_limit() -> float:
    """Bytes of addresses that this process may use at most (ulimit -v)."""
    if resource is None:
        return float("inf")
    soft = resource.getrlimit(resource.RLIMIT_AS)[0]
    return float("inf") if soft == resource.RLIM_INFINITY else float(soft)


def check_start() -> None:
    """Raise MethodError if this process may use too few addresses even to load the compiler, which would crash."""
    limit = address_limit()
    if limit < LEAST_ADDRESSES:
        raise MethodError(
            f"a fit needs at least {LEAST_ADDRESSES / 1e9:.1f} GB of addresses, and this process may use "
            f"{limit / 1e9:.1f} GB. Raise the limit: ulimit -v."
        )


def check_compiler() -> None:
    """Raise MemoryError if this process may use too few addresses to compile code: the compiler would end it."""
    limit = address_limit()
    if limit == float("inf"):
        return
    with suppress(OSError, ValueError, AttributeError):  # a system that does not say how many are in use
        used = float(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
        if limit - used < COMPILER_ADDRESSES:
            raise MemoryError(
                f"compiling code needs {COMPILER_ADDRESSES / 1e9:.1f} GB of addresses, and {(limit - used) / 1e9:.1f} "
                "GB are left: raise the limit, ulimit -v"
            )


def check_memory(what: str, needed: float) -> None:
    """Raise MethodError if ``what``, an option with its value, needs more bytes than this process may use."""
    limit = memory_limit()
    if needed > limit:
        raise MethodError(
            f"{what} needs about {needed / 1e9:,.1f} GB of memory, and this process may use {limit / 1e9:,.1f} GB. "
            "Give a smaller number."
        )
