"""Chain: one chain of a sampler, on either engine, and the draws that it keeps.

Convergence is judged on the parameters, on the curve at a few times and on the inputs; in a long record, on a sample
of them and on the mean and variance of all. All inputs are kept for no more draws than the user wants, so that memory
depends on these and not on the number of sweeps.

A checkpoint holds the state of the chains, as arrays by name. It is checked before compiled code sees it again.
"""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ..errors import KernelError, MethodError, StorageError
from ..model.problem import Problem
from ..model.rows import Rows
from ..support.checks import digest
from .draws import Checkpoint, evenly
from .prediction import curve_means, prepare
from .starts import starting_point

Array = np.ndarray

#: With more than twice as many inputs, draws of about this many are kept for the judgement of convergence.
WATCHED = 1000
#: So are draws of the curve, at the times that divide the measured rows like this.
WATCHED_TIMES = (0.05, 0.275, 0.5, 0.725, 0.95)
#: Draws of records longer than this are kept in single precision, if it resolves FINENESS of every error of a date, and
#: no more of them than fill MOST_BYTES.
SINGLE_PRECISION_ABOVE, FINENESS, MOST_BYTES = 5000, 0.02, 300_000_000
#: Draws go from the compiled chain to their places in parts of about this many numbers.
NUMBERS_A_PART = 2_000_000
#: Convergence is judged on at least this many draws of all chains, however few the user wants.
FEWEST_WATCHED = 1000
#: The name of the checksum of all other arrays.
CHECKSUM = "sha256"
_OLD = "the checkpoint was made by another version of lamina, which kept other numbers. Start without it."
#: What is kept of the draws of a chain, beside the inputs.
_PARAMETERS = ("watched", "phi", "curve")


class DrawBudget(NamedTuple):
    """How many draws a chain keeps: at least these, and fewer than twice as many."""

    watched: int  #: of the parameters, the curve and the inputs that convergence is judged on
    complete: int  #: of all inputs


