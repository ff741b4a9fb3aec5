"""Numbers of radiocarbon laboratories, and what only looks like one."""

import pytest

from lamina.tables.matching.laboratories import laboratory_numbers

NUMBERS = "GrA-19478 Beta-123456 OS-60112 UB-201A Poz-3341 AA-12345 OxA-1234 SUERC-10234 UCIAMS-12345 ETH-45678.1.1"
OTHERS = "Wk12345 A-1 core-300 SC-4001 GC12 MD95-2042 S12 2810 surface OS-1 tephra IODP-1234 B-100"


@pytest.mark.parametrize("cell", [*NUMBERS.split(), "UCIAMS 12345", "Beta 12345", "Lu-1234"])
def test_numbers_of_laboratories(cell):
    assert laboratory_numbers([cell]) == [cell]


@pytest.mark.parametrize("cell", OTHERS.split())
def test_other_names(cell):
    assert laboratory_numbers([cell]) == []
