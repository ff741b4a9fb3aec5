"""A table in which no column is called like the input or the output: what to say, and which column is most likely."""

import re
from collections.abc import Collection
from itertools import chain, pairwise

from ...support.text import is_number
from ..file import Table
from ..headers import Header, squash
from ..messages import TableError, listing, option

#: The top and the bottom of a slice.
_SLICE = re.compile(r"(\d{1,5}(?:\.\d+)?)\s*(?:[-−–—]|to)\s*(\d{1,5}(?:\.\d+)?)(?:\s*(?:cm|mm|m))?")
#: Steps from row to row that show which way a column runs.
_FEWEST_STEPS = 2
#: Rows that show what a column holds, and the part of them that must be numbers.
_SAMPLE, _MOST = 100, 0.8
#: The points of 1.040,5.
_THOUSANDS = re.compile(r"\.(?=\d{3}(?:\.\d{3})*,\d+$)")
_MISSING = {"", "na", "nan", "n/a", "null", "-", "--"}
#: Words for ages, depths and errors, some of them in other languages.
_AGE = re.compile(
    r"(?<![a-z])(?:gas|ice|cal|core)?(?:ages?|years?|yrs?|dates?|time|(?:kalender|modell)?alter|jahre?|[âa]ge|ann[ée]es?|edad"
    r"|a[ñn]os?|et[àa]|leeftijd|[åa]lder)(?![a-z])",
    re.IGNORECASE,
)
_DEPTH = re.compile(
    r"(?<![a-z])(?:depths?|\w*tiefe|teufe|profondeur|profundidad|profondit[àa]|diepte|djup)(?![a-z])", re.IGNORECASE
)
_MIDDLES = {"median", "mean", "mode", "midpoint", "middle", "weightedmean", "medianprobability"}
_CALENDAR = re.compile(r"(?<![a-z])(?:cal\w*|bp|ce|ad|b2k)(?![a-z])", re.IGNORECASE)
#: An isotope in front of an age says how it was dated, and "n. Chr." that years are CE: neither is a word of its own.
_WITHIN = re.compile(r"\d{3}\s?(?:U|Th|Pb)(?:/\d{3}\s?(?:U|Th|Pb))?\W*(?=ages?\b)|\bn\.\s?Chr\b", re.IGNORECASE)
#: Words of columns that go with an age or a value, and are neither.
_ASIDE = re.compile(
    r"(?<![a-z])(?:err\w*|\w*fehler|unsicherheit|incertitude|unc\w*|\d?sd|\d?se|std\w*|sigma|min|max|upper|lower|range|type|method|model|reference|lab"
    r"|limit\w*|id|\w*(?:control|sample|site|core|dataset|lab)id|no|n|number|count|bag|section|lat\w*|lon\w*|elev\w*|altitude|depth|ztop|thickness|density|mass|cc|t\.?[ab]"
    r"|dose|de|gy|\d{2,3}\s?(?:u|th|pb|cs|ra|k)|postbomb|delta\W?r|delta\W?std|d\W?std|reservoir)(?![a-z])|[±σ]",
    re.IGNORECASE,
)
#: Words for years in which something else happened to a sample.
_OTHER_YEAR = re.compile(
    r"(?<![a-z])(?:pub|publ\w*|references?|collect\w*|sampl(?:ed|ing)|cored|coring|measured|analy[sz]\w*|entry|entered"
    r"|submitted|received|accessed|drill\w*|recovered|retrieved)(?![a-z])",
    re.IGNORECASE,
)
_ELEVATION = re.compile(r"(?:elevation|altitude|h[öo]he)(?![a-z])(?!.*err)", re.IGNORECASE)
_NO_ERROR = re.compile(r"[±σ]|(?<![a-z])(?:err\w*|unc\w*|\d?sd|\d?se|std\w*|sigma)(?![a-z])", re.IGNORECASE)
#: Activities, from which models compute ages.
_ACTIVITY = re.compile(
    r"(?<!\d)210\W?pb|(?<![a-z])pb\W?210|(?<!\d)137\W?cs|(?<![a-z])cs\W?137|m?bq\W?k?g", re.IGNORECASE
)
_MEASURED = re.compile(
    r"(?:d|δ|delta)\s?-?(?:18o|13c|2h|d)(?![a-z0-9])|sst|temp|rsl|sea.?level|mg/?ca|uk.?37|tex.?86|salin|precip|co2|ch4",
    re.IGNORECASE,
)


