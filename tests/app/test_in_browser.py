"""The whole way in a real Chromium: from a table that is dropped to a zip that is downloaded."""

import io
import json
import time
import zipfile
from importlib import resources

import pytest
from browser import chromium
from commands import TABLE
from test_jobs import long_table
from test_tables_in_app import AMBIGUOUS, BAD

pytestmark = pytest.mark.slow
READ = "document.documentElement?.dataset.read && location.pathname.startsWith('/table')"
DRAWN = "document.documentElement?.dataset.drawn && location.pathname.startsWith('{place}')"
#: A run may have to compile code first.
SECONDS = 300.0


@pytest.fixture(scope="module")
def tab(tmp_path_factory):
    """One browser for all tests of this file."""
    folder = tmp_path_factory.mktemp("profile")
    with chromium(folder, offline=False) as opened:
        opened.downloads = folder / "downloads"
        opened.send("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(opened.downloads))
        yield opened


@pytest.fixture(autouse=True)
def no_complaints(tab, server):
    """No test may leave an error or a warning in the console, or ask another machine for anything."""
    tab.errors.clear()
    tab.requests.clear()
    yield
    assert tab.errors == []
    assert [url for url in tab.requests if not url.startswith((server.base, "data:", "blob:", "about:"))] == []


def drop(tab, server, name: str, text: str) -> None:
    """Drop a table on the first page, and wait until it is read."""
    tab.visit(server.address)
    tab.wait("document.querySelectorAll('#records li').length && location.search === ''")
    tab.ask(f"""(() => {{
        const files = new DataTransfer();
        files.items.add(new File([{json.dumps(text)}], {json.dumps(name)}));
        const event = new DragEvent("drop", {{ bubbles: true, cancelable: true, dataTransfer: files }});
        document.getElementById("drop").dispatchEvent(event);
    }})()""")
    tab.wait(READ)


def click(tab, selector: str) -> None:
    """Click where an element is, as a mouse does."""
    x, y = tab.wait(f"""(() => {{
        const one = document.querySelector({json.dumps(selector)});
        if (!one || one.disabled) return null;
        one.scrollIntoView({{ block: "center", behavior: "instant" }});
        const box = one.getBoundingClientRect();
        return [box.left + box.width / 2, box.top + box.height / 2];
    }})()""")
    for kind in "mousePressed", "mouseReleased":
        tab.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)


def downloaded(tab, name: str) -> bytes:
    until = time.monotonic() + 30.0
    while not (tab.downloads / name).exists():
        assert time.monotonic() < until, list(tab.downloads.glob("*"))
        tab.ask("1")  # events are noted
        time.sleep(0.1)
    return (tab.downloads / name).read_bytes()


def faults(tab) -> list[str]:
    """The serious faults that axe finds on a page."""
    tab.ask((resources.files("axe_core_python") / "axe.min.js").read_text(encoding="utf-8"))
    found = tab.ask("axe.run().then((found) => JSON.stringify(found.violations))")
    return [
        f"{one['id']}: {node['html']}"
        for one in json.loads(found)
        if one["impact"] in ("serious", "critical")
        for node in one["nodes"]
    ]


def sideways(tab) -> float:
    """How far the page reaches beyond the window."""
    return tab.ask("document.documentElement.scrollWidth - document.documentElement.clientWidth")


@pytest.fixture(scope="module")
def fitted(server):
    """A run of the good table, for tests of its page."""
    found = server.wait(server.begin(server.put("core.csv", TABLE.encode()), interval=["100:500"]))
    assert found["state"] == "converged"
    return found["folder"]


def test_a_good_table_from_the_drop_to_the_zip(tab, server):
    drop(tab, server, "good.csv", TABLE)
    assert tab.ask("document.querySelectorAll('#problems li').length") == 0
    assert "<script>alert(1)</script>" in tab.ask("document.getElementById('grid').textContent")
    assert tab.ask("document.querySelectorAll('#grid script').length") == 0
    roles = "[...document.querySelectorAll('#grid .roles select')].map((one) => one.selectedOptions[0].textContent)"
    assert tab.ask(roles) == ["depth", "input", "input error", "output", "output error", "–"]
    assert tab.ask("document.getElementById('command').textContent") == "lamina fit good.csv"
    click(tab, "#fit")
    tab.wait("location.pathname.startsWith('/job') && document.getElementById('sweeps').textContent !== '–'", SECONDS)
    tab.send("Page.reload")  # it goes on
    tab.wait(DRAWN.format(place="/run"), SECONDS)
    assert tab.ask("document.querySelectorAll('#figures .plot .main-svg').length") > 6
    click(tab, "#zip")
    with zipfile.ZipFile(io.BytesIO(downloaded(tab, "good-lamina.zip"))) as packed:
        assert packed.testzip() is None
        names = {name.partition("/")[2] for name in packed.namelist()}
    assert names == {path.name for path in (server.folder / "good-lamina").iterdir()}


