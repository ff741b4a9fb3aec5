"""Laws that every kind of date obeys, what each kind is in closed form, and refusal of what is no date."""

import math
import pickle

import numpy as np
import pytest
from scipy import stats

import lamina
from lamina.dates import Date, Radiocarbon, SplitNormal, StudentT, Tabulated, Uniform
from lamina.dates.curves import load_curve
from lamina.dates.table import MOST_ENTRIES
from lamina.dates.widened import Widened
from lamina.errors import RecordError

TWO_LEVELS = Tabulated([0.0, 1.0, 1.001, 3.0], [0.6, 0.6, 0.2, 0.2])
KINDS = [
    SplitNormal(1000.0, 20.0, 20.0),
    SplitNormal(1000.0, 5.0, 60.0),
    SplitNormal(-3.0, 0.2, 0.1),
    Uniform(1200.0, 1350.0),
    StudentT(1000.0, 30.0),
    StudentT(-5.0, 0.2, a=8.0, b=1.0),
    Tabulated([0.0, 1.0, 2.0, 10.0], [0.0, 1.0, 0.5, 0.0]),
    Tabulated(np.linspace(900.0, 1100.0, 2001), stats.norm.pdf(np.linspace(-5.0, 5.0, 2001))),
    Tabulated([10.0, 20.0, 21.0, 30.0, 40.0], [3.0, 2.5, 0.0, 0.0, 2.0]),
    TWO_LEVELS,
    Radiocarbon(2450, 30),
    Radiocarbon(2450, 30, student=False),
    Radiocarbon(150, 30, scale="CE"),
    Radiocarbon(40000, 900, "SHCal20"),
    Radiocarbon(1400, 40, "Marine20", delta_r=-90, delta_r_sd=45),
    Widened(SplitNormal(1000.0, 5.0, 60.0), 80.0, 10.0),
    Widened(Uniform(1200.0, 1350.0), 40.0, 5.0),
    Widened(StudentT(1000.0, 30.0), 200.0, 0.0),
]


@pytest.fixture(params=KINDS, ids=repr)
def date(request):
    return request.param


def everywhere(date):
    """Times from one end of the date to the other, its density there, and the weight of each, by the midpoint rule."""
    table = date.table()
    reach = 0.0 if table.bounded else 5.0 * date.sd
    edges = np.linspace(table.start - reach, table.start + table.step * (table.log_density.size - 1) + reach, 400_001)
    t = 0.5 * (edges[1:] + edges[:-1])
    return t, np.exp(date.log_density(t)), edges[1] - edges[0]


def test_a_table_is_regular_finite_and_not_large(date):
    table = date.table()
    assert table.step > 0.0
    assert math.isfinite(table.start)
    assert np.isfinite(table.log_density).all()
    assert 2 <= table.log_density.size <= MOST_ENTRIES + 3
    assert not table.log_density.flags.writeable


def test_the_log_density_of_the_table_is_that_of_the_date(date):
    table = date.table()
    place = np.linspace(0.0, table.log_density.size - 1, 777)
    shown = np.interp(place, np.arange(table.log_density.size), table.log_density)
    inside = shown > shown.max() - 30.0
    np.testing.assert_allclose(
        date.log_density(table.start + table.step * place)[inside], shown[inside], rtol=0.0, atol=0.01
    )


def test_the_density_integrates_to_one(date):
    _, p, width = everywhere(date)
    assert p.sum() * width == pytest.approx(1.0, abs=1e-4)


def test_mean_and_sd_are_those_of_the_density(date):
    t, p, _ = everywhere(date)
    mean = np.average(t, weights=p)
    assert date.mean == pytest.approx(mean, abs=1e-3 * date.sd)
    assert date.sd == pytest.approx(math.sqrt(np.average((t - mean) ** 2, weights=p)), rel=2e-3)


def test_the_probability_below_is_that_of_a_later_time(date):
    if isinstance(date, Radiocarbon):  # in radiocarbon years, which the curve does not map one to one
        return
    t, p, width = everywhere(date)
    some = slice(None, None, 9001)
    after, close = 1.0 - np.cumsum(p * width)[some], 1e-4
    if isinstance(date, Widened):
        close = 1e-3  # an average over some points
    else:
        assert date.probability_below(date.quantile(0.3)) == pytest.approx(0.7, abs=1e-9)
    np.testing.assert_allclose(date.probability_below((t + 0.5 * width)[some]), after, atol=close)


