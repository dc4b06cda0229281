"""
Measure the coverage of prediction sets
=======================================

A prediction set contains the missing answer with the stated probability. On test triples the
measured coverage agrees with the nominal one.
"""

import matplotlib.pyplot as plt

import kgflow
from kgflow.analysis.plots import STYLE
from kgflow.analysis.plots.evaluation import coverage_plot

plt.rcParams.update(STYLE)
run = kgflow.open("runs/world")
measured = [run.coverage("test", nominal).to_dict() for nominal in (0.7, 0.8, 0.9, 0.95)]

figure, axes = plt.subplots(figsize=(5.5, 4))
coverage_plot(axes, measured)

# %%
# A higher coverage needs larger sets.

for row in measured:
    print(f"coverage {row['nominal']:.2f}: {row['size']['mean']:6.1f} candidates on average")
