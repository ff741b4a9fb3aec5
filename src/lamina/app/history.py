"""The runs in a folder, whoever made them: every folder in it, and in these, that has a run.json."""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import IO, Any

from ..errors import LaminaError

RUN, REPORT, POSTERIOR, CHECKPOINT = "run.json", "report.html", "posterior.nc", "checkpoint.npz"
#: Folders that are looked into, and runs that are listed, the newest first.
MOST_FOLDERS, MOST_RUNS = 2000, 200
MOST_FILE_BYTES = 50_000_000
#: What a report carries for its figures.
_FIGURES = re.compile(r'<script type="application/json" id="figures">(.*?)</script>', re.DOTALL)


class HistoryError(LaminaError):
    """There is no such run, or it cannot be read."""


def runs(root: Path) -> list[dict[str, Any]]:
    """The runs below a folder, the newest first: folder, kind, table, state, command and when."""
    found: list[dict[str, Any]] = []
    for folder in _folders(root):
        path = folder / RUN
        try:
            when = path.stat().st_mtime
            run = _read(path)
        except (OSError, HistoryError):
            continue
        name = folder.relative_to(root).as_posix()
        found.append({
            "folder": name, "when": when, "kind": str(run.get("kind", "")), "table": str(run.get("table", "")),
            "state": str(run.get("state", "")), "command": str(run.get("command", "")), "rows": run.get("rows"),
        })  # fmt: skip
    return sorted(found, key=lambda one: one["when"], reverse=True)[:MOST_RUNS]


def _folders(root: Path) -> Iterator[Path]:
    """Folders with a run.json, at most two levels below ``root``; hidden ones and links are left out."""
    ahead, seen = [(root, 0)], 0
    while ahead and seen < MOST_FOLDERS:
        folder, level = ahead.pop(0)
        seen += 1
        if level and (folder / RUN).is_file():
            yield folder
        if level < 2:
            try:
                inside = sorted(one for one in folder.iterdir() if one.is_dir() and not one.is_symlink())
            except OSError:
                continue
            ahead += [(one, level + 1) for one in inside if not one.name.startswith(".")]


def find(root: Path, name: str) -> Path:
    """The folder of a run by its name below ``root``. Raises HistoryError for one that is not listed."""
    parts = Path(name).parts
    plain = 1 <= len(parts) <= 2 and not any(part in ("..", ".") or part.startswith(("/", "\\")) for part in parts)
    folder = root.joinpath(*parts) if plain else root
    if not plain or not (folder / RUN).is_file() or not folder.resolve().is_relative_to(root.resolve()):
        raise HistoryError(f"There is no run {name!r} in the folder {root}.")
    return folder


def read(folder: Path) -> dict[str, Any]:
    """run.json of a folder. Raises HistoryError if it cannot be read."""
    return _read(folder / RUN)


def _read(path: Path) -> dict[str, Any]:
    try:
        if path.stat().st_size > MOST_FILE_BYTES:
            raise HistoryError(f"{path} is too large.")
        run = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise HistoryError(f"{path} cannot be read.") from None
    if not isinstance(run, dict):
        raise HistoryError(f"{path} is no run.json.")
    return run


def files(folder: Path, run: dict[str, Any]) -> list[str]:
    """The names of the files of a run that are there."""
    listed = run.get("files")
    names = [RUN, *(listed if isinstance(listed, dict) else {})]
    return [name for name in names if _is_inside(folder, name)]


def _is_inside(folder: Path, name: str) -> bool:
    path = folder / name
    return Path(name).name == name and path.is_file() and not path.is_symlink()


def pack(folder: Path, names: list[str], file: IO[bytes]) -> None:
    """Write the files of a run as one zip, in a folder of its name."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=3) as packed:
        for name in names:
            packed.write(folder / name, f"{folder.name}/{name}")


def figures(folder: Path) -> dict[str, Any]:
    """What the report of a run says and shows: title, lead, and its figures with their captions.

    Raises HistoryError if there is no report.
    """
    path = folder / REPORT
    try:
        if path.stat().st_size > MOST_FILE_BYTES:
            raise HistoryError(f"{path} is too large.")
        text = path.read_text(encoding="utf-8")
        data = _FIGURES.search(text)
        drawn = json.loads(data[1]) if data else []
    except (OSError, ValueError):
        raise HistoryError(f"{path} cannot be read.") from None
    page = _Page()
    page.feed(text[: text.find("</main>")])
    about = {one["id"]: one for one in page.figures}
    for figure in drawn:
        figure |= {"caption": "", "alt": "", "size": "", "heading": "", **about.get(figure["id"], {})}
    return {"title": page.texts["h1"], "lead": page.texts["lead"], "banner": page.texts["banner"], "figures": drawn}


class _Page(HTMLParser):
    """The texts of a report: its title, lead and banner, and the caption and description of each figure."""

    def __init__(self) -> None:
        super().__init__()
        self.texts = {"h1": "", "lead": "", "banner": "", "h3": ""}
        self.figures: list[dict[str, str]] = []
        self._into: str | None = None
        self._ends = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        kind = given.get("class", "")
        if tag in ("h1", "h3") or kind in ("lead", "banner"):
            self._into, self._ends = kind or tag, tag
            self.texts["h3"] = ""
            self.texts["banner"] += " " if kind == "banner" and self.texts["banner"] else ""
        elif tag == "div" and kind.startswith("plot") and given.get("id"):
            size = kind.removeprefix("plot").strip()
            about = {"id": given["id"], "alt": given.get("aria-label", ""), "size": size, "heading": self.texts["h3"]}
            self.figures.append({**about, "caption": ""})
            self.texts["h3"] = ""
        elif tag == "figcaption" and self.figures:
            self._into, self._ends = "caption", tag

    def handle_endtag(self, tag: str) -> None:
        if self._into is not None and tag == self._ends:
            self._into = None
        elif self._into == "banner" and tag == "strong":
            self.texts["banner"] += " "

    def handle_data(self, data: str) -> None:
        if self._into == "caption":
            self.figures[-1]["caption"] = " ".join(f"{self.figures[-1]['caption']} {data}".split())
        elif self._into is not None:
            self.texts[self._into] = f"{self.texts[self._into]}{data}".strip("\n")
