"""The examples of the gallery: pages show the scripts, the scripts run, and their answers hold the simulated truth."""

from __future__ import annotations

import importlib.util
import re
import shutil
import types
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest

GALLERY = Path(__file__).parents[2] / "docs" / "gallery"
NAMES = ("marsh", "lake", "cave", "estuaries", "varves")


def simulation() -> types.ModuleType:
    spec = importlib.util.spec_from_file_location("gallery_tables", GALLERY / "tables.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run(name, folder, monkeypatch):
    """The names of a script after it ran in a folder that has the tables."""
    for table in (path for path in GALLERY.iterdir() if path.suffix in (".csv", ".out", ".bacon")):
        shutil.copy(table, folder)
    monkeypatch.chdir(folder)
    found = {"__name__": "example"}
    try:
        exec(compile((GALLERY / f"{name}.py").read_text(), name, "exec"), found)
    finally:
        plt.close("all")
    drawn = set(re.findall(r"\]\((\S+\.png)\)", (GALLERY / f"{name}.md").read_text()))
    assert drawn
    assert {path.name for path in folder.glob("*.png")} == drawn
    assert found["posterior"].diagnostics["converged"]
    return found


def part_inside(table, truth):
    return float(np.mean((table["q2.5"] <= truth) & (truth <= table["q97.5"])))


@pytest.mark.parametrize("name", NAMES)
def test_the_page_shows_the_script(name):
    shown = (GALLERY / f"{name}.md").read_text()
    code = re.search(rf"<!-- script: {name}\.py -->\n```python\n(.*?)```\n", shown, flags=re.DOTALL)
    assert code
    assert code[1] == (GALLERY / f"{name}.py").read_text(), "run python docs/figures.py"


@pytest.mark.parametrize("name", NAMES)
def test_the_page_shows_the_beginning_of_the_table(name):
    shown = re.search(r"```text\n(.*?)```", (GALLERY / f"{name}.md").read_text(), flags=re.DOTALL)[1]
    table = (GALLERY / f"{name}.csv").read_text()
    assert table.startswith(f"# Simulated by docs/gallery/tables.py.\n{shown}")


def test_every_example_is_in_the_list_and_in_the_menu():
    menu = (GALLERY.parents[1] / "mkdocs.yml").read_text()
    for name in NAMES:
        assert f"]({name}.md)" in (GALLERY / "index.md").read_text()
        assert f"gallery/{name}.md" in menu


@pytest.mark.parametrize("name", ["marsh", "cave", "estuaries", "varves"])
def test_the_generator_writes_the_committed_tables(name, tmp_path, monkeypatch):
    module = simulation()
    monkeypatch.setattr(module, "HERE", tmp_path)
    getattr(module, name)()
    assert (tmp_path / f"{name}.csv").read_text() == (GALLERY / f"{name}.csv").read_text()


def test_marsh(tmp_path, monkeypatch):
    found, truth = run("marsh", tmp_path, monkeypatch), simulation()
    true = [
        np.diff(truth.marsh_level(np.array(ends)))[0] / (ends[1] - ends[0]) for ends in ((1000, 1850), (1950, 2019))
    ]
    assert part_inside(found["rates"], true) == 1.0
    at = np.arange(1000.0, 2010.0, 20.0)
    assert part_inside(found["posterior"].curve(at), truth.marsh_level(at)) > 0.9


def test_lake(tmp_path, monkeypatch):
    found, truth = run("lake", tmp_path, monkeypatch), simulation()
    at = np.arange(0.0, 6500.0, 100.0)
    assert part_inside(found["posterior"].curve(at), truth.lake_temperature(at)) > 0.9


@pytest.mark.slow
def test_cave(tmp_path, monkeypatch):
    found, truth = run("cave", tmp_path, monkeypatch), simulation()
    at = np.arange(5300.0, 8100.0, 50.0)
    true = truth.cave_oxygen(at)
    table = found["posterior"].curve(at)
    # The level that both share can only be known as well as the offsets: the shape is compared.
    shift = np.median(table["mean"] - true)
    assert abs(shift) < 1.0
    assert part_inside(table - shift, true) > 0.9
    offsets = found["offsets"]["mean"]
    assert abs(offsets.iloc[0] - offsets.iloc[1] - 0.4) < 0.15


@pytest.mark.slow
def test_estuaries(tmp_path, monkeypatch):
    found, truth = run("estuaries", tmp_path, monkeypatch), simulation()
    land = {name: rate for name, _, _, rate in truth.ESTUARIES}
    for one in found["rates"].to_dict("records"):
        ends = np.array([one["from"], one["to"]], float)
        shared = 1000.0 * np.diff(truth.common(ends))[0] / (ends[1] - ends[0])
        assert one["q2.5"] <= land[one["site"]] + shared <= one["q97.5"], one


@pytest.mark.slow
def test_varves(tmp_path, monkeypatch):
    found, truth = run("varves", tmp_path, monkeypatch), simulation()
    layers = np.arange(100, 1491, 10)
    assert part_inside(found["posterior"].ages(layers), truth.varve_years()[layers]) > 0.9
    minimum = found["extremes"].query("extreme == 'minimum' and quantity == 'time'").iloc[0]
    assert minimum["q2.5"] <= 1612.5 <= minimum["q97.5"]