def draw_budget(problem: Problem, draws: int, chains: int) -> DrawBudget:
    """What each chain keeps if the user wants ``draws`` in all."""
    watched = max(max(draws, FEWEST_WATCHED) // chains, 10)
    size = precision(problem).itemsize
    size += 16 if problem.has_renewals else 0  # shift and factor
    affordable = MOST_BYTES // (size * len(problem.record))
    return DrawBudget(watched, min(max(min(draws, affordable) // chains, 1), watched))


class Chain(ABC):
    """One chain: where it is, its random numbers, and the draws it has kept."""

    def __init__(
        self, problem: Problem, seed: np.random.SeedSequence, budget: DrawBudget, latent: Array | None = None
    ) -> None:
        """``latent`` (N,): the rows whose input is an unknown, by default those that are not exact."""
        self.problem, self.rng, self.budget = problem, np.random.default_rng(seed), budget
        #: (N,) and (P,): the inputs and parameters now
        self.now: tuple[Array, Array] = starting_point(problem, self.rng)
        n = len(problem.record)
        self.latent = np.flatnonzero(~problem.record.exact if latent is None else latent)  #: inputs that are unknown
        self.rows = watched_rows(problem, self.latent)  #: those whose draws are kept to judge convergence, and
        self.times = watched_times(problem, self.latent)  #: (T,) internal times at which the curve is
        self.kept, self.stride = 0, 1  #: number of draws; every ``stride``-th of them is complete
        self.watched = np.empty((2 * budget.watched, len(self.rows)))
        self.phi = np.empty((2 * budget.watched, len(problem.start)))
        self.curve = np.empty((2 * budget.watched, len(self.times)))
        self.tau = np.empty((2 * budget.complete, n), dtype=precision(problem))
        renewed = self.tau.shape if problem.has_renewals else (0, n)
        self.shift, self.factor = np.empty(renewed), np.empty(renewed)  #: as in ``Draws``

    @abstractmethod
    def advance(self, count: int, thin: int, adapt: bool) -> None:
        """``count`` times ``thin`` rounds; outside warm-up (``adapt``), every ``thin``-th is kept."""

    @abstractmethod
    def snapshot(self) -> dict[str, Array]:
        """Where the chain is and how it proposes, as arrays; not its draws and random numbers."""

    @abstractmethod
    def restore(self, arrays: dict[str, Array]) -> None:
        """Go back to where ``snapshot`` was taken."""

    @abstractmethod
    def reset_adaptation(self) -> None:
        """Start again with the covariance of theta: earlier parts of the warm-up were far from the posterior."""

    def consider(self, found: Sequence[Array]) -> None:  # noqa: B027
        """In warm-up, continue from one of the parameters phi that all chains have found, if it suits the inputs here
        far better. By default a chain keeps its own.
        """

    def watched_curve(self, tau: Array, phi: Array, renewed: tuple[Array, ...]) -> Array:
        """The curve (n, T) at the times that convergence is judged on, given draws as in ``add``."""
        return curve_means(self.problem, tau, phi, renewed, self.times)

    def prepare_answers(self) -> None:
        """Compile, or load, what predicts the curve."""
        prepare(self.problem, *(one.copy() for one in self.now))

    @property
    def moments(self) -> tuple[Array, Array] | None:
        """Mean and variance (N,) of the inputs over all sweeps after warm-up, where a chain sums them up."""
        return None

    @property
    def complete(self) -> dict[str, Array]:
        """The complete draws: tau (S, N), phi (S, P), and shift and factor where there are any."""
        n = self.kept // self.stride
        found = {"tau": self.tau[:n], "phi": self.phi[self.stride - 1 : self.kept : self.stride]}
        return found | ({"shift": self.shift[:n], "factor": self.factor[:n]} if self.problem.has_renewals else {})

    def add(self, tau: Array, phi: Array, *renewed: Array) -> None:
        """Keep draws tau (n, N), phi (n, P), and shift and factor (n, N) where there are any."""
        here = slice(self.kept, self.kept + len(tau))
        self.watched[here], self.phi[here] = tau[:, self.rows], phi
        if len(self.times) and len(tau):
            try:
                self.curve[here] = self.watched_curve(tau, phi, renewed)
            except KernelError:  # beyond double precision, on the dense engine
                self.curve[here] = np.nan
        complete = (self.tau, self.shift, self.factor) if renewed else (self.tau,)
        for k in range(len(tau)):
            self.kept += 1
            if self.kept % self.stride == 0:
                place = self.kept // self.stride
                for kept, drawn in zip(complete, (tau, *renewed), strict=True):
                    kept[place - 1] = drawn[k]
                if place == len(self.tau):
                    for kept in complete:
                        _halve(kept, place)
                    self.stride *= 2

    def halve(self) -> None:
        """Drop every other draw, the first one included."""
        if self.stride == 1:
            for kept in self.tau, self.shift, self.factor:
                _halve(kept, self.kept)
        for kept in self.watched, self.phi, self.curve:
            _halve(kept, self.kept)
        self.kept, self.stride = self.kept // 2, max(self.stride // 2, 1)


def watched_rows(problem: Problem, latent: Array) -> Array:
    """Rows whose inputs convergence is judged on, of those that are unknown: all, or an even sample and all ends.

    The ends of sequences, which rows on one side only hold in place, are the slowest. Of more than WATCHED / 2
    sequences, the ends of an even sample.
    """
    if len(latent) <= 2 * WATCHED:
        return latent
    ends = np.array([rows[[0, -1]] for _, rows in problem.record.sequences], dtype=int).reshape(-1, 2)
    ends = np.intersect1d(ends[evenly(len(ends), WATCHED // 2)], latent)
    return np.union1d(latent[evenly(len(latent), WATCHED)], ends)


def watched_times(problem: Problem, latent: Array) -> Array:
    """Internal times at which convergence is judged on the curve: none if there is no curve, or nothing to infer."""
    t = problem.rows.t[problem.rows.measured]
    if not t.size or not (latent.size or problem.free.any()):
        return np.empty(0)
    return np.quantile(t, WATCHED_TIMES)


def _halve(kept: Array, n: int) -> None:
    """The 2nd, 4th, ... of the first n move to the front."""
    kept[: n // 2] = kept[1 : 2 * (n // 2) : 2]


def precision(problem: Problem) -> np.dtype:
    """Of the inputs that are kept."""
    errors = problem.scale[problem.scale > 0.0]
    grain = np.spacing(np.abs(problem.rows.t).max().astype(np.float32))
    fine = not errors.size or grain <= FINENESS * errors.min()
    return np.dtype(np.float32 if fine and len(problem.record) > SINGLE_PRECISION_ABOVE else np.float64)


def take_checkpoint(chains: Sequence[Chain], thin: int, warmed_up: int) -> Checkpoint:
    """Everything that chains need to continue."""
    found = {"thin": np.array(thin), "warmed up": np.array(warmed_up), "of": np.array(_fingerprint(chains))}
    for k, chain in enumerate(chains):
        found |= {f"{k} {name}": values for name, values in _state(chain).items()}
    return found | {CHECKSUM: np.array(digest(found))}


def _state(chain: Chain) -> dict[str, Array]:
    """Everything that one chain needs to go on."""
    own = {f"draws {name}": values for name, values in chain.complete.items() if name != "phi"}
    own |= {f"draws {name}": getattr(chain, name)[: chain.kept] for name in _PARAMETERS}
    own |= {"stride": np.array(chain.stride), **chain.snapshot()}
    return own | {"random": np.array(json.dumps(chain.rng.bit_generator.state))}


def restore_checkpoint(checkpoint: Checkpoint, chains: Sequence[Chain]) -> tuple[int, int]:
    """Set chains to where they stood; returns ``thin`` and ``warmed_up``.

    Raises MethodError for a checkpoint of another record, model or method, StorageError for one that is damaged.
    """
    try:
        of = str(checkpoint["of"])
    except (KeyError, TypeError):
        raise StorageError("this is not a checkpoint that lamina made. Start without it.") from None
    if of != _fingerprint(chains):
        raise MethodError(
            "the checkpoint does not match this record and model (it was made with other data, another model or "
            "method, or another version of lamina). Start without it."
        )
    try:
        check_checksum(checkpoint)
        _check_version(checkpoint, chains)
        counts = _whole(checkpoint["thin"], 1), _whole(checkpoint["warmed up"], 0)
        for k, chain in enumerate(chains):
            own = {name.split(" ", 1)[1]: values for name, values in checkpoint.items() if name.startswith(f"{k} ")}
            _put_back(own, chain)
    except (MethodError, StorageError):
        raise
    # Arrays of any type and shape may be in it, and each fails in its own way.
    except Exception as error:
        raise StorageError(f"the checkpoint is damaged: {error}. Start without it.") from None
    return counts


def check_checksum(checkpoint: Checkpoint) -> Checkpoint:
    """A checkpoint with the numbers that were written. Raises ValueError for another, StorageError for an old one."""
    if CHECKSUM not in checkpoint and "of" in checkpoint:
        raise StorageError(_OLD)
    if str(checkpoint.get(CHECKSUM)) != digest({name: one for name, one in checkpoint.items() if name != CHECKSUM}):
        raise ValueError("its numbers are not those that were written")
    return checkpoint


def _check_version(checkpoint: Checkpoint, chains: Sequence[Chain]) -> None:
    """Raise StorageError if whole chains hold other numbers than those of this version of lamina."""
    for k, chain in enumerate(chains):
        found = {name.split(" ", 1)[1] for name in checkpoint if name.startswith(f"{k} ")}
        if found != set(_state(chain)):
            raise StorageError(_OLD)


def _fingerprint(chains: Sequence[Chain]) -> str:
    """Tells one record, model, method and set of chains from another."""
    problem = chains[0].problem
    described = [type(chains[0]).__name__, problem.model.to_dict(), len(chains), chains[0].budget]
    found = hashlib.sha256(json.dumps(described, default=str).encode())
    places = problem.record.places
    where = () if places is None else (places.latitude, places.longitude, places.gia, places.gia_sd, places.index)
    for one in (problem.record.t, problem.record.y, *problem.rows, *where):
        array = np.ascontiguousarray(one, dtype=float)
        found.update(f"{array.shape}".encode())
        found.update(array.tobytes())
    return found.hexdigest()


def _put_back(own: dict[str, Array], chain: Chain) -> None:
    stride, random = _whole(own["stride"], 1), json.loads(str(own["random"]))
    kept = len(own["draws phi"])
    counts = {name: kept if name in _PARAMETERS else kept // stride for name in (*_PARAMETERS, *chain.complete)}
    for name, n in counts.items():
        drawn, place = own[f"draws {name}"], getattr(chain, name)
        if n > len(place) or drawn.shape != (n, *place.shape[1:]):
            raise ValueError(f"the draws of {name} have the shape {drawn.shape}")
        unusable = np.isinf(drawn) if name == "curve" else ~np.isfinite(drawn)  # a curve may be NaN, see ``add``
        if drawn.dtype != place.dtype or unusable.any():
            raise ValueError(f"the draws of {name} are not numbers")
    here = chain.snapshot()
    check_state({name: own[name] for name in here}, here, chain.problem.rows)
    for name, n in counts.items():
        getattr(chain, name)[:n] = own[f"draws {name}"]
    chain.kept, chain.stride = kept, stride
    chain.rng.bit_generator.state = random
    chain.restore(own)


def check_state(given: Mapping[str, Array], here: Mapping[str, Array], rows: Rows) -> None:
    """Raise ValueError unless arrays can take the place of those of a chain that are ``here``, by name."""
    for name, values in given.items():
        if values.shape != here[name].shape or values.dtype != here[name].dtype:
            raise ValueError(f"{name} has the shape {values.shape} and the type {values.dtype}")
        if not np.isfinite(values).all():
            raise ValueError(f"{name} is NaN or infinite in places")
        if name in ("rounds", "seen") and (values < 0).any():
            raise ValueError(f"{name} is below zero")
    if "factor" in given and (given["factor"] <= 0.0).any():
        raise ValueError("a factor of the variance of y is not positive")
    n = len(rows.t)
    if "order" in given:
        _check_permutation(given["order"], n)
        if (np.diff(given["tau"][given["order"]]) < 0.0).any():
            raise ValueError("order is not that of the inputs")
    if "before" in given:
        _check_links(given["before"], given["after"], rows.sequence)
    if "now" in given and not 0 <= given["now"][0] < len(given["share"]):
        raise ValueError("there is no such member of the ensemble")


def _check_permutation(order: Array, n: int) -> None:
    if not np.array_equal(np.sort(order), np.arange(n)):
        raise ValueError("order is not an order of the rows")


def _check_links(before: Array, after: Array, sequence: Array) -> None:
    """Each row must be after the row before it, in one sequence."""
    rows = np.arange(len(before))
    for there, back in (before, after), (after, before):
        if ((there < -1) | (there >= len(rows))).any():
            raise ValueError("a row follows one that is not in the record")
        linked = there >= 0
        if (back[there[linked]] != rows[linked]).any() or (sequence[there[linked]] != sequence[linked]).any():
            raise ValueError("rows do not follow each other")


def _whole(value: Array, least: int) -> int:
    found = np.asarray(value)
    if found.shape != () or found.dtype.kind not in "iu" or found < least:
        raise ValueError(f"a count is {found}")
    return int(found)
