"""run.json: one schema for all commands."""

import json
import re
from pathlib import Path

import pytest
from commands import lamina, write_table
from schema import errors

from lamina.output.run import OutputRequest, describe_run, json_text, schema, write_run

AGES = "depth,14C age,14C error\n0,180,25\n45,620,25\n92,1010,30\n140,1480,30\n"
GP = ("--method", "gp", "--quiet")
RUNS = {
    "fit": ("fit", "core.csv", "--interval", "0:400", "--exceeds", "-0.5", *GP),
    "agedepth": ("agedepth", "ages.csv", "--steps", "5", "--chains", "2", "--max-sweeps", "10", "--quiet"),
    "compare": ("compare", "core.csv", "--methods", "gp,nigp", "--quiet"),
    "batch": ("batch", "core.csv", "bad.csv", "--workers", "1", *GP),
}


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """run.json of each command."""
    folder = tmp_path_factory.mktemp("runs")
    write_table(folder)
    (folder / "ages.csv").write_text(AGES)
    (folder / "bad.csv").write_text("age,rsl\n1,2\n")
    found = {}
    for kind, (command, *arguments) in RUNS.items():
        placed = [folder / one if one.endswith(".csv") else one for one in arguments]
        done = lamina(command, *placed, "--out", folder / kind)
        assert done.exit_code in (0, 3), done.output
        found[kind] = folder / kind
    return found


@pytest.mark.parametrize("kind", RUNS)
def test_every_command_writes_the_same_schema(runs, kind):
    run = json.loads((runs[kind] / "run.json").read_text())
    assert errors(run, schema()) == []
    assert run["kind"] == kind
    assert run["files"].keys() == {path.name for path in runs[kind].iterdir() if path.is_file()} - {"run.json"}
    assert all((runs[kind] / name).stat().st_size == size for name, size in run["files"].items())


def test_a_record_of_a_batch_has_a_run_of_its_own(runs):
    run = json.loads((runs["batch"] / "core" / "run.json").read_text())
    assert errors(run, schema()) == []
    assert (run["kind"], run["table"]) == ("fit", "core.csv")


def test_parts_are_the_methods_of_a_comparison_and_the_records_of_a_batch(runs):
    compared, many = (json.loads((runs[kind] / "run.json").read_text()) for kind in ("compare", "batch"))
    assert list(compared["parts"]) == ["gp", "nigp"]
    assert compared["parts"]["nigp"]["diagnostics"]["method"] == "nigp"
    assert compared["state"] == "converged"
    assert many["parts"]["core"] | {"seconds": 0.0, "diagnostics": {}} == {
        "state": "converged", "rows": 6, "seconds": 0.0, "diagnostics": {}, "folder": "core", "error": "",
    }  # fmt: skip
    assert many["parts"]["bad"]["state"] == "failed"
    assert "bad.csv" in many["parts"]["bad"]["error"]
    assert many["state"] == "not converged"


def test_the_schema_refuses_what_it_does_not_know(tmp_path):
    run = write_run(tmp_path, describe_run("fit", OutputRequest()))
    assert errors(run, schema()) == []
    assert errors(run | {"kind": "guess"}, schema()) == [
        "run.json/kind: 'guess' is not one of ['fit', 'agedepth', 'compare', 'batch', 'field']"
    ]
    assert errors(run | {"colour": "red"}, schema()) == ["run.json: colour is not known"]
    assert errors({name: value for name, value in run.items() if name != "seed"}, schema()) == [
        "run.json: seed is missing"
    ]


def test_every_field_is_described():
    assert all("description" in field or name == "warnings" for name, field in schema()["properties"].items())


def test_numbers_that_are_none_are_null(tmp_path):
    text = json_text({"a": [float("nan"), 1], "c": tmp_path})
    assert json.loads(text) == {"a": [None, 1], "c": str(tmp_path)}


def test_the_page_lists_every_field():
    page = (Path(__file__).parents[2] / "docs" / "runs.md").read_text()
    assert re.findall(r"^\| `(\w+)` \|", page, flags=re.MULTILINE) == list(schema()["properties"])
