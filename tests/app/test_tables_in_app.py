"""What the app shows of a table is what ``lamina check`` says."""

import io
import time
from pathlib import Path

import numpy as np
import openpyxl
import pytest
from commands import TABLE, lamina, write_table

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"
AMBIGUOUS = "age,age_sd,rsl,rsl_sd\n100,10,0.1,0.1\n200,10,0.2,0.1\n300,10,0.3,0.1\n"
BAD = "depth,age BP,age_sd,rsl,rsl_sd\n1,100,10,0.1,0.1\n2,many,10,0.2,0.1\n3,300,10,0.3,0.1\n4,400,10,0.3,0.1\n"


def test_facts_and_their_reasons_are_those_of_check(server, tmp_path):
    found = server.read(server.put("core.csv", TABLE.encode()))
    said = lamina("check", write_table(tmp_path)).stdout
    assert found["works"]
    for fact in found["facts"]:
        why = f" ({fact['why']})" if fact["why"] else ""
        assert f"{fact['understood']}{why}" in said
    assert found["command"] == "lamina fit core.csv"
    controls = {fact["what"]: fact["controls"] for fact in found["facts"]}
    assert controls["input sigma"] == ["t_sigma"]
    assert controls["gaps"] == ["gaps_by"]


@pytest.mark.parametrize(
    ("name", "command"),
    [("core.csv", "fit"), ("radiocarbon.csv", "agedepth"), ("peat.csv", "agedepth"), ("coast.csv", "field")],
)
def test_every_conclusion_has_its_reason_and_a_control(server, name, command):
    found = server.read(server.put(name, (EXAMPLES / name).read_bytes()), command=command)
    assert found["works"], found["problems"]
    assert [fact["what"] for fact in found["facts"] if not (fact["why"] and fact["controls"])] == []


def test_each_column_has_its_role(server):
    grid = server.read(server.put("core.csv", TABLE.encode()))["grid"]
    assert grid["roles"] == ["depth", "input", "input error", "output", "output error", ""]
    assert grid["cells"][0][5] == "<script>alert(1)</script>"  # the page shows it as text
    assert grid["lines"] == [2, 3, 4, 5, 6, 7]


def test_the_columns_of_an_age_depth_model_have_their_roles(server):
    dates = b"Lab ID,depth (cm),14C age,error,RSL\nA-1,10,1200,30,0.1\nA-2,20,1500,30,0.2\nA-3,30,1900,30,0.3\n"
    grid = server.read(server.put("dates.csv", dates), command="agedepth")["grid"]
    assert grid["roles"] == ["label", "depth", "radiocarbon age", "radiocarbon error", ""]
    assert grid["cells"][0] == ["A-1", "10", "1200", "30", "0.1"]


def test_roles_of_the_most_likely_answers_are_called_assumed(server):
    text = (
        "Tiefe,Alter (cal BP),Fehler,Meeresspiegel,Unsicherheit\n1,100,10,0.1,0.1\n2,150,10,0.2,0.1\n3,300,10,0.3,0.1\n"
    )
    roles = server.read(server.put("kern.csv", text.encode()))["grid"]["roles"]
    assert roles[0] == "depth, assumed"
    assert roles[3] == "output, assumed"


def test_a_workbook_asks_for_one_of_its_sheets(server):
    book, held = openpyxl.Workbook(), io.BytesIO()
    book.active.title = "Notes"
    sheet = book.create_sheet("Core <7>")
    for row in ("depth", "age BP", "age_sd", "rsl", "rsl_sd"), (1, 100, 10, 0.1, 0.1), (2, 200, 10, 0.2, 0.1):
        sheet.append(row)
    book.save(held)
    key = server.put("core.xlsx", held.getvalue())
    (problem,) = server.read(key)["problems"]
    assert problem["answers"] == {"sheet": None}
    assert problem["choices"] == {"sheet": ["Notes", "Core <7>"]}
    assert server.read(key, sheet="Core <7>")["works"]


def test_rows_that_are_wider_than_the_header_are_shown_whole(server):
    grid = server.read(server.put("a.csv", b"age,rsl\n100,0.1,x\n200,0.2,y\n300,0.3,z\n"))["grid"]
    assert [len(grid[name]) for name in ("headers", "columns", "roles")] == [3, 3, 3]
    assert grid["cells"][0] == ["100", "0.1", "x"]


def test_a_choice_changes_what_is_read_and_the_command(server):
    key = server.put("core.csv", TABLE.encode())
    found = server.read(key, t_sigma="1", leave_out=["4"], order="none")
    assert {fact["what"]: fact["why"] for fact in found["facts"]}["input sigma"].startswith("set by --t-sigma")
    assert found["grid"]["unused"] == [4]
    assert found["command"] == "lamina fit core.csv --t-sigma 1 --leave-out 4 --order none"


def test_what_is_unclear_is_asked_with_its_most_likely_answer(server):
    found = server.read(server.put("a.csv", AMBIGUOUS.encode()))
    assert not found["works"]
    (problem,) = found["problems"]
    assert problem["answers"] == {"order": "none"}
    assert problem["places"] == [[1, None]]
    assert server.read(server.put("a.csv", AMBIGUOUS.encode()), order="none")["works"]