@pytest.mark.parametrize("student", [True, False])
@pytest.mark.parametrize("scale", ["BP", "CE"])
def test_the_probability_below_a_radiocarbon_age_is_that_of_its_measurement(student, scale):
    curve, year = load_curve("IntCal20"), 2500.0
    date = Radiocarbon(2450, 30, scale=scale, student=student)
    expected, sd = np.interp(year, curve.year, curve.age), math.hypot(30.0, np.interp(year, curve.year, curve.sd))
    law = stats.t(6, scale=math.sqrt(4.0 / 3.0)) if student else stats.norm()
    below = law.cdf((2450 - expected) / sd)
    found = date.probability_below(year if scale == "BP" else 1950.0 - year)
    assert found == pytest.approx(below if scale == "BP" else 1.0 - below)


def test_quantiles_invert_the_distribution(date):
    t, p, width = everywhere(date)
    levels = np.array([0.001, 0.025, 0.3, 0.5, 0.84, 0.975, 0.999])
    below = np.interp(date.quantile(levels), t + 0.5 * width, np.cumsum(p) * width)
    np.testing.assert_allclose(below, levels, atol=2e-4)
    assert isinstance(date.quantile(0.5), float)
    assert date.quantile(0.5) == date.quantile([0.5])[0]


def test_quantiles_reach_into_the_tails():
    student = StudentT(0.0, 1.0)
    far = student.quantile([1e-12, 1.0 - 1e-12])
    table = student.table()
    assert far[0] < table.start
    assert far[1] == pytest.approx(-far[0], rel=1e-4)
    assert student.log_density(far[0]) < table.log_density[0]


NOWHERE_CONSTANT = [date for date in KINDS if not isinstance(date, Uniform) and date is not TWO_LEVELS]


@pytest.mark.parametrize("mass", [0.5, 0.95])
@pytest.mark.parametrize("date", NOWHERE_CONSTANT, ids=repr)
def test_highest_density_intervals_hold_the_mass_and_the_highest_density(date, mass):
    t, p, width = everywhere(date)
    intervals = date.hdi(mass)
    inside = np.zeros(t.size, dtype=bool)
    for first, last in intervals:
        inside |= (t >= first) & (t <= last)
    left_out = 0.02 if isinstance(date, Radiocarbon) else 0.0  # years with the very density of the level
    assert p[inside].sum() * width == pytest.approx(mass, abs=0.01 + left_out)
    assert p[inside].min() >= p[~inside].max() * (1.0 - 0.02)
    ends = np.array(intervals).ravel()
    assert np.all(np.diff(ends) >= 0.0)


def test_a_stretch_of_constant_density_is_taken_whole():
    assert Uniform(3.0, 8.0).hdi(0.5) == [(3.0, 8.0)]
    np.testing.assert_allclose(TWO_LEVELS.hdi(0.5), [(0.0, 1.0)], atol=0.01)
    np.testing.assert_allclose(TWO_LEVELS.hdi(0.95), [(0.0, 3.0)])


def test_a_density_with_two_modes_has_two_intervals():
    t = np.linspace(0.0, 10.0, 1001)
    two = Tabulated(t, stats.norm.pdf(t, 2.0, 0.3) + stats.norm.pdf(t, 7.0, 0.5))
    (a, b), (c, d) = two.hdi(0.95)
    assert a < 2.0 < b < c < 7.0 < d


def test_beyond_the_table_an_unbounded_density_falls_off_and_a_bounded_one_is_zero(date):
    table = date.table()
    end = table.start + table.step * (table.log_density.size - 1)
    before = date.log_density(table.start - table.step * np.array([0.001, 1.0, 50.0]))
    after = date.log_density(end + table.step * np.array([0.001, 1.0, 50.0]))
    if table.bounded:
        assert np.all(np.isneginf([before, after]))
    else:
        assert np.all(np.diff(before) < 0.0)
        assert np.all(np.diff(after) < 0.0)
        assert np.isfinite([before, after]).all()


def test_dates_are_values(date):
    again = type(date)(**date.arguments())
    assert again == date
    assert hash(again) == hash(date)
    date.table()
    copied = pickle.loads(pickle.dumps(date))
    assert copied == date
    assert copied.table().start == date.table().start
    assert type(date).__name__ in repr(date)
    with pytest.raises(AttributeError):
        date.t = 1.0


def test_a_pickled_date_does_not_carry_its_table():
    student = StudentT(0.0, 1.0)
    size = len(pickle.dumps(student))
    student.table()
    assert len(pickle.dumps(student)) == size


