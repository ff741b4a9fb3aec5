"""lamina fit, check and demo: what they say, what they write, and how they end."""

import json
import os
import re
import subprocess
import sys
from contextlib import nullcontext

import numpy as np
import pandas as pd
import pytest
from commands import TABLE, lamina, write_table

import lamina as library
from lamina.engine.compiling.cache import NOTICE
from lamina.output import fit as output
from lamina.output.run import OutputRequest, json_text
from lamina.posterior.intervals import interval_rates
from lamina.support.checks import digest
from lamina.tables import Options

WRITTEN = {"columns.txt", "curve.csv", "rate.csv", "inputs.csv", "theta.csv", "posterior.nc", "figure.png",
           "figure.pdf", "figure.svg", "report.html", "run.json"}  # fmt: skip


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A complete run: the folder, and what was printed."""
    folder = tmp_path_factory.mktemp("fit")
    table, out = write_table(folder), folder / "deep" / "out"
    done = lamina("fit", table, "--out", out, "--at", "0:900:100", "--interval", "0:400", "--interval", "400:900")
    assert done.exit_code == 0, done.output
    return out, done


def test_everything_is_written_and_nothing_else(finished):
    out, _ = finished
    assert set(os.listdir(out)) == WRITTEN | {"intervals.csv"}
    assert all((out / name).stat().st_size > 100 for name in WRITTEN)
    assert (out / "report.html").stat().st_size < 6e6


def test_it_says_what_it_understood_before_and_what_it_found_after(finished):
    _, done = finished
    said = done.stdout
    parts = ['the column "Age (cal a BP)"', "BP: larger is older", "2 sigma", "deeper is older", "1 of 5 neighbours",
             "mcmc fit of 6 rows", "converged", "mean rate forward in time, 0 to 400", "report.html"]  # fmt: skip
    places = [said.index(part) for part in parts]
    assert places == sorted(places)
    assert [line for line in done.stderr.splitlines() if NOTICE not in line] == []  # it may have to compile


def test_the_tables_are_those_of_the_posterior(finished):
    out, _ = finished
    posterior = library.load(out / "posterior.nc")
    at = np.arange(0.0, 901.0, 100.0)
    curve, rate = pd.read_csv(out / "curve.csv"), pd.read_csv(out / "rate.csv")
    assert curve["at"].tolist() == at.tolist()
    beyond = np.where(posterior.extrapolated(at), "yes", "no")
    pd.testing.assert_frame_equal(curve, posterior.curve(at).assign(extrapolated=beyond), check_dtype=False, rtol=1e-8)
    # ages before present: the rate is forward in time
    assert rate["mean"].to_numpy() == pytest.approx(-posterior.rate(at)["mean"].to_numpy(), rel=1e-8)
    assert rate["q5"].to_numpy() == pytest.approx(-posterior.rate(at)["q95"].to_numpy(), rel=1e-8)
    assert rate["mean"].mean() > 0
    pd.testing.assert_frame_equal(pd.read_csv(out / "theta.csv"), posterior.theta, rtol=1e-8)
    intervals = pd.read_csv(out / "intervals.csv")
    expected = interval_rates(posterior, [(0, 400), (400, 900)], scale=-1.0)
    pd.testing.assert_frame_equal(intervals, expected, check_dtype=False, rtol=1e-8)


def test_columns_txt_explains_each_column_and_its_unit(finished):
    out, _ = finished
    parts = (out / "columns.txt").read_text().split("\n\n")[1:]
    described = {part.partition(":")[0]: part for part in parts}
    for name in "curve.csv", "rate.csv", "inputs.csv", "theta.csv", "intervals.csv":
        for column in pd.read_csv(out / name).columns:
            assert column.startswith("q") or f"\n  {column} " in described[name]
    assert "sd              standard deviation (1 sigma) of the curve, in m\n" in described["curve.csv"]
    assert "mean            mean of the rate, in m/year, forward in time" in described["rate.csv"]
    assert "t               reported input, Age, in cal a BP" in described["inputs.csv"]
    assert "length  length scale, in years" in described["theta.csv"]


def test_run_json_records_how_it_was_made(finished):
    out, _ = finished
    run = json.loads((out / "run.json").read_text())
    assert run["state"] == "converged"
    assert run["settings"] == {"method": "mcmc", "kernel": "matern32", "gaps": "gamma", "mean": "constant"}
    assert (run["table"], run["seed"], run["rows"]) == ("core.csv", 0, 6)
    assert run["lamina"] == library.__version__
    assert len(run["sha256"]) == 64
    assert run["diagnostics"]["r_hat"] <= 1.01
    assert {"read", "fit", "write", "report"} <= run["seconds"].keys()


def test_inputs_come_in_the_order_of_the_file(tmp_path):
    lines = TABLE.splitlines()
    table = write_table(tmp_path, "\n".join([lines[0], *lines[:0:-1]]))
    done = lamina("fit", table, "--out", tmp_path / "out", "--method", "gp", "--quiet")
    assert (done.exit_code, done.output) == (0, "")
    inputs = pd.read_csv(tmp_path / "out" / "inputs.csv")
    assert inputs["t"].tolist() == [940, 700, 620, 280, 310, 40]
    assert inputs["line"].tolist() == list(range(2, 8))


def test_the_same_seed_gives_the_same_files(tmp_path, finished):
    out, _ = finished
    lamina("fit", write_table(tmp_path), "--out", tmp_path / "again", "--at", "0:900:100", "--quiet")
    for name in "curve.csv", "rate.csv", "inputs.csv", "theta.csv":
        assert (tmp_path / "again" / name).read_bytes() == (out / name).read_bytes()


def test_json_is_all_that_is_printed(tmp_path):
    done = lamina("fit", write_table(tmp_path), "--out", tmp_path / "out", "--method", "nigp", "--json")
    run = json.loads(done.stdout)
    assert run["folder"] == str(tmp_path / "out")
    assert run["settings"]["method"] == "nigp"


def test_a_fit_that_has_not_converged_is_written_marked_and_goes_on(tmp_path):
    table, out = write_table(tmp_path), tmp_path / "out"
    done = lamina("fit", table, "--out", out, "--max-sweeps", "20")
    assert done.exit_code == 3
    assert "NOT CONVERGED" in done.stderr
    assert "--resume continues it" in done.stderr
    assert json.loads((out / "run.json").read_text())["state"] == "not converged"
    assert "checkpoint.npz" in os.listdir(out)
    other = lamina("fit", table, "--out", out, "--resume", "--gaps", "uniform")
    assert other.exit_code == 2
    assert "had other settings" in other.stderr
    assert "Give the same, or start again with another --out" in other.stderr
    other = lamina("fit", table, "--out", out, "--resume", "--seed", "3")
    assert other.exit_code == 2
    assert "had the seed 0, not 3. Give --seed 0, or start again with another --out" in other.stderr
    changed = tmp_path / "changed.csv"
    changed.write_text(table.read_text().replace("310", "311"))
    other = lamina("fit", changed, "--out", out, "--resume")
    assert other.exit_code == 2
    assert "used another table, or core.csv has changed since. Give that table, or" in other.stderr
    done = lamina("fit", table, "--out", out, "--resume")
    assert done.exit_code == 0, done.output
    assert json.loads((out / "run.json").read_text())["state"] == "converged"
    assert "checkpoint.npz" not in os.listdir(out)
    again = lamina("fit", table, "--out", out, "--resume")
    assert again.exit_code == 2
    assert "is converged; there is nothing to continue" in again.stderr


@pytest.fixture(scope="module")
def unfinished(tmp_path_factory):
    """A run that --resume could continue: the table and the folder."""
    folder = tmp_path_factory.mktemp("unfinished")
    table, out = write_table(folder), folder / "out"
    assert lamina("fit", table, "--out", out, "--max-sweeps", "1", "--chains", "2", "--quiet").exit_code == 3
    return table, out


@pytest.mark.parametrize(
    ("file", "content"),
    [("run.json", b"{"), ("run.json", b"[]"), ("run.json", b"{}"), ("checkpoint.npz", b"PK\x03\x04"),
     ("checkpoint.npz", b"")],
)  # fmt: skip
def test_a_damaged_run_cannot_go_on_and_says_so(unfinished, file, content):
    table, out = unfinished
    before = (out / file).read_bytes()
    (out / file).write_bytes(content)
    done = lamina("fit", table, "--out", out, "--chains", "2", "--resume")
    (out / file).write_bytes(before)
    assert done.exit_code == 2, done.output
    assert "is damaged and cannot continue" in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(("name", "value"), [("0 order", 10**6), ("0 before", -7), ("1 order", -1)])
def test_a_checkpoint_that_would_lead_out_of_the_record_is_refused(unfinished, name, value):
    table, out = unfinished
    before = (out / "checkpoint.npz").read_bytes()
    with np.load(out / "checkpoint.npz") as file:
        arrays = {key: values for key, values in file.items() if key != "sha256"}
    arrays[name].reshape(-1)[0] = value
    np.savez(out / "checkpoint.npz", **arrays, sha256=np.array(digest(arrays)))
    done = lamina("fit", table, "--out", out, "--chains", "2", "--resume")
    (out / "checkpoint.npz").write_bytes(before)
    assert done.exit_code == 2, done.output
    assert "the checkpoint is damaged: " in done.stderr
    assert done.stderr.count("\n") == 1


def test_json_holds_no_numbers_that_are_none(unfinished, tmp_path):
    def refuse(name):
        raise AssertionError(f"{name} is not JSON")

    table, out = unfinished
    facts = json.loads((out / "run.json").read_text(), parse_constant=refuse)["diagnostics"]
    assert facts["r_hat"] is None  # too few draws to tell
    done = lamina("fit", table, "--out", tmp_path / "out", "--max-sweeps", "1", "--chains", "2", "--json")
    assert json.loads(done.stdout, parse_constant=refuse)["diagnostics"] | {"seconds": 0} == facts | {"seconds": 0}
    values = {"a": [np.float64("nan"), np.int64(1)], "b": np.array([np.inf, 2.0]), "c": tmp_path}
    assert json.loads(json_text(values)) == {"a": [None, 1], "b": [None, 2.0], "c": str(tmp_path)}


def test_quiet_and_json_print_no_warnings(tmp_path):
    common = ("fit", write_table(tmp_path), "--method", "gp", "--interval", "0:5000")
    done = lamina(*common, "--out", tmp_path / "quiet", "--quiet")
    assert (done.exit_code, done.output) == (0, "")
    done = lamina(*common, "--out", tmp_path / "json", "--json")
    assert done.stderr == ""
    assert any("reaches beyond the data" in said for said in json.loads(done.stdout)["warnings"])


def test_ctrl_c_writes_what_there_is(tmp_path, monkeypatch):
    def press(state):
        if state["stage"] == "sampling":
            raise KeyboardInterrupt

    # the module, which the command of the same name hides
    monkeypatch.setattr(sys.modules["lamina.cli.fit"], "sampling", lambda quiet: nullcontext(press))
    out = tmp_path / "out"
    done = lamina("fit", write_table(tmp_path), "--out", out)
    assert done.exit_code == 130
    assert "INTERRUPTED" in done.stderr
    assert "INTERRUPTED" in done.stdout
    assert json.loads((out / "run.json").read_text())["state"] == "interrupted"
    assert set(os.listdir(out)) >= WRITTEN


BAD = {
    "trend without error": (["core.csv", "--trend", "0.001", "0"], "its standard deviation above 0"),
    "trend without level": (["core.csv", "--trend", "0.001", "0.1", "--mean", "zero"], "--mean zero leaves out"),
    "trend of text": (["core.csv", "--trend", "fast", "0.1"], "--trend: 'fast' is not a number"),
    "level of nothing": (["core.csv", "--exceeds", "nan"], "--exceeds: 'nan' is not a number"),
    "rate of matern12": (["core.csv", "--kernel", "matern12", "--rate-exceeds", "1"], "the curve has no rate"),
    "ensemble of gp": (["core.csv", "--method", "gp", "--ensemble", "9"], "takes the inputs as measured"),
    "ensemble of none": (["core.csv", "--ensemble", "0"], "0 is not a whole number of at least 1"),
    "no such file": (["none.csv"], "none.csv: there is no such file"),
    "unknown kernel": (["core.csv", "--kernel", "matern72"], "there is no kernel 'matern72'; there are matern12"),
    "text in --at": (["core.csv", "--at", "0:x:10"], "--at: 'x' in '0:x:10' is not a number"),
    "--at the wrong way": (["core.csv", "--at", "0:100:-1"], "a step of -1 does not lead from 0 to 100"),
    "--at without step": (["core.csv", "--at", "0:100"], "is not first:last:step"),
    "too many times": (["core.csv", "--at", "0:1e9:1e-3"], "more than 1,000,000 times"),
    "interval of one": (["core.csv", "--interval", "1900"], "'1900' is not from:to"),
    "interval of text": (["core.csv", "--interval", "a:b"], "'a' in 'a:b' is not a number"),
    "interval backwards": (["core.csv", "--interval", "9:1"], "--interval: the interval 9:1 runs backwards"),
    "unknown method": (["core.csv", "--method", "hmc"], "'hmc' is not one of"),
    "unknown gap prior": (["core.csv", "--gaps", "poisson"], "'poisson' is not one of"),
    "unknown scale": (["core.csv", "--scale", "AUC"], "'AUC' is not one of"),
    "unknown column": (["core.csv", "--y", "salinity"], "salinity"),
    "many sigma": (["core.csv", "--t-sigma", "30"], "option t_sigma (--t-sigma): found '30'; give a number above 0"),
    "sigma in words": (["core.csv", "--y-sigma", "two"], "option y_sigma (--y-sigma): found 'two'; give a number"),
    "negative seed": (["core.csv", "--seed", "-1"], "'--seed': -1 is not a whole number of at least 0"),
    "few draws": (["core.csv", "--draws", "5"], "'--draws': 5 is not a whole number of at least 100"),
    "chains of gp": (["core.csv", "--method", "gp", "--chains", "2"], "--chains is not for --method gp"),
    "sweeps of nuts": (
        ["core.csv", "--method", "nuts", "--max-sweeps", "9"],
        "--max-sweeps is not for --method nuts, which takes --chains, --draws",
    ),
    "an option of another method": (
        ["core.csv", "--method", "gp", "--npv-covariance", "isotropic"],
        "--npv-covariance is not for --method gp, which takes no such option",
    ),
    "a covariance that is none": (
        ["core.csv", "--method", "npv", "--npv-covariance", "full"],
        "'full' is not one of 'diagonal', 'isotropic'",
    ),
    "negative error for all rows": (["core.csv", "--y-sd", "-1"], "core.csv: --y-sd -1 (y_sd= in Python) is no"),
    "sheet of a text file": (["core.csv", "--sheet", "1"], "leave out --sheet"),
    "empty name of a column": (["core.csv", "--t", ""], "option t (--t): found ''"),
    "nothing to resume": (["core.csv", "--resume"], "contains no run to continue"),
    "unknown option": (["core.csv", "--fast"], "No such option"),
    "a name too long for a file": (["a" * 300], "the file cannot be read"),
}


def test_the_covariance_of_npv_is_an_option_and_kept_with_the_run(tmp_path):
    table, out = write_table(tmp_path), tmp_path / "out"
    done = lamina("fit", table, "--out", out, "--method", "npv", "--npv-covariance", "isotropic", "--quiet")
    assert done.exit_code in (0, 3), done.output
    run = json.loads((out / "run.json").read_text())
    assert run["settings"]["npv_covariance"] == "isotropic"
    assert run["diagnostics"]["covariance"] == "isotropic"
    assert library.load(out / "posterior.nc").diagnostics["covariance"] == "isotropic"
    assert "isotropic covariance" in (out / "report.html").read_text()


@pytest.mark.slow
def test_a_trend_of_known_rate_with_events_and_an_ensemble(tmp_path):
    table, out = write_table(tmp_path), tmp_path / "out"
    asked = ["--exceeds", "-0.5", "--exceeds", "9", "--rate-exceeds", "0.0005", "--extremes", "--ensemble", "25"]
    done = lamina("fit", table, "--out", out, "--trend", "0.001", "0.0001", *asked, "--at", "0:900:100")
    assert done.exit_code == 0, done.output
    new = {"components.csv", "events.csv", "ensemble.csv"}
    assert set(os.listdir(out)) == WRITTEN | new
    posterior = library.load(out / "posterior.nc")
    # forward in time on the command line, kept in ages inside
    (term,) = [term for term in posterior.problem.kernel.trend if term.slope()]
    assert (posterior.record.sign * term.mean, term.sd) == (-0.001, 0.0001)
    assert "linear trend forward in time: 1.0" in done.stdout
    assert "curve first above −0.5" in done.stdout
    assert "maximum of the curve, size" in done.stdout
    parts = pd.read_csv(out / "components.csv")
    assert set(parts["component"]) == {"Matern32", "trend", "without trend"}
    rates = parts[parts["quantity"] == "rate"].pivot_table("mean", "at", "component")
    whole = pd.read_csv(out / "rate.csv").set_index("at")["mean"]
    assert (rates["trend"] + rates["without trend"]).to_numpy() == pytest.approx(whole.to_numpy(), rel=1e-6)
    assert (rates["trend"] > 0.0).all()
    curves = parts[parts["quantity"] == "curve"].pivot_table("mean", "at", "component")
    whole = pd.read_csv(out / "curve.csv")["mean"].to_numpy()
    assert (curves["trend"] + curves["Matern32"]).to_numpy() == pytest.approx(whole, abs=1e-8)
    events = pd.read_csv(out / "events.csv")
    assert events["event"].tolist() == ["first above"] * 3 + ["maximum"] * 2 + ["minimum"] * 2
    assert events["p"][:2].tolist() == [1.0, 0.0]
    assert 200 < events["q50"][0] < 700
    run = json.loads((out / "run.json").read_text())
    assert run["settings"]["trend"] == [0.001, 0.0001]
    assert [one["p"] for one in run["events"]][:2] == [1.0, 0.0]
    members = pd.read_csv(out / "ensemble.csv")
    assert members.shape == (6, 26)
    assert (np.diff(members.iloc[:, 1:], axis=0) > 0).all()
    text = (out / "columns.txt").read_text()
    assert "1 ... 25" in text
    assert "components.csv: the parts" in text
    report = (out / "report.html").read_text()
    assert 'id="parts"' in report
    assert 'id="events"' in report
    again = lamina("fit", table, "--out", out, "--force", "--method", "gp", "--quiet")
    assert again.exit_code == 0
    assert not new & set(os.listdir(out))  # tables of the run before are gone


@pytest.mark.parametrize(("arguments", "text"), BAD.values(), ids=BAD.keys())
def test_bad_input_gets_one_message_and_nothing_is_written(tmp_path, monkeypatch, arguments, text):
    monkeypatch.chdir(tmp_path)
    write_table(tmp_path)
    done = lamina("fit", *arguments, "--out", "out")
    assert done.exit_code == 2
    assert text in " ".join(done.stderr.replace("│", " ").split())
    assert "Traceback" not in done.output
    assert os.listdir(tmp_path) == ["core.csv"]


def test_another_run_is_not_overwritten_without_force(tmp_path):
    table, out = write_table(tmp_path), tmp_path / "out"
    assert lamina("fit", table, "--out", out, "--method", "gp", "--quiet").exit_code == 0
    before = {name: (out / name).read_bytes() for name in os.listdir(out)}
    done = lamina("fit", table, "--out", out, "--method", "gp", "--seed", "1")
    assert done.exit_code == 2
    assert "holds the results of another run. Choose another, or overwrite with --force" in done.stderr
    assert {name: (out / name).read_bytes() for name in os.listdir(out)} == before
    assert lamina("fit", table, "--out", out, "--method", "gp", "--seed", "1", "--force", "--quiet").exit_code == 0


@pytest.mark.slow
def test_tables_of_the_run_before_do_not_stay(tmp_path):
    table, out = write_table(tmp_path), tmp_path / "out"
    common = ("fit", table, "--out", out, "--method", "gp", "--quiet")
    assert lamina(*common, "--interval", "0:400").exit_code == 0
    assert {"rate.csv", "intervals.csv"} <= set(os.listdir(out))
    assert lamina(*common, "--kernel", "matern12", "--force").exit_code == 0
    assert set(os.listdir(out)) == WRITTEN - {"rate.csv"}
    assert "rate.csv" not in (out / "columns.txt").read_text()


def test_a_run_whose_writing_broke_off_does_not_look_complete(tmp_path, monkeypatch):
    table, out = write_table(tmp_path), tmp_path / "out"
    common = ("fit", table, "--out", out, "--method", "gp", "--quiet", "--force")
    assert lamina(*common).exit_code == 0

    def fail(*args, **kwargs):
        raise library.WriteError("the disk is full.")

    monkeypatch.setattr(output.report, "write", fail)
    assert lamina(*common).exit_code == 2
    assert "run.json" not in os.listdir(out)


def test_a_folder_whose_name_is_too_long(tmp_path):
    table = write_table(tmp_path)
    for command in ("fit", table, "--method", "gp"), ("compare", table), ("batch", table), ("fit", table, "--resume"):
        done = lamina(*command, "--out", tmp_path / ("a" * 300))
        assert done.exit_code == 2, done.output
        assert "Traceback" not in done.output
        assert done.exception is None or isinstance(done.exception, SystemExit)


def test_times_far_beyond_the_data_are_warned_of(tmp_path):
    done = lamina("fit", write_table(tmp_path), "--out", tmp_path / "out", "--method", "gp", "--interval", "0:5000",
                  "--at", "0:3000:1000")  # fmt: skip
    assert done.exit_code == 0
    assert "the interval 0:5000 reaches beyond the data" in done.stderr
    assert "2 of the 4 requested times lie beyond the data" in done.stderr
    run = json.loads((tmp_path / "out" / "run.json").read_text())
    assert run["intervals"][0]["to"] == 5000
    assert any("the interval 0:5000 reaches beyond" in said for said in run["warnings"])
    assert "the interval 0:5000 reaches beyond" in (tmp_path / "out" / "report.html").read_text()
    assert run["units"]["rate"] == "m/year, forward in time"


def test_a_date_in_conflict_is_named_by_its_line(tmp_path):
    rows = "".join(f"{d},{100 * d},10,{0.1 * d},0.05\n" for d in (9, 8, 7, 6, 5, 4, 3, 2, 1))
    text = "depth,age_bp,age_sd,value,value_sd\n" + rows.replace("6,600,10", "6,900,10")
    done = lamina("fit", write_table(tmp_path, text), "--out", tmp_path / "out")
    assert "in conflict with the order" in done.stdout
    assert "  line 5, depth 6: dated 900" in done.stdout


def test_ctrl_c_in_warm_up_leaves_nothing(tmp_path, monkeypatch):
    def press(state):
        raise KeyboardInterrupt

    monkeypatch.setattr(sys.modules["lamina.cli.fit"], "sampling", lambda quiet: nullcontext(press))
    done = lamina("fit", write_table(tmp_path), "--out", tmp_path / "out")
    assert done.exit_code == 130
    assert "before there were results" in done.stderr
    assert os.listdir(tmp_path) == ["core.csv"]


def test_a_file_of_the_users_own_is_not_overwritten(tmp_path):
    table, out = write_table(tmp_path), tmp_path / "out"
    out.mkdir()
    (out / "curve.csv").write_text("mine")
    done = lamina("fit", table, "--out", out, "--method", "gp")
    assert done.exit_code == 2
    assert "holds a file curve.csv already" in done.stderr


def test_files_of_others_are_neither_mixed_with_results_nor_deleted(tmp_path):
    table, out = write_table(tmp_path), tmp_path / "photos"
    (out / "2003").mkdir(parents=True)
    (out / "2003" / "beach.png").write_text("sand")
    (out / "notes.txt").write_text("mine")
    done = lamina("fit", table, "--out", out, "--method", "gp")
    assert done.exit_code == 2
    assert "photos is not empty: it holds 2003 and 1 more. Choose another, or write into it with --force" in done.stderr
    assert sorted(os.listdir(out)) == ["2003", "notes.txt"]
    assert lamina("fit", table, "--out", out, "--method", "gp", "--force", "--quiet").exit_code == 0
    assert set(os.listdir(out)) == WRITTEN | {"2003", "notes.txt"}
    assert (out / "notes.txt").read_text() == "mine"
    assert (out / "2003" / "beach.png").read_text() == "sand"


def test_an_empty_folder_will_do_and_hidden_files_do_not_count(tmp_path):
    table, out = write_table(tmp_path), tmp_path / "out"
    out.mkdir()
    (out / ".DS_Store").write_text("x")
    assert lamina("fit", table, "--out", out, "--method", "gp", "--quiet").exit_code == 0


def test_check_names_all_bad_cells_in_one_message(tmp_path):
    done = lamina("check", write_table(tmp_path, TABLE.replace("310", "old").replace("-0.80", "low")))
    assert done.exit_code == 2
    assert "2 bad rows are left out (lines 3 and 5)" in done.stdout
    first, second, third, last = done.stderr.splitlines()
    assert first == "lamina: core.csv: 2 things to correct (--skip-bad-rows leaves bad rows out):"
    assert 'line 3, column "Age (cal a BP)": found the text "old"' in second
    assert 'line 5, column "RSL (m)": found the text "low"' in third
    assert last.endswith("core.csv --skip-bad-rows")


def test_check_says_what_was_understood_and_stops(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = lamina("check", write_table(tmp_path))
    assert done.exit_code == 0
    assert "deeper is older" in done.stdout
    assert os.listdir(tmp_path) == ["core.csv"]
    bad = lamina("check", write_table(tmp_path, "age,rsl\n1,2\n"))
    assert bad.exit_code == 2
    assert bad.stderr.count("\n") == 1


def test_check_points_at_warnings_before_its_command(tmp_path):
    clear = lamina("check", write_table(tmp_path))
    assert clear.stdout.splitlines()[-1].startswith("This works: lamina fit")
    warned = lamina("check", write_table(tmp_path, TABLE.replace(" 0.0", " 5")))
    assert "Warning: the errors in" in warned.stdout
    assert warned.stdout.splitlines()[-1].startswith("This runs, but see the warnings above: lamina fit")


def test_without_an_order_the_command_stops_and_says_how_to_give_it(tmp_path):
    table = write_table(tmp_path, "\n".join(line.split(",", 1)[1] for line in TABLE.splitlines()))
    done = lamina("check", table)
    assert done.exit_code == 2
    assert "--order rows" in done.stderr
    assert "sorting by the dates does not give the order" in done.stderr
    assert lamina("check", table, "--order", "rows").exit_code == 0
    assert lamina("check", table, "--order", "none").exit_code == 0


def test_the_demo_ends_with_a_summary_and_the_report(tmp_path, monkeypatch):
    from functools import partial

    monkeypatch.setattr(output, "prepare", partial(output.prepare, warmup=100, max_sweeps=50))
    done = lamina("demo", "--out", tmp_path / "demo")
    assert done.exit_code == 3  # cut short here
    assert "mcmc fit of 77 rows" in done.stdout
    assert "mean rate, 1900 to 2000" in done.stdout
    assert done.stdout.rstrip().endswith("report.html")
    assert (tmp_path / "demo" / "report.html").is_file()
    assert "run.json" in os.listdir(tmp_path / "demo")
    assert lamina("demo", "--out", tmp_path / "demo", "--quiet").exit_code == 3  # overwrites the last one
    # what the terminal warns of is in the files too
    warning = "The ages of this core come from an age-depth model"
    assert warning in " ".join(done.stdout.split())
    (said,) = json.loads((tmp_path / "demo" / "run.json").read_text())["warnings"]
    assert said.startswith(warning)
    page = (tmp_path / "demo" / "report.html").read_text()
    assert f"<li>{warning}" in page
    assert "1 warning about the data" in page


def test_the_demo_does_not_overwrite_a_run_of_the_users_own(tmp_path):
    out = tmp_path / "out"
    assert lamina("fit", write_table(tmp_path), "--out", out, "--method", "gp", "--quiet").exit_code == 0
    before = (out / "run.json").read_bytes()
    done = lamina("demo", "--out", out)
    assert done.exit_code == 2
    assert "holds the results of another run" in done.stderr
    assert (out / "run.json").read_bytes() == before


@pytest.mark.parametrize("argument", ["--version", "--help"])
def test_the_command_starts_without_loading_what_is_heavy(argument):
    code = (
        f"import sys; sys.argv = ['lamina', {argument!r}]\n"
        "from lamina.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "print('heavy:', sorted({'numba', 'numpy', 'pandas', 'matplotlib', 'plotly', 'scipy'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.rstrip().endswith("heavy: []")


def write_ages(folder, depths=(0.0, 50.0, 100.0), shift=0.0):
    """An ensemble whose ages lie about those of the table."""
    rng = np.random.default_rng(3)
    ages = np.interp(depths, [0.0, 100.0], [0.0, 1150.0]) + shift + 60.0 * rng.standard_normal((200, 1))
    path = folder / "ages.csv"
    np.savetxt(path, np.column_stack([depths, ages.T]), delimiter=",", header="depth" + ",age" * 200, comments="")
    return path


def test_ages_of_another_model_take_the_place_of_the_order(tmp_path):
    table, ages, out = write_table(tmp_path), write_ages(tmp_path), tmp_path / "out"
    done = lamina("fit", table, "--ages", ages, "--out", out)
    assert done.exit_code == 0, done.output
    assert "none: every row stands alone (the age model of --ages has used it already)" in done.stdout
    assert "ensemble fit of 6 rows" in done.stdout
    run = json.loads((out / "run.json").read_text())
    assert run["settings"]["method"] == "ensemble"
    assert run["settings"]["ages"] == "ages.csv"
    posterior = library.load(out / "posterior.nc")
    assert np.ptp(posterior.tau - posterior.tau[:, :1], axis=0).max() < 1e-6  # all members differ by a shift only
    assert posterior.inputs()["mean"][3] - posterior.inputs()["mean"][1] == pytest.approx(345.0)
    assert (
        "whose prior was given by the 200 members of an ensemble from another age model"
        in (out / "report.html").read_text()
    )


@pytest.mark.parametrize(
    ("options", "ages", "said"),
    [
        (["--method", "gp"], {}, "--ages is not for --method gp"),
        (["--order", "rows"], {}, "Leave out --order"),
        (
            [],
            {"depths": (0.0, 30.0, 60.0)},
            r"reaches from depth 0 to 60, but lines 6 and 7 of the record lie outside",
        ),
        ([], {"shift": 5000.0}, "core.csv: members do not reach the t of lines 2, 3"),
    ],
)
def test_ages_that_do_not_fit_the_table_are_refused(options, ages, said, tmp_path):
    done = lamina(
        "fit", write_table(tmp_path), "--ages", write_ages(tmp_path, **ages), "--out", tmp_path / "o", *options
    )
    assert done.exit_code == 2
    assert re.search(said, " ".join(done.stderr.split()))
    assert not (tmp_path / "o").exists()


@pytest.mark.slow
def test_a_covariance_of_the_ages_in_the_order_of_the_table(tmp_path):
    """Exact but for the last row of the table, whichever place that has in the record."""
    rows = TABLE.strip().splitlines()
    table = write_table(tmp_path, "\n".join([rows[0], *rows[:0:-1]]) + "\n")
    matrix = np.zeros((6, 6))
    matrix[5, 5] = 900.0
    np.savetxt(tmp_path / "cov.txt", matrix)
    out = tmp_path / "out"
    done = lamina("fit", table, "--ages-covariance", tmp_path / "cov.txt", "--out", out)
    assert done.exit_code in (0, 3), done.output
    assert json.loads((out / "run.json").read_text())["settings"]["ages_covariance"] == "cov.txt"
    inputs = pd.read_csv(out / "inputs.csv")
    assert (inputs["sd"] > 1.0).sum() == 1
    assert inputs.loc[inputs["sd"].idxmax(), "line"] == 7


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("1 0\n0 1\n", "there are 2 lines, but 6 rows in the table"),
        ("1 0\n" * 6, "line 1: there are 2 numbers, but 6 rows in the table"),
        ("0 0 0 0 0 x\n" * 6, "line 1: found .x., which is not a number"),
        ("0 1 0 0 0 0\n" * 6, "covariance is not a covariance matrix"),
    ],
)
def test_covariances_that_are_none_are_refused(content, said, tmp_path):
    (tmp_path / "cov.txt").write_text(content)
    done = lamina("fit", write_table(tmp_path), "--ages-covariance", tmp_path / "cov.txt", "--out", tmp_path / "o")
    assert done.exit_code == 2
    assert re.search(said, " ".join(done.stderr.split()))
    assert not (tmp_path / "o").exists()


def test_ages_need_depths_in_the_table(tmp_path):
    table = write_table(tmp_path, TABLE.replace("Depth (cm)", "Sample"))
    done = lamina("fit", table, "--ages", write_ages(tmp_path), "--out", tmp_path / "o")
    assert done.exit_code == 2
    assert "core.csv has no column of depths" in " ".join(done.stderr.split())


def test_what_is_not_installed_is_said_and_leaves_no_folder(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "nutpie", None)
    table = write_table(tmp_path)
    for command in ("fit", table, "--method", "nuts"), ("compare", table, "--methods", "gp,nuts"):
        done = lamina(*command, "--out", tmp_path / "deep" / "out", "--quiet")
        assert done.exit_code == 2
        assert 'pip install "lamina[nuts]"' in done.stderr
        assert os.listdir(tmp_path) == ["core.csv"]


def test_a_choice_that_is_none_is_told_in_plain_words(tmp_path):
    done = lamina("fit", write_table(tmp_path), "--method", "magic")
    assert done.exit_code == 2
    assert "'magic' is not one of" in done.stderr
    assert "Value error" not in done.stderr


def test_a_demonstration_that_was_interrupted_goes_on(tmp_path, monkeypatch):
    def press(state):
        if state["stage"] == "sampling":
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(sys.modules["lamina.cli.fit"], "sampling", lambda quiet: nullcontext(press))
        patch.setattr("lamina.methods.runner.SECONDS_A_BATCH", 0.01)  # the first batch does not suffice
        done = lamina("demo", "--out", tmp_path / "out", "--quiet")
    assert done.exit_code == 130
    assert "--resume continues it" in done.stderr
    before = json.loads((tmp_path / "out" / "run.json").read_text())["diagnostics"]["sweeps"]
    done = lamina("demo", "--out", tmp_path / "out", "--quiet", "--resume")
    assert done.exit_code == 0, done.output
    after = json.loads((tmp_path / "out" / "run.json").read_text())
    assert after["state"] == "converged"
    assert after["diagnostics"]["sweeps"] > before


def test_max_sweeps_of_a_run_that_goes_on_are_added(tmp_path):
    table, out = write_table(tmp_path), tmp_path / "out"
    common = ("fit", table, "--out", out, "--chains", "2", "--quiet")
    sweeps = []
    for more in ("--max-sweeps", "20"), ("--max-sweeps", "10", "--resume"):
        assert lamina(*common, *more).exit_code == 3
        facts = json.loads((out / "run.json").read_text())["diagnostics"]
        sweeps.append(facts["sweeps"] - facts["warmup"])
    assert sweeps == [20, 30]


def test_one_time_beyond_the_data_lies_there(tmp_path):
    done = lamina("fit", write_table(tmp_path), "--method", "gp", "--out", tmp_path / "out", "--at", "100,5000")
    assert "1 of the 2 requested times lies beyond the data" in done.stderr


def test_check_says_that_the_user_has_to_fill_in_an_error(tmp_path):
    done = lamina("check", write_table(tmp_path, "depth,age_bp,rsl\n1,100,1\n2,200,2\n3,310,2\n"))
    assert done.exit_code == 2
    assert "once you have put the error, 1 sigma, in place of NUMBER: lamina fit" in " ".join(done.output.split())


@pytest.mark.parametrize(
    ("t_sd", "method", "suggested"), [("0", "mcmc", True), ("0", "gp", False), ("1", "mcmc", False)]
)
def test_exact_inputs_need_no_sampling(tmp_path, t_sd, method, suggested):
    table = tmp_path / "gauge.csv"
    table.write_text("year,level,level_sd\n" + "".join(f"{1900 + 10 * i},{i % 3},0.5\n" for i in range(6)))
    options = Options(t_sd=t_sd, order="rows", scale="CE")
    settings = {"kernel": "matern32", "method": method}
    planned = output.plan_fit(table, options, OutputRequest(folder=tmp_path / "out", settings=settings))
    assert planned.introduction.count("--method gp") == suggested
