"""Figures for papers: what is drawn is what the posterior says."""

import io
import json
import subprocess
import sys
from itertools import combinations, pairwise

import fits
import matplotlib
import numpy as np
import pytest
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure

import lamina
from lamina import plots
from lamina.methods.draws import Draws, evenly
from lamina.model.model import Model
from lamina.model.problem import build_problem
from lamina.plots.canvas import place_labels
from lamina.posterior.boxes import boxes, groups, input_shifts, thinning, time_range
from lamina.posterior.posterior import Posterior
from lamina.posterior.times import data_range, default_times
from lamina.report import figures
from lamina.report.content import compute

FUNCTIONS = (plots.curve, plots.rate, plots.inputs, plots.residuals)
AT = np.linspace(0.0, 9.0, 31)


@pytest.fixture
def ax():
    """New axes that belong to no window."""
    return Figure().subplots()


def drawn(figure) -> bytes:
    """The figure as it is saved; warnings are errors."""
    stream = io.BytesIO()
    figure.savefig(stream, format="png", dpi=50)
    return stream.getvalue()


def with_texts(**texts) -> Posterior:
    """A fit of a record with these names and units."""
    return lamina.fit(fits.record(**texts), "gp", seed=1)


def band(ax, label) -> np.ndarray:
    """The corners of a band, (points, 2)."""
    (found,) = [one for one in ax.collections if one.get_label() == label]
    return found.get_paths()[0].vertices


def test_the_drawn_curve_and_bands_are_those_of_the_posterior(ax):
    posterior = fits.posterior("mcmc")
    plots.curve(posterior, ax, at=AT)
    table = posterior.curve(AT)
    (mean,) = [line for line in ax.lines if line.get_label() == "mean"]
    np.testing.assert_array_equal(mean.get_xydata(), table[["at", "mean"]])
    for label, low, high in (
        ("95 %", table["q2.5"], table["q97.5"]),
        ("68 %", table["q16"], table["q84"]),
    ):
        corners = band(ax, label)
        for k, at in enumerate(AT):
            there = corners[corners[:, 0] == at, 1]
            assert there.min() == low[k]
            assert there.max() == high[k]


def test_joint_draws_are_drawn(ax):
    posterior = fits.posterior("mcmc")
    plots.curve(posterior, ax, at=AT, draws=4, seed=7)
    expected = posterior.sample_curves(AT, n=4, seed=7)
    found = [line.get_ydata() for line in ax.lines if line.get_linewidth() < 1.0]
    np.testing.assert_array_equal(found, expected)


def test_boxes_hold_two_standard_deviations():
    record = fits.posterior("gp").record
    _, _, left, right, low, high = boxes(fits.posterior("gp"))
    np.testing.assert_allclose([left, right], [record.t - 0.6, record.t + 0.6])
    np.testing.assert_allclose([low, high], [record.y - 2 * record.y_sd, record.y + 2 * record.y_sd])
    exact = boxes(fits.quietly(fits.record(t_sd=0.0), "gp", starts=1))
    assert (exact.right > exact.left).all()


@pytest.mark.slow
def test_values_are_drawn_less_the_offset_of_their_core():
    record = fits.record(sequence=list("ab") * 5)
    found = fits.quietly(record, "gp", starts=1, offsets=2.0)
    offset = found.offsets().set_index("sequence")["mean"]
    np.testing.assert_allclose(boxes(found).y, record.y - offset[list("ab") * 5].to_numpy())
    labels = [one.get_label() for one in plots.curve(found).collections]
    assert "a (± 2 sd, minus its offset)" in labels


def test_rates_are_drawn_in_the_units_of_the_label(ax):
    posterior = with_texts(t_unit="CE", y_unit="m")
    plots.rate(posterior, ax, at=AT)
    (mean,) = [line for line in ax.lines if line.get_label() == "mean"]
    np.testing.assert_allclose(mean.get_ydata(), 1000.0 * posterior.rate(AT)["mean"])
    assert ax.get_ylabel() == "Rate (mm/year)"


def test_with_ages_before_present_time_runs_to_the_right_and_rates_forward(ax):
    posterior = with_texts(t_name="Age", t_unit="cal a BP", y_unit="m")
    plots.rate(posterior, ax, at=AT)
    (mean,) = [line for line in ax.lines if line.get_label() == "mean"]
    np.testing.assert_allclose(mean.get_ydata(), -1000.0 * posterior.rate(AT)["mean"])
    assert ax.get_xlabel() == "Age (cal a BP)"
    assert "forward in time" in ax.get_ylabel()
    left, right = ax.get_xlim()
    assert left > right
    for shared in plots.summary(posterior).axes:
        left, right = shared.get_xlim()
        assert left > right


