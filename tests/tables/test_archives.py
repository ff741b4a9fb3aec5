"""Tables as archives of data have them, with invented numbers, read as they are."""

import json
import zipfile

import pytest
from numpy.testing import assert_allclose

import lamina
from lamina.tables import Options, TableError, read, read_ages, split

NOAA = (
    "# Invented Lake - Invented d18O data\n#-----------------------\n"
    "# World Data Service for Paleoclimatology, Boulder\n#\n# Missing_Values: -999.9\n#\n# Variables\n"
    "## depth_mid\tdepth at the middle of the sample, , , centimeter, , paleolimnology, , , N, \n"
    "## age_calBP\tage, , , calendar year before present, , paleolimnology, , , N, \n"
    "## age_err\tage, , one standard deviation, year, , paleolimnology, , , N, \n"
    "## d18O\tdelta 18O, carbonate, , per mil VPDB, , paleolimnology, , , N, \n"
    "## d18O_err\tdelta 18O, carbonate, two standard deviations, per mil VPDB, , paleolimnology, , , N, \n"
    "depth_mid\tage_calBP\tage_err\td18O\td18O_err\n"
    "5\t100\t20\t-3.1\t0.2\n10\t220\t25\t-999.9\t0.2\n15\t340\t25\t-3.6\t0.2\n"
)
PANGAEA = (
    "/* DATA DESCRIPTION:\nCitation:\tSomeone (2001): Invented core. PANGAEA\n"
    "Parameter(s):\tDEPTH, sediment/rock [m] (Depth sed) * GEOCODE\n"
    "\tAGE [ka BP] (Age) * GEOCODE * COMMENT: cal BP\n"
    "\tAge, standard deviation [±] (Age std dev) * PI: Someone\n"
    "\tδ18O, foraminifera [‰ PDB] (δ18O) * PI: Someone\n*/\n"
    "Depth sed [m]\tAge [ka BP]\tAge std dev [±]\tδ18O [‰ PDB] (Invented foraminifera)\tδ18O std dev [±]\n"
    "0.05\t0.5\t0.05\t1.2\t0.1\n0.15\t1.4\t0.07\t1.3\t0.1\n0.30\t1.3\t0.07\t1.6\t0.1\n"
)
PANGAEA_DATES = (
    "/* DATA DESCRIPTION:\nParameter(s):\tDEPTH, sediment/rock [m] (Depth sed) * GEOCODE\n"
    "\tAge, dated [ka] (Age dated) * METHOD/DEVICE: Age, 14C AMS\n"
    "\tAge, dated, error [±] (Age dated e) * METHOD/DEVICE: Age, 14C AMS\n*/\n"
    "Event\tDepth sed [m]\tAge dated [ka]\tAge dated e [±]\nX-1\t0.05\t0.52\t0.03\nX-1\t0.15\t1.43\t0.035\n"
)
MONTHLY = " 1900.0417;  6946; 0;000\n 1900.1250;-99999;99;000\n 1900.2083;  6980; 2;001\n 1900.2917;  6990; 0;000\n"
ANNUAL = " 1900;  6946;N;000\n 1901;  6957;Y;000\n 1902;-99999;N;000\n 1903;  6970;N;010\n"
SPACES = "  depth   age  age_sd   rsl  rsl_sd\n   1.5   100      10  -0.1     0.1\n  10.0   220      20  -0.2     0.1\n"


def test_noaa_template(table):
    found = read(table(NOAA, "lake.txt"), Options(incomplete=True))
    record = found.record
    assert_allclose(record.t, [100, 220, 340])
    assert_allclose(record.t_sd, [20, 25, 25])
    assert_allclose(record.y_sd[[0, 2]], 0.1)
    assert record.measured.tolist() == [True, False, True]
    assert (found.scale, record.t_unit, record.y_unit, record.depth_unit) == ("BP", "cal yr BP", "per mil VPDB", "cm")
    assert "1 cell with -999.9 (the file says so)" in found.describe()
    assert not any("code for a missing value" in warning for warning in found.warnings)


def test_pangaea(table):
    found = read(table(PANGAEA, "core.tab"))
    record = found.record
    assert_allclose(record.t, [0.5, 1.4, 1.3])
    assert_allclose(record.t_sd, [0.05, 0.07, 0.07])
    assert (record.t_unit, record.y_unit, record.depth_unit) == ("ka BP", "‰ PDB", "m")
    assert found.lines == (9, 10, 11)
    assert "Someone (2001): Invented core" in found.describe()


