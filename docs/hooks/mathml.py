"""Converts $...$ and $$...$$ to MathML when the site is built, so that pages show formulas without a network.

$$ ... \\tag{7} $$ gets the anchor ``eq-7``, and "(7)" in the text of the same page links to it. Code is unchanged.
Browsers ignore some of the output of latex2mathml; ``mend`` rewrites it in MathML that they support.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from itertools import pairwise
from typing import Any

from latex2mathml.converter import convert
from mkdocs.exceptions import PluginError

#: Code, which stays as it is; formulas; and mentions of equations.
PIECES = re.compile(
    r"(?P<code>^(?P<fence>```+|~~~+).*?^(?P=fence)\s*?$|(?P<ticks>`+)(?!`).+?(?<!`)(?P=ticks)(?!`))"
    r"|\$\$(?P<display>.+?)\$\$"
    r"|(?<![\\$])\$(?P<inline>[^\s$](?:[^$]*?[^\s$\\])?)\$(?![\d$])"
    r"|(?<=[ \n])\((?P<mention>\d{1,2})\)",
    flags=re.DOTALL | re.MULTILINE,
)
TAG = re.compile(r"\\tag\{(\d+)\}")
#: Marks that open and close a group, and wide spaces, which separate clauses.
MARKS = re.compile(
    r"\\\\|(?P<open>(?<!\\)\{|\\begin\b|\\left(?![a-z]))|(?P<close>(?<!\\)\}|\\end\b|\\right(?![a-z]))|(?P<wide>\\q?quad\b)"
)
SPACES = {"negativethinmathspace": "-0.1667em"}
FENCES = {"⟨": "prefix", "⟩": "postfix"}
PRIMES = ("′", "″", "‴")
#: Thin space, which TeX puts between a function's name and what follows.
THIN = "0.1667em"
OPENING, CLOSING = {"(", "[", "⟨"}, {")", "]", "⟩", "|"}
SCRIPT = dict(zip("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "𝒜ℬ𝒞𝒟ℰℱ𝒢ℋℐ𝒥𝒦ℒℳ𝒩𝒪𝒫𝒬ℛ𝒮𝒯𝒰𝒱𝒲𝒳𝒴𝒵", strict=True))

#: The formulas of the current page, by their placeholder.
_formulas: dict[str, str] = {}


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Replace each formula by a placeholder that Markdown does not change."""
    _formulas.clear()
    numbers = set(TAG.findall(markdown))

    def one(piece: re.Match[str]) -> str:
        if piece["code"]:
            return piece[0]
        if piece["mention"]:
            number = piece["mention"]
            return f"[({number})](#eq-{number})" if number in numbers else piece[0]
        word = f"FORMULAx{len(_formulas)}x"
        try:
            _formulas[word] = display(piece["display"]) if piece["display"] else mathml(piece["inline"], "inline")
        except Exception as error:
            raise PluginError(f"{page.file.src_path}: the formula {piece[0]!r} cannot be shown: {error}") from error
        tag = TAG.search(piece[0])
        return f"{word}\n{{: #eq-{tag[1]} }}" if tag else word  # so that MkDocs knows of the anchor

    return PIECES.sub(one, markdown)


def on_page_content(html: str, page: Any, **_: Any) -> str:
    """Replace the placeholders by the formulas."""
    for word, formula in _formulas.items():
        alone = re.search(rf'<p(?: id="eq-\d+")?>{word}</p>', html)
        if formula.startswith("<div") and alone is None:
            raise PluginError(f"{page.file.src_path}: leave a blank line before and after each displayed formula")
        html = html.replace(alone[0] if alone else word, formula)
    return html


def display(latex: str) -> str:
    """A displayed formula, with its number if it has one."""
    tag = TAG.search(latex)
    body = "".join(f"<div>{mathml(clause, 'block')}</div>" for clause in clauses(TAG.sub("", latex)))
    body = f'<div class="formula__body">{body}</div>'
    if tag is None:
        return f'<div class="formula">{body}</div>'
    anchor = f"eq-{tag[1]}"
    return f'<div class="formula" id="{anchor}">{body}<a class="formula__number" href="#{anchor}">({tag[1]})</a></div>'


