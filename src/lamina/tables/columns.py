"""Which column is what: the input, the output, their errors, what orders the rows, cores, sites and flags."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from numpy.typing import ArrayLike

from ..support.text import is_number
from .file import Table
from .headers import Header, any_sigma, is_calibrated, is_radiocarbon, squash
from .matching.sequences import telling_apart
from .matching.suggestions import no_input, no_output, only_fractionation, pair_of_limits
from .messages import Fact, Notes, flag, listing, name_lines, option
from .options import Options

#: What each role is called in messages, and the option that chooses between several columns for it.
_ROLES = {
    "t": ("the input (age, year)", "t"),
    "y": ("the output (RSL, value)", "y"),
    "depth": ("the depth", "depth"),
    "height": ("the height", "order"),
    "position": ("the position", "order"),
    "core": ("the core", "sequence"),
    "site": ("the site", "sequence"),
    "limiting": ("the limiting flag", None),
    "thickness": ("the thickness of the samples", "thickness"),
    "tie": ("the ties", None),
    "hiatus": ("the hiatuses", None),
}
#: Index of an input that no column holds, because it is made of others.
MADE = -1


@dataclass(frozen=True)
class Columns:
    """The headers that are used. Error columns come as a list, because upper and lower are two.

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
    thickness: Header | None
    tie: Header | None
    hiatus: Header | None
    radiocarbon: list[Header]
    radiocarbon_errors: list[Header]
    curve: list[Header]
    delta_r: list[Header]
    delta_r_errors: list[Header]

    @property
    def places(self) -> list[Header]:
        """The columns that may order the rows by name, the best first."""
        return [header for header in (self.depth, self.height, self.position) if header is not None]

    @property
    def measured(self) -> list[Header]:
        """The columns of numbers, those of radiocarbon ages not among them."""
        found = [self.t, *self.t_errors, self.y, *self.y_errors, *self.depth_limits, *self.places]
        found += [] if self.thickness is None else [self.thickness]
        return [header for header in found if header.index != MADE]

    @property
    def of_radiocarbon(self) -> list[Header]:
        """All that radiocarbon ages need."""
        return [*self.radiocarbon, *self.radiocarbon_errors, *self.curve, *self.delta_r, *self.delta_r_errors]


@dataclass(frozen=True)
class Reading(Table):
    """A table with what is known of it so far. All steps of reading share it, and add to its notes.

    scale: "BP", "CE" or None. comma: whether numbers have a decimal comma.
    """

    columns: Columns
    notes: Notes
    scale: str | None = None
    comma: bool = False

    def fact(self, what: str, understood: str, why: str = "") -> None:
        """Note what was understood, and why."""
        self.notes.facts.append(Fact(what, understood, why))

    def warn(self, text: str) -> None:
        """Note what to be careful about."""
        self.notes.warnings.append(text)

    def fault(self, found: str, do: str, rows: ArrayLike, column: Header | None, **answers: Any) -> None:
        """Note cells that cannot be used, by row of the table, so that one message names them all.

        answers: values of options with which they can.
        """
        self.notes.fault(found, do, self.lines_of(rows), None if column is None else column.text, **answers)

    def ask(self, found: str, do: str, rows: ArrayLike | None, column: Header | None, **answers: Any) -> None:
        """Note what is not clear in some rows, or in the header; `do` names the options that decide.

        answers: the most likely values of these options.
        """
        lines = [self.header_line] if rows is None else self.lines_of(rows)
        self.notes.ask(found, do, lines, None if column is None else column.text, **answers)

    def refuse(self) -> None:
        """Raise TableError if there are cells that cannot be used, or something is not clear."""
        self.notes.refuse(self.path)

    def name_lines(self, rows: ArrayLike) -> str:
        """The lines of some rows of the table, in words."""
        return name_lines(self.lines_of(rows))


