"""The command line: each command parses its options, makes one call to the library, and prints."""

from __future__ import annotations

import gc
import sys
import warnings

from ..errors import LaminaError
from ..support.memory import check_start
from .terminal import complain, end_by_interrupt, exit_code, give_up, open_streams, show_version, warn

#: Objects between two searches for garbage. Loading modules makes hundreds of thousands that stay: with Python's own
#: thresholds, searching among them takes up to a tenth of a short fit.
GARBAGE_THRESHOLDS = 100_000, 50, 50


def main() -> None:
    """The ``lamina`` command."""
    gc.set_threshold(*GARBAGE_THRESHOLDS)
    open_streams()
    end_by_interrupt()
    warnings.showwarning = warn
    try:
        if sys.argv[1:] == ["--version"]:  # answered at once: loading all commands takes longer
            show_version()
            return
        check_start()
        from .root import app

        app()
    except KeyboardInterrupt:  # while modules were loaded
        complain("interrupted. No files were written.")
        sys.exit(exit_code())
    except LaminaError as error:
        complain(str(error))
        sys.exit(2)
    except OSError as error:
        give_up(error)
