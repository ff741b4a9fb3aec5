"""lamina and its peers in one run: the same data, the same priors, the same machine.

    pip install '.[bench,nuts]'
    python benchmarks/peers.py --markdown docs/benchmarks.md [--quick] [--only engines samplers tools fields]

Four questions: how long the value and gradient of the log-likelihood take; how many effective draws a second the
samplers make of one posterior; and how near to the truth, how well covered and how soon a core, and a field of several
sites, are reconstructed by the tools nearest to the task. Every peer runs in a process of its own, with linear algebra
on one thread and chains on two cores, and has ``--limit`` seconds. A peer that is missing, fails or takes longer is
shown as such.

PyMC, StratMC, PaleoSTeHM and gpax want versions of other packages that exclude each other. Install each into an
environment of its own, PyMC together with lamina, and name its interpreter: --python PyMC=PATH StratMC=PATH
PaleoSTeHM=PATH gpax=PATH.

Tables go to CSV files and figures to ``--out``, the summary into the page between ``<!-- peers -->`` and
``<!-- /peers -->``, that of fields between ``<!-- peer-fields -->`` and ``<!-- /peer-fields -->``.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

for _library in ("OPENBLAS", "MKL", "OMP"):  # read when NumPy is imported, here and in every process that starts here
    os.environ[f"{_library}_NUM_THREADS"] = "1"

import numpy as np  # noqa: E402
import pandas as pd  # noqa: E402
from engine import Table, Target, as_markdown, data, duration, fastest, target_table  # noqa: E402
from peer_engines import DENSE, ENGINES, MOST_DENSE, prepared  # noqa: E402
from report import fill_section, machine  # noqa: E402

from lamina.paper.functions import FUNCTIONS  # noqa: E402
from lamina.support.convergence import effective_draws, r_hat  # noqa: E402

HERE = Path(__file__).resolve().parent
PACKAGES = ("lamina", "numpy", "numba", "nutpie", "jax", "tinygp", "celerite2", "scikit-learn", "numpyro", "pymc")
T_SD, Y_SD = 0.5, 0.5
CHAINS = 2

#: Which samplers run at which size, and the draws of a chain that the peers make after as many of warm-up.
SAMPLERS = {
    25: (500, ("lamina mcmc", "lamina nuts", "NumPyro NUTS", "NumPyro NUTS on tinygp", "PyMC NUTS", "dense mcmc")),
    77: (200, ("lamina mcmc", "lamina nuts", "NumPyro NUTS", "NumPyro NUTS on tinygp", "PyMC NUTS", "dense mcmc")),
    200: (0, ("lamina mcmc",)),
    1000: (0, ("lamina mcmc",)),
}
#: The tools on cores of 25 rows, and the draws of a chain that each of them makes.
TOOLS = {
    "lamina mcmc": 0,
    "lamina npv": 0,
    "dense npv": 0,
    "lamina nigp": 0,
    "lamina gp": 0,
    "scikit-learn": 0,
    "gpax": 300,
    "PaleoSTeHM": 100,
    "StratMC": 200,
}
CORES = ("5 sin x", "0.055 x² tanh(cos x)")
#: Fields (sites, rows of each), seeds, and what runs on them with how many draws of a chain or steps.
FIELDS: dict[tuple[int, int], tuple[int, dict[str, int]]] = {
    (3, 20): (
        2,
        {
            "lamina mcmc": 0,
            "lamina mcmc without order": 0,
            "PaleoSTeHM errors in variables": 100,
            "PaleoSTeHM noisy input": 300,
        },
    ),
    (5, 60): (1, {"lamina mcmc": 0, "PaleoSTeHM errors in variables": 100, "PaleoSTeHM noisy input": 300}),
}


# --- running a peer ------------------------------------------------------------------------------------------------


def why(error: BaseException | str) -> str:
    """What happened to a peer, in a few words."""
    text = error if isinstance(error, str) else f"{type(error).__name__}: {error}"
    last = (text.strip().splitlines() or ["no message"])[-1]
    if last.startswith("ModuleNotFoundError"):
        return f"not installed: {last.removeprefix('ModuleNotFoundError: ')[:80]}"
    return f"failed: {last[:100]}"


def ask(script: str, name: str, core: Path, length: int, limit: float, python: str) -> dict[str, Any]:
    """Run a peer in a process of its own: what it found, or ``{"state": what happened}``."""
    with tempfile.TemporaryDirectory() as folder:
        found = Path(folder) / "found.npz"
        command = [python, str(HERE / script), name, str(core), str(found), str(CHAINS), str(length)]
        try:
            process = subprocess.Popen(
                command,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
                cwd=folder,
                start_new_session=True,
            )
        except OSError as error:
            return {"state": why(error)}
        try:
            errors = process.communicate(timeout=limit)[1]
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)  # with the processes of its chains, which would go on otherwise
            process.communicate()
            return {"state": f"not finished in {limit:.0f} s"}
        if process.returncode:
            return {"state": why(errors)}
        with np.load(found) as answer:
            return {"state": "", **answer}


def core(n: int, seed: int, function: str) -> tuple[dict[str, np.ndarray], np.ndarray, np.ndarray]:
    """A core of n rows, and the truth: the curve at ``at``, and the times of the rows.

    Times between rows are gamma(2), more irregular than the rows of the paper's cores; 25 rows span [-10, 10] as those.
    """
    rng = np.random.default_rng([seed, n])
    gap = rng.gamma(2.0, 1.0, n - 1)
    span = 20.0 / 24.0 * (n - 1)
    tau = -10.0 + span * np.concatenate([[0.0], np.cumsum(gap)]) / gap.sum()
    at, f = np.linspace(tau[0], tau[-1], 101), FUNCTIONS[function]
    t, y = tau + T_SD * rng.standard_normal(n), f(tau) + Y_SD * rng.standard_normal(n)
    return {"t": t, "t_sd": np.full(n, T_SD), "y": y, "y_sd": np.full(n, Y_SD), "at": at}, f(at), tau


def score(found: dict[str, Any], truth: np.ndarray, tau: np.ndarray) -> dict[str, Any]:
    """Everything that is shown of a peer's answer."""
    if found["state"]:
        return {"state": found["state"]}
    within = (found["low"] <= truth) & (truth <= found["high"])
    row = {
        "state": "",
        "seconds": float(found["seconds"]),
        "compiling": float(found.get("compiling", np.nan)),
        "rmse": float(np.sqrt(np.mean((found["mean"] - truth) ** 2))),
        "coverage": float(within.mean()),
        "memory": float(found["memory"]),
        "version": str(found.get("version", "")),
    }
    if "draws" in found:
        draws = found["draws"]
        low, high = np.quantile(draws[:, :, : len(tau)], [0.05, 0.95], axis=(0, 1))
        ess = float(effective_draws(draws).min())
        row |= {"ess": ess, "ess_per_second": ess / row["seconds"], "r_hat": float(r_hat(draws).max())}
        row["input_coverage"] = float(((low <= tau) & (tau <= high)).mean())
    elif "input_low" in found:
        row["input_coverage"] = float(((found["input_low"] <= tau) & (tau <= found["input_high"])).mean())
        if "fewest" in found:
            row |= {"ess": float(found["fewest"]), "r_hat": float(found["worst"])}
    return row


