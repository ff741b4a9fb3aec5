"""Every example and every command in the README and the documentation runs, and the site builds.

Commands that take minutes (``lamina paper ...``) are parsed by the real command line but do not run: the test checks
their names, options and values, not their results.
"""

from __future__ import annotations

import importlib
import importlib.util
import re
import shlex
import shutil
import subprocess
import sys
import types
from functools import wraps
from html.parser import HTMLParser
from pathlib import Path

import pytest
from typer.testing import CliRunner

import lamina
from lamina.cli import paper
from lamina.cli.root import app
from lamina.methods.registry import METHODS

ROOT = Path(__file__).parents[2]
GALLERY = ROOT / "docs" / "gallery"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md")), GALLERY / "index.md"]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", flags=re.DOTALL | re.MULTILINE)
#: Options of every Typer command line, which need no documentation.
COMMON = {"--help", "--install-completion", "--show-completion"}


def blocks(page, language):
    return [code for found, code in BLOCK.findall(page.read_text()) if found == language]


#: Examples that have their own compiled code, which takes long, are long tests.
COMPILED_APART = re.compile("offsets=|Matern12|Matern52|linear|Linear|covariance=|read_ensemble|places=True")


def examples():
    for page in PAGES:
        for number, code in enumerate(blocks(page, "python")):
            marks = [pytest.mark.slow] if COMPILED_APART.search(code) else []
            yield pytest.param(code, id=f"{page.name}-{number}", marks=marks)


def lines(page):
    """The lines of all shell blocks of a page, without comments."""
    for block in blocks(page, "sh"):
        yield from filter(None, (line.partition("  #")[0].strip() for line in block.splitlines()))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A temporary working folder with the example tables."""
    for table in (ROOT / "docs" / "examples").glob("*.csv"):
        shutil.copy(table, tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def paper_left_out(monkeypatch):
    """``lamina paper`` parses its arguments and stops."""

    def stand_in(callback):
        return wraps(callback)(lambda **given: None)

    for info in paper.app.registered_commands:
        monkeypatch.setattr(info, "callback", stand_in(info.callback))


def run(line, monkeypatch):
    arguments = shlex.split(line)[1:]
    monkeypatch.setattr(sys, "argv", ["lamina", *arguments])
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, f"{line}\n{done.output}"
    return done.output


def test_there_are_examples():
    assert len(list(examples())) >= 8
    assert sum(line.startswith("lamina ") for page in PAGES for line in lines(page)) >= 8


@pytest.fixture
def methods_restored():
    """An example may register a method of its own."""
    known = dict(METHODS)
    yield
    METHODS.clear()
    METHODS.update(known)


@pytest.mark.parametrize("code", list(examples()))
def test_example_runs(code, folder, capsys, methods_restored, monkeypatch):
    module = types.ModuleType("example")  # dataclasses look up the module of their class
    monkeypatch.setitem(sys.modules, "example", module)
    exec(compile(code, "example", "exec"), vars(module))


@pytest.mark.slow
@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, "sh")], ids=lambda page: page.name)
def test_commands_run(page, folder, monkeypatch, paper_left_out):
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE)
    for line in lines(page):
        program, first, *_ = [*shlex.split(line), ""]
        if program == "lamina":
            run(line, monkeypatch)
        elif program == "make":
            assert first in targets, line
        elif program == "python":
            assert (ROOT / first).is_file(), line
        else:
            assert line.startswith("pip install "), f"{page.name}: nothing tests {line!r}"


def test_the_page_shows_the_output_of_check(folder, monkeypatch):
    text = (ROOT / "docs" / "quickstart.md").read_text()
    line, shown = re.search(r"```sh\n(lamina check .*?)\n```\n\n```text\n(.*?)```", text, flags=re.DOTALL).groups()
    assert run(line, monkeypatch) == shown


def test_the_page_shows_the_table():
    text = (ROOT / "docs" / "quickstart.md").read_text()
    shown = re.search(r"```text\n(Depth.*?)```", text, flags=re.DOTALL)[1]
    assert shown in (ROOT / "docs" / "examples" / "core.csv").read_text()


def test_links_between_pages_exist():
    for page in [*PAGES, *GALLERY.glob("*.md")]:
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", BLOCK.sub("", page.read_text())):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_links_of_the_readme_to_parts_of_the_theory_have_headings():
    headings = re.findall(r"^#+ (.+)$", (ROOT / "docs" / "theory.md").read_text(), flags=re.MULTILINE)
    anchors = {re.sub(r"[^a-z0-9 -]", "", one.lower()).replace(" ", "-") for one in headings}
    linked = re.findall(r"docs/theory\.md#([a-z0-9-]+)", (ROOT / "README.md").read_text())
    assert "the-tent-move" in linked
    assert set(linked) <= anchors


# --- the site -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The site, built in strict mode: a warning is an error. (With --quiet, MkDocs does not count warnings.)"""
    pytest.importorskip("mkdocs")
    target = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(target)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return target


class Page(HTMLParser):
    """The resources that a page loads, its anchors and its text."""

    def __init__(self, path):
        super().__init__()
        self.loads, self.anchors, self.text = [], set(), ""
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.anchors.add(given.get("id"))
        if tag in ("script", "img", "iframe", "source", "video") and given.get("src"):
            self.loads.append(given["src"])
        if tag == "link" and given.get("rel") not in ("canonical", "next", "prev"):
            self.loads.append(given["href"])

    def handle_data(self, data):
        self.text += data


