"""What can be wrong with a table, said in one shape: FILE, line N, column "X": what was found; what to do."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from ..errors import LaminaError

_SHOWN = 40
_LISTED = 12


class TableError(LaminaError):
    """A table cannot be read as a record. The message names file, line and column, and says what to do."""


def problem(
    path: Path | str, found: str, do: str, line: int | Sequence[int] | None = None, column: str | None = None
) -> TableError:
    """The error to raise. `line` and `column` are left out of the message where they make no sense."""
    where = Path(path).name or str(path)
    if line is not None:
        where += f", {name_lines([line] if isinstance(line, int) else line)}"
    if column is not None:
        where += f", column {quote(column)}"
    return TableError(f"{where}: {found}; {do}.")


def name_lines(lines: Sequence[int]) -> str:
    """Line numbers in words: "line 7", "lines 7, 8 and 12", "lines 7, 8, 9, ... (40 in all)"."""
    if len(lines) == 1:
        return f"line {lines[0]}"
    texts = [str(number) for number in lines]
    if len(texts) <= _LISTED:
        return f"lines {', '.join(texts[:-1])} and {texts[-1]}"
    return f"lines {', '.join(texts[:3])}, ... ({len(texts)} in all)"


def quote(text: str) -> str:
    """Text of the table in double quotes: shortened, on one line, without control characters."""
    clean = "".join(c if c.isprintable() else " " for c in text.strip())
    return f'"{clean if len(clean) <= _SHOWN else clean[:_SHOWN] + "…"}"'


def listing(texts: Iterable[str]) -> str:
    """Texts of the table in quotes, with commas, the first dozen of them."""
    quoted = [quote(text) for text in texts]
    return ", ".join(quoted[:_LISTED]) + (f" and {len(quoted) - _LISTED} more" if len(quoted) > _LISTED else "")


def option(name: str, value: str) -> str:
    """How to give an option, on the command line and in Python."""
    return f"--{name.replace('_', '-')} {value} ({name}= in Python)"
