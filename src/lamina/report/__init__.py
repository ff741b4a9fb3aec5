"""The report: one self-contained interactive page that tells what a fit found. Needs no network to be read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.metadata import version as installed
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from ..support.files import write_text
from .content import Understanding, compute
from .page import Page
from .sections import Run
from .sections import write as write_sections

if TYPE_CHECKING:
    import pandas as pd

    from ..posterior.posterior import Posterior

__all__ = ["Understanding", "html", "write"]


def html(
    posterior: Posterior,
    *,
    understanding: Understanding | None = None,
    intervals: Sequence[tuple[float, float]] = (),
    at: ArrayLike | None = None,
    command: str | None = None,
    version: str | None = None,
    seed: int | None = None,
    table_name: str | None = None,
    warnings: Sequence[str] = (),
    events: pd.DataFrame | None = None,
    curve_table: pd.DataFrame | None = None,
    rate_table: pd.DataFrame | None = None,
    interval_table: pd.DataFrame | None = None,
    at_tables: Mapping[str, pd.DataFrame] | None = None,
) -> str:
    """The report as text.

    Arguments
    ---------
    understanding: what was understood of a table: ``facts`` (what, how, why), ``warnings`` and ``lines``, the line of
        the file that each row was read from.
    intervals: (from, to) pairs whose mean rates are told.
    at: times whose values are told in a table; the figures have their own grid.
    command, version, seed, table_name: how the fit was made. ``version`` is by default that of lamina here; ``seed``
        also draws the curves behind interval rates.
    warnings: what the reader must know of the data, beside what ``understanding`` warns of.
    events: what ``lamina.functionals.events`` gave.
    curve_table, rate_table: what ``posterior.curve`` and ``posterior.rate`` gave on a grid such as
        ``lamina.posterior.times.default_times``, if they are at hand.
    interval_table: what ``lamina.interval_rates`` gave for the intervals, forward in time, if it is at hand.
    at_tables: what both gave at the times ``at``, as "curve" and "rate", if it is at hand.

    Everything that comes from the record or the arguments is shown letter by letter, whatever it holds.
    """
    tables = (curve_table, rate_table, interval_table)
    content = compute(posterior, understanding, intervals, at, *tables, seed or 0, events, at_tables)
    page, run = Page(), Run(installed("lamina") if version is None else version, seed, command, table_name)
    cautions = [*(() if understanding is None else understanding.warnings), *warnings]
    return page.render(write_sections(page, content, run, understanding, cautions), run.version)


def write(path: str | Path, posterior: Posterior, **options: Any) -> None:
    """Write the report to a file, whole or not at all; options as in ``html``."""
    write_text(path, html(posterior, **options))
