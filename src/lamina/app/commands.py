"""What the user chose on a page as the arguments of a command, and back."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from ..errors import LaminaError

Kind = Literal["flag", "choice", "text", "number", "list", "pair", "file"]
#: Options that the app sets itself.
OWN = ("out", "force", "resume", "quiet", "as_json")


class CommandError(LaminaError):
    """What was chosen is no command that the app runs."""


@dataclass(frozen=True)
class Option:
    """An option of a command: its names, what it takes, its help and its default."""

    name: str
    flags: tuple[str, ...]
    kind: Kind
    help: str
    panel: str = ""
    choices: tuple[str, ...] = ()
    default: Any = None
    metavar: str = ""

    @property
    def flag(self) -> str:
        """The name that ``lamina check`` suggests."""
        return next((one for one in self.flags if one == f"--{self.name.replace('_', '-')}"), self.flags[0])


@dataclass(frozen=True)
class Command:
    """A command that the app can run: its name, what it does, its options, and the ending of its folder."""

    name: str
    help: str
    options: tuple[Option, ...]
    ending: str
    reading: tuple[str, ...]  #: the names of the options that are about the table

    def option(self, name: str) -> Option:
        """An option by name. Raises CommandError if the command does not have it."""
        for one in self.options:
            if one.name == name and name not in OWN:
                return one
        raise CommandError(f"lamina {self.name} has no option {name!r}.")

    def chosen(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """The values that differ from the defaults, each as text, True, or a list of texts. Raises CommandError."""
        found = {}
        for name, value in values.items():
            option = self.option(name)
            clean = _clean(option, value)
            if clean not in (None, "", [], False) and clean != str(option.default):
                found[name] = clean
        return found

    def arguments(self, table: str, values: Mapping[str, Any]) -> list[str]:
        """The arguments of ``lamina`` that say the same: the command, the table and the options."""
        words = [self.name, f"./{table}" if table.startswith("-") else table]
        for name, value in self.chosen(values).items():
            option = self.option(name)
            if value is True:
                words.append(option.flag)
            elif option.kind == "pair":
                words += [option.flag, *value]
            else:
                for one in [value] if isinstance(value, str) else value:
                    words += [f"{option.flag}={one}"] if one.startswith("-") else [option.flag, one]
        return words

    def parse(self, words: Sequence[str]) -> tuple[str, dict[str, Any]]:
        """The table and the options of arguments, without those that the app sets itself. Raises CommandError."""
        flags = {flag: one for one in self.options for flag in one.flags}
        table, found, ahead = "", dict[str, Any](), list(words)
        while ahead:
            word, _, joined = ahead.pop(0).partition("=")
            option = flags.get(word)
            if option is None:
                if word.startswith("-") or table:
                    raise CommandError(f"The app does not know {word!r} of this run's command.")
                table = word + (f"={joined}" if joined else "")
                continue
            if option.kind == "flag":
                value: Any = True
            else:
                count = 2 if option.kind == "pair" else 1
                taken = [joined] if joined else [ahead.pop(0) for _ in range(min(count, len(ahead)))]
                before = found.get(option.name, []) if option.kind == "list" else []
                value = [*before, *taken] if option.kind in ("list", "pair") else "".join(taken)
            if option.name not in OWN:
                found[option.name] = value
        return table, found


def _clean(option: Option, value: Any) -> Any:
    """A value of a form as text, True or a list of texts. Raises CommandError for anything else."""
    if option.kind == "flag":
        return value is True
    if option.kind in ("list", "pair"):
        parts = value.split() if isinstance(value, str) else value
        if not isinstance(parts, list) or not all(isinstance(one, str | int | float) for one in parts):
            raise CommandError(f"{option.flag} takes a list.")
        texts = [str(one).strip() for one in parts if str(one).strip()]
        if option.kind == "pair" and len(texts) not in (0, 2):
            raise CommandError(f"{option.flag} takes two values, not {len(texts)}. Put a blank between them.")
        return texts
    if isinstance(value, bool) or not isinstance(value, str | int | float | None):
        raise CommandError(f"{option.flag} takes a text.")
    text = "" if value is None else str(value).strip()
    if option.kind == "file" and text != Path(text).name:
        raise CommandError(f"{option.flag}: choose one of the tables in the folder, not {text!r}.")
    if option.kind == "choice" and text:
        found = [one for one in option.choices if one.casefold() == text.casefold()]  # the command ignores case as well
        if not found:
            raise CommandError(f"{option.flag} takes one of {', '.join(option.choices)}, not {text!r}.")
        return found[0]
    return text


def worded(words: Sequence[str]) -> str:
    """Arguments as one types them."""
    return shlex.join(["lamina", *words])


def of_run(run: Mapping[str, Any], commands: Mapping[str, Command]) -> tuple[Command, str, dict[str, Any]]:
    """Command, table and options of a run, from its run.json. Raises CommandError if the app does not run such."""
    try:
        words = shlex.split(str(run.get("command", "")))
    except ValueError:
        words = []
    if len(words) < 3 or words[0] != "lamina" or words[1] not in commands:
        raise CommandError("The app can repeat runs of lamina fit, agedepth and field; this was another command.")
    table, values = commands[words[1]].parse(words[2:])
    return commands[words[1]], Path(table).name, values
