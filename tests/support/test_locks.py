"""One process at a time writes into a folder."""

import os
import signal
import subprocess
import sys

import pytest

from lamina.support.files import WriteError
from lamina.support.locks import LOCK, check_unlocked, locked

HOLD = """
import sys, time
from pathlib import Path
from lamina.support.locks import locked
with locked(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


def test_a_folder_is_locked_once_and_free_again_at_the_end(tmp_path):
    with locked(tmp_path):
        with pytest.raises(WriteError, match=rf"another lamina is writing .*process {os.getpid()} on .*Wait until"):
            check_unlocked(tmp_path)
        with pytest.raises(WriteError, match="choose another folder"), locked(tmp_path):
            pass
    assert os.listdir(tmp_path) == []
    check_unlocked(tmp_path)
    assert os.listdir(tmp_path) == []


def test_the_lock_of_a_process_that_was_killed_is_taken_over(tmp_path):
    holder = subprocess.Popen([sys.executable, "-c", HOLD, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    with holder:
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(WriteError, match=f"process {holder.pid} on"):
            check_unlocked(tmp_path)
        holder.send_signal(signal.SIGKILL)
    assert (tmp_path / LOCK).exists()
    with locked(tmp_path):
        pass
    assert os.listdir(tmp_path) == []


def test_a_link_in_place_of_the_lock_is_not_followed(tmp_path):
    (tmp_path / "victim").write_text("of another")
    (tmp_path / LOCK).symlink_to(tmp_path / "victim")
    with pytest.raises(WriteError, match="cannot write into the folder"), locked(tmp_path):
        pass
    assert (tmp_path / "victim").read_text() == "of another"
