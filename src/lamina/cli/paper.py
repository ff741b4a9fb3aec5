"""``lamina paper``: the experiments of Tran, Pavlovic & Kopp (2015), their figures and tables as files."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import MethodError
from ..support.files import make_folder, replacing, write_text
from .options import whole
from .progress import bar

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from ..paper.claims import Claim

app = typer.Typer(no_args_is_help=True, help="Reproduce the paper: every figure and table, beside what it claims.")

Out = Annotated[Path, typer.Option("--out", help="Folder for figures and tables; made if need be.")]
Seed = Annotated[
    int, typer.Option("--seed", parser=whole(0), metavar="NUMBER", help="The same seed gives the same numbers.")
]
Quick = Annotated[bool, typer.Option("--quick", help="A small version: one repetition, few settings.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Print nothing but errors.")]
Cores = Annotated[
    int | None, typer.Option("--cores", parser=whole(1), metavar="NUMBER", help="Cores to use; all by default.")
]

#: What --quick does less of.
QUICK_SYNTHETIC: dict[str, Any] = {"t_sd": (0.5, 2.0), "repetitions": 1}
QUICK_TIMING: dict[str, Any] = {"sizes": (25, 50, 100), "repetitions": 1}


@app.command()
def synthetic(
    out: Out = Path("paper"),
    functions: Annotated[str, typer.Option(help="Numbers 1 to 5 of the functions, separated by commas.")] = "",
    methods: Annotated[str, typer.Option(help="Methods, separated by semicolons.")] = "",
    repetitions: Annotated[int, typer.Option(parser=whole(1), metavar="NUMBER", help="Records for each setting.")] = 5,
    seed: Seed = 0,
    cores: Cores = None,
    quick: Quick = False,
    quiet: Quiet = False,
) -> None:
    """Five functions with noisy inputs: Figure 1, the supplement's figures, and every number as CSV."""
    options: dict[str, Any] = {"repetitions": repetitions, "seed": seed, "cores": cores}
    options |= _chosen(functions, methods) | (QUICK_SYNTHETIC if quick else {})
    folder = make_folder(out)
    _done(_synthetic(folder, options, quiet), folder, quiet)


@app.command()
def timing(out: Out = Path("paper"), seed: Seed = 0, quick: Quick = False, quiet: Quiet = False) -> None:
    """Training times: the paper's, ours, and the paper's algorithms at growing N."""
    folder = make_folder(out)
    _done(_timing(folder, {"seed": seed} | (QUICK_TIMING if quick else {}), quiet), folder, quiet)


@app.command()
def sealevel(out: Out = Path("paper"), seed: Seed = 0, quiet: Quiet = False) -> None:
    """Nassau Landing: Figure 2, Table 1, the corrected ages and the rate of rise."""
    folder = make_folder(out)
    _done(_sealevel(folder, {"seed": seed}, quiet), folder, quiet)


@app.command(name="all")
def everything(
    out: Out = Path("paper"), seed: Seed = 0, cores: Cores = None, quick: Quick = False, quiet: Quiet = False
) -> None:
    """All three, and a table of the paper's claims. An interrupted run goes on where it was."""
    folder = make_folder(out)
    sea = _sealevel(folder, {"seed": seed}, quiet)
    times = _timing(folder, {"seed": seed} | (QUICK_TIMING if quick else {}), quiet)
    options = {"seed": seed, "cores": cores} | (QUICK_SYNTHETIC if quick else {})
    claims = [*_synthetic(folder, options, quiet), *times, *sea]
    _table(_frame(claims), folder / "claims.csv")
    _done(claims, folder, quiet)


def _chosen(functions: str, methods: str) -> dict[str, Any]:
    from ..paper.functions import FUNCTIONS, METHODS

    chosen: dict[str, Any] = {}
    if functions:
        names = list(FUNCTIONS)
        numbers = [part.strip() for part in functions.split(",")]
        wrong = [number for number in numbers if number not in {str(k + 1) for k in range(len(names))}]
        if wrong:
            known = "; ".join(f"{k + 1} = {name}" for k, name in enumerate(names))
            raise MethodError(f"--functions: there is no function {wrong[0]!r}; there are: {known}.")
        chosen["functions"] = tuple(names[int(number) - 1] for number in numbers)
    if methods:
        chosen["methods"] = tuple(part.strip() for part in methods.split(";"))
        unknown = [name for name in chosen["methods"] if name not in METHODS]
        if unknown:
            known = "; ".join(METHODS)
            raise MethodError(f"--methods: there is no method {unknown[0]!r} in this experiment; there are: {known}.")
    return chosen


def _store(folder: Path, name: str) -> Path:
    """Where results are kept as they come; another version of lamina begins anew."""
    return folder / f".{name}-{version('lamina')}.jsonl"


def _synthetic(folder: Path, options: dict[str, Any], quiet: bool) -> list[Claim]:
    from ..paper import synthetic as run
    from ..paper.claims import of_synthetic
    from ..paper.figures import figure1
    from ..paper.functions import FUNCTIONS, METHODS, averages, by_function

    with bar("five functions", quiet) as progress:
        results = run(store=_store(folder, "synthetic"), progress=progress, **options)
    _table(results, folder / "synthetic.csv")
    _table(averages(results).reset_index(), folder / "synthetic_averages.csv")
    _table(by_function(results).reset_index(), folder / "synthetic_by_function.csv")
    for y_sd in results["y_sd"].unique():
        name = "figure1" if y_sd < 0.5 else "supplement"
        _figure(figure1(results, y_sd), folder / f"{name}.png")
    complete = set(METHODS) <= set(results["method"]) and set(FUNCTIONS) <= set(results["function"])
    return of_synthetic(results) if complete else []


def _timing(folder: Path, options: dict[str, Any], quiet: bool) -> list[Claim]:
    from ..paper import timing as run
    from ..paper.claims import of_timing
    from ..paper.figures import steps

    with bar("training times", quiet) as progress:
        results = run(store=_store(folder, "timing"), progress=progress, **options)
    _table(results, folder / "timing.csv")
    _figure(steps(results), folder / "timing.png")
    return of_timing(results)


def _sealevel(folder: Path, options: dict[str, Any], quiet: bool) -> list[Claim]:
    from ..paper import sealevel as run
    from ..paper.claims import of_sealevel
    from ..paper.figures import added, figure2

    with bar("sea level at Nassau Landing", quiet) as progress:
        found = run(progress=progress, **options)
    for name in "curve", "rate", "inputs", "pairs", "interval":
        _table(getattr(found, name), folder / f"sealevel_{name}.csv")
    _figure(figure2(found), folder / "figure2.png")
    _figure(added(found), folder / "sealevel.png")
    return of_sealevel(found)


def _table(frame: pd.DataFrame, path: Path) -> None:
    write_text(path, frame.to_csv(index=False, float_format="%.6g"))


def _figure(figure: Figure, path: Path) -> None:
    with replacing(path) as partial:
        figure.savefig(partial, dpi=130)


def _frame(claims: list[Claim]) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame(claims)


def _done(claims: list[Claim], folder: Path, quiet: bool) -> None:
    for name in "synthetic", "timing":
        _store(folder, name).unlink(missing_ok=True)  # the results are written: a new run begins anew
    if quiet:
        return
    from rich.console import Console
    from rich.table import Table

    console = Console()
    if claims:
        table = Table("the paper says", "measured", "holds", show_lines=True)
        for claim in claims:
            table.add_row(claim.claim, claim.measured, "yes" if claim.holds else "no")
        console.print(table)
    console.print(f"Figures and tables are in {folder}.", highlight=False, markup=False)