def test_a_problem_points_at_its_cell(server):
    (problem,) = server.read(server.put("bad.csv", BAD.encode()))["problems"]
    assert problem["places"] == [[3, "age BP"]]
    assert '"many"' in problem["text"]
    assert problem["answers"] == {"skip_bad_rows": True}


def test_a_table_without_values_is_for_agedepth(server):
    key = server.put("dates.csv", b"depth,age BP,age_sd\n1,100,10\n2,200,10\n3,300,10\n")
    found = server.read(key)
    assert (found["works"], found["suggested"]) == (False, "agedepth")
    assert server.read(key, command="agedepth")["works"]


def test_options_that_a_command_does_not_have_are_refused(server):
    key = server.put("core.csv", TABLE.encode())
    for options in {"out": "/tmp/x"}, {"force": True}, {"nothing": "1"}, {"t_sigma": {"a": 1}}, {"dates": "../x.csv"}:
        assert server.ask(f"/api/tables/{key}/read", {"command": "fit", "options": options})[0] == 400
    assert server.ask(f"/api/tables/{key}/read", {"command": "batch"})[0] == 400
    assert server.read(key, t_sigma="two")["problems"][0]["text"].startswith("option t_sigma (--t-sigma)")


def test_a_second_table_is_chosen_by_its_name(server):
    coast = (EXAMPLES / "coast.csv").read_bytes()
    server.put("rates.csv", (EXAMPLES / "coast-gia.csv").read_bytes())
    found = server.read(server.put("coast.csv", coast), command="field", gia="rates.csv")
    facts = {fact["what"]: fact["understood"] for fact in found["facts"]}
    assert facts["glacial isostasy"].startswith("rates.csv")
    assert found["command"] == "lamina field coast.csv --gia rates.csv"
    assert "no table" in server.read(server.put("coast.csv", coast), command="field", gia="other.csv")["error"]


def test_a_table_without_dates_is_read_with_the_ages_of_another_model(server):
    depths = range(0, 60, 10)
    rows = "\n".join(f"{depth},{0.1 * depth:.1f},0.2" for depth in depths)
    members = "\n".join(f"{d},{5 * d + 100},{6 * d + 90},{5 * d + 120}" for d in depths)
    key = server.put("values.csv", f"depth (cm),d18O,d18O_sd\n{rows}\n".encode())
    without = server.read(key)
    assert not without["works"]
    assert without["problems"][0]["answers"] == {"t": None, "ages": None}
    server.put("members.csv", f"depth,1,2,3\n{members}\n".encode())
    found = server.read(key, ages="members.csv")
    facts = {fact["what"]: f"{fact['understood']} {fact['why']}" for fact in found["facts"]}
    assert found["works"], found["problems"]
    assert "3 members" in facts["ages"]
    assert "--ages has used it already" in facts["order"]
    assert found["command"] == "lamina fit values.csv --ages members.csv"
    server.put("short.csv", b"depth,1,2\n0,100,110\n10,150,160\n")
    found = server.read(key, ages="short.csv")
    assert not found["works"]
    assert "short.csv" in found["problems"][0]["text"]
    job = server.wait(server.begin(key, ages="members.csv", max_sweeps="20", draws="100", chains="2"))
    assert job["written"], job["said"]


def test_the_embedded_tables_are_there(server):
    nassau = server.json("/api/tables/choose", {"embedded": "nassau"})["key"]
    assert server.read(nassau)["grid"]["rows"] == 77
    atlantic = server.json("/api/tables/choose", {"embedded": "atlantic"})["key"]
    assert server.read(atlantic)["suggested"] == "field"
    found = server.read(atlantic, command="field", order="none")
    assert found["works"]
    assert found["grid"]["roles"][5:] == ["latitude", "longitude", "glacial isostasy"]
    assert server.ask("/api/tables/choose", {"embedded": "none"})[0] == 400


def test_two_thousand_rows_are_understood_soon(server):
    rng = np.random.default_rng(0)
    rows = "\n".join(f"{k},{10 * k},{20},{v:.3f},0.1" for k, v in enumerate(rng.normal(size=2000)))
    key = server.put("long.csv", f"depth,age BP,age_sd,rsl,rsl_sd\n{rows}\n".encode())
    server.read(key)  # what starts and loads once
    took = []
    for _ in range(3):
        began = time.monotonic()
        found = server.read(key)
        took.append(time.monotonic() - began)
    assert len(found["grid"]["cells"]) == 2000
    assert min(took) < 20.0


def test_it_starts_and_shows_its_first_page_soon(new_server):
    began = time.monotonic()
    assert new_server.ask("/")[0] == 200
    first = time.monotonic() - began
    assert first < 30.0  # 0.5 s on a machine that does nothing else
    assert new_server.seconds < 60.0  # 1.5 s


def test_a_file_in_the_folder_is_never_run(new_server):
    for name in "numpy.py", "lamina.py":
        (new_server.folder / name).write_text("raise SystemExit('run')")
    assert new_server.read(new_server.put("core.csv", TABLE.encode()))["works"]
    job = new_server.begin(new_server.put("core.csv", TABLE.encode()), at="1:2:x")
    assert new_server.wait(job)["said"].startswith("--at")
