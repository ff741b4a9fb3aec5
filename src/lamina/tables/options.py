"""What a user may say about a table to override what is found in it."""

from dataclasses import dataclass, fields
from typing import Any

from .problems import TableError

_CHOICES: dict[str, tuple[Any, ...]] = {
    "t_sigma": (1, 2),
    "y_sigma": (1, 2),
    "scale": ("BP", "CE"),
    "order_direction": ("increasing", "decreasing"),
}
_TEXTS = ("t", "t_sd", "y", "y_sd", "order", "sequence", "sheet", "site")


@dataclass(frozen=True)
class Options:
    """Explicit overrides; None leaves the choice to the reader.

    t, y: names of the input and output columns.
    t_sd, y_sd: names of their error columns, or one number (as text) for all rows.
    t_sigma, y_sigma: whether the errors are 1 or 2 standard deviations.
    scale: "BP" (years before present, larger is older) or "CE" (calendar years, larger is younger).
    order: the column that defines the order, "rows" for the order of the rows, or "none".
    order_direction: whether t is "increasing" or "decreasing" along the order.
    sequence: the column that names the core or site of each row, or "none" for one sequence.
    site: read only the rows of this site or core.
    sheet: the sheet of an Excel file.

    Raises TableError for a value that an option cannot have.
    """

    t: str | None = None
    t_sd: str | None = None
    y: str | None = None
    y_sd: str | None = None
    t_sigma: int | None = None
    y_sigma: int | None = None
    scale: str | None = None
    order: str | None = None
    order_direction: str | None = None
    sequence: str | None = None
    site: str | None = None
    sheet: str | None = None

    def __post_init__(self) -> None:
        for name in _TEXTS:
            value = getattr(self, name)
            if isinstance(value, int | float) and not isinstance(value, bool) and name in ("t_sd", "y_sd"):
                object.__setattr__(self, name, repr(value))
            elif value is not None and (not isinstance(value, str) or not value.strip()):
                raise _wrong(name, value, "text, such as the name of a column")
        if isinstance(self.scale, str):
            object.__setattr__(self, "scale", self.scale.strip().upper())
        for name, choices in _CHOICES.items():
            value = getattr(self, name)
            if value is not None and (isinstance(value, bool) or value not in choices):
                raise _wrong(name, value, " or ".join(map(str, choices)))

    @classmethod
    def of(cls, **values: Any) -> "Options":
        """Options by name. Raises TableError for a name that is none."""
        known = [field.name for field in fields(cls)]
        unknown = [name for name in values if name not in known]
        if unknown:
            raise TableError(f"option {unknown[0]}: there is none of this name; choose from {', '.join(known)}.")
        return cls(**values)


def _wrong(name: str, value: Any, wanted: str) -> TableError:
    return TableError(f"option {name} (--{name.replace('_', '-')}): found {value!r}; give {wanted}.")
