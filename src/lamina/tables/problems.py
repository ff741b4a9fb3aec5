"""What can be wrong with a table, said in one shape: FILE, line N, column "X": what was found; what to do."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ..errors import LaminaError

_SHOWN = 40
_LISTED = 12
_FAULTS = 10


class TableError(LaminaError):
    """A table cannot be read as a record. The message names file, line and column, and says what to do."""


def problem(
    path: Path | str,
    found: str,
    do: str,
    line: int | Sequence[int] | None = None,
    column: str | None = None,
    rows: Iterable[int] = (),
) -> TableError:
    """The error to raise. `line` and `column` are left out of the message where they make no sense.

    rows: those of a record that `found` calls "{rows}".
    """
    where = Path(path).name or str(path)
    if line is not None:
        where += f", {_place([line] if isinstance(line, int) else line, column)}"
    elif column is not None:
        where += f", column {quote(column)}"
    return TableError(f"{where}: {found}; {do}.", rows)


def _place(lines: Sequence[int], column: str | None) -> str:
    return name_lines(lines) + ("" if column is None else f", column {quote(column)}")


@dataclass
class Faults:
    """Cells that cannot be used, collected while a table is read, so that one message names them all."""

    _lines: dict[tuple[str | None, str, str], list[int]] = field(default_factory=dict)

    def add(self, found: str, do: str, lines: int | Sequence[int], column: str | None = None) -> None:
        """Note what was found in a line, or in several, and what to do. What is alike is told together."""
        known = self._lines.setdefault((column, found, do), [])
        known += [lines] if isinstance(lines, int) else lines

    def refuse(self, path: Path | str) -> None:
        """Raise TableError if there are any: the first ten, by line, and how many more there are."""
        found = sorted(self._lines.items(), key=lambda fault: min(fault[1]))
        if not found:
            return
        if len(found) == 1:
            (column, what, do), lines = found[0]
            raise problem(path, what, do, lines, column)
        told = [f"  {_place(lines, column)}: {what}; {do}" for (column, what, do), lines in found[:_FAULTS]]
        if len(found) > _FAULTS:
            told.append(f"  and {len(found) - _FAULTS} more")
        where = Path(path).name or str(path)
        raise TableError("\n".join([f"{where}: {len(found)} things to correct:", *told]) + ".")


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
