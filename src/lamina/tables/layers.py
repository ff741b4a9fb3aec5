"""What lies between the rows of a core: depths, layers of several rows, hiatuses and least gaps."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .aliases import Columns
from .facts import Notes
from .flags import flagged
from .grid import Grid
from .options import Options
from .order import Arrangement, Key
from .problems import Faults, listing, name_lines, option, problem, quote


def read_ties(
    grid: Grid, columns: Columns, labels: list[str | None] | None, key: Key | None, notes: Notes
) -> list[str | None]:
    """The layer that each row belongs to, by the column that names it; None for none.

    A column called layer is about layers of one age only if their rows are at one depth; each core counts its own.
    """
    header, n = columns.tie, len(grid.cells)
    if header is None:
        return [None] * n
    ties: list[str | None] = [cell or None for cell in grid.column(header)]
    if header.rank == 0:
        return ties
    names = labels or [None] * n
    ties = [tie and " / ".join(filter(None, (name, tie))) for name, tie in zip(names, ties, strict=True)]
    if key is not None and key.header is not None:
        for tie in dict.fromkeys(filter(None, ties)):
            rows = [i for i in range(n) if ties[i] == tie]
            if len({key.values[i] for i in rows if not np.isnan(key.values[i])}) > 1:
                notes.warn(
                    f"the column {quote(header.text)} calls rows at different places one layer "
                    f"({name_lines([grid.lines[i] for i in rows])}), and is not used. If these rows have one true "
                    "input, call the column tie."
                )
                return [None] * n
    return ties


def layers(
    grid: Grid,
    columns: Columns,
    key: Key | None,
    ties: list[str | None],
    arranged: Arrangement,
    exact: NDArray[np.bool_],
    options: Options,
    notes: Notes,
) -> dict[str, Any]:
    """depth and its unit, tie, hiatus and least_gap of the record, without those that it has not. Raises TableError.

    ties: as `read_ties` gives them, by row of the grid. exact: by row of the record.
    """
    lines = [grid.lines[i] for i in arranged.rows]
    tied = _ties(grid, [ties[i] for i in arranged.rows], arranged, lines, options, notes)
    depth = _depth(grid, key, tied, arranged, exact, lines, options, notes)
    hiatus = _hiatus(grid, columns, key, tied, arranged, lines, options, notes)
    by_depth = key is not None and key.by in ("depth", "height") and options.gaps_by != "rows"
    header = key.header if key is not None and by_depth else None
    found = {
        "depth": depth,
        "depth_unit": None if header is None else header.unit,
        "tie": tied if any(tied) else None,
        "hiatus": hiatus,
        "least_gap": _least_gap(tied, arranged, options, notes),
    }
    return {name: value for name, value in found.items() if value is not None}


def _sequences(arranged: Arrangement) -> Iterator[list[int]]:
    """The rows of the record that each sequence has."""
    names = arranged.sequence or ["core"] * len(arranged.rows)
    for name in dict.fromkeys(filter(None, names)):
        yield [i for i, other in enumerate(names) if other == name]


def _runs(members: list[int], places: NDArray[np.float64], tied: list[str | None]) -> list[list[int]]:
    """The rows of a sequence, those together that share their place or their layer."""
    runs = [members[:1]]
    for a, b in pairwise(members):
        if places[a] == places[b] or (tied[a] is not None and tied[a] == tied[b]):
            runs[-1].append(b)
        else:
            runs.append([b])
    return runs


def _ties(
    grid: Grid,
    tied: list[str | None],
    arranged: Arrangement,
    lines: list[int],
    options: Options,
    notes: Notes,
) -> list[str | None]:
    """The layer of each row of the record; rows at one depth are one, if the user says so."""
    tied = list(tied)
    faults = Faults()
    if options.equal_depth == "tie":
        for members in _sequences(arranged):
            for run in _runs(members, arranged.places, [None] * len(tied)):
                named = {tied[i] for i in run} - {None}
                if len(named) > 1:
                    found = f"rows at one depth are tied to different layers, {listing(sorted(map(str, named)))}"
                    faults.add(found, "tie them to one", sorted(lines[i] for i in run))
                elif len(run) > 1:
                    for i in run:
                        tied[i] = next(iter(named), f"line {min(lines[k] for k in run)}")
    faults.refuse(grid.path)
    alike = [[lines[i] for i in range(len(tied)) if tied[i] == name] for name in dict.fromkeys(filter(None, tied))]
    several = [sorted(rows) for rows in alike if len(rows) > 1]
    if several:
        why = "rows at equal depth, you said so" if options.equal_depth == "tie" else "the column that names them"
        notes.fact("layers", f"{len(several)} of several rows ({'; '.join(map(name_lines, several))})", why)
    return tied


def _depth(
    grid: Grid,
    key: Key | None,
    tied: list[str | None],
    arranged: Arrangement,
    exact: NDArray[np.bool_],
    lines: list[int],
    options: Options,
    notes: Notes,
) -> NDArray[np.float64] | None:
    """Depth or height of each row of the record, or the rank of its place where there are blocks; None for none."""
    if key is None:
        return None
    blocks = [
        run
        for members in _sequences(arranged)
        for run in _runs(members, arranged.places, [None] * len(tied))
        if len({i if tied[i] is None else tied[i] for i in run}) > 1
    ]
    if blocks:
        _refuse_exact(grid, [i for run in blocks for i in run if exact[i]], lines)
        told = "; ".join(name_lines(sorted(lines[i] for i in run)) for run in blocks)
        notes.fact("blocks", f"{len(blocks)}, in which the order is not known ({told})", "equal depths, you said so")
    if key.by in ("depth", "height") and options.gaps_by != "rows":
        notes.fact(
            "gaps", f"time per unit of {key.by}", f"{key.by} is known; change it with {option('gaps_by', 'rows')}"
        )
        return arranged.places if key.by == "depth" else -arranged.places
    why = "you said so" if options.gaps_by == "rows" else "the order is one of places, not of depths"
    notes.fact("gaps", "time from row to row", why)
    if not blocks:
        return None
    ranks = np.full(len(tied), np.nan)
    for members in _sequences(arranged):
        for rank, run in enumerate(_runs(members, arranged.places, tied)):
            ranks[run] = rank
    return ranks


def _refuse_exact(grid: Grid, rows: list[int], lines: list[int]) -> None:
    if rows:
        raise problem(
            grid.path,
            "an exact input (error 0) shares its depth with other rows, whose order is then not known",
            "give it another depth, tie the rows with --equal-depth tie, or leave its depth empty",
            sorted(lines[i] for i in rows),
        )


def _hiatus(
    grid: Grid,
    columns: Columns,
    key: Key | None,
    tied: list[str | None],
    arranged: Arrangement,
    lines: list[int],
    options: Options,
    notes: Notes,
) -> NDArray[np.bool_] | None:
    """Whether there is a hiatus between each row of the record and the next one of its sequence; None for none."""
    marked = _marked(grid, columns, arranged)
    depths = options.hiatus or ()
    if depths and (key is None or key.by not in ("depth", "height")):
        asked = option("hiatus", f"{depths[0]:g}")
        raise problem(grid.path, f"{asked} needs depths or heights that order the rows", "leave it out")
    sign = -1.0 if arranged.by == "height" else 1.0
    hiatus, used, found = np.zeros(len(lines), dtype=bool), set(), set()
    for members in _sequences(arranged):
        for one, other in pairwise(_runs(members, arranged.places, tied)):
            # A hiatus that the table marks follows its row along the order, which a core turned round runs against.
            first, second = (one, other) if arranged.places[one[0]] < arranged.places[other[0]] else (other, one)
            top, bottom = max(arranged.places[first]), min(arranged.places[second])
            inside = {depth for depth in depths if top < sign * depth < bottom}
            if inside or any(marked[i] for i in first):
                hiatus[one[-1]] = True
                used |= set(first)
                found |= inside
                notes.fact("hiatus", f"between {name_lines(sorted(lines[i] for i in (one[-1], other[0])))}")
    _refuse_lost(grid, arranged, lines, set(depths) - found, sign, columns)
    beside = sorted(lines[i] for depth in found for i in np.flatnonzero(arranged.places == sign * depth))
    if beside:
        notes.warn(f"a hiatus at the very depth of {name_lines(beside)} plays no part in that core.")
    lost = sorted(lines[i] for i in range(len(lines)) if marked[i] and i not in used)
    if lost:
        notes.warn(f"a hiatus below {name_lines(lost)} plays no part, since no row of the same core follows.")
    return hiatus if hiatus.any() else None


def _marked(grid: Grid, columns: Columns, arranged: Arrangement) -> list[bool]:
    """Whether the table has a hiatus after each row of the record."""
    if columns.hiatus is None:
        return [False] * len(arranged.rows)
    faults = Faults()
    flags = flagged(grid, columns.hiatus, faults)
    faults.refuse(grid.path)
    return [flags[i] for i in arranged.rows]


def _refuse_lost(
    grid: Grid, arranged: Arrangement, lines: list[int], lost: set[float], sign: float, columns: Columns
) -> None:
    """A hiatus that lies between no two rows cannot be meant."""
    if not lost:
        return
    depth = min(lost)
    at = [lines[i] for i in np.flatnonzero(arranged.places == sign * depth)]
    header = columns.height if arranged.by == "height" else columns.depth
    column = None if header is None else header.text
    if at:
        found = f"there is a row at {depth:g}, where {option('hiatus', f'{depth:g}')} puts a hiatus"
        raise problem(grid.path, found, "give a depth between two rows", sorted(at), column)
    known = np.abs(arranged.places[np.isfinite(arranged.places)]) if sign < 0 else arranged.places
    span = f"{np.nanmin(known):g} to {np.nanmax(known):g}"
    found = f"{option('hiatus', f'{depth:g}')} lies outside of all cores, which reach from {span}"
    raise problem(grid.path, found, "give a depth between two rows", column=column)


def _least_gap(
    tied: list[str | None], arranged: Arrangement, options: Options, notes: Notes
) -> NDArray[np.float64] | None:
    """The least gap after each row of the record; 0 within layers and blocks, and where nothing follows."""
    if options.least_gap is None:
        return None
    least = np.zeros(len(tied))
    for members in _sequences(arranged):
        for run in _runs(members, arranged.places, tied)[:-1]:
            least[run[-1]] = options.least_gap
    notes.fact("least gap", f"{options.least_gap:g} between neighbours", "you said so")
    return least
