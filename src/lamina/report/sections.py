"""The sections of the report, in their order: the answer and the curve first, detail below."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from ..support.numbers import (
    capitalised,
    count,
    fixed,
    number,
    percent,
    plain,
    probability,
    value_and_range,
    with_range,
    with_sd,
)
from . import answer, cores, events, figures, methods
from .content import Content, Understanding
from .page import Page

#: Rows of a table that are written out.
MOST_LINES = 300


@dataclass(frozen=True)
class Run:
    """Where a fit came from."""

    version: str
    seed: int | None
    command: str | None
    table_name: str | None


def write(page: Page, content: Content, run: Run, understanding: Understanding | None, warnings: Sequence[str]) -> str:
    """Write all sections to the page; returns its title."""
    sections: list[tuple[str, str, Callable[[], None]]] = [
        ("rate", "Rate of change", lambda: _rate(page, content)),
        ("inputs", "Dates, reported and found", lambda: _inputs(page, content)),
        ("check", "Does the model fit?", lambda: _check(page, content)),
        ("parameters", "Parameters", lambda: _parameters(page, content)),
        ("intervals", "Rates over intervals", lambda: _intervals(page, content)),
        ("trust", "Convergence and conflicts", lambda: _trust(page, content)),
        ("table", "How the table was understood", lambda: _table(page, understanding, warnings)),
        ("methods", "Methods, ready to paste", lambda: _methods(page, content, run)),
        ("again", "Run it again", lambda: _again(page, content, run)),
    ]
    if len(content.events):
        sections.insert(5, ("events", "Events", lambda: _events(page, content)))
    if content.parts is not None:
        sections.insert(1, ("parts", "Parts of the curve and trend", lambda: _parts(page, content)))
    title = _title(content, run)
    _top(page, content, title, [(anchor, heading) for anchor, heading, _ in sections], len(warnings))
    for anchor, heading, put in sections:
        page.heading(heading, anchor)
        put()
    page.raw(f"<footer>Made by lamina {escape(run.version)}. This page needs no network.</footer>")
    return title


def _title(content: Content, run: Run) -> str:
    record = content.posterior.record
    return f"{record.y_name} from {run.table_name}" if run.table_name else f"{record.y_name} against {record.t_name}"


def _top(page: Page, content: Content, title: str, links: Sequence[tuple[str, str]], warnings: int) -> None:
    page.raw(f"<h1>{escape(title)}</h1>")
    verdicts = "".join(
        f"<li{'' if good else ' class=bad'}>{escape(text)}</li>" for text, good in answer.badges(content)
    )
    if warnings:
        verdicts += f'<li class=bad><a href="#table">{count(warnings, "warning")} about the data</a></li>'
    page.raw(f'<ul class="badges">{verdicts}</ul>')
    warning = answer.banner(content)
    if warning:
        page.raw(f'<div class="banner" role="alert"><strong>{escape(warning[0])}</strong>{escape(warning[1])}</div>')
    sentences = answer.answer(content)
    page.paragraph(sentences, "lead")
    page.raw(
        "<noscript><p>The figures need JavaScript, which is off here. All tables and texts are below.</p></noscript>"
    )
    record = content.posterior.record
    page.figure(
        "curve",
        figures.curve(content),
        alt=f"{capitalised(record.y_name)}: measurements and the curve with its bands. {' '.join(sentences)}",
        caption="Boxes are the measurements with two reported standard deviations each way. The line is the mean of "
        "the curve, the dark band one standard deviation (68 %), the light band 95 %. Thin lines are curves drawn from "
        "the posterior: each is one way it may have been. Point at a box or the line to read its numbers.",
        size="large",
    )
    page.raw("<nav>" + "".join(f'<a href="#{anchor}">{escape(text)}</a>' for anchor, text in links) + "</nav>")


def _rate(page: Page, content: Content) -> None:
    if content.rate is None:
        page.paragraph(
            ["With this kernel the curve is nowhere differentiable and has no rate. Use Matern32 or Matern52 for one."]
        )
        return
    caption = (
        "The derivative of the curve, not a difference of neighbours. Where the light band holds zero, the sign of "
    )
    caption += "the rate is not certain at that time; a rate over a longer interval may be."
    if content.axes.backwards:
        caption += (
            " Ages count backwards, so the rate is shown forward in time: a rise towards the present is positive. "
        )
        caption += "Posterior.rate gives the derivative in age, which has the opposite sign."
    said = answer.fastest(content)
    page.figure("rate", figures.rate(content), alt=f"Rate of change with its bands. {' '.join(said)}", caption=caption)


def _parts(page: Page, content: Content) -> None:
    page.paragraph(answer.trend(content))
    page.figure(
        "parts",
        figures.parts(content),
        alt="The parts that the curve is the sum of, each with its band.",
        caption="The parts that the curve is the sum of, each with its 95 % band; a click in the legend hides one. "
        "The data know the sum better than the parts, so the bands of the parts may be wider than that of the curve. "
        "components.csv has the numbers.",
    )
    if content.without_trend is not None:
        page.figure(
            "rate-without-trend",
            figures.rate(content, trend=False),
            alt="Rate of change without the linear trend, with its bands.",
            caption="The rate of change without the linear trend: above zero where the curve outran its trend.",
        )


def _events(page: Page, content: Content) -> None:
    lines = [list(events.in_words(content.posterior.record, one)) for one in content.events.to_dict("records")]
    page.table(["event", "what", "median", "95 %", "ever", "from the beginning", "at an end"], lines, 2)
    page.paragraph(
        [
            "From joint draws of the curve between the first and the last input; times follow each other from old to "
            "young. The time of a level is that among the draws which exceed it: how many do is under ever, and how "
            "many are above it from the beginning is told, too, with the beginning as their time. The last column has "
            "how many draws are highest or lowest at an end of the record: beyond it they may go on."
        ]
    )


def _inputs(page: Page, content: Content) -> None:
    if content.as_measured:
        page.paragraph(
            ["This method takes the inputs as measured: they do not move, and their known order is not used."]
        )
        return
    sentences = answer.inputs_in_words(content)
    page.paragraph(sentences)
    if not (content.inputs["t_sd"] > 0.0).any():
        return
    page.figure(
        "inputs",
        figures.inputs(content),
        alt=f"How far each date moved from its report. {' '.join(sentences)}",
        caption="At each reported date: the reported range (two standard deviations, grey) and where the date was "
        "found, as a distance from the report. A bar shorter than the grey one means that the order and the curve "
        "have narrowed the date.",
    )
    shown = content.inputs.head(MOST_LINES)
    page.raw(f"<details><summary>{escape(_table_title(len(shown), len(content.posterior.record)))}</summary>")
    page.table(
        ["row", "reported", "found", "moved", "moved (sd)", "sd now"],
        [_input_line(content, int(str(row)), one) for row, one in shown.iterrows()],
    )
    page.raw("</details>")


def _table_title(shown: int, n: int) -> str:
    return (
        f"All {count(n, 'row')} as a table" if shown == n else f"{shown:,} of {n:,} rows as a table; inputs.csv has all"
    )


def _input_line(content: Content, row: int, one: Any) -> list[str]:
    name = answer.row_name(content, row)
    if not content.posterior.record.dated[row]:
        return [name, "no date", with_sd(one["mean"], one["sd"]), "–", "–", "–"]
    if one["t_sd"] == 0.0:
        return [name, f"{plain(one['t'])} (exact)", plain(one["mean"]), "–", "–", "–"]
    far = number(one["shift"] / one["t_sd"], 2)
    return [
        name,
        with_sd(one["t"], one["t_sd"]),
        with_sd(one["mean"], one["sd"]),
        number(one["shift"], 2),
        far,
        percent(one["kept"]),
    ]


def _check(page: Page, content: Content) -> None:
    _outliers(page, content)
    sentences = answer.check(content)
    page.paragraph(sentences)
    page.raw('<div class="pair">')
    page.figure(
        "residuals",
        figures.residuals(content),
        alt="Residuals in standard deviations against time.",
        caption="Each value less the curve at its own corrected date, in its standard deviations. Nineteen in twenty "
        "should lie between the dotted lines.",
    )
    page.figure(
        "check",
        figures.check(content),
        alt=f"Histogram of where each value lies in the range foretold. {' '.join(sentences)}",
        caption="Where each value lies in what the other rows foretell for it. The bars should be even, within the "
        "grey band; a hill in the middle means errors that are too large, a valley errors that are too small.",
    )
    page.raw("</div>")


def _outliers(page: Page, content: Content) -> None:
    found = cores.outliers(content)
    if found is not None:
        page.paragraph([found[0]])
        if found[1]:
            page.table(["row", "probability of being an outlier"], found[1])


def _offsets(page: Page, content: Content) -> None:
    lines = cores.offsets(content)
    if lines:
        unit = content.posterior.record.y_unit
        page.table(["sequence", f"offset ({unit})" if unit else "offset", "95 %"], lines)


def _parameters(page: Page, content: Content) -> None:
    _offsets(page, content)
    if not len(content.theta):
        page.paragraph(["All parameters were given; there was none to learn."])
        return
    point = bool((content.theta["sd"] == 0.0).all())  # a method that maximises has one value and no interval
    lines = []
    for one in content.theta.to_dict("records"):
        said, unit = methods.meaning(content, one["name"])
        prior = f"{number(one['prior_median'])} ({number(one['prior_low'])} to {number(one['prior_high'])})"
        found = [number(one["mean"], 4)]
        if not point and one["sd"] == 0.0:
            found.append("estimate, no interval")
        elif not point:
            found = [with_sd(one["mean"], one["sd"]), f"{number(one['q2.5'])} to {number(one['q97.5'])}"]
        extra = [] if point else [f"{one['r_hat']:.3f}" if one["r_hat"] > 0 else "–", fixed(one["ess"], 0)]
        lines.append([one["name"], said, unit, *found, prior, *extra])
    found_head = ["estimate, no interval"] if point else ["mean ± sd", "95 %"]
    extra_head = [] if point else ["R-hat", "effective draws"]
    page.table(["parameter", "what it is", "unit", *found_head, "prior median (68 %)", *extra_head], lines, 3)
    page.raw('<div class="many">')
    for name in content.theta["name"]:
        said = methods.meaning(content, name)[0]
        page.figure(
            f"parameter-{name}",
            figures.parameter(content, name),
            f"Prior and {'estimate' if point else 'posterior'} of the {said}.",
            size="small",
        )
    page.raw("</div>")
    caption = "Where the posterior looks like the prior (dotted), the data say little about that parameter."
    if point:
        caption = "The line is the estimate, the dotted curve its prior. This method does not tell how uncertain it is."
    page.paragraph([caption], "caption")


def _intervals(page: Page, content: Content) -> None:
    unit = content.axes.rate_unit
    whole, table = content.whole, content.intervals
    if not len(table):
        asked = "No interval was asked for"
        if len(whole):
            one = whole.iloc[0]
            asked += (
                f"; over the whole record the mean rate is {with_range(one['mean'], one['q2.5'], one['q97.5'], unit)}"
            )
        page.paragraph([f"{asked}. Ask with --interval 1900:2000, or with lamina.interval_rates in Python."])
    else:
        names = [column for column in table.columns if column.startswith("p>") and column != "p>0"]
        names = names if len(table) > 1 else []
        head = ["from", "to", f"mean rate ({unit})" if unit else "mean rate", "95 %", "above 0"]
        page.table(
            [*head, *(f"above {name[2:].replace(':', ' to ')}" for name in names)],
            [
                [
                    plain(one["from"]),
                    plain(one["to"]),
                    *value_and_range(one["mean"], one["q2.5"], one["q97.5"]),
                    probability(one["p>0"]),
                    *(probability(one[name]) for name in names),
                ]
                for _, one in table.iterrows()
            ],
            0,
        )
        page.paragraph(
            ["Mean rates over whole intervals, from joint draws of the curve; the last columns are probabilities."]
        )
    _asked(page, content)


def _asked(page: Page, content: Content) -> None:
    if content.asked is None:
        return
    record, shown = content.posterior.record, content.asked.head(MOST_LINES)
    page.subheading("At the times asked for")
    head = [content.axes.time, content.axes.value, "95 %"]
    with_rate = "rate" in shown
    lines = []
    for _, one in shown.iterrows():
        rate = value_and_range(one["rate"], one["rate_low"], one["rate_high"]) if with_rate else ()
        lines.append([plain(one["at"]), *value_and_range(one["mean"], one["low"], one["high"]), *rate])
    page.table([*head, content.axes.rate, "95 %"] if with_rate else head, lines, 0)
    if len(shown) < len(content.asked):
        page.paragraph(
            [f"{len(shown)} of {len(content.asked):,} times of {record.t_name} are shown; curve.csv has all."]
        )


def _trust(page: Page, content: Content) -> None:
    page.paragraph(answer.convergence(content))
    sentence, lines = answer.conflicts(content)
    page.paragraph([sentence])
    page.items(lines)


def _table(page: Page, understanding: Understanding | None, warnings: Sequence[str]) -> None:
    if warnings:
        page.subheading("Please look at this")
        page.items(warnings)
    if understanding is None:
        page.paragraph(["The record was given in Python or is embedded in lamina; it was not read from a table."])
        return
    page.table(["what", "understood as", "why"], [[str(cell) for cell in fact] for fact in understanding.facts], 3)


def _methods(page: Page, content: Content, run: Run) -> None:
    text = " ".join(methods.paragraph(content, run.version, run.seed))
    page.raw(f'<blockquote><p id="methods-text">{escape(text)}</p></blockquote>')
    page.raw('<button type="button" data-copy="methods-text">Copy the paragraph</button>')
    page.subheading("References")
    page.items(methods.references(content), "references")


def _again(page: Page, content: Content, run: Run) -> None:
    if run.command:
        page.raw(f"<pre><code>{escape(run.command)}</code></pre>")
    else:
        page.raw(f"<pre><code>{escape(methods.call(content, run.seed))}</code></pre>")
    seed_said = "" if run.seed is None else f", seed {run.seed}"
    table = f", table {run.table_name}" if run.table_name else ""
    page.paragraph(
        [f"lamina {run.version}{seed_said}{table}. The same version, table, settings and seed give the same numbers."]
    )