def test_pages_load_nothing_from_the_network(site):
    pages = list(site.rglob("*.html"))
    assert len(pages) > 10
    for path in pages:
        assert not [address for address in Page(path).loads if re.match(r"(https?:)?//", address)], path
    for path in site.rglob("*.css"):
        assert not re.findall(r"(?:@import|url\()\s*[\"']?(?:https?:)?//", path.read_text(encoding="utf-8")), path


def test_every_formula_is_shown_and_numbered(site):
    source = BLOCK.sub("", (ROOT / "docs" / "theory.md").read_text())
    numbers = re.findall(r"\\tag\{(\d+)\}", source)
    shown = Page(site / "theory.html")
    assert len(numbers) > 40
    assert {f"eq-{number}" for number in numbers} <= shown.anchors
    assert not re.findall(r"\$|\\[a-z]+|FORMULA", shown.text.partition("Notation")[2])


def test_every_public_name_is_documented(site):
    anchors = Page(site / "api.html").anchors
    assert {f"lamina.{name}" for name in lamina.__all__} <= anchors


def commands():
    """The words of every command, such as "fit" and "paper all"."""
    found = [info.name or info.callback.__name__ for info in app.registered_commands]
    for group in app.registered_groups:
        members = group.typer_instance.registered_commands
        found += [f"{group.name} {info.name or info.callback.__name__}" for info in members]
    return found


def test_every_command_has_a_section_and_a_row():
    text = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    firsts = list(dict.fromkeys(words.split()[0] for words in commands()))
    assert sorted(re.findall(r"^\| \[`lamina (\w+)`\]", text, re.MULTILINE)) == sorted(firsts)
    assert sorted(re.findall(r"^## lamina (\w+)$", text, re.MULTILINE)) == sorted(firsts)
    counted = ["six", "seven", "eight", "nine", "ten"][len(firsts) - 6]
    assert f"\nlamina has {counted} commands. " in text


def options_in(section):
    """The options in the first column of the tables of a section."""
    cells = re.findall(r"<td>(<code>--.*?)</td>", section)
    return {option for cell in cells for option in re.findall(r"--[a-z][a-z-]+", cell)}


@pytest.mark.parametrize("words", commands())
def test_every_option_that_help_shows_is_on_the_page(site, words, monkeypatch):
    monkeypatch.setenv("COLUMNS", "300")
    said = CliRunner().invoke(app, [*words.split(), "--help"], color=False).output
    expected = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", said)) - COMMON
    page = (site / "commands.html").read_text(encoding="utf-8")
    anchor = f"lamina-{words.replace(' ', '-')}"
    section = re.search(rf'id="{anchor}".*?(?=<h[23] id="lamina|<h2 id="exit|$)', page, re.DOTALL)[0]
    found = options_in(section)
    pointer = re.search(r"<td>How to read the table: the options of <a[^>]*>.*?</a>(.*?)</td>", section)
    if pointer:  # the options of check, except those that it names
        check = re.search(r'id="lamina-check".*?(?=<h2)', page, re.DOTALL)[0]
        found |= options_in(check)
        found -= set(re.findall(r"--[a-z][a-z-]+", pointer[1]))
    assert expected == found


def load_hook(name):
    pytest.importorskip("mkdocs")
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / "hooks" / f"{name}.py")
    hook = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(hook)
    return hook


@pytest.mark.parametrize("name", ["commands.md", "api.md"])
def test_reference_pages_are_up_to_date(name):
    hook = load_hook("reference")
    page = next(page for page in hook.PAGES if page.name == name)
    text = page.read_text(encoding="utf-8")
    assert hook.regenerate(text) == text, f"docs/{name} is out of date: run python docs/hooks/reference.py"


def test_every_command_has_generated_options():
    text = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    assert sorted(re.findall(r"<!-- options: (.*?) -->", text)) == sorted(commands())
    assert text.count("<!-- end -->") == len(commands())
    assert "| `--by` |" in text
    assert "| `--t-sigma` |" in text


def test_the_python_reference_can_be_read_as_a_file():
    text = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    anchors = set(re.findall(r'<a id="([\w.]+)">', text))
    assert {f"lamina.{name}" for name in lamina.__all__} <= anchors
    assert "lamina.Posterior.curve" in anchors
    # Signatures, with the types as people write them
    assert "t: ArrayLike | None," in text
    assert "_typing" not in text


def test_modules_named_in_the_documentation_exist():
    names = {
        name for page in PAGES for name in re.findall(r"`(lamina(?:\.[a-z_]\w*)+)", BLOCK.sub("", page.read_text()))
    }
    assert len(names) > 15
    for name in sorted(names):
        found = lamina
        for part in name.split(".")[1:]:
            if not hasattr(found, part):
                importlib.import_module(f"{found.__name__}.{part}")
            found = getattr(found, part)


def test_code_and_prices_are_not_formulas():
    pytest.importorskip("latex2mathml")
    hook = load_hook("mathml")
    text = "```sh\necho $HOME $PATH\n```\nIt is `$x$` or ``a `$y$` b``, from 5$ to 10$.\n"
    assert hook.on_page_markdown(text, page=None) == text
    assert hook.on_page_markdown("so $x_1$ is", page=None) == "so FORMULAx0x is"
    assert "<msub>" in hook.on_page_content("<p>so FORMULAx0x is</p>", page=None)
