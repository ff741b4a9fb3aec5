"""Headers are taken apart the same way, however they are written."""

import pytest

from lamina.tables.headers import any_sigma, parse

INPUTS = """
age; Age; AGE; year; Year CE; date; time; age_ce; age_bp; Age (CE); Age [cal yr BP]; Median Age (cal a BP); cal age
Cal_Age; calibrated age (BP); mean age; AgeBP; Age_ka_BP; age (ka); x; t; cal BP; "  age  "; Age before present
Calibrated 14C age; Age (cal 14C yr BP); Age b2k; Age B.P.
"""
INPUT_ERRORS = """
age_sd; age_err; Age error; AgeError; Age Error (yr); age_er_average; Age +1s; Age -2s; Age 2 sigma; Age 2σ; age_2sd
Age_up_er_2sd; Age_low_er_2sd; Age 2σ Uncertainty + (cal a); Age 2 sigma uncertainty -; x_err; t_sd; Age_2_er_max
Age uncertainty (±2σ) (ka); age std; Age ± 2s; age_min; age_max; Age 95% lower; Year_err
"""
OUTPUTS = """
rsl; RSL (m); RSL_m; Relative sea level [m]; sea-level; value; proxy; d18O; δ18O (‰ VPDB); δ¹⁸O; SST (°C); SST_C; y
Temperature
"""
OUTPUT_ERRORS = """
RSL_err; RSLError; RSLer_up_2sd; RSLer_low_2sd; RSL +1s; RSL -1s; RSL 2σ Uncertainty + (m); rsl_sd; value error; y_err
d18O_sd; RSL_er_min
"""
STRANGERS = """
Region; Latitude (N); Longitude (E); LongLat; Reference; Indicator; cc; CC; water depth (m); tmax; Age model
comment; percentage; average; terrain; mass; yes; d14C; δ14C (‰); 14C sample depth; 14C lab id; age σ²
"""
RADIOCARBON_AGES = """
14C age; 14C Age (14C a BP); Radiocarbon age; Age (14C yr BP); C14 age; c14_age; Conventional age (BP); Age (uncal BP)
Age (not calibrated); 14C yr BP
"""
RADIOCARBON_ERRORS = "radiocarbon age error; 14C error; Age error (14C yr); 14C_age_err; conventional age 1s"


def names(block: str) -> list[str]:
    return [name.strip() for line in block.strip().splitlines() for name in line.split(";")]


@pytest.mark.parametrize(
    ("block", "role", "error"),
    [
        (INPUTS, "t", False),
        (INPUT_ERRORS, "t", True),
        (OUTPUTS, "y", False),
        (OUTPUT_ERRORS, "y", True),
        (RADIOCARBON_AGES, "radiocarbon age", False),
        (RADIOCARBON_ERRORS, "radiocarbon error", True),
    ],
)
def test_aliases(block, role, error):
    for name in names(block):
        header = parse(0, name.strip('"'))
        assert (header.role, header.error) == (role, error), name


def test_strangers_play_no_part():
    for name in names(STRANGERS):
        assert parse(0, name).role is None, name


@pytest.mark.parametrize(
    ("name", "role"),
    [
        *[
            (name, "depth")
            for name in ("depth", "Depth (cm)", "depth_cm", "Depth in core (m)", "Composite depth", "mbsf")
        ],
        *[(name, "height") for name in ("height", "Height above base (m)", "position above base", "elevation in core")],
        *[(name, "core") for name in ("core", "Core ID", "section", "sequence")],
        *[(name, "site") for name in ("Site", "site_name", "Location")],
        *[(name, "label") for name in ("labID", "Sample ID", "Unique Sample ID")],
        *[(name, "reject") for name in ("reject", "Reject?", "Rejected", "exclude")],
        *[(name, "limiting") for name in ("Limiting", "limiting type", "Type")],
        ("Position", "position"),
        ("error", "error"),
        ("±2s", "error"),
    ],
)
def test_other_roles(name, role):
    assert parse(0, name).role == role


@pytest.mark.parametrize(
    ("name", "sigma"),
    [
        *[
            (name, 2)
            for name in ("Age 2s", "age_2sd", "Age 2σ", "Age 2 sigma", "Age error (2σ)", "age err 95%", "Age +2s")
        ],
        *[
            (name, 2)
            for name in (
                "Age error (2 standard deviations)",
                "age (two sigma)",
                "age_2sig",
                "age_sigma2",
                "RSL (2σ, m)",
            )
        ],
        *[(name, 1) for name in ("Age 1s", "RSL +1s", "age 1-sigma error", "Age error (1 sd)", "RSL error 68%")],
        *[(name, None) for name in ("age_sd", "Age error", "RSL_err")],
    ],
)
def test_number_of_sigmas(name, sigma):
    assert parse(0, name).sigma == sigma


@pytest.mark.parametrize(
    ("name", "side"),
    [
        ("Age +2s", "up"),
        ("Age -2s", "low"),
        ("Age − 2σ", "low"),
        ("RSLer_up_2sd", "up"),
        ("age-error", None),
        ("Age ± 2s", None),
    ],
)
def test_a_hyphen_is_a_sign_only_where_it_must_be(name, side):
    assert parse(0, name).side == side


@pytest.mark.parametrize(
    ("name", "scale", "unit", "short"),
    [
        ("Median Age (cal a BP)", "BP", "cal a BP", "Median Age"),
        ("age_ce", "CE", "CE", "age"),
        ("AgeBP", "BP", "", "AgeBP"),
        ("Age (yrs. B.P.)", "BP", "yrs. B.P.", "Age"),
        ("Age (years before present)", "BP", "years before present", "Age"),
        ("Age_b2k", "BP", "b2k", "Age"),
        ("Year BCE", "BC", "BCE", "Year"),
        ("RSL error (2 standard deviations, m)", None, "m", "RSL error"),
        ("Age_ka_BP", "BP", "ka BP", "Age"),
        ("Age (BCE/CE)", "CE", "BCE/CE", "Age"),
        ("Year AD", "CE", "AD", "Year"),
        ("RSL (m)", None, "m", "RSL"),
        ("rsl_m", None, "m", "rsl"),
        ("δ18O [‰ VPDB]", None, "‰ VPDB", "δ18O"),
        ("Age error (2σ)", None, "", "Age error"),
        ("Age", None, "", "Age"),
    ],
)
def test_scale_unit_and_name(name, scale, unit, short):
    header = parse(0, name)
    assert (header.scale, header.unit, header.name) == (scale, unit, short)


def test_a_name_given_by_the_user_brings_its_errors_along():
    named = {"foramindex": "y"}
    assert parse(0, "Foram index", named).role == "y"
    assert parse(0, "Foram_index 2σ error", named).error
    assert parse(0, "Foram_index 2σ error", named).sigma == 2


@pytest.mark.parametrize(
    ("text", "sigma"),
    [
        *[
            (text, 2)
            for text in ("levelling_2s", "dating unc 2sigma", "unc (2 σ)", "95.4 %", "two standard deviations")
        ],
        ("unc 1 sd", 1),
        *[(text, None) for text in ("H2S error", "error", "sd", "1s or 2s")],
    ],
)
def test_sigma_anywhere_in_a_header_that_the_user_calls_an_error(text, sigma):
    assert any_sigma(text) == sigma