def test_moved_inputs_are_those_of_the_posterior(ax):
    posterior = fits.posterior("mcmc")
    inputs = posterior.inputs()
    found = input_shifts(posterior, np.arange(10))
    np.testing.assert_allclose(found[["mean", "sd"]], inputs[["mean", "sd"]])
    np.testing.assert_allclose(found["shift"], inputs["mean"] - inputs["t"])
    plots.inputs(posterior, ax)
    (points,) = [line for line in ax.lines if len(line.get_xdata()) == 10]
    np.testing.assert_allclose(points.get_xydata(), found[["t", "shift"]])


@pytest.mark.parametrize("method", fits.METHODS)
def test_every_method_can_be_drawn(method):
    posterior = fits.posterior(method)
    for function in FUNCTIONS:
        axes = Figure().subplots()
        assert function(posterior, axes) is axes
        assert axes.has_data()
        assert axes.get_xlabel() == "t"
    figure = plots.summary(posterior)
    assert len(figure.axes) == (2 if method in ("gp", "nigp") else 3)
    assert len(drawn(figure)) > 5000


def test_tables_at_hand_are_not_computed_again():
    posterior = fits.posterior("mcmc")
    curve, rate = posterior.curve(AT), posterior.rate(AT)
    figure = plots.summary(posterior, curve_table=curve + 100.0, rate_table=rate)
    (mean,) = [line for line in figure.axes[0].lines if line.get_label() == "mean"]
    np.testing.assert_array_equal(mean.get_ydata(), curve["mean"] + 100.0)


def test_without_axes_new_ones_are_made():
    from matplotlib import pyplot

    axes = plots.curve(fits.posterior("gp"))
    assert axes.has_data()
    pyplot.close(axes.figure)


def test_a_fit_that_has_not_converged_says_so():
    posterior = fits.posterior("mcmc")
    assert not posterior.diagnostics["converged"]
    assert "NOT CONVERGED" in plots.summary(posterior).get_suptitle()
    assert plots.summary(fits.posterior("gp")).get_suptitle() == ""


@pytest.mark.slow
def test_a_curve_without_a_rate_has_no_panel_for_it():
    posterior = lamina.fit(fits.record(), "gp", lamina.Matern12(), engine="dense")
    assert len(plots.summary(posterior).axes) == 1
    with pytest.raises(lamina.KernelError, match="no rate"):
        plots.rate(posterior)


