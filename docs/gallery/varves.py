"""A varved lake: 1,500 counted layers, of which every third was measured, and seven independent dates."""

import matplotlib.pyplot as plt

import lamina

record = lamina.read("varves.csv", depth="layer", y="log thickness", y_sd="thickness error", incomplete=True)

miscounted = 0.05  # about 5 layers in 100 are missing or counted twice
between_dates = 250.0  # layers, the usual distance of the dates
priors = {"acc_mean": (1.0, 1.05), "alpha": (between_dates / miscounted, 2.0)}
posterior = lamina.fit(record, priors=priors, seed=0)
print(posterior.summary())

ages = posterior.ages([500, 1000, 1490])
print(ages[["depth", "mean", "q2.5", "q97.5"]].round(0))
extremes = posterior.extremes(between=(1500, 1720))
print(extremes[["extreme", "quantity", "p_end", "q2.5", "q50", "q97.5"]].round(2))

figure, (curve, drift) = plt.subplots(2, 1, figsize=(8, 7), layout="constrained")
lamina.plots.curve(posterior, curve)
counted = 2010.0 - record.depth
found = posterior.inputs()
drift.fill_between(record.depth, found["q2.5"] - counted, found["q97.5"] - counted, alpha=0.3, label="95 %")
drift.plot(record.depth, found["mean"] - counted, label="mean")
drift.errorbar(record.depth, record.t - counted, 2 * record.t_sd, fmt="o", color="C1", label="dates, ± 2 sd")
drift.set_xlabel("layer")
drift.set_ylabel("true year minus counted year")
drift.legend(frameon=False, loc="lower left")
figure.savefig("varves.png", dpi=100)
