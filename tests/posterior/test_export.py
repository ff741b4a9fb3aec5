"""Posterior ages as a table for other programs, and the curve for Pyleoclim."""

import sys
from types import SimpleNamespace

import fits
import numpy as np
import pandas as pd
import pytest

import lamina
from lamina.posterior import export as ensemble

DEPTH = np.linspace(5.0, 50.0, len(fits.TRUE))


def test_the_table_is_depth_by_members_and_holds_the_draws(tmp_path):
    posterior, path = fits.posterior("mcmc"), tmp_path / "ensemble.csv"
    posterior.write_ensemble(path, n=50, seed=3)
    table = pd.read_csv(path)
    assert list(table.columns) == ["row", *map(str, range(1, 51))]
    assert table["row"].tolist() == list(range(len(fits.TRUE)))
    members = table.iloc[:, 1:].to_numpy().T
    assert (np.diff(members, axis=1) > 0).all()  # each member keeps the order
    tau = posterior.tau
    for member in members:  # and is one draw, whole
        assert np.abs(tau - member).max(axis=1).min() < 1e-6
    assert len(np.unique(members, axis=0)) == 50
    posterior.write_ensemble(tmp_path / "again.csv", n=50, seed=3)
    assert (tmp_path / "again.csv").read_bytes() == path.read_bytes()


def test_members_have_the_moments_of_the_inputs():
    posterior = fits.posterior("npv")  # draws with weights of their own
    table, inputs = ensemble.ages(posterior, n=5000), posterior.inputs()
    members = table.iloc[:, 1:].to_numpy()
    assert np.abs((members.mean(axis=1) - inputs["mean"]) / inputs["sd"]).max() * np.sqrt(5000) < 6.0
    np.testing.assert_allclose(members.std(axis=1), inputs["sd"], rtol=0.1)


def test_rows_are_named_by_depth_where_the_record_has_depths():
    posterior = fits.quietly(fits.record(depth=DEPTH), seed=1, **fits.OPTIONS["mcmc"])
    table = ensemble.ages(posterior, n=3)
    assert list(table.columns) == ["depth", "1", "2", "3"]
    np.testing.assert_array_equal(table["depth"], DEPTH)


def test_one_core_of_several():
    record = fits.record(sequence=["a", "b"] * 5, depth=DEPTH)
    posterior = fits.quietly(record, seed=1, **fits.OPTIONS["mcmc"])
    everything, one = ensemble.ages(posterior, n=20, seed=1), ensemble.ages(posterior, n=20, seed=1, sequence="b")
    assert everything.columns[0] == "row"  # depths of two cores would be mixed up
    np.testing.assert_array_equal(one["depth"], DEPTH[1::2])
    np.testing.assert_array_equal(one.iloc[:, 1:], everything.iloc[1::2, 1:])
    with pytest.raises(lamina.MethodError, match="there is no sequence 'c'; there are: 'a', 'b'"):
        ensemble.ages(posterior, sequence="c")


def test_ages_are_in_the_scale_of_the_record_and_exact_rows_are_exact():
    exact = np.where(np.arange(10) == 4, 0.0, 0.3)
    record = lamina.Record(t=fits.TRUE[::-1], t_sd=exact, y=fits.truth(fits.TRUE[::-1]), y_sd=0.1, order="decreasing")
    posterior = fits.quietly(record, seed=1, **fits.OPTIONS["mcmc"])
    table = ensemble.ages(posterior, n=30)
    members = table.iloc[:, 1:].to_numpy()
    assert (np.diff(members, axis=0) < 0).all()
    assert (members[4] == record.t[4]).all()


@pytest.mark.parametrize("method", ["gp", "nigp"])
def test_inputs_that_were_not_inferred_have_no_ensemble(method, tmp_path):
    with pytest.raises(lamina.MethodError, match=f'method="{method}" takes the inputs as measured'):
        fits.posterior(method).write_ensemble(tmp_path / "ensemble.csv")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("n", [0, 2.5])
def test_a_number_of_members_that_is_none(n):
    with pytest.raises(lamina.MethodError, match="n must be"):
        ensemble.ages(fits.posterior("mcmc"), n=n)


def test_pyleoclim_gets_draws_of_the_curve(monkeypatch):
    stub = SimpleNamespace(Series=lambda **given: given, EnsembleSeries=lambda members: {"series_list": members})
    monkeypatch.setitem(sys.modules, "pyleoclim", stub)
    record = fits.record(t_name="Age", t_unit="yr BP", y_name="RSL", y_unit="m")
    posterior = lamina.fit(record, "gp")
    at = [1.0, 4.0, 7.0]
    members = posterior.to_pyleoclim(at, n=7, seed=2)["series_list"]
    assert len(members) == 7
    np.testing.assert_array_equal([one["value"] for one in members], posterior.sample_curves(at, n=7, seed=2))
    words = {name: value for name, value in members[0].items() if name not in ("time", "value")}
    assert words == {
        "time_name": "Age", "time_unit": "yr BP", "value_name": "RSL", "value_unit": "m", "verbose": False,
    }  # fmt: skip
    assert len(posterior.to_pyleoclim()["series_list"][0]["time"]) > 100


def test_without_pyleoclim_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyleoclim", None)
    with pytest.raises(lamina.MissingExtraError, match="pip install pyleoclim"):
        fits.posterior("gp").to_pyleoclim()
