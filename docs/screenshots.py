"""Takes the pictures of the page In the browser, with Chromium: python docs/screenshots.py"""

import json
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS.parent / "tests"))

from browser import Tab, chromium  # noqa: E402  it belongs to the tests

SIZE = {"width": 1200, "height": 860}


def take(tab: Tab, name: str) -> None:
    """A picture of what the window shows."""
    time.sleep(0.5)
    (DOCS / "examples" / f"app-{name}.png").write_bytes(tab.picture(beyond=False))


def open_table(tab: Tab, address: str, path: Path) -> None:
    """Choose a table on the first page."""
    tab.visit(address, **SIZE)
    tab.wait("document.querySelectorAll('#records li').length && location.search === ''")
    tab.ask(f"""(() => {{
        const files = new DataTransfer();
        files.items.add(new File([{json.dumps(path.read_text())}], {json.dumps(path.name)}));
        const input = document.getElementById("file");
        input.files = files.files;
        input.dispatchEvent(new Event("change"));
    }})()""")
    tab.wait("document.documentElement?.dataset.read")


def pictures(tab: Tab, address: str) -> None:
    """All pictures, on the way from a table to its results."""
    base = address.partition("/?")[0]
    open_table(tab, address, DOCS / "examples" / "no-depth.csv")
    take(tab, "table")
    open_table(tab, address, DOCS / "examples" / "core.csv")
    tab.ask("document.getElementById('fit').click()")
    tab.wait("location.pathname.startsWith('/run') && document.documentElement?.dataset.drawn", 300.0)
    place = tab.ask("location.pathname")
    tab.visit(base + place, **SIZE)
    tab.wait("document.documentElement?.dataset.drawn")
    tab.ask("""(() => {
        const form = document.getElementById("interval");
        const range = document.querySelector("#figures .plot").layout.xaxis.range.map(Number);
        const at = (part) => String(Math.round((range[0] + part * (range[1] - range[0])) / 100) * 100);
        [form.elements.from.value, form.elements.to.value] = [at(0.75), at(0.5)];
        form.requestSubmit();
    })()""")
    tab.wait("document.querySelectorAll('#rates .flag').length", 300.0)
    take(tab, "run")
    tab.visit(f"{base}/", **SIZE)
    tab.wait("document.querySelectorAll('#runs tr').length")
    take(tab, "home")


def main() -> None:
    """Start the app in an empty folder, and take the pictures."""
    with tempfile.TemporaryDirectory() as home:
        folder = Path(home, "sea-level")
        folder.mkdir()
        command = [sys.executable, "-m", "lamina", "app", "--no-browser", "--folder", str(folder)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as app:
            assert app.stdout is not None
            found = re.search(r"http://\S+", app.stdout.readline())
            assert found, "the app has not started"
            with chromium(Path(home, "profile"), offline=False) as tab:
                pictures(tab, found[0])
            app.terminate()


if __name__ == "__main__":
    main()
