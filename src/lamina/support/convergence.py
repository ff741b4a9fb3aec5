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
#: In chains shorter than this R-hat is infinite and no draw is effective.
SHORTEST_CHAIN = 8


def judge(draws: Array) -> tuple[Array, Array]:
    """R-hat and effective sample size of each quantity, both (V,), from draws (chains, n, V).

    R-hat is the larger of the bulk and the tail version, the effective sample size that of the bulk.
    """
    if draws.shape[1] < SHORTEST_CHAIN:
        return np.full(draws.shape[2], np.inf), np.zeros(draws.shape[2])
    split = _split(draws)
    bulk, tails = _rank_normalise(split), _rank_normalise(np.abs(split - np.median(split, axis=(0, 1))))
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
    half = draws.shape[1] // 2
    return np.concatenate([draws[:, :half], draws[:, -half:]], axis=0)


def _rank_normalise(draws: Array) -> Array:
    """Each quantity replaced by the normal scores of its ranks over all chains; equal values share their mean rank."""
    from scipy.special import ndtri

    by_quantity = np.ascontiguousarray(draws.reshape(-1, draws.shape[2]).T)
    n = by_quantity.shape[1]
    order = np.argsort(by_quantity, axis=1)
    ordered = np.take_along_axis(by_quantity, order, axis=1)
    edge = np.ones((len(ordered), n + 1), dtype=bool)
    edge[:, 1:-1] = ordered[:, 1:] != ordered[:, :-1]
    first = np.maximum.accumulate(np.where(edge[:, :-1], np.arange(n), 0), axis=1)
    last = np.minimum.accumulate(np.where(edge[:, 1:], np.arange(n), n - 1)[:, ::-1], axis=1)[:, ::-1]
    scores = ndtri((0.5 * np.arange(2 * n - 1) + 0.625) / (n + 0.25))  # of the ranks 1, 1.5, 2, ..., n
    np.put_along_axis(ordered, order, scores[first + last], axis=1)
    return ordered.T.reshape(draws.shape)


def _ratio(draws: Array) -> Array:
    n = draws.shape[1]
    within = draws.var(axis=1, ddof=1).mean(axis=0)
    between = draws.mean(axis=1).var(axis=0, ddof=1)
    return np.sqrt((n - 1) / n + np.divide(between, within, out=np.ones_like(within), where=within > 0))


def _effective(draws: Array) -> Array:
    """Geyer's initial monotone sequence on the autocorrelations of all chains together."""
    chains, n, _ = draws.shape
    covariance = _autocovariance(draws).mean(axis=0)
    within = covariance[0] * n / (n - 1.0)
    total = within * (n - 1.0) / n + draws.mean(axis=1).var(axis=0, ddof=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        rho = 1.0 - (within - covariance) / total
    rho[0] = 1.0
    pairs = rho[: 2 * (n // 2)].reshape(n // 2, 2, -1).sum(axis=1)
    positive = np.cumprod(pairs > 0.0, axis=0).astype(bool)
    monotone = np.where(positive, np.minimum.accumulate(pairs, axis=0), 0.0)
    # Of the first pair that is left out, the even one counts where it is positive: the sum is then less biased.
    first_out = np.cumsum(~positive, axis=0) == 1
    even = np.where(first_out, np.maximum(rho[: 2 * (n // 2) : 2], 0.0), 0.0).sum(axis=0)
    time = np.maximum(2.0 * monotone.sum(axis=0) - 1.0 + even, 1.0 / np.log10(chains * n))
    return np.where(total > 0.0, chains * n / time, np.nan)


def _autocovariance(draws: Array) -> Array:
    n = draws.shape[1]
    size = 1 << (2 * n - 1).bit_length()
    spectrum = np.fft.rfft(draws - draws.mean(axis=1, keepdims=True), size, axis=1)
    return np.fft.irfft(spectrum * spectrum.conj(), size, axis=1)[:, :n] / n