def test_an_ambiguous_table_is_decided_by_one_click(tab, server):
    drop(tab, server, "ambiguous.csv", AMBIGUOUS)
    assert tab.ask("document.getElementById('fit').disabled")
    assert "which row is older" in tab.ask("document.querySelector('#problems li').textContent")
    before = tab.ask("document.documentElement.dataset.read")
    click(tab, "#problems .buttons button:last-child")
    tab.wait(f"document.documentElement.dataset.read !== '{before}' && !document.getElementById('fit').disabled")
    assert tab.ask("document.getElementById('command').textContent") == "lamina fit ambiguous.csv --order none"


def test_a_bad_table_points_at_its_cell(tab, server):
    drop(tab, server, "bad.csv", BAD)
    assert tab.ask("document.getElementById('fit').disabled")
    assert tab.ask("document.querySelector('#grid td.bad').textContent") == "many"
    click(tab, "#problems .buttons button")
    assert tab.wait("document.querySelector('#grid .shown')?.textContent") == "many"


def test_a_control_changes_the_command_and_keeps_the_focus(tab, server):
    drop(tab, server, "good.csv", TABLE)
    tab.ask("document.getElementById('more-reading').open = true")
    tab.ask("""(() => {
        const box = document.getElementById("reading-t_sigma");
        box.focus();
        box.value = "1";
        box.dispatchEvent(new Event("change"));
    })()""")
    tab.wait("document.getElementById('command').textContent === 'lamina fit good.csv --t-sigma 1'")
    assert tab.ask("document.activeElement.id") == "reading-t_sigma"


def test_a_column_gets_its_role_above_it(tab, server):
    drop(tab, server, "good.csv", TABLE)
    tab.ask("""(() => {
        const menu = document.querySelectorAll("#grid .roles select")[0];
        menu.value = "y";
        menu.dispatchEvent(new Event("change"));
    })()""")
    tab.wait("document.getElementById('command').textContent === \"lamina fit good.csv --y 'Depth (cm)'\"")


def test_two_thousand_rows_scroll(tab, server):
    drop(tab, server, "long.csv", long_table(2000))
    assert tab.ask("document.querySelectorAll('#grid tbody tr').length") < 100
    tab.ask("document.getElementById('grid').scrollTop = 1e6")
    tab.wait("[...document.querySelectorAll('#grid tbody th')].some((one) => one.textContent === '2001')")


def test_stop_and_reload_in_the_middle(tab, server):
    drop(tab, server, "long.csv", long_table(500))
    click(tab, "#fit")
    tab.wait("document.getElementById('stage')?.textContent === 'Sampling.'", SECONDS)
    tab.send("Page.reload")
    tab.wait("document.getElementById('stage')?.textContent === 'Sampling.'")
    assert faults(tab) == []
    click(tab, "#stop")
    tab.wait("document.getElementById('state').textContent === 'interrupted'", SECONDS)
    click(tab, "#results")
    tab.wait(DRAWN.format(place="/run"), SECONDS)
    assert "interrupted" in tab.ask("document.getElementById('badges').textContent")
    assert tab.ask("document.getElementById('actions').textContent").startswith("Continue this run")


