"""Runs in the folder: those of the command line and of the app are the same."""

import json

import fits
import pytest
from commands import TABLE, lamina, write_table

from lamina import report
from lamina.app import history
from lamina.output import folder as results


def test_the_names_of_files_are_those_that_runs_have():
    assert (history.RUN, history.REPORT, history.POSTERIOR) == (results.RUN, results.REPORT, results.POSTERIOR)
    assert results.CHECKPOINT == history.CHECKPOINT


@pytest.mark.slow
def test_a_run_of_the_command_line_is_seen_and_can_be_made_again(server):
    path = write_table(server.folder)
    words = ["fit", path, "--method", "gp", "--at", "0:900:100", "--out", server.folder / "mine"]
    assert lamina(*words).exit_code == 0
    run = json.loads((server.folder / "mine" / "run.json").read_text())
    run["command"] = "lamina fit core.csv --method gp --at 0:900:100 --out mine"  # as one types it there
    (server.folder / "mine" / "run.json").write_text(json.dumps(run))
    (found,) = server.json("/api/folder")["runs"]
    assert (found["folder"], found["state"], found["table"]) == ("mine", "converged", "core.csv")
    assert server.ask("/run/mine")[0] == 200
    shown = server.json("/api/run?name=mine")
    assert shown["run"]["kind"] == "fit"
    assert [figure["id"] for figure in shown["figures"]][:2] == ["figure-curve", "figure-rate"]
    key = server.json("/api/run/open", {"name": "mine"})["key"]
    page = server.ask(f"/table/{key}")[2].decode()
    assert '"options":{"method":"gp","at":"0:900:100"}' in page
    job = server.json("/api/run/again", {"name": "mine", "change": {"leave_out": ["3"]}})["job"]
    made = server.wait(job)
    assert made["command"] == "lamina fit core.csv --method gp --at 0:900:100 --leave-out 3 --out core-lamina"
    assert made["state"] == "converged"
    path.write_text(TABLE.replace("310", "311"))
    assert "has changed" in server.json("/api/run/again", {"name": "mine"})["error"]


def test_other_folders_are_no_runs(tmp_path):
    (tmp_path / "a").mkdir()
    for name, content in ("b", "not json"), ("c", "[1]"), (".d", "{}"), ("e/f/g", "{}"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "run.json").write_text(content)
    (tmp_path / "run.json").write_text("{}")
    assert history.runs(tmp_path) == []
    for name in "a", "..", "e/f/g", "/", "":
        with pytest.raises(history.HistoryError):
            history.find(tmp_path, name)


def test_a_link_out_of_the_folder_is_not_followed(tmp_path):
    away, root = tmp_path / "away", tmp_path / "root"
    for folder in away, root / "run":
        folder.mkdir(parents=True)
        (folder / "run.json").write_text('{"files": {"secret": 1, "../away/run.json": 1}}')
    (away / "secret").write_text("x")
    (root / "link").symlink_to(away)
    (root / "run" / "secret").symlink_to(away / "secret")
    assert [run["folder"] for run in history.runs(root)] == ["run"]
    with pytest.raises(history.HistoryError):
        history.find(root, "link")
    assert history.files(root / "run", history.read(root / "run")) == ["run.json"]


def test_what_a_report_shows_is_taken_from_it_whole(tmp_path):
    posterior = fits.posterior("gp")
    text = report.html(posterior, run=report.Run(table="<b>.csv"))
    (tmp_path / "report.html").write_text(text, encoding="utf-8")
    found = history.figures(tmp_path)
    assert found["title"].endswith("from <b>.csv")
    assert found["lead"]
    assert len(found["figures"]) == text.count('class="plot ')
    for figure in found["figures"]:
        assert figure["data"]
        assert figure["alt"]
    first = found["figures"][0]
    assert (first["id"], first["size"]) == ("figure-curve", "large")
    assert first["caption"].startswith("Boxes are the measurements")
    rows = [place for trace in first["data"] for place in trace.get("customdata", [])]
    assert sorted(rows) == [[row, None] for row in range(len(posterior.record))]  # it comes from no table


def test_headings_above_single_figures_are_kept(tmp_path):
    page = """<main><h1>T</h1><h3>A &amp; B</h3>
    <figure><div class="plot small" id="figure-a" aria-label="x"></div></figure>
    <figure><div class="plot small" id="figure-b" aria-label="y"></div></figure></main>
    <script type="application/json" id="figures">[{"id": "figure-a"}, {"id": "figure-b"}]</script>"""
    (tmp_path / "report.html").write_text(page)
    found = history.figures(tmp_path)
    assert [(one["id"], one["heading"], one["alt"]) for one in found["figures"]] == [
        *(("figure-a", "A & B", "x"), ("figure-b", "", "y"))
    ]
