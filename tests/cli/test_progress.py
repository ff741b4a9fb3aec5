"""Progress on a terminal."""

import io
import sys

from lamina.cli import progress
from lamina.support import convergence


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_the_bar_is_full_when_the_sampler_has_what_it_wants():
    assert progress.ESS == convergence.ESS


def test_a_note_stays_on_the_terminal(monkeypatch):
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    with progress.sampling() as show:
        show({"stage": "compiling", "sweeps": 0, "note": "Compiling."})
        show({"stage": "warm-up", "sweeps": 16})
    assert screen.getvalue().count("Compiling.") == 1


def test_nothing_is_shown_where_quiet_is_wanted_or_nobody_looks(monkeypatch):
    for screen, quiet in (Terminal(), True), (io.StringIO(), False):
        monkeypatch.setattr(sys, "stderr", screen)
        with progress.sampling(quiet) as show:
            assert show is None
        assert screen.getvalue() == ""
