"""What lies between the rows of a core: depths, layers of several rows, hiatuses and minimum gaps."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .checks.flags import flagged
from .columns import Reading
from .messages import listing, option
from .numbers import Array, Mask
from .order import Arrangement, Key, Labels

#: Layers and blocks whose lines are named.
_NAMED = 12


def read_ties(reading: Reading, labels: Labels | None, key: Key | None) -> Labels:
    """The layer that each row belongs to, by the column that names it; None for none.

    A column called layer is about layers of one age only if their rows are at one depth; each core counts its own.
    """
    header, n = reading.columns.tie, len(reading.cells)
    if header is None:
        return [None] * n
    ties: Labels = [cell or None for cell in reading.column(header)]
    if header.rank == 0:
        return ties
    names = labels or [None] * n
    ties = [tie and " / ".join(filter(None, (name, tie))) for name, tie in zip(names, ties, strict=True)]
    if key is None or key.header is None:
        return ties
    for rows in _alike(ties):
        if len({key.values[i] for i in rows if not np.isnan(key.values[i])}) > 1:
            reading.warn(
                f"the column {header} calls rows at different places one layer ({reading.name_lines(rows)}), and is "
                "not used. If these rows have one true input, call the column tie."
            )
            return [None] * n
    return ties


def _alike(names: Labels) -> list[list[int]]:
    """The positions of each name, in the order in which they first appear."""
    found: dict[str, list[int]] = {}
    for i, name in enumerate(names):
        if name:
            found.setdefault(name, []).append(i)
    return list(found.values())


@dataclass(frozen=True)
class Between:
    """The rows of a record in their order, with the layer of each (`tied`), to find out what lies between them.

    exact: whether the input of each row of the record is exact.
    """

    reading: Reading
    key: Key | None
    arranged: Arrangement
    tied: Labels
    exact: Mask

    def fields(self) -> dict[str, Any]:
        """depth and its unit, tie, hiatus and least_gap of the record, without those it lacks.

        Raises TableError.
        """
        merged = self._with_ties()
        found = {
            "depth": merged._depth(),
            "depth_unit": self.key.header.unit if self.key and self.key.header and self._gaps_by_depth else None,
            "tie": merged.tied if any(merged.tied) else None,
            "hiatus": merged._hiatus(),
            "least_gap": merged._minimum_gap(),
        }
        return {name: value for name, value in found.items() if value is not None}

    @property
    def _gaps_by_depth(self) -> bool:
        return self.arranged.by in ("depth", "height") and self.reading.options.gaps_by != "rows"

    def _in_lines(self, rows: list[int]) -> str:
        """The lines of some rows of the record, sorted, in words."""
        return self.reading.name_lines(self._in_table(rows))

    def _some_lines(self, groups: list[list[int]]) -> str:
        """The lines of groups of rows, those of the first dozen of them."""
        more = f"; and {len(groups) - _NAMED} more" if len(groups) > _NAMED else ""
        return "; ".join(map(self._in_lines, groups[:_NAMED])) + more

    def _in_table(self, rows: list[int]) -> list[int]:
        """Rows of the record as rows of the table, sorted."""
        return sorted(self.arranged.rows[i] for i in rows)

    def _sequences(self) -> Iterator[list[int]]:
        """The rows of the record that each sequence has."""
        yield from _alike(self.arranged.sequence or ["core"] * len(self.arranged.rows))

    def _runs(self, members: list[int], tied: bool = True) -> list[list[int]]:
        """The rows of a sequence, those together that share their place, or their layer if `tied`."""
        places, layer = self.arranged.places, self.tied
        runs = [members[:1]]
        for a, b in pairwise(members):
            if places[a] == places[b] or (tied and layer[a] is not None and layer[a] == layer[b]):
                runs[-1].append(b)
            else:
                runs.append([b])
        return runs

    def _with_ties(self) -> "Between":
        """The same, where rows at one depth are one layer if the user has set that."""
        reading, tied = self.reading, list(self.tied)
        for run in self._places() if reading.options.equal_depth == "tie" else ():
            named = {tied[i] for i in run} - {None}
            if len(named) > 1:
                found = f"rows at one depth are tied to different layers, {listing(sorted(map(str, named)))}"
                reading.fault(found, "tie them to one", self._in_table(run), None)
            elif len(run) > 1:
                layer = next(iter(named), f"line {reading.lines[min(self._in_table(run))]}")
                for i in run:
                    tied[i] = layer
        reading.refuse()
        several = [rows for rows in _alike(tied) if len(rows) > 1]
        if several:
            by_depth = f"rows at equal depth, {reading.set_by('equal_depth')}"
            why = by_depth if reading.options.equal_depth == "tie" else "the column that names them"
            reading.fact("layers", f"{len(several)} of several rows ({self._some_lines(several)})", why)
        return Between(reading, self.key, self.arranged, tied, self.exact)

    def _places(self) -> Iterator[list[int]]:
        """The rows at each place of each sequence."""
        for members in self._sequences():
            yield from self._runs(members, tied=False)

    def _depth(self) -> Array | None:
        """Depth or height of each row of the record, or the rank of its place where there are blocks; None for none."""
        if self.key is None:
            return None
        reading, by, places = self.reading, self.key.by, self.arranged.places
        some = self._places() if reading.options.equal_depth is not None else ()  # others have no equal places
        blocks = [run for run in some if len({i if self.tied[i] is None else self.tied[i] for i in run}) > 1]
        if blocks:
            self._refuse_exact([i for run in blocks for i in run if self.exact[i]])
            lines = self._some_lines(blocks)
            why = f"equal depths, {reading.set_by('equal_depth')}"
            reading.fact("blocks", f"{len(blocks)}, in which the order is not known ({lines})", why)
        if self._gaps_by_depth:
            reading.fact("gaps", f"time per unit of {by}", f"{by} is known; change it with {option('gaps_by', 'rows')}")
            return places if by == "depth" else -places
        by_option = reading.options.gaps_by == "rows"
        why = reading.set_by("gaps_by") if by_option else "the order is one of places, not of depths"
        reading.fact("gaps", "time from row to row", why)
        if not blocks:
            return None
        ranks = np.full(len(self.tied), np.nan)
        for members in self._sequences():
            for rank, run in enumerate(self._runs(members)):
                ranks[run] = rank
        return ranks

    def _refuse_exact(self, rows: list[int]) -> None:
        if rows:
            raise self.reading.problem(
                "an exact input (error 0) shares its depth with other rows, whose order is then not known",
                "give it another depth, tie the rows with --equal-depth tie, or leave its depth empty",
                self._in_table(rows),
            )

    def _hiatus(self) -> NDArray[np.bool_] | None:
        """Whether there is a hiatus between each row of the record and the next one of its sequence; None for none."""
        reading, places = self.reading, self.arranged.places
        marked, depths = self._marked(), self._hiatus_depths()
        if not depths and not any(marked):
            return None
        sign = -1.0 if self.arranged.by == "height" else 1.0
        hiatus, used, found = np.zeros(len(self.tied), dtype=bool), set(), set()
        for members in self._sequences():
            for one, other in pairwise(self._runs(members)):
                # A hiatus that the table marks follows its row along the order, against which a turned core runs.
                first, second = (one, other) if places[one[0]] < places[other[0]] else (other, one)
                inside = {depth for depth in depths if max(places[first]) < sign * depth < min(places[second])}
                if inside or any(marked[i] for i in first):
                    hiatus[one[-1]] = True
                    used |= set(first)
                    found |= inside
                    reading.fact("hiatus", f"between {self._in_lines([one[-1], other[0]])}")
        for depth in sorted(set(depths) - found):
            self._refuse_hiatus(depth, sign)
        beside = [i for depth in found for i in np.flatnonzero(places == sign * depth).tolist()]
        if beside:
            reading.warn(f"a hiatus at the very depth of {self._in_lines(beside)} is ignored in that core.")
        lost = [i for i, is_marked in enumerate(marked) if is_marked and i not in used]
        if lost:
            lines = self._in_lines(lost)
            reading.warn(f"a hiatus below {lines} is ignored, because no row of the same core follows.")
        return hiatus if hiatus.any() else None

    def _hiatus_depths(self) -> tuple[float, ...]:
        depths = self.reading.options.hiatus or ()
        if depths and self.arranged.by not in ("depth", "height"):
            wanted = option("hiatus", f"{depths[0]:g}")
            raise self.reading.problem(f"{wanted} needs depths or heights that order the rows", "leave it out")
        return depths

    def _marked(self) -> list[bool]:
        """Whether the table has a hiatus after each row of the record."""
        header = self.reading.columns.hiatus
        flags = [] if header is None else flagged(self.reading, header)
        self.reading.refuse()
        return [flags[i] for i in self.arranged.rows] if flags else [False] * len(self.tied)

    def _refuse_hiatus(self, depth: float, sign: float) -> None:
        """A hiatus that lies between no two rows cannot be meant."""
        reading, places, columns = self.reading, self.arranged.places, self.reading.columns
        header = columns.height if self.arranged.by == "height" else columns.depth
        wanted = option("hiatus", f"{depth:g}")
        at = np.flatnonzero(places == sign * depth).tolist()
        if at:
            found = f"there is a row at {depth:g}, where {wanted} puts a hiatus"
            raise reading.problem(found, "give a depth between two rows", self._in_table(at), header)
        known = np.abs(places[np.isfinite(places)]) if sign < 0 else places
        found = f"{wanted} lies outside of all cores, which reach from {np.nanmin(known):g} to {np.nanmax(known):g}"
        raise reading.problem(found, "give a depth between two rows", column=header)

    def _minimum_gap(self) -> Array | None:
        """The minimum gap after each row of the record; 0 within layers and blocks, and where nothing follows."""
        gap = self.reading.options.least_gap
        if gap is None:
            return None
        found = np.zeros(len(self.tied))
        for members in self._sequences():
            for run in self._runs(members)[:-1]:
                found[run[-1]] = gap
        self.reading.fact("minimum gap", f"{gap:g} between neighbours", self.reading.set_by("least_gap"))
        return found
