"""
Ask what makes an entity certain
================================

The change of entropy by the function of an entity, against the number of its training triples.
"""

import matplotlib.pyplot as plt

import kgflow
from kgflow.analysis import entity_uncertainty
from kgflow.analysis.plots import STYLE, entropy_against_degree

plt.rcParams.update(STYLE)
run = kgflow.open("runs/world")
figure, axes = plt.subplots(figsize=(6.8, 4))
entropy_against_degree(axes, run)

# %%
# The most certain entities, as percentiles among all entities:

entity_uncertainty(run).select("entity", "type", "certainty", "degree").head(6)
