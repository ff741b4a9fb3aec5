"""What no memory holds is refused."""

import pytest

import lamina
from lamina.support import memory


def test_there_is_a_limit_and_more_is_refused(monkeypatch):
    assert 1e8 < memory.memory_limit() < 1e15
    monkeypatch.setattr(memory, "memory_limit", lambda: 2e9)
    memory.check_memory("draws = 10", 1e9)
    with pytest.raises(lamina.MethodError, match=r"draws = 10 needs about 3\.0 GB .* may use 2\.0 GB\. Give a smaller"):
        memory.check_memory("draws = 10", 3e9)


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
