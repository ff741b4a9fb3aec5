"""Damages tables in thousands of ways: text, workbooks, LiPD archives and ensembles of ages, and reads them.

    python benchmarks/fuzz_tables.py --cases 5000 --seed 0

A table may be refused with an error of lamina. Everything else is a finding: another exception, a warning of Python, a
record with a number that is not finite, a message that is empty or long, a case that takes more than 5 seconds of
processor time or a process that takes more than 1 GB. The number of a finding repeats it: ``--only NUMBER``, with
``--keep FILE`` to look at the table. Ends with exit code 1 if there is a finding.
"""

from __future__ import annotations

import argparse
import datetime
import io
import json
import random
import resource
import sys
import tempfile
import time
import traceback
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import lamina
from lamina.support.text import visible
from lamina.tables import Options, read, split, survey
from lamina.tables.ensembles import SummaryWarning, read_covariance, read_ensemble
from lamina.tables.reading import read_ages

#: A case may take this many seconds of processor time, the process this many bytes, a message this many characters.
SECONDS, BYTES, CHARACTERS = 5.0, 1e9, 20_000

PLAIN = "depth,age_bp,age_sd,rsl,rsl_sd\n" + "".join(f"{i},{100 * i + 7},10,{-0.1 * i:.1f},0.1\n" for i in range(1, 9))
CORES = (
    "Site;Depth (cm);Age (cal BP);Age 2σ;RSL (m);RSL 2σ (m);limiting;reject\n"
    "A;1,5;100;40;-0,1;0,2;;no\nA;2;220;40;-0,2;0,2;;no\nA;3,5;340;40;-0,3;0,2;above;no\n"
    "B;1;110;30;-0,1;0,2;;no\nB;2;200;30;-0,2;0,2;;yes\nB;4;410;30;-0,3;0,2;;no\n"
)
CARBON = (
    "lab id,depth,14C age,14C error,delta R,delta R error,curve,d18O (‰),d18O sd\n"
    "X-1,1,520,30,,,IntCal20,-3.1,0.1\nX-2,2,980,35,,,IntCal20,-3.2,0.1\nX-3,3,1500,35,10,20,Marine20,-3.3,0.1\n"
)
SIDES = (
    "depth\tage_ce\tage_min\tage_max\trsl\trsl +1s\trsl -1s\n"
    "1\t1900\t1890\t1910\t1\t0.1\t0.2\n2\t1800\t1780\t1820\t2\t0.1\t0.2\n3\t1700\t1680\t1710\t3\t0.1\t0.2\n"
)
BACON = (
    "labID,\tage,\terror,\tdepth,\tcc\ntop,\t-35,\t10,\t0,\t0\nL-1,\t2020,\t80,\t20.5,\t1\nL-2,\t2440,\t60,\t35,\t1\n"
)
BCHRON = (
    "id,ages,ageSds,position,thickness,calCurves\n"
    "top,-40,10,0,5,normal\nL-1,985,45,44.5,5,intcal20\nL-2,1225,65,49.5,5,shcal20\n"
)
CLAM = (
    "lab_ID,C14_age,cal_age,error,reservoir,depth,thickness\ntop,,-50,5,,0,1\nL-1,450,,40,,50,1\nL-2,1680,,35,9,90,1\n"
)
NOAA = (
    "# Invented Lake\n# Missing_Values: -999.9\n# Variables\n"
    "## depth\tdepth, , , centimeter, , paleolimnology, , , N, \n"
    "## age_calBP\tage, , , calendar year before present, , paleolimnology, , , N, \n"
    "## age_err\tage, , one standard deviation, year, , paleolimnology, , , N, \n"
    "## d18O\tdelta 18O, carbonate, , per mil VPDB, , paleolimnology, , , N, \n"
    "## d18O_err\tdelta 18O, carbonate, two standard deviations, per mil VPDB, , paleolimnology, , , N, \n"
    "depth\tage_calBP\tage_err\td18O\td18O_err\n5\t100\t20\t-3.1\t0.2\n10\t220\t25\t-3.3\t0.2\n15\t340\t25\t-3.6\t0.2\n"
)
PANGAEA = (
    "/* DATA DESCRIPTION:\nParameter(s):\tDEPTH, sediment/rock [m] (Depth sed) * GEOCODE\n"
    "\tAge, dated [ka] (Age dated) * METHOD/DEVICE: Age, 14C AMS\n*/\n"
    "Depth sed [m]\tAge [ka BP]\tAge std dev [±]\tδ18O [‰ PDB]\tδ18O std dev [±]\n"
    "0.05\t0.5\t0.05\t1.2\t0.1\n0.15\t1.4\t0.07\t1.3\t0.1\n0.30\t1.3\t0.07\t1.6\t0.1\n"
)
GAUGE = " 1900.0417;  6946; 0;000\n 1900.1250;-99999;99;000\n 1900.2083;  6980; 2;001\n 1900.2917;  6990; 0;000\n"
SPACES = "  depth   age  age_sd   rsl  rsl_sd\n   1.5   100      10  -0.1     0.1\n  10.0   220      20  -0.2     0.1\n"
ENSEMBLE = "depth,1,2,3\n0,100,110,105\n5,200,190,210\n10,300,310,305\n"
SUMMARY = "depth\tmin\tmax\tmedian\tmean\n0\t90\t110\t100\t100\n5\t150\t250\t200\t201\n10\t280\t330\t300\t302\n"
TEXTS = {
    "core.csv": (PLAIN, CORES, CARBON, SIDES, BACON, BCHRON, CLAM),
    "core.txt": (NOAA, SPACES, SIDES),
    "core.tab": (PANGAEA, SIDES),
    "1.rlrdata": (GAUGE,),
    "ages.csv": (ENSEMBLE, SUMMARY),
}
#: Cells and headers that no table should have, or that few have.
ODD = (
    "", " ", "0", "-0", "-1", "1e308", "-1e308", "1e-320", "nan", "inf", "-inf", "1,5", "1.234,5", "1 234", "1'000",
    "0x1f", "1_000", "١٢٣", "²", "½", "12 ± 3", ">300", "<5", "~7", "1e", "--", "=1+1", "@x", "'=a", "\x1b[31m", "\x00",
    "\u202eabc", "\ufeff", "\ud83d\ude00".encode("utf-16", "surrogatepass").decode("utf-16"), "a" * 2000, "9" * 400,
    "9" * 60_000 + "x", "(" * 60_000, "x" * 140_000, "2 std dev", "95% confidence", "k=2", "1.96 sigma", "variance",
    "age", "age BP", "depth", "rsl error (%)", "14C age", "Age (cal BP) 2σ", "depth (ft)", "year", "2003-05-01",
    "12 May 1998", "modern", "post-bomb", "NA", "n/a", "-999", "9999", "TRUE", "yes", '"', '""', "a,b", "a;b", "a\tb",
)  # fmt: skip
SEPARATORS = (",", ";", "\t", " ", "  ", "|", ", ", ",\t")
ENCODINGS = ("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-32", "latin-1", "cp1252", "cp437", "shift-jis")
PIECES = (b"<", b">", b'"', b"&", b"9999999999", b"ZZZZ9", b"\x00", b"-1", b"e", b"</c>", b"{", b"]", b"\xff", b"null")
OPTIONS: dict[str, tuple[Any, ...]] = {
    "t": ("age_bp", "rsl", "age", "x"), "y": ("rsl", "d18O", "depth"), "t_sd": ("5", "0", "age_sd", "1e300"),
    "y_sd": ("0.1", "rsl_sd", "1e-300"), "t_sigma": (1, 2, 1.96), "y_sigma": (1, 2), "scale": ("BP", "CE", "AD"),
    "order": ("rows", "none", "depth", "rsl"), "order_direction": ("increasing", "decreasing"),
    "sequence": ("none", "Site", "depth"), "pool": (True,), "fill_down": (True,), "site": ("A", "B", "x"),
    "t_errors": ("split", "uniform", "student", "normal"), "curve": ("IntCal20", "SHCal20"),
    "equal_depth": ("tie", "block"), "hiatus": ((2.0,), (1e308,)), "least_gap": (1e-9, 1.0, 1e9),
    "limiting": ("use", "drop"), "incomplete": (True,), "missing": (("-999",), ("none",), ("1", "2")),
    "flags": ("use", "ignore"), "skip_bad_rows": (True,), "age_type": ("radiocarbon", "calendar"),
    "gaps_by": ("depth", "rows"), "sheet": ("Sheet", "paleo0measurement0"), "t_sides": ("errors", "limits"),
}  # fmt: skip


