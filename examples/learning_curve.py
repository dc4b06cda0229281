"""
Train with a learning curve
===========================

A small model for a few epochs: training loss (dashed) and validation MRR (solid).
"""

import tempfile

import matplotlib.pyplot as plt

import kgflow
from kgflow.analysis.plots import STYLE
from kgflow.analysis.plots.evaluation import learning_curve

plt.rcParams.update(STYLE)
with tempfile.TemporaryDirectory() as directory:
    run = kgflow.train("world", "nfe-1", dim=16, epochs=12, lr=0.05, out=f"{directory}/run")
    figure, axes = plt.subplots(figsize=(6.5, 3.8))
    learning_curve(axes, run)
