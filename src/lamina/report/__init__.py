"""The report: one interactive page that shows what a fit found. It needs no network to be read.

``html`` and ``write`` make the report of a curve, of a field where the record has places, or of an age-depth model
where it has no measured value.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from ..support.files import write_text
from . import age_depth, sections
from .content import Run, Tables, compute
from .fields import sections as field_sections
from .fields.answers import Answers
from .fields.answers import compute as answer_field
from .page import EMBED, PLOTLY, write_plotly

if TYPE_CHECKING:
    from ..posterior.posterior import Posterior

__all__ = ["EMBED", "PLOTLY", "Run", "Tables", "html", "write", "write_plotly"]


def html(
    posterior: Posterior,
    *,
    intervals: Sequence[tuple[float, float]] = (),
    at: ArrayLike | None = None,
    run: Run | None = None,
    tables: Tables | None = None,
    plotly: str = EMBED,
    field: Answers | None = None,
) -> str:
    """The report as text.

    Arguments
    ---------
    intervals: (from, to) pairs whose mean rates are reported.
    at: times whose values are listed in a table; of an age-depth model, depths whose ages are listed. The figures have
        their own grid.
    run: how the fit was made: command, seed, table, how the table was read, warnings.
    tables: tables that have been computed before.
    plotly: "embed" puts Plotly (5 MB) into the page, which is then a single file. Otherwise the path, relative to the
        page, of a file that ``write_plotly`` has written and that several reports share, such as "../plotly.min.js".

    field: of a record with places, answers that have been computed before.

    Everything that comes from the record or the arguments is escaped, whatever it holds.
    """
    run, tables = run or Run(), tables or Tables()
    if posterior.record.places is not None:
        answers = answer_field(posterior, at, intervals, seed=run.seed or 0) if field is None else field
        page = field_sections.build(posterior, answers, run)
    elif posterior.record.measured.any():
        page = sections.build(compute(posterior, intervals, at, run, tables), run)
    else:
        page = age_depth.build(posterior, at, run, tables)
    return page.html(posterior, run, plotly)


def write(path: str | Path, posterior: Posterior, **options: Any) -> None:
    """Write the report to a file, atomically; options as in ``html``."""
    write_text(path, html(posterior, **options))
