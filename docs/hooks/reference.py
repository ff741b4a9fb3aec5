"""Generates the reference pages from the code: ``python docs/hooks/reference.py``.

It writes into the pages themselves, so that they can be read as files, without building the site:

    commands.md    options of ``lamina fit``, as in its ``--help``, from ``<!-- options: fit -->`` to ``<!-- end -->``
    api.md         signature and docstring of ``lamina.fit``, from ``<!-- api: fit -->`` to ``<!-- end -->``

A test fails when a page is out of date. When the site is built, this module adds the changelog from the root.
"""

from __future__ import annotations

import enum
import inspect
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, cast, get_args, get_origin, get_type_hints

import numpy as np
from mkdocs.structure.files import File
from numpy.typing import ArrayLike, NDArray
from typer.models import ArgumentInfo, OptionInfo

import lamina
from lamina.cli.options import READING

#: A generated part of a page: its kind, its name and what is between the marks.
PART = re.compile(r"^<!-- (options|api): ([\w. ]+) -->\n.*?^<!-- end -->$", flags=re.MULTILINE | re.DOTALL)
ROOT = Path(__file__).parents[2]
PAGES = (ROOT / "docs" / "commands.md", ROOT / "docs" / "api.md")
#: Types that Python spells out in full, and the names that people use for them.
ALIASES = (
    (ArrayLike | Mapping[str, float] | None, "ArrayLike | Mapping[str, float] | None"),
    (ArrayLike | None, "ArrayLike | None"),
    (ArrayLike, "ArrayLike"),
    (NDArray[np.float64], "NDArray[np.float64]"),
)
#: A signature longer than this has a line for each argument.
WIDE = 90


