"""Commands end with a message, whatever they print to, and with the exit code of what ended them."""

import errno
import os
import subprocess
import sys

import numpy as np
import pytest
from commands import TABLE, lamina, write_table

from lamina.cli import terminal

COMMAND = [sys.executable, "-m", "lamina"]
SIGMA = TABLE.replace("2s", "2σ").replace("1s", "1σ")


def run(*arguments, **options):
    return subprocess.run([*COMMAND, *map(os.fsencode, arguments)], capture_output=True, timeout=120, **options)


def shell(line, *arguments):
    """``lamina`` with redirections of its streams."""
    named = ["sh", "-c", f'"$0" -m lamina "$@" {line}', sys.executable, *map(os.fsencode, arguments)]
    return subprocess.run(named, capture_output=True, timeout=120)


def test_an_encoding_without_sigma_shows_it_in_letters(tmp_path):
    path = tmp_path / "core.csv"
    path.write_text(SIGMA, encoding="utf-8")
    done = run("check", path, env={**os.environ, "PYTHONIOENCODING": "ascii"})
    assert done.returncode == 0, done.stderr
    assert b"Age 2sigma" in done.stdout


def test_a_file_name_that_is_no_text_is_shown(tmp_path):
    path = os.fsencode(tmp_path) + b"/bad\xff.csv"
    with open(path, "w") as file:
        file.write(TABLE)
    done = run("check", path)
    assert done.returncode == 0, done.stderr
    assert rb"bad\udcff.csv" in done.stdout


STREAMS = {
    "error stream closed": ("2>&-", "good", 0),
    "both closed": (">&- 2>&-", "good", 0),
    "error stream closed, bad input": ("2>&-", "bad", 2),
    "error stream full": ("2>/dev/full", "bad", 2),
    "output full": (">/dev/full", "good", 2),
}


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
@pytest.mark.parametrize(("line", "input_", "code"), STREAMS.values(), ids=STREAMS.keys())
def test_streams_that_are_closed_or_full_end_without_a_traceback(tmp_path, line, input_, code):
    done = shell(line, "check", write_table(tmp_path) if input_ == "good" else tmp_path / "none.csv")
    assert done.returncode == code
    assert b"Traceback" not in done.stdout + done.stderr
    assert b"Exception" not in done.stderr
    if line == ">/dev/full":
        assert done.stderr == b"lamina: cannot print the results: No space left on device.\n"


def test_control_characters_of_a_table_do_not_reach_the_terminal(tmp_path):
    text = TABLE.replace("RSL (m)", "RSL\x1b[31m (m\x07)").replace("Lab", "\u202eLab")
    done = lamina("check", write_table(tmp_path, text))
    assert "\x1b" not in done.output
    assert "\x07" not in done.output
    assert "\u202e" not in done.output
    missing = lamina("check", tmp_path / "\x1b]0;owned\x07.csv")
    assert "\\x1b]0;owned\\x07.csv" in missing.stderr
    assert "\x1b" not in missing.stderr


def test_too_little_memory_is_one_message(tmp_path, monkeypatch):
    def full(*_, **__):
        np.empty(1 << 55)

    monkeypatch.setattr("lamina.fitting.Fit.run", full)
    done = lamina("fit", write_table(tmp_path), "--out", tmp_path / "out", "--method", "gp")
    assert done.exit_code == 1
    assert "lamina: not enough memory (Unable to allocate" in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_shell_that_allows_too_few_addresses_is_one_message(tmp_path):
    resource = pytest.importorskip("resource")

    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (900_000_000, resource.RLIM_INFINITY))

    done = run("check", write_table(tmp_path), preexec_fn=limit)
    assert done.returncode == 2
    assert done.stderr == (
        b"lamina: a fit needs at least 1.2 GB of addresses, and this process may use 0.9 GB. Raise the limit: "
        b"ulimit -v.\n"
    )


def test_numbers_that_no_memory_holds_are_refused_before_the_fit(tmp_path):
    table = write_table(tmp_path)
    for option in "--draws", "--chains", "--ensemble":
        done = lamina("fit", table, "--out", tmp_path / "out", option, 10**10)
        assert done.exit_code == 2
        assert "GB of memory" in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_pipe_that_nobody_reads_is_no_error_of_lamina(monkeypatch):
    def closed(*_, **__):
        raise OSError(errno.EPIPE, "Broken pipe")

    monkeypatch.setattr("builtins.print", closed)
    with pytest.raises(BrokenPipeError):
        terminal.show("text")
