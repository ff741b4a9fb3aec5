"""Helper processes answer, whatever their tasks return."""

import asyncio
import os

import fits
import pytest

from lamina.app import helper
from lamina.app.helpers import answers
from lamina.cli.arguments import intervals

MODULE = """
from lamina.app.helpers.lines import answer_lines
answer_lines({"nan": lambda: float("nan"), "long": lambda: "x" * 100_000, "ready": lambda: True})
"""


def test_an_answer_that_cannot_be_sent_is_a_message(tmp_path, monkeypatch):
    (tmp_path / "odd_helper.py").write_text(MODULE)
    paths = [str(tmp_path), os.environ.get("PYTHONPATH", "")]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, paths)))
    monkeypatch.setattr(helper, "MOST_ANSWER_BYTES", 1000)

    async def steps():
        asked = helper.Helper("odd_helper", 60.0, tmp_path)
        with pytest.raises(helper.HelperError, match=r"lamina cannot answer this \(ValueError"):
            await asked.ask("nan")
        before = asked.process
        assert await asked.ask("ready") is True
        assert asked.process is before  # it has not crashed
        with pytest.raises(helper.HelperError, match="The answer has more than"):
            await asked.ask("long")
        assert await asked.ask("ready") is True
        await asked.close()

    asyncio.run(steps())


def test_an_interval_before_zero_is_one_that_the_command_takes(tmp_path, monkeypatch):
    monkeypatch.setattr(answers, "_posterior", lambda folder: fits.posterior("gp"))
    found = answers.rate(str(tmp_path), 100.0, -50.5)
    assert (found["first"], found["last"]) == (-50.5, 100.0)
    assert intervals([found["interval"]]) == [(-50.5, 100.0)]
    assert found["span"] == "\N{MINUS SIGN}50.5 to 100"