def begin(table: Table) -> Reading:
    """Begin to read a table: find its columns by their names; options come first.

    Raises TableError if a column is missing or not clear.
    """
    return Reading(**vars(table), columns=_assign(table), notes=Notes())


def _assign(table: Table) -> Columns:
    options = table.options
    found = {role: _choose(table, role) for role in _ROLES if role not in ("t", "y", "depth", "thickness")}
    found["thickness"] = _thickness(table)
    found["depth"] = _choose(table, "depth") if options.depth is None else _depth(table, options.depth)
    t = _named(table, options.t, "t")
    raw = [h for h in table.headers if h.role == "radiocarbon age" and (t is None or h.index != t.index)]
    limits: list[Header] = []
    says_radiocarbon = t is not None and is_radiocarbon(t.text) and not table.program  # which knows better
    if t is not None and says_radiocarbon and options.age_type != "calendar":
        t, raw = made_of_radiocarbon(options), [t]
    if t is None:
        t, limits = _of_age_model(table) or _of_limits(table) or (made_of_radiocarbon(options) if raw else None, [])
    if t is None:
        raise no_input(table)
    y = _named(table, options.y, "y")
    depth_limits = [h for h in table.headers if h.role == "depth" and h.side is not None and not h.says_error]
    depth = found["depth"] or (depth_limits[0] if len(depth_limits) == 2 else None)
    if y is None:
        raise no_output(table, depth)
    if raw and y.word == "d13c" and options.y is None:
        raise only_fractionation(table, y, depth)
    if t.index == y.index:
        raise table.problem("the column is named as input and as output", "name two columns", column=t)
    only_raw = t.index == MADE and not limits
    return Columns(
        t=t.called(options.t_name, options.t_unit),
        t_errors=[] if only_raw else _errors(table, t, "t", limits),
        y=y.called(options.y_name, options.y_unit),
        y_errors=_errors(table, y, "y"),
        depth_limits=depth_limits,
        label=min(_values(table, "label"), key=lambda h: h.rank, default=None),
        rejects=_values(table, "reject"),
        radiocarbon=raw,
        radiocarbon_errors=_radiocarbon_errors(table, raw, options.t_sd if only_raw else None),
        curve=_values(table, "curve"),
        delta_r=_values(table, "delta r"),
        delta_r_errors=[h for h in table.headers if h.role == "delta r" and h.error],
        **found,
    )


def _values(table: Table, role: str) -> list[Header]:
    """The columns of a role that hold its values, not their errors."""
    return [header for header in table.headers if header.role == role and not header.error]


def _named(table: Table, name: str | None, role: str) -> Header | None:
    """The column that the user names for a role, else the one with the best name."""
    return _choose(table, role) if name is None else table.require(name, option(role, "COLUMN"))


def _depth(table: Table, name: str) -> Header:
    """The column of depths that the user names."""
    return replace(table.require(name, option("depth", "COLUMN")), role="depth")


def _thickness(table: Table) -> Header | None:
    """The column of thicknesses, unless it is the output, or the user gives one number, another column or none."""
    name = table.options.thickness
    if name is None:
        found = _choose(table, "thickness")
        return None if found is None or table.options.y in (found.text, squash(found.text)) else found
    if name.lower() == "none" or (table.find(name) is None and is_number(name)):
        return None
    return table.require(name, option("thickness", "COLUMN or NUMBER"))


def _choose(table: Table, role: str) -> Header | None:
    """The column with the best name for a role. Columns with equally good names must hold the same."""
    matches = _values(table, role)
    best = [header for header in matches if header.rank == min(h.rank for h in matches)]
    what, by = _ROLES[role]
    if by == "sequence" and len(best) > 1:
        best = telling_apart(table, best)
    do = f"choose one with {option(by, 'COLUMN')}" if by else "rename all but one"
    if table.differ(best):
        likely = next((header for header in best if is_calibrated(header.text)), best[0])
        raise table.ambiguous(best, what, do).suggesting(**({by: likely.text} if by else {}))
    return best[0] if best else None


