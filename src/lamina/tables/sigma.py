"""Errors to standard deviations: 1 or 2 sigma, upper and lower errors, upper and lower limits."""

import re
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from .checks.limits import are_limits, refuse_large, warn_of_large_outputs, warn_of_uneven
from .checks.sigma_words import ask_about_prose, ask_about_sigma
from .checks.units import factor
from .columns import MADE, Reading
from .headers import Header
from .messages import StandIn, TableError, listing, option, quote
from .numbers import Array, Mask, values

_ERROR = re.compile(
    r"(?<![a-z])(?:\d?sd|\d?se|err|error|unc|uncertainty|\d?sigma|std|stdev|\w*fehler|unsicherheit|erreur|incertitude)(?![a-z])",
    re.IGNORECASE,
)
#: What a kind of date is made of.
_PAIRS = {
    "split": "upper and lower errors of the input",
    "uniform": "limits of the input, such as age_min and age_max",
}


class Errors(NamedTuple):
    """Standard deviations, shape (rows,); of upper and lower errors or limits also those towards smaller numbers
    (`low`) and towards larger ones (`up`).
    """

    sd: Array
    low: Array | None = None
    up: Array | None = None


def standard_deviations(reading: Reading, role: str, centre: Array, absent: Mask) -> Errors:
    """The standard deviation of each row's input ("t") or output ("y"), shape (rows,), in the unit of its column.

    Rows where there is none (`absent`) may have no error either. Limits that are read as a uniform range keep their
    distances from the value `centre`, in `low` and `up`. Cells that cannot be used become faults. Raises TableError if
    the columns cannot.
    """
    columns = reading.columns.t_errors if role == "t" else reading.columns.y_errors
    found = _Quantity(reading, role, centre, absent)
    return found.of_columns(columns) if columns else Errors(found.constant())


