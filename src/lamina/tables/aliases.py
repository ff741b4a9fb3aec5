"""Which column is what: the input, the output, their errors, what orders the rows, cores, sites and flags."""

from dataclasses import dataclass, replace
from itertools import pairwise

from .grid import Grid
from .headers import Header, any_sigma, is_radiocarbon, squash
from .options import Options
from .problems import TableError, listing, option, problem, quote

_MEANS = {
    "t": "the input (age, year)",
    "y": "the output (RSL, value)",
    "depth": "the depth",
    "height": "the height",
    "position": "the position",
    "core": "the core",
    "site": "the site",
    "limiting": "the limiting flag",
    "tie": "the ties",
    "hiatus": "the hiatuses",
}
#: Index of an input that no column holds, because it is made of others.
MADE = -1


@dataclass(frozen=True)
class Columns:
    """The headers that play a part. Error columns come as a list, because upper and lower are two.

    The input may be MADE of others: of its limits, which are then its errors, or of radiocarbon ages. What radiocarbon
    needs comes as lists too: whether one column is meant matters only if there are ages to calibrate.
    """

    t: Header
    t_errors: list[Header]
    y: Header
    y_errors: list[Header]
    depth: Header | None
    depth_limits: list[Header]
    height: Header | None
    position: Header | None
    core: Header | None
    site: Header | None
    label: Header | None
    rejects: list[Header]
    limiting: Header | None
    tie: Header | None
    hiatus: Header | None
    radiocarbon: list[Header]
    radiocarbon_errors: list[Header]
    curve: list[Header]
    delta_r: list[Header]
    delta_r_errors: list[Header]

    @property
    def of_radiocarbon(self) -> list[Header]:
        """All that radiocarbon ages need."""
        return [*self.radiocarbon, *self.radiocarbon_errors, *self.curve, *self.delta_r, *self.delta_r_errors]


def assign(grid: Grid, options: Options) -> Columns:
    """Find the columns by their names; options come first. Raises TableError if one is missing or not clear."""
    found = {role: _choose(grid, role, _option(role)) for role in ("depth", "height", "position", "core", "site")}
    found |= {role: _choose(grid, role, None) for role in ("limiting", "tie", "hiatus")}
    t = _named(grid, options.t, "t") or _choose(grid, "t", "t")
    raw = [h for h in grid.headers if h.role == "radiocarbon age" and (t is None or h.index != t.index)]
    limits_of_t: list[Header] = []
    if t is None:
        t, limits_of_t = _of_age_model(grid) or _of_limits(grid, options) or _of_radiocarbon(raw, options) or (None, [])
    if t is None:
        raise _no_input(grid)
    y = _named(grid, options.y, "y") or _choose(grid, "y", "y")
    if y is None:
        raise _no_output(grid, t, found["depth"])
    if t.index == y.index:
        raise problem(grid.path, "the column is named as input and as output", "name two columns", column=t.text)
    limits = [h for h in grid.headers if h.role == "depth" and h.side is not None and not h.says_error]
    labels = sorted((h for h in grid.headers if h.role == "label" and not h.error), key=lambda h: h.rank)
    only_raw = t.index == MADE and not limits_of_t
    return Columns(
        t=t,
        t_errors=[] if only_raw else _errors(grid, t, "t", options.t_sd, limits_of_t),
        y=y,
        y_errors=_errors(grid, y, "y", options.y_sd),
        depth_limits=limits,
        label=labels[0] if labels else None,
        rejects=[h for h in grid.headers if h.role == "reject" and not h.error],
        radiocarbon=raw,
        radiocarbon_errors=_radiocarbon_errors(grid, raw, options.t_sd if only_raw else None),
        curve=[h for h in grid.headers if h.role == "curve" and not h.error],
        delta_r=[h for h in grid.headers if h.role == "delta r" and not h.error],
        delta_r_errors=[h for h in grid.headers if h.role == "delta r" and h.error],
        **found,
    )


