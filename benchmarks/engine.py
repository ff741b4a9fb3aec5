"""Times the engine and prints tables: ``python benchmarks/engine.py`` (needs the extra ``lamina[bench]``).

Every speed is a ratio to something else timed in the same run, turn by turn, each at its fastest of many turns, since
seconds depend on the machine and on what else it does. ``--markdown FILE`` also writes the tables into FILE, between
``<!-- engine -->`` and ``<!-- /engine -->``. Whatever is timed is first compared in value with what it is timed
against.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

for _library in ("OPENBLAS", "MKL", "OMP"):  # read when NumPy is imported: one core for the dense engine, as for lamina
    os.environ.setdefault(f"{_library}_NUM_THREADS", "1")

import numpy as np  # noqa: E402
import unrolled  # noqa: E402
from numba import njit  # noqa: E402
from report import fill_section, machine  # noqa: E402

import lamina  # noqa: E402
from lamina import markov  # noqa: E402
from lamina.engine.backward import Information  # noqa: E402
from lamina.engine.filter import State, begin, copy_state  # noqa: E402
from lamina.engine.local import backward_step, log_input, new_line, predict_to  # noqa: E402
from lamina.engine.stack import COMPILED, zeros  # noqa: E402
from lamina.engine.statespace import make_process  # noqa: E402

KERNEL = lamina.Matern32(length=2.0, sd=1.0)
PACKAGES = ("lamina", "numpy", "numba", "scipy", "jax", "tinygp")


class Data(NamedTuple):
    """A record of N rows, on average 20 of them in one length of the kernel."""

    tau: np.ndarray
    y: np.ndarray
    y_sd: np.ndarray


class Target(NamedTuple):
    """One number that the engine should reach."""

    what: str
    measured: float
    limit: float
    at_least: bool = False

    @property
    def met(self) -> bool:
        return self.measured >= self.limit if self.at_least else self.measured <= self.limit


class Table(NamedTuple):
    """One table of results, with the sentence that explains it."""

    title: str
    note: str
    header: list[str]
    rows: list[list[str]]
    targets: list[Target]


def data(N: int, seed: int = 0) -> Data:
    """The same record for the same N in every section."""
    rng = np.random.default_rng(seed)
    tau = np.cumsum(rng.exponential(0.1, N))
    return Data(tau, np.sin(tau) + 0.1 * rng.standard_normal(N), np.full(N, 0.1))


def fastest(functions: dict[Any, Callable[[], Any]], seconds: float = 1.0) -> dict[Any, float]:
    """Seconds a call of each function: the fastest of its turns, the functions taking turns with each other.

    A turn is a few milliseconds by the clock, so that some fall between the other work of the machine. Calls too long
    for that (0.05 s) count by the processor time of all threads if that is less. Each function has ``seconds``, and 15
    turns in any case.
    """
    calls, best, spent = {}, {}, {}
    for name, function in functions.items():
        function()  # compiles
        begin = time.perf_counter()
        function()
        calls[name] = max(1, int(0.002 / (time.perf_counter() - begin)))
        best[name], spent[name] = np.inf, 0.0
    turn = 0
    while turn < 15 or min(spent.values()) < seconds:
        for name, function in functions.items():
            if turn >= 15 and spent[name] >= seconds:
                continue
            begin, begin_used = time.perf_counter(), time.process_time()
            for _ in range(calls[name]):
                function()
            took, used = time.perf_counter() - begin, time.process_time() - begin_used
            took = min(took, used) if took > 0.05 else took
            spent[name] += took
            best[name] = min(best[name], took / calls[name])
        turn += 1
    return best


def check(what: str, found: Any, expected: Any, tolerance: float = 1e-7) -> None:
    """Stop unless both are the same, relative to the largest number of ``expected``."""
    found, expected = np.asarray(found), np.asarray(expected)
    error = np.max(np.abs(found - expected)) / max(np.max(np.abs(expected)), 1e-300)
    if not error < tolerance:
        sys.exit(f"{what}: the numbers differ by {error:.1e} of the largest; what is timed is not the same thing.")


def duration(seconds: float) -> str:
    """Three digits with a unit that suits."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}" if seconds < 1000 * size else f"{seconds / size:.0f} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