# --- what is damaged, and how ----------------------------------------------------------------------------------------


def damaged_text(rng: random.Random) -> tuple[str, bytes]:
    """The name and the bytes of a text table after a few changes of its cells, lines, separators and encoding."""
    name, text = rng.choice([(name, text) for name, texts in TEXTS.items() for text in texts])
    for _ in range(rng.choice([0, 1, 1, 1, 2, 4])):
        text = rng.choice(TEXT_CHANGES)(text, rng)
    data = text.encode(rng.choice(ENCODINGS) if rng.random() < 0.15 else "utf-8", errors="replace")
    return name, damaged_bytes(data, rng) if rng.random() < 0.15 else data


def _separator(text: str) -> str:
    return max(",;\t", key=text.count)


def _change_cells(text: str, rng: random.Random) -> str:
    separator = _separator(text)
    rows = [line.split(separator) for line in text.split("\n")]
    for _ in range(rng.choice([1, 1, 3, 10])):
        row = rows[0] if rng.random() < 0.4 else rng.choice(rows)
        k = rng.randrange(len(row))
        row[k] = rng.choice(ODD) if rng.random() < 0.7 else row[k] + rng.choice(ODD)
    return "\n".join(separator.join(row) for row in rows)


def _change_columns(text: str, rng: random.Random) -> str:
    separator = _separator(text)
    rows = [line.split(separator) for line in text.split("\n")]
    a, b, kind = rng.randrange(len(rows[0])), rng.randrange(len(rows[0])), rng.randrange(4)
    for i, row in enumerate(rows):
        if max(a, b) < len(row):
            if kind == 0:
                row[a], row[b] = row[b], row[a]
            elif kind == 1:
                row.insert(a, row[b])
            elif kind == 2:
                del row[a]
            elif i and a < len(rows[1]):
                row[a] = rows[1][a] if rng.random() < 0.9 else row[b]
    return "\n".join(separator.join(row) for row in rows)


