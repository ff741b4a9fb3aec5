"""LiPD files (.lpd): a zip archive with metadata.jsonld and one CSV file without headers for each table.

The few parts that lamina needs are read here: the package pylipd would bring a database for linked data with it.
"""

import csv
import io
import json
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from ..messages import Fact, listing, option, problem
from .cells import LARGEST_FILE, Rows
from .excel import check_archive

SUFFIX = ".lpd"
#: Names of variables, without case and punctuation, in the words of other tables.
_NAMES = {
    "age14c": "14C age",
    **dict.fromkeys(("age14cuncertainty", "age14cerror", "age14csd"), "14C age error"),
    **dict.fromkeys(("reservoirage14c", "deltar", "reservoir", "deltareservoir"), "delta R"),
    **dict.fromkeys(("reservoirage14cuncertainty", "deltaruncertainty"), "delta R error"),
    **dict.fromkeys(("calibrationcurve", "calcurve"), "calibration curve"),
    **dict.fromkeys(("rejectedage", "rejectedages", "rejected"), "rejected"),
    **dict.fromkeys(("calage", "calibratedage", "agecal"), "age"),
    "labcode": "lab id",
}
_UNITS = {"permil": "‰", "degc": "°C", "deg c": "°C", "ad": "CE"}
_NAMELESS = ("", "na", "unitless", "none", "missing", "unknown", "null")


class _Table(NamedTuple):
    name: str
    file: str
    columns: list[tuple[str, str, list[int]]]  #: name, unit, and positions in the file, from 0
    missing: str


def is_lipd(path: Path) -> bool:
    """Whether a file is one by its name."""
    return path.suffix.lower() == SUFFIX


def read(path: Path, data: bytes, sheet: str | None, dates: bool) -> Rows:
    """A table of measurements, or of `dates` (those of the chronology, if there are any). Raises TableError."""
    check_archive(path, data)
    metadata = _metadata(path, data)
    tables = list(_tables(metadata.get("chronData"), "measurement")) if dates else []
    tables = tables or list(_tables(metadata.get("paleoData"), "measurement"))
    table = _choose(path, tables, sheet)
    cells = _lines(path, data, table)
    header = [name for name, _, positions in table.columns for _ in positions]
    place = [k for _, _, positions in table.columns for k in positions]
    if not place:
        raise problem(path, f"the metadata name no columns of {table.file}", "get the file again")
    short = next((i for i, row in enumerate(cells, start=1) if len(row) <= max(place)), None)
    if short is not None:
        found = f"{table.file} has {len(cells[short - 1])} cells, but the metadata name column {max(place) + 1}"
        raise problem(path, found, "correct the file", short)
    body = [["" if row[k] == table.missing else row[k] for k in place] for row in cells]
    meanings = {
        k: _meaning(name, unit)
        for k, (name, unit) in enumerate((name, unit) for name, unit, positions in table.columns for _ in positions)
    }
    facts = [Fact("table", table.name, f"one of {len(tables)}" if len(tables) > 1 else "the only one")]
    facts += _without_year(header, body, meanings)
    lines = list(range(1, len(body) + 1))
    return Rows([header, *body], [1, *lines], "LiPD file", header=0, meanings=meanings, facts=tuple(facts))


def read_ensemble(path: Path, data: bytes) -> list[list[str]]:
    """The depths and members of the age ensemble in a file, one line per depth. Raises TableError if it has none."""
    check_archive(path, data)
    tables = list(_tables(_metadata(path, data).get("chronData"), "ensemble"))
    if not tables:
        raise problem(path, "there is no ensemble of ages in this file", "give a file with an ensembleTable")
    table = tables[0]
    depth = [k for name, _, positions in table.columns for k in positions if "depth" in name.lower()][:1]
    members = [k for name, _, positions in table.columns for k in positions if "depth" not in name.lower()]
    if not depth or not members:
        raise problem(path, f"{table.name} has no depths or no members", "correct the file")
    return [[row[k] if k < len(row) else "" for k in (*depth, *members)] for row in _lines(path, data, table)]


