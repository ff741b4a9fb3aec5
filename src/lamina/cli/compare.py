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

    from ..posterior import Posterior

Out = Annotated[
    Path | None, typer.Option("--out", help="Folder; by default named after the table.", rich_help_panel=given.OUTPUT)
]
Methods = Annotated[str, typer.Option("--methods", help="Separated by commas.", rich_help_panel=given.MODEL)]


@given.bundled(reading=given.READ, fitting=given.FIT)
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
    from ..comparison import differences, explained
    from ..dictionary import listed, with_unit
    from ..files import WriteError, check_empty, make_folder, replacing, write_text
    from ..grid import default_times
    from ..plots import compare as draw
    from ..tables import Options, read
    from .arguments import kernel as by_name
    from .arguments import times

    names, asked, options = _checked(methods), times(at), Options(**reading)
    model = fitting | {"kernel": by_name(fitting["kernel"])}
    understanding = read(table, options)
    folder = out or Path(f"{table.stem}-compared")
    there = [name for name in ("compare.csv", "curves.csv", "compare.png", "columns.txt") if (folder / name).exists()]
    if there and not force:
        raise WriteError(f"the folder {folder} holds {there[0]} already. Choose another, or overwrite with --force.")
    if not force:
        check_empty(folder)
    make_folder(folder)
    if not quiet:
        typer.echo(understanding.describe() + "\n")
    posteriors = _fitted(understanding.record, names, model, quiet)
    grid = default_times(posteriors[names[-1]]) if asked is None else asked
    curves = {name: posterior.curve(grid) for name, posterior in posteriors.items()}
    converged = {name: bool(posterior.draws.diagnostics["converged"]) for name, posterior in posteriors.items()}
    found = differences(curves, converged)
    record = understanding.record
    columns = listed(explained(record.y_unit))
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
        typer.echo(f"\n{columns}")
        for name in names:
            if not converged[name]:
                typer.echo(f"{name} has NOT converged.")
        typer.echo(f"\nFigure and tables are in {folder}.")


def _checked(methods: str) -> list[str]:
    names = [name.strip() for name in methods.split(",") if name.strip()]
    known = [str(method) for method in given.Method]
    wrong = [name for name in names if name not in known]
    if wrong:
        raise MethodError(f"--methods: there is no method {wrong[0]!r}; there are {', '.join(known)}.")
    if len(set(names)) < 2:
        raise MethodError(f"--methods: give at least two different methods of {', '.join(known)}, separated by commas.")
    return list(dict.fromkeys(names))


def _fitted(record: Any, names: list[str], model: dict[str, Any], quiet: bool) -> dict[str, Posterior]:
    from ..fitting import NotConverged, fit

    posteriors = {}
    with bar("methods", quiet) as progress, warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConverged)
        for k, name in enumerate(names):
            if progress is not None:
                progress(k, len(names))
            posteriors[name] = fit(record, method=name, **model)  # type: ignore[arg-type]
    return posteriors


def _stacked(curves: dict[str, pd.DataFrame]) -> pd.DataFrame:
    import pandas as pd

    return pd.concat([curve.assign(method=name) for name, curve in curves.items()])