# --- value with gradient, against the dense engine and tinygp ------------------------------------------------------


def tinygp_value_and_gradient() -> Callable[[Data], Callable[[], Any]] | None:
    """tinygp's quasiseparable solver: compiled, float64, differentiated in the inputs and in the hyperparameters."""
    if importlib.util.find_spec("tinygp") is None:
        print(
            "tinygp is not installed, so it is left out. Install it with: pip install 'lamina[bench]'", file=sys.stderr
        )
        return None
    import jax
    import tinygp

    jax.config.update("jax_enable_x64", True)

    def log_probability(theta: Any, tau: Any, y: Any, y_var: Any) -> Any:
        kernel = jax.numpy.exp(2.0 * theta[1]) * tinygp.kernels.quasisep.Matern32(scale=jax.numpy.exp(theta[0]))
        return tinygp.GaussianProcess(kernel, tau, diag=y_var, assume_sorted=True).log_probability(y)

    compiled = jax.jit(jax.value_and_grad(log_probability, argnums=(0, 1)))

    def prepare(d: Data) -> Callable[[], Any]:
        arguments = [jax.device_put(one) for one in (KERNEL.theta, d.tau, d.y, d.y_sd**2)]
        return lambda: jax.block_until_ready(compiled(*arguments))

    return prepare


def gradient_functions(d: Data, peer: Callable[[Data], Callable[[], Any]] | None) -> dict[str, Callable[[], Any]]:
    """The same numbers by each engine, compared before they are timed."""
    functions = {"lamina": lambda: lamina.log_likelihood(*d, KERNEL, gradient=True)}
    value, d_tau, d_theta = functions["lamina"]()
    if len(d.tau) <= 1000:
        functions["dense"] = lambda: lamina.log_likelihood(*d, KERNEL, gradient=True, engine="dense")
        for found, expected in zip(functions["dense"](), (value, d_tau, d_theta), strict=True):
            check("dense", found, expected)
    if peer:
        functions["tinygp"] = peer(d)
        peer_value, (peer_theta, peer_tau) = functions["tinygp"]()
        for found, expected in zip((peer_value, peer_tau, peer_theta), (value, d_tau, d_theta), strict=True):
            check("tinygp", found, expected)
    return functions


def gradient_section() -> Table:
    """lamina.log_likelihood(..., gradient=True), through the public function, against its peers."""
    peer, sizes = tinygp_value_and_gradient(), (25, 100, 1_000, 10_000, 100_000)
    functions = {(name, N): one for N in sizes for name, one in gradient_functions(data(N), peer).items()}
    seconds = fastest(functions)
    rows, targets = [], []
    for N in sizes:
        mine = seconds["lamina", N]
        ratio = {name: seconds[name, N] / mine for name in ("dense", "tinygp") if (name, N) in seconds}
        cells = [f"{ratio[name]:,.0f}" if name in ratio else "–" for name in ("dense", "tinygp")]
        rows.append([f"{N:,}", duration(mine), f"{mine / N * 1e9:.0f} ns", *cells])
        if N == 1000:
            targets.append(Target("times faster than dense, N = 1,000", ratio["dense"], 300, at_least=True))
        if N in (100, 1_000, 100_000) and "tinygp" in ratio:
            targets.append(Target(f"times faster than tinygp, N = {N:,}", ratio["tinygp"], 25, at_least=True))
        if N >= 1000:
            targets.append(Target(f"ns a row, value with gradient, N = {N:,}", mine / N * 1e9, 100))
    return Table(
        "Value with gradient",
        "The table times `lamina.log_likelihood(tau, y, y_sd, kernel, gradient=True)` with Matérn-3/2: the value and "
        "its derivatives in all inputs and both hyperparameters, including all checks of the arguments. The last two "
        "columns show how many times longer the dense engine and tinygp's quasiseparable solver (JAX, float64, "
        "compiled, after warm-up) take for the same numbers. lamina and the dense engine use one CPU; JAX may use "
        "all.",
        ["N", "lamina", "a row", "dense ÷ lamina", "tinygp ÷ lamina"],
        rows,
        targets,
    )


