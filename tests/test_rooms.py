"""The layout of the package: each room imports only from rooms below it, and nothing is hidden in a function.

The source is parsed and never imported, so that this test is fast and sees imports that a run would not reach.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "lamina"

#: From bottom to top: a room imports from itself and from the rooms before it. The package itself comes last.
ROOMS = (
    *("errors", "support", "engine", "kernels", "dates", "records", "record", "gaps", "model", "dense", "markov"),
    *("field", "likelihood", "methods", "posterior", "functionals", "fitting", "validation", "datasets"),
    *("tables", "plots", "report", "output", "batches", "paper", "app", "cli", "__main__", "lamina"),
)
#: Packages that may be imported inside a function, because they are slow to import or optional.
HEAVY = {
    *("arviz", "distributed", "importlib.metadata", "jinja2", "joblib", "matplotlib", "nutpie", "openpyxl"),
    *("pandas", "plotly", "pyleoclim", "rich", "scipy", "h5py", "xarray"),
}
#: Inside functions of cli/ also these: ``lamina --version`` must not load the library.
HEAVY_FOR_CLI = {"lamina", "numpy"}
#: Modules that users import by name.
PUBLIC = (
    *("dates", "kernels", "plots", "report", "functionals", "paper", "gaps", "dense", "markov", "tables", "datasets"),
    *("posterior", "record", "errors", "fitting", "likelihood", "validation"),
)
MOST_IN_ROOT, MOST_IN_ROOM = 9, 14


class Import(NamedTuple):
    """One imported module: ``importer`` and ``imported`` are full names, such as "lamina.model.problem"."""

    importer: str
    imported: str
    inside_function: bool

    def __str__(self) -> str:
        return f"{self.importer} imports {self.imported}{' in a function' if self.inside_function else ''}"


def modules(source: Path) -> dict[str, Path]:
    """All modules of the package below ``source``, by full name."""
    found = {}
    for path in sorted(source.rglob("*.py")):
        parts = (source.name, *path.relative_to(source).with_suffix("").parts)
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports(source: Path) -> list[Import]:
    """Every import in the package that a run may execute, but not those for the type checker."""
    known = modules(source)
    found = []
    for name, path in known.items():
        package = name if path.name == "__init__.py" else name.rpartition(".")[0]
        for node, inside in _import_nodes(ast.parse(path.read_text(encoding="utf-8")), False):
            found += [Import(name, target, inside) for target in _targets(node, package, known)]
    return list(dict.fromkeys(found))


def _import_nodes(node: ast.AST, inside: bool) -> Iterator[tuple[ast.AST, bool]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import | ast.ImportFrom):
            yield child, inside
        elif isinstance(child, ast.If) and ast.unparse(child.test).endswith("TYPE_CHECKING"):
            for other in child.orelse:
                yield from _import_nodes(other, inside)
        else:
            within = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            yield from _import_nodes(child, inside or within)


def _targets(node: ast.AST, package: str, known: dict[str, Path]) -> list[str]:
    """The modules that a statement imports. ``from .model import problem`` is the module lamina.model.problem."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    assert isinstance(node, ast.ImportFrom)
    base = node.module or ""
    if node.level:
        parents = package.split(".")
        base = ".".join([*parents[: len(parents) - node.level + 1], *([base] if base else [])])
    return [f"{base}.{alias.name}" if f"{base}.{alias.name}" in known else base for alias in node.names]


def room(module: str) -> str:
    """The room of a module: the part of its name after "lamina"."""
    return [*module.split("."), "lamina"][1]


def upward(found: list[Import]) -> list[str]:
    """Imports from a room above."""
    unknown = {room(one.importer) for one in found} - set(ROOMS)
    assert not unknown, f"rooms without a place in the order: {sorted(unknown)}"
    return [
        str(one)
        for one in found
        if one.imported.split(".")[0] == "lamina" and ROOMS.index(room(one.imported)) > ROOMS.index(room(one.importer))
    ]


def hidden(found: list[Import]) -> list[str]:
    """Imports inside functions of packages that are neither heavy nor optional."""

    def excused(one: Import) -> bool:
        allowed = HEAVY | HEAVY_FOR_CLI if room(one.importer) == "cli" else HEAVY
        return any(one.imported == name or one.imported.startswith(f"{name}.") for name in allowed)

    return [str(one) for one in found if one.inside_function and not excused(one)]


