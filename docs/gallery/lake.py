"""Temperatures of a lake core on the ages of a Bacon run, with all their uncertainty."""

import matplotlib.pyplot as plt

import lamina

understood = lamina.tables.read("lake.csv", ages="lake_40.out")
record = understood.record
members = lamina.read_ensemble("lake_40.out", record.depth)  # shape (iterations, rows)
posterior = lamina.fit(record, method="ensemble", members=members, seed=0)
print(posterior.summary())
print(f"effective members: {posterior.diagnostics['effective_members']:.0f} of {len(members)}")

rates = lamina.interval_rates(posterior, [(3600, 4800), (2000, 3600)], scale=-1)  # ages count back: forward in time
print((1000 * rates[["mean", "q2.5", "q97.5"]]).round(2))  # °C in 1000 years

figure, (curve, ages) = plt.subplots(2, 1, figsize=(8, 7), layout="constrained")
lamina.plots.curve(posterior, curve)
lamina.plots.inputs(posterior, ages)
figure.savefig("lake.png", dpi=100)
