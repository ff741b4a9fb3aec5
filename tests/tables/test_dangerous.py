"""Tables that look plausible and are ambiguous or dangerous: each is read correctly, asked about, or refused.

A case is a table, options, and what must happen: `asks` (an error that names the option that decides), `refuses`,
`warns` (it is read, with a warning), or `reads` (it is read correctly, and the description gives the reason).
"""

import shlex
from dataclasses import dataclass
from typing import Any

import pytest

from lamina.dates import Radiocarbon
from lamina.tables import Options, TableError, read, read_ages, split
from lamina.tables.checks.survey import survey


@dataclass(frozen=True)
class Case:
    """One table and its outcome. `ages`: it holds dates only. `words`: of the message or the description."""

    outcome: str
    content: str
    words: tuple[str, ...]
    options: dict[str, Any]
    ages: bool
    t: list[float] | None
    t_sd: list[float] | None
    y_sd: list[float] | None
    rows: int | None

    def read(self, path: Any, options: dict[str, Any] | None = None) -> Any:
        reader = read_ages if self.ages else read
        return reader(path, Options.of(**(self.options if options is None else options)))


def case(outcome: str, content: str, *words: str, ages: bool = False, **more: Any) -> Case:
    facts = {name: more.pop(name, None) for name in ("t", "t_sd", "y_sd", "rows")}
    return Case(outcome, content, words, more, ages, **facts)


def asks(content: str, *words: str, **more: Any) -> Case:
    return case("asks", content, *words, **more)


def refuses(content: str, *words: str, **more: Any) -> Case:
    return case("refuses", content, *words, **more)


def warns(content: str, *words: str, **more: Any) -> Case:
    return case("warns", content, *words, **more)


def reads(content: str, *words: str, **more: Any) -> Case:
    return case("reads", content, *words, **more)


def column(header: str, *cells: object, table: str | None = None) -> str:
    """A plain table with one more column, whose cells repeat."""
    head, *rows = (table or PLAIN).splitlines()
    return "\n".join([f"{head},{header}", *(f"{row},{cells[k % len(cells)]}" for k, row in enumerate(rows))]) + "\n"


def renamed(**names: str) -> str:
    """The plain table under other headers."""
    head, rest = PLAIN.split("\n", 1)
    return ",".join(names.get(name, name) for name in head.split(",")) + "\n" + rest


PLAIN = "depth,age,age_sd,value,value_sd\n" + "".join(
    f"{10 * k},{1000 + 300 * k},{40 + k},{1 + 0.1 * k:g},0.1\n" for k in range(6)
)
BP = PLAIN.replace("age,", "age_bp,", 1)
BACON = "labID,age,error,depth\n" + "".join(
    f"GrA-{19478 + 7 * k},{4128 + 40 * k},{60 - k},{1.5 + 4 * k}\n" for k in range(6)
)
NAMED = "labID,age,error,depth\n" + "".join(f"S{k},{4128 + 40 * k},{60 - k},{1.5 + 4 * k}\n" for k in range(6))
CURVES = "depth,age,error,curve,value,value_sd\n1,100,10,normal,1,1\n2,2000,40,intcal20,1,1\n3,6000,40,intcal20,1,1\n"
NEOTOMA = (
    "chroncontrolid,depth,thickness,chroncontrolage,agelimityounger,agelimitolder,chroncontroltype\n"
    "1,0.5,1,-50,-55,-45,Core top\n2,100.5,5,2310,2250,2370,Radiocarbon\n"
    "3,210.5,5,4160,4090,4230,Radiocarbon\n4,305,5,9180,9100,9260,Radiocarbon\n"
)
LIMITS = "depth,age,age_min,age_max,value,value_sd\n" + "".join(
    f"{k},{1000 + 300 * k},{950 + 300 * k},{1050 + 300 * k},1,0.1\n" for k in range(6)
)
BOTH = (
    "depth,Age BP,+/-,Age cal BP,+/-,RSL,RSL_sd\n1,500,30,530,20,-1,0.1\n2,900,30,820,40,-1,0.1\n"
    "3,1900,30,1810,50,-1,0.1\n"
)
YEARS = "year,year_sd,value,value_sd\n" + "".join(f"{1900 + 5 * k},1,{0.1 * k:g},0.1\n" for k in range(6))


def gauges(header: str, *names: str) -> str:
    """One column of names, each with six years."""
    head, *rows = YEARS.splitlines()
    return "\n".join([f"{header},{head}", *(f"{name},{row}" for name in names for row in rows)]) + "\n"


def limits(up: str, low: str) -> str:
    """Upper and lower columns that hold limits."""
    rows = "".join(f"{k},{2003 - 40 * k},{2012 - 40 * k},{1993 - 40 * k},1,0.1\n" for k in range(5))
    return f"depth,age_ce,{up},{low},rsl,rsl_sd\n{rows}"


