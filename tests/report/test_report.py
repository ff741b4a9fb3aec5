"""The report as text: what it says follows from the fit, and nothing from outside gets into its code."""

import json
import re
from dataclasses import replace
from types import SimpleNamespace

import fits
import numpy as np
import pandas as pd
import pytest
from cores import age_model, core, unsampled
from pages import Outline, figures_of, trace
from texts import EVIL

import lamina
from lamina import report
from lamina.methods.draws import Draws
from lamina.posterior.posterior import Posterior
from lamina.posterior.times import default_times
from lamina.records.axes import describe
from lamina.report import answer, drawing, methods
from lamina.report.content import compute
from lamina.report.page import script_json
from lamina.support import numbers

ORDER = ["rate", "inputs", "check", "parameters", "intervals", "trust", "table", "methods", "again"]


@pytest.fixture(scope="module")
def page():
    return report.html(fits.posterior("mcmc"), intervals=[(0.0, 3.0), (3.0, 9.0)], run=report.Run(seed=1))


def test_the_answer_and_the_curve_come_first_and_detail_in_order(page):
    outline = Outline(page)
    assert outline.ids == ORDER
    assert page.index("figure-curve") < page.index('<h2 id="rate"')
    assert page.index('class="lead"') < page.index('id="figure-curve"')
    assert page.count("<h1>") == 1


def test_every_figure_has_data_and_a_description(page):
    outline, figures = Outline(page), figures_of(page)
    expected = {"curve", "rate", "inputs", "residuals", "check", "parameter-length", "parameter-sd", "parameter-alpha"}
    assert {f"figure-{name}" for name in expected} == set(figures) == {one["id"] for one in outline.figures}
    for one in outline.figures:
        assert one["role"] == "img"
        assert len(one["aria-label"]) > 20
    for figure in figures.values():
        assert any(len(one["x"]) > 1 for one in figure["data"])


def test_the_drawn_bands_are_those_of_the_posterior():
    posterior = fits.posterior("mcmc")
    at = np.linspace(0.0, 9.0, 20)
    table = posterior.curve(at)
    figure = figures_of(report.html(posterior, tables=report.Tables(curve=table)))["figure-curve"]
    np.testing.assert_allclose(trace(figure, "mean")["y"], table["mean"], atol=1e-3)
    wide = trace(figure, "95 %")
    np.testing.assert_allclose(wide["y"][:20], table["q97.5"], atol=1e-3)
    np.testing.assert_allclose(wide["y"][20:][::-1], table["q2.5"], atol=1e-3)
    narrow = trace(figure, "68 %")
    np.testing.assert_allclose(narrow["y"][:20], table["q84"], atol=1e-3)
    np.testing.assert_allclose(narrow["y"][20:][::-1], table["q16"], atol=1e-3)
    assert sum(one.get("name") == "5 draws" for one in figure["data"]) == 5
    names = [one.get("name") for one in figure["data"]]
    assert names.index("mean") > max(k for k, name in enumerate(names) if name == "5 draws"), "the mean is on top"


def test_the_page_asks_for_nothing_from_outside(page):
    code = re.sub(r"<script>.*?</script>", "", page, flags=re.DOTALL)
    assert "http://" not in code
    assert "https://" not in code
    assert not re.search(r"<(link|img|iframe|script)[^>]*(src|href)=", page[: page.index("plotly.js")])
    assert "default-src 'none'" in page


def test_it_is_small_enough_to_mail(page):
    assert len(page.encode()) < 6_000_000


def test_text_from_outside_is_only_text(evil_page):
    outline = Outline(evil_page)
    assert outline.tags.count("script") == 3
    assert "b" not in outline.tags
    assert "i" not in outline.tags
    assert f"RSL {EVIL} from {EVIL}.csv" in outline.text
    assert f"look at {EVIL}" in outline.text
    assert f"the column {EVIL}" in outline.text
    assert f"lamina fit {EVIL}.csv" in outline.text
    assert f"line 12, {EVIL}" in outline.text
    assert "0.0.0<test>" in outline.text
    assert EVIL not in re.sub(r"<script>.*?</script>", "", evil_page, flags=re.DOTALL)


