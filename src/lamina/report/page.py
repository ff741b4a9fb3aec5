"""The page: pieces of HTML that escape whatever text they are given, and the file they are put together to."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from html import escape
from importlib import resources
from string import Template
from typing import Any


@dataclass
class Page:
    """Pieces of HTML, and the figures to draw into them."""

    pieces: list[str] = field(default_factory=list)
    drawings: list[dict[str, Any]] = field(default_factory=list)

    def raw(self, html: str) -> None:
        """HTML of our own making; no text from outside may be in it."""
        self.pieces.append(html)

    def heading(self, text: str, anchor: str) -> None:
        self.raw(f'<h2 id="{anchor}">{escape(text)}</h2>')

    def subheading(self, text: str) -> None:
        self.raw(f"<h3>{escape(text)}</h3>")

    def paragraph(self, sentences: Iterable[str], kind: str = "") -> None:
        text = " ".join(_told(one) for one in sentences)
        if text:
            self.raw(f'<p class="{kind}">{text}</p>' if kind else f"<p>{text}</p>")

    def items(self, items: Iterable[str], kind: str = "") -> None:
        listed = "".join(f"<li>{_told(item)}</li>" for item in items)
        if listed:
            self.raw(f'<ul class="{kind}">{listed}</ul>' if kind else f"<ul>{listed}</ul>")

    def table(self, head: Sequence[str], lines: Iterable[Sequence[str]], numbers_from: int = 1) -> None:
        """A table whose columns are text up to ``numbers_from`` and numbers from there on."""

        def row(cells: Sequence[str], tag: str) -> str:
            kinds = ["text" if k < numbers_from else "number" for k in range(len(cells))]
            return "".join(
                f'<{tag} class="{kind}">{escape(cell)}</{tag}>' for cell, kind in zip(cells, kinds, strict=True)
            )

        body = "".join(f"<tr>{row(line, 'td')}</tr>" for line in lines)
        self.raw(
            f'<div class="scroll"><table><thead><tr>{row(head, "th")}</tr></thead><tbody>{body}</tbody></table></div>'
        )

    def figure(self, name: str, drawing: dict[str, Any], alt: str, caption: str = "", size: str = "middle") -> None:
        self.drawings.append({"id": f"figure-{name}", **drawing})
        told = f"<figcaption>{_told(caption)}</figcaption>" if caption else ""
        self.raw(
            f'<figure><div class="plot {size}" id="figure-{name}" role="img" aria-label="{escape(alt)}"></div>{told}'
            "</figure>"
        )

    def render(self, title: str, version: str) -> str:
        """The whole file, with Plotly and the figures in it."""
        return Template(_asset("page.html")).substitute(
            title=escape(title),
            version=escape(version),
            style=_asset("page.css"),
            body="\n".join(self.pieces),
            plotly=_plotly(),
            figures=_json(self.drawings),
            script=_asset("page.js"),
        )


def _told(text: str) -> str:
    """Running text, in which a number stays with its percent sign."""
    return escape(text).replace(" %", "&nbsp;%")


def _json(drawings: list[dict[str, Any]]) -> str:
    """JSON that cannot end the script element it stands in."""
    text = json.dumps(drawings, separators=(",", ":"), allow_nan=False)
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


@cache
def _asset(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


def _plotly() -> str:
    from plotly.offline import get_plotlyjs

    return get_plotlyjs()
