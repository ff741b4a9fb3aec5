"""Radiocarbon dates: iosacal's calibration, the formula itself, time scales, reservoir offsets, refusal of bad ages."""

import json
import math
import subprocess
import sys

import iosacal
import numpy as np
import pytest
from scipy import stats

from lamina.dates import Tabulated
from lamina.dates.curves import joined, load_curve, load_zone
from lamina.dates.radiocarbon import Radiocarbon
from lamina.dates.table import MOST_ENTRIES
from lamina.errors import RecordError
from lamina.support.curves import CURVES, ZONES

#: Ages with a single peak, with several, on the plateaus around 2450, 4100 and 10000 years, and near the present.
AGES = [
    *((150, 20), (700, 30), (935, 28), (1200, 25), (2450, 30), (2480, 40), (4100, 35), (8000, 50)),
    *((10000, 60), (10350, 50), (20000, 100), (30000, 250)),
]

# iosacal does not close the files of its curves.
pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


def years_inside(interval):
    first, last = interval
    return math.ceil(last) - math.floor(first) - 1


@pytest.mark.parametrize(
    ("curve", "age", "age_sd"),
    [
        (curve, age, age_sd)
        for curve in ("IntCal20", "SHCal20", "Marine20")
        for age, age_sd in AGES
        if age > 600 or curve != "Marine20"
    ],
)
def test_calibration_is_that_of_iosacal(curve, age, age_sd):
    date = Radiocarbon(age, age_sd, curve, student=False)
    # iosacal leaves out years whose curve is further than cutoff laboratory errors from the age. At its default of 5
    # that cuts off part of the density where the error of the curve is large, as that of Marine20 always is.
    expected = iosacal.R(age, age_sd, "").calibrate(curve.lower(), cutoff=15)
    for mass, name in (0.682, 68), (0.954, 95):
        theirs = sorted((interval.to_year, interval.from_year) for interval in expected.intervals[name])
        # An interval that holds a single year is left out by iosacal.
        ours = [interval for interval in date.hdi(mass) if years_inside(interval) > 1]
        assert len(ours) == len(theirs)
        np.testing.assert_allclose(ours, theirs, rtol=0.0, atol=1.0)
    years, p = np.asarray(expected).T
    assert date.mean == pytest.approx(np.average(years, weights=p), abs=1.0)


@pytest.mark.parametrize("curve", CURVES)
def test_curves_are_those_of_iosacal(curve):
    year, age, sd = np.asarray(iosacal.core.CalibrationCurve(curve.lower()))[::-1].T
    ours = load_curve(curve)
    np.testing.assert_array_equal(ours.year, year)
    np.testing.assert_allclose(ours.age, age)
    np.testing.assert_allclose(ours.sd, sd)
    assert load_curve(curve) is ours


def some_dates(n, **given):
    """Random radiocarbon dates of all curves and zones, exact ones and very wide ones."""
    rng = np.random.default_rng(5)
    while n:
        try:
            yield Radiocarbon(
                rng.choice([rng.uniform(-2000.0, 50000.0), rng.uniform(0.0, 1000.0)]),
                10.0 ** rng.uniform(-0.5, 3.3),
                str(rng.choice([*CURVES, *ZONES])),
                **{"delta_r_sd": float(rng.choice([0.0, 50.0])), "student": bool(rng.random() < 0.6), **given},
            )
        except RecordError:
            continue
        n -= 1


def test_only_the_part_of_the_curve_that_matters_is_looked_at(monkeypatch):
    found = [(date, date.table()) for date in some_dates(200)]
    lengths = [part.stop - part.start for date, _ in found if (part := date._near(load_curve("IntCal20")))]
    assert np.median(lengths) < 0.25 * load_curve("IntCal20").year.size
    monkeypatch.setattr(Radiocarbon, "_near", lambda self, curve: slice(0, curve.year.size))
    for date, table in found:
        whole = Radiocarbon(**date.arguments())
        expected = whole.table()
        assert table[:2] == pytest.approx(expected[:2], rel=1e-12)
        np.testing.assert_allclose(table.log_density, expected.log_density, rtol=1e-12, atol=1e-12)
        assert [date.mean, date.sd] == pytest.approx([whole.mean, whole.sd], rel=1e-12)


def test_coarse_tables_of_normal_ages_are_finite_where_the_density_is_zero():
    """Between peaks of post-bomb carbon the density of an age with a small normal error is zero to double precision."""
    for date in [*some_dates(100, student=False), Radiocarbon(461.5, 85.9, "NH1", student=False)]:
        table = date.table()
        assert table.log_density.size <= MOST_ENTRIES + 3
        assert np.isfinite([*table.log_density, date.mean, date.sd, *date.quantile([0.001, 0.5, 0.999])]).all()