def test_text_in_figures_has_no_tags_but_our_own(evil_page):
    def texts(node):
        if isinstance(node, dict):
            for key, value in node.items():
                if key in ("text", "name", "hovertext"):
                    yield from [value] if isinstance(value, str) else value
                else:
                    yield from texts(value)
        elif isinstance(node, list):
            for value in node:
                yield from texts(value)

    said = [text for figure in figures_of(evil_page).values() for text in texts(figure) if isinstance(text, str)]
    assert any("&lt;script&gt;alert(1)&lt;/script&gt;" in text for text in said)
    assert not [text for text in said if "<" in text.replace("<br>", "")]
    assert "hovertemplate" not in json.dumps(figures_of(evil_page))


def test_ages_before_present_run_to_the_right_and_rates_forward(evil, evil_page):
    figures = figures_of(evil_page)
    for name in "curve", "rate", "inputs", "residuals":
        left, right = figures[f"figure-{name}"]["layout"]["xaxis"]["range"]
        assert left > right
    at = np.linspace(0.0, 9.0, 20)
    rate = evil.rate(at)
    turned = figures_of(report.html(evil, tables=report.Tables(curve=evil.curve(at), rate=rate)))["figure-rate"]
    np.testing.assert_allclose(trace(turned, "mean")["y"], -rate["mean"], atol=1e-3)
    upper = trace(turned, "95 %")["y"][:20]
    np.testing.assert_allclose(upper, -rate["q2.5"], atol=1e-3)
    assert "forward in time" in evil_page


@pytest.mark.parametrize("method", [*fits.METHODS, "ensemble"])
def test_every_method_has_a_report_and_cites_its_sources(method):
    posterior = fits.posterior(method)
    text = " ".join(methods.paragraph(posterior, report.Run(seed=7, version="1.2.3")))
    sources = {
        "mcmc": ["Tran", "Rasmussen & Williams", "Vehtari"],
        "nuts": ["Tran", "Rasmussen & Williams", "Vehtari", "Hoffman"],
        "ensemble": ["Rasmussen & Williams", "Vehtari", "Andrieu"],
        "npv": ["Tran", "Rasmussen & Williams", "Gershman"],
        "nigp": ["McHutchon", "Rasmussen & Williams"],
        "gp": ["Rasmussen & Williams"],
    }[method]
    cited = " ".join(methods.references(posterior))
    for source in sources:
        assert source in text
        assert source.split(" ")[0] in cited
    assert len(methods.references(posterior)) == len(sources)
    assert "Matérn kernel of order 3/2" in text
    assert "10 measurements" in text
    assert "lamina 1.2.3 (seed 7)" in text
    page = Outline(report.html(posterior)).text
    assert ("inputs as measured" in page) == (method in ("gp", "nigp"))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"gaps": "exponential"}, "exponential prior on the gaps"),
        ({"gaps": "uniform"}, "uniform prior over all inputs"),
        ({"kernel": lamina.Matern52()}, "order 5/2"),
        ({"kernel": lamina.Matern32() + lamina.Matern12()}, "the sum of a Matérn kernel of order 3/2 and a Matérn"),
        ({"mean": "linear"}, "an unknown level (flat prior, integrated out) plus an unknown linear trend"),
        (
            {"kernel": lamina.Matern32() + lamina.Constant() + lamina.Linear(mean=0.25, sd=0.05)},
            "an unknown linear trend (normal prior, 0.250 ± 0.050, integrated out)",
        ),
        ({"fixed": {"length": 2.5}}, "Fixed parameters: length scale 2.50"),
        ({"priors": {"length": (3.0, 2.0)}}, "length scale: median 3.00, 68 % from 1.50 to 6.00"),
        ({"estimate": "y_scale"}, "errors of the outputs were taken as known up to a common factor"),
    ],
)
def test_the_methods_paragraph_follows_the_model(options, said):
    assert said in " ".join(methods.paragraph(unsampled(fits.record(), **options), report.Run()))


def test_a_fit_that_cannot_be_used_has_a_banner():
    posterior = fits.posterior("mcmc")
    assert "This fit has not converged" in report.html(posterior)
    stopped = {**posterior.draws.diagnostics, "interrupted": True}
    draws = Draws.equal(posterior.draws.tau, posterior.draws.phi, diagnostics=stopped, chains=posterior.draws.chains)
    page = report.html(Posterior(posterior.problem, draws))
    assert 'role="alert"><strong>This fit was interrupted' in page
    assert 'role="alert"' not in report.html(fits.posterior("gp"))


