"""One oxygen curve from two stalagmites of a cave, one of which has lower values and few dates."""

import matplotlib.pyplot as plt

import lamina

record = lamina.read("cave.csv", sequence="stalagmite", incomplete=True)
posterior = lamina.fit(record, offsets=0.5, seed=0)  # offsets of the stalagmites: 0 ± 0.5 per mil
print(posterior.summary())
offsets = posterior.offsets()
print(offsets[["sequence", "mean", "sd"]].round(2))

extremes = posterior.extremes(between=(5800, 6400))
print(extremes[["extreme", "quantity", "p_end", "q2.5", "q50", "q97.5"]].round(2))

figure, (curve, ages) = plt.subplots(2, 1, figsize=(8, 7), layout="constrained")
lamina.plots.curve(posterior, curve)
lamina.plots.age_depth(posterior, ages, sequence="B")
figure.savefig("cave.png", dpi=100)
