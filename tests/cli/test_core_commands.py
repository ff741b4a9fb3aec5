"""What tables of real cores hold, through the commands."""

import pandas as pd
import pytest
from commands import lamina, write_table

TABLE = """\
core,depth,age_bp,age_sd,rsl,rsl_sd,type
A,0,0,10,0.00,0.05,
A,20,300,40,-0.25,0.05,
A,20,340,40,-0.31,0.05,
A,60,900,40,-0.90,0.05,
B,10,150,40,-0.18,0.05,
B,30,700,40,-1.05,0.05,marine limiting
B,50,1200,40,-1.15,0.05,
B,70,1500,40,-1.50,0.05,
"""


def test_check_says_what_lies_between_the_rows(tmp_path):
    table = write_table(tmp_path, TABLE.replace("20,300,40", "20,,"))
    done = lamina("check", table, "--equal-depth", "block", "--incomplete", "--hiatus", "40", "--hiatus", "5",
                  "--least-gap", "2", "--limiting", "drop", "--t-errors", "student", "--gaps-by", "rows")  # fmt: skip
    assert done.exit_code == 0, done.output
    for said in ("without a date  line 3", "between lines 4 and 5", "between lines 2 and 3", "between lines 6 and 8",
                 "minimum gap", "1 row left out", "Student-t", "time from row to row", "blocks"):  # fmt: skip
        assert said in " ".join(done.stdout.replace("  ", " ").split()) or said in done.stdout, said


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cores")
    table, out = write_table(folder, TABLE), folder / "out"
    done = lamina("fit", table, "--out", out, "--equal-depth", "block", "--outliers", "mixture", "--offsets", "0.2",
                  "--chains", "2", "--max-sweeps", "400")  # fmt: skip
    assert done.exit_code in (0, 3), done.output
    return out


@pytest.mark.slow
def test_inputs_have_depth_limit_and_outlier(fitted):
    inputs = pd.read_csv(fitted / "inputs.csv", keep_default_na=False)
    assert inputs["line"].tolist() == list(range(2, 10))
    assert inputs["depth"].tolist() == [0, 20, 20, 60, 10, 30, 50, 70]
    assert inputs["limit"].tolist() == ["", "", "", "", "", "above", "", ""]
    assert pd.to_numeric(inputs["outlier"]).between(0.0, 1.0).all()
    assert "tie" not in inputs


@pytest.mark.slow
def test_each_core_has_an_offset(fitted):
    offsets = pd.read_csv(fitted / "offsets.csv")
    assert offsets["sequence"].tolist() == ["A", "B"]
    assert (offsets["sd"] < 0.21).all()


@pytest.mark.slow
def test_columns_txt_explains_the_new_columns(fitted):
    columns = (fitted / "columns.txt").read_text()
    for name in ("offsets.csv", "  limit", "  outlier", "  depth"):
        assert name in columns


def test_tied_rows_share_their_input_and_are_marked(tmp_path):
    table = write_table(tmp_path, TABLE)
    done = lamina("fit", table, "--out", tmp_path / "out", "--equal-depth", "tie", "--limiting", "drop",
                  "--chains", "2", "--max-sweeps", "300")  # fmt: skip
    assert done.exit_code in (0, 3), done.output
    inputs = pd.read_csv(tmp_path / "out" / "inputs.csv", keep_default_na=False)
    assert inputs["tie"].tolist() == ["", "line 3", "line 3", "", "", "", ""]
    assert inputs["mean"][1] == inputs["mean"][2]
    assert "limit" not in inputs


@pytest.mark.parametrize(
    ("arguments", "pieces"),
    [
        (["fit", "--method", "nuts"], ["core.csv", "nuts", "no limits, see line 7", "--limiting drop"]),
        (["compare"], ["core.csv", "gp", "no limits, see line 7", "--limiting drop"]),
        (["fit", "--method", "gp", "--outliers", "student", "--equal-depth", "block"], ["gp", "no outliers"]),
        (["batch", "--method", "gp"], ["core.csv", "no limits, see line 7", "--limiting drop"]),
        (["fit", "--offsets", "none"], ["--offsets", "none is not a number above 0"]),
        (["fit", "--outliers", "student"], ["core.csv", "those of lines 3 and 4 are tied"]),
        (["fit", "--site", "A", "--hiatus", "20"], ["core.csv, lines 3 and 4", "there is a row at 20"]),
    ],
)
def test_bad_input_is_named_by_its_line(tmp_path, monkeypatch, arguments, pieces):
    monkeypatch.chdir(tmp_path)
    command, *options = arguments
    done = lamina(command, write_table(tmp_path, TABLE), "--equal-depth", "tie", *options)
    assert done.exit_code == 2, done.output
    message = " ".join(done.stderr.replace("│", " ").split())
    for piece in pieces:
        assert piece in message
    assert [path.name for path in tmp_path.iterdir()] == ["core.csv"]
