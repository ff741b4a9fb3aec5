"""How many processor cores this process may use."""

import os


def available_cores() -> int:
    """The cores that this process is allowed to run on, where the system tells; else all there are."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