# --- the general engine against code unrolled by hand --------------------------------------------------------------


def by_hand_value(d: Data) -> float:
    return unrolled.value(KERNEL.rate, KERNEL.sd**2, d.tau, d.y, d.y_sd * d.y_sd)


def by_hand_gradient(d: Data) -> tuple[float, np.ndarray, np.ndarray]:
    store, d_tau = unrolled.new_store(len(d.tau)), np.empty(len(d.tau))
    value, *d_theta = unrolled.value_and_gradient(KERNEL.rate, KERNEL.sd**2, d.tau, d.y, d.y_sd * d.y_sd, store, d_tau)
    return value, d_tau, np.array(d_theta)


def by_hand_functions(d: Data) -> dict[str, Callable[[], Any]]:
    """The engine and the code by hand, compared before they are timed."""
    functions = {
        "value": lambda: markov.log_likelihood(KERNEL, *d),
        "value by hand": lambda: by_hand_value(d),
        "gradient": lambda: markov.value_and_gradient(KERNEL, *d),
        "gradient by hand": lambda: by_hand_gradient(d),
    }
    check("by hand", functions["value by hand"](), functions["value"]())
    for found, expected in zip(functions["gradient by hand"](), functions["gradient"](), strict=True):
        check("by hand", found, expected)
    return functions


def by_hand_section() -> Table:
    """The engine, which runs any sum of Matérn kernels, against a filter written for Matérn-3/2 alone."""
    sizes = (1_000, 10_000, 100_000)
    seconds = fastest({(name, N): one for N in sizes for name, one in by_hand_functions(data(N)).items()})
    rows, targets = [], []
    for N in sizes:
        cells = []
        for what in ("value", "gradient"):
            mine, hand = seconds[what, N] / N, seconds[f"{what} by hand", N] / N
            cells += [f"{mine * 1e9:.1f} ns", f"{hand * 1e9:.1f} ns", f"{mine / hand:.2f}"]
            targets.append(Target(f"engine ÷ by hand, {what}, N = {N:,}", mine / hand, 1.25))
        rows.append([f"{N:,}", *cells])
    return Table(
        "Against code unrolled by hand",
        "The engine is written once for any Matérn kernel and any sum of them. `benchmarks/unrolled.py` is the same "
        "filter written for Matérn-3/2 alone, scalar by scalar. The table shows nanoseconds per row, including the "
        "Python code around the compiled code. A ratio of 1 means that generality costs nothing.",
        ["N", "value", "by hand", "ratio", "with gradient", "by hand", "ratio"],
        rows,
        targets,
    )


# --- one input moves ---------------------------------------------------------------------------------------------


@njit(**COMPILED)
def backward_pass(process, line):
    """The backward pass of a sweep."""
    later = Information(zeros(process.dims, process.dims), zeros(process.dims, (0,)))
    for p in range(len(line.time) - 1, -1, -1):
        backward_step(process, line, p, later)


@njit(**COMPILED)
def input_log_ratios(process, line, proposal, ratios):
    """The exact log-ratio for one proposal of every row, each on its own, with the functions of the sampler."""
    dims, N = process.dims, len(line.time)
    past, here = State(zeros(dims, (0,)), zeros(dims, dims)), State(zeros(dims, (0,)), zeros(dims, dims))
    trial, ahead = State(zeros(dims, (0,)), zeros(dims, dims)), State(zeros(dims, (0,)), zeros(dims, dims))
    begin(process, past.P)
    for p in range(N):
        before, after = line.time[max(p - 1, 0)], line.time[min(p + 1, N - 1)]
        if p == 0:
            copy_state(process, past, trial)
            copy_state(process, past, here)
        else:
            predict_to(process, past, proposal[p] - before, trial)
            predict_to(process, past, line.time[p] - before, here)
        z = line.z[p, 0]
        new_own, new_future = log_input(process, line, p, after - proposal[p], z, trial, ahead)
        own, future = log_input(process, line, p, after - line.time[p], z, here, ahead)
        ratios[p] = new_own - own + new_future - future
        copy_state(process, here, past)


