"""Damages saved posteriors and checkpoints in thousands of ways: ``python benchmarks/fuzz_files.py``.

A file that was damaged must be refused with a StorageError of one line, or give the results of the original to the last
digit. A file that was changed and given a new checksum must be refused, or give results that are numbers. Cases are
numbered: ``--first 137 --cases 1`` runs one of them again. The cases run in a process of their own, so that a crash and
a case that never ends are results too.
"""

from __future__ import annotations

import argparse
import io
import json
import multiprocessing
import resource
import signal
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

import lamina
from lamina.methods.chains import CHECKSUM, DrawBudget, restore_checkpoint, take_checkpoint
from lamina.methods.draws import Draws
from lamina.methods.mcmc import MarkovChain
from lamina.model.model import Model
from lamina.model.problem import build_problem
from lamina.output.checkpoint import _arrays
from lamina.posterior import storage
from lamina.posterior.posterior import Posterior
from lamina.support.checks import digest

#: Results that no file may give.
BAD = ("silently different", "not a number", "unnamed exception", "several lines", "slow", "crash")
#: A case may take so many seconds of processor time.
SECONDS = 5.0
#: A process may take so many bytes.
BYTES = 1e9
#: A case that takes so many seconds, with the first compilation, does not end.
FOR_EVER = 300.0
AT = np.linspace(-1.0, 12.0, 30)
#: Values that no field of a file should have.
ODD = (None, True, -1, 0, 10**30, 1e308, float("nan"), float("inf"), "", "x" * 1000, [], {}, [[1]], {"array": [1, "a"]})


def example() -> Posterior:
    """A posterior with everything that a file can hold: dates of several kinds, ties, limits, moments."""
    rng, n = np.random.default_rng(5), 12
    dates = [None, lamina.dates.Uniform(0.5, 1.5), lamina.dates.SplitNormal(2.0, 0.1, 0.3), *[None] * (n - 3)]
    record = lamina.Record(
        np.arange(float(n)), 0.2, rng.standard_normal(n), 0.1, dates=dates, sequence=["a"] * 8 + ["b"] * 4,
        tie=[*[None] * 5, "x", "x", *[None] * 5], limit=[None, "above", *[None] * (n - 2)], t_unit="yr BP",
    )  # fmt: skip
    problem = build_problem(record, Model(lamina.Matern32()))
    size, layers = 40, len(problem.record)
    tau = problem.rows.t + 0.02 * rng.standard_normal((size, layers))
    facts = {
        "method": "mcmc", "engine": "markov", "seconds": 1.5, "converged": True, "interrupted": False, "r_hat": 1.001,
        "ess": 900.0, "sweeps": 4000, "chains": 4, "watched_rows": np.arange(layers), "r_hat_theta": {"length": 1.0},
        "ess_theta": {"length": 500.0}, "r_hat_inputs": np.ones(layers), "ess_inputs": np.full(layers, 900.0),
    }  # fmt: skip
    draws = Draws.equal(
        tau, problem.start + 0.1 * rng.standard_normal((size, len(problem.start))), chains=4, diagnostics=facts,
        shift=np.zeros_like(tau), factor=np.ones_like(tau), moments=np.stack([tau.mean(axis=0), tau.std(axis=0)]),
    )  # fmt: skip
    return Posterior(problem, draws)


def answers(posterior: Posterior) -> list[np.ndarray]:
    """What users ask a posterior."""
    posterior.summary(), repr(posterior)
    tables = posterior.curve(AT), posterior.rate(AT), posterior.inputs().drop(columns=["t", "t_sd"]), posterior.theta
    return [*(table.to_numpy() for table in tables), posterior.sample_curves(AT, 3)]


def chains() -> list[MarkovChain]:
    """Two chains that have kept some draws."""
    made = []
    for seed in np.random.SeedSequence(1).spawn(2):
        chain, rng = MarkovChain(example().problem, seed, DrawBudget(8, 4)), np.random.default_rng(0)
        n, p = len(chain.problem.record), len(chain.problem.start)
        chain.add(*(rng.standard_normal((5, k)) for k in (n, p)), np.zeros((5, n)), np.ones((5, n)))
        made.append(chain)
    return made