# --- the comparisons -----------------------------------------------------------------------------------------------


def engines(quick: bool) -> pd.DataFrame:
    """Seconds of a value with its gradient, engines taking turns, and memory at the largest size of each."""
    sizes = (25,) if quick else (25, 100, 1_000, 10_000, 100_000)
    functions: dict[tuple[str, int], Callable[[], Any]] = {}
    missing = {}
    for name in ENGINES:
        try:
            for N in sizes:
                if N <= MOST_DENSE or name not in DENSE:
                    functions[name, N] = prepared(name, data(N))
        except (Exception, SystemExit) as error:  # a peer that breaks is a result like any other
            missing[name] = why(error)
    seconds = fastest(functions, seconds=0.05 if quick else 1.0)
    rows = [{"engine": name, "N": N, "seconds": took, "state": ""} for (name, N), took in seconds.items()]
    for row in rows:
        if row["N"] == max(N for name, N in seconds if name == row["engine"]):
            run = [sys.executable, str(HERE / "peer_engines.py"), row["engine"], str(row["N"])]
            row["memory"] = float(subprocess.run(run, check=True, capture_output=True, text=True).stdout)
    return pd.DataFrame(rows + [{"engine": name, "state": state} for name, state in missing.items()])


def samplers(quick: bool, limit: float, python: dict[str, str]) -> pd.DataFrame:
    """The samplers on one posterior, of a core whose truth is known, at several sizes."""
    plan = {12: (30, ("lamina mcmc", "NumPyro NUTS", "NumPyro NUTS on tinygp", "PyMC NUTS"))} if quick else SAMPLERS
    rows = []
    for n, (length, names) in plan.items():
        record, truth, tau = core(n, 0, CORES[0])
        for name in names:
            if name.startswith("lamina") and n == min(plan) and not quick:  # so that its cache is filled
                asked("peer_samplers.py", name, record, length, limit, python)
            found = asked("peer_samplers.py", name, record, length, limit, python)
            rows.append({"N": n, "sampler": name, "draws": length} | score(found, truth, tau))
            print(rows[-1], flush=True)
    return pd.DataFrame(rows)


