"""``lamina agedepth``: from a table of dates and depths to the age of every layer of a core."""

from __future__ import annotations

import shlex
import sys
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import options as given
from .progress import sampling

if TYPE_CHECKING:
    from ..posterior.posterior import Posterior
    from ..record import Record
    from ..tables import Understanding

Out = Annotated[
    Path | None,
    typer.Option(
        "--out", help="Folder for the results; by default named after the table.", rich_help_panel=given.OUTPUT
    ),
]
Depths = Annotated[
    str | None,
    typer.Option(
        "--depths", help="Depths whose ages are told: first:last:step, or a,b,c.", rich_help_panel=given.OUTPUT
    ),
]
Steps = Annotated[
    int,
    typer.Option("--steps", parser=given.whole(5), metavar="NUMBER", help="Steps that a core is cut into.",
                 rich_help_panel=given.MODEL),
]  # fmt: skip
Members = Annotated[
    int | None,
    typer.Option("--ensemble", parser=given.whole(1), metavar="NUMBER", help="Write so many age models.",
                 rich_help_panel=given.OUTPUT),
]  # fmt: skip


@given.bundled(reading={name: one for name, one in given.READ.items() if not name.startswith("y")})
def agedepth(
    table: given.Table,
    reading: dict[str, Any],
    out: Out = None,
    depths: Depths = None,
    steps: Steps = 60,
    ensemble: Members = None,
    memory: given.Memory = False,
    seed: given.Seed = 0,
    chains: given.Chains = None,
    max_sweeps: given.MaxSweeps = None,
    force: given.Force = False,
    quiet: given.Quiet = False,
) -> None:
    """An age-depth model of a core from its dates, without any proxy: ages of all depths, with the standard figure."""
    from ..errors import MethodError
    from ..fitting import NotConverged, age_depth, prepare
    from ..output.folder import RUN, check_folder, json_text, state
    from ..records.layers import with_layers
    from ..support.files import write_text
    from ..tables import Options
    from ..tables.reading import read_ages
    from .arguments import times

    began, command = time.perf_counter(), shlex.join(["lamina", *sys.argv[1:]])
    asked = times(depths, "--depths")
    understanding = read_ages(table, Options(**reading))
    if len(understanding.record.sequences) > 1:
        names = ", ".join(str(name) for name, _ in understanding.record.sequences)
        raise MethodError(f"the table holds several cores ({names}): choose one with --site NAME.")
    gone = tuple(Options(**reading).hiatus or ())
    with understanding.naming_lines():
        prepare(understanding.record, seed=seed)
    with_layers(understanding.record, steps, gone)
    outside = _beyond(understanding.record, asked)
    folder = check_folder(out or Path(f"{table.stem}-ages"), force)
    if not quiet:
        typer.echo(understanding.describe() + "\n")
        for said in outside:
            typer.echo(f"lamina: warning: {said}", err=True)
    options: dict[str, Any] = {"chains": chains, "max_sweeps": max_sweeps, "memory": memory}
    options = {name: value for name, value in options.items() if value is not None}
    with warnings.catch_warnings(), sampling(quiet) as progress:
        warnings.simplefilter("ignore", NotConverged)
        posterior = age_depth(understanding.record, steps, seed, hiatus=gone, progress=progress, **options)
    found = _written(posterior, understanding, folder, asked, ensemble, seed)
    facts = {
        "command": command,
        "seed": seed,
        "table": table.name,
        "sha256": understanding.sha256,
        "state": state(posterior),
        "steps": steps,
        "memory": memory,
        "seconds": round(time.perf_counter() - began, 3),
        "facts": [f"{fact.what}: {fact.understood}" for fact in understanding.facts],
        "warnings": [*understanding.warnings, *outside],
        "diagnostics": {
            name: posterior.diagnostics[name] for name in ("r_hat", "ess", "sweeps", "converged", "conflicts")
        },
    }
    write_text(folder / RUN, json_text(facts, indent=2) + "\n")
    if not quiet:
        typer.echo(_told(posterior, found, understanding, folder))
    if facts["state"] != "converged":
        typer.echo(f"lamina: {str(facts['state']).upper()}. The results are written, and marked.", err=True)
        raise typer.Exit(given.INTERRUPTED if facts["state"] == "interrupted" else given.NOT_CONVERGED)


