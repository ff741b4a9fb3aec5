"""``lamina app``: lamina in the browser, on this machine."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, Literal, Union, get_args, get_origin

import typer
from typer.models import OptionInfo

from . import options as given
from .agedepth import agedepth
from .fit import field, fit
from .terminal import show

if TYPE_CHECKING:
    from ..app.commands import Command, Kind

#: The commands that the app runs, and the ending of the folder of each.
COMMANDS = {"fit": (fit, "lamina"), "agedepth": (agedepth, "ages"), "field": (field, "field")}


def app(
    folder: Annotated[Path, typer.Option(help="Folder for tables and runs, as if lamina were run in it.")] = Path(),
    port: Annotated[int, typer.Option(help="Port; by default one that is free.", min=0, max=65535)] = 0,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the browser.")] = True,
) -> None:
    """Use lamina in the browser: drop a table, see how it is read, fit it, explore. Nothing leaves this machine."""
    try:
        from ..app.serving import serve
    except ModuleNotFoundError as error:
        if error.name not in ("starlette", "uvicorn"):
            raise
        from ..errors import LaminaError

        raise LaminaError("lamina app needs more packages: pip install '.[app]' in the folder of lamina") from None

    def announce(address: str, first: bool) -> None:
        if first:
            end = "Ctrl-C ends it, and all runs that it has begun."
            show(f"lamina is at {address}\nOnly this machine can open it, and the address works once. {end}")
        else:
            show(f"For another browser: {address}")

    serve(folder, described(), port, browser, announce)


def described() -> dict[str, Command]:
    """The commands that the app runs, with all their options."""
    from ..app.commands import Command

    found = {}
    for name, (command, ending) in COMMANDS.items():
        options = [option for option in map(_described, inspect.signature(command).parameters.values()) if option]
        reading = tuple(one.name for one in options if one.name in given.READ)
        found[name] = Command(name, inspect.getdoc(command) or "", tuple(options), ending, reading)
    return found


def _described(parameter: inspect.Parameter) -> Any:
    """An option as the app knows it; None for an argument."""
    from ..app.commands import Option

    kind, info = get_args(parameter.annotation)
    if not isinstance(info, OptionInfo):
        return None
    return Option(
        name=parameter.name,
        flags=(*([info.default] if isinstance(info.default, str) else []), *(info.param_decls or ())),
        kind="file" if info.metavar == "FILE" else _kind(kind),
        help=info.help or "",
        panel=str(info.rich_help_panel or ""),
        choices=_choices(kind),
        default=parameter.default,
        metavar=str(info.metavar or ""),
    )


def _kind(annotation: Any) -> Kind:
    parts = get_args(annotation) if get_origin(annotation) in (Union, UnionType) else (annotation,)
    kind = next(part for part in parts if part is not type(None))
    if kind is bool:
        return "flag"
    if get_origin(kind) is Literal:
        return "choice"
    if get_origin(kind) is list:
        return "list"
    if get_origin(kind) is tuple:
        return "pair"
    return "file" if kind is Path else "number" if kind in (int, float) else "text"


def _choices(annotation: Any) -> tuple[str, ...]:
    parts: Callable[[Any], tuple[Any, ...]] = get_args
    for part in (annotation, *parts(annotation)):
        if get_origin(part) is Literal:
            return tuple(str(one) for one in get_args(part))
    return ()
