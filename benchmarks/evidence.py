"""Runs every benchmark, writes every table and figure of the documentation: ``make evidence``.

python benchmarks/evidence.py [--list] [--only NAME ...] [--all] [--against PATH] [--python TOOL=PATH ...]

Parts that are up to date are skipped, so that a run that broke off goes on where it was; ``--all`` runs them again. A
part is up to date if its sections carry the digest of its script and nothing in src/ has changed since their commit.
Let nothing else run on the machine meanwhile. A fit of a million rows, which takes most of an hour, runs only if it is
named: ``--only mixing-longest``.
"""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

from report import digest, read_stamps

ROOT = Path(__file__).resolve().parents[1]
PAGE = "docs/benchmarks.md"


class Part(NamedTuple):
    """Some sections of a page and the commands that write them."""

    name: str
    commands: tuple[str, ...]  #: {against} stands for a checkout of an older lamina
    sections: tuple[str, ...]
    page: str = PAGE
    files: str = ""  #: a folder that the commands write, where the sections have no stamps
    named: bool = False  #: whether it runs only if it is named


def _own(name: str, script: str, *sections: str, options: str = "") -> Part:
    command = f"python benchmarks/{script} {options} --markdown {PAGE}"
    return Part(name, (" ".join(command.split()),), sections or (name,))


PARTS = (
    _own("engine", "engine.py"),
    _own("first-start", "first_start.py"),
    _own("fits", "fits.py"),
    _own("mixing", "mixing.py", options="--against {against}"),
    _own("mixing-growth", "mixing.py", options="--growth --cpus 2"),
    _own("mixing-longest", "mixing.py", options="--growth --cpus 2 --records '1,000,000 rows'")._replace(named=True),
    _own("many", "many.py", "batch", "long", "growth", "report"),
    _own("app", "app.py"),
    _own("fields", "fields.py"),
    _own("calibration", "calibration.py"),
    _own("field-calibration", "field_calibration.py"),
    _own("variants", "variants.py"),
    _own("variants-nuts", "variants.py", options="--nuts --repetitions 1"),
    _own("held-out", "held_out.py"),
    _own("agedepth", "agedepth.py"),
    _own("thickness", "thickness.py"),
    _own("peers", "peers.py", "peers", "peer-fields"),
    Part("comparison", ("python benchmarks/comparison_page.py",), ("measured",), "docs/comparison.md", "docs/peers"),
    Part("atlantic", ("python benchmarks/atlantic.py --markdown docs/fields.md",), ("atlantic",), "docs/fields.md"),
    Part(
        "npv-covariance",
        ("python benchmarks/npv_covariance.py --repetitions 8 --markdown docs/methods.md",),
        ("npv-covariance",),
        "docs/methods.md",
    ),
    Part(
        "paper",
        ("lamina paper all --out docs/paper --seed 0", "python benchmarks/paper_page.py"),
        ("readings", "claims", "averages", "by-function", "spacing", "training", "steps", "pairs", "interval"),
        "docs/paper.md",
        "docs/paper",
    ),
)


def up_to_date(part: Part) -> bool:
    """Whether the sections of a part come from its script and from the code as they are now."""
    if part.files:
        return not _changed_since(_git("log", "-1", "--format=%h", "--", part.files).stdout.strip())
    stamps = read_stamps(ROOT / part.page)
    for name in part.sections:
        stamp = stamps.get(name)
        if stamp is None or stamp.digest != digest(ROOT / stamp.script) or _changed_since(stamp.commit):
            return False
    return True


def _changed_since(commit: str) -> bool:
    return _git("diff", "--quiet", commit, "--", "src").returncode != 0


def _git(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, text=True)


def run(part: Part, against: str | None, python: list[str]) -> bool:
    """Run the commands of a part; whether all went well."""
    beside = os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"}
    for command in part.commands:
        if "{against}" in command and against is None:
            print(f"{part.name}: needs --against PATH, a checkout of the lamina to compare with", flush=True)
            return False
        words = shlex.split(command.format(against=shlex.quote(against or "")))
        words += ["--python", *python] if python and part.name == "peers" else []
        print(f"{part.name}: {shlex.join(words)}", flush=True)
        began = time.monotonic()
        code = subprocess.run(words, cwd=ROOT, env=beside).returncode
        print(f"{part.name}: {(time.monotonic() - began) / 60.0:.1f} min, exit {code}", flush=True)
        if code:
            return False
    return True


def main() -> None:
    names = [part.name for part in PARTS]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true", help="show which parts are up to date, and run nothing")
    parser.add_argument("--only", nargs="+", choices=names, metavar="NAME", help=", ".join(names))
    parser.add_argument("--all", action="store_true", help="also run what is up to date")
    parser.add_argument("--against", metavar="PATH", help="a checkout of the lamina to compare the sampler with")
    parser.add_argument("--python", nargs="+", default=[], metavar="TOOL=PATH", help="interpreters, for the part peers")
    options = parser.parse_args()
    chosen = [part for part in PARTS if (part.name in options.only if options.only else not part.named)]
    if options.list:
        for part in chosen:
            print(f"{part.name:16s}{'up to date' if up_to_date(part) else 'to run'}")
        return
    waiting = [part for part in chosen if options.all or not up_to_date(part)]
    failed = [part.name for part in waiting if not run(part, options.against, options.python)]
    if failed:
        raise SystemExit(f"not written: {', '.join(failed)}")


if __name__ == "__main__":
    main()
