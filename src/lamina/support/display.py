"""An object in a few lines: as text for a terminal and as a small table for a notebook."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from .text import visible

#: Names of facts and their values. A list, because users choose some of the names.
Facts = list[tuple[str, str]]


def as_text(title: str, facts: Facts) -> str:
    """The title, then one indented line for each fact."""
    return "\n".join([title, *(f"  {name}: {value}" for name, value in _one_line(facts))])


def as_html(title: str, facts: Facts) -> str:
    """The same as an HTML table. All texts are escaped, because names and units come from users."""
    cell = 'style="text-align: left"'
    rows = (
        f"<tr><th {cell}>{escape(name)}</th><td {cell}>{escape(value)}</td></tr>" for name, value in _one_line(facts)
    )
    return f"<table><caption>{escape(title)}</caption>{''.join(rows)}</table>"


def _one_line(facts: Facts) -> Iterable[tuple[str, str]]:
    return ((visible(" ".join(name.split())), visible(" ".join(value.split()))) for name, value in facts)
