"""A real Chromium without a window, spoken to by the DevTools protocol. It knows no other machine than this one."""

from __future__ import annotations

import base64
import itertools
import json
import os
import shutil
import subprocess
import time
import urllib.request
from contextlib import contextmanager
from pathlib import Path

import pytest
import websocket

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
REQUIRED = "LAMINA_REQUIRE_BROWSER"
SECONDS = 30.0


def find() -> str:
    """The browser's path; without one, the test is skipped, or fails where a browser is required."""
    for name in NAMES:
        path = shutil.which(name)
        if path:
            return path
    reason = f"no Chromium on PATH (looked for {', '.join(NAMES)}); install one, e.g. apt-get install chromium"
    if os.environ.get(REQUIRED) == "1":
        pytest.fail(f"{reason}. {REQUIRED}=1 asks for it.")
    pytest.skip(reason)


class Tab:
    """One page: commands go in, and what the page complained of or asked the network for comes out."""

    def __init__(self, address: str, offline: bool) -> None:
        self._socket = websocket.create_connection(address, timeout=SECONDS, suppress_origin=True)
        self._numbers = itertools.count(1)
        self.errors: list[str] = []
        self.requests: list[str] = []
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(f"{domain}.enable")
        if offline:
            nothing = {"offline": True, "latency": 0, "downloadThroughput": 0, "uploadThroughput": 0}
            self.send("Network.emulateNetworkConditions", **nothing)

    def close(self) -> None:
        self._socket.close()

    def send(self, command: str, **arguments):
        """The answer to a command; events that come before it are noted."""
        number = next(self._numbers)
        self._socket.send(json.dumps({"id": number, "method": command, "params": arguments}))
        while True:
            message = json.loads(self._socket.recv())
            if message.get("id") == number:
                if "error" in message:
                    raise RuntimeError(f"{command}: {message['error']['message']}")
                return message["result"]
            self._note(message)

    def _note(self, message) -> None:
        kind, said = message["method"], message["params"]
        if kind == "Runtime.exceptionThrown":
            self.errors.append(json.dumps(said["exceptionDetails"])[:2000])
        elif kind == "Runtime.consoleAPICalled" and said["type"] in ("error", "warning", "assert"):
            self.errors.append(json.dumps(said["args"])[:2000])
        elif kind == "Log.entryAdded" and said["entry"]["level"] in ("error", "warning"):
            self.errors.append(said["entry"]["text"])
        elif kind == "Network.requestWillBeSent":
            self.requests.append(said["request"]["url"])

    def ask(self, script: str):
        """The value of a piece of JavaScript."""
        answer = self.send("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(json.dumps(answer["exceptionDetails"])[:2000])
        return answer["result"].get("value")

    def wait(self, script: str, seconds: float = SECONDS):
        """The value of a piece of JavaScript once it is true. Between two pages it may fail."""
        until, failed = time.monotonic() + seconds, ""
        while time.monotonic() < until:
            try:
                value = self.ask(script)
            except RuntimeError as error:
                value, failed = None, f" ({error})"
            if value:
                return value
            time.sleep(0.05)
        raise TimeoutError(f"not true after {seconds:g} s: {script}{failed}")

    def open(self, path: Path, width: int = 1200, height: int = 900, dark: bool = False) -> None:
        """Open a file in a window of this size and wait until its figures are drawn."""
        self.visit(path.resolve().as_uri(), width, height, dark)
        self.wait("document.readyState === 'complete' && document.documentElement.dataset.drawn")

    def visit(self, address: str, width: int = 1200, height: int = 900, dark: bool = False) -> None:
        """Open an address in a window of this size."""
        self.send(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=height, deviceScaleFactor=1, mobile=width < 600,
        )  # fmt: skip
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.send("Emulation.setEmulatedMedia", features=[scheme])
        self.send("Page.navigate", url=address)

    def move(self, x: float, y: float) -> None:
        """Move the mouse."""
        self.send("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def picture(self, beyond: bool = True) -> bytes:
        """The whole page as PNG, or only what the window shows."""
        taken = self.send("Page.captureScreenshot", format="png", captureBeyondViewport=beyond)
        return base64.b64decode(taken["data"])

    def print(self) -> bytes:
        """The page as PDF."""
        return base64.b64decode(self.send("Page.printToPDF", preferCSSPageSize=True, printBackground=True)["data"])


@contextmanager
def chromium(folder: Path, offline: bool = True):
    """A browser with a profile of its own in ``folder``, and one tab in it."""
    process = subprocess.Popen(
        [
            find(), "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
            "--disable-extensions", "--disable-component-update", "--disable-background-networking",
            "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", "--remote-debugging-port=0",
            f"--user-data-dir={folder}", "about:blank",
        ],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    tab = None
    try:
        tab = Tab(_address(folder / "DevToolsActivePort", process), offline)
        yield tab
    finally:
        if tab is not None:
            tab.close()
        process.terminate()
        process.wait(SECONDS)


def _address(port_file: Path, process: subprocess.Popen) -> str:
    """Where the tab listens: the browser writes its port to a file when it is ready."""
    until = time.monotonic() + SECONDS
    while time.monotonic() < until and process.poll() is None:
        if port_file.exists() and port_file.read_text().strip():
            port = port_file.read_text().split()[0]
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/json/list", timeout=SECONDS) as answer:
                tabs = [one for one in json.load(answer) if one["type"] == "page"]
            if tabs:
                return tabs[0]["webSocketDebuggerUrl"]
        time.sleep(0.05)
    raise TimeoutError(f"the browser did not start (exit code {process.poll()})")
