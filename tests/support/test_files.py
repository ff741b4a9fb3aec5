"""Files are written atomically."""

import os

import pytest

from lamina.support.files import WriteError, check_writable, make_folder, replacing, write_text


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
