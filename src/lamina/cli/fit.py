"""``lamina fit`` and ``lamina demo``: from a table to tables, figures and a report."""

from __future__ import annotations

import json
import shlex
import sys
import textwrap
import time
import warnings
import zipfile
import zlib
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import options as given
from .progress import sampling

if TYPE_CHECKING:
    from ..fitting import Fit
    from ..output.folder import Asked
    from ..posterior.posterior import Posterior
    from ..record import Record
    from ..tables import Understanding

#: The embedded record, and the interval whose rate the demonstration tells.
DEMO, DEMO_INTERVAL = "nassau", (1900.0, 2000.0)

#: A little beyond the data, as a part of their span, is not worth a warning.
SLACK = 0.05
DEMO_TABLE = "Nassau Landing"
DEMO_WARNING = (
    "The ages of this core come from an age-depth model, which knew the order already. Using it again, as the paper "
    "did, counts it twice: take the narrowing of the ages as a demonstration, not as a result."
)

Out = Annotated[
    Path | None,
    typer.Option(
        "--out", help="Folder for the results; by default named after the table.", rich_help_panel=given.OUTPUT
    ),
]
Resume = Annotated[
    bool, typer.Option("--resume", help="Go on with a run that ended too early.", rich_help_panel=given.OUTPUT)
]


@given.bundled(reading=given.READ, fitting=given.FIT, using=given.WITH)
def fit(
    table: given.Table,
    fitting: dict[str, Any],
    using: dict[str, Any],
    reading: dict[str, Any],
    trend: given.Rate = None,
    ages: given.Ages = None,
    ages_covariance: given.AgesCovariance = None,
    out: Out = None,
    at: given.At = None,
    interval: given.Interval = None,
    exceeds: given.Exceeds = None,
    rate_exceeds: given.RateExceeds = None,
    extremes: given.Extremes = False,
    ensemble: given.Ensemble = None,
    force: given.Force = False,
    resume: Resume = False,
    quiet: given.Quiet = False,
    as_json: given.Json = False,
) -> None:
    """Fit a curve to a table: the curve, its rate, the corrected inputs, figures and a report."""
    from ..errors import MethodError
    from ..fitting import prepare
    from ..output.folder import Asked, check_folder
    from ..tables import Options, read
    from .arguments import (
        check_asked,
        check_method_takes,
        covariance_of,
        intervals,
        members_of,
        numbers,
        order_used_before,
        times,
        with_ages,
        with_trend,
    )
    from .arguments import kernel as by_name

    beside = {"ages": ages, "ages_covariance": ages_covariance}
    files = {name: file for name, file in beside.items() if file is not None}
    if len(files) > 1:
        raise MethodError("--ages and --ages-covariance say the same in two ways. Leave out one of them.")
    said_none = reading["order"] is not None
    for name in files:
        using, reading = with_ages(name, using, reading)
    check_method_takes(using)
    known_rate = numbers("--trend", trend)
    options, seed, settings = Options(**reading), fitting["seed"], given.settings(using, fitting)
    asked = Asked(
        at=times(at),
        intervals=intervals(interval),
        levels=numbers("--exceeds", exceeds),
        rates=numbers("--rate-exceeds", rate_exceeds),
        extremes=extremes,
        members=ensemble or 0,
        command=shlex.join(["lamina", *sys.argv[1:]]),
        seed=seed,
        settings=settings
        | ({"trend": known_rate} if known_rate else {})
        | {name: file.name for name, file in files.items()},
        table=table.name,
    )
    kernel = by_name(fitting["kernel"])
    check_asked(asked, kernel, settings["method"])
    began = time.perf_counter()
    understanding = read(table, options)
    for name in () if said_none else files:
        understanding = order_used_before(name, understanding)
    timings = {"read": time.perf_counter() - began}
    folder = out or Path(f"{table.stem}-lamina")
    model = settings | {"kernel": with_trend(kernel, known_rate, settings, understanding.record)}
    if known_rate:
        del model["mean"]  # the kernel has it
    if ages is not None:
        model["members"] = members_of(ages, understanding)
    if ages_covariance is not None:
        model["covariance"] = covariance_of(ages_covariance, understanding)
    if resume:
        model |= _resumed(folder, understanding.sha256, asked)
    with understanding.naming_lines():
        ready = prepare(understanding.record, seed=seed, **model)
    check_folder(folder, force or resume)
    if not (quiet or as_json):
        typer.echo(understanding.describe() + "\n")
    asked = replace(asked, warnings=beyond(understanding.record, asked))
    for said in () if quiet or as_json else asked.warnings:  # they are in the report and in run.json
        typer.echo(f"lamina: warning: {said}", err=True)
    run(ready, asked, folder, understanding, quiet=quiet, as_json=as_json, **timings)


