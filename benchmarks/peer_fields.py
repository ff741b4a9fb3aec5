"""What lamina and PaleoSTeHM find for one field: ``python peer_fields.py NAME field.npz found.npz CHAINS LENGTH``.

Run by ``peers.py``, each in its own process and, if necessary, its own interpreter: only lamina's part needs lamina.
A field has t, t_sd, y, y_sd and the number of the site (N,) of each row, rows of a core in their known order; latitude
and longitude (S,) of the sites; and ``at``, the times of the curves. An answer has the mean and the 90 % band of all
sites' curves there, one after the other, and intervals or draws of the inputs if there are any.
"""

from __future__ import annotations

import importlib.metadata
import sys
import time

import numpy as np
from peer_tools import Answer, Core, band, normal_band
from report import peak_memory

#: The model with which fields are simulated (Kopp et al. 2016): sd and length of the common curve; of the regional
#: ones, and their length in radians; of rates; of offsets. PaleoSTeHM begins there, and its priors are centred there.
COMMON, REGIONAL, RATES, OFFSET_SD = (0.057, 100.0), (0.051, 100.0, np.deg2rad(6.4)), (0.0011, np.deg2rad(5.5)), 0.021
PRIOR_FACTOR, ORIGIN = 2.0, 2000.0


def lamina_mcmc(field: Core, ordered: bool) -> Answer:
    """A fit with the default kernel and priors, on two CPUs, until it has converged; with or without the order."""
    import lamina

    names = [f"site {k}" for k in range(len(field["latitude"]))]
    record = lamina.Record(
        **{name: field[name] for name in ("t", "t_sd", "y", "y_sd")},
        sequence=None if ordered else [None] * len(field["t"]),
        site=[names[k] for k in field["site"]],
        latitude=dict(zip(names, field["latitude"], strict=True)),
        longitude=dict(zip(names, field["longitude"], strict=True)),
        t_unit="CE",
        y_unit="m",
    )
    lamina.fit(record, seed=1, warmup=5, max_sweeps=5, draws=5)  # code is compiled, or loaded
    began = time.perf_counter()
    posterior = lamina.fit(record, seed=0)
    found = {key: [] for key in ("mean", "q5", "q95")}
    for name in names:
        table = posterior.curve(field["at"], site=name)
        for key, values in found.items():
            values.append(table[key])
    seconds, inputs = time.perf_counter() - began, posterior.inputs()
    answer = {new: np.concatenate(found[key]) for key, new in (("mean", "mean"), ("q5", "low"), ("q95", "high"))}
    facts = posterior.draws.diagnostics
    answer |= {"input_low": inputs["q5"].to_numpy(), "input_high": inputs["q95"].to_numpy(), "seconds": seconds}
    return answer | {"fewest": facts["ess"], "worst": facts["r_hat"]}


def kernel_of_kopp():
    """PaleoSTeHM's kernels of the same model, with the simulation's values, and where their parameters are."""
    import torch
    from PSTHM import kernels

    def number(value: float) -> torch.Tensor:
        return torch.tensor(value, dtype=torch.float64)

    common = kernels.Matern32(1, variance=number(COMMON[0] ** 2), lengthscale=number(COMMON[1]))
    regional = kernels.Matern32(1, variance=number(REGIONAL[0] ** 2), lengthscale=number(REGIONAL[1]))
    near = kernels.Exponential(1, s_lengthscale=number(REGIONAL[2]), geo=True)
    rates = kernels.Linear(1, ref_year=number(ORIGIN), variance=number(RATES[0] ** 2))
    rates_near = kernels.Exponential(1, s_lengthscale=number(RATES[1]), geo=True)
    offset = kernels.WhiteNoise_SP(1, variance=number(OFFSET_SD**2), geo=True, sp=True)
    parts = [(common, "variance"), (common, "lengthscale"), (regional, "variance"), (regional, "lengthscale")]
    parts += [(near, "s_lengthscale"), (rates, "variance"), (rates_near, "s_lengthscale"), (offset, "variance")]
    product = kernels.Product(regional, near), kernels.Product(rates, rates_near)
    return kernels.Sum(kernels.Sum(kernels.Sum(common, product[0]), product[1]), offset), parts


def inputs_of(field: Core, t: np.ndarray, site: np.ndarray):
    """Rows as PaleoSTeHM takes them: age, latitude, longitude."""
    import torch

    return torch.tensor(np.stack([t, field["latitude"][site], field["longitude"][site]], axis=1))


