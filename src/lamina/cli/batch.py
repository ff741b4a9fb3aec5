"""``lamina batch``: many files, or one table split by a column, through ``fit``."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import LaminaError, MethodError
from . import options as given
from .progress import bar

if TYPE_CHECKING:
    from ..tables import Options, Understanding

Tables = Annotated[list[Path], typer.Argument(help="Tables: CSV, TSV or .xlsx.", show_default=False)]
By = Annotated[str | None, typer.Option("--by", help="Split one table by this column.", rich_help_panel=given.READING)]
Out = Annotated[Path, typer.Option("--out", help="Folder for the results.", rich_help_panel=given.OUTPUT)]
Workers = Annotated[
    int | None,
    typer.Option("--workers", parser=given.whole(1), metavar="NUMBER", help="Processes; one for each core by default."),
]
Dask = Annotated[str | None, typer.Option("--dask", help="Address of a Dask scheduler, tcp://host:port.")]
Figures = Annotated[bool, typer.Option("--figures", help="Write figures as files too.", rich_help_panel=given.OUTPUT)]
Resume = Annotated[bool, typer.Option("--resume", help="Skip records that are finished.", rich_help_panel=given.OUTPUT)]


@given.bundled(reading=given.READ, fitting=given.FIT, using=given.WITH)
def batch(
    tables: Tables,
    fitting: dict[str, Any],
    using: dict[str, Any],
    reading: dict[str, Any],
    out: Out = Path("lamina-batch"),
    by: By = None,
    at: given.At = None,
    interval: given.Interval = None,
    workers: Workers = None,
    dask: Dask = None,
    figures: Figures = False,
    resume: Resume = False,
    force: given.Force = False,
    quiet: given.Quiet = False,
) -> None:
    """Fit many records: files, or the parts of one table. One folder each, summary.csv and index.html for all."""
    from ..batches.batch import SUMMARY, safe_names
    from ..batches.batch import batch as fit_all
    from ..output.folder import RUN
    from ..support.files import WriteError, check_empty, those_there
    from ..support.numbers import count
    from ..tables import Options
    from .arguments import check_method_takes, intervals, times
    from .arguments import kernel as by_name

    if dask is not None and workers is not None:
        raise MethodError("--workers is for this machine, --dask for a cluster: give one of them.")
    options, seed = Options(**reading), fitting["seed"]
    check_method_takes(using)
    model = given.settings(using, fitting) | {"kernel": by_name(fitting["kernel"])}
    moments, spans = times(at), intervals(interval)
    records = _records(tables, by, options)
    if not force:
        begun = those_there(out, [SUMMARY, *(f"{folder}/{RUN}" for folder in safe_names(records).values())])
        if begun and not resume:
            raise WriteError(
                f"the folder {out} holds a batch already. Choose another, go on with --resume, or --force."
            )
        if not begun:
            check_empty(out)
    try:
        with bar("records", quiet) as progress:
            summary = fit_all(
                records, out, seed=seed, workers=workers, dask=dask, resume=resume, figures=figures, at=moments,
                intervals=spans, progress=progress, command=shlex.join(["lamina", *sys.argv[1:]]), **model,
            )  # fmt: skip
    except KeyboardInterrupt:
        typer.echo("lamina: interrupted. Records that are finished stay; go on with --resume.", err=True)
        raise typer.Exit(given.INTERRUPTED) from None
    for row in summary[summary["state"] != "converged"].to_dict("records"):
        typer.echo(f"lamina: {row['name']}: {row['state']}{': ' if row['error'] else ''}{row['error']}", err=True)
    if not quiet:
        told = ", ".join(f"{n} {state}" for state, n in summary["state"].value_counts().items())
        typer.echo(f"{count(len(summary), 'record')}: {told}\nIndex: {out / 'index.html'}")
    if (summary["state"] != "converged").any():
        raise typer.Exit(given.NOT_CONVERGED)  # some failed or have not converged; what could be is written


def _records(tables: list[Path], by: str | None, options: Options) -> dict[str, Understanding | LaminaError]:
    """What was understood of each record, or why it cannot be used."""
    from ..tables import TableError, read, split

    if by is not None:
        if len(tables) != 1:
            raise MethodError("--by splits one table: give one.")
        return dict(split(tables[0], by, options))
    found: dict[str, Any] = {}
    for path in tables:
        name = path.stem
        if name in found:
            other = next(one for one in tables if one.stem == name)
            raise MethodError(f"two tables would share the folder {name}: {other} and {path}. Rename one of them.")
        try:
            found[name] = read(path, options)
        except TableError as error:
            found[name] = error
    return found
