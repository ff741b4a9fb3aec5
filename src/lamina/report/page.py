"""Pages from templates: Jinja2 escapes every value, and figures are embedded as JSON that cannot end its script."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup, escape

from ..support import numbers
from ..support.files import write_text
from ..support.text import script_json

if TYPE_CHECKING:
    from jinja2 import Environment

_TEMPLATES = Path(__file__).parent / "templates"
#: The file that holds Plotly where several pages share it, and what to say instead to have it in the page.
PLOTLY, EMBED = "plotly.min.js", "embed"

#: Functions of ``lamina.support.numbers`` that templates use.
NUMBERS = ("count", "fixed", "number", "percent", "plain", "probability", "value_and_range", "with_range", "with_sd")


def render(template: str, **values: Any) -> str:
    """A template of ``templates/`` with these values, every one of them escaped."""
    return environment().get_template(template).render(values)


@cache
def environment() -> Environment:
    """The templates, with the filter ``prose`` for running text and the functions that format numbers."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    found = Environment(
        loader=FileSystemLoader(_TEMPLATES, encoding="utf-8"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters["prose"] = prose
    found.globals |= {name: getattr(numbers, name) for name in NUMBERS}
    return found


def prose(text: str) -> Markup:
    """Running text, escaped, in which a number stays with its percent sign."""
    return escape(text).replace(" %", Markup("&nbsp;%"))


def interactive(plotly: str, figures: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """What a page with figures by Plotly needs: style, script, figures and Plotly itself.

    plotly: "embed" to have it in the page, or the path of a shared file relative to the page.
    """
    drawings = [{"id": f"figure-{name}", **figure} for name, figure in figures.items()]
    return {
        "style": Markup(_asset("page.css")),
        "script": Markup(_asset("page.js")),
        "figures": Markup(script_json(drawings)),
        "plotly": Markup(plotly_code()) if plotly == EMBED else "",
        "plotly_path": "" if plotly == EMBED else plotly,
    }


def write_plotly(folder: str | Path) -> Path:
    """Write Plotly into a folder, for reports that share it; returns the file."""
    path = Path(folder) / PLOTLY
    write_text(path, plotly_code())
    return path


def plotly_code() -> str:
    """Plotly's JavaScript, 5 MB."""
    from plotly.offline import get_plotlyjs

    return get_plotlyjs()


@cache
def _asset(name: str) -> str:
    return (_TEMPLATES / name).read_text(encoding="utf-8")