def test_text_of_the_record_is_drawn_as_it_stands():
    nasty = "$\\frac{1}$ <b>_x</b>"
    record = fits.record(t_name=nasty, y_name=nasty, y_unit="$", sequence=["_hidden", nasty] * 5)
    figure = plots.summary(lamina.fit(record, "gp"))
    assert drawn(figure)
    texts = [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    assert any("_hidden" in text for text in texts)
    assert any("<b>_x</b>" in text for text in texts)


def test_sequences_and_loose_rows_have_colours_of_their_own():
    record = fits.record(sequence=["a"] * 4 + ["b"] * 3 + [None] * 3)
    found = groups(record, np.arange(10))
    assert [(group.name, len(group.rows)) for group in found] == [("a", 4), ("b", 3), ("no known order", 3)]
    many = groups(fits.record(sequence=[*"abcdefgha", None]), np.arange(10))
    assert [group.name for group in many] == ["8 sequences", "no known order"]
    exact = lamina.datasets.load("nassau")
    assert [group.name for group in groups(exact, np.arange(len(exact)))] == ["core", "exact times"]
    assert len(plots.GROUP_COLOURS) >= 7


def long_posterior(n: int) -> Posterior:
    """A posterior of many rows that no sampler had to make."""
    rng = np.random.default_rng(0)
    true = np.cumsum(rng.exponential(1.0, n))
    record = lamina.Record(t=true + rng.standard_normal(n), t_sd=1.0, y=np.sin(true / n), y_sd=0.1)
    problem = build_problem(record, Model(lamina.Matern32()))
    tau = np.sort(problem.to_internal(true) + 0.3 * rng.standard_normal((3, n)), axis=1)
    facts = {"method": "mcmc", "converged": True, "interrupted": False}
    return Posterior(problem, Draws.equal(tau.astype(np.float32), np.tile(problem.start, (3, 1)), diagnostics=facts))


def test_long_records_are_thinned_and_the_figure_says_so():
    figure = plots.summary(long_posterior(50_000))
    (drawn_boxes,) = [one for one in figure.axes[0].collections if "measured" in str(one.get_label())]
    assert isinstance(drawn_boxes, PolyCollection)
    assert len(drawn_boxes.get_paths()) == plots.MOST_BOXES
    notes = [text.get_text() for axes in figure.axes for text in axes.texts]
    assert "2,000 of 50,000 rows drawn, evenly spaced" in notes
    assert "400 of 50,000 rows drawn, evenly spaced" in notes


def test_thinning_is_even_and_keeps_the_ends():
    assert evenly(5, 10).tolist() == [0, 1, 2, 3, 4]
    rows = evenly(1001, 11)
    assert rows.tolist() == list(range(0, 1001, 100))
    assert thinning(10, 10) == ""


@pytest.mark.parametrize("unit", ["", "cal a BP"])
@pytest.mark.parametrize("far", [-8.0, 30.0])
def test_a_date_in_conflict_is_drawn_whole(unit, far):
    """The curve follows the order and ends long before the reported date does."""
    good = fits.record()
    t = np.array([*good.t[:4], far, *good.t[5:]])
    record = lamina.Record(t=t, t_sd=[0.3] * 4 + [0.5] + [0.3] * 5, y=good.y, y_sd=0.1, t_unit=unit)
    posterior = fits.quietly(record, "mcmc", seed=1, **fits.OPTIONS["mcmc"])
    assert 4 in posterior.diagnostics["conflicts"]
    low, high = (record.t - 2.0 * record.t_sd).min(), (record.t + 2.0 * record.t_sd).max()
    ranges = [
        sorted(ax.get_xlim()) for ax in (*plots.summary(posterior).axes, plots.compare({"mcmc": posterior}).axes[0])
    ]
    drawings = (figures.curve, figures.inputs, figures.residuals)
    ranges += [sorted(draw(compute(posterior))["layout"]["xaxis"]["range"]) for draw in drawings]
    assert len(ranges) == 7
    for first, last in ranges:
        assert first < low
        assert high < last


def test_the_time_axis_holds_curve_and_boxes_but_not_those_of_rows_without_a_date():
    record = fits.posterior("gp").record
    low, high = time_range(fits.posterior("gp"), AT)
    assert low <= min(AT[0], (record.t - 2 * record.t_sd).min())
    assert high >= max(AT[-1], (record.t + 2 * record.t_sd).max())
    undated = lamina.Record(t=record.t, t_sd=[1e6] + [0.3] * 9, y=record.y, y_sd=0.1)
    assert np.ptp(time_range(fits.quietly(undated, "gp", starts=1), AT)) < 1.3 * np.ptp(AT)


def test_compared_fits_are_drawn_in_one_figure():
    posteriors = {name: fits.posterior(name) for name in ("gp", "mcmc")}
    figure = plots.compare(posteriors)
    top, below = figure.axes
    at = default_times(posteriors["gp"])
    curves = {name: posterior.curve(at) for name, posterior in posteriors.items()}
    for name, curve in curves.items():
        (mean,) = [line for line in top.lines if line.get_label() == name]
        np.testing.assert_array_equal(mean.get_ydata(), curve["mean"])
    assert below.get_title() == "gp minus mcmc"
    assert below.get_xlim() == top.get_xlim()
    found = [line.get_ydata() for line in below.lines if len(line.get_ydata()) == len(at)]
    for line, column in zip(found, ("q2.5", "q97.5", "mean"), strict=True):
        np.testing.assert_array_equal(line, curves["gp"][column] - curves["mcmc"]["mean"])
    assert drawn(figure)


@pytest.mark.parametrize("unit", ["CE", "BP"])
def test_labels_of_time_below_each_other_and_side_by_side_keep_apart(unit):
    record = lamina.Record(t=np.linspace(0.0, 11_900.0, 20), t_sd=30.0, y=np.zeros(20), y_sd=1.0, t_unit=unit)
    one = fits.quietly(record, "gp", starts=1)
    figure = plots.compare({"gp": one, "nigp": one, "npv": one, "mcmc": one})
    drawn(figure)
    for ax in figure.axes:
        assert ax.get_xlim() == figure.axes[0].get_xlim()
        low, high = sorted(ax.get_xlim())
        ticks = [text for text in ax.get_xticklabels() if low <= text.get_position()[0] <= high]
        labels = sorted((tuple(text.get_window_extent().extents) for text in ticks), key=lambda box: box[0])
        assert len(labels) > 1
        assert all(right[0] - left[2] > 4.0 for left, right in pairwise(labels))


def test_compared_fits_differ_in_colour_and_in_style():
    names = ("gp", "nigp", "npv", "mcmc", "nuts")
    figure = plots.compare({name: fits.posterior(name) for name in names})
    top, *panels = figure.axes
    lines = [line for line in top.lines if line.get_label() in names]
    assert len({line.get_color() for line in lines}) == len(names)
    assert len({str(line._unscaled_dash_pattern) for line in lines}) == len(names)
    assert [panel.get_title() for panel in panels] == [f"{name} minus mcmc" for name in ("gp", "nigp", "npv", "nuts")]
    without = plots.compare({name: fits.posterior(name) for name in ("nigp", "gp")})
    assert [panel.get_title() for panel in without.axes[1:]] == ["nigp minus gp"]


def test_importing_plots_imports_and_changes_nothing_of_matplotlib():
    code = "import lamina.plots, json, sys; print(json.dumps('matplotlib' in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) is False
    before = dict(matplotlib.rcParams)
    plots.summary(fits.posterior("gp"))
    assert dict(matplotlib.rcParams) == before


def test_rows_without_a_value_do_not_count_as_thinned_out(ax):
    record = fits.record(y_sd=np.where(np.arange(10) == 4, np.inf, 0.1))
    plots.curve(fits.quietly(record, "gp", starts=1), ax, at=AT)
    assert not [text for text in ax.texts if "rows drawn" in text.get_text()]


@pytest.mark.parametrize("draw", [plots.curve, plots.rate])
def test_what_lies_beyond_the_data_is_hatched_and_nothing_else(ax, draw):
    found = fits.posterior("gp")
    draw(found, ax)
    assert not [area for area in ax.collections if area.get_hatch()]
    draw(found, ax, at=np.linspace(-5.0, 15.0, 201))
    low, high = data_range(found)
    before, after = (area.get_paths()[0].vertices[:, 0] for area in ax.collections if area.get_hatch())
    assert before.max() == pytest.approx(low, abs=0.1)
    assert after.min() == pytest.approx(high, abs=0.1)
    assert before.min() == -5.0
    assert after.max() == 15.0
    assert "extrapolated" in ax.get_legend_handles_labels()[1]


def test_the_mean_is_above_faint_draws(ax):
    plots.curve(fits.posterior("mcmc"), ax, at=AT)
    (mean,) = [line for line in ax.lines if line.get_label() == "mean"]
    draws = [line for line in ax.lines if line.get_linewidth() < 1.0]
    assert len(draws) == 5
    assert all(line.get_zorder() < mean.get_zorder() and line.get_alpha() < 0.5 for line in draws)


def test_labels_of_many_outliers_do_not_overlap():
    """Twenty-four markers in three heaps: fewer labels than markers, the first ones, and a note."""
    figure = Figure(figsize=(5.0, 3.0), layout="constrained")
    ax = figure.subplots()
    places = np.stack([np.repeat([1.0, 2.0, 3.0], 8) + np.tile(0.01 * np.arange(8), 3), np.ones(24)], 1)
    ax.plot(*places.T, "x")
    ax.set_xlim(0.0, 4.0)
    place_labels(ax, [f"{k} %" for k in range(24)], places, np.full(24, 4.0), "outliers")
    shown = [text for text in ax.texts if text.get_text().endswith(" %")]
    boxes = [text.get_window_extent() for text in shown]
    assert 3 <= len(shown) < 24
    assert not any(a.overlaps(b) for a, b in combinations(boxes, 2))
    (note,) = [text.get_text() for text in ax.texts if "labelled" in text.get_text()]
    assert note == f"{len(shown)} of 24 outliers labelled"
    assert any(text.get_text() == "0 %" for text in shown)


def test_labels_are_placed_in_a_part_of_a_figure():
    ax = Figure().subfigures(1, 2)[0].subplots()
    place_labels(ax, ["a", "b"], np.array([[0.2, 0.2], [0.8, 0.8]]), np.full(2, 2.0), "sites")
    assert {text.get_text() for text in ax.texts} == {"a", "b"}