def beyond(record: Record, asked: Asked) -> list[str]:
    """Which of the times and intervals asked for lie beyond the data, where the curve returns to its mean."""
    import numpy as np

    t, t_sd = record.t[record.dated], record.t_sd[record.dated]
    low, high = float((t - 2 * t_sd).min()), float((t + 2 * t_sd).max())
    low, high = low - SLACK * (high - low), high + SLACK * (high - low)
    said = "beyond the data, where the curve returns to its mean and the band is that of the prior"
    found = [
        f"the interval {a:g}:{b:g} reaches {said} ({low:.6g} to {high:.6g})."
        for a, b in asked.intervals
        if a < low or b > high
    ]
    at = np.asarray([] if asked.at is None else asked.at, dtype=float)
    outside = int(((at < low) | (at > high)).sum())
    if outside:
        lie = "lies" if outside == 1 else "lie"
        found.append(f"{outside} of the {at.size} times asked for {lie} {said} ({low:.6g} to {high:.6g}).")
    return found


def demo(
    out: Annotated[Path, typer.Option("--out", help="Folder for the results.")] = Path("lamina-demo"),
    seed: given.Seed = 0,
    force: given.Force = False,
    resume: Resume = False,
    quiet: given.Quiet = False,
) -> None:
    """Fit the embedded record: sea level at Nassau Landing, Florida. Overwrites the last demonstration."""
    from .. import datasets
    from ..fitting import prepare
    from ..output.folder import Asked, check_folder

    record = datasets.load(DEMO)
    asked = Asked(
        intervals=[DEMO_INTERVAL],
        command=shlex.join(["lamina", *sys.argv[1:]]),
        seed=seed,
        table=DEMO_TABLE,
        warnings=[DEMO_WARNING],
    )
    model = _resumed(out, None, asked) if resume else {}
    folder = check_folder(out, force or _is_demo(out))
    if not quiet:
        note = textwrap.fill(f"Warning: {DEMO_WARNING}", width=110)
        typer.echo(f"Relative sea level at Nassau Landing, Florida: {record!r}\n\n{note}\n")
    run(prepare(record, seed=seed, **model), asked, folder, None, quiet=quiet)


def _is_demo(folder: Path) -> bool:
    """Whether a folder holds a demonstration, and no run of the user's own."""
    from ..output.folder import RUN

    try:
        return bool(json.loads((folder / RUN).read_text(encoding="utf-8"))["table"] == DEMO_TABLE)
    except (OSError, ValueError, KeyError):
        return False


def run(
    ready: Fit,
    asked: Asked,
    folder: Path,
    understanding: Understanding | None,
    quiet: bool = False,
    as_json: bool = False,
    **timings: float,
) -> None:
    """Fit, write, and end with a summary and the exit code that belongs to it."""
    from ..fitting import NotConverged
    from ..output.folder import json_text, write

    began = time.perf_counter()
    with warnings.catch_warnings(), sampling(quiet or as_json) as progress:
        warnings.simplefilter("ignore", NotConverged)
        posterior = ready.run(**{"progress": progress} if ready.method.chains else {})
    timings["fit"] = time.perf_counter() - began
    if posterior.draws.diagnostics["interrupted"] and posterior.checkpoint is None and ready.method.chains:
        _leave_nothing()
    facts = write(posterior, folder, asked, understanding, timings=timings)
    if as_json:
        typer.echo(json_text({**facts, "folder": str(folder)}))
    elif not quiet:
        typer.echo(_told(posterior, facts, folder, understanding))
    _leave(facts["state"], folder)