def _change_lines(text: str, rng: random.Random) -> str:
    lines = text.split("\n")
    a, b, kind = rng.randrange(len(lines)), rng.randrange(len(lines)), rng.randrange(6)
    if kind == 0:
        lines[a], lines[b] = lines[b], lines[a]
    elif kind == 1:
        lines.insert(a, lines[b])
    elif kind == 2:
        del lines[a]
    elif kind == 3:
        lines.insert(a, rng.choice(["", "# note", "title of the table", ",,,", "units,,,", "\x0c", "/* x", "*/"]))
    elif kind == 4:
        lines += lines[1:] * rng.choice([1, 20, 500])
    else:
        return rng.choice(["\r\n", "\r", "\n\n", "\u2028", "\x0b"]).join(lines)
    return "\n".join(lines)


def _change_separator(text: str, rng: random.Random) -> str:
    changed = text.replace(_separator(text), rng.choice(SEPARATORS))
    return changed.replace(".", ",") if rng.random() < 0.3 else changed


TEXT_CHANGES: tuple[Callable[[str, random.Random], str], ...] = (
    _change_cells, _change_cells, _change_cells, _change_columns, _change_lines, _change_separator,
)  # fmt: skip


def damaged_bytes(data: bytes, rng: random.Random) -> bytes:
    """Some bytes of a file changed, cut out or doubled."""
    found = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 5, 20])):
        at, kind = rng.randrange(len(found) or 1), rng.randrange(5)
        if kind == 0:
            found[at : at + 1] = bytes([rng.randrange(256)])
        elif kind == 1:
            del found[at : at + rng.randrange(1, 30)]
        elif kind == 2:
            found[at:at] = found[at : at + rng.randrange(1, 30)]
        elif kind == 3:
            found[at : at + 1] = rng.choice(PIECES)
        elif rng.random() < 0.2:
            del found[at:]
    return bytes(found)


