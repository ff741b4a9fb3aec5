"""What no memory holds is refused."""

from pathlib import Path

import pytest

import lamina
from lamina.support import memory


def test_there_is_a_limit_and_more_is_refused(monkeypatch):
    assert 1e8 < memory.memory_limit() < 1e15
    monkeypatch.setattr(memory, "memory_limit", lambda: 2e9)
    memory.check_memory("draws = 10", 1e9)
    with pytest.raises(lamina.MethodError, match=r"draws = 10 needs about 3\.0 GB .* may use 2\.0 GB\. Give a smaller"):
        memory.check_memory("draws = 10", 3e9)


def test_the_compiler_does_not_begin_without_memory(monkeypatch):
    memory.check_compiler()
    for limit in float("inf"), 1e15:
        monkeypatch.setattr(memory, "address_limit", lambda limit=limit: limit)
        memory.check_compiler()
    monkeypatch.setattr(memory, "address_limit", lambda: 1e8)
    if Path("/proc/self/statm").exists():
        with pytest.raises(MemoryError, match=r"compiling code needs 1\.1 GB of addresses"):
            memory.check_compiler()


RECORD = lamina.Record(t=range(5), t_sd=0.1, y=range(5), y_sd=0.1, depth=range(5))


@pytest.mark.parametrize(
    ("fit", "text"),
    [
        (lambda: lamina.fit(RECORD, draws=10**10), r"draws = 10,000,000,000 needs"),
        (lambda: lamina.fit(RECORD, chains=10**10), r"chains = 10,000,000,000 needs"),
        (lambda: lamina.age_depth(RECORD, steps=10**10), r"steps = 10,000,000,000 needs"),
    ],
    ids=["draws", "chains", "steps"],
)
def test_a_fit_that_no_memory_holds_does_not_begin(fit, text):
    with pytest.raises(lamina.MethodError, match=text):
        fit()
