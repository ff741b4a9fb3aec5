"""Runs in the folder: those of the command line and of the app are the same."""

import asyncio
import hashlib
import json
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import Mock

import fits
import pytest
from commands import TABLE, lamina, write_table
from starlette.requests import Request

from lamina import report
from lamina.app import calls, history
from lamina.output import folder as results
from lamina.tables import Options, read


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


def made_run(folder, name: str, command: str, sha256: str) -> None:
    """A folder with the run.json of a command."""
    (folder / name).mkdir()
    (folder / name / "run.json").write_text(json.dumps({"command": f"{command} --out {name}", "sha256": sha256}))


def test_the_tables_of_a_run_with_dates_are_found_again(new_server):
    proxies, dates = new_server.folder / "proxies.csv", new_server.folder / "dates.csv"
    proxies.write_text("depth (cm),d18O,d18O_sd\n0,1.0,0.1\n5,1.1,0.1\n10,1.3,0.1\n")
    dates.write_text("labID,age,error,depth,cc\ntop,-50,5,0,0\nA,500,30,10,1\n")
    sha256 = read(proxies, Options(dates=str(dates))).sha256
    made_run(new_server.folder, "joined", "lamina fit proxies.csv --dates dates.csv", sha256)
    assert "key" in new_server.json("/api/run/open", {"name": "joined"})
    dates.write_text(dates.read_text().replace("500", "510"))
    assert "proxies.csv or dates.csv has changed" in new_server.json("/api/run/open", {"name": "joined"})["error"]
    dates.unlink()
    assert "dates.csv, is not in the folder" in new_server.json("/api/run/open", {"name": "joined"})["error"]


@pytest.mark.parametrize("name", ["core.prn", "core.asc", "core", "core.xlsm"])
def test_a_table_with_any_ending_is_found_again(server, name):
    (server.folder / name).write_text(TABLE)
    folder = f"run-{name}"
    made_run(server.folder, folder, f"lamina fit {name}", hashlib.sha256(TABLE.encode()).hexdigest())
    assert "key" in server.json("/api/run/open", {"name": folder})
    assert (name in server.json("/api/folder")["tables"]) == name.endswith(".xlsm")


def test_a_zip_that_cannot_be_packed_is_not_left_behind(tmp_path, monkeypatch):
    made_run(tmp_path, "mine", "lamina fit core.csv", "")
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    app = SimpleNamespace(state=SimpleNamespace(lamina=SimpleNamespace(folder=tmp_path)))
    request = Request({"type": "http", "app": app, "query_string": b"name=mine", "headers": []})
    answer = asyncio.run(calls.download_all(request))
    assert list((tmp_path / "temporary").iterdir()) == [Path(answer.path)]
    asyncio.run(answer.background())
    monkeypatch.setattr(history, "pack", Mock(side_effect=OSError("full")))
    with pytest.raises(OSError, match="full"):
        asyncio.run(calls.download_all(request))
    assert list((tmp_path / "temporary").iterdir()) == []


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