def no_input(table: Table) -> TableError:
    """The error to raise if no column holds the input."""
    limits, middles = limits_only(table, "t"), _middles(table)
    if limits:
        return limits.suggesting(**({"t": middles[0].text} if len(middles) == 1 else {"t_errors": "uniform"}))
    found = f"no column holds the input (age, year); the columns are {table.listed}"
    likely = _likely_input(table)
    if likely is not None:
        return table.header_problem(found, f"name it with {option('t', 'COLUMN')}").suggesting(t=likely.text)
    activities = [h for h in table.headers if _ACTIVITY.search(_words(h))]
    if activities:
        found = f"{listing(activities)} seem to be activities, and no column holds an age"
        do = "lamina needs the ages that a model such as CRS, CFCS or Plum computes from them (serac and rplum do so)"
        return table.header_problem(
            found, f"{do}: add them with their errors, or name them with {option('t', 'COLUMN')}"
        )
    return table.header_problem(found, f"name it with {option('t', 'COLUMN')}")


def no_output(table: Table, depth: Header | None) -> TableError:
    """The error to raise if no column holds the output. Without any that could, the table is for an age-depth model."""
    if {squash(h.text) for h in table.headers} - {""} == {"depth", "min", "max", "median", "mean"}:
        found = "these are the ages of an age-depth model, and no column holds a measurement"
        return table.header_problem(
            found, f"use them for another table, with lamina fit TABLE --ages {table.path.name}"
        )
    likely = None if table.program else _likely_output(table)
    others = [h for h in table.headers if h.text and h.role is None]
    dates = "it holds dates and depths only, to which no curve can be fitted; " if depth and likely is None else ""
    without = "" if depth is None else ", or make an age-depth model, which needs none, with lamina agedepth"
    rest = f"; not used so far: {listing(others)}" if others else ""
    error = limits_only(table, "y") or table.header_problem(
        f"no column holds the output (RSL, value, d18O){rest}",
        f"{dates}name it with {option('y', 'COLUMN')}{without}",
    )
    if likely is not None:
        return error.suggesting(y=likely.text)
    return error.suggesting(command="agedepth") if depth is not None else error


def only_fractionation(table: Table, y: Header, depth: Header | None) -> TableError:
    """The error to raise if the output would be the δ13C that laboratories report beside radiocarbon ages."""
    found = "δ13C beside radiocarbon ages is usually measured to correct them"
    agedepth = "" if depth is None else ", or make an age-depth model of the dates with lamina agedepth"
    error = table.header_problem(found, f"say {option('y', y.text)} if it is the output{agedepth}", y)
    return error.suggesting(**({"y": y.text} if depth is None else {"command": "agedepth"}))


def pair_of_limits(table: Table, role: str) -> list[Header] | None:
    """The lower and the upper limit of the input or the output; None if there are no two."""
    unnamed = "error" if role == "t" else role  # "lower" and "upper" alone are more often about ages
    limits = [h for h in table.headers if h.side is not None and not h.says_error and h.role in (role, unnamed)]
    low, up = ([h for h in limits if h.side == side][:1] for side in ("low", "up"))
    return [*low, *up] if low and up else None


def limits_only(table: Table, role: str) -> TableError | None:
    """A pair of limits without the value between them: what to add. None if there is no such pair."""
    limits = pair_of_limits(table, role)
    if limits is None:
        return None
    uniform = f"; or say {option('t_errors', 'uniform')} to read them as a uniform range" if role == "t" else ""
    what, name = {"t": ("input", "age"), "y": ("output", "value")}[role]
    one = f"or as 1 with {option(f'{role}_sigma', '1')}{uniform}"
    return table.header_problem(
        f"{listing(limits)} seem to be limits of the {what}, and no column holds the {what} itself",
        f"add a column {name} with the middle of the two, or name it with {option(role, 'COLUMN')}; half of their "
        f"range is then read as 2 standard deviations of a normal error, {one}",
    )