def clauses(latex: str) -> list[str]:
    """The parts between wide spaces, which wrap on a narrow page."""
    parts, depth, begin = [], 0, 0
    for mark in MARKS.finditer(latex):
        if mark["wide"] and depth == 0:
            parts.append(latex[begin : mark.start()])
            begin = mark.end()
        depth += 1 if mark["open"] else -1 if mark["close"] else 0
    return [*parts, latex[begin:]]


def mathml(latex: str, kind: str) -> str:
    """LaTeX as MathML; ``kind`` is "inline" or "block". Raises ValueError for an unknown command."""
    latex = latex.strip().replace("{aligned}", "{align*}")
    text = convert(latex, display=kind).replace(' xmlns="http://www.w3.org/1998/Math/MathML"', "")
    left = re.findall(r"\\[a-zA-Z]+|>&<", text)
    if left:
        raise ValueError(f"{left[0]} is not understood")
    root = ET.fromstring(text)
    for element in list(root.iter()):
        mend(element)
    for element in list(root.iter()):
        space(element)
    return ET.tostring(root, encoding="unicode")


def mend(element: ET.Element) -> None:
    """Rewrite one element in a form that browsers support."""
    text = element.text or ""
    if element.tag == "mi":
        if element.get("mathvariant") == "script":
            element.attrib.pop("mathvariant")
            element.text = SCRIPT.get(text, text)
        elif len(text) == 1 and "Α" <= text <= "Ω":
            element.set("mathvariant", "normal")
        elif text in FENCES:
            element.tag = "mo"
            element.attrib.update(form=FENCES[text], stretchy="false")
        elif text == "~":
            element.tag, element.text = "mo", "∼"
        elif text == ";":
            element.tag = "mo"
            element.set("separator", "true")
    elif element.tag == "mo" and text.isalpha():
        element.tag = "mi"
        element.set("mathvariant", "normal")
    elif element.tag == "mo" and text in ("|", "/"):
        element.attrib.update(lspace="0", rspace="0")
    elif element.tag == "mspace" and element.get("width") in SPACES:
        element.set("width", SPACES[element.attrib["width"]])
    elif element.tag == "mtr":
        align_cells(list(element))
    elif element.tag == "mrow":
        bracket_matrices(element)
    elif element.tag in ("msup", "msubsup") and (element[-1].text or "") in PRIMES:
        set_primes(element)


def bracket_matrices(row: ET.Element) -> None:
    """Brackets of a matrix as its borders: characters stretch only in fonts for mathematics."""
    for before, table, after in zip(list(row), list(row)[1:], list(row)[2:], strict=False):
        if table.tag == "mtable" and (before.text, after.text) == ("(", ")"):
            row.remove(before)
            row.remove(after)
            table.set("class", "matrix")


def set_primes(element: ET.Element) -> None:
    """Primes as text after the letter: superscripts look right only in fonts for mathematics."""
    *rest, primes = element
    primes.tag = "mtext"
    primes.set("class", "prime")
    body = ET.Element("msub") if len(rest) > 1 else rest[0]
    if len(rest) > 1:
        body.extend(rest)
    element[:] = [body, primes]
    element.tag = "mrow"


def align_cells(cells: list[ET.Element]) -> None:
    """Alignment by style, because browsers no longer support the attribute; no gap at the equals sign."""
    for number, cell in enumerate(cells):
        side = cell.attrib.pop("columnalign", "")
        if side == "right":
            cell.set("style", f"text-align: right; padding-right: 0{'; padding-left: 2em' if number else ''}")
        elif side == "left":
            cell.set("style", "text-align: left; padding-left: 0")


def space(parent: ET.Element) -> None:
    """A thin space around names such as log, but not before a bracket, nor between a sign and its number."""
    if parent.tag not in ("math", "mrow", "mtd", "mstyle"):
        return
    for child, following in pairwise(list(parent)):
        if child.tag == "mo" and child.text not in CLOSING and following.tag == "mo" and following.text == "−":
            following.set("form", "prefix")
        if is_function(child):
            first = next((element.text for element in following.iter() if element.text), "")
            wanted = first == "|" or (following.tag != "mo" and first not in OPENING)
        else:
            wanted = is_function(following) and child.tag != "mo"
        if wanted:
            parent.insert(list(parent).index(child) + 1, ET.Element("mspace", width=THIN))


def is_function(element: ET.Element) -> bool:
    """Whether this is a name such as log."""
    text = element.text or ""
    return element.tag == "mi" and (len(text) > 1 or (text.isascii() and element.get("mathvariant") == "normal"))
