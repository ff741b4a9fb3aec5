"""All that is unclear or wrong in a table at once, and the command that would work."""

import shlex
from dataclasses import dataclass, fields, replace
from os import PathLike
from pathlib import Path
from typing import Any

from ..messages import StandIn, TableError, TableReading, flag
from ..options import Options
from ..reading import read, read_ages, split

#: Questions after which there is no use in going on.
_MOST = 20
#: Answers that are no options of reading.
_COMMAND, _BY = "command", "by"


@dataclass(frozen=True, eq=False)
class Survey:
    """What `lamina check` reports.

    asked: what must be decided or corrected, one error each; () if the table can be read as it is.
    reading: the table read with the most likely answers; None if no answer makes it readable, or it is many records.
    command: the command that works with these answers; "" if none does.
    options: those that were given, with these answers.
    """

    asked: tuple[TableError, ...]
    reading: TableReading | None
    command: str
    options: Options

    @property
    def questions(self) -> tuple[str, ...]:
        """What must be decided or corrected, one message each."""
        return tuple(map(str, self.asked))


def survey(
    path: str | PathLike[str],
    options: Options | None = None,
    command: str = "fit",
    *,
    ages: str | PathLike[str] | None = None,
) -> Survey:
    """Read a table for a command as far as possible: after each question, continue with its most likely answer.

    ages: an ensemble of ages from another age model, as in ``read``. The command of the result does not name it.
    """
    state = _State(options or Options(), command, ages=ages)
    asked: list[TableError] = []
    while len(asked) < _MOST:
        try:
            reading = state.read(path)
        except TableError as error:
            if error.about in state.guessed:  # which the user has not given
                return Survey(tuple(asked), None, "", state.options)
            if set(error.answers) != {_COMMAND} and str(error) not in map(str, asked):
                asked.append(error)
            following = state.answered(error.answers)
            if following is None:
                return Survey(tuple(asked or [error]), None, "", state.options)
            state = following
        else:
            return Survey(tuple(asked), reading, state.worded(path), state.options)
    return Survey(tuple(asked), None, "", state.options)


@dataclass(frozen=True)
class _State:
    """The options so far, and the command: fit, agedepth, field (``options.places``), or batch by a column.

    guessed: the options that are the most likely answers to questions.
    """

    options: Options
    command: str = "fit"
    by: str = ""
    guessed: frozenset[str] = frozenset()
    ages: str | PathLike[str] | None = None

    def read(self, path: str | PathLike[str]) -> TableReading | None:
        assumed = {name: f"assumed here; set it with {flag(name)}" for name in self.guessed}
        if not self.by:
            if self.command == "agedepth":
                return read_ages(path, self.options, assumed=assumed)
            return read(path, self.options, assumed=assumed, ages=self.ages)
        parts = split(path, self.by, self.options, assumed=assumed)
        for part in parts.values():
            if isinstance(part, TableError):
                raise part
        return None if len(parts) > 1 else next(part for part in parts.values() if isinstance(part, TableReading))

    def answered(self, answers: Any) -> "_State | None":
        """The state with these answers; None if they change nothing."""
        own = {one.name for one in fields(Options)}
        changed = {
            name: value for name, value in answers.items() if name in own and _differs(self.options, name, value)
        }
        command, by = answers.get(_COMMAND, self.command), answers.get(_BY, self.by)
        if not changed and (command, by) == (self.command, self.by):
            return None
        return _State(replace(self.options, **changed), command, by, self.guessed | set(changed), self.ages)

    def worded(self, path: str | PathLike[str]) -> str:
        """The command line."""
        command = "batch" if self.by else "field" if self.options.places else self.command
        found = ["lamina", command, str(Path(path))]
        found += ["--by", self.by] if self.by else []
        for one in fields(Options):
            value = getattr(self.options, one.name)
            if value is None or value == one.default or one.name == "places":
                continue
            for single in value if isinstance(value, tuple) else (value,):
                found += [flag(one.name)] if single is True else [flag(one.name), _shown(single)]
        return shlex.join(found)


def _differs(options: Options, name: str, value: Any) -> bool:
    return bool(getattr(options, name) != value)


def _shown(value: Any) -> str:
    if isinstance(value, StandIn):
        return "NUMBER"
    return f"{value:g}" if isinstance(value, float) else str(value)
