"""Events in words: when a level was first exceeded, and the extremes of the curve."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..record import Record
from ..records.axes import describe
from ..support.numbers import plain, probability, value_and_range


class Event(NamedTuple):
    """One line of ``lamina.functionals.events``."""

    what: str  #: "curve first above 0.3 m"
    quantity: str  #: "time (CE)"
    median: str
    between: str  #: 95 % of the probability
    ever: str  #: probability that the level was exceeded at all
    from_start: str  #: and from the beginning
    at_end: str  #: probability that an extreme lies at an end of the record


def in_words(record: Record, one: dict[str, Any]) -> Event:
    """A line of the table of events."""
    axes = describe(record)
    factor, unit = (axes.unit_factor, axes.rate_unit) if one["of"] == "rate" else (1.0, record.y_unit)
    what = f"{one['event']} of the {one['of']}"
    if one["event"] == "first above":
        what = f"{one['of']} first above {plain(factor * one['level'])} {unit}".rstrip()
    k, own = (1.0, record.t_unit) if one["quantity"] == "time" else (factor, unit)
    median, between = "–", "–"
    if one["mean"] == one["mean"]:
        median, between = value_and_range(k * one["q50"], k * one["q2.5"], k * one["q97.5"])
    quantity = f"{one['quantity']} ({own})" if own else one["quantity"]
    shares = (probability(one[name]) for name in ("p", "p_start", "p_end"))
    return Event(what, quantity, median, between, *shares)


def line(record: Record, one: dict[str, Any]) -> str:
    """The same as one line of text."""
    event = in_words(record, one)
    share = f", at an end of the record: {event.at_end}"
    if one["event"] == "first above":
        share = f", ever: {event.ever}, from the start: {event.from_start}"
    return f"{event.what}, {event.quantity}: median {event.median} (95 %: {event.between}){share}"
