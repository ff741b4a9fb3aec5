"""The experiments as files: each function runs one, writes its figures and tables, and returns the paper's claims."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..output.folder import write_csv, write_figure
from ..support.files import make_folder
from . import claims, figures
from .claims import Claim
from .functions import FUNCTIONS, METHODS, averages, by_function, synthetic
from .nassau import sealevel
from .readings import readings
from .times import timing
from .trials import Progress

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: What the small version does less of.
QUICK_SYNTHETIC: dict[str, Any] = {"t_sd": (0.5, 2.0), "repetitions": 1}
#: The methods that are compared on other spacings.
SPACED = ("npv", "mcmc", "nigp", "gp", "npv, uniform", "npv mixture, diagonal, gamma", "lamina")
QUICK_TIMING: dict[str, Any] = {"sizes": (25, 50, 100), "repetitions": 1}


def write_synthetic(folder: Path, quick: bool = False, progress: Progress | None = None, **options: Any) -> list[Claim]:
    """Five functions with noisy inputs. No claims if some functions or methods are left out."""
    options |= QUICK_SYNTHETIC if quick else {}
    results = synthetic(store=_store(folder, "synthetic"), progress=progress, **options)
    write_csv(results, folder / "synthetic.csv")
    write_csv(averages(results).reset_index(), folder / "synthetic_averages.csv")
    write_csv(by_function(results).reset_index(), folder / "synthetic_by_function.csv")
    for y_sd in results["y_sd"].unique():
        _write(partial(figures.figure1, results, y_sd), folder, "figure1" if y_sd < 0.5 else "supplement")
    if not (set(METHODS) <= set(results["method"]) and set(FUNCTIONS) <= set(results["function"])):
        return []
    write_csv(readings(results), folder / "readings.csv")
    return claims.of_synthetic(results)


def write_spacing(folder: Path, quick: bool = False, progress: Progress | None = None, **options: Any) -> list[Claim]:
    """The same on inputs that are not equally spaced, about which the paper claims nothing."""
    options |= QUICK_SYNTHETIC if quick else {"t_sd": (0.5, 1.0, 2.0)}
    results = synthetic(
        store=_store(folder, "spacing"),
        progress=progress,
        methods=SPACED,
        spacings=("irregular", "clustered"),
        **options,
    )
    write_csv(results, folder / "spacing.csv")
    by = results.groupby(["spacing", "y_sd", "method"], sort=False)
    columns = ["rmse", "mae", "baseline", "curve_cover", "input_cover", "converged"]
    write_csv(by[columns].mean().reset_index(), folder / "spacing_averages.csv")
    return []


def write_timing(folder: Path, quick: bool = False, progress: Progress | None = None, **options: Any) -> list[Claim]:
    """Training times."""
    options |= QUICK_TIMING if quick else {}
    results = timing(store=_store(folder, "timing"), progress=progress, **options)
    write_csv(results, folder / "timing.csv")
    _write(partial(figures.steps, results), folder, "timing")
    return claims.of_timing(results)


def write_sealevel(folder: Path, progress: Progress | None = None, **options: Any) -> list[Claim]:
    """Nassau Landing."""
    found = sealevel(progress=progress, **options)
    for name in "curve", "rate", "inputs", "pairs", "interval":
        write_csv(getattr(found, name), folder / f"sealevel_{name}.csv")
    _write(partial(figures.figure2, found), folder, "figure2")
    _write(partial(figures.added, found), folder, "sealevel")
    return claims.of_sealevel(found)


#: The experiments by name: what a progress bar calls them, and their function.
EXPERIMENTS: dict[str, tuple[str, Callable[..., list[Claim]]]] = {
    "synthetic": ("five functions", write_synthetic),
    "spacing": ("other spacings", write_spacing),
    "timing": ("training times", write_timing),
    "sealevel": ("sea level at Nassau Landing", write_sealevel),
}


def write_paper(
    path: Path,
    experiments: Mapping[str, dict[str, Any]],
    progress: Callable[[str], AbstractContextManager[Progress | None]],
) -> list[Claim]:
    """Run experiments, by name with their options, and write their files; all of them, also a table of the claims.

    progress: makes a progress bar from the title of an experiment. If a run is interrupted, the next one continues.
    """
    folder, found = make_folder(path), {}
    for name, options in experiments.items():
        title, write = EXPERIMENTS[name]
        with progress(title) as report:
            found[name] = write(folder, progress=report, **options)
    claimed = [claim for name in EXPERIMENTS for claim in found.get(name, [])]
    if found.keys() == EXPERIMENTS.keys():
        import pandas as pd

        write_csv(pd.DataFrame(claimed), folder / "claims.csv")
    for name in "synthetic", "spacing", "timing":  # they are complete: the next run begins anew
        _store(folder, name).unlink(missing_ok=True)
    return claimed


def _store(folder: Path, name: str) -> Path:
    """Where results are kept as they come; another version of lamina starts again."""
    return folder / f".{name}-{version('lamina')}.jsonl"


def _write(draw: Callable[[], Figure], folder: Path, name: str) -> None:
    for warning in write_figure(draw, folder, name, formats=["png"], dpi=130):
        warnings.warn(warning, stacklevel=3)
