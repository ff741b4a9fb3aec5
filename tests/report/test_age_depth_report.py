"""The report of an age-depth model: figures, dates, conflicts, parameters and methods, from draws made by hand."""

import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from cores import DEPTH, TRUE, age_model, core, unsampled
from pages import Outline, figures_of, trace
from texts import EVIL

import lamina
from lamina import report
from lamina.dates import Radiocarbon
from lamina.plots.cores import core_summary
from lamina.posterior.agedepth import accumulation_quantiles
from lamina.posterior.boxes import Rejected
from lamina.report import methods


def reading(record: lamina.Record) -> SimpleNamespace:
    """The table that the dates were read from."""
    facts = [("input", f"the column {EVIL}", "its name")]
    return SimpleNamespace(record=record, lines=[9, 8, 7, 6, 5], facts=facts, warnings=["look at this"])


@pytest.fixture(scope="module")
def posterior():
    return age_model(core())


@pytest.fixture(scope="module")
def page(posterior):
    run = report.Run("lamina agedepth core.csv", 3, "core.csv", reading(core()), version="1.2.3")
    return report.html(posterior, at=[5.0, 15.0], run=run)


def test_the_model_comes_first_and_detail_in_order(page):
    outline = Outline(page)
    assert outline.ids == ["accumulation", "dates", "ages", "parameters", "trust", "table", "methods", "again"]
    assert {one["id"] for one in outline.figures} == set(figures_of(page))
    assert {"figure-age-depth", "figure-accumulation", "figure-parameter-alpha"} == set(figures_of(page))
    assert page.index("figure-age-depth") < page.index('<h2 id="accumulation"')
    for one in outline.figures:
        assert len(one["aria-label"]) > 20


def test_the_drawn_model_is_that_of_the_posterior(posterior, page):
    """At layers to the last digit shown; between them, where ages are drawn, within Monte-Carlo error."""
    figure = figures_of(page)["figure-age-depth"]
    middle = trace(figure, "median")
    table = posterior.ages(middle["x"])
    upper = np.array(trace(figure, "95 %")["y"][: len(table)])
    error = np.where(np.isin(middle["x"], posterior.record.depth), 0.0, table["sd"] / np.sqrt(len(posterior.draws.tau)))
    assert (np.abs(middle["y"] - table["q50"]) < 0.1 + 6.0 * error).all()
    assert (np.abs(upper - table["q97.5"]) < 0.1 + 20.0 * error).all()
    outlines = np.array(trace(figure, "dates")["y"], dtype=float)
    assert np.isnan(outlines).sum() == 5
    assert np.nanmax(outlines) == pytest.approx(TRUE[3] + 400.0 + 3.5 * 15.0, abs=1.0)


def test_dates_are_named_by_their_lines_and_conflicts_are_marked(page):
    text = Outline(page).text
    assert "line 6, d" in text
    assert text.count("in conflict") == 3  # the badge, the row of the table and the sentence
    assert f"line 9, {EVIL}" in text
    assert "1 date in conflict with the order (moved by more than" in text
    assert re.search(r"line 6, d, depth 30 cm: dated 1100 ± 15, found \d+ ± \d+(\.\d)? cal BP", text)


def test_the_paragraphs_are_about_ages_and_no_curve(page):
    text = Outline(page).text
    for words in ("The age is", "at a depth of 0 cm", "5 dates", "Computed with lamina 1.2.3 (seed 3)", "alpha",
                  "1 cm took", "95 % range is", "the true ages are unknowns"):  # fmt: skip
        assert words in text.replace("\xa0", " ")
    for words in "Rasmussen", "curve", "length scale", "nan":
        assert words not in text
    assert EVIL not in re.sub(r"<script>.*?</script>", "", page, flags=re.DOTALL)


