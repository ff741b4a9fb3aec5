"""Importing ArviZ, which nutpie does too, without the notice of its coming refactor that it gives once a day."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def no_refactor_notice() -> Iterator[None]:
    """No FutureWarning that "ArviZ is undergoing a major refactor"; any other warning is given as ever.

    The versions of ArviZ that lamina works with are fixed in its dependencies: users can do nothing about it.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", r"\s*ArviZ is undergoing a major refactor", FutureWarning)
        yield