def tools(quick: bool, limit: float, python: dict[str, str]) -> pd.DataFrame:
    """The tools nearest to the task, each with its own model, on the same cores."""
    rows = []
    names = {"lamina mcmc": 0, "scikit-learn": 0, "gpax": 20, "PaleoSTeHM": 5, "StratMC": 20} if quick else TOOLS
    for function in CORES[:1] if quick else CORES:
        record, truth, tau = core(12 if quick else 25, 0, function)
        for name, length in names.items():
            script = "peer_samplers.py" if name.startswith(("lamina", "dense")) else "peer_tools.py"
            found = asked(script, name, record, length, limit, python)
            if "telling" in found:  # the others' seconds hold the band, too
                found["seconds"] = found["seconds"] + found["telling"]
            rows.append({"core": function, "tool": name, "draws": length} | score(found, truth, tau))
            print(rows[-1], flush=True)
    return pd.DataFrame(rows)


def fields(quick: bool, limit: float, python: dict[str, str]) -> pd.DataFrame:
    """lamina and PaleoSTeHM on the same simulated fields."""
    from fields import simulated

    rows = []
    for (sites, each), (seeds, names) in FIELDS.items():
        for seed in range(1 if quick else seeds):
            record, truth = simulated(sites, each, seed)
            places = record.places
            field = {name: getattr(record, name) for name in ("t", "t_sd", "y", "y_sd")}
            field |= {"site": places.index, "latitude": places.latitude, "longitude": places.longitude}
            for name, length in names.items():
                found = asked(
                    "peer_fields.py", name, field | {"at": truth["at"]}, 5 if quick else length, limit, python
                )
                known = {"field": f"{sites} sites × {each} rows", "seed": seed, "tool": name, "draws": length}
                rows.append(known | score(found, truth["curves"].ravel(), truth["tau"]))
                print(rows[-1], flush=True)
        if quick:
            break
    return pd.DataFrame(rows)


