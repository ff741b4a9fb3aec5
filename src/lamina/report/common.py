"""What the reports of a curve and of an age-depth model share: the frame of the page, and the sections below."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..posterior import diagnosis
from ..records.axes import describe
from ..records.glossary import parameter
from ..support.numbers import count
from . import figures, methods
from .content import Run
from .drawing import Figure
from .page import interactive, render

if TYPE_CHECKING:
    import pandas as pd

    from ..posterior.posterior import Posterior

Data = dict[str, Any]

#: Rows of a table that are written out.
MOST_LINES = 300


@dataclass(frozen=True)
class Section:
    """A part of the page: the template ``sections/<anchor>.html`` shows ``data``."""

    anchor: str
    heading: str
    data: Data


@dataclass
class Page:
    """A report as plain data, for the template ``page.html``."""

    title: str
    top: str  #: the template of the first figure
    lead: str  #: the answer in a paragraph
    alt: str  #: the first figure in words
    figures: dict[str, Figure]
    sections: list[Section] = field(default_factory=list)
    alarm: tuple[str, str] | None = None  #: a heading and what to check, where many dates contradict the others

    def add(self, anchor: str, heading: str, data: Data) -> None:
        """Add a section below those that are there."""
        self.sections.append(Section(anchor, heading, data))

    def html(self, posterior: Posterior, run: Run, plotly: str) -> str:
        """The page as text."""
        record, facts = posterior.record, posterior.diagnostics
        dates = count(int(record.dated.sum()), "date")
        frame = {
            "run": run,
            "record": record,
            "axes": describe(record),
            "as_measured": posterior.as_measured,
            "state": diagnosis.state_of(facts),
            "banners": [one for one in (diagnosis.banner(posterior), self.alarm) if one is not None],
            "conflicts": len(facts["conflicts"]),
            "size": count(len(record), "row") if record.measured.any() else dates,
            "most_lines": MOST_LINES,
        }
        return render("page.html", **vars(self) | frame | interactive(plotly, self.figures))


def add_shared(page: Page, posterior: Posterior, names: Sequence[str] | None, run: Run) -> None:
    """Add the sections from convergence to the command line."""
    found = diagnosis.conflicts(posterior, names)
    page.alarm = diagnosis.many_disagree(posterior, names)
    trust = {
        "convergence": " ".join(diagnosis.explain_convergence(posterior)),
        "conflicts": diagnosis.explain_conflicts(posterior, found),
        "rows": diagnosis.list_conflicts(found),
    }
    text = " ".join(methods.paragraph(posterior, run))
    page.add("trust", "Convergence and conflicts", trust)
    page.add("table", "How the table was read", {})
    page.add(
        "methods", "Methods, ready to paste", {"text": text, "references": methods.references(posterior, run.sources)}
    )
    page.add("again", "Run it again", {"command": run.command or methods.call(posterior, run.seed)})


def parameters(posterior: Posterior, table: pd.DataFrame, drawn: dict[str, Figure]) -> Data:
    """The section of the parameters; their figures go into ``drawn``."""
    rows = table.to_dict("records")
    for one in rows:
        one["meaning"], one["unit"] = parameter(posterior.record, one["name"], posterior.problem.kernel)
        drawn[f"parameter-{one['name']}"] = figures.parameter(posterior, one["name"])
    offsets = [] if posterior.model.offsets is None else posterior.offsets().to_dict("records")
    point = bool((table["sd"] == 0.0).all())  # a method that maximises has no interval
    return {"rows": rows, "point": point, "offsets": offsets}


def date_rows(posterior: Posterior, table: pd.DataFrame, names: Sequence[str] | None) -> list[Data]:
    """The first rows of ``input_shifts``, each with its name and depth, and whether it is dated and in conflict."""
    record, wrong = posterior.record, set(posterior.diagnostics["conflicts"])
    outliers = posterior.date_outliers().to_numpy()
    return [
        one
        | {
            "name": diagnosis.row_name(record, row, names),
            "depth": None if record.depth is None else record.depth[row],
            "dated": record.dated[row],
            "conflict": row in wrong,
            "outlier": None if math.isnan(outliers[row]) else outliers[row],
        }
        for row, one in zip(table.index.tolist(), table.head(MOST_LINES).to_dict("records"), strict=False)
    ]