def test_a_date_shows_its_densities_and_can_be_left_out(tab, server, fitted):
    tab.visit(f"{server.base}/run/{fitted}")
    tab.wait(DRAWN.format(place="/run"))
    x, y = tab.ask("""(() => {
        const plot = [...document.querySelectorAll(".plot")].find((one) => one.data.some((trace) => trace.customdata));
        plot.scrollIntoView({ block: "center", behavior: "instant" });
        const trace = plot.data.find((one) => one.customdata);
        const k = trace.customdata.findIndex((one) => one[1] === 4);
        const box = plot.querySelector(".nsewdrag").getBoundingClientRect();
        return [box.left + plot._fullLayout.xaxis.d2p(trace.x[k]), box.top + plot._fullLayout.yaxis.d2p(trace.y[k])];
    })()""")
    tab.move(x, y)
    tab.wait("document.querySelectorAll('.hovertext').length")
    for kind in "mousePressed", "mouseReleased":
        tab.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)
    tab.wait("document.querySelector('#date .plot')?.dataset.drawn", SECONDS)
    assert "280 ± 40" in tab.ask("document.getElementById('date').textContent")
    assert tab.ask("document.querySelectorAll('#date .scatterlayer path.js-line').length") == 2
    click(tab, "#date .buttons button")
    tab.wait(DRAWN.format(place=f"/run/{fitted}-2"), SECONDS)
    assert "--leave-out 4" in tab.ask("document.getElementById('command').textContent")
    assert tab.ask("document.getElementById('badges').textContent").find("5 rows") > 0
    tab.visit(f"{server.base}/compare?a={fitted}&b={fitted}-2")
    tab.wait(DRAWN.format(place="/compare"))
    ranges = "[...document.querySelectorAll('.plot')].map((one) => one.layout.xaxis.range.join())"
    assert tab.ask(f"(({ranges}).slice(0, ({ranges}).length / 2)).join(';')") == tab.ask(
        f"(({ranges}).slice(({ranges}).length / 2)).join(';')"
    )
    assert faults(tab) == []


def test_an_interval_that_is_dragged_has_the_rate_of_the_command(tab, server, fitted):
    tab.visit(f"{server.base}/run/{fitted}")
    tab.wait(DRAWN.format(place="/run"))
    tab.ask("document.querySelector('input[name=drag][value=select]').click()")
    tab.wait("document.querySelector('#figures .plot').layout.dragmode === 'select'")
    places = tab.ask("""(() => {
        const plot = document.querySelector("#figures .plot");
        plot.scrollIntoView({ block: "center", behavior: "instant" });
        const box = plot.querySelector(".nsewdrag").getBoundingClientRect();
        return [100, 500].map((t) => [box.left + plot._fullLayout.xaxis.d2p(t), box.top + box.height / 2]);
    })()""")
    (x0, y), (x1, _) = places
    tab.send("Input.dispatchMouseEvent", type="mousePressed", x=x0, y=y, button="left", clickCount=1)
    for part in 0.3, 0.6, 1.0:
        tab.send("Input.dispatchMouseEvent", type="mouseMoved", x=x0 + part * (x1 - x0), y=y, button="left", buttons=1)
    tab.send("Input.dispatchMouseEvent", type="mouseReleased", x=x1, y=y, button="left", clickCount=1)
    assert "mm/year" in tab.wait("document.querySelector('#rates .flag')?.parentNode.textContent", SECONDS)
    tab.ask("""(() => {
        const form = document.getElementById("interval");
        [form.elements.from.value, form.elements.to.value] = ["100", "500"];
        form.requestSubmit();
    })()""")
    said = tab.wait("document.querySelectorAll('#rates .flag')[1]?.parentNode.textContent", SECONDS)
    run = json.loads((server.folder / fitted / "run.json").read_text())
    asked = server.json(f"/api/run/rate?name={fitted}&from=100&to=500")
    assert asked["mean"] == pytest.approx(run["intervals"][0]["mean"], rel=1e-12)
    assert said.startswith(f"100 to 500: {asked['text']}")
    tab.ask("""(() => {
        const form = document.getElementById("interval");
        [form.elements.from.value, form.elements.to.value] = ["\u221250", "100"];
        form.requestSubmit();
    })()""")
    said = tab.wait("document.querySelectorAll('#rates .flag')[2]?.parentNode.textContent", SECONDS)
    assert said.startswith("\N{MINUS SIGN}50 to 100: ")
    assert said.endswith("--interval -50:100")
    marks = "document.querySelector('#figures .plot').layout.shapes.map(({ x0, x1 }) => `${x0}:${x1}`).join(' ')"
    tab.wait(f"{marks}.includes('-50:100')")


def test_zooming_into_one_figure_zooms_those_of_time(tab, server, fitted):
    tab.visit(f"{server.base}/run/{fitted}")
    tab.wait(DRAWN.format(place="/run"))
    zoom = "{'xaxis.range[0]': 700, 'xaxis.range[1]': 300}"
    tab.ask(f"Plotly.relayout(document.querySelector('#figures .plot'), {zoom}).then(() => 1)")
    followed = "[...document.querySelectorAll('.plot')].filter((one) => one.layout.xaxis.range.join() === '700,300')"
    tab.wait(f"{followed}.length === 4")  # curve, rate, dates, residuals


