"""The thickness of samples in tables: how it is found, converted and refused."""

import pytest

from lamina.tables import Options, TableError, read_ages
from lamina.tables.reading import read

TABLE = "depth (cm),age BP,age error,thickness\n0,-50,10,1\n20,400,20,2\n40,900,20,\n60,1300,20,2\n"


@pytest.fixture
def table(tmp_path):
    def write(text):
        (tmp_path / "core.csv").write_text(text)
        return tmp_path / "core.csv"

    return write


def test_the_column_is_found_by_its_name(table):
    found = read_ages(table(TABLE))
    assert found.record.thickness.tolist() == [1.0, 2.0, 0.0, 2.0]
    assert "1 to 2 cm, in 3 rows: a date is of some part of its slice" in found.describe()


def test_another_unit_is_converted(table):
    found = read_ages(table(TABLE.replace("thickness", "sample thickness (mm)")))
    assert found.record.thickness == pytest.approx([0.1, 0.2, 0.0, 0.2])


def test_one_number_another_column_or_none(table):
    path = table(TABLE.replace("thickness", "slab"))
    assert read_ages(path).record.thickness is None
    assert read_ages(path, Options(thickness="slab")).record.thickness.tolist() == [1.0, 2.0, 0.0, 2.0]
    assert read_ages(path, Options(thickness=3.0)).record.thickness.tolist() == [3.0] * 4
    assert read_ages(table(TABLE), Options(thickness="none")).record.thickness is None


def test_bad_cells_are_named(table):
    with pytest.raises(TableError, match=r"line 3.*thickness is negative"):
        read_ages(table(TABLE.replace("20,400,20,2", "20,400,20,-2")))
    with pytest.raises(TableError, match="line 3"):
        read_ages(table(TABLE.replace("20,400,20,2", "20,400,20,thin")))
    with pytest.raises(TableError, match="no such column"):
        read_ages(table(TABLE), Options(thickness="slab"))


def test_slices_that_overlap_are_warned_of(table):
    found = read_ages(table(TABLE.replace("60,1300,20,2", "60,1300,20,50")))
    assert any("the slices of lines 4 and 5 overlap" in one for one in found.warnings)


def test_exact_rows_have_no_thickness(table):
    found = read_ages(table(TABLE.replace("0,-50,10,1", "0,-50,0,1")))
    assert found.record.thickness.tolist() == [0.0, 2.0, 0.0, 2.0]
    assert any("thickness of line 2 is not used" in one for one in found.warnings)


def test_without_depths_it_is_not_used(table):
    text = "age BP,age error,d18O,d18O error,thickness\n100,10,1,0.1,2\n200,10,2,0.1,2\n300,10,1,0.1,2\n"
    found = read(table(text), Options(order="rows"))
    assert found.record.thickness is None
    assert '"thickness" is not used (there are no depths)' in found.describe()
    with pytest.raises(TableError, match="needs a column of depths"):
        read(table(text), Options(order="rows", thickness="2"))


def test_the_thickness_of_varves_may_be_the_output(table):
    text = "depth,age BP,age error,thickness,thickness error\n1,100,10,1,0.1\n2,200,10,2,0.1\n3,300,10,1,0.1\n"
    found = read(table(text), Options(y="thickness", y_sd="0.1"))
    assert found.record.y.tolist() == [1.0, 2.0, 1.0]
    assert found.record.thickness is None
