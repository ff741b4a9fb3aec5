"""The loop of a helper process: a question in JSON on each line of its input, the answer on a line of its output.

It ends when its input does, and so with the server, however that ends.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable, Mapping
from typing import Any

from ...errors import LaminaError
from ...support.text import visible

Task = Callable[..., Any]


def answer_lines(tasks: Mapping[str, Task]) -> None:
    """Answer until the input ends. A LaminaError is an answer too: {"error": message}."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which then closes the input
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what libraries print is no answer
    for line in sys.stdin:
        asked = json.loads(line)
        try:
            found = json.dumps({"answer": tasks[asked["task"]](**asked["with"])}, allow_nan=False)
        except LaminaError as error:
            found = json.dumps({"error": visible(str(error))})
        except Exception as error:
            why = f"{type(error).__name__}: {visible(str(error))[:500]}"
            found = json.dumps({"error": f"lamina cannot answer this ({why})."})
        answers.write(found + "\n")
        answers.flush()