RADIOCARBON = {
    "Bacon's own core without cc": asks(BACON, "GrA-19478", "--age-type radiocarbon", "--age-type calendar", ages=True),
    "Bacon's columns, and no laboratory number": asks(NAMED, "Bacon", "--age-type", ages=True),
    "its answer": reads(BACON, "6 ages", "set by --age-type", ages=True, age_type="radiocarbon", curve="IntCal20"),
    "the other answer": reads(
        BACON, "set by --age-type", ages=True, age_type="calendar", t=[4128, 4168, 4208, 4248, 4288, 4328]
    ),
    "a curve in a column": reads(CURVES, "2 ages", 'the column "curve"', scale="BP"),
    "a curve beside an age of no scale": reads(CURVES, "2 ages", "BP"),
    "all curves are normal": reads(CURVES.replace("intcal20", "normal"), "calendar", t=[100, 2000, 6000]),
    "a curve beside calibrated ages": reads(
        CURVES.replace("age,", "Age (cal BP),", 1).replace("normal", "intcal20"), "calendar", t=[100, 2000, 6000]
    ),
    "a curve that does not exist": refuses(CURVES.replace("normal", "intcal99"), "line 2", "intcal99"),
    "Beta numbers": asks(column("Sample ID", "Beta-123456", "Beta-123457"), "Beta-123456", "--age-type"),
    "OS numbers beside an age BP": asks(column("Lab no", "OS-60112", table=BP), "OS-60112", "--age-type"),
    "Poznan numbers in a column of any name": asks(
        column("material", "Poz-3341", "Poz-3342"), "Poz-3341", "--age-type"
    ),
    "UB numbers with a letter": asks(column("id", "UB-201A", "UB-211A", "UB-437"), "UB-201A", "--age-type"),
    "Keck numbers with a blank": asks(column("code", "UCIAMS 12345", "UCIAMS 12346"), "UCIAMS 12345", "--age-type"),
    "laboratory numbers beside calibrated ages": reads(
        column("Lab ID", "Beta-123456", table=renamed(age="Age (cal BP)")), t=[1000, 1300, 1600, 1900, 2200, 2500]
    ),
    "laboratory numbers beside years": reads(
        "Lab ID,depth,year_ce,year_sd,value,value_sd\nOS-1234,1,1900,9,1,1\nOS-1235,2,1800,9,1,1\n", t=[1900, 1800]
    ),
    "sample names that are no laboratory numbers": reads(column("Sample ID", "A-1", "B-20", "core-300", "SC-4001")),
    "fraction modern": asks(column("Fraction Modern", 0.88, 0.85, 0.8), "Fraction Modern", "--age-type"),
    "F14C": asks(column("F14C", 0.88, 0.85, 0.8), "F14C", "--age-type"),
    "percent modern": asks(column("pMC", 88, 85, 80), "pMC", "--age-type"),
    "AMS in the header of the age": asks(renamed(age="AMS age"), "AMS age", "--age-type"),
    "Libby in the header of the age": reads(
        renamed(age="Libby age", age_sd="error"), "6 ages", "calibrated", curve="SHCal20"
    ),
    "years that are called RCYBP": reads(
        renamed(age="Age (RCYBP)", age_sd="error"), "6 ages", "calibrated", curve="IntCal20"
    ),
    "uncal in the header": reads(renamed(age="Age (uncal BP)", age_sd="error"), "6 ages", "IntCal20", "Warning"),
    "a method column of one kind": asks(column("method", "AMS 14C"), "AMS 14C", "--age-type"),
    "a reservoir offset": asks(column("delta_r", 50), "delta_r", "--age-type"),
    "radiocarbon in another header": asks(column("Radiocarbon lab", "Oxford"), "Radiocarbon lab", "--age-type"),
    "14C ages that the user names": reads(
        renamed(age="14C age", age_sd="14C error"), "6 ages", "calibrated", t_name="Age", curve="IntCal20"
    ),
    "rows of two types": reads(
        column("age_type", "radiocarbon", "calendar", "14C", "tephra", "AMS", "210Pb", table=BP),
        "3 ages",
        'the column "age_type"',
        curve="IntCal20",
    ),
    "rows of an unknown type": refuses(column("date_type", "radiocarbon", "guess"), "guess", 'column "date_type"'),
    "a curve by option": reads(BP, "6 ages", "set by --curve", curve="IntCal20"),
    "a curve by option against the header": asks(
        renamed(age="Age (cal BP)"), "--curve", "--age-type radiocarbon", curve="IntCal20"
    ),
    "a curve by option against years": asks(
        "depth,year_ce,year_sd,value,value_sd\n1,1900,9,1,1\n2,1800,9,1,1\n", "--curve", curve="SHCal20"
    ),
    "radiocarbon ages of the south": asks(
        column("latitude", -41.3, table=renamed(age="14C age", age_sd="14C error")), "--curve", "SHCal20"
    ),
    "radiocarbon ages of shells": asks(
        column("material", "marine shell", table=renamed(age="14C age", age_sd="14C error")), "--curve", "Marine20"
    ),
    "calibrated radiocarbon years": reads(
        column("agetype", "Calibrated radiocarbon years BP"),
        "calendar",
        "agetype",
        t=[1000, 1300, 1600, 1900, 2200, 2500],
    ),
    "radiocarbon years of Neotoma": reads(
        column("agetype", "Radiocarbon years BP"), "6 ages", "calibrated", curve="IntCal20"
    ),
    "dates of Neotoma": asks(column("geochrontype", "Carbon-14", "Core top"), "Carbon-14", "--age-type"),
    "its answer, dates": reads(
        column("geochrontype", "Carbon-14", "Core top"), "3 ages", age_type="radiocarbon", curve="IntCal20"
    ),
    "all ages are calendar ages": reads(
        column("method", "AMS 14C", "210Pb"),
        "set by --age-type",
        age_type="calendar",
        t=[1000, 1300, 1600, 1900, 2200, 2500],
    ),
    "controls of Neotoma": asks(NEOTOMA, "Radiocarbon", "--age-type", ages=True),
    "limits of its radiocarbon ages": asks(
        NEOTOMA, "limits of radiocarbon ages", "--t-sigma 1", ages=True, age_type="radiocarbon"
    ),
    "its answer, controls": reads(
        NEOTOMA,
        "3 ages",
        "Warning",
        ages=True,
        age_type="radiocarbon",
        t_sigma=1,
        t=[-50, *(Radiocarbon(age, sd).mean for age, sd in ((2310, 60), (4160, 70), (9180, 80)))],
        t_sd=[5, *(Radiocarbon(age, sd).sd for age, sd in ((2310, 60), (4160, 70), (9180, 80)))],
    ),
    "ages beside calibrated ages": asks(BOTH, "Age BP", "Age cal BP", "--t"),
    "radiocarbon ages beside ages of no scale": asks(
        "depth,age14C,age14C_sd,age,age_sd,value,value_sd\n1,500,30,,,1,1\n2,900,30,,,1,1\n3,,,1900,30,1,1\n", "--scale"
    ),
    "limits beside laboratory numbers": asks(
        column("Lab no", "Beta-123456", "Beta-123457", table=LIMITS), "Beta-123456", "--age-type"
    ),
    "radiocarbon in a comment": asks("# Ages are uncalibrated\n" + PLAIN, "Ages are uncalibrated", "--age-type"),
    "radiocarbon in a title": asks("Radiocarbon dates of a core\n" + PLAIN, "Radiocarbon dates of", "--age-type"),
    "calibrated radiocarbon in a comment": reads(
        "# Radiocarbon ages, calibrated with IntCal20\n" + PLAIN, t=[1000, 1300, 1600, 1900, 2200, 2500]
    ),
    "errors of radiocarbon ages in ka": refuses(
        "depth,14C age,14C error\n1,1500,0.05\n2,2500,0.05\n3,3500,0.05\n",
        "0.05",
        "any laboratory",
        ages=True,
        curve="IntCal20",
    ),
    "limits as errors of radiocarbon ages": refuses(
        "depth,14C age,14C error\n1,1500,1560\n2,2500,2560\n3,3500,3560\n", "1560", "limit", ages=True, curve="IntCal20"
    ),
    "reservoir ages": reads(
        column("reservoir_age", 400, table=renamed(age="14C age", age_sd="14C error")),
        "reservoir_age",
        "subtracted",
        curve="IntCal20",
        t=[Radiocarbon(600 + 300 * k, 40 + k).mean for k in range(6)],
    ),
    "reservoir ages beside a marine curve": refuses(
        column("reservoir_age", 400, table=renamed(age="14C age", age_sd="14C error")), "twice", curve="Marine20"
    ),
    "foraminifera": asks(
        column("species", "N. pachyderma", table=renamed(age="14C age", age_sd="14C error")), "Marine20", "--curve"
    ),
    "δ13C beside radiocarbon ages": refuses(
        "lab,depth,14C age,14C error,d13C,d13C_sd\nA,1,500,30,-25,1\nB,2,900,30,-26,1\nC,3,1900,30,-25,1\n",
        "d13C",
        "--y",
    ),
    "post-bomb carbon without a zone": asks(
        "depth,14C age,14C error\n1,-1020,30\n2,-300,30\n3,400,30\n", "post-bomb", "NH1", ages=True
    ),
    "percent as F14C": refuses(
        "depth,F14C,F14C error\n1,98,0.3\n2,95,0.3\n3,91,0.3\n", "pMC", "percent", ages=True, curve="IntCal20"
    ),
    "Bacon's cc beside a 14C age": reads(
        "labID,14C age,error,depth,cc\nA,500,30,1,3\nB,900,30,2,3\nC,1900,30,3,3\n", "SHCal20", ages=True
    ),
    "ages with their errors in one cell": reads(
        "depth,14C age (BP),value,value_sd\n1,500 ± 30,1,1\n2,900 ± 40,1,1\n3,1900 +/- 50,1,1\n",
        "3 ages",
        "after ±",
        curve="IntCal20",
        t=[Radiocarbon(500, 30).mean, Radiocarbon(900, 40).mean, Radiocarbon(1900, 50).mean],
    ),
    "radiocarbon ages in ka": refuses(renamed(age="14C age (ka BP)", age_sd="14C error (ka)"), "years"),
}

