"""The dates that a model is fitted with: those of the record, with tails and thickness."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..dates import Date, StudentT
from ..record import Record
from .thickness import with_thickness


def as_fitted(record: Record, t_errors: str) -> Record:
    """The record with the dates that it is fitted with: tails of the model, and the widths of thick samples."""
    return with_thickness(with_tails(record, t_errors))


def with_tails(record: Record, t_errors: str) -> Record:
    """The record whose dates that are given as t and t_sd have Student-t errors, with t_errors="student".

    Rows with a date of another kind keep it; exact inputs and rows without a date stay as they are.
    """
    if t_errors != "student":
        return record
    dates: list[Date | None] = list(record.dates or [None] * len(record))
    for row in np.flatnonzero(record.dated & ~record.exact):
        dates[row] = dates[row] or StudentT(record.t[row], record.t_sd[row])
    return replace(record, dates=tuple(dates))