def _metadata(path: Path, data: bytes) -> dict[str, Any]:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = [n for n in archive.namelist() if n.rpartition("/")[2] in ("metadata.jsonld", "metadata.json")]
            names += [n for n in archive.namelist() if n.endswith(".jsonld")]
            found = json.loads(archive.read(names[0])) if names else None
    except Exception:  # a damaged archive can make the reader raise anything
        raise problem(path, "the archive is damaged", "get the file again") from None
    if not isinstance(found, dict):
        raise problem(path, "there is no metadata.jsonld in this archive", "give a LiPD file")
    return found


def _tables(part: Any, kind: str, above: str = "") -> Iterator[_Table]:
    """The tables of a kind ("measurement" or "ensemble") below a part of the metadata, of any version of LiPD."""
    if isinstance(part, list):
        for one in part:
            yield from _tables(one, kind, above)
    if not isinstance(part, dict):
        return
    columns = part.get("columns")
    if columns and isinstance(part.get("filename"), str):
        in_model = any(word in above for word in ("ensemble", "summary", "distribution", "model"))
        if kind in above or (kind == "measurement" and not in_model):
            yield _table(part, columns)
        return
    for name, inner in part.items():
        if isinstance(inner, dict | list):
            yield from _tables(inner, kind, f"{above} {name}".lower())


def _table(part: dict[str, Any], columns: Any) -> _Table:
    listed = list(columns.values()) if isinstance(columns, dict) else columns if isinstance(columns, list) else []
    found = []
    for k, column in enumerate(one for one in listed if isinstance(one, dict)):
        number = column.get("number", k + 1)
        positions = [int(n) - 1 for n in (number if isinstance(number, list) else [number]) if _is_position(n)]
        found.append((str(column.get("variableName", "")), str(column.get("units", "")), positions))
    name = str(part.get("tableName") or part["filename"].removesuffix(".csv"))
    return _Table(name, part["filename"], found, str(part.get("missingValue", "NaN")))


def _is_position(number: Any) -> bool:
    """Whether this can be the number of a column, counted from 1."""
    return re.fullmatch("[1-9][0-9]{0,5}", str(number)) is not None


def _choose(path: Path, tables: list[_Table], sheet: str | None) -> _Table:
    names = [table.name for table in tables]
    if not tables:
        raise problem(path, "there is no table of measurements in this file", "give a file with a measurementTable")
    if sheet is None and len(tables) == 1:
        return tables[0]
    if sheet in names:
        return tables[names.index(sheet)]
    what = f"there are {len(names)} tables:" if sheet is None else f'there is no table "{sheet}", but'
    raise problem(path, f"{what} {listing(names)}", f"choose one with {option('sheet', 'NAME')}")


def _lines(path: Path, data: bytes, table: _Table) -> list[list[str]]:
    """The rows of the CSV file of a table."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            name = next(n for n in archive.namelist() if n.rpartition("/")[2] == table.file)
            if archive.getinfo(name).file_size > LARGEST_FILE:
                raise ValueError
            text = archive.read(name).decode("utf-8-sig", errors="replace")
        found = [[cell.strip() for cell in row] for row in csv.reader(text.splitlines()) if any(row)]
    except Exception:
        found = []
    if not found:
        raise problem(path, f"{table.file}, which the metadata name, cannot be read or is empty", "get the file again")
    return found


def _meaning(name: str, unit: str) -> str:
    plain = re.sub(r"[^a-z0-9]", "", name.lower())
    words = _NAMES.get(plain, name)
    unit = _UNITS.get(unit.strip().lower(), unit.strip())
    return words if unit.lower() in _NAMELESS or "(" in words else f"{words} ({unit})"


def _without_year(header: list[str], body: list[list[str]], meanings: dict[int, str]) -> list[Fact]:
    """Of an age BP and the same year CE, which many files have side by side, only the age is used."""
    where = {name.strip().lower(): k for k, name in enumerate(header)}
    if "age" not in where or "year" not in where:
        return []
    age, year = where["age"], where["year"]
    try:
        apart = [abs(1950.0 - float(row[age]) - float(row[year])) for row in body if row[age] and row[year]]
    except ValueError:
        return []
    if not apart or max(apart) > 1.5:
        return []
    meanings[year] = "same as age"
    return [Fact("input", "age, of the two columns age and year", "they say the same")]
