"""
See a rule in the parameters
============================

For a symmetric relation, the function of the relation is its own inverse: in every coordinate σ²
= 1 and σμ + μ = 0. The histogram shows the deviations from this for `borders`, and for other
relations.
"""

import matplotlib.pyplot as plt

import kgflow
from kgflow.analysis.plots import STYLE, rule_histograms
from kgflow.analysis.rules import Deviation, find_rules

plt.rcParams.update(STYLE)
run = kgflow.open("runs/world")
rule = next(e.rule for e in find_rules(run, k=3) if e.rule.kind == "symmetric")

figure, axes = plt.subplots(1, 2, figsize=(8.5, 3.2))
rule_histograms(axes, run, Deviation.of(rule), rule.text(run.data.relations.names))
