"""The report in a real Chromium, from disk, with the network off."""

import fits
import pytest
from browser import chromium
from cores import age_model, core
from texts import EVIL

from lamina import report

FIGURES = 8


@pytest.fixture(scope="module")
def tab(tmp_path_factory):
    """One browser for all tests of this file."""
    with chromium(tmp_path_factory.mktemp("profile")) as opened:
        yield opened


@pytest.fixture(scope="module")
def evil_file(tmp_path_factory, evil_page):
    """The report full of markup, on disk."""
    path = tmp_path_factory.mktemp("evil") / "report.html"
    path.write_text(evil_page, encoding="utf-8")
    return path


@pytest.fixture(autouse=True)
def no_complaints(tab):
    """No test may leave an error or a warning in the console, or ask for anything but the file itself."""
    tab.errors.clear()
    tab.requests.clear()
    yield
    assert tab.errors == []
    assert [url for url in tab.requests if not url.startswith(("file:", "data:", "blob:"))] == []


def test_every_figure_is_drawn(tab, evil_file):
    tab.open(evil_file)
    assert tab.ask("document.documentElement.dataset.drawn") == str(FIGURES)
    sizes = tab.ask(
        """[...document.querySelectorAll(".plot")].map((one) => {
            const box = one.getBoundingClientRect();
            const drawn = one.querySelectorAll(".scatterlayer path, .barlayer path, .scatterlayer .point");
            return [box.width, box.height, drawn.length];
        })"""
    )
    assert len(sizes) == FIGURES
    for width, height, drawn in sizes:
        assert width > 200
        assert height > 150
        assert drawn > 0


def test_pointing_at_the_curve_shows_its_numbers(tab, evil_file):
    tab.open(evil_file)
    tab.move(*middle(tab, "figure-rate"))
    assert "95 %" in tab.wait(
        "[...document.querySelectorAll('#figure-rate .hovertext')].map((o) => o.textContent).join()"
    )


def middle(tab, name) -> tuple[float, float]:
    """Where the middle of a figure's mean line is on the screen, after scrolling to it."""
    x, y = tab.ask(
        f"""(() => {{
            const plot = document.getElementById("{name}");
            plot.scrollIntoView({{block: "center", behavior: "instant"}});
            const mean = plot.data.find((one) => one.name === "mean");
            const k = Math.floor(mean.x.length / 2);
            const box = plot.querySelector(".nsewdrag").getBoundingClientRect();
            const layout = plot._fullLayout;
            return [box.left + layout.xaxis.d2p(mean.x[k]), box.top + layout.yaxis.d2p(mean.y[k])];
        }})()"""
    )
    return x, y


def test_markup_in_a_label_shows_as_text_when_pointed_at(tab, evil_file):
    tab.open(evil_file)
    x, y = tab.ask(
        """(() => {
            const plot = document.getElementById("figure-inputs");
            plot.scrollIntoView({block: "center", behavior: "instant"});
            const points = plot.data.find((one) => one.hovertext && one.hovertext[0].includes("line 12"));
            const box = plot.querySelector(".nsewdrag").getBoundingClientRect();
            const layout = plot._fullLayout;
            return [box.left + layout.xaxis.d2p(points.x[0]), box.top + layout.yaxis.d2p(points.y[0])];
        })()"""
    )
    tab.move(x, y)
    shown = tab.wait("[...document.querySelectorAll('#figure-inputs .hovertext')].map((o) => o.textContent).join()")
    assert f"line 12, {EVIL}" in shown


def test_markup_shows_as_text_everywhere(tab, evil_file):
    tab.open(evil_file)
    assert tab.ask("document.title") == f"RSL {EVIL} from {EVIL}.csv"
    assert tab.ask("document.querySelector('h1').textContent") == f"RSL {EVIL} from {EVIL}.csv"
    assert f"Age {EVIL}" in tab.ask("document.querySelector('#figure-curve .xtitle').textContent")
    legend = tab.ask("document.querySelector('#figure-curve .legend').textContent")
    assert EVIL in legend
    assert "<i>b</i>" in legend
    assert EVIL in tab.ask("document.querySelector('#inputs ~ details').textContent")
    assert tab.ask("document.querySelectorAll('main script, main b, main i, svg script, svg b').length") == 0
    assert tab.ask("document.querySelectorAll('script').length") == 3