# --- errors of the input and the output ------------------------------------------------------------------------------


def _errors(table: Table, centre: Header, role: str, limits: Sequence[Header] = ()) -> list[Header]:
    """The error columns of the input or the output: those that the user names, else its `limits` if they are known,
    else those of its name, else those next to it, else those of its role that belong to no other column.
    """
    by = table.options.t_sd if role == "t" else table.options.y_sd
    if by is not None:
        return [h if h.sigma is not None else replace(h, sigma=any_sigma(h.text)) for h in _by_option(table, by, role)]
    if limits:
        return list(limits)
    candidates = [h for h in table.headers if h.error and h.role == role]
    if role == "t":
        candidates = [h for h in candidates if not _beside_radiocarbon(table, h)]
    mine = [h for h in candidates if h.word == centre.word]
    if mine:
        return mine
    nameless = ("error", "radiocarbon error") if is_radiocarbon(centre.text) else ("error",)
    for header in table.headers[centre.index + 1 :]:
        if header.role in nameless:
            mine.append(header)
        elif mine or any(map(is_number, table.column(header))):
            break
    others = {h.word for h in _values(table, role) if h.index != centre.index}
    return mine or [h for h in candidates if h.word not in others]


def _by_option(table: Table, name: str, role: str) -> list[Header]:
    """The error column that the user names; none if it is a number."""
    header = table.find(name)
    if header is None and is_number(name):
        return []
    return [header or table.require(name, option(f"{role}_sd", "COLUMN or NUMBER"))]


def _beside_radiocarbon(table: Table, error: Header) -> bool:
    """Whether an error column stands beside a radiocarbon age, of which it must be the error."""
    before = [h for h in table.headers[: error.index] if not h.error]
    return bool(before) and before[-1].role == "radiocarbon age"


def _radiocarbon_errors(table: Table, raw: list[Header], by: str | None) -> list[Header]:
    """The columns of the laboratory errors: the one that the user names, else those of their role, else what stands
    beside the ages.
    """
    if not raw:
        return []
    if by is not None:
        return _by_option(table, by, "t")
    errors = [h for h in table.headers if h.role == "radiocarbon error"]
    beside = [h for h in table.headers if h.error and h.role in ("error", "t") and _beside_radiocarbon(table, h)]
    return errors or beside


# --- an input that no column holds -----------------------------------------------------------------------------------


def _of_age_model(table: Table) -> tuple[Header, list[Header]] | None:
    """The age in the output of an age-depth model such as Bacon's, whose columns are depth, min, max, median and mean,
    and its limits. None if there is none.
    """
    limits = [h for h in table.headers if squash(h.text) in ("min", "max")]
    for word in "median", "mean":
        for header in table.headers:
            if squash(header.text) == word and len(limits) == 2:
                return replace(header, role="t", word=word, modelled=True), limits
    return None


def _of_limits(table: Table) -> tuple[Header, list[Header]] | None:
    """An input that is known by its limits only, if these are to be read as a uniform range."""
    limits = pair_of_limits(table, "t")
    if table.options.t_errors != "uniform" or limits is None:
        return None
    if table.options.t_sd is not None:
        found = f"{listing(limits)} are to be read as a uniform range, which has no other error"
        raise table.header_problem(found, f"leave out {flag('t_sd')} or {flag('t_errors')}")
    name = limits[0].word or "age"
    return Header(MADE, name, role="t", word=name, scale=limits[0].scale, unit=limits[0].unit), limits


def made_of_radiocarbon(options: Options) -> Header:
    """An input that is known by radiocarbon ages only."""
    unit = "CE" if options.scale == "CE" else "cal BP"
    made = Header(MADE, "age", role="t", word="age", scale=options.scale or "BP", unit=unit)
    return made.called(options.t_name, options.t_unit)