POOLING = {
    "tide gauges under ID": asks(gauges("ID", "12", "47", "112"), '"ID"', "--sequence", "--pool", "--by", order="none"),
    "regions": asks(gauges("Region", "Maine", "Florida"), '"Region"', "--pool", "--site", order="none"),
    "gauges with names": asks(gauges("gauge", "NEW YORK", "BOSTON"), '"gauge"', "--pool", order="rows"),
    "its answer, pooled": reads(gauges("Region", "Maine", "Florida"), "--pool", order="none", pool=True, rows=12),
    "its answer, sequences": reads(
        gauges("gauge", "NEW YORK", "BOSTON"), "2:", order="rows", sequence="gauge", rows=12
    ),
    "one of them": reads(gauges("Region", "Maine", "Florida"), order="none", sequence="Region", site="Maine", rows=6),
    "latitudes that differ": asks(column("latitude", 44.1, 39.2, 25.0), "latitude", "--pool", "km"),
    "far sites under one curve": asks(
        "site,lat,lon,age_ce,age_sd,rsl,rsl_sd\n"
        + "".join(
            f"{site},{lat},-70,{1000 + 90 * k},9,1,1\n" for site, lat in (("A", 44), ("B", 25)) for k in range(4)
        ),
        "--site",
        "--pool",
        "km",
        order="none",
    ),
    "near sites under one curve": asks(
        "site,lat,lon,age_ce,age_sd,rsl,rsl_sd\n"
        + "".join(
            f"{site},{lat},-70,{1000 + 90 * k},9,1,1\n" for site, lat in (("A", 44), ("B", 44.2)) for k in range(4)
        ),
        'line 1, column "site": 2 sites ("A", "B"), up to 22 km apart, would share one curve',
        "--pool",
        order="none",
    ),
    "its answer, near sites": warns(
        "site,age_ce,age_sd,rsl,rsl_sd\nA,1900,9,1,1\nA,1950,9,1,1\nB,1980,9,1,1\n",
        "2 sites share one curve",
        order="none",
        sequence="site",
    ),
    "two proxies in one column": asks(column("variable", "d18O", "d13C", table=BP), '"variable"', "--by", order="none"),
    "species of a proxy": asks(column("species", "G. ruber", "N. incompta", table=BP), '"species"', "--by"),
    "species of dated shells": reads(
        column("species", "Macoma", "Hiatella", table=renamed(age="14C age", age_sd="14C error", value="note")),
        "6 ages",
        ages=True,
        curve="Marine20",
    ),
    "months beside years": warns(
        "year,year_sd,month,level,level_sd\n1990,0,1,1,1\n1990,0,2,1,1\n1990,0,3,1,1\n",
        "month",
        "decimal",
        order="none",
    ),
    "rows that stand twice": warns(
        BP + BP.split("\n", 1)[1], "lines 2, 3, 4, 5, 6 and 7 and lines 8", "count twice", order="none", rows=12
    ),
    "a place rounded differently": reads(column("latitude", 44.12, 44.13, 44.12)),
    "two runs of age in the order of the rows": asks(
        "age_bp,age_sd,value,value_sd\n"
        + "".join(f"{t},20,1,1\n" for t in (100, 300, 500, 700, 900, 150, 350, 560, 740, 950)),
        "line 7",
        "sigma",
        "--sequence",
        "--pool",
        order="rows",
    ),
    "two runs of depth in the order of depth": asks(
        "site,depth,age_bp,age_sd,value,value_sd\n"
        + "".join(f"A,{d},{t},20,1,1\n" for d, t in ((10, 100), (20, 300), (30, 500), (40, 700)))
        + "".join(f"A,{d},{t},20,1,1\n" for d, t in ((15, 900), (25, 1400), (35, 1900), (45, 2400))),
        "--sequence",
        "--pool",
        order="depth",
    ),
    "a reversal of many sigma": warns(
        PLAIN.replace("1600,", "9600,"), "line 5", "combined sigma", t=[1000, 1300, 9600, 1900, 2200, 2500]
    ),
    "a merged cell": asks(
        "core,depth,age_bp,age_sd,value,value_sd\n"
        + "".join(f"{c},{d},{100 * d},9,1,1\n" for c, d in (("A", 1), ("", 2), ("", 3), ("B", 1), ("", 2), ("", 3))),
        '"core"',
        "--fill-down",
    ),
    "its answer, filled": reads(
        "core,depth,age_bp,age_sd,value,value_sd\n"
        + "".join(f"{c},{d},{100 * d},9,1,1\n" for c, d in (("A", 1), ("", 2), ("", 3), ("B", 1), ("", 2), ("", 3))),
        '"A", "B"',
        fill_down=True,
        rows=6,
    ),
}