def cycles(found: list[Import]) -> list[str]:
    """Groups of modules that import each other, directly or through others.

    Importing a.b.c also runs a.b, which counts unless the importer is itself in a.b.
    """
    edges: dict[str, set[str]] = {}
    for one in found:
        parts = one.imported.split(".")
        if parts[0] == "lamina":
            packages = {".".join(parts[:k]) for k in range(2, len(parts))}
            outside = {package for package in packages if not f"{one.importer}.".startswith(f"{package}.")}
            edges.setdefault(one.importer, set()).update({one.imported} | outside)
    reached = {start: _reached(start, edges) for start in edges}
    groups = {frozenset({a} | {b for b in reached[a] if a in reached.get(b, ())}) for a in edges if a in reached[a]}
    return sorted(" and ".join(sorted(group)) for group in groups)


def _reached(start: str, edges: dict[str, set[str]]) -> set[str]:
    seen: set[str] = set()
    ahead = list(edges[start])
    while ahead:
        here = ahead.pop()
        if here not in seen:
            seen.add(here)
            ahead += edges.get(here, ())
    return seen


def crowded(source: Path) -> list[str]:
    """Folders with too many modules."""
    folders = [source, *(path for path in source.rglob("*") if path.is_dir())]
    counts = {folder: len(list(folder.glob("*.py"))) for folder in folders}
    return [
        f"{folder.relative_to(source.parent)} has {count} modules"
        for folder, count in counts.items()
        if count > (MOST_IN_ROOT if folder == source else MOST_IN_ROOM)
    ]


@pytest.fixture(scope="module")
def found() -> list[Import]:
    return imports(SOURCE)


@pytest.mark.parametrize("check", [upward, hidden, cycles])
def test_rooms_import_downwards_and_openly(found, check):
    assert not check(found)


def test_modules_are_imported_by_name_only_in_the_front_door_and_where_the_command_line_looks_for_options():
    dynamic = {name for name, path in modules(SOURCE).items() if "import_module(" in path.read_text()}
    assert dynamic == {"lamina", "lamina.tables"}


def test_contributing_lists_the_rooms_in_their_order():
    """A name at the beginning of a line, or two that share one."""
    text = (SOURCE.parents[1] / "CONTRIBUTING.md").read_text(encoding="utf-8")
    lines = text.split("```text\n")[1].split("```")[0].splitlines()
    listed = [name.strip("/") for line in lines for name in re.split(r"  +", line)[0].split()]
    assert tuple(listed) == ROOMS[: ROOMS.index("__main__")]


def test_no_folder_is_crowded():
    assert not crowded(SOURCE)


def test_modules_that_users_import_exist():
    assert not {f"lamina.{name}" for name in PUBLIC} - set(modules(SOURCE))


@pytest.mark.parametrize(
    ("check", "path", "text", "violation"),
    [
        (upward, "errors.py", "from .model import problem", "lamina.errors imports lamina.model.problem"),
        (upward, "errors.py", "from . import fit", "lamina.errors imports lamina"),
        (hidden, "model/problem.py", "def f():\n    import json", "lamina.model.problem imports json in a function"),
        (hidden, "cli/run.py", "def f():\n    import pandas, numpy, lamina.errors", None),
        (upward, "errors.py", "if TYPE_CHECKING:\n    from .model import problem", None),
        (cycles, "errors.py", "def f():\n    from .model.problem import x", "lamina.errors and lamina.model.problem"),
        (cycles, "model/problem.py", "from . import x", None),
        (cycles, "model/__init__.py", "from .problem import E", None),
        (cycles, "errors.py", "if TYPE_CHECKING:\n    from .model.problem import x", None),
    ],
)
def test_a_planted_violation_is_found(tmp_path, check, path, text, violation):
    package = tmp_path / "lamina"
    planted = {"__init__.py": "", "errors.py": "", "model/__init__.py": "", "cli/__init__.py": ""}
    planted |= {"model/problem.py": "from ..errors import E"}
    for name, content in (planted | {path: text}).items():
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).write_text(content)
    assert check(imports(package)) == ([violation] if violation else [])