def test_hiatuses_exact_dates_and_unfinished_fits_have_their_marks():
    record = core(t_sd=np.where(DEPTH == 0.0, 0.0, 15.0), hiatus=DEPTH == 20.0)
    page = report.html(age_model(record, converged=False))
    (line,) = figures_of(page)["figure-age-depth"]["layout"]["shapes"]
    assert line["x0"] == line["x1"] == 20.0
    assert "100 (exact)" in page
    assert "This fit has not converged" in page
    assert "lamina.age_depth(record, " in Outline(page).text


def test_the_calibration_curve_is_cited():
    dates = [Radiocarbon(1000.0 + 200.0 * k, 30.0) for k in range(5)]
    record = core(t=None, t_sd=None, dates=dates)
    page = Outline(report.html(age_model(record))).text
    assert "The IntCal20 Northern Hemisphere radiocarbon age calibration curve" in page


def test_several_cores_are_refused():
    with pytest.raises(lamina.RecordError, match="one core, and the record has several"):
        report.html(age_model(core(sequence=["a", "a", "b", "b", "b"])))


def test_the_methods_name_samples_of_some_thickness():
    thick = replace(core(), thickness=[2.0, *[0.0] * (len(core()) - 1)])
    said = "1 date was of a slice of core, from an unknown depth within, which adds to the error"
    assert said in " ".join(methods.paragraph(age_model(thick), report.Run()))
    assert said not in " ".join(methods.paragraph(age_model(core()), report.Run()))


def test_the_methods_name_how_ages_between_layers_are_found():
    uniform = lamina.Record([0.0, 100.0, 210.0], 10.0, np.nan, np.inf, depth=[0.0, 10.0, 20.0])
    for gaps, said in ("gamma", "drawn from the same process"), ("uniform", "interpolated linearly in depth"):
        assert f"Ages between these were {said}." in methods.paragraph(unsampled(uniform, gaps=gaps), report.Run())[0]


def test_the_python_call_has_every_setting():
    record = lamina.Record([0.0, 100.0, 210.0, 330.0], 10.0, np.nan, np.inf, depth=[0.0, 10.0, 20.0, 30.0])
    options = {"priors": {"alpha": (2.0, 3.0)}, "gaps": "gamma", "t_errors": "normal"}
    found = lamina.age_depth(record, steps=5, draws=200, cores=1, seed=3, **options)
    text = methods.call(found, 3)
    assert text == "lamina.age_depth(record, priors={'alpha': (2.0, 3.0)}, t_errors='normal', seed=3)"
    curve = lamina.fit(
        replace(record, y=np.arange(4.0), y_sd=np.ones(4)), "gp", kernel=lamina.Matern52() + lamina.Linear(sd=0.1),
        fixed={"length": 200.0},
    )  # fmt: skip
    text = methods.call(curve, None)
    assert "kernel=lamina.Matern52() + lamina.Linear(sd=0.1), fixed={'length': 200.0}, seed=0)" in text
    assert eval(text, {"lamina": lamina, "record": curve.record}).model == curve.model


def test_rejected_dates_are_hollow_and_hiatuses_have_no_pace():
    depth = np.arange(0.0, 80.0, 10.0)
    t, hiatus = 20.0 * depth + 1000.0 * (depth > 35.0), depth == 30.0
    record = lamina.Record(t, 10.0, np.nan, np.inf, depth=depth, hiatus=hiatus)
    found = lamina.age_depth(record, steps=10, draws=200, cores=1)
    table = accumulation_quantiles(found)
    at = (table["from"] >= 30.0) & (table["to"] <= 40.0)
    assert table["q50"].isna().sum() >= 1
    assert table["q50"][~at].notna().all()
    rejected = Rejected(replace(record, t=t + 500.0), np.array([2]))
    figure = core_summary(found, rejected=rejected)
    assert "rejected" in [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    page = lamina.report.html(found, tables=lamina.report.Tables(rejected=rejected))
    traces = figures_of(page)["figure-age-depth"]["data"]
    assert [one["name"] for one in traces if one.get("name") == "rejected"] == ["rejected"]
    assert len(figures_of(page)["figure-accumulation"]["data"]) == 4