SIGMA = (
    {
        f"{header} under {words}": asks(renamed(age_sd=words), words, "--t-sigma")
        for header, words in [
            ("half a range", "age error (half width)"),
            ("a lost sigma", "age error (2?)"),
            ("a lost letter", "age error (2\ufffd)"),
            ("an unknown number", "age error (x4)"),
            ("an unknown per cent", "age error (80%)"),
            ("a quartile", "age error (IQR)"),
            ("a whole range", "age 68% range"),
            ("a coverage", "age error (coverage factor)"),
        ]
    }
    | {
        f"{words} is understood": reads(renamed(age_sd=words), t_sd=[(40 + k) / number for k in range(6)])
        for words, number in [
            ("age error (2 std dev)", 2),
            ("age 2 std dev", 2),
            ("age 95% confidence", 2),
            ("age error (95 % CI)", 2),
            ("age error (k=2)", 2),
            ("age error (2 x SD)", 2),
            ("age error (1.96 sigma)", 1.96),
            ("age error (90 % CI)", 1.6449),
            ("age error (3σ)", 3),
            ("age error (2Ïƒ)", 2),
            ("age error (1 SE)", 1),
        ]
    }
    | {
        "two numbers of sigmas in one header": asks(renamed(age_sd="age error (1s or 2s)"), "--t-sigma"),
        "a variance": refuses(renamed(age_sd="age variance"), "variance", "--t-sigma"),
        "a variance of the output": refuses(renamed(value_sd="value variance"), "--y-sigma"),
        "parts of the age": refuses(renamed(age_sd="relative error"), "relative", "--t-sigma"),
        "two sigmas in a comment": asks("# All errors are 2 sigma\n" + PLAIN, "All errors are 2 sigma", "--t-sigma 2"),
        "one and two sigmas in a comment": reads("# Errors are 1 sigma, half of the published 2 sigma\n" + PLAIN),
        "two sigmas in a row of units": reads(
            PLAIN.replace("\n", "\ncm,cal yr BP,yr 2σ,‰,‰ 1σ\n", 1), "BP", t_sd=[(40 + k) / 2 for k in range(6)], rows=6
        ),
        "the answer to it": reads(renamed(age_sd="age error (80%)"), "set by --t-sigma", t_sigma=1.28),
        "an innocent name of a proxy": reads(PLAIN.replace("value", "d18O"), "1 sigma"),
        "an innocent note in brackets": reads(renamed(age_sd="age error (Bacon)"), "1 sigma"),
    }
)

