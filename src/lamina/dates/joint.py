"""The date of a layer that was dated several times: the product of the densities of its dates."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import RecordError
from .kinds import Date
from .table import DateTable, normalised, slopes

#: The extent of the table in standard deviations, its entries per smallest one, and its largest size.
JOINT_REACH, ENTRIES_PER_SD, JOINT_ENTRIES = 12.0, 50, 20_000


@dataclass(frozen=True)
class Joint(Date):
    """The product of several densities of one time. It has tails where all of them have, and ends where one ends.

    Raises RecordError if they have no time in common.
    """

    dates: tuple[Date, ...]

    def __post_init__(self) -> None:
        first, last = self._bounds()
        if first >= last:
            raise RecordError("the dates have no time in common.")

    def _bounds(self) -> tuple[float, float]:
        """The times between which no density is zero because a date ends there."""
        ends = [(one.start, one.start + one.step * (one.log_density.size - 1)) for one in self._tables() if one.bounded]
        return max((first for first, _ in ends), default=-np.inf), min((last for _, last in ends), default=np.inf)

    def _tables(self) -> list[DateTable]:
        return [date.table() for date in self.dates]

    def _tabulate(self) -> DateTable:
        t, sd = np.array([date.mean for date in self.dates]), np.array([date.sd for date in self.dates])
        low, high = self._bounds()
        first, last = max(np.min(t - JOINT_REACH * sd), low), min(np.max(t + JOINT_REACH * sd), high)
        step = max(sd.min() / ENTRIES_PER_SD, (last - first) / JOINT_ENTRIES)
        grid = np.linspace(first, last, max(int(np.ceil((last - first) / step)), 1) + 1)
        inside = np.clip(grid, low, high)  # rounding must not leave the bounds
        log_density = np.sum([date.log_density(inside) for date in self.dates], axis=0)
        step = float(grid[1] - grid[0])
        if np.isfinite([low, high]).any():
            return normalised(first, step, log_density, bounded=True)
        # One more entry at each end falls as the tails of all dates do together: a wiggle there must not rise for ever.
        up, down = np.sum([slopes(one) for one in self._tables()], axis=0)
        entries = np.concatenate([log_density[:1] - step * up, log_density, log_density[-1:] - step * down])
        return normalised(first - step, step, entries)
