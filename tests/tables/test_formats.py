"""Tables in the shapes that other tools and databases of the field use, with invented numbers, read as they are."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from lamina.tables import Options, TableError, read

RESLR = """\
Region,Site,LongLat,Latitude,Longitude,RSL,Age,Age_err,RSL_err,AgeError,RSLError
Inlet,Marsh,-70.1 40.2,40.2,-70.1,-0.10,1990,4,0.05,4,0.05
Inlet,Marsh,-70.1 40.2,40.2,-70.1,-0.32,1871,20,0.06,20,0.06
Inlet,Marsh,-70.1 40.2,40.2,-70.1,-0.29,1902,15,0.05,15,0.05
Inlet,Marsh,-70.1 40.2,40.2,-70.1,-0.75,1630,35,0.07,35,0.07
"""
EIV_IGP = "Age,RSL,AgeError,RSLError,Type\r-210,-2.1,22,0.15,Core\r155,-1.7,30.5,0.1,Core\r1905,-0.2,2.5,0.03,TG\r"
EIV_MODELS = "x,y,x_err,y_err\n-210,-2.1,22,0.15\n155,-1.7,30.5,0.1\n160,-1.6,12,0.1\n"
PALEOSTEHM = """\
Region,Latitude,Longitude,RSL,RSLer_up_2sd,RSLer_low_2sd,Age,Age_up_er_2sd,Age_low_er_2sd,Limiting,Indicator,Region,CC
Bay,40.0,-70.0,-3.1,0.2,0.2,2100,40,44,0,1,7,1
Bay,40.0,-70.0,-2.6,0.2,0.2,1650,60,60,0,1,7,1
Bay,40.0,-70.0,-9.0,0.2,0.2,2500,60,60,-1,1,7,0
Bay,40.0,-70.0,-1.2,0.1,0.1,700,30,30,0,1,7,1
Bay,40.0,-70.0,1.2,0.1,0.1,800,30,30,1,1,7,0
"""
COMMON_ERA = """\
Region,Site,Reference,Indicator,Latitude (N),Longitude (E),RSL (m),RSL +1s,RSL -1s,Age (CE),Age +2s,Age -2s
"Bay, Coast",North,Someone (2001); compiled later,plants,40,-70,-1.5,0.1,0.1,350,60,60
"Bay, Coast",North,Someone (2001); compiled later,plants,40,-70,-1.1,0.1,0.1,720,80,70
"Bay, Coast",North,Someone (2001); compiled later,plants,40,-70,-1.0,0.1,0.1,690,80,80
"Bay, Coast",North,Someone (2001); compiled later,plants,40,-70,-0.9,0.1,0.1,900,80,80
"Bay, Coast",South,Someone (2001); compiled later,plants,41,-70,-0.2,0.2,0.1,1850,30,10
"Bay, Coast",South,Someone (2001); compiled later,plants,41,-70,-0.6,0.2,0.2,1500,30,30
"Bay, Coast",South,Someone (2001); compiled later,plants,41,-70,-0.8,0.2,0.2,1400,30,30
"Bay, Coast",South,Someone (2001); compiled later,plants,41,-70,-0.9,0.2,0.2,1200,30,30
"""
HOLSEA = """\
Sea-level database,,,,,,,,,,,
Unique Sample ID,Site,Type,Age (cal a BP),Age 2σ Uncertainty + (cal a),Age 2σ Uncertainty - (cal a),RSL (m),\
RSL 2σ Uncertainty + (m),RSL 2σ Uncertainty - (m),14C Age (14C a BP),Depth in core (m),Reject
S1,Fen,0,1020,80,90,-0.9,0.4,0.4,1100,1.2,
S2,Fen,0,2210,120,120,-1.8,0.4,0.4,2200,2.4,no
S3,Fen,1,3300,120,120,-2.0,0.4,0.4,3100,3.0,
S4,Fen,0,5400,120,120,-2.5,0.4,0.4,4700,3.3,Yes
S5,Fen,0,4100,150,150,-3.1,0.5,0.5,3800,4.1,
"""
BACON = "labID,age,error,depth,cc\nX-1,1100,30,10.5,1\nX-2,2300,40,40,1\n"
FLAT = "Depth(m),Year,+2s,-2s,RSL(m),±2s\n0.01,2005,2,2,0.0,0.2\n0.05,1980,10,10,-0.1,0.2\n0.10,1950,20,20,-0.2,0.2\n"


def test_reslr(table):
    path = table(RESLR)
    with pytest.raises(TableError, match="--order rows"):
        read(path)
    understood = read(path, Options(order="rows", scale="CE"))
    record = understood.record
    assert_allclose(record.t, [1990, 1871, 1902, 1630])
    assert_allclose(record.t_sd, [4, 20, 15, 35])
    assert_allclose(record.y_sd, [0.05, 0.06, 0.05, 0.07])
    assert record.order == "decreasing"
    assert record.t_unit == "CE"
    assert record.sequence == ("Marsh",) * 4
    assert "1 of 3 neighbours are reported against the order (line 4)" in understood.describe()


def test_eiv_igp(table):
    record = read(table(EIV_IGP), Options(order="rows")).record
    assert_allclose(record.t, [-210, 155, 1905])
    assert_allclose(record.t_sd, [22, 30.5, 2.5])
    assert record.order == "increasing"
    models = read(table(EIV_MODELS), Options(order="none")).record
    assert_allclose(models.y_sd, [0.15, 0.1, 0.1])
    assert models.unordered.size == 3


def test_paleostehm(table):
    understood = read(table(PALEOSTEHM), Options(order="none", scale="BP", limiting="drop"))
    record = understood.record
    assert understood.lines == (2, 3, 5)
    assert_allclose(record.t_sd, [21, 30, 15])
    assert_allclose(record.y_sd, [0.1, 0.1, 0.05])
    assert (record.t_unit, understood.scale) == ("BP", "BP")
    with pytest.raises(TableError, match='column "Limiting": the codes "0", "-1", "1" do not say'):
        read(table(PALEOSTEHM), Options(order="none", scale="BP"))


def test_common_era_database_has_one_and_two_sigma_in_one_file(table):
    understood = read(table(COMMON_ERA), Options(order="rows", sequence="Site"))
    record = understood.record
    assert understood.lines == (2, 3, 4, 5, 9, 8, 7, 6)  # South is listed from the top, North from the bottom
    assert_allclose(record.t_sd, [30, 37.5, 40, 40, 15, 15, 15, 10])
    assert_allclose(record.y_sd, [0.1, 0.1, 0.1, 0.1, 0.2, 0.2, 0.2, 0.15])
    assert record.sequence == ("North",) * 4 + ("South",) * 4
    assert (record.t_name, record.t_unit, record.y_name, record.y_unit) == ("Age", "CE", "RSL", "m")
    assert any("2 sites share one curve" in warning for warning in understood.warnings)
    assert any("differ by more than 5 % in line 6" in warning for warning in understood.warnings)
    assert read(table(COMMON_ERA), Options(order="rows", site="south")).lines == (6, 7, 8, 9)


def test_holsea(table):
    understood = read(table(HOLSEA))
    record = understood.record
    assert understood.lines == (3, 4, 7)
    assert_allclose(record.t, [1020, 2210, 4100])
    assert_allclose(record.t_sd, [42.5, 60, 75])
    assert_allclose(record.y_sd, [0.2, 0.2, 0.25])
    assert record.order == "increasing"
    assert record.label == ("S1", "S2", "S5")
    assert (record.t_unit, record.y_unit) == ("cal a BP", "m")
    text = understood.describe()
    assert "1 row left out (line 6)" in text
    assert "header in line 2, below 1 other line" in text


def test_bacon_has_dates_but_no_output(table):
    with pytest.raises(
        TableError, match=r"core.csv, line 1: no column holds the output .* it holds dates and depths only"
    ):
        read(table(BACON))
    with_output = BACON.replace("cc\n", "cc,value,value_sd\n").replace(",1\n", ",1,3.5,0.1\n")
    record = read(table(with_output)).record
    assert [(date.age_sd, date.curve) for date in record.dates] == [(30, "IntCal20"), (40, "IntCal20")]
    assert record.label == ("X-1", "X-2")


def test_errors_without_a_name_belong_to_the_column_at_their_left(table):
    record = read(table(FLAT)).record
    assert_allclose(record.t_sd, [1, 5, 10])
    assert_allclose(record.y_sd, [0.1, 0.1, 0.1])
    assert record.order == "decreasing"


def test_embedded_record_reads_back(table):
    from lamina import datasets

    nassau = datasets.load("nassau")
    rows = zip(nassau.t, nassau.t_sd, nassau.y, nassau.y_sd, nassau.sequence, strict=True)
    body = "\n".join(f"{t},{s},{y},{e},{c or ''}" for t, s, y, e, c in rows)
    understood = read(table("age_ce,age_sd,rsl (m),rsl_sd,core\n" + body), Options(order="rows"))
    for name in ("t", "t_sd", "y", "y_sd"):
        assert_allclose(getattr(understood.record, name), getattr(nassau, name))
    assert understood.record.sequence == nassau.sequence
    assert understood.record.order == "increasing"
    assert np.count_nonzero(understood.record.exact) == np.count_nonzero(nassau.exact)
    assert any("age-depth model" in warning for warning in understood.warnings)