ERRORS = {
    "limits under a header of errors": asks(limits("Age +2s", "Age -2s"), "2012", "limits", "--t-sides limits"),
    "its answer": reads(limits("Age +2s", "Age -2s"), "--t-sides", t_sides="limits", t_sd=[4.75] * 5),
    "an upper limit alone under a header of errors": refuses(
        limits("Age +2s", "note").replace("1993", "x"), "2012", "limit"
    ),
    "errors larger than ages and record": refuses(
        BP.replace("1600,42", "1600,42000"), "line 4", "42000", "larger than"
    ),
    "errors in years beside ages in ka": refuses(
        "depth,age (ka),error,value,value_sd\n1,1.1,40,1,1\n2,2.1,40,1,1\n3,3.1,40,1,1\n", "unit", "larger than"
    ),
    "errors larger than the record": refuses(
        "depth,age_ce,age_sd,rsl,rsl_sd\n" + "".join(f"{k},{2000 - 20 * k},900,1,1\n" for k in range(5)), "900", "unit"
    ),
    "errors in mm beside values in m": warns(
        "depth,age_bp,age_sd,rsl_m,rsl_sd\n" + "".join(f"{k},{100 * k},9,{-0.1 * k:g},50\n" for k in range(6)),
        "rsl_sd",
        "unit",
    ),
    "values with their errors in one cell": reads(
        "depth,Age (ka) ± 2σ,value,value_sd\n1,1.1 ± 0.1,1,1\n2,2.1 ± 0.1,1,1\n3,3.2±0.2,1,1\n", t_sd=[0.05, 0.05, 0.1]
    ),
    "depths of top and bottom in one cell": reads(
        "depth,age_bp,age_sd,value,value_sd\n10-12,100,9,1,1\n20 - 22,200,9,1,1\n30–32,300,9,1,1\n",
        "the middle",
        rows=3,
    ),
    "young layers with errors of their size": reads(
        "depth,age_bp,age_sd,rsl,rsl_sd\n1,-40,9,1,1\n2,0,20,1,1\n3,25,30,1,1\n4,80,40,1,1\n5,120,60,1,1\n"
    ),
    "few ages with errors larger than their span": reads(
        "depth,age_bp,age_sd,rsl,rsl_sd\n1,100,60,1,1\n2,120,60,1,1\n"
    ),
    "years around the year 0": reads(
        "depth,age_ce,age_sd,rsl,rsl_sd\n1,300,60,1,1\n2,120,60,1,1\n3,5,60,1,1\n4,-40,70,1,1\n"
    ),
    "upper and lower that may be both": asks(
        "depth,age_bp,age_sd,value,value_upper,value_lower\n"
        "1,100,9,0.10,0.12,0.08\n2,200,9,0.11,0.13,0.08\n3,300,9,0.09,0.12,0.07\n",
        "--y-sides limits",
        "--y-sides errors",
    ),
    "upper and lower that follow their value": reads(
        "depth,age_bp,age_sd,value,value_upper,value_lower\n"
        "1,100,9,0.1,0.12,0.08\n2,200,9,0.2,0.24,0.16\n3,300,9,0.4,0.5,0.3\n",
        y_sd=[0.01, 0.02, 0.05],
    ),
    "upper and lower that are limits in some rows": asks(
        "depth,age_bp,age_sd,value,value_upper,value_lower\n"
        "1,100,9,0.1,0.12,0.08\n2,200,9,0.9,0.12,0.08\n3,300,9,0.11,0.2,0.1\n4,400,9,0.8,0.1,0.1\n",
        "--y-sides",
    ),
    "upper and lower that are clearly limits": reads(
        "depth,age_bp,age_sd,rsl,rsl_upper,rsl_lower\n1,100,9,-1,-.8,-1.2\n2,200,9,-2,-1.8,-2.2\n", "half of the range"
    ),
    "feet and inches": reads(renamed(value="value (ft)", value_sd="value error (in)"), y_sd=[0.1 / 12] * 6),
    "decimetres and centimetres": reads(renamed(value="value (dm)", value_sd="value error (cm)"), y_sd=[0.01] * 6),
    "per mil and ppm": reads(renamed(value="value (‰)", value_sd="value error (ppm)"), y_sd=[1e-4] * 6),
    "metres and degrees": refuses(renamed(value="value (m)", value_sd="value error (°C)"), "unit", "°C"),
    "metres and an unknown unit": asks(
        renamed(value="value (m)", value_sd="value error (fm)"), "unit", "fm", "--y-unit"
    ),
    "degrees spelled in two ways": reads(renamed(value="value (°C)", value_sd="value error (deg C)"), y_sd=[0.1] * 6),
    "ka and years": reads(
        "depth,age (ka),age error (yr),value,value_sd\n1,1.1,40,1,1\n2,2.1,40,1,1\n3,3.1,40,1,1\n", t_sd=[0.04] * 3
    ),
    "thousands with points": refuses(
        "depth;age_bp;age_sd;value;value_sd\n1;980;10;1;1\n2;1.234;10;1;1\n3;1.456;10;1;1\n", "thousands", "1.234"
    ),
    "thousands beside decimal commas": refuses(
        "depth;age_bp;age_sd;value;value_sd\n1;980,5;10;1;1\n2;1.234,5;10;1;1\n", "1.234,5"
    ),
    "years before AD 1950": reads(renamed(age="Age (years before AD 1950)"), "BP: larger is older"),
    "years AD": reads(
        "depth,age,age_sd,value,value_sd\n1,1900,9,1,1\n2,1800,9,1,1\n", "CE: larger is younger", scale="AD"
    ),
}

