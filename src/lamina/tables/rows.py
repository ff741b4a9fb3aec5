"""Rows that the table itself marks (rejected and limiting dates), and the core or site of each row."""

from difflib import get_close_matches
from typing import cast

from .checks.flags import note_unclear, rejected_rows
from .columns import Reading
from .headers import LIMIT, Header
from .messages import counted, flag, listing, option, quote
from .places.sites import site_column

_INDEX = {
    *("", "0", "no", "n", "none", "false", "na"),
    *("slip", "index", "index point", "sea level index point", "sea-level index point"),
}
_LIMITING = {"1", "-1", "2", "yes", "y", "true", "x", "marine", "terrestrial", "freshwater"}
#: Codes of limiting dates, in databases of sea level, whose sides differ from one to the other.
_SIGNED = {"1", "-1"}
#: Words for what lies below the water, where the curve is above it, and for what lies above.
_SIDES = {"marine": "above", "terrestrial": "below", "freshwater": "below", "fresh water": "below"}


def rows_of_site(reading: Reading) -> list[int]:
    """The rows of the site or core that the user has chosen; all rows without one. Raises TableError."""
    columns, site, everything = reading.columns, reading.options.site, list(range(len(reading.cells)))
    if site is None:
        return everything
    headers = _by_option(reading) or [header for header in (columns.site, columns.core) if header is not None]
    if not headers:
        raise reading.problem("no column names sites or cores", f"name it with {option('sequence', 'COLUMN')}")
    wanted = site.strip().casefold()
    for header in headers:
        rows = [i for i, cell in enumerate(reading.column(header)) if cell.casefold() == wanted]
        if rows:
            reading.fact(
                "site", f"{len(rows)} of {len(everything)} rows, those of {quote(site)}", reading.set_by("site")
            )
            return rows
    names = list(dict.fromkeys(name for header in headers for name in reading.column(header) if name))
    near = get_close_matches(wanted, [name.casefold() for name in names], n=1)
    nearest = next((name for name in names if near and name.casefold() == near[0]), None)
    mean = "" if nearest is None else f": did you mean {quote(nearest)}?"
    found = f"there is no {quote(site)}{mean or f', but {listing(names)}'}"
    error = reading.problem(found, f"correct {option('site', 'NAME')}", column=headers[0])
    raise error.suggesting(**({} if nearest is None else {"site": nearest}))


def _by_option(reading: Reading) -> list[Header]:
    """The column of cores that the user names; [] without one."""
    name = reading.options.sequence
    if name is None or name.lower() == "none":
        return []
    return [reading.require(name, option("sequence", "COLUMN"))]


def label_rows(reading: Reading) -> list[str | None] | None:
    """The sequence of each row, None for a row that has none; None for all if no column names any."""
    columns = reading.columns
    headers = _by_option(reading)
    if reading.options.places:
        return _label_cores(reading, headers)
    if reading.options.sequence is not None and not headers:
        reading.fact("sequences", "one, with all rows", reading.set_by("sequence"))
        return None
    if not headers:
        headers = [h for h in (columns.site, columns.core) if h is not None and any(reading.column(h))]
        headers = [h for h in headers if len(set(reading.column(h))) > 1] or headers[-1:]
    if not headers:
        reading.fact("sequences", "one, with all rows", "no column names cores or sites")
        return None
    rows = zip(*(reading.column(header) for header in headers), strict=True)
    labels = [" / ".join(parts) if all(parts) else None for parts in rows]
    names = list(dict.fromkeys(filter(None, labels)))
    reading.fact("sequences", f"{len(names)}: {listing(names)}", f"the column {' and '.join(map(str, headers))}")
    if columns.site in headers and len(names) > 1 and not reading.options.pool:
        reading.warn(
            f"{len(names)} sites share one curve, each with an order of its own. To fit one site, say "
            f"{option('site', 'NAME')}."
        )
    return labels


def _label_cores(reading: Reading, chosen: list[Header]) -> list[str | None]:
    """The core of each row of a field: those of its site, or the site where no column names cores."""
    site = site_column(reading)
    if reading.options.sequence is None and reading.columns.core is not None:
        chosen = [reading.columns.core]
    cores = [header for header in chosen if header.index != site.index]
    rows = zip(*(reading.column(header) for header in (site, *cores)), strict=True)
    labels = [" / ".join(filter(None, parts)) or None for parts in rows]
    names = list(dict.fromkeys(filter(None, labels)))
    why = f"the column {' and '.join(map(str, (site, *cores)))}"
    reading.fact("cores", f"{len(names)}: {listing(names)}", why)
    return labels


