"""Has a set of chains converged? R-hat and effective sample size, for many quantities at once.

Both are the rank-normalised, split-chain versions of Vehtari, Gelman, Simpson, Carpenter & Bürkner (2021, Bayesian
Analysis 16, 667-718), as in ArviZ. They are computed here because a running sampler needs them for every input, and one
call for all inputs is many times faster than one call each.
"""

from __future__ import annotations

import numpy as np

Array = np.ndarray

#: Chains have converged if no R-hat is above this and no effective sample size below.
R_HAT, ESS = 1.01, 400.0
#: How often ``most_effective_draws`` may be too low.
TOO_LOW = 0.01
#: Fewer draws a chain are not looked at.
FEWEST_DRAWS = 4
#: So many stay in the processor's cache while they are judged.
NUMBERS_AT_ONCE = 2**17
#: In chains shorter than this R-hat is infinite and no draw is effective.
SHORTEST_CHAIN = 8


def judge(draws: Array) -> tuple[Array, Array]:
    """R-hat and effective sample size of each quantity, both (V,), from draws (chains, n, V).

    R-hat is the larger of the bulk and the tail version, the effective sample size that of the bulk.
    """
    if draws.shape[1] < SHORTEST_CHAIN:
        return np.full(draws.shape[2], np.inf), np.zeros(draws.shape[2])
    some = max(NUMBERS_AT_ONCE // (draws.shape[0] * draws.shape[1]), 1)
    parts = [_judge(draws[:, :, k : k + some]) for k in range(0, draws.shape[2], some)]
    worst, effective = zip(*parts, strict=True)
    return np.concatenate(worst), np.concatenate(effective)


def _judge(draws: Array) -> tuple[Array, Array]:
    bulk, tails = _rank_normalise(_split(draws))
    return np.maximum(_ratio(bulk), _ratio(tails)), _effective(bulk)


def r_hat(draws: Array) -> Array:
    """R-hat of each quantity, as ``judge``."""
    return judge(draws)[0]


def effective_draws(draws: Array) -> Array:
    """Effective sample size of each quantity, as ``judge``."""
    return judge(draws)[1]


def mean_standard_error(draws: Array) -> Array:
    """Monte-Carlo standard error of the mean of each quantity, shape (V,)."""
    return draws.std(axis=(0, 1), ddof=1) / np.sqrt(_effective(_split(draws)))


def most_effective_draws(means: Array, variances: Array) -> float:
    """The most effective draws, of all chains, that the worst of V quantities can have, from (chains, V) moments.

    With n effective draws in c chains, n / c times the variance of the means over that within chains is
    chi²(c - 1) / (c - 1) distributed. The n returned is less than the true one, of any quantity, in one case in a
    hundred. That is a coarse judgement, but needs no draws: of long records it judges every input.
    """
    from scipy.special import chdtri

    chains, V = means.shape
    if chains < 2 or V == 0:
        return np.inf
    between, within = means.var(axis=0, ddof=1), variances.mean(axis=0)
    if (between == 0.0).all():
        return np.inf
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.nanmax(between / within)
    return float(chains * chdtri(chains - 1, TOO_LOW / V) / (chains - 1) / ratio)


def _split(draws: Array) -> Array:
    """The halves of all chains, quantity by quantity: (V, 2 chains, n // 2)."""
    half = draws.shape[1] // 2
    return np.ascontiguousarray(np.concatenate([draws[:, :half], draws[:, -half:]]).transpose(2, 0, 1))


def _rank_normalise(draws: Array) -> tuple[Array, Array]:
    """Normal scores of the ranks of each quantity, over all chains, and of those of its distances from the median."""
    from scipy.special import ndtri

    flat = draws.reshape(len(draws), -1)
    V, n = flat.shape
    scores = ndtri((0.5 * np.arange(2 * n - 1) + 0.625) / (n + 0.25))  # of the ranks 1, 1.5, 2, ..., n
    begin = n * np.arange(V)[:, None]  # of each quantity, in one row of all numbers: that is indexed fastest
    order = np.argsort(flat, axis=1) + begin
    ordered = flat.reshape(-1)[order]
    bulk, tails = np.empty(flat.size), np.empty(flat.size)
    bulk[order] = _scores_of_ranks(ordered, scores)
    # In the order of the values the distances fall, then rise: a stable sort takes such runs as they are.
    distance = np.abs(ordered - 0.5 * (ordered[:, (n - 1) // 2] + ordered[:, n // 2])[:, None])
    again = np.argsort(distance, axis=1, kind="stable") + begin
    tails[order.reshape(-1)[again]] = _scores_of_ranks(distance.reshape(-1)[again], scores)
    return bulk.reshape(draws.shape), tails.reshape(draws.shape)


def _scores_of_ranks(ordered: Array, scores: Array) -> Array:
    """The scores of values (V, n) in increasing order; equal values share their mean rank."""
    V, n = ordered.shape
    found = np.broadcast_to(scores[::2], (V, n)).copy()
    equal = ordered[:, 1:] == ordered[:, :-1]
    tied = np.flatnonzero(equal.any(axis=1))
    if len(tied):
        edge = np.ones((len(tied), n + 1), dtype=bool)
        edge[:, 1:-1] = ~equal[tied]
        first, last = np.flatnonzero(edge[:, :-1]), np.flatnonzero(edge[:, 1:])
        found[tied] = np.repeat(scores[first % n + last % n], last - first + 1).reshape(len(tied), n)
    return found


def _ratio(draws: Array) -> Array:
    n = draws.shape[2]
    within = draws.var(axis=2, ddof=1).mean(axis=1)
    between = draws.mean(axis=2).var(axis=1, ddof=1)
    return np.sqrt((n - 1) / n + np.divide(between, within, out=np.ones_like(within), where=within > 0))


def _effective(draws: Array) -> Array:
    """Geyer's initial monotone sequence on the autocorrelations of all chains together, (V,)."""
    V, chains, n = draws.shape
    means = draws.mean(axis=2, keepdims=True)
    covariance = _autocovariance(draws - means)
    within = covariance[:, :1] * n / (n - 1.0)
    total = within * (n - 1.0) / n + means.var(axis=1, ddof=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        rho = 1.0 - (within - covariance) / total
    rho[:, 0] = 1.0
    pairs = rho[:, : 2 * (n // 2)].reshape(V, n // 2, 2).sum(axis=2)
    positive = np.logical_and.accumulate(pairs > 0.0, axis=1)
    monotone = np.where(positive, np.minimum.accumulate(pairs, axis=1), 0.0)
    # Of the first pair that is left out, the even one counts where it is positive: the sum is then less biased.
    first_out = positive.sum(axis=1)
    even = np.maximum(rho[np.arange(V), np.minimum(2 * first_out, n - 1)], 0.0)
    even[first_out == n // 2] = 0.0
    time = np.maximum(2.0 * monotone.sum(axis=1) - 1.0 + even, 1.0 / np.log10(chains * n))
    return np.where(total[:, 0] > 0.0, chains * n / time, np.nan)


def _autocovariance(draws: Array) -> Array:
    """Of draws less their mean, averaged over the chains: (V, n). Spectra are averaged, and transformed back once."""
    n = draws.shape[2]
    size = 1 << (2 * n - 1).bit_length()
    spectrum = np.fft.rfft(draws, size, axis=2)
    power = (spectrum.real**2 + spectrum.imag**2).mean(axis=1)
    return np.fft.irfft(power, size, axis=1)[:, :n] / n
