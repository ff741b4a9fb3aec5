"""The paper's experiment on synthetic functions: its set-up, and a small run of all that it compares."""

import numpy as np
import pytest

import lamina
from lamina import paper
from lamina.paper.claims import of_synthetic
from lamina.paper.figures import figure1
from lamina.paper.functions import FUNCTIONS, GRID, METHODS, averages, by_function, simulate
from lamina.paper.readings import CLAIMS, READINGS, readings


def test_the_functions_have_a_range_of_ten_but_one():
    """The paper says that all have; its fourth has not."""
    ranges = [np.ptp(function(GRID)) for function in FUNCTIONS.values()]
    assert ranges == pytest.approx([10.0, 10.2, 10.0, 5.6, 9.3], abs=0.06)


def test_records_are_those_of_the_paper():
    x, record = simulate("5 sin x", 0.5, 0.05, (0, 0))
    assert len(record) == 25
    assert x == pytest.approx(np.linspace(-10, 10, 25))
    many = [simulate("5 sin x", 0.5, 0.05, (0, k)) for k in range(200)]
    assert np.std([r.t - x for x, r in many]) == pytest.approx(0.5, rel=0.05)
    assert np.std([r.y - 5 * np.sin(x) for x, r in many]) == pytest.approx(0.05, rel=0.05)
    assert simulate("5 sin x", 0.5, 0.05, (0, 0))[1] == record
    assert simulate("5 sin x", 0.5, 0.05, (1, 0))[1] != record


@pytest.mark.parametrize("spacing", ["irregular", "clustered"])
def test_other_spacings_have_the_same_ends_and_other_gaps(spacing):
    every = [simulate("5 sin x", 0.5, 0.05, (0, k), spacing)[0] for k in range(50)]
    gap = np.diff(every, axis=1)
    assert np.ptp(every, axis=1) == pytest.approx(20.0)
    assert (gap > 0.0).all()
    relative = gap.std(axis=1) / gap.mean(axis=1)
    assert relative.mean() == pytest.approx({"irregular": 1.0, "clustered": 1.5}[spacing], abs=0.15)
    assert simulate("5 sin x", 0.5, 0.05, (0, 3), spacing)[1] == simulate("5 sin x", 0.5, 0.05, (0, 3), spacing)[1]


@pytest.fixture(scope="module")
def results():
    return paper.synthetic(functions=["5 sin x"], t_sd=[1.0], repetitions=1)


def test_every_method_is_scored_on_the_same_record(results):
    assert list(results["method"]) == list(METHODS) * 2
    assert results.groupby("y_sd")["baseline"].nunique().tolist() == [1, 1]
    assert (results[["rmse", "mae", "baseline", "span", "seconds"]] > 0).all(axis=None)
    assert results[["curve_cover", "input_cover"]].max(axis=None) <= 1.0
    same = results[results["method"].isin(["gp", "nigp"])]
    assert same["mae"].to_numpy() == pytest.approx(same["baseline"].to_numpy())


def test_knowing_the_order_helps(results):
    rmse = by_function(results).loc[(0.05, "5 sin x")]
    assert rmse["lamina"] < rmse["gp"]
    mae = averages(results)["mae"]
    assert mae[0.05, "lamina"] < averages(results)["baseline"][0.05, "lamina"]


def test_the_same_seed_gives_the_same_numbers(results):
    same = {"functions": ["5 sin x"], "t_sd": [1.0], "repetitions": 1}
    again = paper.synthetic(**same, y_sd=[1.0], methods=["npv", "lamina"], cores=1)
    for method, part in again.groupby("method"):
        before = results[(results["y_sd"] == 1.0) & (results["method"] == method)]
        assert part["rmse"].item() == before["rmse"].item()


def test_each_reading_of_npv_is_judged_on_its_own_numbers(results):
    found = readings(results)
    assert len(found) == len(READINGS) * len(CLAIMS)
    assert tuple(found.iloc[0][["covariance", "prior", "prediction"]]) == ("isotropic", "log-uniform", "plug-in")
    assert set(READINGS.values()) <= set(METHODS)
    for (covariance, prior, prediction), name in READINGS.items():
        options = METHODS[name]
        assert (options["covariance"], options["gaps"]) == (covariance, prior)
        assert options["prediction"] == prediction.replace("-", "")
    mean = averages(results)["rmse"]
    par = found[found["claim"] == "small σ_y: on par with mcmc"].set_index(["covariance", "prior", "prediction"])
    for reading, name in READINGS.items():
        assert par.loc[reading, "holds"] == (mean[0.05, name] <= 1.1 * mean[0.05, "mcmc"])
        assert par.loc[reading, "number"] == f"{mean[0.05, name]:.2f}"


def test_claims_and_figures_are_made_of_the_results(results):
    claims = of_synthetic(results)
    assert len(claims) >= 8
    shrinks = next(claim for claim in claims if "shrinks" in claim.claim)
    mean = averages(results)["rmse"]
    assert shrinks.holds == (mean[1.0, "npv"] / mean[1.0, "gp"] > mean[0.05, "npv"] / mean[0.05, "gp"])
    figure = figure1(results, 0.05)
    drawn = figure.axes[0].containers
    assert [one.get_label() for one in drawn] == ["gp", "nigp", "npv", "mcmc", "lamina (default)"]
    gp = results[(results["method"] == "gp") & (results["y_sd"] == 0.05)]["rmse"].item()
    assert drawn[0].lines[0].get_ydata() == pytest.approx([gp])


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"functions": ["6 sin x"]}, "there is no function '6 sin x' in this experiment; there are: 5 sin x; 1.147"),
        (
            {"spacings": ["even"]},
            "there is no spacing 'even' in this experiment; there are: equal; irregular; clustered",
        ),
        ({"methods": ["hmc"]}, "there is no method 'hmc' in this experiment; there are: npv; mcmc"),
        ({"repetitions": 0}, "repetitions must be a whole number of at least 1"),
    ],
)
def test_what_is_not_there_is_named(options, text):
    with pytest.raises(lamina.MethodError, match=text):
        paper.synthetic(**options)