def rows_to_use(reading: Reading) -> list[int]:
    """The rows that no flag leaves out. Raises TableError for a flag that is not clear, or if none is left."""
    columns, rows = reading.columns, list(range(len(reading.cells)))
    rejected = rejected_rows(reading)
    if columns.limiting is not None and reading.options.limiting == "ignore":
        reading.fact("limiting", f"no row, whatever {columns.limiting} says", reading.set_by("limiting"))
    rows = [i for i in rows if i not in rejected]
    if columns.limiting is not None and _is_about_limiting(reading, columns.limiting) and not _ask_about_codes(reading):
        limiting, sides = _limiting(reading, columns.limiting, rows), _sides(reading, columns.limiting)
        drop = reading.options.limiting == "drop"
        dropped = {i for i in limiting if drop or sides[i] is None}
        _note_limiting(reading, columns.limiting, [i for i in limiting if i not in dropped], sorted(dropped))
        rows = [i for i in rows if i not in dropped]
    reading.refuse()
    if not rows:
        raise reading.problem("every row is marked as rejected or limiting", "check the flags")
    return rows


def limits(reading: Reading) -> list[str | None] | None:
    """On which side of each row's value the curve lies, "above" or "below", None where it is measured. None for none.

    The reading holds the rows to use only.
    """
    header = reading.columns.limiting
    if header is None or not _is_about_limiting(reading, header):
        return None
    sides = _sides(reading, header)
    return sides if any(sides) else None


def _note_limiting(reading: Reading, header: Header, used: list[int], dropped: list[int]) -> None:
    why, sides = f"the column {header}", _sides(reading, header)
    bounded = {side: [i for i in used if sides[i] == side] for side in ("above", "below")}
    bounds = "; ".join(f"the curve is {side} {reading.name_lines(rows)}" for side, rows in bounded.items() if rows)
    if bounds:
        reading.fact("limits", bounds, f"{why}; leave them out with {option('limiting', 'drop')}")
    if not dropped:
        return
    by_option = reading.options.limiting == "drop"
    reading.fact(
        "limiting",
        f"{counted(len(dropped), 'row')} left out",
        why + (f", {reading.set_by('limiting')}" if by_option else ""),
    )
    if not by_option:
        reading.warn(
            "limiting dates bound the sea level from one side only; those that do not say which are left out "
            f"({reading.name_lines(dropped)}). Write marine or terrestrial to use them."
        )


def _sides(reading: Reading, header: Header) -> list[str | None]:
    """ "above" or "below" where a cell says on which side of its value the curve lies, None elsewhere."""
    cells = reading.column(header)
    side_of = {cell: _side(_plain(cell)) for cell in set(cells)}
    return [side_of[cell] for cell in cells]


def _side(text: str) -> str | None:
    if text in _INDEX:
        return None
    found = {side for word, side in _SIDES.items() if word in text}
    return found.pop() if len(found) == 1 else None


def _limiting(reading: Reading, header: Header, rows: list[int]) -> list[int]:
    """Those of some rows that are limiting. Flags that are not clear become faults."""
    cells = reading.column(header)
    flags = {cell: _plain(cell) for cell in set(cells)}
    limiting = {cell for cell, text in flags.items() if text in _LIMITING or "limiting" in text}
    unclear = {cell for cell, text in flags.items() if text not in _INDEX} - limiting
    for i in rows if unclear else ():
        if cells[i] in unclear:
            note_unclear(reading, header, i)
    return [i for i in rows if cells[i] in limiting]


def _ask_about_codes(reading: Reading) -> bool:
    """Ask what 1 and -1 mean in the column of limiting dates, and return whether that is not clear."""
    header = reading.columns.limiting
    codes = set() if header is None else set(map(_plain, reading.column(header)))
    if reading.options.limiting is not None or not codes >= _SIGNED:
        return False
    seen = listing(dict.fromkeys(filter(None, reading.column(cast(Header, header)))))
    drop = f"{flag('limiting')} drop to use only the rows with 0, or " if "0" in codes else ""
    reading.ask(
        f"the codes {seen} do not say which rows are index points, and on which side of the others the curve lies",
        "write index, marine (the curve is above) or terrestrial (the curve is below) in their place, or say "
        f"{drop}{flag('limiting')} ignore to use all rows as index points (limiting= in Python)",
        None,
        header,
        **({"limiting": "drop"} if drop else {}),
    )
    return True


def _plain(cell: str) -> str:
    """A cell without case, and without the different ways to write 1 and -1."""
    return cell.casefold().replace("−", "-").removeprefix("+").removesuffix(".0")


def _is_about_limiting(reading: Reading, header: Header) -> bool:
    """A column called "type" may be about anything; it counts if each of its cells is one of our words."""
    if reading.options.limiting == "ignore":
        return False
    if header.rank == 0:
        return True
    flags = set(map(_plain, reading.column(header)))
    if flags & {"0", *_SIGNED}:
        may_be_flags = "0" in flags and header.word not in LIMIT  # 0 and 1 may be about limits of detection
        return flags <= {"0", *_SIGNED, ""} and (may_be_flags or flags >= _SIGNED)
    known = {text for text in flags if text in _INDEX | _LIMITING or "limiting" in text}
    return flags == known and flags != {""}