def _beyond(record: Record, asked: Any) -> list[str]:
    """A warning if some of the depths asked for are not within the core."""
    if asked is None or record.depth is None:
        return []
    low, high = record.depth.min(), record.depth.max()
    outside = [one for one in asked if not low <= one <= high]
    if not outside:
        return []
    return [
        f"{len(outside)} of the {len(asked)} depths asked for lie{'s' if len(outside) == 1 else ''} beyond the core "
        f"({low:g} to {high:g}): ages there go on with the pace of its outermost step, and their bands are too narrow."
    ]


def _written(
    posterior: Posterior, understanding: Understanding, folder: Path, asked: Any, members: int | None, seed: int
) -> Any:
    """Write tables and figure; returns the table of ages."""
    import numpy as np

    from ..plots.cores import core_summary
    from ..posterior import export as ensemble
    from ..support.files import make_folder, replacing, write_text

    make_folder(folder)
    record = posterior.record
    depth = record.depth if record.depth is not None else np.zeros(len(record))
    ages = posterior.ages(np.unique(depth) if asked is None else asked)
    write_text(folder / "ages.csv", ages.to_csv(index=False, float_format="%.10g"))
    inputs = posterior.inputs()
    inputs.insert(0, "depth", depth)
    write_text(folder / "inputs.csv", inputs[record.dated].to_csv(index=False, float_format="%.10g"))
    if members:
        ensemble.write(posterior, folder / "ensemble.csv", members, seed)
    write_text(folder / "theta.csv", posterior.theta.to_csv(index=False, float_format="%.6g"))
    posterior.save(folder / "posterior.nc")
    figure = core_summary(posterior)
    for name in ("age-depth.png", "age-depth.pdf", "age-depth.svg"):
        with replacing(folder / name) as partial:
            figure.savefig(partial, dpi=200)
    return ages


def _told(posterior: Posterior, ages: Any, understanding: Understanding, folder: Path) -> str:
    from ..records.axes import describe
    from ..records.glossary import parameter

    facts, record = posterior.diagnostics, posterior.record
    unit = describe(record).duration
    wide = ages["q97.5"] - ages["q2.5"]
    lines = [
        f"{int(record.dated.sum())} dates; ages of {len(ages)} depths",
        f"95 % band: {wide.mean():.4g} {unit} wide on average, {wide.max():.4g} at most".replace("  ", " "),
        f"R-hat {facts['r_hat']:.3f}, effective draws {facts['ess']:.0f}, sweeps {facts['sweeps']:,}",
    ]
    for name, values in posterior.theta.items():
        low, middle, high = (float(values.quantile(level)) for level in (0.025, 0.5, 0.975))
        said, of = parameter(record, str(name))
        lines.append(f"{name}, {said}: {f'{middle:.3g} {of}'.rstrip()} (95 %: {low:.3g} to {high:.3g})")
    lines += [_conflict(posterior, row, understanding) for row in facts["conflicts"]]
    return "\n".join([*lines, "", f"Figure: {folder / 'age-depth.png'}", f"Ages: {folder / 'ages.csv'}"])


def _conflict(posterior: Posterior, row: int, understanding: Understanding) -> str:
    """A date in conflict as the user knows it: line, name and depth, with what was dated and what was found."""
    import numpy as np

    from ..support.numbers import with_sd

    record, (_, mean, sd) = posterior.record, posterior.input_moments(np.array([row]))
    # The model has rows of its own between those of the table, but none of them is dated.
    lines = np.array(understanding.lines)[understanding.record.dated]
    where = [f"line {lines[np.count_nonzero(record.dated[:row])]}"]
    if record.label is not None and record.label[row] is not None:
        where.append(str(record.label[row]))
    if record.depth is not None:
        where.append(f"depth {record.depth[row]:g} {record.depth_unit}".rstrip())
    dated, found = with_sd(record.t[row], record.t_sd[row]), with_sd(mean[0], sd[0])
    return f"in conflict with the order: {', '.join(where)}: dated {dated}, found {found} {record.t_unit}".rstrip()