def noisy_input(field: Core, length: int) -> Answer:
    """PaleoSTeHM's noisy-input approximation: errors of ages times the rate are added to those of y; SVI, no priors."""
    import PSTHM
    import torch

    torch.set_num_threads(1)
    PSTHM.opti.tqdm = iter  # its progress bar needs a notebook
    kernel, _ = kernel_of_kopp()
    X, y = inputs_of(field, field["t"], field["site"]), torch.tensor(field["y"])
    model = PSTHM.model.GPRegression_V(X, y, kernel, noise=torch.tensor(field["y_sd"] ** 2))
    model, _ = PSTHM.opti.SVI_NI_optm(model, torch.tensor(field["t_sd"]), num_iteration=length, lr=0.05)
    at, S = field["at"], len(field["latitude"])
    with torch.no_grad():
        mean, var = model(inputs_of(field, np.tile(at, S), np.repeat(np.arange(S), len(at))), full_cov=False)
    return normal_band(mean.numpy(), np.sqrt(np.maximum(var.numpy(), 0.0)))


def errors_in_variables(field: Core, chains: int, length: int) -> Answer:
    """PaleoSTeHM's errors in variables: every age has its normal error, no order; NUTS, one chain.

    Its ``forward`` predicts from the measured ages. Here curves are predicted from the ages of each draw.
    """
    import PSTHM
    import pyro
    import pyro.distributions as dist
    import torch

    pyro.set_rng_seed(0)
    torch.set_num_threads(1)
    kernel, parts = kernel_of_kopp()
    for one, name in parts:
        log = torch.tensor(float(np.log(getattr(one, name).item())), dtype=torch.float64)
        spread = np.log(PRIOR_FACTOR) * (2.0 if name == "variance" else 1.0)
        setattr(one, name, pyro.nn.PyroSample(dist.LogNormal(log, torch.tensor(spread, dtype=torch.float64))))
    X, y = inputs_of(field, field["t"], field["site"]), torch.tensor(field["y"])
    noise, t_var = torch.tensor(field["y_sd"] ** 2), torch.tensor(field["t_sd"] ** 2)
    model = PSTHM.model.GPRegression_EIV(X, y, t_var, kernel, noise=noise)
    found = PSTHM.opti.NUTS_mcmc(model, num_samples=chains * length, warmup_steps=length).get_samples()
    prefix = {id(module): name for name, module in model.named_modules()}
    theta = np.stack([found[f"{prefix[id(one)]}.{name}"].numpy().ravel() for one, name in parts], axis=1)
    tau, rng = field["t"] + found["xerr"].numpy(), np.random.default_rng(0)
    curves = np.array([drawn_curves(field, *one, rng) for one in zip(tau, theta, strict=True)])
    return band(curves) | {"draws": np.concatenate([tau, theta], axis=1)[None]}


def covariance(field: Core, theta: np.ndarray, t: np.ndarray, s: np.ndarray, u: np.ndarray, v: np.ndarray):
    """Of the field at times t and sites s with times u and sites v, (T, U)."""
    a, b = np.deg2rad(field["latitude"]), np.deg2rad(field["longitude"])
    half = np.sin(0.5 * (a[:, None] - a)) ** 2
    half += np.cos(a)[:, None] * np.cos(a) * np.sin(0.5 * (b[:, None] - b)) ** 2
    angle = 2.0 * np.arcsin(np.sqrt(half))[np.ix_(s, v)]
    apart = np.sqrt(3.0) * np.abs(t[:, None] - u)
    found = theta[0] * (1.0 + apart / theta[1]) * np.exp(-apart / theta[1])
    found += theta[2] * (1.0 + apart / theta[3]) * np.exp(-apart / theta[3] - angle / theta[4])
    found += theta[5] * np.outer(t - ORIGIN, u - ORIGIN) * np.exp(-angle / theta[6])
    return found + theta[7] * (s[:, None] == v)


def drawn_curves(field: Core, tau: np.ndarray, theta: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The curves of all sites in one draw of ages and parameters, independently at each time: enough for bands."""
    S, site = len(field["latitude"]), field["site"]
    at, where = np.tile(field["at"], S), np.repeat(np.arange(S), len(field["at"]))
    root = np.linalg.cholesky(covariance(field, theta, tau, site, tau, site) + np.diag(field["y_sd"] ** 2))
    white = np.linalg.solve(root, covariance(field, theta, tau, site, at, where))
    mean = white.T @ np.linalg.solve(root, field["y"])
    prior = theta[0] + theta[2] + theta[5] * (at - ORIGIN) ** 2 + theta[7]
    return mean + np.sqrt(np.maximum(prior - (white**2).sum(axis=0), 0.0)) * rng.standard_normal(len(at))


def main() -> None:
    name, source, found, chains, length = sys.argv[1:]
    field = dict(np.load(source))
    began = time.perf_counter()
    if name.startswith("lamina"):
        answer = lamina_mcmc(field, ordered=not name.endswith("without order"))
    else:
        import PSTHM  # noqa: F401  (before the clock starts)

        began = time.perf_counter()
        eiv = name.endswith("errors in variables")
        answer = errors_in_variables(field, int(chains), int(length)) if eiv else noisy_input(field, int(length))
    seconds = answer.pop("seconds", time.perf_counter() - began)
    version = importlib.metadata.version(name.split()[0])
    np.savez(found, **answer, seconds=seconds, memory=peak_memory(), version=version)


if __name__ == "__main__":
    main()