def test_the_representation_makes_the_date_again():
    student = StudentT(10.0, 2.0, 4.0, 5.0)
    assert eval(repr(student)) == student
    assert eval(repr(SplitNormal(1, 2, 3))) == SplitNormal(1.0, 2.0, 3.0)


@pytest.mark.parametrize(
    ("one", "shifted"),
    [
        (SplitNormal(0.0, 1.0, 2.0), SplitNormal(1000.0, 1.0, 2.0)),
        (Uniform(0.0, 1.0), Uniform(1000.0, 1001.0)),
        (StudentT(0.0, 1.0), StudentT(1000.0, 1.0)),
        (Tabulated([0, 1, 3], [1, 2, 1]), Tabulated([1000, 1001, 1003], [1, 2, 1])),
    ],
    ids=lambda date: type(date).__name__,
)
def test_a_shift_in_time_shifts_the_table(one, shifted):
    assert shifted.table().start == pytest.approx(one.table().start + 1000.0)
    np.testing.assert_allclose(shifted.table().log_density, one.table().log_density, atol=1e-9)
    assert shifted.sd == pytest.approx(one.sd)


# --- closed forms --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("before", "after"), [(3.0, 3.0), (1.0, 4.0), (2.0, 0.5)])
def test_split_normal(before, after):
    date = SplitNormal(100.0, before, after)
    u = np.array([-11.3, -4.0, -1.01, -0.3, 0.0, 0.02, 0.77, 3.3, 14.9])
    expected = -0.5 * u**2 - math.log(math.sqrt(math.pi / 2.0) * (before + after))
    at = 100.0 + u * np.where(u < 0.0, before, after)
    np.testing.assert_allclose(date.log_density(at), expected, atol=1e-3)
    assert date.mean == pytest.approx(100.0 + math.sqrt(2.0 / math.pi) * (after - before), rel=1e-5)
    var = (1.0 - 2.0 / math.pi) * (after - before) ** 2 + before * after
    assert date.sd == pytest.approx(math.sqrt(var), rel=1e-3)
    assert date.quantile(before / (before + after)) == pytest.approx(100.0, abs=1e-3)


def test_equal_halves_are_a_normal_date():
    date = SplitNormal(0.0, 1.0, 1.0)
    levels = [0.001, 0.05, 0.5, 0.8, 0.999]
    np.testing.assert_allclose(date.quantile(levels), stats.norm.ppf(levels), atol=1e-3)
    np.testing.assert_allclose(date.hdi(0.95), [stats.norm.interval(0.95)], atol=0.02)


def test_student_is_a_scaled_t_of_2a_degrees_of_freedom():
    date = StudentT(50.0, 6.0)
    truth = stats.t(df=6.0, loc=50.0, scale=6.0 * math.sqrt(4.0 / 3.0))
    t = np.linspace(-200.0, 300.0, 333)
    np.testing.assert_allclose(date.log_density(t), truth.logpdf(t), atol=1e-3)
    np.testing.assert_allclose(date.quantile([0.01, 0.4, 0.975]), truth.ppf([0.01, 0.4, 0.975]), atol=0.01)
    assert date.mean == 50.0
    assert date.sd == pytest.approx(truth.std())


def test_a_student_of_many_degrees_of_freedom_is_normal():
    date = StudentT(0.0, 1.0, a=1e6, b=1e6)
    t = np.linspace(-5.0, 5.0, 41)
    np.testing.assert_allclose(date.log_density(t), stats.norm.logpdf(t), atol=1e-3)


def test_uniform():
    date = Uniform(3.0, 8.0)
    np.testing.assert_allclose(date.log_density([3.0, 4.4, 8.0]), -math.log(5.0))
    assert np.all(np.isneginf(date.log_density([2.999, 8.001])))
    assert (date.mean, date.sd) == (5.5, pytest.approx(5.0 / math.sqrt(12.0)))
    np.testing.assert_allclose(date.quantile([0.1, 0.5]), [3.5, 5.5])


def test_a_table_is_linear_between_its_entries_and_may_have_any_distances():
    date = Tabulated([0.0, 1.0, 2.0, 10.0], [0.0, 2.0, 1.0, 0.0])
    at = np.array([0.3, 0.5, 1.5, 4.0, 6.0, 9.0])
    area = 1.0 + 1.5 + 4.0
    expected = np.interp(at, [0.0, 1.0, 2.0, 10.0], [0.0, 2.0, 1.0, 0.0]) / area
    np.testing.assert_allclose(np.exp(date.log_density(at)), expected, rtol=0.01)