CODES = {
    f"{code} as {what}": asks(text.replace(cell, code, 1), f'"{code}"', "--missing")
    for code, what, text, cell in [
        ("-99", "a value", PLAIN, "1.2"),
        ("-99.99", "a value", PLAIN, "1.2"),
        ("9999", "a value", PLAIN, "1.2"),
        ("999.9", "a value", PLAIN, "1.2"),
        ("1e20", "a value", PLAIN, "1.2"),
        ("-32768", "a value", PLAIN, "1.2"),
        ("-999.25", "a value", PLAIN, "1.2"),
        ("999", "an error", PLAIN, "42"),
        ("-999", "an age", PLAIN.replace("depth,age", "depth,age_ce"), "1600"),
    ]
} | {
    "9999 among ages of its size": reads(
        "depth,age_bp,age_sd,value,value_sd\n1,9500,50,1,1\n2,9999,50,1,1\n3,10400,50,1,1\n", t=[9500, 9999, 10400]
    ),
    "999 among ages of its size": reads(PLAIN.replace("1300,", "999,"), t=[1000, 999, 1600, 1900, 2200, 2500]),
    "the code is named": refuses(PLAIN.replace("1.2", "-99"), "line 4", "empty", missing="-99"),
    "the code is named, and layers may have no value": reads(
        PLAIN.replace("1.2", "-99"), "line 4", missing="-99", incomplete=True, rows=6
    ),
    "the code is a number": reads(PLAIN.replace("1.2", "-99"), missing="none", rows=6),
}

