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
def understanding():
    """What was understood of a table with markup in it."""
    return SimpleNamespace(
        facts=[("input", f"the column {EVIL}", "its name"), ("order", "by depth", f"{EVIL}")],
        warnings=[f"look at {EVIL}"],
        lines=list(range(12, 22)),
    )


@pytest.fixture(scope="session")
def evil_page(evil, understanding):
    """The report of that fit."""
    return report.html(
        evil, understanding=understanding, intervals=[(0.0, 3.0), (3.0, 9.0)], at=[1.0, 2.0], seed=1,
        command=f"lamina fit {EVIL}.csv", table_name=f"{EVIL}.csv", version="0.0.0<test>",
    )  # fmt: skip