def test_zeros_in_a_table_are_impossible_times():
    gap = Tabulated([10.0, 20.0, 21.0, 30.0, 40.0], [3.0, 3.0, 0.0, 0.0, 2.0])
    assert np.exp(gap.log_density(25.0)) < 1e-100
    assert np.isfinite(gap.log_density(25.0))
    wide = Tabulated(np.arange(50_001.0), stats.norm.pdf(np.arange(50_001.0), 3000.0, 40.0))
    clipped = Tabulated(np.arange(50_001.0), np.where(np.abs(np.arange(50_001.0) - 3000.0) < 250.0, 1.0, 0.0))
    assert wide.sd == pytest.approx(40.0, rel=1e-3)
    assert clipped.table().log_density.size < 1000


# --- what is no date -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: SplitNormal(math.nan, 1, 1), "SplitNormal: t must be a finite number, got nan"),
        (lambda: SplitNormal("5", 1, 1), "t must be a finite number, got '5'"),
        (lambda: SplitNormal(5, True, 1), "sd_before must be a finite number, got True"),
        (lambda: SplitNormal(5, 1, 0), "sd_after must be above 0, got 0. Give a standard deviation"),
        (lambda: SplitNormal(5, -1, 1), "sd_before must be above 0, got -1"),
        (lambda: SplitNormal(10**400, 1, 1), "SplitNormal: t must be a number up to 1e+100. Give a larger unit"),
        (lambda: StudentT(0, 1e200), "StudentT: sd must be a number up to 1e+100"),
        (lambda: StudentT(0, 1e-200), "StudentT: sd must be above 1e-100, got 1e-200"),
        (lambda: Tabulated([0, 1e-200], [1, 1]), "t must span more than 1e-100"),
        (lambda: Tabulated([0, 1e200], [1, 1]), "t of a Tabulated date is beyond 1e+100 in row 1"),
        (lambda: Uniform(5, 3), "first must be below last, got first=5 and last=3. Exchange them"),
        (lambda: Uniform(5, 5), "t_sd=0"),
        (lambda: Uniform(5, math.inf), "last must be a finite number"),
        (lambda: StudentT(0, -2), "StudentT: sd must be above 0, got -2"),
        (lambda: StudentT(0, 1, a=1.0), "a must be above 1 and b above 0, got a=1 and b=4"),
        (lambda: StudentT(0, 1, b=0.0), "a=3 and b=0"),
        (lambda: Tabulated([1, 2, 3], [1, 2]), "t has 3 values and density 2"),
        (lambda: Tabulated([1], [1]), "two times or more"),
        (lambda: Tabulated([1, 3, 2], [1, 1, 1]), "t must increase, but 2 follows 3"),
        (lambda: Tabulated([1, 1, 2], [1, 1, 1]), "but 1 follows 1"),
        (lambda: Tabulated([1, 2], [-0.5, 1]), "density is -0.5 at t = 1. Give densities, not their logarithms"),
        (lambda: Tabulated([1, 2], [0, 0]), "zero at every time"),
        (lambda: Tabulated([1, 2], [math.nan, 1]), "density of a Tabulated date is missing, NaN or infinite in row 0"),
        (lambda: Tabulated([[1, 2]], [[1, 1]]), "t of a Tabulated date must have one dimension"),
        (lambda: Uniform(0, 1).quantile(5), "between 0 and 1, got 5"),
        (lambda: Uniform(0, 1).quantile([0.5, 1.0]), "between 0 and 1"),
        (lambda: Uniform(0, 1).hdi(95), "between 0 and 1, got 95"),
    ],
)
def test_what_is_no_date_is_refused_with_a_remedy(make, said):
    with pytest.raises(RecordError) as caught:
        make()
    assert said in str(caught.value)


def test_times_very_close_together_in_a_table_are_no_reason_for_a_huge_one():
    date = Tabulated([0.0, 1e-300, 1.0], [1.0, 1.0, 1.0])
    assert date.table().log_density.size < 10_000
    assert date.mean == pytest.approx(0.5)


def test_the_module_offers_all_kinds():
    assert lamina.dates.Radiocarbon is Radiocarbon
    assert all(issubclass(type(date), Date) for date in KINDS)
    made_by_fits = {"Widened"}
    kinds = {type(date).__name__ for date in KINDS} - made_by_fits
    assert kinds | {"Date", "DateTable"} == set(lamina.dates.__all__)
    with pytest.raises(AttributeError, match="no attribute 'Lognormal'"):
        lamina.dates.Lognormal  # noqa: B018