@pytest.mark.slow
def test_a_curve_without_a_rate_says_so():
    page = report.html(lamina.fit(fits.record(), "gp", lamina.Matern12()))
    assert "figure-rate" not in figures_of(page)
    assert "has no rate" in page


def test_with_nothing_to_learn_there_are_no_parameters():
    posterior = lamina.fit(fits.record(), "gp", fixed={"length": 2.0, "sd": 1.0})
    assert "so none was estimated" in report.html(posterior)


def test_exact_inputs_do_not_move():
    text = Outline(report.html(fits.quietly(fits.record(t_sd=0.0), "mcmc", **fits.OPTIONS["mcmc"]))).text
    assert "All inputs are exact." in text


def test_conflicts_are_named_with_their_lines():
    given = fits.record(t_sd=0.2, true=0.25 * np.arange(12.0))
    t = given.t.copy()
    t[6] += 1.6
    record = lamina.Record(t=t, t_sd=0.2, y=given.y, y_sd=0.1, label=[f"Beta-{k}" for k in range(12)])
    posterior = fits.quietly(record, seed=1, **fits.OPTIONS["mcmc"])
    reading = SimpleNamespace(record=record, lines=list(range(2, 14)), facts=[], warnings=[])
    text = Outline(report.html(posterior, run=report.Run(reading=reading))).text
    assert "1 date in conflict with the order or the curve (moved by more than 3" in text
    assert "line 8, Beta-6: dated" in text


def test_what_rose_rose_and_what_fell_fell():
    t = np.arange(0.0, 2000.0, 50.0)
    for sign, unit, did in (1.0, "CE", "rose"), (-1.0, "CE", "fell"), (1.0, "BP", "fell"), (-1.0, "BP", "rose"):
        y = sign * 0.001 * t
        record = lamina.Record(t=t, t_sd=0.0, y=y, y_sd=0.05, t_unit=unit, y_unit="m", y_name="RSL")
        content = compute(lamina.fit(record, "gp"))
        said = answer.answer(content)[0]
        assert said.startswith(f"RSL {did} by 1.9")
        assert ("between 0 and 1950 CE" if unit == "CE" else "between 1950 and 0 BP") in said
        assert f"{'−' if did == 'fell' else ''}1.0" in said.split("on average at ")[1]
    level = lamina.Record(t=t, t_sd=0.0, y=0.05 * np.random.default_rng(0).standard_normal(40), y_sd=0.05)
    assert "no clear change" in answer.answer(compute(lamina.fit(level, "gp")))[0]


def test_the_check_distinguishes_errors_that_are_too_large_and_too_small():
    content = compute(fits.posterior("gp"))
    n = 200
    even = (np.arange(n) + 0.5) / n

    def said(pit):
        table = pd.DataFrame({"loo_pit": pit, "scaled": np.zeros(len(pit))})
        return " ".join(answer.check(SimpleNamespace(residuals=table, values=len(table))))

    assert "agrees with the reported errors" in said(even)
    assert "scatter less" in said(0.5 + 0.2 * (even - 0.5))
    assert "scatter more" in said(np.where(even < 0.5, 0.1 * even, 1.0 - 0.1 * even))
    assert content.residuals["loo_pit"].between(0, 1).all()


def test_the_check_names_a_value_that_is_off_by_a_hundred_errors():
    rng, t = np.random.default_rng(0), np.linspace(0.0, 2000.0, 40)
    y = np.sin(t / 300.0) + rng.normal(0.0, 0.05, t.size)
    record = lamina.Record(t=t, t_sd=0.0, y=y, y_sd=0.05, y_unit="m")
    assert "next to impossible" not in " ".join(answer.check(compute(lamina.fit(record, "gp"))))
    y[17] = 5.0
    record = lamina.Record(t=t, t_sd=0.0, y=y, y_sd=0.05, y_unit="m")
    said = " ".join(answer.check(compute(lamina.fit(record, "gp"))))
    assert "The other values make row 17 (5.00 m) next to impossible: check for a typo" in said


