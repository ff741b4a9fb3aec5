"""Reading a report: its outline, its text and its figures."""

import json
import re
from html.parser import HTMLParser


class Outline(HTMLParser):
    """The tags of a page, its text, and the ids of its headings and figures, without what is in scripts."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags, self.ids, self.figures, self.said = [], [], [], []
        self._inside = ""
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        given = dict(attrs)
        self._inside = tag
        if tag == "h2":
            self.ids.append(given["id"])
        if "plot" in (given.get("class") or "").split():
            self.figures.append(given)

    def handle_endtag(self, tag):
        self._inside = ""

    def handle_data(self, data):
        if self._inside not in ("script", "style"):
            self.said.append(data)

    @property
    def text(self) -> str:
        return " ".join("".join(self.said).split())


def figures_of(page: str) -> dict[str, dict]:
    """The figures in a page, by id."""
    (data,) = re.findall(r'<script type="application/json" id="figures">(.*?)</script>', page, flags=re.DOTALL)
    return {one["id"]: one for one in json.loads(data)}


def trace(figure: dict, name: str) -> dict:
    (found,) = [one for one in figure["data"] if one.get("name") == name]
    return found
