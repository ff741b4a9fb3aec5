"""All commands, and how errors end them."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from ..errors import LaminaError
from . import options as given
from . import paper
from .agedepth import agedepth
from .app import app as in_browser
from .batch import batch
from .check import check
from .compare import compare
from .fit import demo, field, fit
from .terminal import complain, exit_code, show_version


class Commands(TyperGroup):
    """Ends with one message and no traceback if lamina raises an error on purpose or the user interrupts."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except LaminaError as error:
            complain(str(error))
            ctx.exit(given.BAD_INPUT)
        except typer.BadParameter as error:
            error.message = error.message.removeprefix("Value error, ")  # words of Typer's own machinery
            raise
        except KeyboardInterrupt as interrupt:
            complain(str(interrupt) if interrupt.args else "interrupted. No further files were written.")
            ctx.exit(exit_code())
        except MemoryError as error:
            complain(
                f"not enough memory{f' ({error})' if str(error) else ''}. Complete files are kept. Close other "
                "programs, or ask for less: fewer --draws, --workers or times."
            )
            ctx.exit(given.NO_MEMORY)


app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Gaussian-process regression on measurements whose times are uncertain but whose order is known.",
)
for command in fit, check, agedepth, field, compare, batch, demo:
    app.command()(command)
app.command("app")(in_browser)
app.add_typer(paper.app, name="paper")


def _version(wanted: bool) -> None:
    if wanted:
        show_version()
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """What every command knows."""