def test_pangaea_radiocarbon_ages_in_thousands_of_years(table):
    record = read_ages(table(PANGAEA_DATES, "dates.tab")).record
    assert [(date.age, date.age_sd) for date in record.dates] == [(520.0, 30.0), (1430.0, 35.0)]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("/* DATA DESCRIPTION:\nCitation:\tx\n", r"line 1: the description that begins with /\* does not end"),
        ("/* DATA DESCRIPTION:\n*/\n", "line 2: there is no table below"),
    ],
)
def test_pangaea_that_is_cut_short(table, content, said):
    with pytest.raises(TableError, match=said):
        read(table(content, "core.tab"))


@pytest.mark.parametrize("name", ["1.rlrdata", "gauge.txt"])
def test_psmsl_monthly_means(table, name):
    found = read(table(MONTHLY, name), Options(y_sd="20"))
    assert_allclose(found.record.t, [1900.0417, 1900.2083, 1900.2917])
    assert_allclose(found.record.y, [6946, 6980, 6990])
    assert found.record.exact.all()
    assert (found.record.y_unit, found.scale, found.lines) == ("mm", "CE", (1, 3, 4))
    text = found.describe()
    assert "1 of 4 means left out" in text
    assert "set by --order" not in text
    assert "flags line 3" in text


def test_psmsl_annual_means_are_at_the_middle_of_the_year(table):
    found = read(table(ANNUAL, "1.rlrdata"), Options(y_sd="10"))
    assert_allclose(found.record.t, [1900.5, 1901.5, 1903.5])
    text = found.describe()
    assert "PSMSL annual means" in text
    assert "0 in all rows (the years of a tide gauge are exact)" in text
    assert "input sigma" not in text


def test_decadal_means_of_several_gauges(table):
    rows = [
        f"{gauge},{year},{10 * k},5" for gauge in ("NORTH", "SOUTH") for k, year in enumerate((1895, 1905, 1915, 1925))
    ]
    path = table("gauge,year_ce,rsl_mm,rsl_sd_mm\n" + "\n".join(rows))
    parts = split(path, "gauge", Options(t_sd="0", order="none"))
    assert [len(part.record) for part in parts.values()] == [4, 4]
    assert all(part.record.exact.all() and part.record.y_unit == "mm" for part in parts.values())


def test_psmsl_bad_line(table):
    with pytest.raises(TableError, match=r'1\.rlrdata, line 2: found "1900'):
        read(table(MONTHLY.replace("-99999;99;000", "-99999"), "1.rlrdata"))


def test_columns_between_spaces(table):
    found = read(table(SPACES, "core.txt"))
    assert_allclose(found.record.t_sd, [10, 20])
    assert "separated by spaces" in found.describe()


def test_decimal_commas_between_spaces(table):
    assert_allclose(read(table(SPACES.replace(".", ","), "core.txt")).record.depth, [1.5, 10.0])


def test_headers_of_several_words_between_two_spaces(table):
    content = SPACES.replace("  depth   age  age_sd", "depth (cm)   age (cal BP)  age error")
    record = read(table(content, "core.txt")).record
    assert (record.depth_unit, record.t_unit) == ("cm", "cal BP")


# --- LiPD ------------------------------------------------------------------------------------------------------------


def column(number, name, units=""):
    return {"number": number, "variableName": name, "units": units, "TSid": f"x{number}"}


PALEO = {
    "filename": "core.paleo1measurement1.csv",
    "tableName": "paleo1measurement1",
    "missingValue": "NaN",
    "columns": [
        *(column(1, "depth", "cm"), column(2, "age", "yr BP"), column(3, "ageUncertainty", "yr")),
        *(column(4, "year", "AD"), column(5, "d18O", "permil"), column(6, "d18OUncertainty", "permil")),
    ],
}
CHRON = {
    "filename": "core.chron1measurement1.csv",
    "tableName": "chron1measurement1",
    "columns": [
        column(1, "labID"),
        column(2, "depth", "cm"),
        column(3, "age14C", "yr BP"),
        column(4, "age14CUncertainty", "yr"),
    ],
}
ENSEMBLE = {
    "filename": "core.chron1model1ensemble1.csv",
    "columns": [column(1, "depth", "cm"), column([2, 3, 4], "ageEnsemble", "yr BP")],
}
FILES = {
    "core.paleo1measurement1.csv": "5,100,20,1850,-3.1,0.1\n10,220,25,1730,-3.3,0.1\n15,340,30,1610,NaN,NaN\n",
    "core.chron1measurement1.csv": "A-1,5,150,30\nA-2,12,310,30\n",
    "core.chron1model1ensemble1.csv": "5,90,100,110\n15,300,320,350\n",
}
METADATA = {
    "dataSetName": "core",
    "paleoData": [{"measurementTable": [PALEO]}],
    "chronData": [{"measurementTable": [CHRON], "model": [{"ensembleTable": [ENSEMBLE]}]}],
}


