"""python -m lamina: a fit from beginning to end, told in words."""

import io
import re
from functools import partial

import fits

from lamina import __main__ as demo
from lamina import datasets


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_the_demo_prints_summary_table_and_mean_rate(monkeypatch, capsys):
    monkeypatch.setattr(demo, "fit", partial(fits.quietly, warmup=100, max_sweeps=50))
    demo.main()
    out, err = capsys.readouterr()
    assert "mcmc fit of 77 rows" in out
    assert len(re.findall(r"^ +-?\d+ .* \(.* to .*\) .* \(.* to .*\)$", out, flags=re.MULTILINE)) == len(demo.YEARS)
    low, high = map(float, re.search(r"mean rate 1900 to 2000: .* \(90 %: (.*) to (.*)\)", out).groups())
    assert 1.0 < low < high < 3.0
    assert err == ""


def test_progress_is_shown_on_a_terminal_and_nowhere_else():
    assert demo.progress_line(io.StringIO()) is None
    terminal = Terminal()
    show = demo.progress_line(terminal)
    show({"stage": "warm-up", "sweeps": 16})
    show({"stage": "sampling", "sweeps": 1500, "r_hat": 1.0123, "ess": 512.3})
    last = terminal.getvalue().split(demo.CLEAR)[-1]
    assert last == "sampling: 1500 sweeps, worst R-hat 1.012, fewest effective draws 512"


def test_the_years_are_within_the_record():
    record = datasets.load("nassau")
    assert min(demo.YEARS) >= record.t.min()
    assert max(demo.YEARS) <= record.t.max()
