"""The pages: frames in which scripts show what the server answers."""

from __future__ import annotations

from dataclasses import asdict
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, Response
from starlette.routing import Route

from ..support.text import script_json
from . import calls, history
from .calls import state_of
from .commands import OWN, Command
from .embedded import EMBEDDED
from .explanations import CHOICES, COMMANDS, LABELS, MAIN, RECORDS

if TYPE_CHECKING:
    from jinja2 import Environment

_HERE = Path(__file__).parent
STATIC = _HERE / "static"
#: The templates of the report: its pages begin as those of the app do, and the figures name colours of its style.
REPORT = _HERE.parent / "report" / "templates"


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    loader = FileSystemLoader([_HERE / "templates", REPORT], encoding="utf-8")
    return Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)


def _page(request: Request, name: str, title: str, /, **data: Any) -> Response:
    state = state_of(request)
    text = (
        _environment()
        .get_template(f"{name}.html")
        .render(title=title, token=state.token, folder=str(state.folder), script=name, data=Markup(script_json(data)))
    )
    return HTMLResponse(text)


async def home(request: Request) -> Response:
    """Drop a table, see what runs, and what has run."""
    records = [{"name": name, "about": RECORDS.get(name, "")} for name in EMBEDDED]
    return _page(request, "home", "Tables and runs", records=records)


async def table(request: Request) -> Response:
    """One table: what was understood, what to change, and what to fit."""
    state = state_of(request)
    shown = state.shelf.get(request.path_params["key"])
    commands = [_described(command) for command in state.commands.values()]
    known = [*dict.fromkeys([*(one.name for one in state.shelf.tables.values()), *state.shelf.listed()])]
    data = {"key": shown.key, "name": shown.name, "choices": shown.choices, "tables": known}
    return _page(request, "table", shown.name, **data, commands=commands, explained=CHOICES)


def _described(command: Command) -> dict[str, Any]:
    shown = [one for one in command.options if one.name not in OWN]
    options = [asdict(one) | {"flag": one.flag, "label": LABELS.get(one.name, one.help)} for one in shown]
    about = {"help": COMMANDS.get(command.name, command.help), "main": MAIN.get(command.name, [])}
    return {"name": command.name, "options": options, "reading": list(command.reading), **about}


async def job(request: Request) -> Response:
    """One run while it runs."""
    found = state_of(request).jobs.get(request.path_params["key"])
    return _page(request, "job", f"Run of {found.table}", key=found.key)


async def run(request: Request) -> Response:
    """One run that is written."""
    name = request.path_params["name"]
    history.find(state_of(request).folder, name)
    return _page(request, "run", name, name=name)


async def compare(request: Request) -> Response:
    """Two runs side by side."""
    names = [request.query_params.get(one, "") for one in ("a", "b")]
    for name in names:
        history.find(state_of(request).folder, name)
    return _page(request, "compare", f"{names[0]} and {names[1]}", names=names)


async def static(request: Request) -> Response:
    """Scripts and styles; Plotly from its package."""
    name = request.path_params["name"]
    elsewhere = {"report.css": REPORT / "page.css", "plotly.min.js": plotly()}
    known = {path.name: path for path in STATIC.iterdir()} | elsewhere
    if name not in known:
        return Response("There is no such file.\n", status_code=404, media_type="text/plain")
    headers = {"cache-control": "private, max-age=3600"} if name == "plotly.min.js" else {}
    return FileResponse(known[name], headers=headers)


@cache
def plotly() -> Path:
    """Where Plotly's JavaScript is, without importing Plotly, which takes a second."""
    found = find_spec("plotly")
    assert found is not None
    assert found.origin is not None
    return Path(found.origin).parent / "package_data" / "plotly.min.js"


def refuse(request: Request, error: Exception) -> Response:
    """An error that lamina raises on purpose is an answer: in JSON for scripts, as a page for people."""
    if request.url.path.startswith("/api/"):
        return calls.refuse(request, error)
    answer = _page(request, "error", "Not here", error=str(error))
    answer.status_code = 404
    return answer


ROUTES = [
    Route("/", home),
    Route("/table/{key}", table),
    Route("/job/{key:int}", job),
    Route("/run/{name:path}", run),
    Route("/compare", compare),
    Route("/static/{name}", static),
]
