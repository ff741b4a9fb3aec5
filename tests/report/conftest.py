"""A record whose every text tries to break out of the page, and its fit."""

from types import SimpleNamespace

import fits
import pytest
from texts import EVIL

from lamina import report


@pytest.fixture(scope="session")
def evil():
    """A fit whose labels, names and units hold markup."""
    record = fits.record(
        label=[EVIL, "</script><b>bold</b>", "%{x}", "&lt;", *(f"Beta-{k}" for k in range(4, 10))],
        sequence=[EVIL] * 5 + ["<i>b</i>"] * 5,
        t_name=f"Age {EVIL}",
        t_unit="cal a BP",
        y_name=f"RSL {EVIL}",
        y_unit=EVIL,
    )
    return fits.quietly(record, "mcmc", seed=1, **fits.OPTIONS["mcmc"])


@pytest.fixture(scope="session")
def reading(evil):
    """How a table with markup in it was read."""
    return SimpleNamespace(
        record=evil.record,
        facts=[("input", f"the column {EVIL}", "its name"), ("order", "by depth", f"{EVIL}")],
        warnings=[f"look at {EVIL}"],
        lines=list(range(12, 22)),
    )


@pytest.fixture(scope="session")
def evil_run(reading):
    """How that fit was made."""
    return report.Run(f"lamina fit {EVIL}.csv", 1, f"{EVIL}.csv", reading, version="0.0.0<test>")


@pytest.fixture(scope="session")
def evil_page(evil, evil_run):
    """The report of that fit."""
    return report.html(evil, intervals=[(0.0, 3.0), (3.0, 9.0)], at=[1.0, 2.0], run=evil_run)
