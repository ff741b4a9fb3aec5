"""``lamina batch``: many files, or one table split by a column, through ``fit``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from . import options as given
from .progress import bar
from .terminal import complain, show

Tables = Annotated[
    list[Path],
    typer.Argument(
        help="Tables: text, .xlsx, or files of other programs (see Files of other programs).", show_default=False
    ),
]
WORK = {
    "workers": given.option("--workers", int | None, "Number of processes; by default one for each CPU.", None,
                            parser=given.whole(1)),
    "dask": given.option("--dask", str | None, "Address of a Dask scheduler, tcp://host:port.", None),
    "by": given.option("--by", str | None, "Split one table by this column.", given.READING),
}  # fmt: skip
OUTPUT_OPTIONS = given.pick("out at interval figures resume force quiet") | {
    "out": given.option("--out", Path, "Folder for the results.", given.OUTPUT, Path("lamina-batch")),
    "resume": given.option("--resume", bool, "Skip records that are finished.", given.OUTPUT, False),
}


@given.bundled(
    settings=given.pick(
        "kernel gaps mean outliers offsets acc_mean acc_shape memory seed method chains draws max_sweeps npv_covariance"
    ),
    output=OUTPUT_OPTIONS,
    work=WORK,
    reading={name: one for name, one in given.READ_CURVE.items() if not name.startswith("dates")},
)
def batch(
    tables: Tables, settings: dict[str, Any], output: dict[str, Any], work: dict[str, Any], reading: dict[str, Any]
) -> None:
    """Fit many records, from several files or from parts of one table. summary.csv and index.html list them all."""
    from ..batches.batch import batch_tables
    from ..batches.overview import headline, lines, warnings
    from ..tables import Options
    from .arguments import output_request

    request = output_request(output["out"], settings, output)
    with bar("records", output["quiet"]) as progress:
        summary = batch_tables(tables, options=Options(**reading), request=request, progress=progress, **work)
    for row in summary[summary["state"] != "converged"].to_dict("records"):
        complain(f"{row['name']}: {row['state']}{': ' if row['error'] else ''}{row['error']}")
    rows = summary.to_dict("records")
    for text in warnings(rows):
        complain(text)
    if not output["quiet"]:
        show("\n".join([*lines(rows), headline(rows), f"Index: {output['out'] / 'index.html'}"]))
    if (summary["state"] != "converged").any():
        raise typer.Exit(given.NOT_CONVERGED)  # some failed or have not converged; the others are written