def lipd(path, metadata=METADATA, files=FILES):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("bag/data/metadata.jsonld", json.dumps(metadata))
        for name, text in files.items():
            archive.writestr(f"bag/data/{name}", text)
    return path


def test_lipd_measurements(tmp_path):
    found = read(lipd(tmp_path / "core.lpd"), Options(incomplete=True))
    record = found.record
    assert_allclose(record.t, [100, 220, 340])
    assert_allclose(record.t_sd, [20, 25, 30])
    assert record.measured.tolist() == [True, True, False]
    assert (record.t_unit, record.y_unit, record.depth_unit) == ("yr BP", "‰", "cm")
    assert "age, of the two columns age and year (they say the same)" in found.describe()


def test_lipd_dates(tmp_path):
    record = read_ages(lipd(tmp_path / "core.lpd")).record
    assert [(date.age, date.age_sd) for date in record.dates] == [(150.0, 30.0), (310.0, 30.0)]
    assert record.label == ("A-1", "A-2")


def test_lipd_ensemble(tmp_path):
    members = lamina.read_ensemble(lipd(tmp_path / "core.lpd"), [5.0, 10.0])
    assert_allclose(members, [[90, 195], [100, 210], [110, 230]])


def test_lipd_of_an_early_version(tmp_path):
    old = {
        "paleoData": {
            "p1": {
                "paleoMeasurementTable": {"t1": {**PALEO, "columns": {c["variableName"]: c for c in PALEO["columns"]}}}
            }
        }
    }
    assert len(read(lipd(tmp_path / "core.lpd", old), Options(incomplete=True)).record) == 3


def test_lipd_with_several_tables(tmp_path):
    second = {**PALEO, "tableName": "other"}
    path = lipd(tmp_path / "core.lpd", {"paleoData": [{"measurementTable": [PALEO, second]}]})
    with pytest.raises(TableError, match=r'there are 2 tables: "paleo1measurement1", "other"; choose one with --sheet'):
        read(path)
    assert len(read(path, Options(sheet="other", incomplete=True)).record) == 3


def not_a_zip(path):
    path.write_bytes(b"PK\x03\x04 nothing")


def without_metadata(path):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("bag/data/other.txt", "x")


def without_tables(path):
    lipd(path, {"paleoData": []})


def without_the_file(path):
    lipd(path, files={})


def too_few_cells(path):
    lipd(path, files={**FILES, "core.paleo1measurement1.csv": "5,100\n"})


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (not_a_zip, r"core\.lpd: this is not a readable \.lpd file"),
        (without_metadata, "there is no metadata.jsonld"),
        (without_tables, "there is no table of measurements"),
        (without_the_file, "core.paleo1measurement1.csv, which the metadata name, cannot be read"),
        (too_few_cells, "line 1: core.paleo1measurement1.csv has 2 cells, but the metadata name column 6"),
    ],
)
def test_lipd_that_is_damaged(tmp_path, make, said):
    make(tmp_path / "core.lpd")
    with pytest.raises(TableError, match=said):
        read(tmp_path / "core.lpd")


def test_an_archive_that_would_fill_the_memory_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("lamina.tables.formats.excel.LARGEST_FILE", 100)
    with pytest.raises(TableError, match=r"core\.lpd: the file unpacks to .* MB, more than a table"):
        read(lipd(tmp_path / "core.lpd"))


@pytest.mark.parametrize(
    "columns", [1e308, "depth", [], {}, [[1]], [column("\u00b2", "depth")], [column("9" * 5000, "age")]]
)
def test_lipd_whose_metadata_name_no_columns(tmp_path, columns):
    metadata = {"paleoData": [{"measurementTable": [{**PALEO, "columns": columns}]}]}
    with pytest.raises(TableError, match=r"core\.lpd: (the metadata name no columns|there is no table)"):
        read(lipd(tmp_path / "core.lpd", metadata))
