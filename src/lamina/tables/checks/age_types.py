"""Radiocarbon or calendar ages: what the table or the user says of each row, or a question."""

import re
from collections.abc import Sequence
from dataclasses import replace

from ..columns import MADE, Columns, Reading, made_of_radiocarbon
from ..headers import Header, is_calibrated, is_radiocarbon
from ..matching.curves import CURVES_TO_WRITE, is_curve, no_curves
from ..messages import flag, option, quote
from ..numbers import is_blank
from .radiocarbon import is_calendar, other_curve, suspicions

_RADIOCARBON = re.compile(
    r".*(?:14\s?c|c-?14|carbon-?\s?14|radio-?carbon|\bams\b|conventional|uncal|libby).*", re.IGNORECASE
)
_CALENDAR = re.compile(
    r".*(?:\bcal|tephra|ash|210\s?-?pb|pb-?\s?210|137\s?-?cs|cs-?\s?137|varve|u\s?[/-]?\s?th|uranium|osl|irsl|lumin|histor"
    r"|surface|top|year|marker|pollution|pollen|strat|paleomag|core).*",
    re.IGNORECASE,
)
#: Words in a column of curves for ages that need none.
_NO_CURVE = {"normal", "none", "0", "calendar", "cal", "cal bp", "no", "-", "na", "n/a", "gaussian"}


def with_age_types(reading: Reading) -> Reading:
    """The reading, in which radiocarbon ages have a column of their own.

    What decides, in this order: a column age_type, the option age_type, a column of curves, the option curve. If none
    does and something suggests radiocarbon, that becomes a question. Raises TableError.
    """
    columns, options = reading.columns, reading.options
    if columns.t.index == MADE and columns.t_errors:
        return _refuse_curve(reading, "they are known by their limits")
    alone = columns.t.index == MADE
    if options.age_type == "calendar" and (alone or is_radiocarbon(columns.t.text)):
        return _as_calendar(reading)
    if options.age_type == "radiocarbon" and columns.radiocarbon and not alone:
        return _as_radiocarbon(reading)
    t = columns.radiocarbon[0] if alone else columns.t
    kinds = _by_column(reading, t) or _by_option(reading) or (["radiocarbon"] * len(reading.cells) if alone else None)
    certain = "" if alone else is_calendar(reading)
    if kinds is None and not certain:
        kinds = _by_curve(reading, t)
    if kinds is not None:
        return reading if alone and "calendar" not in kinds else _split(reading, t, kinds)
    if certain:
        return _refuse_curve(reading, certain)
    if options.curve is not None:
        reading.fact("age type", "radiocarbon ages", reading.set_by("curve"))
        return _split(reading, t, ["radiocarbon"] * len(reading.cells))
    why = suspicions(reading)
    if why:
        # If something speaks for another curve, that is the next question.
        likely = {} if other_curve(reading, list(range(len(reading.cells)))) else {"curve": "IntCal20"}
        reading.ask(
            f"{t} may hold radiocarbon ages, which are not calendar ages: {'; '.join(why)}",
            f"say {flag('age_type')} radiocarbon with {flag('curve')} NAME, such as IntCal20, SHCal20 or Marine20, to "
            f"calibrate them, or {flag('age_type')} calendar (age_type= in Python)",
            None,
            t,
            age_type="radiocarbon",
            **likely,
        )
        reading.refuse()
    elif t.scale == "BP" or options.scale == "BP":
        assumed = f"assumed, as nothing says radiocarbon; change it with {option('age_type', 'radiocarbon')}"
        reading.fact("age type", "calendar ages", assumed)
    return reading


def _by_column(reading: Reading, t: Header) -> list[str] | None:
    """The type of each age by a column that names it; None without one.

    Ages that were dated by radiocarbon may be calibrated already. So a column of methods counts only if the user says
    that there are radiocarbon ages.
    """
    fill = reading.options.age_type
    for header in (h for h in reading.headers if h.role == "age type" and not h.error):
        found = [_type(cell) for cell in reading.column(header)]
        if header.rank > 0 and (fill != "radiocarbon" or None in found or "radiocarbon" not in found):
            continue
        for i, (kind, cell) in enumerate(zip(found, reading.column(header), strict=True)):
            if kind is None and not (is_blank(cell) and fill):
                what = f"found {quote(cell)} as the type of an age"
                reading.fault(what, "write radiocarbon or calendar", i, header)
        if fill and all(found) and fill not in found:
            do = "leave the option out, or correct the table"
            reading.fault(f"no row is of the type that {flag('age_type')} says", do, 0, header)
        reading.refuse()
        kinds = [kind or fill or "calendar" for kind in found]
        reading.fact("age type", _counted(kinds), f"the column {header}")
        return kinds
    return None


def _counted(kinds: Sequence[str]) -> str:
    """How many ages there are of each type."""
    counts = [(kind, kinds.count(kind)) for kind in ("radiocarbon", "calendar")]
    return ", ".join(f"{count} {kind} age{'s' if count > 1 else ''}" for kind, count in counts if count)


def _type(cell: str) -> str | None:
    if is_calibrated(cell):
        return "calendar"
    if _RADIOCARBON.fullmatch(cell):
        return "radiocarbon"
    return "calendar" if _CALENDAR.fullmatch(cell) else None


def _by_option(reading: Reading) -> list[str] | None:
    kind = reading.options.age_type
    if kind is None:
        return None
    if kind == "calendar" and reading.options.curve is not None:
        found = f"{flag('curve')} calibrates radiocarbon ages, but {flag('age_type')} says calendar ages"
        raise reading.problem(found, "leave out one of them").suggesting(age_type="radiocarbon")
    reading.fact("age type", f"{kind} ages", reading.set_by("age_type"))
    return [kind] * len(reading.cells)


