"""
Compare two models on the same queries
======================================

The difference of two MRRs with a bootstrap interval over whole triples, and the relations that
make it. Filled dots are intervals that exclude zero.
"""

import tempfile

import matplotlib.pyplot as plt

import kgflow
from kgflow.analysis.comparison import Comparison
from kgflow.analysis.plots import STYLE
from kgflow.analysis.plots.evaluation import interval_plot

plt.rcParams.update(STYLE)
flow = kgflow.open("runs/world")
with tempfile.TemporaryDirectory() as directory:
    transe = kgflow.train("world", "transe", 32, epochs=15, lr=0.05, out=f"{directory}/transe")
    found = Comparison(transe.evaluate().ranking, flow.evaluate().ranking)

mean, low, high = found.difference.mean, found.difference.low, found.difference.high
print(f"MRR of nfe-1 minus MRR of transe: {mean:+.3f}, 95 % interval {low:+.3f} to {high:+.3f}")

rows = found.by_relation(8)
names = [f"{flow.data.relations.names[row.relation]} ({row.answers})" for row in rows]
figure, axes = plt.subplots(figsize=(6.5, 3.8))
differences = [row.difference for row in rows]
interval_plot(axes, names, [(d.mean, d.low, d.high) for d in differences], "difference of MRR")
