"""``lamina app`` as a command: what it needs, and a port that is taken. tests/app has the rest."""

import socket
import sys

from commands import lamina


def test_without_its_packages_it_says_what_to_install(monkeypatch, tmp_path):
    for name in [one for one in sys.modules if one.startswith(("lamina.app", "starlette", "uvicorn"))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "starlette", None)
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    done = lamina("app", "--no-browser", "--folder", tmp_path)
    assert done.exit_code == 2
    assert "pip install '.[app]'" in done.stderr


def test_a_port_that_is_taken_is_a_message(tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        done = lamina("app", "--no-browser", "--folder", tmp_path, "--port", taken.getsockname()[1])
    assert done.exit_code == 2
    assert "Choose another with --port" in done.stderr


def test_a_folder_that_cannot_be_is_a_message(tmp_path):
    (tmp_path / "file").write_text("")
    done = lamina("app", "--no-browser", "--folder", tmp_path / "file")
    assert done.exit_code == 2
    assert "is a file, not a folder" in done.stderr
