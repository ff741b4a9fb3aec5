"""A server of the app, as ``lamina app`` starts it, and a client that has its token."""

import http.client
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import quote

import pytest

#: A run may have to compile code first.
SECONDS, RUN_SECONDS = 60.0, 300.0
#: Python code that starts the command with Ctrl-C as on a terminal, also where the tests run in the background.
START = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); from lamina.cli import main; main()"


class Server:
    """``lamina app`` in a process of its own."""

    def __init__(self, folder: Path, browser: str = "") -> None:
        self.folder = folder
        began = time.monotonic()
        self.process = subprocess.Popen(
            [sys.executable, "-c", START, "app", "--folder", str(folder), *([] if browser else ["--no-browser"])],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, encoding="utf-8", cwd=folder,
            env={**os.environ, "PYTHONUNBUFFERED": "1", "BROWSER": f"{browser} %s"},
        )  # fmt: skip
        self.used_address = self.next_address()
        self.seconds = time.monotonic() - began
        self.port = int(re.search(r":(\d+)/", self.used_address)[1])
        self.base, self.token = f"http://127.0.0.1:{self.port}", ""
        self.token = self.enter(self.used_address)
        self.address = self.next_address()  #: for one browser

    def next_address(self) -> str:
        """The next address that the server prints."""
        for line in self.process.stdout:
            if found := re.search(r"http://\S+", line):
                return found[0]
        raise AssertionError("the server has ended")

    def enter(self, address: str) -> str:
        """Follow an address as a new browser; returns the token that its cookie holds, "" if it is refused."""
        status, headers, _ = self.ask(address.removeprefix(self.base), headers={"Cookie": None, "Origin": None})
        return headers["set-cookie"].partition("=")[2].partition(";")[0] if status == 303 else ""

    def ask(self, path: str, body=None, method: str | None = None, headers=None):
        """The status, headers and content of an answer. ``headers`` change those of the app's own pages; None drops."""
        own = {
            "Host": f"127.0.0.1:{self.port}", "Origin": self.base, "Cookie": f"lamina-{self.port}={self.token}",
            "X-Lamina-Token": self.token,
        }  # fmt: skip
        sent = {name: value for name, value in {**own, **(headers or {})}.items() if value is not None}
        data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=SECONDS)
        connection.putrequest(method or ("GET" if body is None else "POST"), path, skip_host=True)
        for name, value in sent.items():
            connection.putheader(name, value)
        if data is not None:
            connection.putheader("Content-Length", str(len(data)))
        connection.endheaders(data)
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        return answer.status, dict(answer.getheaders()), content

    def json(self, path: str, body=None, **more):
        """The answer of a call."""
        return json.loads(self.ask(path, body, **more)[2])

    def put(self, name: str, content: bytes) -> str:
        """Drop a table; returns its key."""
        return self.json("/api/tables", content, headers={"X-Name": quote(name)})["key"]

    def read(self, key: str, command: str = "fit", **options):
        return self.json(f"/api/tables/{key}/read", {"command": command, "options": options})

    def begin(self, key: str, command: str = "fit", **options) -> int:
        return self.json("/api/jobs", {"key": key, "command": command, "options": options})["job"]

    def jobs(self) -> dict:
        """All runs, from the first of the server's events."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=SECONDS)
        connection.request("GET", "/api/events", headers={"Cookie": f"lamina-{self.port}={self.token}"})
        line = connection.getresponse().readline()
        connection.close()
        return {job["key"]: job for job in json.loads(line.removeprefix(b"data: "))}

    def wait(self, job: int, until=lambda one: one["over"]):
        """A run once it is over, or so far."""
        end = time.monotonic() + RUN_SECONDS
        while time.monotonic() < end:
            found = self.jobs()[job]
            if until(found):
                return found
            assert not found["over"], found
            time.sleep(0.1)
        raise TimeoutError(f"not so far after {RUN_SECONDS:g} s: {found}")

    def close(self, number: int = signal.SIGINT) -> int:
        """End it; returns its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        self.process.wait(30)
        self.process.stdout.close()
        return self.process.returncode


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """One server for the tests of a file."""
    running = Server(tmp_path_factory.mktemp("runs"))
    yield running
    running.close()


@pytest.fixture
def start(tmp_path):
    """Starts a server that a test may end."""
    running = []

    def begin(**more) -> Server:
        folder = tmp_path / "runs"
        folder.mkdir()
        running.append(Server(folder, **more))
        return running[-1]

    yield begin
    for one in running:
        one.close(signal.SIGKILL)


@pytest.fixture
def new_server(start):
    """A server that a test may end."""
    return start()