def asked(script: str, name: str, record: dict, length: int, limit: float, python: dict[str, str]) -> dict[str, Any]:
    """``ask`` about a core that is not yet in a file."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "core.npz"
        np.savez(file, **record)
        return ask(script, name, file, length, limit, python.get(name.split()[0], sys.executable))


# --- tables and figures ----------------------------------------------------------------------------------------------


def number(value: Any, form: str) -> str:
    if value is None or pd.isna(value):
        return "–"
    return f"{value:{',.0f' if form.endswith('g') and abs(value) >= 1000.0 else form}}"


def engine_table(found: pd.DataFrame) -> Table:
    timed = found[found["state"] == ""].pivot_table(index="N", columns="engine", values="seconds", sort=False)
    names = [name for name in ENGINES if name in timed]
    rows, targets = [], []
    for N, row in timed.iterrows():
        ratios = {name: row[name] / row["lamina"] for name in names[1:]}
        rows.append([f"{int(N):,}", duration(row["lamina"]), *(number(ratios[name], ",.3g") for name in names[1:])])
        if "tinygp" in ratios:
            targets.append(Target(f"times faster than tinygp, N = {int(N):,}", ratios["tinygp"], 25, at_least=True))
    memory = found.dropna(subset=["memory"]) if "memory" in found else found.iloc[:0]
    held = "; ".join(f"{row.engine} {row.memory:,.0f} MB (N = {int(row.N):,})" for row in memory.itertuples())
    note = (
        "The table shows how many times longer than lamina the others take for the log-likelihood of Matérn-3/2 and "
        "its gradient in all inputs and both hyperparameters (scikit-learn: in the hyperparameters alone, because it "
        "has no gradient in the inputs). JAX compiles tinygp and celerite2, in float64, and they may use both CPUs. "
        f"Compilation does not count. Peak memory of a process that evaluates once: {held}.{left_out(found, 'engine')}"
    )
    head = ["N", "lamina", *(f"{name} ÷ lamina" for name in names[1:])]
    return Table("Value and gradient", note, head, rows, targets)


def left_out(found: pd.DataFrame, column: str) -> str:
    """A sentence about the peers that gave no numbers."""
    failed = found[found["state"] != ""].drop_duplicates([column, "state"])
    names = [f"{getattr(row, column)} ({row.state})" for row in failed.itertuples()]
    return f" No numbers from: {'; '.join(names)}." if names else ""


def sampler_table(found: pd.DataFrame) -> Table:
    rows, targets = [], []
    for N, group in found.groupby("N", sort=False):
        rate = group.set_index("sampler").get("ess_per_second", pd.Series(dtype=float))
        base = rate.get("NumPyro NUTS", np.nan)
        for row in group.to_dict("records"):
            if row["state"]:
                rows.append([f"{N:,}", row["sampler"], row["state"], *[""] * 8])
                continue
            rows.append([f"{N:,}", row["sampler"], number(row["seconds"], ".3g"), number(row["compiling"], ".3g"),
                         number(row["ess"], ".0f"), number(row["ess_per_second"], ".3g"), number(row["r_hat"], ".3f"),
                         number(row["ess_per_second"] / base, ".3g"), number(row["rmse"], ".3f"),
                         f"{row['coverage']:.2f} / {row['input_coverage']:.2f}",
                         number(row["memory"], ".0f")])  # fmt: skip
        if N in (25, 77):
            limit = {25: 40, 77: 250}[N]
            ratio = rate.get("lamina mcmc", np.nan) / base  # NaN, which reaches no target, where one was not measured
            targets.append(Target(f"lamina mcmc ÷ NumPyro, effective draws / s, N = {N}", ratio, limit, at_least=True))
    note = (
        "Effective draws are ArviZ's bulk version, the smallest over all inputs and parameters. Seconds are those of "
        "warm-up and sampling. Compilation has its own column (lamina keeps its compiled code for the next run, so "
        "that later rows show only its loading). NumPyro and PyMC make two chains of 500 draws (N = 25) or 200 (N = "
        "77) after as many of warm-up, with a dense covariance, as a user would write it there; `NumPyro NUTS on "
        "tinygp` has the same density on tinygp's O(N) solver. Half of their time is warm-up, which longer chains "
        "would reduce, at most by a factor of two. `dense mcmc` is the paper's "
        "algorithm with a dense covariance, two chains of as many sweeps, interpreted, on one CPU. `lamina mcmc` "
        "runs four chains on two CPUs until they have converged, at least 8,000 draws in all; `lamina nuts` makes "
        "its default of 2,000 draws. All sample the same density, and one function computes all curves from the "
        "draws. Coverage is the share of the true curve, and of the true times of the rows, inside the 90 % "
        "intervals. With one core, it is a check, not a measurement of calibration. Peak memory is that of the first "
        f"process; PyMC's chains run in two more.{left_out(found, 'sampler')}"
    )
    head = ["N", "sampler", "seconds", "compiling", "fewest effective draws", "effective draws / s", "R-hat",
            "÷ NumPyro", "RMSE of the curve", "coverage, curve / times", "peak memory, MB"]  # fmt: skip
    return Table("Samplers on one posterior", note, head, rows, targets)


def tool_table(found: pd.DataFrame) -> Table:
    rows = []
    for row in found.to_dict("records"):
        name = f"{row['tool']} {row.get('version') or ''}".strip() if not row["state"] else row["tool"]
        if row["state"]:
            rows.append([row["core"], name, row["state"], *[""] * 6])
            continue
        rows.append([row["core"], name, number(row["seconds"], ".3g"), number(row["rmse"], ".3f"),
                     number(row["coverage"], ".2f"), number(row.get("input_coverage"), ".2f"),
                     number(row.get("ess"), ".0f"), number(row.get("r_hat"), ".3f"),
                     number(row["memory"], ".0f")])  # fmt: skip
    note = (
        "The table shows whole fits of cores with 25 rows, by tools that answer different questions. The errors are "
        f"{T_SD:g} in the times and {Y_SD:g} in the values. Seconds include the fit and the band. They exclude "
        "imports and, for lamina, compilation, which is kept from one run to the next. JAX and PyTensor compile in "
        "every run, so their compilation counts. gpax runs its chains one after the other; PaleoSTeHM runs one."
    )
    head = ["core", "tool", "seconds", "RMSE of the curve", "coverage, curve", "coverage, times",
            "fewest effective draws", "R-hat", "peak memory, MB"]  # fmt: skip
    return Table("Tools nearest to the task", note, head, rows, [])


def field_table(found: pd.DataFrame) -> Table:
    rows = []
    for (field, tool), group in found.groupby(["field", "tool"], sort=False):
        well = group[group["state"] == ""]
        if well.empty:
            rows.append([field, tool, group["state"].iloc[0], *[""] * 6])
            continue
        mean = well.mean(numeric_only=True)
        number_of = f"{len(well)} of {len(group)}"
        rows.append([field, tool, number(mean["seconds"], ".3g"), number(1000.0 * mean["rmse"], ".1f"),
                     number(mean["coverage"], ".2f"), number(mean.get("input_coverage"), ".2f"),
                     number(mean.get("ess"), ".0f"), number(mean.get("r_hat"), ".3f"), number_of])  # fmt: skip
    known = found[found["version"].astype(bool) & found["version"].notna()]
    versions = ", ".join(sorted({f"{row.tool.split()[0]} {row.version}" for row in known.itertuples()}))
    note = (
        "Fields are simulated with the values of Kopp et al. (2016) at sites of the Atlantic coast, as in "
        "[Fields](#fields-many-sites): cores whose rows are in order, with errors of 50 years and 100 mm. "
        "PaleoSTeHM's kernels begin at the values of the simulation. "
        "For errors in variables its priors are centred there, with a factor "
        "of two, NUTS makes one chain of 200 draws after 100 of warm-up, and curves are predicted from the sampled "
        "ages. The noisy-input approximation maximises the likelihood in 300 steps. lamina has its default priors, "
        "which know nothing of the simulation, and samples until R-hat is 1.01 and every input and parameter "
        "has 400 effective draws. Seconds include the fit and the bands, without imports and, for lamina, "
        f"compilation. Numbers are means over the fields that were finished. Versions: {versions}."
    )
    head = ["field", "tool", "seconds", "RMSE of curves, mm", "curves in 90 %", "times in 90 %",
            "fewest effective draws", "R-hat", "finished"]  # fmt: skip
    return Table("Fields of several sites", note, head, rows, [])


#: For each comparison: its column of names, the columns that are drawn and how, and the labels of the axes.
FIGURES: tuple[tuple[str, str, str, str, tuple[str, str], dict[str, str]], ...] = (
    ("engines", "engine", "N", "seconds", ("loglog", "o-"),
     {"xlabel": "rows", "ylabel": "seconds", "title": "Value and gradient of the log-likelihood"}),
    ("samplers", "sampler", "N", "ess_per_second", ("loglog", "o-"),
     {"xlabel": "rows", "ylabel": "effective draws / s", "title": "Samplers on one posterior"}),
    ("tools", "tool", "seconds", "rmse", ("semilogx", "o"),
     {"xlabel": "seconds", "ylabel": "RMSE of the curve", "title": "Tools nearest to the task, cores of 25 rows"}),
    ("fields", "tool", "seconds", "rmse", ("loglog", "o"),
     {"xlabel": "seconds", "ylabel": "RMSE of the curves, m", "title": "Fields of several sites"}),
)  # fmt: skip


def draw(results: dict[str, pd.DataFrame], out: Path) -> None:
    """One figure for each comparison."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    for section, by, x, y, how, words in FIGURES:
        if section not in results or y not in results[section]:
            continue
        figure, ax = plt.subplots(figsize=(6, 4), layout="constrained")
        for name, group in results[section].query("state == ''").groupby(by, sort=False):
            getattr(ax, how[0])(group[x], group[y], how[1], label=name)
        ax.set(**words)
        ax.legend(fontsize="small")
        figure.savefig(out / f"{section}.png", dpi=120)
    plt.close("all")


