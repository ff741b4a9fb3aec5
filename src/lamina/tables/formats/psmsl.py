"""Monthly and annual means of the Permanent Service for Mean Sea Level: time; mm; missing days; flags."""

import re
from pathlib import Path

from ..messages import Fact, TableError, name_lines, problem, quote
from .cells import Assumed, Rows

SUFFIXES = (".rlrdata", ".metdata")
_LINE = re.compile(r"\s*\d{4}(?:\.\d{1,6})?;\s*-?\d{1,6};\s*(?:\d{1,2}|[YN]);\s*\d{3}\s*")
_MISSING = "-99999"
_SAMPLE = 20
_EXACT = "the years of a tide gauge are exact"


def is_psmsl(path: Path, lines: list[tuple[int, str]]) -> bool:
    """Whether a file is one of the service's, by its name or by the shape of its first lines."""
    named = path.suffix.lower() in SUFFIXES
    return named or (bool(lines) and all(_LINE.fullmatch(line) for _, line in lines[:_SAMPLE]))


def read(path: Path, lines: list[tuple[int, str]]) -> Rows:
    """The means that are not missing, in mm, with exact years CE; the middle of the year for annual means."""
    if not lines:
        raise problem(path, "the file is empty", "get the file again")
    cells, kept, flagged = [], [], []
    annual = "." not in lines[0][1].partition(";")[0]
    for i, line in lines:
        parts = [part.strip() for part in line.split(";")]
        if len(parts) != 4 or not _LINE.fullmatch(line):
            raise _bad_line(path, i, line)
        time, value, missing, flag = parts
        if value == _MISSING:
            continue
        cells.append([f"{time}.5" if annual else time, value, missing, flag])
        kept.append(i)
        if flag != "000":
            flagged.append(i)
    if not cells:
        raise problem(path, "all means are missing", "choose another station")
    facts = [Fact("missing", f"{len(lines) - len(cells)} of {len(lines)} means left out", f"written as {_MISSING}")]
    if annual:
        facts.append(Fact("years", "annual means are at the middle of their year", "2000 is read as 2000.5"))
    warnings = []
    if flagged:
        warnings.append(f"PSMSL flags {name_lines(flagged)}: see the documentation of the station.")
    if path.suffix.lower() == ".metdata":
        warnings.append("metric data have no common datum, and are not for time series: use the .rlrdata of a station.")
    header = ["year (CE)", "sea level (mm)", "missing", "flag for attention"]
    form = f"PSMSL {'annual' if annual else 'monthly'} means"
    return Rows(
        [header, *cells], [lines[0][0], *kept], form, header=0, facts=tuple(facts), warnings=tuple(warnings),
        assumed={name: Assumed(value, _EXACT) for name, value in (("order", "none"), ("t_sd", "0"))},
    )  # fmt: skip


def _bad_line(path: Path, i: int, line: str) -> TableError:
    found = f"found {quote(line)}, where a line of PSMSL has time; mm; missing days; flags"
    return problem(path, found, "get the file again", i)