FLAGS = {
    f"{header} with {cells}": reads(column(header, *cells, table=BP), rows=rows)
    for header, cells, rows in [
        ("outlier", ("no", "yes", "no"), 4),
        ("include", (1, 0, 1), 4),
        ("Included?", ("yes", "no", "yes"), 4),
        ("used", ("y", "n", "y"), 4),
        ("accepted", ("TRUE", "FALSE", "TRUE"), 4),
        ("status", ("accepted", "rejected", "accepted"), 4),
        ("quality", ("good", "bad", "good"), 4),
        ("quality flag", ("ok", "outlier", "ok"), 4),
        ("valid", ("1", "0", "1"), 4),
        ("status", ("published",), 6),
    ]
} | {
    "a quality of numbers": asks(column("quality", 1, 2, 3, table=BP), '"quality"', "--flags ignore"),
    "a quality of one number": reads(column("quality", 1, table=BP), rows=6),
    "a status of letters": asks(column("status", "A", "R", table=BP), '"status"', "--flags ignore"),
    "its answer": reads(column("quality", 1, 2, 3, table=BP), flags="ignore", rows=6),
    "a reject of unclear words": refuses(column("reject", "perhaps", "no", table=BP), "perhaps", "yes or no"),
    "an include of nothing": refuses(column("include", "no", table=BP), "every row"),
}

TWICE = {
    "an age model with one reversal": warns(
        "depth,age_bp,age_sd,value,value_sd\n"
        + "".join(f"{i},{100 + 10 * i - 15 * (i == 20)},60,1,1\n" for i in range(60)),
        "1 of 59",
        "odds",
        "age-depth model",
    ),
    "independent dates": reads(
        "depth,age_bp,age_sd,value,value_sd\n"
        + "".join(f"{i},{100 + 10 * i + (37 * i) % 91 - 45},40,1,1\n" for i in range(40))
    ),
}

ROWS = {
    "bad cells": refuses(PLAIN.replace("1.2", "lost").replace("43", "-43"), "2 things", "--skip-bad-rows"),
    "bad cells left out": warns(
        PLAIN.replace("1.2", "lost").replace("43", "-43"), "lines 4 and 5", "left out", skip_bad_rows=True, rows=4
    ),
    "ragged rows": refuses(PLAIN.replace(",1.2,", ","), "line 4", "the row has 4 cells"),
    "ragged rows left out": warns(PLAIN.replace(",1.2,", ","), "line 4", "left out", skip_bad_rows=True, rows=5),
    "mostly bad cells": refuses(
        "depth,age_bp,age_sd,value,value_sd\n1,1,1,1,1\n2,x,1,1,1\n3,y,1,1,1\n4,z,1,1,1\n", "half", skip_bad_rows=True
    ),
    "a site that is misspelled": refuses(
        gauges("site", "Cedar Island", "Sand Point"), '"Cedar Island"', "did you mean", site="Ceder Iland", order="none"
    ),
}

CASES = RADIOCARBON | POOLING | SIGMA | ERRORS | CODES | FLAGS | TWICE | ROWS
QUESTIONS = {name: one for name, one in CASES.items() if one.outcome == "asks"}


def test_there_are_many_of_them():
    assert len(CASES) >= 100
    assert len(QUESTIONS) >= 40


