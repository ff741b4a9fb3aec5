"""What the reports of a curve and of an age-depth model share: the frame of the page, and the sections below."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..posterior import diagnosis
from ..records.glossary import parameter
from ..support.numbers import count, fixed, number, with_sd
from . import cores, figures, methods
from .content import Run
from .drawing import Figure
from .page import interactive, render

if TYPE_CHECKING:
    import pandas as pd

    from ..posterior.posterior import Posterior

Data = dict[str, Any]
Rows = list[list[str]]

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

    def add(self, anchor: str, heading: str, data: Data) -> None:
        """Add a section below those that are there."""
        self.sections.append(Section(anchor, heading, data))

    def html(self, posterior: Posterior, run: Run, plotly: str) -> str:
        """The page as text."""
        frame = {"badges": _badges(posterior, run), "banner": diagnosis.banner(posterior), "run": run}
        return render("page.html", **vars(self) | frame | interactive(plotly, self.figures))


def _badges(posterior: Posterior, run: Run) -> list[Data]:
    """Short verdicts for the top of the page."""
    state, record = diagnosis.state_of(posterior.draws.diagnostics), posterior.record
    found: list[tuple[str, bool, str]] = [(state, state == "converged", "")]
    if not posterior.as_measured:
        conflicts = len(posterior.diagnostics["conflicts"])
        found.append((diagnosis.count_conflicts(conflicts), not conflicts, "trust" if conflicts else ""))
    rows = count(len(record), "row") if record.measured.any() else count(int(record.dated.sum()), "date")
    found.append((rows, True, ""))
    if run.warnings:
        found.append((f"{count(len(run.warnings), 'warning')} about the data", False, "table"))
    return [dict(zip(("text", "good", "link"), one, strict=True)) for one in found]


def add_shared(page: Page, posterior: Posterior, names: Sequence[str] | None, run: Run) -> None:
    """Add the sections from convergence to the command line."""
    conflicts = diagnosis.conflicts(posterior, names)
    page.add(
        "trust",
        "Convergence and conflicts",
        {
            "convergence": " ".join(diagnosis.explain_convergence(posterior)),
            "conflicts": diagnosis.explain_conflicts(posterior, conflicts),
            "rows": diagnosis.list_conflicts(conflicts),
        },
    )
    facts = [] if run.reading is None else [[str(cell) for cell in fact] for fact in run.reading.facts]
    page.add("table", "How the table was read", {"warnings": run.warnings, "facts": facts})
    text = " ".join(methods.paragraph(posterior, run))
    page.add("methods", "Methods, ready to paste", {"text": text, "references": methods.references(posterior)})
    page.add("again", "Run it again", {"command": run.command or methods.call(posterior, run.seed)})


def parameters(posterior: Posterior, table: pd.DataFrame, drawn: dict[str, Figure]) -> Data:
    """The section of the parameters; their figures go into ``drawn``."""
    record, point = posterior.record, bool((table["sd"] == 0.0).all())  # a method that maximises has no interval
    rows, shown = [], []
    for one in table.to_dict("records"):
        words, unit = parameter(record, one["name"])
        found = [number(one["mean"], 4)]
        if not point and one["sd"] == 0.0:
            found.append("estimate, no interval")
        elif not point:
            found = [with_sd(one["mean"], one["sd"]), f"{number(one['q2.5'])} to {number(one['q97.5'])}"]
        prior = f"{number(one['prior_median'])} ({number(one['prior_low'])} to {number(one['prior_high'])})"
        chains = [] if point else [f"{one['r_hat']:.3f}" if one["r_hat"] > 0 else "–", fixed(one["ess"], 0)]
        rows.append([one["name"], words, unit, *found, prior, *chains])
        name = f"parameter-{one['name']}"
        drawn[name] = figures.parameter(posterior, one["name"])
        shown.append({"name": name, "alt": f"Prior and {'estimate' if point else 'posterior'} of the {words}."})
    found_head = ["estimate, no interval"] if point else ["mean ± sd", "95 %"]
    head = ["parameter", "meaning", "unit", *found_head, "prior median (68 %)"]
    head += [] if point else ["R-hat", "effective draws"]
    return {"head": head, "rows": rows, "figures": shown, "point": point, "offsets": cores.offsets(posterior)}


def cut(n: int, what: str) -> str:
    """A note where only the first ``MOST_LINES`` of n rows are shown."""
    return f"{MOST_LINES:,} of {n:,} {what}" if n > MOST_LINES else ""