def _likely_input(table: Table) -> Header | None:
    """A column of numbers whose name suggests ages or years; one with a calendar, or corrected, first."""
    plain = {h.index: _WITHIN.sub("", _words(h)) for h in table.headers}
    ages = [h for h in table.headers if _AGE.search(plain[h.index]) and not _ASIDE.search(plain[h.index])]
    ages = [h for h in ages if "age" in h.text.lower() or not _OTHER_YEAR.search(_words(h))]
    found = [h for h in ages if _numeric(table, h)]

    def likelihood(header: Header) -> int:
        corrected = "corrected" in header.text.lower() and "uncorrected" not in header.text.lower()
        return 2 * bool(_CALENDAR.search(_words(header))) + corrected

    middles = _middles(table)
    return max(found, key=likelihood, default=middles[0] if middles and _speaks_of_ages(table) else None)


def _middles(table: Table) -> list[Header]:
    """Columns of numbers called median, mean and the like, and nothing else."""
    return [h for h in table.headers if squash(h.text) in _MIDDLES and _numeric(table, h)]


def _speaks_of_ages(table: Table) -> bool:
    return any(_AGE.search(_words(header)) for header in table.headers)


def likely_depth(table: Table, used: Collection[int] = ()) -> Header | None:
    """A column of numbers whose name means depth, or of tops and bottoms; else one of numbers that grow, or fall, from
    row to row, as depths do.

    used: the positions of columns that are something else.
    """
    free = [h for h in table.headers if h.text and h.index not in used and _numeric(table, h)]
    named = [h for h in free if _DEPTH.search(_words(h))]
    named += [h for h in table.headers if h.text and h.index not in used and _top_and_bottom(table, h)]
    others = [h for h in free if h.role is None and not _ASIDE.search(_words(h)) and not _AGE.search(_words(h))]
    return next(chain(named, (h for h in others if _runs_one_way(table, h))), None)


def _top_and_bottom(table: Table, header: Header) -> bool:
    """Whether most cells of a column are like "10-12 cm", and no ages."""
    cells = _sample(table, header)
    slices = [match for cell in cells if (match := _SLICE.fullmatch(cell)) and float(match[1]) < float(match[2])]
    return len(cells) > 1 and len(slices) >= _MOST * len(cells) and not _AGE.search(_words(header))


def _runs_one_way(table: Table, header: Header) -> bool:
    """Whether the numbers of a column all grow or all fall, and are more than a count of the rows."""
    cells = [cell for cell in _sample(table, header) if is_number(cell)]
    steps = [float(b) - float(a) for a, b in pairwise(cells)]
    if len(steps) < _FEWEST_STEPS or len(cells) < len(table.cells[:_SAMPLE]):
        return False
    return (min(steps) > 0.0 or max(steps) < 0.0) and set(steps) not in ({1.0}, {-1.0})


def _likely_output(table: Table) -> Header | None:
    """A column of numbers without a part to play: one with a known word, an error beside it, or ups and downs first."""
    unused = [h for h in table.headers if h.role is None and h.text]
    aside = _ASIDE, _AGE, _DEPTH

    def with_error(header: Header) -> bool:
        beside = table.headers[header.index + 1 : header.index + 2]
        return any(h.error or _NO_ERROR.search(_words(h)) for h in beside)

    found = [
        h
        for h in unused
        if (not any(one.search(_words(h)) for one in aside) or (_ELEVATION.match(_words(h)) and with_error(h)))
        and _numeric(table, h)
    ]

    def likelihood(header: Header) -> int:
        return 4 * bool(_MEASURED.search(_words(header))) + 2 * with_error(header) + _turns(table, header)

    return max(found, key=likelihood, default=None)


def _words(header: Header) -> str:
    return header.text.replace("_", " ")


def _sample(table: Table, header: Header) -> list[str]:
    cells = table.column(header)[:_SAMPLE]
    return [_THOUSANDS.sub("", cell).replace(",", ".") for cell in cells if cell.lower() not in _MISSING]


def _numeric(table: Table, header: Header) -> bool:
    cells = _sample(table, header)
    return bool(cells) and sum(map(is_number, cells)) >= _MOST * len(cells) and len(set(cells)) > 1


def _turns(table: Table, header: Header) -> bool:
    """Whether the numbers of a column go up and down, as depths and counts do not."""
    steps = [b - a for a, b in pairwise(float(cell) for cell in _sample(table, header) if is_number(cell))]
    return min(steps, default=0.0) < 0.0 < max(steps, default=0.0)