@dataclass(frozen=True)
class _Quantity:
    """The input or the output, whose errors are read."""

    reading: Reading
    role: str
    centre: Array
    absent: Mask

    @property
    def of(self) -> Header:
        return self.reading.columns.t if self.role == "t" else self.reading.columns.y

    @property
    def name(self) -> str:
        return "input" if self.role == "t" else "output"

    @property
    def kind(self) -> str | None:
        """The kind of date that the user has chosen."""
        return self.reading.options.t_errors if self.role == "t" else None

    def option(self, name: str) -> tuple[str, float | str | None]:
        """The name and value of the option t_sd or y_sd, t_sigma or y_sigma."""
        return f"{self.role}_{name}", getattr(self.reading.options, f"{self.role}_{name}")

    def of_columns(self, columns: list[Header]) -> Errors:
        for header in columns:
            if factor(self.reading, self.role, self.of, header) != 1.0:
                unit = self.of.unit
                why = f"the headers {header} and {self.of} say so"
                self.reading.fact(f"{self.name} error unit", f"{header.unit}, turned into {unit}", why)
        single, upper, lower = ([h for h in columns if h.side == side] for side in (None, "up", "low"))
        if len(single) == 1 and bool(upper) != bool(lower):
            # "Age-2s" beside "Age +2s": the hyphen was meant as a sign.
            upper, lower, single = upper or single, lower or single, []
        limits, low, up = False, None, None
        if single:
            used, sd = single[0], self.symmetric(single)
        elif upper and lower:
            used = self.only(upper)
            low, up, limits = self.pair(used, self.only(lower))
            sd = (low + up) / 2.0
        else:
            used = self.only(upper or lower)
            self.reading.warn(
                f"only one side of the error of the {self.name} is given, in {used}; it is used for both."
            )
            sd = self.positive(used, _magnitude(used, self.column(used)))
        self.refuse_zero(used, sd)
        if self.role == "t" and not limits:
            refuse_large(self.reading, used, sd, self.centre)
        if self.role == "y":
            warn_of_large_outputs(self.reading, used, sd, self.centre)
        if (self.kind == "uniform" and not limits) or (self.kind == "split" and low is None):
            raise self.no_pair()
        number = 1 if self.kind == "uniform" else self.sigma(used, limits)
        return Errors(sd / number, None if low is None else low / number, None if up is None else up / number)

    def constant(self) -> Array:
        """One error for all rows, by option."""
        name, given = self.option("sd")
        if self.kind in _PAIRS:
            raise self.no_pair()
        if given is None:
            raise self.reading.header_problem(
                f"no column holds the error of the {self.name}; the columns are {self.reading.listed}",
                f"name it, or give one number for all rows, with {option(name, 'COLUMN or NUMBER')}",
            ).suggesting(**{name: self.likely_error()})
        sd, number = float(given), float(self.option("sigma")[1] or 1)
        if not np.isfinite(sd) or sd < 0.0 or (self.role == "y" and sd == 0.0):
            raise self.reading.problem(
                f"{option(name, f'{sd:g}')} is not a standard deviation", "give a number above 0"
            )
        why = self.reading.set_by(name) + (f", {number:g} sigma" if sd > 0.0 else "")
        self.reading.fact(f"{self.name} error", f"{sd:g} in all rows", why)
        return np.full(self.centre.size, sd / number)

    def likely_error(self) -> str:
        """A column that may hold the error, by a word in its header; else a number that only the user knows."""
        columns = self.reading.columns
        used = {h.index for h in (*columns.measured, *columns.of_radiocarbon)}
        found = [h for h in self.reading.headers if h.index not in used and _ERROR.search(h.text.replace("_", " "))]
        beside: list[Header] = []
        for header in self.reading.headers[self.of.index + 1 :] if self.of.index != MADE else ():
            if header not in found:
                break
            beside.append(header)
        if beside or self.role == "t":
            regular = self.reading.scale == "CE" and self.regular()
            return _whole(beside)[0].text if beside else "0" if regular else StandIn("1")
        return _whole(found)[0].text if found else StandIn("1")

    def regular(self) -> bool:
        """Whether all steps between the numbers are the same: these were counted, not dated."""
        known = np.unique(self.centre[np.isfinite(self.centre)])
        steps = np.diff(known)
        return bool(steps.size > 1 and np.allclose(steps, steps[0]))

    def column(self, header: Header) -> Array:
        """The numbers below a header, in the unit of the value."""
        found = values(self.reading, header, "error", blank=self.absent)
        return factor(self.reading, self.role, self.of, header) * found

    def symmetric(self, columns: list[Header]) -> Array:
        """One error for both sides. Several columns will do if they hold the same, as 1 and 2 sigma may."""
        first = self.column(columns[0])
        for other in columns[1:]:
            again = self.column(other) * (columns[0].sigma or 1) / (other.sigma or 1)
            known = np.isfinite(first + again)
            if not np.allclose(first[known], again[known], rtol=0.01, atol=0.0):
                raise self.ambiguous(columns)
        same = ", like all of its names" if len(columns) > 1 else ""
        name, given = self.option("sd")
        by = f", {self.reading.set_by(name)}" if given is not None else ""
        self.reading.fact(f"{self.name} error", f"the column {columns[0]}", f"the same on both sides{same}{by}")
        return self.positive(columns[0], first)

    def pair(self, upper: Header, lower: Header) -> tuple[Array, Array, bool]:
        """Errors towards smaller and larger numbers, and whether they are distances of limits."""
        both = listing([upper, lower])
        if upper.sigma != lower.sigma:
            do = "correct the headers, or give one error column"
            raise self.reading.header_problem(f"{both} are not of the same number of sigmas", do)
        up, low = self.column(upper), self.column(lower)
        if are_limits(self.reading, self.role, (upper, lower), up, low, self.centre):
            how = {"uniform": "a uniform range", "split": "a split normal"}.get(self.kind or "")
            why = f"{how}, {self.reading.set_by('t_errors')}" if how else "half of the range they span"
            self.reading.fact(f"{self.name} error", f"columns {both}", why)
            down, up = self.distances(upper, up, low)
            self.warn_of_uneven((upper, lower), up, down, limits=True)
            return down, up, True
        up, low = self.positive(upper, up), self.positive(lower, _magnitude(lower, low))
        self.warn_of_uneven((upper, lower), up, low)
        how = (
            f"a split normal, {self.reading.set_by('t_errors')}"
            if self.kind == "split"
            else "the mean of upper and lower"
        )
        how = "equal on both sides" if np.array_equal(up, low, equal_nan=True) else how
        self.reading.fact(f"{self.name} error", f"columns {both}", how)
        return low, up, False

    def warn_of_uneven(self, pair: tuple[Header, Header], up: Array, low: Array, *, limits: bool = False) -> None:
        """Warn if the two sides differ, unless both are kept."""
        if self.kind is None or self.kind == "normal":
            instead = f"To keep both, say {option('t_errors', 'split')}." if self.role == "t" else ""
            what = f"distances of the {self.name} from its limits" if limits else f"errors of the {self.name}"
            warn_of_uneven(self.reading, pair, up, low, what, instead, limits=limits)

    def distances(self, upper: Header, up: Array, low: Array) -> tuple[Array, Array]:
        """The distances of the limits from the value, towards smaller and larger numbers."""
        centre, first, last = self.centre, np.minimum(up, low), np.maximum(up, low)
        older = any(word in upper.text.lower() for word in ("old", "bottom"))
        if not older or (up > low).any():
            for i in np.flatnonzero(up < low):
                found = f"the upper limit {up[i]:g} is below the lower limit {low[i]:g}"
                self.reading.fault(found, "swap the two", i, upper)
        for i in np.flatnonzero((centre < first) | (centre > last)):
            found = f"the value {centre[i]:g} is not between its limits {low[i]:g} and {up[i]:g}"
            self.reading.fault(found, "correct the row", i, upper)
        return centre - first, last - centre

    def sigma(self, header: Header, limits: bool) -> float:
        """How many sigmas the errors are, and why. `limits`: the error is half of the range of limits."""
        name, chosen = self.option("sigma")
        ask_about_sigma(self.reading, self.role, header)
        if isinstance(chosen, int | float):
            contrary = header.sigma is not None and header.sigma != chosen
            number, why = chosen, self.reading.set_by(name) + (f", against {header}" if contrary else "")
        elif header.sigma is not None:
            number, why = header.sigma, f"the header {header} says so"
        elif limits:
            number, why = 2, f"limits usually span 95 %; change it with {option(name, '1')}"
        else:
            ask_about_prose(self.reading, self.role, header)
            number, why = 1, f"assumed, as {header} does not say; change it with {option(name, '2')}"
        self.reading.fact(f"{self.name} sigma", f"{number:g} sigma", why)
        return number

    def only(self, columns: list[Header]) -> Header:
        """The first of several columns that hold the same."""
        if self.reading.differ(columns):
            raise self.ambiguous(columns)
        return columns[0]

    def ambiguous(self, columns: list[Header]) -> TableError:
        by = option(f"{self.role}_sd", "COLUMN")
        error = self.reading.ambiguous(columns, f"the error of the {self.name}", f"choose one with {by}")
        return error.suggesting(**{f"{self.role}_sd": columns[0].text})

    def positive(self, header: Header, column: Array) -> Array:
        """The same errors; those that are negative are faults."""
        for i in np.flatnonzero(column < 0.0):
            found = f"the error is negative ({quote(self.reading.cells[i][header.index])})"
            self.reading.fault(found, "give errors without sign", i, header)
        return column

    def refuse_zero(self, header: Header, column: Array) -> None:
        do = "give every output an error above 0, a small one if it is precise; only inputs can be exact"
        for i in np.flatnonzero(column == 0.0) if self.role == "y" else ():
            self.reading.fault("the error of the output is 0", do, i, header)

    def no_pair(self) -> TableError:
        kind = self.kind or ""
        found = f"{option('t_errors', kind)} needs {_PAIRS[kind]}, and there are none"
        return self.reading.header_problem(found, "add them, or leave the option out")


def _whole(errors: list[Header]) -> list[Header]:
    """Error columns, those of the whole error, not of a part of it, first."""
    return sorted(errors, key=lambda header: not re.search("total|combined|full", header.text, re.IGNORECASE))


def _magnitude(header: Header, column: Array) -> Array:
    """Lower errors may be written with their sign, all of them."""
    return -column if header.side == "low" and header.says_error and not (column > 0.0).any() else column
