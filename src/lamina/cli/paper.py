"""``lamina paper``: the experiments of Tran, Pavlovic & Kopp (2015), their figures and tables as files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import MethodError
from .options import whole
from .progress import bar

if TYPE_CHECKING:
    from ..paper.claims import Claim

app = typer.Typer(no_args_is_help=True, help="Reproduce the paper: every figure and table, next to its claims.")

Out = Annotated[Path, typer.Option("--out", help="Folder for figures and tables; created if needed.")]
Seed = Annotated[
    int, typer.Option("--seed", parser=whole(0), metavar="NUMBER", help="The same seed gives the same numbers.")
]
Quick = Annotated[bool, typer.Option("--quick", help="A small version: one repetition, few settings.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Print only errors.")]
Cpus = Annotated[
    int | None, typer.Option("--cores", parser=whole(1), metavar="NUMBER", help="CPUs to use; all by default.")
]


@app.command()
def synthetic(
    out: Out = Path("paper"),
    functions: Annotated[str, typer.Option(help="Functions, as numbers from 1 to 5, separated by commas.")] = "",
    methods: Annotated[str, typer.Option(help="Methods, separated by semicolons.")] = "",
    repetitions: Annotated[int, typer.Option(parser=whole(1), metavar="NUMBER", help="Records per setting.")] = 5,
    seed: Seed = 0,
    cores: Cpus = None,
    quick: Quick = False,
    quiet: Quiet = False,
) -> None:
    """Five functions with noisy inputs: Figure 1, the supplement's figures, and every number as CSV."""
    options: dict[str, Any] = {"repetitions": repetitions, "seed": seed, "cores": cores, "quick": quick}
    options |= _chosen(functions, methods)
    _run(out, quiet, synthetic=options)


@app.command()
def spacing(
    out: Out = Path("paper"), seed: Seed = 0, cores: Cpus = None, quick: Quick = False, quiet: Quiet = False
) -> None:
    """The five functions again, with inputs that are irregular or clustered; the paper's are equally spaced."""
    _run(out, quiet, spacing={"seed": seed, "cores": cores, "quick": quick})


@app.command()
def timing(out: Out = Path("paper"), seed: Seed = 0, quick: Quick = False, quiet: Quiet = False) -> None:
    """Training times: the paper's, lamina's, and the paper's algorithms at increasing N."""
    _run(out, quiet, timing={"seed": seed, "quick": quick})


@app.command()
def sealevel(out: Out = Path("paper"), seed: Seed = 0, quiet: Quiet = False) -> None:
    """Nassau Landing: Figure 2, Table 1, the corrected ages and the rate of rise."""
    _run(out, quiet, sealevel={"seed": seed})


@app.command(name="all")
def everything(
    out: Out = Path("paper"), seed: Seed = 0, cores: Cpus = None, quick: Quick = False, quiet: Quiet = False
) -> None:
    """Run all of them, and write a table of the paper's claims. Run it again to continue after an interrupt."""
    every = {"sealevel": {"seed": seed}, "timing": {"seed": seed, "quick": quick}}
    functions = {"seed": seed, "cores": cores, "quick": quick}
    _run(out, quiet, **every, synthetic=functions, spacing=functions)


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


def _run(out: Path, quiet: bool, **experiments: dict[str, Any]) -> None:
    """Run experiments by name, with their options, and show what became of the paper's claims."""
    from ..paper.files import write_paper

    claims = write_paper(out, experiments, lambda title: bar(title, quiet))
    if not quiet:
        _show(claims, out)


def _show(claims: list[Claim], folder: Path) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console()
    if claims:
        table = Table("the paper says", "measured", "holds", show_lines=True)
        for claim in claims:
            table.add_row(claim.claim, claim.measured, "yes" if claim.holds else "no")
        console.print(table)
    console.print(f"Figures and tables are in {folder}.", highlight=False, markup=False)
