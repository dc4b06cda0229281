"""
Find missing facts of the graph
===============================

The most probable triples that are not in the graph, of all relations, by probability.
"""

import matplotlib.pyplot as plt

import kgflow
from kgflow.analysis.plots import COLOURS, STYLE

plt.rcParams.update(STYLE)
run = kgflow.open("runs/world")
facts = run.discover(k=12)

figure, axes = plt.subplots(figsize=(7.5, 4.2))
names = [f"{h}  {r}  {t}" for h, r, t in facts.select("head", "relation", "tail").iter_rows()]
axes.barh(names, facts["probability"], color=COLOURS[0])
axes.invert_yaxis()
axes.set(xlabel="probability that the fact is true", title="Most probable missing facts")
axes.grid(visible=False, axis="y")