def workbook(rng: random.Random) -> bytes:
    """A sound workbook, some with cells of other types, of other sheets, or far away."""
    import openpyxl

    book = openpyxl.Workbook()
    for line in PLAIN.splitlines():
        book.active.append([float(cell) if cell[-1].isdigit() else cell for cell in line.split(",")])
    for _ in range(rng.choice([0, 1, 3])):
        place = book.active.cell(rng.randrange(1, 10), rng.randrange(1, 7))
        short = [one for one in ODD if len(one) < 1000 and one.isprintable()]
        place.value = rng.choice(
            [True, 1e300, datetime.date(1998, 5, 1), datetime.time(3), "=1/0", "#REF!", None, *short]
        )
    if rng.random() < 0.1:
        book.active[rng.choice(["ZZ1000", "A90000", "XFD9", "AAA1"])] = "stray"
    if rng.random() < 0.1:
        book.create_sheet("other")
    if rng.random() < 0.1:
        book.active.merge_cells("A2:A4")
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


def archive(rng: random.Random) -> bytes:
    """A LiPD file, some with odd values in its metadata."""
    columns = [
        {"variableName": name, "units": unit, "number": k}
        for k, (name, unit) in enumerate(
            [("depth", "cm"), ("age", "yr BP"), ("age error", "yr"), ("d18O", "permil"), ("d18O error", "permil")], 1
        )
    ]
    table = {"filename": "a.csv", "tableName": "paleo0measurement0", "columns": columns, "missingValue": "NaN"}
    metadata: dict[str, Any] = {"paleoData": [{"measurementTable": [table]}]}
    if rng.random() < 0.5:
        odd = (None, True, -1, 0, 10**30, 1e308, "", "²", "x" * 1000, [], {}, [[1]], "9" * 5000, [1, 2, "3"], {"a": 1})
        chosen: Any = rng.choice([metadata, table, columns[0], columns[1]])
        chosen[rng.choice(sorted(chosen))] = rng.choice(odd)
    deep = rng.random() < 0.03
    text = '{"a":' * 900 + "1" + "}" * 900 if deep else json.dumps(metadata)
    return _zipped({"bag/data/metadata.jsonld": text.encode(), "bag/data/a.csv": PLAIN.split("\n", 1)[1].encode()})