def test_the_density_is_the_likelihood_of_the_age():
    curve = load_curve("Marine20")
    years = np.array([1500, 1800, 1901, 2000, 2400])
    mean, sd = curve.age[years], np.sqrt(40.0**2 + 30.0**2 + curve.sd[years] ** 2)
    given = {"age": 2400, "age_sd": 40, "curve": "Marine20", "delta_r": 150, "delta_r_sd": 30}
    expected = {
        False: stats.norm.logpdf(2250.0, mean, sd),
        True: stats.t.logpdf(2250.0, 6.0, mean, sd * math.sqrt(4.0 / 3.0)),
    }
    for student, truth in expected.items():
        found = Radiocarbon(**given, student=student).log_density(years)
        np.testing.assert_allclose(np.diff(found), np.diff(truth), rtol=1e-9)


def test_a_student_of_many_degrees_of_freedom_is_plain_calibration():
    plain = Radiocarbon(2450, 30, student=False)
    student = Radiocarbon(2450, 30, a=1e6, b=1e6)
    years = np.arange(2300.0, 2800.0)
    np.testing.assert_allclose(student.log_density(years), plain.log_density(years), atol=1e-3)


def test_a_student_lets_an_age_be_an_outlier():
    plain, student = (Radiocarbon(5000, 30, student=student) for student in (False, True))
    assert student.log_density(7000.0) > plain.log_density(7000.0) + 100.0
    assert student.sd > plain.sd


def test_the_common_era_is_before_present_turned_round():
    bp, ce = (Radiocarbon(1200, 30, scale=scale) for scale in ("BP", "CE"))
    assert ce.mean == pytest.approx(1950.0 - bp.mean)
    assert ce.sd == pytest.approx(bp.sd)
    years = np.arange(-500.0, 4000.0, 7.5)
    np.testing.assert_allclose(ce.log_density(1950.0 - years), bp.log_density(years))
    turned = [(1950.0 - last, 1950.0 - first) for first, last in reversed(bp.hdi(0.95))]
    np.testing.assert_allclose(ce.hdi(0.95), turned)


def test_a_reservoir_offset_is_subtracted_and_its_error_added():
    plain = Radiocarbon(1500, 50, "Marine20")
    moved = Radiocarbon(1740, 30, "Marine20", delta_r=240, delta_r_sd=40)
    np.testing.assert_allclose(moved.table().log_density, plain.table().log_density)
    assert moved.table().start == plain.table().start


@pytest.mark.parametrize("scale", ["BP", "CE"])
def test_there_is_nothing_after_1950(scale):
    date = Radiocarbon(150, 30, scale=scale)
    present, later = (0.0, -1.0) if scale == "BP" else (1950.0, 1.0)
    assert date.log_density(present + later) < date.log_density(present) - 400.0
    assert np.isfinite(date.log_density(present + 100.0 * later))
    ends = np.array(date.hdi(0.99)).ravel()
    assert np.all(ends >= 0.0) if scale == "BP" else np.all(ends <= 1950.0)


def test_a_very_wide_date_has_a_coarser_table_of_the_same_density():
    date = Radiocarbon(35000, 800)
    table = date.table()
    assert table.step > 1.0
    assert table.log_density.size <= MOST_ENTRIES + 2
    years = table.start + table.step * np.arange(table.log_density.size)
    middle = np.abs(years - date.mean) < 5.0 * date.sd
    np.testing.assert_allclose(date.log_density(years)[middle], table.log_density[middle], atol=1e-3)


def test_calibration_elsewhere_can_be_handed_in_as_a_table():
    calibrated = iosacal.R(2480, 40, "").calibrate("intcal20")
    date = Tabulated(*np.asarray(calibrated)[::-1].T)
    plain = Radiocarbon(2480, 40, student=False)
    assert date.mean == pytest.approx(plain.mean, abs=0.5)
    assert date.sd == pytest.approx(plain.sd, abs=0.5)


def test_calendar_ages_that_were_simulated_are_covered():
    rng = np.random.default_rng(1)
    curve = load_curve("IntCal20")
    hits = 0
    for _ in range(300):
        year = int(rng.integers(1000, 12000))
        age = rng.normal(curve.age[year], math.hypot(40.0, curve.sd[year]))
        first, last = Radiocarbon(age, 40, student=False).quantile([0.05, 0.95])
        hits += first < year < last
    assert abs(hits / 300 - 0.9) < 4.0 * math.sqrt(0.9 * 0.1 / 300)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"age": -300}, "the radiocarbon age -300 ± 30 is younger than IntCal20"),
        ({"age": -10, "age_sd": 500}, "post-bomb carbon (after 1950), name its zone as the curve (NH1, NH2, NH3)"),
        ({"age": -10, "curve": "SHCal20"}, "name its zone as the curve (SH1-2, SH3)"),
        ({"age": -6000, "curve": "NH1"}, "is younger than NH1, which has radiocarbon ages from -5153"),
        ({"age": 0, "age_sd": 10}, "radiocarbon ages from 95 to 50193, calendar ages 0 to 54999 BP"),
        ({"age": 300, "curve": "Marine20"}, "is younger than Marine20, which has radiocarbon ages from 603"),
        ({"age": 900, "curve": "Marine20", "delta_r": 800}, "900 ± 30 with delta_r=800 is younger"),
        ({"age": 52000, "age_sd": 900}, "is older than IntCal20"),
        ({"age": 12000, "curve": "SHCal04"}, "calendar ages -5 to 10999 BP"),
        (
            {"curve": "IntCal21"},
            "no calibration curve 'IntCal21'. The curves are IntCal20, SHCal20, Marine20,",
        ),
        ({"curve": None}, "no calibration curve None"),
        ({"age": math.nan}, "Radiocarbon: age must be a finite number"),
        ({"age_sd": 0}, "age_sd must be above 0"),
        ({"delta_r": "5"}, "delta_r must be a finite number, got '5'"),
        ({"delta_r_sd": -5}, "delta_r_sd is -5"),
        ({"scale": "AD"}, 'scale must be "BP" or "CE", got \'AD\''),
        ({"student": "yes"}, "student must be True or False"),
        ({"a": 0.5}, "a must be above 1"),
    ],
)
def test_what_cannot_be_calibrated_is_refused(given, said):
    with pytest.raises(RecordError) as caught:
        Radiocarbon(**({"age": 2450, "age_sd": 30} | given))
    assert said in str(caught.value)


