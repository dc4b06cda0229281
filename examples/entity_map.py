"""
Draw a map of all entities
==========================

t-SNE of the key vectors of all entities, coloured by type. Neighbours on the map are neighbours
in the Wasserstein distance.
"""

import matplotlib.pyplot as plt

import kgflow
from kgflow.analysis import layout
from kgflow.analysis.layout import groups
from kgflow.analysis.plots import STYLE, entity_map

plt.rcParams.update(STYLE)
run = kgflow.open("runs/world")
types = groups(run.data)
labels = [(run.data.entity_id(name), name) for name in ("France", "Peru", "Kenya", "Japan", "euro")]

figure, axes = plt.subplots(figsize=(7, 6))
entity_map(axes, layout(run), types, types.names, labels)
