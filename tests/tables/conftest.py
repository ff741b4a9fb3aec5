"""Tables as files, for the tests of lamina.tables."""

from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest


@pytest.fixture
def table(tmp_path: Path) -> Callable[..., Path]:
    """Write a table, text or bytes, and give its path."""

    def write(content: str | bytes, name: str = "core.csv") -> Path:
        path = tmp_path / name
        path.write_bytes(dedent(content).encode() if isinstance(content, str) else content)
        return path

    return write