@pytest.mark.parametrize("name", CASES)
def test_none_is_misread_in_silence(table, name):
    one = CASES[name]
    path = table(one.content)
    if one.outcome in ("asks", "refuses"):
        with pytest.raises(TableError) as caught:
            one.read(path)
        text = str(caught.value)
        assert text.startswith("core.csv")
        assert bool(caught.value.answers) or one.outcome == "refuses"
    else:
        found = one.read(path)
        text = found.describe()
        assert one.outcome == "warns" or not found.warnings or "Warning" in one.words, found.warnings
        for what in ("t", "t_sd", "y_sd"):
            if getattr(one, what) is not None:
                assert getattr(found.record, what) == pytest.approx(getattr(one, what), rel=1e-3)
        assert one.rows is None or len(found.record) == one.rows
        if one.outcome == "warns":
            text = "\n".join(found.warnings)
    for words in one.words:
        assert words in text


@pytest.mark.parametrize("name", QUESTIONS)
def test_the_command_that_check_ends_with_works(table, name):
    one = QUESTIONS[name]
    path = table(one.content)
    found = survey(path, Options.of(**one.options))
    assert found.questions
    program, command, *arguments = shlex.split(found.command)
    assert program == "lamina"
    field = found.reading is not None and found.reading.record.places is not None
    assert command == ("agedepth" if one.ages else "batch" if "--by" in arguments else "field" if field else "fit")
    assert arguments[0].endswith("core.csv")
    options = parsed(arguments[1:])
    if command == "batch":
        parts = split(path, options.pop("by"), Options.of(**options))
        assert not [part for part in parts.values() if isinstance(part, TableError)]
    else:
        one.read(path, options | ({"places": True} if field else {}))


def test_ages_beside_calibrated_ages_are_asked_about_and_the_calibrated_ones_suggested(table):
    path = table(BOTH)
    with pytest.raises(TableError, match=r'"Age cal BP" beside it holds calibrated ages.*--age-type'):
        read(path, Options(t="Age BP"))
    assert read(path, Options(t="Age cal BP")).record.t_sd.tolist() == [20.0, 40.0, 50.0]
    assert "--t 'Age cal BP'" in survey(path).command


def parsed(arguments: list[str]) -> dict[str, Any]:
    """Options of a command line."""
    found: dict[str, Any] = {}
    words = iter(arguments)
    for word in words:
        name = word.removeprefix("--").replace("-", "_")
        found[name] = True if name in ("pool", "fill_down", "incomplete", "skip_bad_rows") else next(words)
    return {name: float(value) if name.endswith("sigma") else value for name, value in found.items()}


def test_a_date_whose_error_is_as_long_as_the_record_is_warned_of(table):
    lines = [f"{depth},{100 + 50 * depth},{700 if depth == 3 else 20}" for depth in range(10)]
    found = read_ages(table("\n".join(["depth,age BP,age error", *lines])))
    assert any("line 5 is larger than all dates span (450)" in one for one in found.warnings)


@pytest.mark.parametrize(
    ("header", "command"),
    [
        ("site", "lamina field core.csv --out DIR"),
        ("core", "lamina field core.csv --out DIR"),
        ("gauge", "lamina field core.csv --site-column gauge --out DIR"),
    ],
)
def test_sites_with_coordinates_are_pointed_to_a_field_before_their_order(table, header, command):
    rows = "".join(f"{name},{lat},-70,{100 * i},10,{i},1\n" for name, lat in (("A", 40), ("B", 43)) for i in (1, 2, 3))
    with pytest.raises(TableError, match=rf"{command}.*lamina batch --by {header}"):
        read(table(f"{header},latitude,longitude,age_bp,age_sd,rsl,rsl_sd\n{rows}"))


@pytest.mark.parametrize(
    ("depths", "problem"),
    [
        ((1, 2, 3, 1, 2, 3), "have the same place in the order"),
        ((10, 20, 30, 12, 22, 32), "the depths begin again here"),
        ((60, 70, 80, 1, 2, 3), "get younger where they should get older"),
    ],
)
def test_a_column_that_names_blocks_of_rows_is_the_likely_sequence(table, depths, problem):
    ages = (100, 200, 300, 1100, 1200, 1300)
    rows = "".join(f"{'AAABBB'[i]},{depths[i]},{ages[i]},10,{i % 3},1\n" for i in range(6))
    path = table(f"drilling,depth,age_bp,age_sd,value,value_sd\n{rows}")
    with pytest.raises(TableError, match=f'{problem}[\\s\\S]*--sequence "drilling"') as error:
        read(path)
    assert error.value.answers == {"sequence": "drilling"}
    assert read(path, Options(sequence="drilling", pool=True)).record.sequence == ("A",) * 3 + ("B",) * 3