def named(grid: Grid, name: str) -> Header | None:
    """The column that the user calls `name`: the very header, or the same without case and punctuation.

    Raises TableError if several columns are called so and do not say the same.
    """
    for as_compared in (str.strip, lambda text: text.strip().lower(), squash):
        alike = [header for header in grid.headers if as_compared(header.text) == as_compared(name)]
        if any(grid.column(a) != grid.column(b) for a, b in pairwise(alike)):
            texts = [header.text for header in alike]
            found = f"{len(alike)} columns may be meant by {quote(name)}: {listing(texts)}"
            do = "give the whole header" if len(set(texts)) == len(texts) else "rename all but one"
            raise problem(grid.path, found, do, grid.header_line)
        if alike:
            return alike[0]
    return None


def must_be_named(grid: Grid, name: str, wanted: str) -> Header:
    """As `named`, but raises TableError if there is no such column."""
    header = named(grid, name)
    if header is None:
        columns = listing(h.text for h in grid.headers if h.text)
        raise problem(
            grid.path, f"there is no such column; the columns are {columns}", f"correct {wanted}", column=name
        )
    return header


def _option(role: str) -> str:
    return "sequence" if role in ("core", "site") else "order"


def _named(grid: Grid, name: str | None, role: str) -> Header | None:
    return None if name is None else must_be_named(grid, name, option(role, "COLUMN"))


def _choose(grid: Grid, role: str, by: str | None) -> Header | None:
    """The column with the best name for a role. Columns with equally good names must say the same."""
    matches = [header for header in grid.headers if header.role == role and not header.error]
    best = [header for header in matches if header.rank == min(h.rank for h in matches)]
    if not best:
        return None
    if any(grid.column(a) != grid.column(b) for a, b in pairwise(best)):
        do = f"choose one with {option(by, 'COLUMN')}" if by else "rename all but one"
        found = f"{len(best)} columns may hold {_MEANS[role]}: {listing(h.text for h in best)}"
        raise problem(grid.path, found, do, grid.header_line)
    return best[0]


def _errors(grid: Grid, centre: Header, role: str, by: str | None, limits: list[Header] | None = None) -> list[Header]:
    """The error columns of the input or the output: those that the user names, else its `limits` if they are known,
    else those of its name, else those next to it, else those of its role that belong to no other column.
    """
    if by is not None:
        header = named(grid, by)
        if header is None and is_number(by):
            return []
        header = header or must_be_named(grid, by, option(f"{role}_sd", "COLUMN or NUMBER"))
        return [header if header.sigma is not None else replace(header, sigma=any_sigma(header.text))]
    if limits:
        return limits
    candidates = [h for h in grid.headers if h.error and h.role == role and not _beside_radiocarbon(grid, h)]
    mine = [h for h in candidates if h.word == centre.word]
    if mine:
        return mine
    nameless = ("error", "radiocarbon error") if is_radiocarbon(centre.text) else ("error",)
    for header in grid.headers[centre.index + 1 :]:
        if header.role not in nameless:
            break
        mine.append(header)
    others = {h.word for h in grid.headers if h.role == role and not h.error and h.index != centre.index}
    return mine or [h for h in candidates if h.word not in others]


def _beside_radiocarbon(grid: Grid, error: Header) -> bool:
    """Whether an error column stands beside a radiocarbon age, of which it must be the error."""
    before = [h for h in grid.headers[: error.index] if not h.error]
    return bool(before) and before[-1].role == "radiocarbon age"


def _radiocarbon_errors(grid: Grid, raw: list[Header], by: str | None) -> list[Header]:
    """The columns of the laboratory errors: the one that the user names, else those of their role, else what stands
    beside the ages.
    """
    if not raw:
        return []
    if by is not None:
        header = named(grid, by)
        if header is None and is_number(by):
            return []
        return [header or must_be_named(grid, by, option("t_sd", "COLUMN or NUMBER"))]
    errors = [h for h in grid.headers if h.role == "radiocarbon error"]
    beside = [h for h in grid.headers if h.error and h.role in ("error", "t") and _beside_radiocarbon(grid, h)]
    return errors or beside


