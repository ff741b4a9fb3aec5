"""What a table says and what is wrong with it, in words: FILE, line N, column "X": what was found; what to do."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import LaminaError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ..record import Record

_SHOWN = 40
_LISTED = 12
_FAULTS = 10


class TableError(LaminaError):
    """A table cannot be read as a record. The message names file, line and column, and says what to do.

    answers: the most likely values of the options that would decide what is not clear; {} if no option does.
    bad_lines: the lines of rows that cannot be used, which ``skip_bad_rows`` leaves out.
    about: the option that does not work; "" if the table is at fault.
    places: the cells that the message names, each as its line and its column, either of which may be None.
    choices: what an option can be, by option, where the table itself limits it.
    """

    answers: Mapping[str, Any] = {}
    bad_lines: Sequence[int] = ()
    about: str = ""
    places: Sequence[tuple[int | None, str | None]] = ()
    choices: Mapping[str, Sequence[str]] = {}

    def suggesting(self, **answers: Any) -> TableError:
        """The same error with values of options that would decide."""
        self.answers = {**self.answers, **answers}
        return self


class StandIn(str):
    """The value of an option that only the user knows: `check` continues with it, and shows NUMBER instead."""


class Line(int):
    """The number of a line of another file than the table, which messages name with it."""

    file: str

    def __new__(cls, number: int, file: str) -> Line:
        line = super().__new__(cls, number)
        line.file = file
        return line

    def __getnewargs__(self) -> tuple[int, str]:  # type: ignore[override]
        return int(self), self.file

    def __str__(self) -> str:
        return f"{int(self)} of {self.file}"


class Fact(NamedTuple):
    """One thing understood: what it is about, what was understood, and why."""

    what: str
    understood: str
    why: str = ""


@dataclass(frozen=True, eq=False)
class TableReading:
    """The record in a table, where its rows come from, and why the table was read so.

    record: the measurements, rows in the order that the record needs (each sequence from young to old, if depth or
        height orders it).
    lines: the line in the file of each row of the record; sorting by it gives back the order of the file.
    scale: "BP", "CE" or None.
    depth: the depth (or height) of each row of the record, NaN where it is empty; None without such a column.
    facts: what was understood, and why. warnings: what to be careful about.
    cores: how many cores or sites the rows belong to, whether or not their order is used.
    """

    record: Record
    lines: tuple[int, ...]
    path: Path
    sha256: str
    scale: str | None
    facts: tuple[Fact, ...]
    warnings: tuple[str, ...]
    depth: NDArray[np.float64] | None = None
    cores: int = 1

    @contextmanager
    def naming_lines(self) -> Iterator[None]:
        """Errors about rows of the record, raised inside, name the file and its lines instead."""
        try:
            yield
        except LaminaError as error:
            worded = in_lines(error, self.lines)
            if worded == str(error):
                raise
            raise type(error)(f"{self.path.name}: {worded}", error.rows) from error

    def describe(self) -> str:
        """The facts and warnings as plain text, one a line."""
        width = max(len(fact.what) for fact in self.facts)
        lines = [
            f"{fact.what:<{width}}  {fact.understood}" + (f" ({fact.why})" if fact.why else "") for fact in self.facts
        ]
        return "\n".join([*lines, *(f"Warning: {warning}" for warning in self.warnings)])


def problem(
    path: Path,
    found: str,
    do: str,
    line: int | Sequence[int] | None = None,
    column: str | None = None,
    rows: Iterable[int] = (),
) -> TableError:
    """The error to raise. `line` and `column` are left out of the message where they make no sense.

    rows: those of a record that `found` calls "{rows}".
    """
    where = path.name or str(path)
    lines = [line] if isinstance(line, int) else line
    if lines is not None:
        where += f", {_place(lines, column)}"
    elif column is not None:
        where += f", column {quote(column)}"
    error = TableError(f"{where}: {found}; {do}.", rows)
    error.places = [(one, column) for one in lines] if lines else [] if column is None else [(None, column)]
    return error


def _place(lines: Sequence[int], column: str | None) -> str:
    return name_lines(lines) + ("" if column is None else f", column {quote(column)}")


@dataclass
class Notes:
    """Facts, warnings and faults (cells that cannot be used), collected while a table is read."""

    facts: list[Fact] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    faults: dict[tuple[str | None, str, str], list[int]] = field(default_factory=dict)
    answers: dict[str, Any] = field(default_factory=dict)
    unclear: set[tuple[str | None, str, str]] = field(default_factory=set)
    curable: set[tuple[str | None, str, str]] = field(default_factory=set)

    def fault(self, found: str, do: str, lines: Iterable[int], column: str | None = None, **answers: Any) -> None:
        """Note what was found in these lines, and what to do. What is alike becomes one fault.

        answers: values of options with which the lines can be used all the same.
        """
        self.faults.setdefault((column, found, do), []).extend(lines)
        if answers:
            self.curable.add((column, found, do))
            self.answers.update(answers)

    def ask(self, found: str, do: str, lines: Iterable[int], column: str | None, **answers: Any) -> None:
        """Note what is not clear; `do` names the options that decide it, `answers` has their most likely values."""
        self.fault(found, do, lines, column)
        self.unclear.add((column, found, do))
        self.answers.update(answers)

    def refuse(self, path: Path) -> None:
        """Raise TableError if there are faults: the first ten, by line, and how many more there are."""
        faults = sorted(self.faults.items(), key=lambda fault: min(fault[1]))
        if not faults:
            return
        bad = {line for key, lines in faults if key not in self.unclear for line in lines}
        if len(faults) == 1:
            (column, found, do), lines = faults[0]
            error = problem(path, found, do, lines, column)
        else:
            worded = [f"  {_place(lines, column)}: {found}; {do}" for (column, found, do), lines in faults[:_FAULTS]]
            if len(faults) > _FAULTS:
                worded.append(f"  and {len(faults) - _FAULTS} more")
            or_skip = f" ({flag('skip_bad_rows')} leaves bad rows out)" if bad else ""
            head = f"{path.name or path}: {len(faults)} things to correct{or_skip}:"
            error = TableError("\n".join([head, *worded]) + ".")
            error.places = [(line, column) for (column, _, _), lines in faults for line in lines]
        error.bad_lines = sorted(bad)
        skip = self.faults.keys() - self.unclear - self.curable
        raise error.suggesting(**self.answers, **({"skip_bad_rows": True} if skip else {}))


def name_lines(lines: Sequence[int]) -> str:
    """Line numbers in words: "line 7", "lines 7, 8 and 12", "lines 7, 8, 9, ... (40 in all)"; by file if several."""
    files: dict[str, list[str]] = {}
    for line in lines:
        files.setdefault(getattr(line, "file", ""), []).append(str(int(line)))
    return ", and ".join(_count_lines(texts) + (f" of {file}" if file else "") for file, texts in files.items())


def _count_lines(texts: list[str]) -> str:
    if len(texts) == 1:
        return f"line {texts[0]}"
    if len(texts) <= _LISTED:
        return f"lines {', '.join(texts[:-1])} and {texts[-1]}"
    return f"lines {', '.join(texts[:3])}, ... ({len(texts)} in all)"


def in_lines(error: LaminaError, lines: Sequence[int]) -> str:
    """The message of an error about rows of a record, with the lines of the table instead."""
    return error.worded(lambda rows: name_lines(sorted(lines[row] for row in rows)))


def quote(text: str) -> str:
    """Text of the table in double quotes: shortened, on one line, without control characters."""
    clean = "".join(c if c.isprintable() else " " for c in text.strip())
    return f'"{clean if len(clean) <= _SHOWN else clean[:_SHOWN] + "…"}"'


def listing(texts: Iterable[object]) -> str:
    """Texts of the table, or headers, in quotes, with commas, the first dozen of them."""
    quoted = [quote(text) if isinstance(text, str) else str(text) for text in texts]
    return ", ".join(quoted[:_LISTED]) + (f" and {len(quoted) - _LISTED} more" if len(quoted) > _LISTED else "")


def counted(number: int, thing: str) -> str:
    """A number of things: "1 cell", "2 cells"."""
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def option(name: str, value: str) -> str:
    """How to give an option, on the command line and in Python."""
    return f"{flag(name)} {value} ({name}= in Python)"


def set_by(name: str) -> str:
    """Why something was read as it was: the user has chosen it."""
    return f"set by {flag(name)}"


def flag(name: str) -> str:
    """The name of an option on the command line."""
    return f"--{name.replace('_', '-')}"
