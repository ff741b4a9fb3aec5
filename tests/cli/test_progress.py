"""Progress on a terminal."""

import io
import json
import logging
import os
import sys

import pytest

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


@pytest.mark.parametrize("shown", [progress.sampling, lambda quiet=False: progress.bar("methods", quiet)])
def test_a_pipe_says_that_code_is_compiled_unless_quiet(monkeypatch, shown):
    for quiet, said in (False, "lamina: Compiling.\n"), (True, ""):
        screen = io.StringIO()
        monkeypatch.setattr(sys, "stderr", screen)
        with shown(quiet=quiet) as show:
            logging.getLogger("lamina").info("Compiling.")
        assert (show is None) == quiet
        assert screen.getvalue() == said
    assert not logging.getLogger("lamina").handlers


def test_a_note_stands_above_the_bar(monkeypatch):
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    with progress.bar("methods"):
        logging.getLogger("lamina").info("Compiling.")
    assert screen.getvalue().count("Compiling.") == 1


def test_nothing_is_shown_where_quiet_is_wanted(monkeypatch):
    for screen in Terminal(), io.StringIO():
        monkeypatch.setattr(sys, "stderr", screen)
        with progress.sampling(quiet=True) as show:
            assert show is None
        assert screen.getvalue() == ""


def test_a_log_has_a_line_now_and_then_and_each_once(monkeypatch):
    clock, screen = [0.0], io.StringIO()
    monkeypatch.setattr(progress.time, "monotonic", lambda: clock[0])
    monkeypatch.setattr(sys, "stderr", screen)
    with progress.sampling() as show:
        for clock[0], sweeps in (1.0, 16), (31.0, 32), (40.0, 64), (70.0, 32), (71.0, 128):
            show({"stage": "warm-up", "sweeps": sweeps})
        clock[0] = 200.0
        show({"stage": "sampling", "sweeps": 1024, "r_hat": 1.0314, "ess": 87.3})
    assert screen.getvalue().splitlines() == [
        "lamina: warm-up, 32 sweeps (31 s)",
        "lamina: warm-up, 128 sweeps (71 s)",
        "lamina: sampling, 1,024 sweeps, R-hat 1.031, 87 effective draws of 400 (200 s)",
    ]


def test_a_log_counts_what_is_done(monkeypatch):
    clock, screen = [0.0], io.StringIO()
    monkeypatch.setattr(progress.time, "monotonic", lambda: clock[0])
    monkeypatch.setattr(sys, "stderr", screen)
    with progress.bar("records") as show:
        for clock[0], done in (10.0, 1), (45.0, 7), (46.0, 8):
            show(done, 2000)
    assert screen.getvalue() == "lamina: records: 7 of 2,000 (45 s)\n"


def test_programs_get_lines_of_json(monkeypatch):
    monkeypatch.setenv(progress.FOR_PROGRAMS, "json")
    written = io.StringIO()
    monkeypatch.setattr(sys, "stderr", written)
    with progress.sampling(quiet=True) as show:
        show({"stage": "sampling", "sweeps": 10, "r_hat": float("nan"), "ess": 5.0})
    assert json.loads(written.getvalue()) == {"stage": "sampling", "sweeps": 10, "ess": 5.0, "enough_ess": 400.0}


def test_a_run_that_nobody_follows_any_more_is_interrupted(monkeypatch):
    read, write = os.pipe()
    os.close(read)
    monkeypatch.setenv(progress.FOR_PROGRAMS, "json")
    with os.fdopen(write, "w") as pipe, progress.sampling() as show:
        monkeypatch.setattr(sys, "stderr", pipe)
        with pytest.raises(KeyboardInterrupt):
            show({"stage": "sampling", "sweeps": 10})
        monkeypatch.undo()
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, pipe.fileno())  # what is left in its buffer
        os.close(nowhere)
