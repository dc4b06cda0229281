"""
Check that probabilities are frequencies
========================================

A reliability diagram on test triples: points on the grey line are calibrated. Before calibration
the model is overconfident; the map that is fitted to validation triples corrects it.
"""

import matplotlib.pyplot as plt

import kgflow
from kgflow.analysis.plots import STYLE
from kgflow.analysis.plots.evaluation import reliability_diagram

plt.rcParams.update(STYLE)
run = kgflow.open("runs/world")
result = run.reliability("test")

figure, axes = plt.subplots(2, 1, figsize=(6, 5.4), height_ratios=(3, 1))
reliability_diagram(axes, {name: result[name]["bins"] for name in ("before", "after")})

# %%
# The expected calibration error, the Brier score and the log loss, before and after:

for name in ("before", "after"):
    print(name, {k: round(v, 4) for k, v in result[name].items() if isinstance(v, float)})