@pytest.mark.parametrize("format", ["png", "svg", "pdf"])
def test_a_figure_is_saved(tab, server, fitted, format):
    tab.visit(f"{server.base}/run/{fitted}", dark=True)
    tab.wait(DRAWN.format(place="/run"))
    click(tab, f"#figures .downloads button:nth-child({['png', 'svg', 'pdf'].index(format) + 1})")
    content = downloaded(tab, f"{fitted}-curve.{format}")
    assert content.startswith({"png": b"\x89PNG", "svg": b"<svg", "pdf": b"%PDF"}[format])


def test_the_report_opens_in_a_sandbox(tab, server, fitted):
    tab.visit(f"{server.base}/api/run/file?name={fitted}&file=report.html")
    tab.wait("document.documentElement?.dataset.drawn")
    assert tab.ask("window.origin") == "null"
    assert tab.ask(f"fetch('{server.base}/api/folder').then(() => 'read', () => 'refused')") == "refused"
    tab.errors.clear()  # it complains, as it should


@pytest.mark.parametrize(("width", "dark"), [(1600, False), (1200, True), (390, False), (390, True)])
def test_every_page_is_accessible_and_fits(tab, server, fitted, width, dark):
    drop(tab, server, "bad.csv", BAD)
    pages = {
        "/": "document.querySelectorAll('#runs tr').length",
        tab.ask("location.pathname"): READ,
        f"/run/{fitted}": DRAWN.format(place="/run"),
    }
    for path, ready in pages.items():
        tab.visit(f"{server.base}{path}", width=width, dark=dark)
        tab.wait(ready)
        assert sideways(tab) <= 0, path
        assert faults(tab) == [], path


def test_a_second_table_is_added_at_its_option(tab, server):
    drop(tab, server, "values.csv", "depth (cm),d18O,d18O_sd\n0,0.1,0.2\n10,0.3,0.2\n20,0.2,0.2\n")
    tab.wait("document.getElementById('problem-ages-file') !== null")
    tab.ask("""(() => {
        const files = new DataTransfer(), input = document.getElementById("problem-ages-file");
        files.items.add(new File(["depth,1,2,3\\n0,90,100,120\\n10,150,160,170\\n20,200,230,250\\n"], "members.csv"));
        input.files = files.files;
        input.dispatchEvent(new Event("change"));
    })()""")
    tab.wait("!document.getElementById('fit').disabled")
    assert tab.ask("document.getElementById('command').textContent") == "lamina fit values.csv --ages members.csv"


def test_a_refused_run_is_listed_and_leads_back_to_its_table(tab, server):
    job = server.begin(server.put("refused.csv", TABLE.encode()), at="1:2:x")
    server.wait(job)
    tab.visit(f"{server.base}/")
    listed = f"document.querySelector('#jobs a[href=\"/job/{job}\"]')"
    tab.wait(f"{listed}?.parentNode.textContent.includes('refused: nothing is written')")
    tab.ask(f"{listed}.click()")
    tab.wait("document.getElementById('said')?.textContent.includes('is not a number')")
    assert faults(tab) == []
    click(tab, "#back")
    tab.wait(READ)
    assert tab.ask("document.getElementById('command').textContent") == "lamina fit refused.csv --at 1:2:x"


def test_a_file_that_is_dropped_on_another_page_does_not_replace_it(tab, server):
    drop(tab, server, "good.csv", TABLE)
    place = tab.ask("location.pathname")
    assert tab.ask("""(() => {
        const event = new DragEvent("drop", { bubbles: true, cancelable: true, dataTransfer: new DataTransfer() });
        document.getElementById("grid").dispatchEvent(event);
        return event.defaultPrevented;
    })()""")
    assert "on the first page" in tab.ask("document.getElementById('message').textContent")
    assert tab.ask("location.pathname") == place


def test_it_can_be_used_by_keyboard(tab, server):
    drop(tab, server, "good.csv", TABLE)
    tab.ask("document.body.focus()")
    seen = []
    for _ in range(200):
        for kind in "keyDown", "keyUp":
            tab.send("Input.dispatchKeyEvent", type=kind, key="Tab", code="Tab", windowsVirtualKeyCode=9)
        seen.append(tab.ask("document.activeElement.id || document.activeElement.textContent.slice(0, 20)"))
        if seen[-1] == "fit":
            break
    assert seen[0] == "Skip to the content"
    assert {"grid", "copy", "fit"} <= set(seen)
