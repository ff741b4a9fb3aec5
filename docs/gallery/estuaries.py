"""Sea level in four estuaries: what they share, and when it began to rise faster."""

import matplotlib.pyplot as plt
import numpy as np

import lamina

record = lamina.read("estuaries.csv", places=True)
posterior = lamina.fit(record, seed=0)
print(posterior.summary())

rates = lamina.interval_rates(posterior, [(1000, 1800), (1950, 2000)], scale=1000)  # mm a year
print(rates[["site", "from", "to", "mean", "q2.5", "q97.5"]].round(2))

at = np.arange(800, 2010, 10)
curves = {name: posterior.curve(at, site=name) for name in rates["site"].unique()}
curves["what all share"] = posterior.common(at)

figure, axes = plt.subplots(3, 2, figsize=(9, 9), layout="constrained")
for ax, (name, table) in zip(axes.flat, curves.items(), strict=False):
    ax.fill_between(at, table["q2.5"], table["q97.5"], alpha=0.3)
    ax.plot(at, table["mean"])
    ax.set_title(name)
    ax.set_ylabel("m")
for (begin, end), of_interval in rates.groupby(["from", "to"]):
    error = of_interval["mean"] - of_interval["q2.5"], of_interval["q97.5"] - of_interval["mean"]
    axes[2, 1].errorbar(of_interval["site"], of_interval["mean"], error, fmt="o", label=f"{begin:.0f} to {end:.0f}")
axes[2, 1].set_ylabel("mm a year")
axes[2, 1].margins(x=0.1, y=0.3)
axes[2, 1].legend(ncols=2)
figure.savefig("estuaries.png", dpi=100)