class Sweep:
    """One proposal for every row: what a Metropolis sweep evaluates."""

    def __init__(self, d: Data) -> None:
        rng = np.random.default_rng(1)
        left = np.concatenate([d.tau[:1] - 0.1, d.tau[:-1]])
        right = np.concatenate([d.tau[1:], d.tau[-1:] + 0.1])
        self.proposal, self.ratios = rng.uniform(left, right), np.empty(len(d.tau))
        self.process = make_process(KERNEL.blocks())
        self.line = new_line(len(d.tau), len(self.process.dims))
        self.line.time[:], self.line.z[:, 0], self.line.y_var[:] = d.tau, d.y, d.y_sd**2

    def forward(self) -> np.ndarray:
        input_log_ratios(self.process, self.line, self.proposal, self.ratios)
        return self.ratios

    def whole(self) -> np.ndarray:
        backward_pass(self.process, self.line)
        return self.forward()


def proposal_functions(d: Data) -> dict[str, Callable[[], Any]]:
    """A sweep without and with its backward pass; a few of its ratios are compared with the likelihood itself."""
    sweep, N = Sweep(d), len(d.tau)
    ratios = sweep.whole()
    for i in (0, N // 2, N - 1):
        moved = d.tau.copy()
        moved[i] = sweep.proposal[i]
        change = markov.log_likelihood(KERNEL, moved, d.y, d.y_sd) - markov.log_likelihood(KERNEL, *d)
        check("one input moves", ratios[i], change, tolerance=1e-6)
    return {"sweep": sweep.forward, "whole": sweep.whole, "value": lambda: markov.log_likelihood(KERNEL, *d)}


def proposal_section() -> Table:
    """One single-input proposal, both sides evaluated, against two evaluations of the whole likelihood."""
    sizes = (25, 100, 1_000, 10_000, 100_000)
    seconds = fastest({(name, N): one for N in sizes for name, one in proposal_functions(data(N)).items()})
    rows, targets = [], []
    for N in sizes:
        alone, whole = seconds["sweep", N] / N, seconds["whole", N] / N
        ratio = 2.0 * seconds["value", N] / whole
        rows.append([f"{N:,}", f"{alone * 1e9:.0f} ns", f"{whole * 1e9:.0f} ns", f"{ratio:,.0f}"])
        targets.append(Target(f"ns a proposal, backward pass included, N = {N:,}", whole * 1e9, 1000))
    return Table(
        "One input moves",
        "The table times the exact change of the log-likelihood when one input moves, for every row of the record in "
        "turn. The first column is the sweep alone, with both sides evaluated, per row. The second includes the "
        "backward pass, which is needed once per sweep. The last column shows how many times longer it takes to "
        "evaluate the O(N) likelihood twice.",
        ["N", "a proposal", "with backward pass", "two full values ÷ proposal"],
        rows,
        targets,
    )


# --- growth up to a million rows, and memory ---------------------------------------------------------------------


def operations(N: int) -> dict[str, Callable[[], Any]]:
    """What must grow no faster than N."""
    d = data(N)
    at = np.linspace(d.tau[0], d.tau[-1], N)
    return {
        "value": lambda: lamina.log_likelihood(*d, KERNEL),
        "value with gradient": lambda: lamina.log_likelihood(*d, KERNEL, gradient=True),
        "sweep of local conditionals": lambda: Sweep(d).whole(),
        "Hessian diagonal in the log-gaps": lambda: markov.gap_hessian_diagonal(KERNEL, *d),
        "prediction at N points": lambda: markov.predict(KERNEL, *d, at),
    }


def growth_section() -> Table:
    """The exponent p of time ~ N^p, and the largest amount of memory a process held at a million rows."""
    sizes = [1_000, 10_000, 100_000, 1_000_000]
    functions = {(name, N): one for N in sizes for name, one in operations(N).items()}
    seconds = fastest(functions)
    rows, targets = [], []
    for name in operations(10):
        times = [seconds[name, N] for N in sizes]
        exponent = np.polyfit(np.log(sizes), np.log(times), 1)[0]
        held = float(run([__file__, "--peak", name, str(sizes[-1])]))
        rows.append(
            [
                name,
                *(duration(one) for one in times),
                f"{times[-1] / seconds['value', sizes[-1]]:.1f}",
                f"{exponent:.3f}",
            ]
        )
        rows[-1].append(f"{held:,.0f} MB")
        targets.append(Target(f"growth exponent, {name}", exponent, 1.1))
    idle = float(run([__file__, "--peak", "nothing", "1"]))
    return Table(
        "Growth with N",
        "The table shows the times at four sizes, the time at a million rows as a multiple of that of the value "
        "alone, and the exponent p of time ∝ N^p, fitted to the four times. Peak memory is that of a process that "
        f"does this once with a million rows. Of it, {idle:,.0f} MB are Python, its libraries and compiled code.",
        ["", *(f"{N:,}" for N in sizes), "÷ value", "exponent", "peak memory"],
        rows,
        targets,
    )


def report_peak(name: str, N: int) -> None:
    """Do one operation and print the peak memory of this process in MB: run in a process of its own."""
    few = operations(10)
    few.get(name, few["value"])()
    if name in few:
        operations(N)[name]()
    print(peak_megabytes())


def peak_megabytes() -> float:
    """The most memory this process ever held."""
    status = Path("/proc/self/status")
    if status.exists():  # on Linux the number of getrusage begins with that of the process that started this one
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) * 1024 / 1e6
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


