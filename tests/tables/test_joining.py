"""Two files: measurements without ages, and the dates of the core or the ensemble of another age model."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose

from lamina.tables import Options, TableError, read, read_ages
from lamina.tables.messages import Line, name_lines

PROXIES = "depth (cm),d18O,d18O_sd\n0,1.0,0.1\n5,1.1,0.1\n10,1.3,0.1\n15,1.2,0.1\n20,1.6,0.1\n"
BACON = "labID,age,error,depth,cc\ntop,-50,5,0,0\nA,500,30,10,1\nB,900,30,25,1\n"


@pytest.fixture
def two(table):
    def write(proxies=PROXIES, dates=BACON, **options):
        path = table(proxies, "proxies.csv")
        return read(path, Options(dates=str(table(dates, "dates.csv")), **options))

    return write


def test_rows_have_a_value_or_a_date_and_share_the_layers_at_one_depth(two):
    found = two()
    record = found.record
    assert record.depth.tolist() == [0, 0, 5, 10, 10, 15, 20, 25]
    assert_allclose(record.y[record.measured], [1.0, 1.1, 1.3, 1.2, 1.6])
    assert record.dated.tolist() == [False, True, False, False, True, False, False, True]
    assert record.tie[0] == record.tie[1] is not None
    assert record.tie[3] == record.tie[4] is not None
    assert record.dates[4].curve == "IntCal20"
    assert (record.t_unit, record.y_unit, record.depth_unit) == ("cal BP", "", "cm")
    assert [str(line) for line in found.lines] == [
        *("2", "2 of dates.csv", "3", "4", "3 of dates.csv", "5", "6", "4 of dates.csv")
    ]
    assert (
        "dates.csv: UTF-8 text, comma separated, with Bacon's column cc, 3 rows (joined by depth)" in found.describe()
    )
    assert "set by --equal-depth" not in found.describe()


def test_depths_in_two_units_are_brought_to_one(two):
    dates = "depth (m),14C age,14C error\n0.02,200,30\n0.18,900,30\n"
    assert two(dates=dates).record.depth.tolist() == [0, 2, 5, 10, 15, 18, 20]


def test_lines_of_the_table_name_no_date_in_the_other_file(two):
    with pytest.raises(TableError, match=r"--ignore-date .* the dates come from another file.* in the file of dates"):
        two(ignore_date=(3,))


def test_ages_in_the_table_of_measurements_are_not_used(two):
    proxies = "depth,age,error,d18O,d18O_sd\n0,1,1,1.0,0.1\n5,2,1,1.1,0.1\n20,3,1,1.2,0.1\n"
    record = two(proxies).record
    assert record.dated.sum() == 3
    assert record.t[record.dated][0] == -50.0


def test_a_column_that_both_files_have_is_one(two):
    proxies = "id,core,depth,value,value_sd\nx1,A,0,1,0.1\nx2,A,5,2,0.1\ny1,B,3,2,0.1\n"
    dates = "id,core,depth,age (cal BP),age_sd\na,A,2,100,10\nb,B,4,300,20\nc,B,9,600,20\n"
    record = two(proxies, dates).record
    assert sorted(record.label) == ["a", "b", "c", "x1", "x2", "y1"]
    assert sorted(zip(record.sequence, record.depth.tolist(), strict=True)) == [
        *(("A", 0.0), ("A", 2.0), ("A", 5.0), ("B", 3.0), ("B", 4.0), ("B", 9.0))
    ]


def test_a_depth_can_be_named(two, table):
    proxies = PROXIES.replace("depth (cm)", "down")
    with pytest.raises(TableError, match=r"proxies.csv, line 1: no column of depths.*name it with --depth COLUMN"):
        two(proxies)
    assert two(proxies, depth="down").record.depth.tolist() == [0, 0, 5, 10, 10, 15, 20, 25]
    one = "down,age (cal BP),age_sd,value,value_sd\n5,100,10,1,0.1\n1,50,10,1,0.1\n9,200,10,1,0.1\n"
    found = read(table(one), Options(depth="down"))
    assert found.record.depth.tolist() == [1, 5, 9]
    assert 'the column "down": deeper is older (set by --depth)' in found.describe()
    with pytest.raises(TableError, match=r'column "deep": there is no such column.*correct --depth'):
        read(table(one), Options(depth="deep"))


def test_a_fault_in_the_dates_names_their_file(two):
    with pytest.raises(TableError, match=r"line 3 of dates\.csv.*found the text \"old\""):
        two(dates=BACON.replace("A,500,30", "A,old,30"))


@pytest.mark.parametrize(
    ("proxies", "dates", "said"),
    [
        (
            PROXIES,
            BACON.replace(",10,1", ",-69,1").replace(",25,1", ",-60,1").replace(",0,0", ",-70,0"),
            "do not overlap",
        ),
        (
            "depth (cm),d18O,d18O_sd\n" + "".join(f"{d},1.2,0.1\n" for d in (0, 10, 20, 1, 11, 21)),
            BACON,
            'proxies.csv, line 5, column "depth .cm.": the depths begin again',
        ),
        (PROXIES, "height,age (cal BP),age_sd\n1,5,1\n2,6,1\n", '"height" is a height, but "depth'),
        (
            "core,depth,value,value_sd\nA,0,1,0.1\nB,5,2,0.1\n",
            BACON,
            "dates.csv, line 1: proxies.csv has 2 cores or sites, and this file does not name them",
        ),
    ],
)
def test_files_that_cannot_be_joined(two, proxies, dates, said):
    with pytest.raises(TableError, match=said):
        two(proxies, dates)


def test_the_digest_is_that_of_both_files(two):
    assert two().sha256 != two(dates=BACON.replace("900", "910")).sha256


def test_a_table_without_ages_takes_them_from_an_ensemble(table):
    ages = table("depth,1,2,3\n0,0,10,20\n20,200,240,280\n", "ages.csv")
    found = read(table(PROXIES), Options(order="none"), ages=ages)
    assert_allclose(found.record.t, [10, 67.5, 125, 182.5, 240])
    assert (found.scale, found.record.t_unit) == ("BP", "BP")
    assert "ages in ages.csv get larger downwards" in found.describe()
    with pytest.raises(
        TableError, match=r"ages\.csv: the ensemble reaches from depth 0 to 20, but line 6 of the record"
    ):
        read(table(PROXIES.replace("20,1.6", "30,1.6")), Options(order="none"), ages=ages)


def test_a_table_with_decimal_commas_takes_ages_with_decimal_points(table):
    ages = table("depth,1,2,3\n0,0.5,10,20\n20,200,240.5,280\n", "ages.csv")
    rows = PROXIES.replace(",", ";").replace(".", ",")
    found = read(table(rows), Options(order="none"), ages=ages)
    assert_allclose(found.record.t, read(table(PROXIES), Options(order="none"), ages=ages).record.t)
    assert_allclose(found.record.y, [1.0, 1.1, 1.3, 1.2, 1.6])


def test_layers_without_a_date_get_an_age(table):
    rows = "labID,age,error,depth,cc\ntop,-50,5,0,0\n,,,5,\nA,500,30,10,1\n,,,15,\n"
    record = read_ages(table(rows)).record
    assert record.dated.tolist() == [True, False, True, False]
    assert record.depth.tolist() == [0, 5, 10, 15]
    plain = "depth,14C age,14C error\n0,200,30\n5,,\n10,500,30\n"
    assert np.flatnonzero(~read_ages(table(plain)).record.dated).tolist() == [1]


def test_lines_of_two_files_are_named_by_file():
    assert name_lines([2, 3, Line(7, "d.csv"), Line(9, "d.csv")]) == "lines 2 and 3, and lines 7 and 9 of d.csv"
    assert pickle.loads(pickle.dumps(Line(7, "d.csv"))).file == "d.csv"