def _of_limits(grid: Grid, options: Options) -> tuple[Header, list[Header]] | None:
    """An input that is known by its limits only, if these are to be read as a uniform range."""
    limits = _pair_of_limits(grid, "t")
    if options.t_errors != "uniform" or limits is None:
        return None
    known = limits[0]
    name = known.word or "age"
    return Header(MADE, name, role="t", word=name, scale=known.scale, unit=known.unit), limits


def _of_radiocarbon(raw: list[Header], options: Options) -> tuple[Header, list[Header]] | None:
    """An input that is known by radiocarbon ages only."""
    if not raw:
        return None
    unit = "CE" if options.scale == "CE" else "cal BP"
    return Header(MADE, "age", role="t", word="age", scale=options.scale or "BP", unit=unit), []


def _of_age_model(grid: Grid) -> tuple[Header, list[Header]] | None:
    """The age in the output of an age-depth model such as Bacon's, whose columns are depth, min, max, median and mean,
    and its limits. None if there is none.
    """
    limits = [h for h in grid.headers if squash(h.text) in ("min", "max")]
    for word in "median", "mean":
        for header in grid.headers:
            if squash(header.text) == word and len(limits) == 2:
                return replace(header, role="t", word=word, modelled=True), limits
    return None


def is_number(text: str) -> bool:
    """Whether an option is a number instead of the name of a column."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def _no_input(grid: Grid) -> TableError:
    limits = _limits_only(grid, "t")
    if limits is not None:
        return limits
    columns = listing(h.text for h in grid.headers if h.text)
    return problem(
        grid.path,
        f"no column holds the input (age, year); the columns are {columns}",
        f"name it with {option('t', 'COLUMN')}",
        grid.header_line,
    )


def _no_output(grid: Grid, t: Header, depth: Header | None) -> TableError:
    limits = _limits_only(grid, "y")
    if limits is not None:
        return limits
    others = [h.text for h in grid.headers if h.text and h.role is None]
    dates = "it holds dates and depths only, to which no curve can be fitted; " if depth and len(others) < 2 else ""
    without = "" if depth is None else ", or make an age-depth model, which needs none, with lamina agedepth"
    rest = f"; not used so far: {listing(others)}" if others else ""
    return problem(
        grid.path,
        f"no column holds the output (RSL, value, d18O){rest}",
        f"{dates}name it with {option('y', 'COLUMN')}{without}",
        grid.header_line,
    )


def _limits_only(grid: Grid, role: str) -> TableError | None:
    """A pair of limits without the value between them: what to add. None if there is no such pair."""
    limits = _pair_of_limits(grid, role)
    if limits is None:
        return None
    uniform = f"; or say {option('t_errors', 'uniform')} to read them as a uniform range" if role == "t" else ""
    what, name = {"t": ("input", "age"), "y": ("output", "value")}[role]
    return problem(
        grid.path,
        f"{listing(h.text for h in limits)} seem to be limits of the {what}, and no column holds the {what} itself",
        f"add a column {name} with the middle of the two; half of their range is then read as 2 standard deviations of "
        f"a normal error, or as 1 with {option(f'{role}_sigma', '1')}{uniform}",
        grid.header_line,
    )


def _pair_of_limits(grid: Grid, role: str) -> list[Header] | None:
    """The lower and the upper limit of the input or the output; None if there are no two."""
    unnamed = "error" if role == "t" else role  # "lower" and "upper" alone are more often about ages
    limits = [h for h in grid.headers if h.side is not None and not h.says_error and h.role in (role, unnamed)]
    low, up = ([h for h in limits if h.side == side][:1] for side in ("low", "up"))
    return [*low, *up] if low and up else None