# --- cold start ------------------------------------------------------------------------------------------------------

SETUP = "import numpy as np, lamina; t = np.arange(10.0); y = np.sin(t); s = np.full(10, 0.1); k = lamina.Matern32()"
ONE_LINE = "from numba import njit\n@njit(cache=True)\ndef add_one(x):\n    return x + 1.0\n"
CALLS = {
    "value": "lamina.log_likelihood(t, y, s, k)",
    "value with gradient": "lamina.log_likelihood(t, y, s, k, gradient=True)",
    "value with gradient, with a trend": "lamina.log_likelihood(t, y, s, k + lamina.Constant(), gradient=True)",
    "Hessian diagonal in the log-gaps": "lamina.markov.gap_hessian_diagonal(k, t, y, s)",
    "prediction": "lamina.markov.predict(k, t, y, s, t)",
}


def run(arguments: list[str], cache: str | None = None) -> str:
    """Run Python in a process of its own and return what it printed."""
    environment = {**os.environ, **({"NUMBA_CACHE_DIR": cache} if cache else {})}
    return subprocess.run(
        [sys.executable, *arguments], check=True, env=environment, stdout=subprocess.PIPE, text=True
    ).stdout


def clocked(code: str, times: int, cache: str | None = None) -> list[float]:
    """Seconds of whole Python processes that run ``code``, one after the other."""
    found = []
    for _ in range(times):
        begin = time.perf_counter()
        run(["-c", code], cache)
        found.append(time.perf_counter() - begin)
    return found


