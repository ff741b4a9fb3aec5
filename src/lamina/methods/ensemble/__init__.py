"""ensemble: inputs that another age model has inferred, given as members of an ensemble or as a covariance.

That model has used the order already, so there is no prior of the gaps. The posterior is

    p(tau) p(y | tau, theta) p(theta)

with p(tau) one of the members, all alike before the data (``members``, Eq. (69)), or the normal
N(t, covariance) (``elliptical``, Eq. (70)). Chains run until they agree (``runner``), on the O(N) engine.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ...errors import MethodError
from ...model.problem import Problem
from ...support.cpus import available_cpus
from ...support.numbers import count, number
from .. import Method
from ..chains import DrawBudget, draw_budget
from ..draws import Checkpoint, Draws
from ..mcmc import MarkovChain
from ..mcmc.chain import Kept, Schedule
from ..mcmc.metropolis import Moves
from ..runner import Progress, run_until_converged
from ..words import Facts, Words, chain_evidence, chain_length
from . import elliptical
from .members import advance as advance_members
from .members import learn_shares, new_members

Array = np.ndarray

#: The limit of each chain after warm-up, unless another is given.
MAX_SWEEPS = 20_000
#: Joint moves of theta a round.
THETA_MOVES = 8
#: Fewer effective members, if they are also less than half of those given, cannot represent a posterior.
FEWEST_MEMBERS = 20.0
#: Rounding: how far a covariance may be from symmetric, and its eigenvalues below zero, relative to its largest entry.
COVARIANCE_ROUNDING = 1e-8
#: Members and the record's own dates may differ by this number of standard deviations of the dates.
APART = 3.0


def run(
    problem: Problem,
    seed: int = 0,
    members: ArrayLike | None = None,
    covariance: ArrayLike | None = None,
    chains: int = 4,
    draws: int = 2000,
    warmup: int = 1000,
    max_sweeps: int | None = None,
    cores: int | None = None,
    progress: Progress | None = None,
    checkpoint: Checkpoint | None = None,
) -> Draws:
    """Sample with inputs from ``members`` (M, N) or N(t, ``covariance`` (N, N)); other arguments as for mcmc."""
    ages = check(problem, members, covariance)
    kind: type[_NormalChain] | type[_MemberChain] = _NormalChain if members is None else _MemberChain
    seeds, budget = np.random.SeedSequence(seed).spawn(chains), draw_budget(problem, draws, chains)
    made = [kind(problem, one, budget, ages) for one in seeds]
    workers = min(chains, cores or available_cpus())
    found = run_until_converged(made, warmup, max_sweeps or MAX_SWEEPS, workers, progress, checkpoint)
    facts = found.diagnostics | {"method": "ensemble"}
    if members is not None:
        facts |= _members_left(made)
        left, given = facts["effective_members"], facts["members"]
        facts["converged"] &= bool(left >= min(FEWEST_MEMBERS, 0.5 * given))
    return replace(found, diagnostics=facts)


def check(problem: Problem, members: ArrayLike | None = None, covariance: ArrayLike | None = None) -> Array:
    """The members in internal time, or the covariance. Raises MethodError if they do not fit the record."""
    if (members is None) == (covariance is None):
        raise MethodError(
            'method="ensemble" takes either members, an array (members, rows) of ages such as lamina.read_ensemble '
            "gives, or covariance, an array (rows, rows) of the errors of t. Give one of them."
        )
    if problem.engine != "markov":
        raise MethodError('method="ensemble" runs on the O(N) engine only: use a Matérn kernel, or a sum of them.')
    tied = np.flatnonzero(np.bincount(problem.layer)[problem.layer] > 1)
    if tied.size:
        raise MethodError(
            '{rows} are tied, but with method="ensemble" the ages already determine which rows are of one age. '
            "Leave the tie out.",
            rows=tied,
        )
    return _checked_covariance(problem, covariance) if members is None else _checked_members(problem, members)


def _numbers(name: str, values: Any) -> Array:
    try:
        return np.array(values, dtype=float)
    except (TypeError, ValueError):
        raise MethodError(f"{name} must be an array of numbers, got {type(values).__name__}.") from None


def _checked_members(problem: Problem, given: Any) -> Array:
    record, ages = problem.record, _numbers("members", given)
    n = len(record)
    if ages.ndim != 2 or ages.shape[1] != n or len(ages) == 0:
        turned = " Transpose it." if ages.ndim == 2 and ages.shape[0] == n else ""
        raise MethodError(
            f"members must have one row for each member and one column for each of the {n} rows of the record, got "
            f"shape {ages.shape}.{turned}"
        )
    ages[:, record.exact] = np.where(np.isnan(ages[:, record.exact]), record.t[record.exact], ages[:, record.exact])
    missing = np.flatnonzero(~np.isfinite(ages).all(axis=0))
    if missing.size:
        raise MethodError("members: an age is NaN or infinite in {rows} of the record.", rows=missing)
    moved = np.flatnonzero(record.exact & ~np.isclose(ages, record.t, rtol=1e-9, atol=0.0).all(axis=0))
    if moved.size:
        raise MethodError(
            "members differ from t in {rows} of the record, whose input is exact (t_sd = 0). Give these "
            "rows a t_sd above 0, or the members their t, or NaN, there.",
            rows=moved,
        )
    dated = record.dated & ~record.exact
    reach = APART * np.where(dated, record.t_sd, 0.0)
    apart = dated & ((record.t < ages.min(axis=0) - reach) | (record.t > ages.max(axis=0) + reach))
    if 2 * apart.sum() > dated.sum():
        raise MethodError(
            f"members do not reach the t of {{rows}} of the record, within {APART:g} t_sd. "
            "Give them in the order of its rows and on its time scale (BP or CE, years or thousands).",
            rows=np.flatnonzero(apart),
        )
    ages = problem.to_internal(ages)
    ages[:, record.exact] = problem.rows.t[record.exact]
    return ages


def _checked_covariance(problem: Problem, given: Any) -> Array:
    record, matrix = problem.record, _numbers("covariance", given)
    n = len(record)
    if matrix.shape != (n, n):
        raise MethodError(
            f"covariance must have one row and one column for each of the {n} rows, got shape {matrix.shape}."
        )
    if not np.isfinite(matrix).all():
        missing = np.flatnonzero(~np.isfinite(matrix).all(axis=1))
        raise MethodError("covariance is NaN or infinite in {rows}.", rows=missing)
    undated = np.flatnonzero(~record.dated)
    if undated.size:
        raise MethodError("covariance is that of the errors of t, which {rows} does not have: give it.", rows=undated)
    slack = COVARIANCE_ROUNDING * float(np.abs(matrix).max())
    if np.abs(matrix - matrix.T).max() > slack or np.linalg.eigvalsh(matrix).min() < -n * slack:
        raise MethodError("covariance is not a covariance matrix: it is not symmetric, or has a negative eigenvalue.")
    free = np.flatnonzero(record.exact & (np.diag(matrix) > slack))
    if free.size:
        raise MethodError(
            "covariance has a variance in {rows}, whose input is exact (t_sd = 0). Give these rows a t_sd "
            "above 0, or no variance.",
            rows=free,
        )
    return np.where(np.outer(record.exact, record.exact) | record.exact, 0.0, 0.5 * (matrix + matrix.T))


class _AgesChain(MarkovChain):
    """A chain whose inputs come from another age model."""

    def __init__(
        self, problem: Problem, seed: np.random.SeedSequence, budget: DrawBudget, ages: Array, latent: Array
    ) -> None:
        super().__init__(problem, seed, budget, latent)
        #: (32,) identifies the age model
        self.known = np.frombuffer(hashlib.sha256(ages.tobytes()).digest(), dtype=np.uint8).copy()

    @property
    def moves(self) -> Moves:
        return super().moves._replace(theta=THETA_MOVES)

    def restore(self, arrays: dict[str, Array]) -> None:
        if not np.array_equal(arrays["ages"], self.known):
            raise MethodError(
                "the checkpoint does not match this record and model (it was made with other ages). Start without it."
            )
        super().restore(arrays)


class _MemberChain(_AgesChain):
    """A chain over the members of an ensemble."""

    def __init__(self, problem: Problem, seed: np.random.SeedSequence, budget: DrawBudget, ages: Array) -> None:
        super().__init__(problem, seed, budget, ages, np.ptp(ages, axis=0) > 0.0)
        first = int(self.rng.integers(len(ages)))
        self.members = new_members(ages, first)
        self.state.tau[:], self.state.order[:] = ages[first], self.members.order[first]

    def go(self, schedule: Schedule, kept: Kept) -> None:
        advance_members(*self.packed, self.members, schedule, self.rng, kept)

    def reset_adaptation(self) -> None:
        super().reset_adaptation()
        learn_shares(self.members)

    def snapshot(self) -> dict[str, Array]:
        own = {name: getattr(self.members, name) for name in ("share", "heaped", "mass", "now")}
        return super().snapshot() | own | {"ages": self.known}


class _NormalChain(_AgesChain):
    """A chain over inputs with a joint normal prior."""

    def __init__(self, problem: Problem, seed: np.random.SeedSequence, budget: DrawBudget, ages: Array) -> None:
        super().__init__(problem, seed, budget, ages, np.diag(ages) > 0.0)
        self.normal = elliptical.new_normal(problem.rows.t, ages, self.rng.standard_normal(len(ages)))
        elliptical.place(self.normal, self.state.tau, self.state.order)

    def go(self, schedule: Schedule, kept: Kept) -> None:
        elliptical.advance(*self.packed, self.normal, schedule, self.rng, kept)

    def snapshot(self) -> dict[str, Array]:
        return super().snapshot() | {"z": self.normal.z, "ages": self.known}


def _members_left(chains: list[Any]) -> dict[str, Any]:
    """How many members were given, and how many equally likely ones would be as many as the data left: 1 / sum p²."""
    mass = np.sum([chain.members.mass for chain in chains], axis=0)
    share = mass / mass.sum() if mass.any() else np.full(len(mass), 1.0 / len(mass))
    return {"members": len(mass), "effective_members": float(1.0 / np.sum(share**2))}


def _check(problem: Problem, options: dict[str, Any]) -> None:
    check(problem, options.get("members"), options.get("covariance"))


def _inputs_in_words(facts: Facts) -> str:
    prior = "normal errors with the covariance from another age model"
    if "members" in facts:
        prior = f"the {count(facts['members'], 'member')} of an ensemble from another age model, all equally likely"
    return (
        f"The true inputs are unknowns, whose prior was given by {prior}. The known order, which that model had used, "
        "was not used again."
    )


def _inference_in_words(facts: Facts, kept: int) -> str:
    sampler = "elliptical slice sampling (Murray et al. 2010)"
    if "members" in facts:
        sampler = "conditional importance resampling (Andrieu et al. 2010)"
    return (
        f"Inputs (by {sampler}) and parameters (by the Metropolis algorithm) were sampled together, "
        f"{chain_length(facts, kept, 'round')}."
    )


def _evidence_in_words(facts: Facts) -> str:
    text = chain_evidence(facts)
    if "members" in facts:
        text += (
            f" Given the data, the {count(facts['members'], 'member')} of the ensemble carry as much weight as "
            f"{number(facts['effective_members'], 3)} equally likely ones. A handful cannot represent the uncertainty "
            "of the ages."
        )
    return text


METHOD = Method(
    name="ensemble",
    run=run,
    title="sampling with the ages of another model",
    words=Words(
        inputs=_inputs_in_words,
        inference=_inference_in_words,
        evidence=_evidence_in_words,
        remedy="If the data leave too few members, give more of them, or their covariance; else run it again with more "
        "sweeps.",
        citations=lambda facts: ("Rasmussen", "Vehtari", "Andrieu" if "members" in facts else "Murray"),
        arguments=lambda facts: f"{'members' if 'members' in facts else 'covariance'}=..., ",
    ),
    infers_inputs=True,
    has_gap_prior=False,
    needs=("members", "covariance"),
    check_own=_check,
)