def damaged(whole: bytes, rng: np.random.Generator) -> bytes:
    """The same bytes with one kind of damage."""
    data, n = bytearray(whole), len(whole)
    start, length = int(rng.integers(n)), int(2 ** rng.uniform(0.0, 12.0))
    kind = int(rng.integers(8))
    if kind <= 2:  # some bits, alone or many
        for place in rng.integers(n, size=(1, 3, 50)[kind]):
            data[place] ^= 1 << int(rng.integers(8))
    elif kind == 3:
        data[start : start + length] = bytes(len(data[start : start + length]))
    elif kind == 4:
        data[start : start + length] = rng.bytes(len(data[start : start + length]))
    elif kind == 5:
        del data[start:]
    elif kind == 6:
        del data[start : start + length]
    else:
        data[start:start] = data[int(rng.integers(n)) :][:length]
    return bytes(data)


def changed(arrays: dict[str, np.ndarray], rng: np.random.Generator) -> None:
    """Give one of some arrays another shape, type or value."""
    name = str(rng.choice(sorted(arrays)))
    values = np.array(arrays[name])
    kind = int(rng.integers(7))
    if values.dtype.kind == "U" or kind == 0:
        arrays[name] = np.array(str(rng.choice(["", "x", "{}"])))
    elif kind == 1 and values.ndim:
        arrays[name] = values[tuple(slice(0, int(rng.integers(size + 1))) for size in values.shape)]
    elif kind == 2:
        with np.errstate(all="ignore"):  # what does not fit becomes something else
            arrays[name] = values.astype(rng.choice(["f4", "i8", "i1", "bool", "c16"]))
    elif kind == 3:
        arrays[name] = values[None] if rng.uniform() < 0.5 else values.reshape(-1)[:1].reshape(())
    elif kind == 4:
        del arrays[name]
    elif values.size:
        limit = 2**62 if values.dtype.kind in "iu" else rng.choice([np.nan, np.inf, -1e300, 1e300, 0.0, -1.0])
        values.reshape(-1)[rng.integers(values.size)] = limit if kind == 5 or values.dtype.kind == "f" else -7
        arrays[name] = values


def rewritten(path: Path, rng: np.random.Generator) -> bytes:
    """A posterior whose arrays or facts were changed, with the checksum of what it holds."""
    arrays, text = storage._contents(path)
    facts = json.loads(text)
    if rng.uniform() < 0.5:
        changed(arrays, rng)
    else:
        place = facts
        while isinstance(place, dict) and place:
            key = str(rng.choice(sorted(place)))
            if not isinstance(place[key], dict) or rng.uniform() < 0.3:
                place[key] = ODD[int(rng.integers(len(ODD)))]
                break
            place = place[key]
    data: dict[str, Any] = {
        name: ([f"{name}_{k}" for k in range(np.ndim(values))], values) for name, values in arrays.items()
    }
    data["facts"] = ((), np.bytes_(json.dumps(facts).encode()))
    file = io.BytesIO()
    xr.Dataset(data).to_netcdf(file, engine="h5netcdf")
    return sealed(file.getvalue())


def sealed(data: bytes) -> bytes:
    """The same bytes with the last line that vouches for them."""
    return data + storage._seal(io.BytesIO(data), len(data))