def test_names_of_curves_may_be_written_in_small_letters():
    assert Radiocarbon(2450, 30, "shcal20") == Radiocarbon(2450, 30, "SHCal20")


def test_curves_are_read_without_importing_iosacal_and_matplotlib():
    code = (
        "import json, sys; from lamina.dates import Radiocarbon; Radiocarbon(2450, 30).table(); "
        "print(json.dumps(sorted(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"iosacal", "matplotlib", "scipy", "pandas", "numba"} & set(json.loads(done.stdout))


# --- post-bomb carbon ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("zone", ZONES)
def test_a_zone_continues_the_curve_of_its_hemisphere(zone):
    curve, before = joined(zone, 1000.0), load_curve(ZONES[zone])
    np.testing.assert_allclose(curve.age[curve.year > -0.01][::20], before.age[:1001], atol=1e-6)
    assert np.all(np.diff(curve.year) > 0.0)
    assert curve.year[0] < -68.9
    assert curve.age.min() < -3000.0


@pytest.mark.parametrize("zone", ZONES)
def test_an_old_age_is_the_same_with_post_bomb_carbon(zone):
    ours, plain = Radiocarbon(2450, 30, zone), Radiocarbon(2450, 30, ZONES[zone])
    assert ours.table().start == plain.table().start
    np.testing.assert_array_equal(ours.table().log_density, plain.table().log_density)


@pytest.mark.parametrize("scale", ["BP", "CE"])
@pytest.mark.parametrize(
    ("zone", "year"), [("NH1", 1962.3), ("NH2", 1975.0), ("NH3", 1990.2), ("SH1-2", 1969.0), ("SH3", 2005.5)]
)
def test_post_bomb_carbon_gives_back_its_year(zone, year, scale):
    curve = load_zone(zone)
    age = float(np.interp(1950.0 - year, curve.year, curve.age))
    date = Radiocarbon(age, 20, zone, scale=scale, student=False)
    wanted = year if scale == "CE" else 1950.0 - year
    assert any(first <= wanted <= last for first, last in date.hdi(0.95))
    assert sum(last - first for first, last in date.hdi(0.95)) < 6.0


@pytest.mark.parametrize("age", [-3500.0, -1000.0, 0.0, 100.0, 150.0])
def test_a_table_keeps_the_mass_of_narrow_peaks(age):
    """By plain numerical integration: the probability of having lived after 1950."""
    date = Radiocarbon(age, 25, "NH1")
    curve = joined("NH1", 3000.0)
    s = np.hypot(25.0, curve.sd)
    p = (4.0 + 0.5 * ((age - curve.age) / s) ** 2) ** -3.5 / s
    after = p[curve.year < 0.0].sum() / p.sum()
    table = date.table()
    years = table.start + table.step * np.arange(table.log_density.size)
    density = np.exp(table.log_density)
    assert table.log_density.size <= MOST_ENTRIES + 2
    assert density[years < 0.0].sum() / density.sum() == pytest.approx(after, abs=0.02)


def test_f14c_is_an_age():
    assert Radiocarbon.from_f14c(0.8, 0.004).age == pytest.approx(-8033.0 * math.log(0.8))
    assert Radiocarbon.from_f14c(0.8, 0.004).age_sd == pytest.approx(8033.0 * 0.005)
    bomb = Radiocarbon.from_f14c(1.5, 0.005, "NH1", scale="CE", student=False)
    assert 1962.0 < bomb.hdi(0.95)[0][0] < bomb.hdi(0.95)[-1][1] < 1975.0
    for wrong in (0.01, 0.006), (0.8, 0.0), (math.nan, 0.1):
        with pytest.raises(RecordError, match="F14C"):
            Radiocarbon.from_f14c(*wrong)


@pytest.mark.parametrize("name", ["NH1", "nh1", "Bomb21 NH1", "IntCal20+NH1"])
def test_zones_have_several_spellings(name):
    assert Radiocarbon(-500, 20, name).curve == "NH1"
    assert Radiocarbon(-500, 20, "SH2").curve == "SH1-2"