def _leave_nothing() -> None:
    """Interrupted in warm-up: there is nothing to keep, and nothing to go on from."""
    typer.echo("lamina: interrupted before there was anything to keep. Nothing is written; run it again.", err=True)
    raise typer.Exit(given.INTERRUPTED)


def _told(posterior: Posterior, facts: dict[str, Any], folder: Path, understanding: Understanding | None) -> str:
    """The end of a run in a few lines. ``facts`` are those of run.json; rates are forward in time."""
    from ..records import axes
    from ..report import events
    from ..support.numbers import probability, with_range

    names = None if understanding is None else [f"line {line}" for line in understanding.lines]
    lines = [posterior.summary(names), ""]
    shown = axes.describe(posterior.record)
    for one in facts["intervals"]:
        mean, low, high = (shown.unit_factor * one[name] for name in ("mean", "q2.5", "q97.5"))
        lines.append(
            f"mean rate{' forward in time' if shown.backwards else ''}, {one['from']:g} to {one['to']:g}: "
            f"{with_range(mean, low, high, shown.rate_unit)}, above zero with probability {probability(one['p>0'])}"
        )
    lines += [events.line(posterior.record, one) for one in facts["events"]]
    if facts["intervals"] or facts["events"]:
        lines.append("")
    lines.append(f"Report: {folder / 'report.html'}")
    return "\n".join(lines)


def _leave(state: str, folder: Path) -> None:
    if state == "converged":
        return
    from ..output.folder import CHECKPOINT

    again = "--resume goes on with it" if (folder / CHECKPOINT).exists() else "see the report"
    typer.echo(f"lamina: {state.upper()}. The results are written, and marked; {again}.", err=True)
    raise typer.Exit(given.INTERRUPTED if state == "interrupted" else given.NOT_CONVERGED)


def _resumed(folder: Path, sha256: str | None, asked: Asked) -> dict[str, Any]:
    """The checkpoint to go on from. Raises MethodError if the folder holds none of this table and these settings.

    sha256: of the table; None for the demonstration, which has none.
    """
    from ..errors import MethodError
    from ..output.folder import RUN, read_checkpoint

    try:
        if not (folder / RUN).is_file():
            raise MethodError(f"--resume: the folder {folder} holds no run to go on with.")
        before = json.loads((folder / RUN).read_text(encoding="utf-8"))
        of, seed, state, settings = before["sha256"], before["seed"], before["state"], dict(before["settings"])
        table = before["table"]
        checkpoint = read_checkpoint(folder)
    except MethodError:
        raise
    except (OSError, ValueError, TypeError, KeyError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise MethodError(
            f"--resume: the run in {folder} is damaged and cannot go on ({error}). Run it again with --force."
        ) from None
    same = {name: value for name, value in settings.items() if name != "max_sweeps"}
    anew = "begin anew with another --out, or with --force instead of --resume"
    if of != sha256:
        raise MethodError(
            f"--resume: the run in {folder} was of another table, or {table} has changed since. Give the table that it "
            f"was of, or {anew}."
        )
    if seed != asked.seed:
        raise MethodError(
            f"--resume: the run in {folder} had the seed {seed}, not {asked.seed}. Say --seed {seed}, or {anew}."
        )
    if same != {name: value for name, value in asked.settings.items() if name != "max_sweeps"}:
        raise MethodError(
            f"--resume: the run in {folder} had other settings: {json.dumps(same)}. Give the same, or {anew}."
        )
    if checkpoint is None:
        raise MethodError(f"--resume: the run in {folder} is {state}; there is nothing to go on with.")
    return {"checkpoint": checkpoint}