class Subject:
    """The file that is damaged, and how it is read."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.posterior, self.chains = example(), chains()
        self.posterior.save(folder / "whole.nc")
        self.whole = (folder / "whole.nc").read_bytes()
        self.checkpoint = take_checkpoint(self.chains, 1, 20)
        np.savez(folder / "whole.npz", **self.checkpoint)
        self.whole_checkpoint = (folder / "whole.npz").read_bytes()
        self.right = answers(self.posterior)

    def run(self, case: int) -> str:
        """One case: what came of it. One that was slow runs again: it may have compiled something."""
        found = self.once(case)
        return self.once(case) if found.startswith("slow") else found

    def once(self, case: int) -> str:
        rng, began = np.random.default_rng(case), time.process_time()
        kinds: list[Callable[[np.random.Generator], str]] = [
            self.damaged_posterior, self.sealed_posterior, self.changed_posterior, self.damaged_checkpoint,
            self.changed_checkpoint,
        ]  # fmt: skip
        try:
            found = kinds[case % len(kinds)](rng)
        except lamina.StorageError as error:
            found = "refused" if "\n" not in str(error) else "several lines"
        except Exception as error:
            found = f"unnamed exception {type(error).__name__}: {error}"
        return found if time.process_time() - began < SECONDS else f"slow, {found}"

    def damaged_posterior(self, rng: np.random.Generator) -> str:
        (self.folder / "now.nc").write_bytes(damaged(self.whole, rng))
        found = answers(lamina.load(self.folder / "now.nc"))
        same = all(np.array_equal(a, b, equal_nan=True) for a, b in zip(found, self.right, strict=True))
        return "unharmed" if same else "silently different"

    def sealed_posterior(self, rng: np.random.Generator) -> str:
        whole = self.whole[: -len(storage._seal(io.BytesIO(), 0))]
        (self.folder / "now.nc").write_bytes(sealed(damaged(whole, rng)))
        found = answers(lamina.load(self.folder / "now.nc"))
        return "accepted" if all(np.isfinite(one).all() for one in found) else "not a number"

    def changed_posterior(self, rng: np.random.Generator) -> str:
        try:
            data = rewritten(self.folder / "whole.nc", rng)
        except (TypeError, ValueError, NotImplementedError):
            return "cannot be written"
        (self.folder / "now.nc").write_bytes(data)
        found = answers(lamina.load(self.folder / "now.nc"))
        return "accepted" if all(np.isfinite(one).all() for one in found) else "not a number"

    def damaged_checkpoint(self, rng: np.random.Generator) -> str:
        path = self.folder / "now.npz"
        path.write_bytes(damaged(self.whole_checkpoint, rng))
        try:
            found = _arrays(path)
        except Exception as error:  # ``resume`` makes one message of it
            raise lamina.StorageError(" ".join(str(error).split())) from None
        restore_checkpoint(found, self.chains)
        same = all(np.array_equal(values, found[name]) for name, values in self.checkpoint.items())
        return "unharmed" if same else "silently different"

    def changed_checkpoint(self, rng: np.random.Generator) -> str:
        arrays = {name: values for name, values in self.checkpoint.items() if name != CHECKSUM}
        changed(arrays, rng)
        arrays[CHECKSUM] = np.array(digest(arrays))
        try:
            restore_checkpoint(arrays, self.chains)
        except lamina.MethodError:
            return "refused"
        finally:
            restore_checkpoint(self.checkpoint, self.chains)
        return "accepted"


def work(first: int, last: int, results: Any) -> None:
    """Run some cases and put (case, result) into a queue."""
    with tempfile.TemporaryDirectory() as folder:
        subject = Subject(Path(folder))
        warnings.simplefilter("error")
        for case in range(first, last):
            results.put((case, subject.run(case)))


def run(first: int, cases: int) -> dict[int, str]:
    """The result of each case. A process that dies is started again after the case that ended it."""
    found: dict[int, str] = {}
    end, context = first + cases, multiprocessing.get_context("spawn")
    while first < end:
        results = context.SimpleQueue()
        process = context.Process(target=work, args=(first, end, results))
        process.start()
        waiting = time.monotonic()
        while process.is_alive() or not results.empty():
            if results.empty():
                time.sleep(0.01)
                if time.monotonic() - waiting > FOR_EVER:
                    process.kill()
                    process.join()
                continue
            case, result = results.get()
            found[case], first, waiting = result, case + 1, time.monotonic()
            if first % 500 == 0:
                print(f"{first:,} cases", flush=True)
        if first < end:
            why = "it never ended" if process.exitcode == -signal.SIGKILL else f"exit code {process.exitcode}"
            found[first], first = f"crash, {why}", first + 1
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--first", type=int, default=0, help="number of the first case, which is also its seed")
    parser.add_argument("--cases", type=int, default=5000)
    asked, began = parser.parse_args(), time.perf_counter()
    found = run(asked.first, asked.cases)
    for result, n in Counter(result.split(",")[0].split(" exception")[0] for result in found.values()).most_common():
        print(f"{n:>7,}  {result}")
    wrong = {case: result for case, result in found.items() if result.startswith(BAD)}
    for case, result in list(wrong.items())[:20]:
        print(f"case {case}: {result}")
    memory = 1024 * resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    print(f"{asked.cases:,} cases in {time.perf_counter() - began:.0f} s, {memory / 1e6:.0f} MB, {len(wrong)} wrong")
    if memory > BYTES:
        print(f"a process took more than {BYTES / 1e6:.0f} MB")
    return 1 if wrong or memory > BYTES else 0


if __name__ == "__main__":
    raise SystemExit(main())