def on_files(files: Any, config: Any) -> Any:
    """Add the changelog, with its links as seen from the site."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").replace("](docs/", "](")
    files.append(File.generated(config, "changelog.md", content=text))
    return files


def regenerate(markdown: str) -> str:
    """A page with its generated parts as the code has them now."""

    own = {part[2].strip() for part in PART.finditer(markdown)}

    def fill(part: re.Match[str]) -> str:
        kind, name = part[1], part[2].strip()
        text = options(name.split()) if kind == "options" else described(name, own)
        return f"<!-- {kind}: {name} -->\n\n{text}\n\n<!-- end -->"

    return PART.sub(fill, markdown)


# --- commands ------------------------------------------------------------------------------------------------------


def command(names: list[str]) -> Callable[..., None]:
    """The function of a command, given its words, such as ["paper", "all"]."""
    from lamina.cli.root import app

    known: Any = app
    *groups, last = names
    for group in groups:
        known = {found.name: found.typer_instance for found in known.registered_groups}[group]
    functions = {found.name or found.callback.__name__: found.callback for found in known.registered_commands}
    return cast(Callable[..., None], functions[last])


def options(names: list[str]) -> str:
    """The usage line of a command, and a table for each group of its options."""
    found = command(names)
    parameters = inspect.signature(found).parameters
    panels: dict[str, list[tuple[str, str, str]]] = {}
    arguments = ""
    for name, annotated in get_type_hints(found, include_extras=True).items():
        if name == "return":
            continue
        kind, info = get_args(annotated)
        if isinstance(info, ArgumentInfo):
            arguments += f" {name.upper()}"
        else:
            panel = info.rich_help_panel if isinstance(info.rich_help_panel, str) else "Options"
            panels.setdefault(panel, []).append(option(name, kind, info, parameters[name].default))
    if READING in panels and names != ["check"]:
        _point_to_check(panels)
    usage = f"```text\nlamina {' '.join(names)}{arguments} [OPTIONS]\n```"
    return "\n\n".join([inspect.getdoc(found) or "", usage, *(table(*panel) for panel in panels.items())])


def _point_to_check(panels: dict[str, list[tuple[str, str, str]]]) -> None:
    """Replace the options for reading a table by a link to ``lamina check``, with the differences."""
    known = [
        option(name, *get_args(annotated), default=None)[0]
        for name, annotated in get_type_hints(command(["check"]), include_extras=True).items()
        if name not in ("return", "table")
    ]
    here = panels.pop(READING)
    own = [row for row in here if row[0] not in known]
    without = [name for name in known if name not in [row[0] for row in here]]
    but = f", without {', '.join(without)}" if without else ""
    panels["Output"].append(("", f"How to read the table: the options of [`lamina check`](#lamina-check){but}.", ""))
    if own:
        panels[READING] = own


def table(title: str, rows: list[tuple[str, str, str]]) -> str:
    """A group of options as a table. The column of defaults is left out if it is empty."""
    width = 3 if any(row[2] for row in rows) else 2
    head = [(title, "", "default"), ("---", "---", "---")]
    return "\n".join(f"| {' | '.join(row[:width])} |" for row in [*head, *rows])


def option(name: str, kind: Any, info: OptionInfo, default: Any) -> tuple[str, str, str]:
    """Name, description and default of one option."""
    # In Annotated[...], Typer keeps the first name in the place of a default.
    named = [word for word in (info.default, *(info.param_decls or ())) if isinstance(word, str)]
    words = "`, `".join(named or [f"--{name.replace('_', '-')}"])
    parts = [info.help or ""]
    for one in (kind, *get_args(kind)):
        choices = [member.value for member in one] if isinstance(one, enum.EnumType) else []
        choices += get_args(one) if get_origin(one) is Literal else ()
        parts += ["One of " + ", ".join(f"`{choice}`" for choice in choices) + "."] if choices else []
    value = default.value if isinstance(default, enum.Enum) else default
    shown = "" if value is None or value is False or value == "" else f"`{value}`"
    return f"`{words}`", " ".join(part for part in parts if part), shown


# --- Python --------------------------------------------------------------------------------------------------------


def described(name: str, own: Collection[str] = ()) -> str:
    """A public name: heading, signature, docstring, members, except those that have their ``own`` place on the page."""
    found: Any = lamina
    for part in name.split("."):
        found = getattr(found, part)
    heading = f"### {anchor(f'lamina.{name}')}`lamina.{name}`"
    if isinstance(found, ModuleType):
        members = [one for one in contents(found) if f"{name}.{one[0]}" not in own]
        return "\n\n".join([heading, prose(found), *(member(f"lamina.{name}", *one) for one in members)])
    if isinstance(found, type) and issubclass(found, Exception):
        base = found.__mro__[1].__name__
        return "\n\n".join([heading, prose(found), "" if found.__mro__[1] is Exception else f"A `{base}`."])
    parts = [heading, signature(f"lamina.{name}", found), prose(found)]
    if isinstance(found, type) and not issubclass(found, lamina.kernels.Kernel):
        parts += [member(f"lamina.{name}", *one) for one in contents(found)]
    return "\n\n".join(parts)


def anchor(name: str) -> str:
    """A target for links that works on the site and on GitHub."""
    return f'<a id="{name}"></a>'


def contents(owner: Any) -> Iterator[tuple[str, Any]]:
    """The public members of a module or a class, in the order of __all__ or of the source."""
    listed = getattr(owner, "__all__", None)
    members = vars(owner) if listed is None else {name: getattr(owner, name) for name in listed}
    for name, value in members.items():
        plain = getattr(value, "py_func", value)  # of a compiled function
        if listed is not None:
            wanted = getattr(plain, "__name__", name) == name or plain.__name__ not in listed  # no second name
        elif isinstance(owner, ModuleType):
            wanted = not name.startswith("_") and getattr(plain, "__module__", "") == owner.__name__
        else:
            kinds = (property, cached_property, staticmethod, classmethod)
            wanted = not name.startswith("_") and (inspect.isfunction(plain) or isinstance(plain, kinds))
        documented_elsewhere = getattr(lamina, name, None) is plain
        if wanted and not documented_elsewhere and not isinstance(plain, ModuleType):
            yield name, plain


def member(owner: str, name: str, value: Any) -> str:
    """A function of a module, or a method or property of a class."""
    heading = f"#### {anchor(f'{owner}.{name}')}`{name}`"
    if isinstance(value, property | cached_property):
        return "\n\n".join([heading, prose(value)])
    if isinstance(value, staticmethod | classmethod):
        value = value.__func__
    within = "" if owner.split(".")[-1][0].isupper() else f"{owner}."
    if not callable(value):  # a constant, which has no docstring of its own
        text = repr(value).replace("'", '"')  # as ruff formats it
        return f"{heading}\n\n```py\n{within}{name} = {text}\n```"
    return "\n\n".join([heading, signature(within + name, value), prose(value)])


def signature(name: str, value: Callable[..., Any]) -> str:
    """The call in Python. A long one has one argument per line."""
    found = inspect.signature(value)
    given = [parameter for parameter in found.parameters.values() if parameter.name != "self"]
    texts: list[str] = []
    for parameter in given:
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY and "*" not in texts:
            texts.append("*")
        texts.append(_argument(parameter))
    back = "" if isinstance(value, type) or found.return_annotation in (inspect.Signature.empty, "None", None) else (
        f" -> {_annotation(found.return_annotation)}"
    )  # fmt: skip
    line = f"{name}({', '.join(texts)}){back}"
    if len(line) > WIDE:
        line = "\n".join([f"{name}(", *(f"    {text}," for text in texts), f"){back}"])
    return f"```py\n{line}\n```"


def _argument(parameter: inspect.Parameter) -> str:
    text = str(parameter).partition(":")[0].partition("=")[0].strip()  # with its stars
    if parameter.annotation is not inspect.Parameter.empty:
        text += f": {_annotation(parameter.annotation)}"
    if parameter.default is not inspect.Parameter.empty:
        text += f" = {parameter.default!r}"
    return text


def _annotation(given: Any) -> str:
    given = getattr(given, "__forward_arg__", given)  # of a field of a named tuple
    text = str(given) if isinstance(given, str) else str(inspect.formatannotation(given))
    for known, name in ALIASES:
        text = text.replace(str(inspect.formatannotation(known)), name)
    return re.sub(r"\b(?:lamina|collections|typing|os|pathlib)(?:\.\w+)*\.(\w+)", r"\1", text)


def prose(value: Any) -> str:
    """A docstring as Markdown."""
    paragraphs = (inspect.getdoc(value) or "").split("\n\n")
    return "\n\n".join(_paragraph(paragraph) for paragraph in paragraphs)


def _paragraph(text: str) -> str:
    """One paragraph: an example, a display, a list of arguments (with or without a title), or text."""
    lines = text.splitlines()
    if not lines:
        return ""
    if lines[0].startswith(">>>"):
        return "```pycon\n" + text.replace("  # doctest: +SKIP", "") + "\n```"
    if set(lines[0]) == {"=", " "}:
        lines = [line for line in lines if "=" not in line[:2]]
        return "```text\n" + "\n".join(lines) + "\n```"
    if all(re.match(r"\S+ {2,}\S", line) for line in lines) or lines[0].startswith("    "):
        return "```text\n" + inspect.cleandoc(text) + "\n```"
    if len(lines) > 1 and set(lines[1]) == {"-"}:
        return f"**{lines[0]}**\n\n" + _arguments(lines[2:])
    if re.match(r"[a-z_]\w*(, [a-z_]\w*)*: ", lines[0]):
        return _arguments(lines)
    return _escaped(text)


def _arguments(lines: list[str]) -> str:
    """Lines "name: description" as a list. Indented lines continue the one before."""
    items: list[str] = []
    for line in lines:
        name, colon, rest = line.partition(": ")
        if colon and re.fullmatch(r"[A-Za-z_]\w*(, \w+)*", name):
            items.append(f"- `{name}`: {_escaped(rest.strip())}")
        elif items:
            items[-1] += " " + _escaped(line.strip())
        else:
            items.append(_escaped(line))
    return "\n".join(items)


def _escaped(text: str) -> str:
    """Text in which stars and brackets outside of code are literal."""
    pieces = re.split(r"(``.+?``|`[^`]+`)", text)
    return "".join(piece if piece.startswith("`") else re.sub(r"([*<>\[\]])", r"\\\1", piece) for piece in pieces)


if __name__ == "__main__":
    for page in PAGES:
        page.write_text(regenerate(page.read_text(encoding="utf-8")), encoding="utf-8")
