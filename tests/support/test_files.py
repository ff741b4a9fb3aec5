"""Files are written atomically."""

import os
import stat
import time

import pytest

from lamina.support import leftovers
from lamina.support.files import WriteError, check_writable, make_folder, replacing, scratch_folder, write_text


def test_a_file_takes_the_place_of_the_old_only_when_it_is_complete(tmp_path):
    path = tmp_path / "table.csv"
    write_text(path, "old\n")

    def break_off():
        with replacing(path) as partial:
            partial.write_text("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        break_off()
    assert path.read_text() == "old\n"
    with replacing(path) as partial:
        partial.write_text("new")
        assert partial.suffix == ".csv"
        assert path.read_text() == "old\n"
    assert path.read_text() == "new"
    assert os.listdir(tmp_path) == ["table.csv"]


def test_a_folder_is_made_with_those_above_it(tmp_path):
    assert make_folder(tmp_path / "a" / "b").is_dir()
    assert os.listdir(tmp_path / "a" / "b") == []


def test_where_nothing_can_be_written_one_message_says_so(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(WriteError, match=r"is a file, not a folder. Choose another place"):
        make_folder(tmp_path / "file")
    with pytest.raises(WriteError, match=r"cannot write into the folder .*Not a directory. Choose another place"):
        make_folder(tmp_path / "file" / "below")
    with pytest.raises(WriteError, match=r"there is no folder .*Make it first"):
        write_text(tmp_path / "none" / "x.csv", "")
    (tmp_path / "taken").mkdir()
    with pytest.raises(WriteError, match=r"cannot write .*taken: Is a directory"):
        write_text(tmp_path / "taken", "")
    assert sorted(os.listdir(tmp_path)) == ["file", "taken"]


def test_a_folder_is_tried_and_not_left_behind(tmp_path):
    (tmp_path / "there").mkdir()
    (tmp_path / "file").write_text("x")
    assert check_writable(tmp_path / "a" / "b") == tmp_path / "a" / "b"
    check_writable(tmp_path / "there")
    with pytest.raises(WriteError, match="is a file"):
        check_writable(tmp_path / "file")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "there"]


def test_a_link_under_the_name_of_a_temporary_file_is_not_followed(tmp_path, monkeypatch):
    victim = tmp_path / "victim"
    victim.write_text("of another")
    monkeypatch.setattr("lamina.support.leftovers.secrets.token_hex", lambda _: "guessed")
    for suffix in "", ".csv":
        (tmp_path / leftovers._new_name(suffix)).symlink_to(victim)
    with pytest.raises(WriteError, match="File exists"):
        write_text(tmp_path / "table.csv", "new")
    with pytest.raises(WriteError):
        make_folder(tmp_path)
    assert victim.read_text() == "of another"


def test_temporary_names_cannot_be_guessed(tmp_path):
    names = set()
    for _ in range(20):
        with replacing(tmp_path / "table.csv") as partial:
            names.add(partial.name)
    assert len(names) == 20


ENDED = 2**22 + 1  # above the largest number of a process


@pytest.mark.parametrize(
    ("host", "pid", "seconds", "stays"),
    [
        (None, ENDED, 0.0, False),
        (None, os.getpid(), 0.0, True),
        ("00000000", ENDED, 0.0, True),
        ("00000000", ENDED, leftovers.KEPT_SECONDS + 60.0, False),
    ],
    ids=["killed", "running", "elsewhere", "elsewhere long ago"],
)
def test_later_runs_remove_the_temporary_files_of_killed_ones(tmp_path, host, pid, seconds, stays):
    left = tmp_path / f".lamina-{host or leftovers._host()}-{pid}-0123456789abcdef.part.csv"
    left.write_text("half")
    os.utime(left, (time.time() - seconds,) * 2)
    (tmp_path / ".lamina-notes").write_text("of the user")
    make_folder(tmp_path)
    assert sorted(os.listdir(tmp_path)) == [*([left.name] if stays else []), ".lamina-notes"]


def test_temporary_folders_of_killed_workers_are_removed_too(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    left = tmp_path / f".lamina-{leftovers._host()}-{ENDED}-0123456789abcdef.part"
    left.mkdir()
    (left / "curve.csv").write_text("half")
    with scratch_folder() as folder:
        assert os.listdir(tmp_path) == [folder.name]
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert os.listdir(tmp_path) == []


def test_bytes_of_a_file_name_that_are_no_text_can_be_written(tmp_path):
    write_text(tmp_path / "note.txt", "of bad\udcff.csv")
    assert (tmp_path / "note.txt").read_text() == "of bad\\udcff.csv"