def test_long_tables_are_cut_and_say_so(monkeypatch):
    from lamina.report import common, content

    monkeypatch.setattr(common, "MOST_LINES", 4)
    monkeypatch.setattr(content, "MOST_ROWS", 5)
    page = report.html(fits.posterior("mcmc"), at=np.linspace(0.0, 9.0, 7))
    text = Outline(page).text
    assert "4 of 10 rows as a table" in text
    assert "4 of 7 times" in text
    assert "5 of 10 rows drawn" in json.dumps(figures_of(page))


def test_the_file_is_written_whole_or_not_at_all(tmp_path, page):
    path = tmp_path / "report.html"
    report.write(path, fits.posterior("gp"))
    assert path.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert [one.name for one in tmp_path.iterdir()] == ["report.html"]
    with pytest.raises(lamina.LaminaError, match="there is no folder"):
        report.write(tmp_path / "no" / "report.html", fits.posterior("gp"))


def test_a_table_at_hand_and_a_seed_give_the_same_page():
    posterior, at = fits.posterior("mcmc"), [1.0, 2.0]
    times = default_times(posterior)
    curve, rate = posterior.curve_and_rate(times)
    known = report.Tables(curve, rate, at=dict(zip(("curve", "rate"), posterior.curve_and_rate(at), strict=True)))
    run = report.Run(seed=3)
    assert report.html(posterior, at=at, run=run, tables=known) == report.html(posterior, at=at, run=run)


def test_tables_at_hand_are_shown_and_not_computed_again():
    posterior, at = fits.posterior("gp"), [1.0, 2.0]
    curve, rate = posterior.curve_and_rate(at)
    shown = compute(posterior, at=at, tables=report.Tables(at={"curve": curve + 1.0, "rate": rate + 2.0})).at
    np.testing.assert_allclose(shown["mean"], curve["mean"] + 1.0)
    np.testing.assert_allclose(shown["rate_high"], rate["q97.5"] + 2.0)


#: name: (rates as mean, half width of the 95 % band; the sentence). The average is 1.
STANDING_OUT = {
    "the fastest is not clear, another is": ([(5.0, 4.5), (1.5, 0.2), (1.1, 0.3)], "most around 1.00: 1.50"),
    "slower than the average": ([(1.1, 0.3), (0.2, 0.15), (1.4, 0.3)], "most around 1.00: 0.20"),
    "furthest in standard deviations": ([(3.0, 1.9), (2.0, 0.2), (1.0, 0.5)], "most around 1.00: 2.00"),
    "all about the average": ([(1.1, 0.3), (0.9, 0.3), (1.2, 0.3)], "At no time does the rate clearly differ from its"),
    "all about zero": ([(1.1, 1.3), (0.9, 1.3), (-0.2, 1.3)], "At no single time is the rate clearly different from"),
}


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize(("rates", "said"), STANDING_OUT.values(), ids=STANDING_OUT)
def test_the_rate_that_stands_out_is_looked_for_at_all_times(rates, said, backwards):
    content = compute(fits.posterior("gp"))
    content = replace(content, axes=describe(fits.record(t_unit="BP" if backwards else "CE")))
    sign = -1.0 if backwards else 1.0
    mean, half = np.array(rates).T
    table = pd.DataFrame({"at": [0.0, 1.0, 2.0], "mean": sign * mean, "sd": half / 1.96})
    table["q2.5"], table["q97.5"] = table["mean"] - half, table["mean"] + half
    whole = content.whole.assign(**{"from": 0.0, "to": 2.0, "mean": 1.0})
    (sentence,) = answer.fastest(replace(content, rate=table, whole=whole))
    assert said in sentence


@pytest.mark.parametrize("method", [*fits.METHODS, "ensemble"])
def test_an_estimate_has_no_interval(method):
    page = report.html(fits.posterior(method))
    section = re.search(r'id="parameters".*?(?=<h2)', page, re.DOTALL)[0]
    point = method in ("gp", "nigp", "npv")
    assert ("estimate, no interval" in section) == point
    assert ("±" in section) == (not point)
    assert ('<th class="number">95 %</th>' in section) == (not point)


