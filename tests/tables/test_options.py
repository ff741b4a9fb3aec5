"""Options of a table: names and units, second names, and what the command line makes of their metadata."""

import subprocess
import sys
from dataclasses import fields
from typing import get_args

import numpy as np
import pytest

import lamina
from lamina.cli.options import READ
from lamina.tables import Options, TableError, TableReading, Understanding, read

PLAIN = """\
depth,age,age_sd,value,value_sd (mm)
1,100,10,0.1,50
2,200,10,0.2,50
3,300,10,0.3,50
"""


def test_names_and_units_can_be_set(table):
    options = Options(t_name="Age", t_unit="cal yr BP", y_name="Sea level", y_unit="m")
    found = read(table(PLAIN), options)
    record = found.record
    assert (record.t_name, record.t_unit, record.y_name, record.y_unit) == ("Age", "cal yr BP", "Sea level", "m")
    assert found.scale == "BP"
    assert "BP: larger is older (set by --t-unit)" in found.describe()


def test_an_error_in_another_unit_is_converted_to_the_unit_that_is_set(table):
    assert np.allclose(read(table(PLAIN), Options(y_unit="m")).record.y_sd, 0.05)
    assert np.allclose(read(table(PLAIN)).record.y_sd, 50)


def test_a_unit_that_is_set_keeps_the_name_in_the_header_and_gets_the_scale(table):
    record = read(table(PLAIN.replace("age,", "age (a),", 1)), Options(scale="CE", order="rows", t_unit="yr")).record
    assert (record.t_name, record.t_unit) == ("age", "yr CE")


def test_radiocarbon_ages_are_not_calibrated_to_thousands_of_years(table):
    text = PLAIN.replace("age,age_sd", "14C age,14C error")
    assert read(table(text), Options(t_unit="BP")).record.t_unit == "BP"
    with pytest.raises(TableError, match=r"calibrated in years BP or CE, but .* is in ka BP"):
        read(table(text), Options(t_unit="ka BP"))


def test_the_minimum_gap_has_two_names(table):
    for name in ("least_gap", "minimum_gap"):
        assert lamina.read(table(PLAIN), **{name: 5}).least_gap.tolist() == [5, 5, 0]
    with pytest.raises(TableError, match="option smallest_gap: unknown option; choose from t, "):
        lamina.read(table(PLAIN), smallest_gap=5)


def test_every_field_is_an_option_of_the_command_line():
    assert list(READ) == [field.name for field in fields(Options)]
    for field in fields(Options):
        annotation, default = READ[field.name]
        _, info = get_args(annotation)
        assert default == field.default
        assert info.help == field.metadata["help"]
        assert f"--{field.name.replace('_', '-')}" in (info.default, *info.param_decls)


def test_the_options_are_known_without_loading_the_reader():
    code = (
        "import sys, lamina.tables.options; assert not {'numpy', 'pandas', 'lamina.tables.reading'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_reading_has_its_old_name_too():
    assert Understanding is TableReading
    assert set(dir(lamina.tables)) >= {"read", "read_ages", "split", "Understanding", "TableReading"}
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = lamina.tables.nothing