TABLES = {"engines": engine_table, "samplers": sampler_table, "tools": tool_table, "fields": field_table}


def page(results: dict[str, pd.DataFrame], command: str, folder: str) -> str:
    """The section of the page."""
    parts, targets = [f"{machine(PACKAGES)} Command: `{command}`"], []
    for name, found in results.items():
        table = TABLES[name](found)
        targets += table.targets
        parts.append(as_markdown(table).replace("## ", "### ", 1))
        parts.append(f"![{table.title}]({folder}/{name}.png)\n\nAs numbers: [{name}.csv]({folder}/{name}.csv).")
    if targets:
        parts.append(as_markdown(target_table(targets)).replace("## Targets", "### Targets of this run", 1))
    return "\n\n".join(parts)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--markdown", type=Path, metavar="PAGE", help="write the summary into this page")
    parser.add_argument("--out", type=Path, default=HERE.parent / "docs" / "peers", help="folder of CSV and figures")
    parser.add_argument("--quick", action="store_true", help="small sizes and short chains: does it run at all?")
    parser.add_argument("--only", nargs="+", choices=TABLES, default=list(TABLES),
                        help="run these; what the others found last time is read from their CSV files")  # fmt: skip
    parser.add_argument("--limit", type=float, default=300.0, help="seconds that a peer has on one core")
    parser.add_argument("--python", nargs="+", default=[], metavar="TOOL=PATH", help="interpreters of tools")
    options = parser.parse_args(arguments)
    wrong = [one for one in options.python if "=" not in one]
    if wrong:
        parser.error(f"--python {wrong[0]}: write TOOL=PATH, for example StratMC=/path/to/python")
    python = dict(one.split("=", 1) for one in options.python)
    options.out.mkdir(parents=True, exist_ok=True)
    results: dict[str, pd.DataFrame] = {}
    for name, file in ((name, options.out / f"{name}.csv") for name in TABLES):
        if name not in options.only:
            if file.exists():
                texts = {"state": "str", "version": "str"}
                results[name] = pd.read_csv(file, dtype=texts).fillna(dict.fromkeys(texts, ""))
            continue
        peers = (options.quick,) if name == "engines" else (options.quick, options.limit, python)
        results[name] = {"engines": engines, "samplers": samplers, "tools": tools, "fields": fields}[name](*peers)
        results[name].to_csv(file, index=False, float_format="%.6g")
        print(as_markdown(TABLES[name](results[name])), flush=True)
    draw(results, options.out)
    if options.markdown:
        command = "python benchmarks/peers.py" + (" --quick" if options.quick else "")
        command += f" --only {' '.join(options.only)}" if len(options.only) < len(TABLES) else ""
        command += f" --python {' '.join(f'{tool}=…' for tool in python)}" if python else ""
        command += " --markdown docs/benchmarks.md"
        folder = Path(os.path.relpath(options.out, options.markdown.resolve().parent)).as_posix()
        for section, names in ("peers", [name for name in TABLES if name != "fields"]), ("peer-fields", ["fields"]):
            if set(names) & set(options.only):
                some = {name: results[name] for name in names if name in results}
                fill_section(options.markdown, section, page(some, command, folder))


if __name__ == "__main__":
    main()