@pytest.mark.slow
def test_parts_trend_and_events_are_shown_where_there_are_any():
    record = fits.record(order="decreasing", true=fits.TRUE[::-1], t_unit="ka BP", y_unit="m")
    kernel = (
        lamina.Matern52(4.0, 0.8) + lamina.Matern32(0.7, 0.3) + lamina.Constant() + lamina.Linear(mean=-0.2, sd=0.1)
    )
    posterior = fits.at_known(record, kernel)
    facts = {"method": "gp", "seconds": 0.0, "objective": 0.0, "converged": True, "interrupted": False}
    posterior = Posterior(posterior.problem, replace(posterior.draws, diagnostics=facts))
    table = lamina.functionals.events(posterior, levels=[3.0, 99.0], rates=[0.1], with_extremes=True, draws=50)
    page = report.html(posterior, tables=report.Tables(events=table))
    outline, figures = Outline(page), figures_of(page)
    assert outline.ids == ["rate", "parts", *ORDER[1:5], "events", *ORDER[5:]]
    names = {one["name"] for one in figures["figure-parts"]["data"] if "name" in one}
    assert names == {"Matern52_1", "Matern32_2", "trend"}
    rate = posterior.trend().set_index("term").loc["rate"]
    said = numbers.with_range(-rate["mean"], -rate["q97.5"], -rate["q2.5"], "m/ka")
    assert f"The linear trend forward in time is {said}" in outline.text.replace("\xa0", " ")
    drawn = np.array(trace(figures["figure-rate-without-trend"], "mean")["y"], dtype=float)
    at = np.array(trace(figures["figure-rate-without-trend"], "mean")["x"], dtype=float)
    np.testing.assert_allclose(drawn, -posterior.rate(at, trend=False)["mean"], atol=1e-3)
    for text in "curve first above 3 m", "curve first above 99 m", "rate first above 0.1 m/ka", "maximum of the curve":
        assert text in outline.text


def test_sentences_begin_with_a_capital_and_effective_draws_are_whole():
    posterior = fits.posterior("mcmc")
    named = lamina.fit(replace(posterior.record, y_name="value"), method="gp")
    assert methods.paragraph(named, report.Run())[0].startswith("Value was modelled as")
    assert answer.answer(compute(named))[0].startswith("Value ")
    assert re.search(r"fewest effective draws \d+,", posterior.summary())
    (cells,) = re.findall(r"<td[^>]*>length</td>(.*?)</tr>", report.html(posterior), re.DOTALL)
    assert re.findall(r"<td[^>]*>([^<]*)</td>", cells)[-1].isdigit()


def test_json_cannot_end_its_script():
    text = script_json(["</script>", "<!--", "a & b", "ünï"])
    assert json.loads(text) == ["</script>", "<!--", "a & b", "ünï"]
    assert not set("<>&") & set(text)


def test_reports_can_share_plotly():
    page = report.html(age_model(core()), plotly="../a&b.js")
    assert '<script src="../a&amp;b.js"></script>' in page
    assert len(page) < 300_000
    assert "script-src 'unsafe-inline' 'self' file:" in page


def test_what_is_asked_beyond_the_data_is_marked_in_the_table_and_hatched_in_the_figures():
    found = fits.posterior("gp")
    inside, outside = report.html(found, at=[2.0, 5.0]), report.html(found, at=[2.0, 11.0])
    for name in "curve", "rate":
        assert not [one for one in figures_of(inside)[f"figure-{name}"]["data"] if one.get("name") == "extrapolated"]
        (hatched,) = (one for one in figures_of(outside)[f"figure-{name}"]["data"] if one.get("name") == "extrapolated")
        assert hatched["fillpattern"]["shape"] == "/"
        assert max(hatched["x"]) == pytest.approx(11.0, abs=0.1)
        assert min(hatched["x"]) > 9.0
    assert "extrapolated</th>" not in inside
    assert "extrapolated</th>" in outside


@pytest.mark.parametrize(
    ("low", "high", "labels"), [(1.2, 29, ["2", "5", "10", "20"]), (40, 2e4, ["100", "1000", "10000"])]
)
def test_a_logarithmic_axis_has_plain_numbers(low, high, labels):
    axis = drawing.logarithmic(low, high)
    shown = [text for text, at in zip(axis["ticktext"], axis["tickvals"], strict=True) if low <= at <= high]
    assert shown == labels
    assert 10 ** np.array(axis["range"]) == pytest.approx([low, high])
    assert "tickvals" not in drawing.logarithmic(low, 2.0 * low)