@pytest.mark.parametrize("width", [390, 768, 1600])
def test_nothing_sticks_out_of_the_window(tab, evil_file, width):
    tab.open(evil_file, width=width)
    assert tab.ask("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0
    widths = tab.ask(
        """[...document.querySelectorAll(".plot")].map((one) =>
            [one, one.querySelector(".main-svg")].map((part) => part.getBoundingClientRect().width))"""
    )
    assert all(drawn <= room + 1.0 for room, drawn in widths)


def test_a_table_that_is_too_wide_says_that_it_scrolls(tab, evil_file):
    tab.open(evil_file, width=390)
    state = """[...document.querySelectorAll(".scroll")].filter((one) => one.clientWidth > 0).map((one) =>
        [one.scrollWidth > one.clientWidth + 1, one.classList.contains("wide"), getComputedStyle(one).overflowX,
         getComputedStyle(one, "::before").content.includes("scroll sideways")])"""
    closed = tab.ask(state)
    assert any(wide for wide, *_ in closed)
    for wide, marked, overflow, said in closed:
        assert marked == said == wide
        assert overflow == "auto"
    tab.ask("document.querySelector('#inputs ~ details').open = true")
    tab.wait("document.querySelector('#inputs ~ details .scroll').classList.contains('wide')")
    assert tab.ask("document.querySelector('#inputs ~ details .scroll').tabIndex") == 0
    tab.open(evil_file, width=1600)
    roomy = tab.ask(state)
    assert not all(wide for wide, *_ in roomy)
    assert all(marked == said == wide for wide, marked, _, said in roomy)


def luminance(colour: str) -> float:
    """Relative luminance of "rgb(r, g, b)", from 0 (black) to 1 (white)."""
    parts = [float(part) / 255.0 for part in colour[colour.index("(") + 1 : -1].split(",")[:3]]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("dark", [False, True])
def test_text_stands_out_in_light_and_dark(tab, evil_file, dark):
    tab.open(evil_file, dark=dark)
    page = luminance(tab.ask("getComputedStyle(document.body).backgroundColor"))
    assert (page < 0.2) == dark
    for part in "body", "figcaption", "th", ".lead", "a":
        text = luminance(tab.ask(f"getComputedStyle(document.querySelector('{part}')).color"))
        assert (max(text, page) + 0.05) / (min(text, page) + 0.05) > 4.5
    label = luminance(tab.ask("getComputedStyle(document.querySelector('#figure-curve .xtitle')).fill"))
    assert (max(label, page) + 0.05) / (min(label, page) + 0.05) > 4.5


def test_figures_follow_when_the_system_turns_dark(tab, evil_file):
    tab.open(evil_file)
    colour = "getComputedStyle(document.querySelector('#figure-curve .xtitle')).fill"
    before = luminance(tab.ask(colour))
    tab.send("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
    tab.wait(f"{colour} !== 'rgb(28, 36, 48)'")
    assert luminance(tab.ask(colour)) > before + 0.4


def test_it_prints(tab, evil_file):
    tab.open(evil_file, dark=True)
    assert tab.print().startswith(b"%PDF")
    tab.wait("!document.documentElement.classList.contains('printing')")


@pytest.mark.parametrize("method", ["gp", "npv"])
def test_reports_of_other_methods_draw_as_well(tab, tmp_path, method):
    path = tmp_path / "report.html"
    report.write(path, fits.posterior(method))
    tab.open(path)
    drawn = tab.ask(
        """[...document.querySelectorAll(".plot")].map((one) =>
            one.querySelectorAll(".scatterlayer path, .barlayer path, .scatterlayer .point").length)"""
    )
    inputs, parameters = (0, 2) if method == "gp" else (1, 3)
    assert len(drawn) == 4 + inputs + parameters  # curve, rate, residuals and the check are always there
    assert min(drawn) > 0


def test_reports_that_share_plotly_draw_from_disk(tab, tmp_path):
    for name in "north", "south":
        (tmp_path / name).mkdir()
        report.write(tmp_path / name / "report.html", age_model(core()), plotly=f"../{report.PLOTLY}")
        assert (tmp_path / name / "report.html").stat().st_size < 500_000
    report.write_plotly(tmp_path)
    tab.open(tmp_path / "south" / "report.html")
    assert tab.ask("document.documentElement.dataset.drawn") == "3"
    assert tab.ask("document.querySelectorAll('#figure-age-depth .scatterlayer path').length") > 0


def test_an_age_depth_report_draws(tab, tmp_path):
    path = tmp_path / "report.html"
    report.write(path, age_model(core()))
    tab.open(path, width=390)
    assert tab.ask("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0
    assert EVIL in tab.ask("document.querySelector('#dates ~ .scroll').textContent")
    assert tab.ask("document.querySelectorAll('main script').length") == 0
