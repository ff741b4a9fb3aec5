"""Helper processes answer, whatever their tasks return."""

import asyncio
import os

import fits
import numpy as np
import pytest

import lamina
from lamina.app import helper
from lamina.app.helpers import answers
from lamina.cli.arguments import intervals
from lamina.posterior.intervals import interval_rates
from lamina.report.fields.answers import rate_draws

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


def field(**more):
    """Three sites and ages before present, fitted for a moment."""
    t = np.tile(np.linspace(50.0, 1050.0, 6), 3)
    names = np.repeat(["Cape", "Harbor", "Isl\x1band"], 6)
    places = {"site": names, "latitude": [35.0, 38.0, 39.0], "longitude": [-76.0, -74.0, -70.0]}
    record = lamina.Record(t, 20.0, -0.001 * t + 0.05 * np.sin(t / 200.0), 0.05, t_unit="yr BP", y_unit="m", **places)
    return fits.quietly(record, draws=40, warmup=60, max_sweeps=20, chains=2, seed=1, **more)


def test_the_rate_of_an_interval_of_a_field_is_that_of_each_site_and_of_what_they_share(tmp_path, monkeypatch):
    posterior = field()
    monkeypatch.setattr(answers, "_posterior", lambda folder: posterior)
    found = answers.rate(str(tmp_path), 800.0, 200.0)
    command = interval_rates(posterior, [(200.0, 800.0)], rate_draws(posterior.record), 0, scale=-1.0)
    assert [one["mean"] for one in found["sites"]] == command["mean"].tolist()
    assert [one["site"] for one in found["sites"]] == ["Cape", "Harbor", "Isl\\x1band"]
    assert all("mm/year" in one["text"] for one in (*found["sites"], *found["common"]))
    # The mean of joint draws is, within their error, the change of the mean of the common curve.
    mean = posterior.common([200.0, 800.0])["mean"]
    (common,) = found["common"]
    assert common["mean"] == pytest.approx((mean[0] - mean[1]) / 600.0, abs=3e-4)
    assert found["forward"] is True


def test_a_field_without_a_common_curve_has_rates_of_sites_only(tmp_path, monkeypatch):
    posterior = field(kernel=lamina.Matern32() * lamina.Nearby())
    monkeypatch.setattr(answers, "_posterior", lambda folder: posterior)
    found = answers.rate(str(tmp_path), 200.0, 800.0)
    assert (len(found["sites"]), found["common"]) == (3, [])
