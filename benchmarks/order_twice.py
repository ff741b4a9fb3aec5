"""The order of layers, counted twice: ``python benchmarks/order_twice.py``.

Three cores and three tide gauges of New Jersey and New York, from ``lamina.datasets.load("atlantic")``. The ages come
from age-depth models, which have used the order. The rows are fitted without the order, and with it a second time.
"""

import numpy as np

import lamina
from lamina.posterior.fields.sites import curves_and_rates

SITES = ("Cape May Courthouse", "Leeds Point", "Cheesequake", "NEW YORK", "ATLANTIC CITY", "SANDY HOOK")
INTERVALS = ((0.0, 1700.0), (1900.0, 2000.0))
MM_PER_M = 1000.0


def part(ordered: bool) -> lamina.Record:
    """The rows of these sites, each site by increasing age; cores are sequences if ``ordered``."""
    whole = lamina.datasets.load("atlantic")
    frame = whole.to_frame()
    frame = frame[frame["site"].isin(SITES)].sort_values(["site", "t"], kind="stable")
    sequence = [
        site if ordered and t_sd > 0.0 else None for site, t_sd in zip(frame["site"], frame["t_sd"], strict=True)
    ]
    columns = ("t", "t_sd", "y", "y_sd", "site", "latitude", "longitude", "gia")
    return lamina.Record(
        **{name: frame[name].to_numpy() for name in columns}, sequence=sequence,
        t_name=whole.t_name, t_unit=whole.t_unit, y_name=whole.y_name, y_unit=whole.y_unit,
    )  # fmt: skip


def main() -> None:
    """Fit both and print what differs."""
    for ordered in False, True:
        record = part(ordered)
        posterior = lamina.fit(record, seed=0)
        inputs, uncertain = posterior.inputs(), ~record.exact
        kept = np.median((inputs["sd"] / record.t_sd)[uncertain])
        widths = [
            (curve["q97.5"] - curve["q2.5"]).mean()
            for curve, _ in curves_and_rates(posterior, np.arange(0.0, 2001.0, 50.0))
        ]
        print(f"\norder {'used again' if ordered else 'not used'}: R-hat {posterior.diagnostics['r_hat']:.3f}")
        print(f"standard deviations of ages: {kept:.2f} of those reported (median)")
        print("width of the 95 % band, m:", dict(zip(record.places.names, np.round(widths, 3).tolist(), strict=True)))
        rates = lamina.interval_rates(posterior, INTERVALS, scale=MM_PER_M)
        print(rates[["site", "from", "to", "mean", "sd"]].round(2).to_string(index=False))


if __name__ == "__main__":
    main()
