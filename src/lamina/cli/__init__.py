"""The command line: each command parses its options, makes one call to the library, and prints."""

from __future__ import annotations

import sys
import warnings

from ..errors import LaminaError
from ..support.memory import check_start
from .terminal import complain, end_by_interrupt, exit_code, give_up, open_streams, show_version, warn


def main() -> None:
    """The ``lamina`` command."""
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
