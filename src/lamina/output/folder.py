"""A folder of results: what may be written into it, and what an earlier run has left there."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ..support.files import (
    WriteError,
    check_empty,
    check_writable,
    existing,
    made_if_needed,
    make_folder,
    replacing,
    replacing_stream,
    write_text,
)
from ..support.leftovers import create_folder
from ..support.locks import check_unlocked, locked
from .tables import Table, describe_columns

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

#: Marks a folder of results; written last.
RUN = "run.json"
CHECKPOINT, COLUMNS, REPORT, POSTERIOR = "checkpoint.npz", "columns.txt", "report.html", "posterior.nc"
#: The names of figures without their ending, by the command that draws them.
FIT_FIGURE, AGEDEPTH_FIGURE, COMPARE_FIGURE, VALIDATION_FIGURE = "figure", "age-depth", "compare", "validation"
FIELD_FIGURES = MAP_FIGURE, COMMON_FIGURE, SITES_FIGURE, PARTS_FIGURE = "map", "common", "sites", "components"
FIGURES = (FIT_FIGURE, AGEDEPTH_FIGURE, COMPARE_FIGURE, VALIDATION_FIGURE, *FIELD_FIGURES)
#: Maps on a grid.
FIELD = "field.nc"
FORMATS = ("png", "pdf", "svg")
#: Every file that a run of fit, agedepth, compare or field may leave in its folder.
FILES = (
    *("curve.csv", "inputs.csv", "theta.csv", "rate.csv", "components.csv", "offsets.csv", "intervals.csv"),
    *("events.csv", "ensemble.csv", "ages.csv", "accumulation.csv", "compare.csv", "curves.csv", "validation.csv"),
    *("common.csv", "rates.csv", "sites.csv", COLUMNS, POSTERIOR, FIELD, REPORT, CHECKPOINT),
    *(f"{name}.{ending}" for name in FIGURES for ending in FORMATS),
    RUN,
)
#: A run does not begin with less free space in its folder: the report alone has 5 MB.
FEWEST_FREE_BYTES = 16_000_000


def check_folder(path: Path, force: bool = False) -> Path:
    """Check that a folder can take results. It is not made yet.

    Raises WriteError if it holds some, or files of others, unless ``force``; also if another process writes into it, or
    the disk is full.
    """
    check_unlocked(path)
    refuse_results(path, force)
    check_writable(path)
    _check_room(path)
    return path


@contextmanager
def claimed(path: Path, force: bool = False) -> Iterator[None]:
    """Make a folder for results and keep other processes out of it. If nothing is written, it is removed again."""
    with made_if_needed(path), locked(path):
        refuse_results(path, force)  # another process may have finished since ``check_folder``
        yield


def refuse_results(path: Path, force: bool) -> None:
    """Raise WriteError if a folder holds results, or files of others, unless ``force``."""
    there = existing_files(path)
    if there and not force:
        what = "the results of another run" if RUN in there else f"a file {there[0]} already"
        raise WriteError(f"the folder {path} holds {what}. Choose another, or overwrite with --force.")
    if not force:
        check_empty(path)


def _check_room(folder: Path) -> None:
    """Raise WriteError if the disk of a folder, which need not exist yet, is nearly full."""
    there = next(one for one in (folder, *folder.absolute().parents) if one.exists())
    free = shutil.disk_usage(there).free
    if free < FEWEST_FREE_BYTES:
        raise WriteError(
            f"cannot write into the folder {folder}: the disk has {free / 1e6:.1f} MB left, and the results need at "
            f"least {FEWEST_FREE_BYTES / 1e6:.0f} MB. Free some, or choose another place for the results."
        )


def existing_files(folder: Path) -> list[str]:
    """Which files of a run a folder holds."""
    return existing(folder, FILES)


def begin_folder(folder: Path, keep: Sequence[str] = ()) -> None:
    """Make the folder, without the files of an earlier run but those to ``keep``."""
    make_folder(folder)
    remove_run(folder, keep)


def remove_run(folder: Path, keep: Sequence[str] = ()) -> None:
    """Remove the files of an earlier run, but those to ``keep``: run.json first, because it vouches for the others.

    Raises WriteError if one cannot be removed.
    """
    for name in reversed(FILES):
        if name not in keep:
            try:
                (folder / name).unlink(missing_ok=True)
            except OSError as error:
                raise WriteError(
                    f"cannot remove {folder / name} of an earlier run: {error.strerror or error}. Remove it, or choose "
                    "another place for the results."
                ) from None


@contextmanager
def keeping_earlier(folder: Path) -> Iterator[None]:
    """Put the earlier run in a folder back if the new one cannot be written or is interrupted."""
    names = existing_files(folder)
    aside = _set_aside(folder, names)
    try:
        yield
    except (WriteError, KeyboardInterrupt):
        remove_run(folder)
        for name in names:  # run.json is the last
            os.replace(aside / name, folder / name)
        raise
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def _set_aside(folder: Path, names: Sequence[str]) -> Path:
    """A folder inside a folder, with other links to some of its files; copies where the system has no links."""
    try:
        aside = create_folder(folder)
        for name in names:
            try:
                os.link(folder / name, aside / name)
            except OSError:
                shutil.copy2(folder / name, aside / name)
    except OSError as error:
        why = error.strerror or error
        raise WriteError(f"cannot keep the earlier results in {folder} until there are new ones: {why}.") from None
    return aside


def write_csv(frame: pd.DataFrame, path: Path, digits: int = 6) -> None:
    """Write a table that needs no explanation of its columns."""
    write_text(path, frame.to_csv(index=False, float_format=f"%.{digits}g"))


def write_tables(folder: Path, tables: Iterable[Table]) -> None:
    """Write tables and columns.txt, which explains their columns."""
    tables = list(tables)
    for table in tables:
        write_text(folder / table.file, table.to_csv())
    write_text(folder / COLUMNS, describe_columns(tables))


def write_files(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write the files of a run in place of an earlier one, run.json last: a folder that has it is complete."""
    begin_folder(folder, keep=[name for name in files if name != RUN])
    for name in sorted(files, key=lambda name: name == RUN):
        with replacing(folder / name) as partial:
            partial.write_bytes(files[name])


def write_figure(
    draw: Callable[[], Figure], folder: Path, name: str, formats: Sequence[str] = FORMATS, dpi: int = 200
) -> list[str]:
    """Draw a figure and write it in several formats. Returns a warning if Matplotlib cannot.

    Settings of the user hold, but for LaTeX: it is another program, and names with _ or % are not LaTeX.
    """
    try:
        import matplotlib

        with matplotlib.rc_context({"text.usetex": False}):
            figure = draw()
            for ending in formats:
                with replacing_stream(folder / f"{name}.{ending}") as file:
                    figure.savefig(file, format=ending, dpi=dpi)
                figure.set_layout_engine("none")  # the first format has found the layout
    except WriteError:
        raise
    except Exception as error:
        for ending in formats:
            (folder / f"{name}.{ending}").unlink(missing_ok=True)
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        return [
            f"Matplotlib cannot draw the figure ({reason}). Check your settings (matplotlibrc, MPLBACKEND). All other "
            "files are written."
        ]
    return []
