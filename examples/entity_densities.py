"""
Draw entities as distributions
==============================

Every entity is the distribution of f(x0) with a normal x0. These are marginal densities in the
coordinate that separates the entities best; a narrow one is an entity of which the model is
certain.
"""

import matplotlib.pyplot as plt

import kgflow
from kgflow.analysis.plots import STYLE, density_plot

plt.rcParams.update(STYLE)
run = kgflow.open("runs/world")
figure, axes = plt.subplots(figsize=(6.5, 3.8))
density_plot(axes, run, ["France", "Germany", "Peru", "Western Europe", "euro"])
