"""``lamina compare``: one table through several methods."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import MethodError
from . import options as given
from .progress import bar

if TYPE_CHECKING:
    import pandas as pd

    from ..fitting import Fit
    from ..posterior.posterior import Posterior

Out = Annotated[
    Path | None, typer.Option("--out", help="Folder; by default named after the table.", rich_help_panel=given.OUTPUT)
]
Methods = Annotated[str, typer.Option("--methods", help="Separated by commas.", rich_help_panel=given.MODEL)]


@given.bundled(
    reading=given.READ,
    fitting={name: one for name, one in given.FIT.items() if name not in ("outliers", "memory")},  # only mcmc has them
)
def compare(
    table: given.Table,
    fitting: dict[str, Any],
    reading: dict[str, Any],
    methods: Methods = "gp,nigp,npv,mcmc",
    out: Out = None,
    at: given.At = None,
    force: given.Force = False,
    quiet: given.Quiet = False,
) -> None:
    """The same table through several methods: one figure, and how far apart their curves are."""
    from ..fitting import prepare
    from ..output.glossary import listed
    from ..plots import compare as draw
    from ..posterior.comparison import differences, explained
    from ..posterior.times import default_times
    from ..records.glossary import with_unit
    from ..support.files import WriteError, check_empty, check_writable, make_folder, replacing, those_there, write_text
    from ..tables import Options, read
    from .arguments import kernel as by_name
    from .arguments import times

    names, asked, options = _checked(methods), times(at), Options(**reading)
    model = fitting | {"kernel": by_name(fitting["kernel"])}
    understanding = read(table, options)
    folder = out or Path(f"{table.stem}-compared")
    with understanding.naming_lines():
        ready = {name: prepare(understanding.record, name, **model) for name in names}
    there = those_there(folder, ("compare.csv", "curves.csv", "compare.png", "columns.txt"))
    if there and not force:
        raise WriteError(f"the folder {folder} holds {there[0]} already. Choose another, or overwrite with --force.")
    if not force:
        check_empty(folder)
    check_writable(folder)
    if not quiet:
        typer.echo(understanding.describe() + "\n")
    posteriors, unfinished = _fitted(ready, quiet)
    if len(posteriors) < 2:
        _leave_nothing()
    grid = default_times(next(reversed(posteriors.values()))) if asked is None else asked
    curves = {name: posterior.curve(grid) for name, posterior in posteriors.items()}
    converged = {name: _converged(posterior) for name, posterior in posteriors.items()}
    found = differences(curves, converged)
    record = understanding.record
    columns = listed(explained(record.y_unit))
    make_folder(folder)
    write_text(folder / "compare.csv", found.to_csv(index=False, float_format="%.6g"))
    write_text(folder / "curves.csv", _stacked(curves).to_csv(index=False, float_format="%.10g"))
    told = {
        "at": with_unit("time", record.t_unit),
        "mean, sd": with_unit("mean and standard deviation (1 sigma) of the curve", record.y_unit),
        "q2.5": with_unit("its quantiles, in percent", record.y_unit),
        "q97.5": "",
        "method": "the method that gave the curve",
    }
    write_text(folder / "columns.txt", f"compare.csv\n{columns}\n\ncurves.csv\n{listed(told)}\n")
    with replacing(folder / "compare.png") as partial:
        draw(posteriors, curves).savefig(partial, dpi=160)
    if not quiet:
        typer.echo(found.to_string(index=False, float_format=lambda value: f"{value:.4g}"))
        typer.echo(f"\n{columns}\n\nFigure and tables are in {folder}.")
    _leave(converged, unfinished)


def _converged(posterior: Posterior) -> str:
    facts = posterior.draws.diagnostics
    return "interrupted" if facts["interrupted"] else "yes" if facts["converged"] else "no"


def _leave(converged: dict[str, str], unfinished: list[str]) -> None:
    """End with what must be said of the methods, and the exit code that belongs to it."""
    for name, said in converged.items():
        if said != "yes":
            typer.echo(f"lamina: {name} {'has NOT converged' if said == 'no' else 'was INTERRUPTED'}.", err=True)
    if unfinished:
        typer.echo(f"lamina: interrupted; left out: {', '.join(unfinished)}.", err=True)
    if unfinished or "interrupted" in converged.values():
        raise typer.Exit(given.INTERRUPTED)
    if "no" in converged.values():
        raise typer.Exit(given.NOT_CONVERGED)


def _leave_nothing() -> None:
    typer.echo("lamina: interrupted before there were two curves to compare. Nothing is written.", err=True)
    raise typer.Exit(given.INTERRUPTED)


def _checked(methods: str) -> list[str]:
    names = [name.strip() for name in methods.split(",") if name.strip()]
    known = [str(method) for method in given.Method]
    wrong = [name for name in names if name not in known]
    if wrong:
        raise MethodError(f"--methods: there is no method {wrong[0]!r}; there are {', '.join(known)}.")
    if len(set(names)) < 2:
        raise MethodError(f"--methods: give at least two different methods of {', '.join(known)}, separated by commas.")
    return list(dict.fromkeys(names))


def _fitted(ready: dict[str, Fit], quiet: bool) -> tuple[dict[str, Posterior], list[str]]:
    """The record through each method in turn; and those that are missing, because the user interrupted."""
    from ..fitting import NotConverged

    posteriors: dict[str, Posterior] = {}
    names = list(ready)
    with bar("methods", quiet) as progress, warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConverged)
        for k, name in enumerate(names):
            if progress is not None:
                progress(k, len(names))
            try:
                posterior = ready[name].run()
            except KeyboardInterrupt:
                return posteriors, names[k:]
            interrupted = posterior.draws.diagnostics["interrupted"]
            if (
                interrupted and ready[name].method.chains and posterior.checkpoint is None
            ):  # in warm-up: there is nothing to keep
                return posteriors, names[k:]
            posteriors[name] = posterior
            if interrupted:
                return posteriors, names[k + 1 :]
    return posteriors, []


def _stacked(curves: dict[str, pd.DataFrame]) -> pd.DataFrame:
    import pandas as pd

    return pd.concat([curve.assign(method=name) for name, curve in curves.items()])
