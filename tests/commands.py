"""Running commands, and a table to run them on."""

from pathlib import Path

from typer.testing import CliRunner, Result

from lamina.cli.root import app

TABLE = """\
Depth (cm), Age (cal a BP), Age 2s, RSL (m), RSL 1s, Lab
  5,  40, 30, -0.05, 0.08, <script>alert(1)</script>
 20, 310, 60, -0.31, 0.08, B
 35, 280, 80, -0.44, 0.08, C
 50, 620, 90, -0.80, 0.09, D
 65, 700, 90, -0.85, 0.09, E
 80, 940, 90, -1.00, 0.09, F
"""


def lamina(*arguments: object) -> Result:
    """``lamina ARGUMENTS`` in this process."""
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def write_table(folder: Path, text: str = TABLE) -> Path:
    path = folder / "core.csv"
    path.write_text(text)
    return path