def _by_curve(reading: Reading, t: Header) -> list[str] | None:
    """The type of each age by a column of curves, in which some rows may have none; None without one."""
    for header in reading.columns.curve:
        cells = reading.column(header)
        kinds = ["calendar" if cell.casefold() in _NO_CURVE else "radiocarbon" for cell in cells]
        if not any(cells) or not ("calendar" in kinds or any(map(is_curve, cells))):
            if any(cells):
                _ask_about_curves(reading, header, cells)
            continue
        for i, cell in enumerate(cells):
            if is_blank(cell) and kinds[i] == "radiocarbon" and reading.options.curve is None:
                do = f'write its curve, "normal" for a calendar age, or say {flag("age_type")} radiocarbon or calendar'
                reading.fault("the row names no calibration curve", do, i, header)
        reading.refuse()
        reading.fact("age type", _counted(kinds), f"the column {header}")
        return kinds
    return None


def _ask_about_curves(reading: Reading, header: Header, cells: Sequence[str]) -> None:
    """Ask what a column of curves means in which no word is known."""
    rows = [i for i, cell in enumerate(cells) if cell]
    found = f"{no_curves(filter(None, cells))}, so that the ages may be radiocarbon ages or calendar ages"
    do = f"{CURVES_TO_WRITE}, or normal for calendar ages, or say {option('age_type', 'calendar')}"
    reading.ask(found, do, rows, header)
    reading.refuse()


def _refuse_curve(reading: Reading, why: str) -> Reading:
    """Calendar ages need no curve: it must have been meant for others."""
    t, curve = reading.columns.t, reading.options.curve
    used = reading.columns.radiocarbon and reading.columns.t.index != MADE
    if curve is not None and not used:
        reading.ask(
            f"{flag('curve')} {curve} calibrates radiocarbon ages, but these are calendar ages: {why}",
            f"leave it out, or say {flag('age_type')} radiocarbon (age_type= in Python)",
            None,
            t,
            age_type="radiocarbon",
        )
        reading.refuse()
    if reading.columns.curve and not used:
        reading.fact("age type", "calendar ages, calibrated already", why)
    return reading


def _as_calendar(reading: Reading) -> Reading:
    """Ages whose header says radiocarbon, taken as calendar ages because the user says so."""
    columns = reading.columns
    _by_option(reading)
    t = reading.only(columns.radiocarbon, "radiocarbon ages") if columns.t.index == MADE else columns.t
    reading.warn(f"the header {t} says that these are radiocarbon ages, but {flag('age_type')} says calendar ages.")
    if columns.t.index != MADE:
        return reading
    kept = replace(
        columns, t=replace(t, role="t", label=columns.t.label), t_errors=columns.radiocarbon_errors, radiocarbon=[],
        radiocarbon_errors=[],
    )  # fmt: skip
    return replace(reading, columns=kept)


def _as_radiocarbon(reading: Reading) -> Reading:
    """Calendar ages beside radiocarbon ages, of which the user has chosen the latter."""
    _by_option(reading)
    columns, t = reading.columns, reading.columns.t
    for i, cell in enumerate(reading.column(t)):
        if reading.program and not is_blank(cell):
            found = f"{reading.program}'s table says that this is a calendar age"
            reading.fault(found, f"leave {flag('age_type')} out, or correct the table", i, t)
    reading.refuse()
    return replace(reading, columns=replace(columns, t=made_of_radiocarbon(reading.options), t_errors=[]))


def _split(reading: Reading, t: Header, kinds: Sequence[str]) -> Reading:
    """The reading with the radiocarbon ages of a column `t`, and their errors, in columns of their own."""
    columns, options = reading.columns, reading.options
    if "radiocarbon" not in kinds:
        return replace(reading, columns=replace(columns, curve=[], radiocarbon=[], radiocarbon_errors=[]))
    errors = columns.radiocarbon_errors if columns.t.index == MADE else columns.t_errors
    if "calendar" not in kinds:
        made = made_of_radiocarbon(options)
        all_of_them = replace(columns, t=made, t_errors=[], radiocarbon=[t], radiocarbon_errors=list(errors))
        return replace(reading, columns=_with_curves(reading, all_of_them))
    radiocarbon = [kind == "radiocarbon" for kind in kinds]
    headers, cells = list(reading.headers), [list(row) for row in reading.cells]
    copies = []
    for old in (t, *errors):
        copies.append(replace(old, index=len(headers)))
        headers.append(copies[-1])
        for row, is_radiocarbon_age in zip(cells, radiocarbon, strict=True):
            row.extend([""] * (copies[-1].index - len(row)))
            row.append(row[old.index] if is_radiocarbon_age else "")
            if is_radiocarbon_age:
                row[old.index] = ""
    for header in columns.curve:
        for row, is_radiocarbon_age in zip(cells, radiocarbon, strict=True):
            row[header.index] = row[header.index] if is_radiocarbon_age else ""
    plain = replace(t, role="t", scale=t.scale or options.scale or "BP").called(options.t_name, options.t_unit)
    both = replace(columns, t=plain, t_errors=list(errors), radiocarbon=copies[:1], radiocarbon_errors=copies[1:])
    return replace(reading, headers=headers, cells=cells, columns=_with_curves(reading, both))


def _with_curves(reading: Reading, columns: Columns) -> Columns:
    """Columns called curve count only if they name calibration curves."""
    return replace(columns, curve=[h for h in columns.curve if any(map(is_curve, reading.column(h)))])
