"""What the tools closest to the task find for one core: ``python peer_tools.py NAME core.npz found.npz CHAINS LENGTH``.

Run by ``peers.py``, each tool in its own process and, if necessary, its own interpreter, so nothing here needs lamina.
A core has t, t_sd, y and y_sd, rows in their known order, times increasing, and ``at``, the times of the curve.
A tool returns the mean and the 90 % band of the curve there, and draws of the inputs if it has any. Each docstring
describes the model of the tool. Priors that it needs are in the core's own units.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import os
import sys
import time

if __name__ == "__main__" and sys.argv[1] == "StratMC":  # read when JAX is imported: two chains side by side
    os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=2"

import numpy as np
from report import peak_memory

Core = dict[str, np.ndarray]
Answer = dict[str, np.ndarray]


def band(curves: np.ndarray) -> Answer:
    """Mean and 90 % band of drawn curves (draws, points)."""
    low, high = np.quantile(curves, [0.05, 0.95], axis=0)
    return {"mean": curves.mean(axis=0), "low": low, "high": high}


def normal_band(mean: np.ndarray, sd: np.ndarray) -> Answer:
    return {"mean": mean, "low": mean - 1.6449 * sd, "high": mean + 1.6449 * sd}


def scikit_learn(core: Core, chains: int, length: int) -> Answer:
    """A Gaussian process that takes the measured times for the true ones; Matérn-3/2, maximum marginal likelihood."""
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import ConstantKernel, Matern

    span = np.ptp(core["t"])
    kernel = ConstantKernel(core["y"].var(), (1e-3, 1e5)) * Matern(span / 10, (span / 1000, 10 * span), nu=1.5)
    gp = GaussianProcessRegressor(kernel, alpha=core["y_sd"] ** 2, n_restarts_optimizer=5, random_state=0)
    level = core["y"].mean()
    gp.fit(core["t"][:, None], core["y"] - level)
    mean, sd = gp.predict(core["at"][:, None], return_std=True)
    return normal_band(mean + level, sd)


def gpax(core: Core, chains: int, length: int) -> Answer:
    """UIGP: every time has a normal error, of one unknown size for all, and no order; Matérn (5/2), NUTS.

    The sizes of both errors, which it would learn, are given to it as narrow priors. The curve is asked for without
    the errors, which its ``predict`` would add to the times that are asked for.
    """
    import gpax
    import jax
    import numpyro.distributions as dist

    jax.config.update("jax_enable_x64", True)
    t_sd, y_sd, level = float(core["t_sd"].mean()), float(core["y_sd"].mean()), core["y"].mean()
    scale = core["y"].std()  # its prior of the kernel's variance is made for standardised values
    model = gpax.UIGP(
        1,
        "Matern",
        lengthscale_prior_dist=dist.LogNormal(np.log(np.ptp(core["t"]) / 10), 1.5),
        noise_prior_dist=dist.LogNormal(np.log((y_sd / scale) ** 2), 0.01),
        sigma_x_prior_dist=dist.LogNormal(np.log(t_sd), 0.01),
    )
    key, _ = gpax.utils.get_keys(0)
    y = (core["y"] - level) / scale
    model.fit(key, core["t"][:, None], y, num_warmup=length, num_samples=length, num_chains=chains,
              chain_method="sequential", progress_bar=False, print_summary=False)  # fmt: skip
    samples = model.get_samples()
    at = jax.numpy.asarray(core["at"])[:, None]
    moments = jax.jit(jax.vmap(lambda one: model.get_mvn_posterior(at, one, noiseless=True)))
    mean, cov = moments(samples)
    sd = np.sqrt(np.maximum(np.diagonal(cov, axis1=1, axis2=2), 0.0))
    curves = mean + sd * np.random.default_rng(0).standard_normal(mean.shape)
    watched = [samples["X_prime"][..., 0], samples["k_length"].reshape(len(mean), -1), samples["k_scale"][:, None]]
    return band(np.asarray(curves) * scale + level) | {"draws": by_chain(np.concatenate(watched, axis=1), chains)}


def paleostehm(core: Core, chains: int, length: int) -> Answer:
    """The errors-in-variables GP of PaleoSTeHM: every time has its normal error, and no order; Matérn-3/2, NUTS.

    It predicts from the measured times with the parameters of a draw (``forward``); the times of a draw are put in
    their place here, since otherwise they would play no part in the curve.
    """
    import PSTHM
    import pyro
    import pyro.distributions as dist
    import torch

    pyro.set_rng_seed(0)
    torch.set_num_threads(1)
    t, level = torch.tensor(core["t"]), core["y"].mean()
    kernel = PSTHM.kernels.Matern32(input_dim=1)
    gpr = PSTHM.model.GPRegression_EIV(t, torch.tensor(core["y"] - level), torch.tensor(core["t_sd"] ** 2), kernel,
                                       noise=torch.tensor(core["y_sd"] ** 2))  # fmt: skip
    span, var = float(np.ptp(core["t"])), float(core["y"].var())
    double = torch.tensor(1.5).double()
    kernel.lengthscale = pyro.nn.PyroSample(dist.LogNormal(torch.tensor(np.log(span / 10)), double))
    kernel.variance = pyro.nn.PyroSample(dist.LogNormal(torch.tensor(np.log(var)), 2 * double))
    sampler = PSTHM.opti.NUTS_mcmc(gpr, num_samples=chains * length, warmup_steps=length)  # it runs one chain
    samples = sampler.get_samples()
    error, size, variance = samples["xerr"], samples["kernel.lengthscale"], samples["kernel.variance"]
    at, curves, rng = torch.tensor(core["at"]), [], np.random.default_rng(0)
    for k in range(len(error)):
        kernel.lengthscale, kernel.variance, gpr.X = size[k].detach(), variance[k].detach(), t + error[k]
        with torch.no_grad():
            mean, sd2 = gpr(at, full_cov=False)
        curves.append(mean.numpy() + np.sqrt(np.maximum(sd2.numpy(), 0.0)) * rng.standard_normal(len(at)))
    watched = [core["t"] + error.numpy(), size.numpy().reshape(-1, 1), variance.numpy().reshape(-1, 1)]
    return band(np.array(curves) + level) | {"draws": np.concatenate(watched, axis=1)[None]}


def stratmc(core: Core, chains: int, length: int) -> Answer:
    """StratMC: samples in superposition, each with a depositional age, between two dated horizons; squared exponential.

    The horizons, which it needs, lie beyond the ends of the core, as uncertain as two errors of a date. Noise and
    offset of the section, which it can learn as well, are left out: the errors of the values are known.
    """
    import pandas as pd
    from stratmc.inference import get_trace
    from stratmc.model import build_model

    n, t, t_sd, y = len(core["t"]), core["t"], core["t_sd"], core["y"]
    names = [f"date {i}" for i in range(n)]
    # a lower height is older: the rows, whose times increase, go down
    height = -np.arange(n, dtype=float)
    samples = pd.DataFrame({"section": "core", "height": height, "value": y, "value_std": core["y_sd"]})
    samples = samples.assign(**{"Exclude?": False, "superposition?": True, "depositional age": names})
    ends = [t.max() + 2 * t_sd.max(), t.min() - 2 * t_sd.max()]
    ages = pd.DataFrame({"section": "core", "height": [*height, -float(n), 1.0], "age": [*t, *ends]})
    ages = ages.assign(age_std=[*t_sd, 2 * t_sd.max(), 2 * t_sd.max()], name=[*names, "base", "top"])
    ages["depositional?"] = ages["name"].str.startswith("date")
    ages["distribution_type"] = "Normal"
    for column in ("shared?", "intermediate detrital?", "intermediate intrusive?", "Exclude?"):
        ages[column] = False
    for column in ("param_1", "param_1_name", "param_2", "param_2_name"):
        ages[column] = np.nan
    ages = ages.sort_values("height").reset_index(drop=True)
    samples = samples.sort_values("height").reset_index(drop=True)
    priors = {"ls_dist": "HalfNormal", "ls_sigma": np.ptp(t) / 4, "var_sigma": 2 * y.std(), "white_noise_sigma": 0.01}
    model, gp = build_model(samples, ages, proxies=["value"], offset_type="none", noise_type="none", **priors)
    trace = get_trace(model, gp, core["at"][:, None], samples, ages, proxies=["value"], chains=chains, draws=length,
                      tune=4 * length, prior_draws=10, save=False, save_custom_initvals=False, seed=0,
                      initval_seed=0)  # fmt: skip
    curves = np.asarray(trace.posterior_predictive["f_pred_value"])
    tau = np.asarray(trace.posterior["core_ages"])[:, :, ::-1]
    theta = [np.asarray(trace.posterior[name]) for name in ("gp_ls_value", "gp_var_value")]
    return band(curves.reshape(-1, len(core["at"]))) | {"draws": np.concatenate([tau, *theta], axis=2)}


def by_chain(draws: np.ndarray, chains: int) -> np.ndarray:
    return np.asarray(draws).reshape(chains, -1, draws.shape[1])


TOOLS = {"scikit-learn": scikit_learn, "gpax": gpax, "PaleoSTeHM": paleostehm, "StratMC": stratmc}


#: What a tool imports, before the clock starts.
IMPORTS = {
    "scikit-learn": ("sklearn.gaussian_process",),
    "gpax": ("gpax",),
    "PaleoSTeHM": ("PSTHM", "pyro", "torch"),
    "StratMC": ("pandas", "stratmc.inference", "stratmc.model"),
}


def main() -> None:
    name, core, found, chains, length = sys.argv[1:]
    for module in IMPORTS[name]:
        importlib.import_module(module)
    began = time.perf_counter()
    answer = TOOLS[name](dict(np.load(core)), int(chains), int(length))
    seconds = time.perf_counter() - began
    np.savez(found, **answer, seconds=seconds, memory=peak_memory(), version=importlib.metadata.version(name))


if __name__ == "__main__":
    main()
