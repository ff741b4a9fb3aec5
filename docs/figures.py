"""Draws the figures of the README and the tutorials, and updates the output shown there: python docs/figures.py"""

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import matplotlib
import numpy as np

import lamina

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.collections import PatchCollection
from matplotlib.patches import Rectangle

BLUE, ORANGE, GREY = "#0072B2", "#D55E00", "#555555"


DOCS = Path(__file__).parent


def quickstart() -> None:
    """The printed output and the figure of the fit in the quick start."""
    _run_command_of("quickstart.md", "lamina fit core.csv", {"core-lamina/figure.png": "core.png"})


def age_depth() -> None:
    """The printed output and the figures of the age-depth model in its tutorial."""
    drawn = {"peat-ages/age-depth.png": "peat.png", "peat-ages/validation.png": "peat-validation.png"}
    _run_command_of("agedepth.md", "lamina agedepth peat.csv", drawn)


def _run_command_of(name: str, command: str, drawn: dict[str, str]) -> None:
    """Run the command of a page that begins like this, print its output there, and keep what it has ``drawn``."""
    page, table = DOCS / name, command.split()[-1]
    text = page.read_text()
    block = re.compile(rf"(```sh\n({re.escape(command)} [^\n]*)\n```.*?```text\n)(mcmc fit.*?)(```)", flags=re.DOTALL)
    found = block.search(text)
    assert found, f"{name} has no {command}"
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(DOCS / "examples" / table, folder)
        words = [sys.executable, "-m", *found[2].split()]
        shown = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=True).stdout
        for figure, target in drawn.items():
            shutil.copy(Path(folder) / figure, DOCS / "examples" / target)
    page.write_text(block.sub(lambda one: one[1] + shown[shown.index("mcmc fit") :] + one[4], text))


def nassau() -> None:
    """The figure of the README."""
    record = lamina.datasets.load("nassau")
    posterior = lamina.fit(record, seed=0)
    at = np.linspace(-600.0, 2010.0, 400)
    figure, (top, bottom) = plt.subplots(
        2, 1, figsize=(8.0, 6.0), sharex=True, height_ratios=[2, 1], layout="constrained"
    )
    for rows, colour in (~record.exact, GREY), (record.exact, ORANGE):
        boxes = [
            Rectangle((t - 2 * s, y - 2 * e), max(4 * s, 4.0), 4 * e)
            for t, s, y, e in zip(record.t[rows], record.t_sd[rows], record.y[rows], record.y_sd[rows], strict=True)
        ]
        label = "tide gauge" if colour == ORANGE else "core"
        look = {"facecolor": colour, "edgecolor": colour, "alpha": 0.15, "linewidth": 0.5}
        top.add_collection(PatchCollection(boxes, label=label, **look))
    for axis, table, scale in (top, posterior.curve(at), 1.0), (bottom, posterior.rate(at), 1000.0):
        low, high = table["mean"] - table["sd"], table["mean"] + table["sd"]
        wide = scale * table["q2.5"], scale * table["q97.5"]
        axis.fill_between(at, *wide, color=BLUE, alpha=0.15, linewidth=0, label="95 %")
        axis.fill_between(at, scale * low, scale * high, color=BLUE, alpha=0.3, linewidth=0, label="68 %")
        axis.plot(at, scale * table["mean"], color=BLUE, label="mean")
    bottom.axhline(0.0, color=GREY, linewidth=0.8)
    top.set_ylabel("relative sea level (m)")
    bottom.set_ylabel("rate (mm a year)")
    bottom.set_xlabel("year CE")
    top.legend(loc="upper left", frameon=False)
    figure.savefig(DOCS / "nassau.png", dpi=110)


def coast() -> None:
    """The figures of the simulated coast on the page about fields."""
    page = (DOCS / "fields.md").read_text()
    command = re.search(r"^lamina field .*$", page, flags=re.MULTILINE)
    assert command, "fields.md has no fit"
    with tempfile.TemporaryDirectory() as folder:
        for table in (DOCS / "examples").glob("coast*.csv"):
            shutil.copy(table, folder)
        subprocess.run([sys.executable, "-m", *command[0].split()], cwd=folder, check=True)
        for name in "map", "sites":
            shutil.copy(Path(folder) / "coast" / f"{name}.png", DOCS / "examples" / f"coast-{name}.png")


def gallery(*names: str) -> None:
    """The code, the printed output and the figures of the examples, all of them or those that are named."""
    folder = DOCS / "gallery"
    for page in sorted(folder.glob("*.md")):
        script = page.with_suffix(".py")
        if not script.exists() or (names and page.stem not in names):
            continue
        shown = subprocess.run([sys.executable, script], cwd=folder, capture_output=True, text=True, check=True).stdout
        block = (
            f"<!-- script: {script.name} -->\n```python\n{script.read_text()}```\n\n```text\n{shown}```\n<!-- end -->"
        )
        pattern = re.compile(rf"<!-- script: {script.name} -->.*?<!-- end -->", flags=re.DOTALL)
        page.write_text(pattern.sub(lambda _, new=block: new, page.read_text()))


if __name__ == "__main__":
    nassau()
    quickstart()
    age_depth()
    coast()
    gallery()