def _zipped(files: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, data in files.items():
            packed.writestr(name, data)
    return out.getvalue()


def damaged_archive(data: bytes, rng: random.Random) -> bytes:
    """Damage of a zip archive itself, or of one of its files, packed again."""
    kind = rng.random()
    if kind < 0.2:
        return data
    if kind < 0.45:
        return damaged_bytes(data, rng)
    with zipfile.ZipFile(io.BytesIO(data)) as packed:
        files = {name: packed.read(name) for name in packed.namelist()}
    # Most of a workbook is about its looks: the sheet and its text matter.
    name = rng.choice([name for name in files for _ in range(8 if "sheet1" in name or "metadata" in name else 1)])
    if kind < 0.95:
        files[name] = damaged_bytes(files[name], rng)
    else:
        files[name] = files[name].replace(b"<row ", b"<row " * rng.choice([1, 2]), 3) * rng.choice([0, 2, 1000])
    return _zipped(files)


def damaged_table(rng: random.Random) -> tuple[str, bytes]:
    """The name and the bytes of a table of any kind."""
    kind = rng.random()
    if kind < 0.6:
        return damaged_text(rng)
    if kind < 0.9:
        return "core.xlsx", damaged_archive(workbook(rng), rng)
    return "core.lpd", damaged_archive(archive(rng), rng)


# --- what is read ----------------------------------------------------------------------------------------------------


def readers(name: str, rng: random.Random) -> Iterator[tuple[str, Callable[[Path], Any]]]:
    """Some of the ways to read a table."""
    chosen = rng.sample(sorted(OPTIONS), rng.choice([0, 0, 1, 2, 5]))
    given = {one: rng.choice(OPTIONS[one]) for one in chosen}
    options = Options.of(**given)
    yield "read", lambda path: read(path, options)
    yield "survey", lambda path: survey(path, options)
    if rng.random() < 0.3:
        yield "read_ages", lambda path: read_ages(path, options)
    if rng.random() < 0.2:
        yield "split", lambda path: split(path, rng.choice(["Site", "depth", "lab id"]), options)
    if name == "ages.csv" or rng.random() < 0.1:
        yield "read_ensemble", lambda path: read_ensemble(path, rng.choice([None, [1.0, 2.0]]))
        yield "read_covariance", lambda path: read_covariance(path, 3)
    if rng.random() < 0.1:
        yield "with ages", lambda path: read(path, options, ages=path)
        yield "with dates", lambda path: read(path, Options.of(**given | {"dates": str(path)}))


def wrong(result: Any) -> Iterator[str]:
    """What should not be in a result."""
    for one in result.values() if isinstance(result, dict) else [result]:
        if isinstance(one, lamina.LaminaError):
            yield from wrong_message(one)
        if hasattr(one, "questions"):
            yield from (what for said in one.questions for what in wrong_words(said))
            one = one.reading
        record = getattr(one, "record", None)
        if record is not None:
            one.describe(), repr(record)
            numbers = record.t[record.dated], record.y[record.measured], record.y_sd[record.measured]
            if not all(np.isfinite(values).all() for values in numbers) or (record.t_sd < 0).any():
                yield "a number that is not finite"
        if isinstance(one, np.ndarray) and np.isinf(one).any():
            yield "an age that is infinite"


def wrong_message(error: lamina.LaminaError) -> Iterator[str]:
    """What should not be in the words of an error."""
    yield from wrong_words(str(error))


def wrong_words(said: str) -> Iterator[str]:
    """A message that is empty or long."""
    if not said.strip():
        yield "an error without a message"
    if len(said) > CHARACTERS:
        yield f"a message of {len(said):,} characters"


def try_case(
    number: int, seed: int, folder: Path, keep: Path | None = None, tell: bool = False
) -> tuple[str, list[str]]:
    """Read the table of a number in several ways: what became of it in one word, and what went wrong."""
    rng = random.Random(f"{seed} {number}")
    name, data = damaged_table(rng)
    path, word, found = folder / name, "refused", []
    path.write_bytes(data)
    if keep is not None:
        keep.write_bytes(data)
    for what, reader in readers(name, rng):
        began = time.process_time()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                warnings.simplefilter("ignore", SummaryWarning)
                result = reader(path)
                found += [f"{what}: {one}" for one in wrong(result)]
            word = "read" if what == "read" else word
        except lamina.LaminaError as error:
            found += [f"{what}: {one}" for one in wrong_message(error)]
        except Exception as error:
            found.append(f"{what}: {type(error).__name__}: {visible(' '.join(str(error).split())[:200])}")
            if tell:
                traceback.print_exc()
        took = time.process_time() - began
        found += [f"{what}: took {took:.1f} s"] if took > SECONDS else []
    return f"{path.suffix[1:]} {word}", found


def memory() -> float:
    """The largest number of bytes that this process has used."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return float(peak if sys.platform == "darwin" else 1024 * peak)


def main() -> None:
    """Run the cases that the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", type=int, help="the number of one case")
    parser.add_argument("--keep", type=Path, help="where to write the table of the last case")
    given = parser.parse_args()
    words, wrongs, slowest, began = Counter[str](), 0, 0.0, time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        for number in range(given.cases) if given.only is None else [given.only]:
            before, start = memory(), time.process_time()
            word, found = try_case(number, given.seed, Path(folder), given.keep, tell=given.only is not None)
            slowest = max(slowest, time.process_time() - start)
            if before <= BYTES < memory():
                found.append(f"used {memory() / 1e9:.2f} GB")
            words[word] += 1
            wrongs += bool(found)
            for one in found:
                print(f"case {number} ({word}): {one}", flush=True)
    counted = ", ".join(f"{word} {count}" for word, count in sorted(words.items()))
    most = f"at most {slowest:.1f} s of CPU time for a table read in all ways, and {memory() / 1e6:.0f} MB"
    print(f"{words.total()} cases in {time.perf_counter() - began:.0f} s ({counted}), {most}: {wrongs} findings")
    sys.exit(bool(wrongs))


if __name__ == "__main__":
    main()