def cold_section() -> Table:
    """Seconds of whole processes: an import, a first call with nothing compiled, a later one with the cache filled."""
    clocked("import lamina", 1)
    bare, imported = statistics.median(clocked("pass", 7)), statistics.median(clocked("import lamina", 7))
    rows = [["`import lamina`", "", f"{imported:.2f} s", f"{imported / bare:.1f}"]]
    with tempfile.TemporaryDirectory() as cache:
        Path(cache, "one_line.py").write_text(ONE_LINE)
        numba = clocked(f"import sys; sys.path.append({cache!r}); import one_line; one_line.add_one(1.0)", 8, cache)
        rows.append(["a one-line Numba function", f"{numba[0]:.1f} s", f"{min(numba[1:]):.2f} s"])
        rows[-1].append(f"{min(numba[1:]) / bare:.1f}")
    targets = [Target("seconds, import lamina", imported, 0.6)]
    for name, call in CALLS.items():
        with tempfile.TemporaryDirectory() as cache:
            first = clocked(f"{SETUP}; {call}", 1, cache)[0]
            later = min(clocked(f"{SETUP}; {call}", 7, cache))
        rows.append([name, f"{first:.1f} s", f"{later:.2f} s", f"{later / bare:.1f}"])
        targets += [Target(f"seconds, first {name}", first, 15), Target(f"seconds, later {name}", later, 1)]
    return Table(
        "Cold start",
        'The table shows the seconds of a whole Python process. "First" starts with an empty cache, so that '
        'everything is compiled. "Later" is the fastest of seven processes with a filled cache (for the import, '
        "the median), also as a multiple of the time of a Python process that does nothing. The one-line function is "
        "the minimum for anything compiled with Numba.",
        ["", "first", "later", "later ÷ bare Python"],
        rows,
        targets,
    )


# --- printing ----------------------------------------------------------------------------------------------------


def as_markdown(table: Table) -> str:
    """Title, note and aligned table."""
    return f"## {table.title}\n\n{table.note}\n\n{aligned(table)}"


def aligned(table: Table) -> str:
    """The rows of a table under its header."""
    width = [max(len(row[c]) for row in [table.header, *table.rows]) for c in range(len(table.header))]

    def line(cells: list[str]) -> str:
        padded = [cells[0].ljust(width[0]), *(cell.rjust(w) for cell, w in zip(cells[1:], width[1:], strict=True))]
        return "| " + " | ".join(padded) + " |"

    rule = "| " + " | ".join(["-" * width[0], *("-" * (w - 1) + ":" for w in width[1:])]) + " |"
    return "\n".join([line(table.header), rule, *(line(row) for row in table.rows)])


def target_table(targets: list[Target]) -> Table:
    """All targets of a run and whether they were met."""
    rows = []
    for one in targets:
        digits = 0 if one.measured >= 100 else 1 if one.measured >= 10 else 2
        limit = f"{'≥' if one.at_least else '≤'} {one.limit:g}"
        rows.append([one.what, limit, f"{one.measured:,.{digits}f}", "yes" if one.met else "**no**"])
    return Table(
        "Targets", "The targets of the engine, and the measured values.", ["", "target", "measured", "met"], rows, []
    )


SECTIONS = {
    "gradient": gradient_section,
    "by-hand": by_hand_section,
    "proposal": proposal_section,
    "growth": growth_section,
    "cold": cold_section,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--markdown", type=Path, metavar="FILE", help="also write the tables between the markers of FILE"
    )
    parser.add_argument("--only", nargs="+", choices=SECTIONS, default=list(SECTIONS), help="run these sections only")
    parser.add_argument("--peak", nargs=2, metavar=("OPERATION", "N"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.peak:
        return report_peak(options.peak[0], int(options.peak[1]))
    load = f"Load of the machine at the start of the run: {os.getloadavg()[0]:.1f} on {os.cpu_count()} CPUs."
    parts, targets = [f"{machine(PACKAGES)} {load}"], []
    print(parts[0])
    for name in options.only:
        table = SECTIONS[name]()
        parts.append(as_markdown(table))
        targets += table.targets
        print(f"\n{parts[-1]}", flush=True)
    parts.append(as_markdown(target_table(targets)))
    print(f"\n{parts[-1]}")
    if options.markdown:
        fill_section(options.markdown, "engine", "\n\n".join(parts))


if __name__ == "__main__":
    main()
