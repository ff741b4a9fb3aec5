"""PANGAEA's tab-delimited text (.tab): a description between /* and */, a header with units in square brackets."""

import re
from pathlib import Path
from typing import NamedTuple

from ..messages import Fact, problem
from .cells import Rows

#: Short names of PANGAEA's parameters, without units and comments, and what they mean.
_NAMES = {
    **dict.fromkeys(("depth", "depth sed", "depth ice/snow", "depth comp", "depth ref", "depth s/r"), "depth"),
    **dict.fromkeys(("depth top", "depth sed top", "samp depth top"), "depth top"),
    **dict.fromkeys(("depth bot", "depth sed bot", "depth bottom", "samp depth bot"), "depth bottom"),
    **dict.fromkeys(("age", "age model", "cal age", "cal yrs", "age cal"), "age"),
    **dict.fromkeys(("age 14c", "age dated 14c", "c-14 age", "14c age"), "14C age"),
    **dict.fromkeys(("label", "sample label", "lab label"), "sample id"),
    "event": "site",
}
#: Ends of short names that say what kind of number it is. PANGAEA writes "e" for error.
_ENDS = {
    **dict.fromkeys((" std dev", " stdev", " std e", " std error", " sd", " dev"), " sd"),
    **dict.fromkeys((" e +", " max"), " max"),
    **dict.fromkeys((" e -", " min"), " min"),
    **dict.fromkeys((" e", " error", " unc", " uncertainty"), " error"),
}
_RADIOCARBON = re.compile(r"14\s?C|radiocarbon", re.IGNORECASE)
_RAW = "14C age"


class _Column(NamedTuple):
    """A header in the words of other tables: "Depth sed [m]" is ("depth", "", "m")."""

    base: str
    end: str
    unit: str

    def __str__(self) -> str:
        return f"{self.base}{self.end}" + (f" ({self.unit})" if self.unit else "")


def is_pangaea(lines: list[tuple[int, str]]) -> bool:
    """Whether a file begins with a comment as in C."""
    return bool(lines) and lines[0][1].lstrip().startswith("/*")


def read(path: Path, lines: list[tuple[int, str]], encoding: str) -> Rows:
    """The rows below the description. Raises TableError if it does not end, or nothing follows."""
    end = next((k for k, (_, line) in enumerate(lines) if "*/" in line), None)
    if end is None:
        raise problem(path, "the description that begins with /* does not end", "close it with */", lines[0][0])
    described, below = [line for _, line in lines[:end]], lines[end + 1 :]
    if len(below) < 2:
        raise problem(path, "there is no table below the description", "get the file again", lines[end][0])
    cells = [[cell.strip() for cell in line.split("\t")] for _, line in below]
    raw = _radiocarbon_names(described)
    columns, facts = _in_years(cells, _with_raw_errors([_column(text, raw) for text in cells[0]]))
    citation = [line.split("\t", 1)[1] for line in described if line.startswith("Citation:\t")]
    facts += [Fact("source", one if len(one) <= 200 else f"{one[:200]}…") for one in citation[:1]]
    return Rows(
        cells, [i for i, _ in below], f"PANGAEA table, {encoding}", header=0,
        meanings={k: str(column) for k, column in enumerate(columns)}, facts=tuple(facts),
    )  # fmt: skip


def _radiocarbon_names(described: list[str]) -> set[str]:
    """Short names of the ages that the list of parameters calls radiocarbon ages.

    An entry reads: LONG NAME [unit] (short name) * PI: ... * METHOD/DEVICE: ... * COMMENT: ...
    """
    found = set()
    for line in described:
        entry, _, about = line.partition(" * ")
        name, _, short = entry.strip().removeprefix("Parameter(s):").rpartition(" (")
        says = f"{name} {about}"
        if short.endswith(")") and "AGE" in name.upper() and _RADIOCARBON.search(says) and "calib" not in says.lower():
            found.add(_without_end(short[:-1].strip().lower())[0])
    return found


def _column(text: str, raw: set[str]) -> _Column:
    head, _, rest = text.partition("[")
    unit = rest.partition("]")[0].strip() if rest else ""
    name = head.partition("(")[0].strip()
    low, end = _without_end(name.lower())
    unit = "" if unit == "±" else unit
    if low in raw:
        return _Column(_RAW, end, unit)
    if low in _NAMES:
        return _Column(_NAMES[low], end, unit)
    return _Column(name[: len(low)], end, unit)


def _with_raw_errors(columns: list[_Column]) -> list[_Column]:
    """The columns, where an error at the right of a radiocarbon age is its error, whatever age it names."""
    found: list[_Column] = []
    for column in columns:
        beside = bool(found) and found[-1].base == _RAW and column.end and column.base in ("age", "14C age", "")
        found.append(column._replace(base=_RAW) if beside else column)
    return found


def _without_end(name: str) -> tuple[str, str]:
    """A short name without the end that says what kind of number it is, and the word for that."""
    for tail, means in _ENDS.items():
        if name.endswith(tail):
            return name.removesuffix(tail).strip(), means
    return name, ""


def _in_years(cells: list[list[str]], columns: list[_Column]) -> tuple[list[_Column], list[Fact]]:
    """Radiocarbon ages and their errors in years, where the table has them in thousands of years."""
    unit = next((column.unit for column in columns if column.base == _RAW and not column.end), "")
    thousands = [
        k for k, one in enumerate(columns) if one.base == _RAW and (one.unit or unit).lower().split()[:1] == ["ka"]
    ]
    if not thousands:
        return columns, []
    for row in cells[1:]:
        for k in thousands:
            if k < len(row):
                row[k] = _thousandfold(row[k])
    turned = [one._replace(unit="yr") if k in thousands else one for k, one in enumerate(columns)]
    return turned, [Fact("radiocarbon unit", "ka, turned into years", "calibration curves are in years")]


def _thousandfold(cell: str) -> str:
    try:
        return f"{1000.0 * float(cell):.10g}"
    except ValueError:
        return cell
