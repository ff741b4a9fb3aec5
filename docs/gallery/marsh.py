"""Sea level from a marsh core with lead-210, caesium and radiocarbon dates from before and after the bomb tests."""

import matplotlib.pyplot as plt

import lamina

record = lamina.read("marsh.csv", curve="NH1", equal_depth="tie", incomplete=True)
posterior = lamina.fit(record, seed=0)
print(posterior.summary())

rates = lamina.interval_rates(posterior, [(1000, 1850), (1950, 2019)])
print(rates[["from", "to", "mean", "q2.5", "q97.5"]].round(5))
faster = posterior.faster((1950, 2019), (1000, 1850))
print(faster)

figure, (curve, rate) = plt.subplots(2, 1, figsize=(8, 7), sharex=True, layout="constrained")
lamina.plots.curve(posterior, curve)
lamina.plots.rate(posterior, rate)
figure.savefig("marsh.png", dpi=100)

ax = lamina.plots.age_depth(posterior)
ax.figure.savefig("marsh-ages.png", dpi=100)
