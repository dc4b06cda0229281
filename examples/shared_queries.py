"""
Count the queries of a batch
============================

Triples that share head and relation share one row of the matrix product. The larger the batch,
the more is saved, exactly.
"""

import matplotlib.pyplot as plt
import numpy as np

import kgflow
from kgflow.analysis.plots import COLOURS, STYLE
from kgflow.training import Batch, epoch_batches

plt.rcParams.update(STYLE)
index = kgflow.load("world").queries("train")
sizes = [16, 64, 256, 1024, 4096]
rows = []
for size in sizes:
    batches = [Batch.of_facts(index, part) for part in epoch_batches("facts", index, size, 0, 1)]
    rows.append(sum(len(batch.h) for batch in batches) / sum(len(batch.tail) for batch in batches))

figure, axes = plt.subplots(figsize=(6, 3.6))
axes.bar(np.arange(len(sizes)), rows, color=COLOURS[0], width=0.6)
axes.set_xticks(np.arange(len(sizes)), [f"{size:,}" for size in sizes])
axes.set(xlabel="triples per batch", ylabel="rows per triple", ylim=(0, 1))
axes.set_title("Rows of the matrix product")
