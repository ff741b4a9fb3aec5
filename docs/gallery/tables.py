"""The simulated tables of the gallery, from fixed seeds: python docs/gallery/tables.py

The truth is in each function, so that anyone can see whether a fit finds it. docs/gallery/*.md say that the tables are
simulated.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import lamina
from lamina.dates import Radiocarbon
from lamina.dates.curves import Curve, load_curve, load_zone

Array = NDArray[np.float64]
HERE = Path(__file__).parent


def main() -> None:
    marsh()
    lake()
    cave()
    estuaries()
    varves()


# --- a marsh core ---------------------------------------------------------------------------------------------------


def marsh_level(year: Array) -> Array:
    """Relative sea level in m: 0.8 mm a year until 1880, 2.8 mm a year after 1920, smoothly between them."""
    faster = 20.0 * np.log1p(np.exp((year - 1900.0) / 20.0))
    return 0.8e-3 * (year - 2020.0) + 2.0e-3 * (faster - faster_at(2020.0))


def faster_at(year: float) -> float:
    return float(20.0 * np.log1p(np.exp((year - 1900.0) / 20.0)))


def marsh() -> None:
    """A core of 150 cm: sea level at 26 depths, lead-210 ages, a caesium peak, and radiocarbon from two eras."""
    rng = np.random.default_rng(11)
    fine = np.arange(0.0, 151.0)
    pace = np.interp(fine, [0, 25, 40, 150], [3.5, 4.0, 9.0, 9.5]) * rng.gamma(8.0, 1 / 8.0, fine.size)
    year = 2019.0 - np.concatenate([[0.0], np.cumsum(pace[:-1])])
    rows = []
    for depth, sd in zip((0, 4, 8, 12, 16, 20, 24), (0.5, 1, 2, 3, 5, 8, 12), strict=True):
        dated = year[depth] + (0.0 if depth == 0 else sd * rng.standard_normal())
        rows.append((depth, f"{dated:.0f}", f"{sd:g}", "", "", "", "", "210Pb" if depth else "surface"))
    peak = int(np.abs(year - 1963.0).argmin())
    rows.append((peak, "1963", "1.5", "", "", "", "", "137Cs"))
    bomb, before = load_zone("NH1"), load_curve("IntCal20")
    for depth in (10, 13, 40, 55, 72, 95, 118, 140):
        curve = bomb if year[depth] > 1950 else before
        error = 20 if year[depth] > 1950 else 25
        rows.append((depth, "", "", f"{laboratory(curve, year[depth], error, rng):.0f}", error, "", "", "14C"))
    for depth in np.arange(1, 150, 6):
        level = marsh_level(year[depth]) + 0.06 * rng.standard_normal()
        rows.append((depth, "", "", "", "", f"{level:.2f}", "0.06", "foraminifera"))
    header = "depth (cm),year CE,year error,14C age,14C error,RSL (m),RSL error (m),material"
    save("marsh.csv", header, sorted(rows, key=lambda row: row[0]))


def laboratory(curve: Curve, year: float, error: float, rng: np.random.Generator) -> float:
    """What a laboratory would measure for a calendar year."""
    return float(np.interp(1950.0 - year, curve.year, curve.age) + error * rng.standard_normal())


# --- a lake with an age model of its own ----------------------------------------------------------------------------


def lake_temperature(age: Array) -> Array:
    """July temperature: 1.5 degrees cooler within some centuries around 4200 BP, on a slow cooling."""
    return 14.0 + 0.2 * (age / 1000.0) + 1.5 / (1.0 + np.exp(-(age - 4200.0) / 150.0))


def lake() -> None:
    """Chironomid temperatures of 40 depths, and ages of 400 iterations in the files that Bacon writes."""
    rng = np.random.default_rng(4)
    sections = np.arange(0.0, 205.0, 5.0)
    pace = 35.0 * rng.gamma(10.0, 0.1, sections.size)
    age = np.concatenate([[-60.0], -60.0 + np.cumsum(5.0 * pace[:-1])])
    dated = np.array([0.0, 25.0, 50.0, 80.0, 105.0, 130.0, 165.0, 200.0])
    before = load_curve("IntCal20")
    dates = [None if d == 0 else radiocarbon(before, float(np.interp(d, sections, age)), rng) for d in dated]
    depth = np.union1d(sections, dated)
    place = dict(zip(dated, dates, strict=True))
    core = lamina.Record(
        t=[-60.0 if d == 0 else np.nan for d in depth],
        t_sd=[1.0 if d in place else np.inf for d in depth],
        y=np.nan,
        y_sd=np.inf,
        dates=[place.get(d) for d in depth],
        depth=depth,
        t_unit="cal yr BP",
    )
    fitted = lamina.age_depth(core, seed=1, draws=400)
    bacon_files(HERE / "lake_40", sections, members_at(fitted, sections))
    sampled = np.arange(2.5, 200.0, 5.0)
    found = lake_temperature(np.interp(sampled, sections, age)) + 0.3 * rng.standard_normal(sampled.size)
    save(
        "lake.csv",
        "depth (cm),temperature (°C),error",
        [(d, f"{y:.2f}", 0.3) for d, y in zip(sampled, found, strict=True)],
    )


def radiocarbon(curve: Curve, age: float, rng: np.random.Generator) -> Radiocarbon:
    return Radiocarbon(round(laboratory(curve, 1950.0 - age, 30.0, rng)), 30)


def members_at(fitted: lamina.Posterior, depths: Array) -> Array:
    """400 members of the ages at these depths, (members, depths)."""
    path = HERE / "ensemble.tmp"
    fitted.write_ensemble(path, n=400)
    try:
        return lamina.read_ensemble(path, depths)
    finally:
        path.unlink()


def bacon_files(path: Path, depths: Array, ages: Array) -> None:
    """The .out and .bacon files of a run: the age of the top, the years per cm of each section, memory, energy."""
    thickness = depths[1] - depths[0]
    rates = np.diff(ages, axis=1) / thickness
    lines = ["\t".join([f"{own[0]:.1f}", *(f"{r:.2f}" for r in rate), "0.5", "0.0"])
             for own, rate in zip(ages, rates, strict=True)]  # fmt: skip
    path.with_suffix(".out").write_text("\n".join(lines) + "\n")
    k, first, last = len(depths) - 1, depths[0], depths[-1]
    path.with_suffix(".bacon").write_text(
        "## Simulated: the settings of a run that lamina needs to read the .out file beside this one.\n"
        f"Bacon 0: FixT, {k}, 0, 0, 0, 0, 0, 0, 0, 0, {first:g}, {last:g}, 0, 0;\n"
    )


# --- two stalagmites ------------------------------------------------------------------------------------------------


def cave_oxygen(age: Array) -> Array:
    """d18O in per mil: two dry phases around 6100 and 7600 BP."""
    dry = np.exp(-(((age - 6100.0) / 180.0) ** 2)) + 0.7 * np.exp(-(((age - 7600.0) / 250.0) ** 2))
    return -8.5 - 0.25 * (age - 6500.0) / 1000.0 + 1.6 * dry


def cave() -> None:
    """Two stalagmites of one cave: the second has a lower d18O by 0.4 per mil, and few dates."""
    rng = np.random.default_rng(8)
    rows = []
    for name, first, last, every, error, offset in ("A", 5200, 8200, 3, 60, 0.0), ("B", 5500, 7900, 6, 120, -0.4):
        depth = np.arange(2.0, 122.0, 4.0)
        growth = rng.gamma(12.0, 1 / 12.0, depth.size)
        age = first + (last - first) * np.cumsum(growth) / growth.sum()
        for k, (d, t) in enumerate(zip(depth, age, strict=True)):
            y = cave_oxygen(t) + offset + 0.12 * rng.standard_normal()
            dated = (f"{t + error * rng.standard_normal():.0f}", error) if k % every == 0 or k == 29 else ("", "")
            rows.append((name, f"{d:g}", *dated, f"{y:.2f}", 0.12))
    save("cave.csv", "stalagmite,depth (mm),age BP,age error,d18O (per mil),d18O error", rows)


# --- four estuaries -------------------------------------------------------------------------------------------------

#: Name, latitude, longitude, rate of the land in mm a year.
ESTUARIES = (
    ("Heron Creek", 41.2, -72.3, 1.1),
    ("Mill Cove", 40.1, -74.1, 1.5),
    ("Otter Bay", 38.9, -75.0, 1.7),
    ("Reed Point", 37.4, -76.0, 1.4),
)


def estuaries() -> None:
    """Marsh cores of four places with a common acceleration, and one tide gauge with exact years."""
    rng = np.random.default_rng(21)
    rows = []
    for name, latitude, longitude, rate in ESTUARIES:
        depth = np.sort(rng.uniform(5.0, 180.0, 12))
        year = 2005.0 - 1500.0 * depth / 185.0
        level = common(year) + rate * 1e-3 * (year - 2000.0)
        for d, t, y in zip(depth, year, level, strict=True):
            sd = 30 if t < 1850 else 10
            dated, measured = t + sd * rng.standard_normal(), y + 0.06 * rng.standard_normal()
            rows.append((name, latitude, longitude, f"{d:.1f}", f"{dated:.0f}", sd, f"{measured:.2f}", 0.06))
    name, latitude, longitude, rate = ESTUARIES[1]
    for year in range(1915, 2016, 10):
        level = common(np.array(float(year))) + rate * 1e-3 * (year - 2000.0) + 0.02 * rng.standard_normal()
        rows.append((name, latitude, longitude, "", year, 0, f"{level:.2f}", 0.02))
    save("estuaries.csv", "site,latitude,longitude,depth_cm,year_ce,year_sd,rsl_m,rsl_sd_m", rows)


def common(year: Array) -> Array:
    """The part of sea level that all sites share, in m: 1.5 mm a year from about 1900 on."""
    return 1.5e-3 * 20.0 * (np.log1p(np.exp((year - 1900.0) / 20.0)) - np.log1p(np.exp(5.0)))


# --- a varved lake --------------------------------------------------------------------------------------------------

VARVES = 1500


def varve_index(year: Array) -> Array:
    """Log thickness of the varves: a wave of 430 years, lowest in 752, 1182 and 1612."""
    return 0.4 * np.sin(2 * np.pi * year / 430.0)


def varve_years() -> Array:
    """The year of each layer: of 100, two share the year of the one above, and four lack a layer above them."""
    passed = np.random.default_rng(3).choice([0, 1, 2], p=[0.02, 0.94, 0.04], size=VARVES - 1)
    return 2010.0 - np.concatenate([[0.0], np.cumsum(passed)])


def varves() -> None:
    """1,500 counted layers, of which every third was measured, and seven independent dates."""
    rng, year = np.random.default_rng(5), varve_years()
    dated = {0: 0.5, 150: 5.0, 390: 8.0, 620: 10.0, 900: 10.0, 1180: 15.0, 1490: 15.0}
    rows = []
    for k in range(VARVES):
        at = (f"{year[k] + (dated[k] * rng.standard_normal() if k else 0):.0f}", dated[k]) if k in dated else ("", "")
        if k % 3 == 0 or k in dated:
            rows.append((k, *at, f"{varve_index(year[k]) + 0.25 * rng.standard_normal():.2f}", 0.25))
    save("varves.csv", "layer,year CE,year error,log thickness,thickness error", rows)


def save(name: str, header: str, rows: list[tuple[object, ...]]) -> None:
    lines = ["# Simulated by docs/gallery/tables.py.", header, *(",".join(str(cell) for cell in row) for row in rows)]
    (HERE / name).write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
