"""Record: what was measured, in the known order of its rows, validated once."""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .columns import Labels, check_length, labels, numbers
from .errors import OrderError, RecordError, name_rows

if TYPE_CHECKING:
    import pandas as pd

Order = Literal["increasing", "decreasing"]


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Record:
    """Measurements y with uncertain inputs t, whose true inputs have a known order down the rows.

    Rows keep the order in which they are given: they are never sorted and never dropped. Fields are matched
    by position; the index of a pandas Series plays no part. Two records are equal if all their fields are. A
    record cannot be hashed, because its value is in its arrays.

    Arguments
    ---------
    t, y: measured inputs and outputs, shape (N,). Arrays, lists and pandas Series will do.
    t_sd, y_sd: their standard deviations, shape (N,) or one number for all rows. ``t_sd == 0`` marks an exact
        input; ``y_sd`` is positive.
    order: whether the true inputs are "increasing" or "decreasing" down the rows of a sequence.
    sequence: a label per row. Rows with one label are one ordered sequence; a row whose label is missing
        (None, NaN, pandas.NA or blank text) has no known order. Without labels, all rows are one sequence.
    label: a name per row, for tables and figures.
    t_name, t_unit, y_name, y_unit: text for axes.

    Raises
    ------
    RecordError: a field cannot be used as it is.
    OrderError: exact inputs of one sequence contradict its order.
    """

    t: NDArray[np.float64]
    t_sd: NDArray[np.float64]
    y: NDArray[np.float64]
    y_sd: NDArray[np.float64]
    order: Order
    sequence: Labels | None
    label: Labels | None
    t_name: str
    t_unit: str
    y_name: str
    y_unit: str

    # Written out, not generated, because what it accepts (any array-like) is wider than what the fields hold.
    def __init__(
        self,
        t: ArrayLike,
        t_sd: ArrayLike,
        y: ArrayLike,
        y_sd: ArrayLike,
        order: Order = "increasing",
        sequence: Iterable[Any] | None = None,
        label: Iterable[Any] | None = None,
        t_name: str = "t",
        t_unit: str = "",
        y_name: str = "y",
        y_unit: str = "",
    ) -> None:
        columns = {"t": numbers("t", t), "y": numbers("y", y)}
        n = columns["t"].size
        check_length("y", columns["y"].size, n)
        if n == 0:
            raise RecordError("the record is empty: t and y hold no values. Give at least one row.")
        for name, values in ("t_sd", t_sd), ("y_sd", y_sd):
            columns[name] = numbers(name, values, broadcast_to=n)
            check_length(name, columns[name].size, n)
        _check_standard_deviations(columns["t_sd"], columns["y_sd"])
        if order not in ("increasing", "decreasing"):
            raise RecordError(
                f"order must be 'increasing' or 'decreasing', got {order!r}. "
                "Say which way the true inputs go down the rows."
            )
        texts = {"t_name": t_name, "t_unit": t_unit, "y_name": y_name, "y_unit": y_unit}
        for name, text in texts.items():
            if not isinstance(text, str):
                raise RecordError(f"{name} must be text, got {text!r}. Pass a string, empty for none.")
        self._set(
            columns
            | {
                "order": order,
                "sequence": labels("sequence", sequence, n),
                "label": labels("label", label, n),
            }
            | texts
        )
        self._check_exact_rows()

    def _set(self, state: dict[str, Any]) -> None:
        for field in fields(self):
            value = state[field.name]
            if isinstance(value, np.ndarray):
                value.setflags(write=False)
            object.__setattr__(self, field.name, value)

    # Copied and unpickled arrays are writeable again, so this way in must lock them too.
    __setstate__ = _set

    def __len__(self) -> int:
        return self.t.size

    def __repr__(self) -> str:
        parts = [f"{len(self)} rows, {self.order}"]
        if self.sequence is not None:
            parts.append(f"sequences: {len(self.sequences)}, rows without order: {self.unordered.size}")
        if self.exact.any():
            parts.append(f"exact inputs: {np.count_nonzero(self.exact)}")
        for name, unit, values in (self.t_name, self.t_unit, self.t), (self.y_name, self.y_unit, self.y):
            parts.append(f"{name} {values.min():g} to {values.max():g} {unit}".rstrip())
        return f"<Record: {'; '.join(parts)}>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Record):
            return NotImplemented
        pairs = ((getattr(self, f.name), getattr(other, f.name)) for f in fields(self))
        return all(np.array_equal(a, b) if isinstance(a, np.ndarray) else a == b for a, b in pairs)

    __hash__ = None  # type: ignore[assignment]

    @property
    def exact(self) -> NDArray[np.bool_]:
        """Mask of the rows whose input is exact, shape (N,)."""
        return self.t_sd == 0.0

    @property
    def sign(self) -> float:
        """+1 or -1: latent inputs, on the scale sign * t, increase down the rows of a sequence."""
        return 1.0 if self.order == "increasing" else -1.0

    @property
    def sequences(self) -> tuple[tuple[Hashable | None, NDArray[np.intp]], ...]:
        """The ordered sequences as (label, row positions), by first appearance.

        Without labels there is one, which holds all rows and is called None.
        """
        if self.sequence is None:
            return ((None, np.arange(len(self))),)
        rows: dict[Hashable, list[int]] = {}
        for i, name in enumerate(self.sequence):
            if name is not None:
                rows.setdefault(name, []).append(i)
        return tuple((name, np.array(positions, dtype=np.intp)) for name, positions in rows.items())

    @property
    def unordered(self) -> NDArray[np.intp]:
        """Positions of the rows that belong to no sequence."""
        return np.array([i for i, name in enumerate(self.sequence or ()) if name is None], dtype=np.intp)

    def to_frame(self) -> "pd.DataFrame":
        """A pandas table in row order: t, t_sd, y, y_sd, and sequence and label where they are given."""
        import pandas as pd  # here, because importing it takes longer than importing lamina

        frame = pd.DataFrame({name: getattr(self, name) for name in ("t", "t_sd", "y", "y_sd")})
        for name in ("sequence", "label"):
            if getattr(self, name) is not None:
                frame[name] = pd.Series(getattr(self, name), dtype=object)
        return frame

    def _check_exact_rows(self) -> None:
        """Exact inputs of a sequence must not run against its order, nor leave rows between them no room."""
        if not self.exact.any():
            return
        for name, rows in self.sequences:
            place = np.flatnonzero(self.exact[rows])
            step = self.sign * np.diff(self.t[rows[place]])
            squeezed = (step == 0.0) & (np.diff(place) > 1)
            for wrong, problem in (
                (step < 0.0, f"contradict order={self.order!r}"),
                (squeezed, "are equal and leave no room for the rows between them"),
            ):
                if wrong.any():
                    k = int(np.argmax(wrong))
                    first, last = rows[place[k]], rows[place[k + 1]]
                    where = "" if name is None else f" in sequence {name!r}"
                    raise OrderError(
                        f"the exact inputs (t_sd = 0) of {name_rows([first, last])}{where} {problem}: "
                        f"t is {self.t[first]} and then {self.t[last]} (such pairs in all: {wrong.sum()}). "
                        "Correct t or order, give these rows a t_sd above 0, or take them out of the "
                        "sequence by leaving their label empty."
                    )


def _check_standard_deviations(t_sd: NDArray[np.float64], y_sd: NDArray[np.float64]) -> None:
    for name, column in ("t_sd", t_sd), ("y_sd", y_sd):
        negative = np.flatnonzero(column < 0.0)
        if negative.size:
            raise RecordError(
                f"{name} is negative in {name_rows(negative)}. Give a standard deviation, which has no sign."
            )
    zero = np.flatnonzero(y_sd == 0.0)
    if zero.size:
        raise RecordError(
            f"y_sd is 0 in {name_rows(zero)}. Give every measured y a standard deviation above 0, a small "
            "one if it is precise; only inputs can be exact (t_sd = 0)."
        )
