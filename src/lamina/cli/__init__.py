"""The command line: each command parses its options, makes one call to the library, and prints."""

from __future__ import annotations

import sys


def main() -> None:
    """The ``lamina`` command."""
    if sys.argv[1:] == ["--version"]:  # answered at once: loading all commands takes longer
        from importlib.metadata import version

        print(f"lamina {version('lamina')}")
        return
    from .root import app

    app()
