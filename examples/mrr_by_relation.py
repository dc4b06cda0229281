"""
Find the relations that are hard to predict
===========================================

Filtered MRR of each relation, for tails and for heads.
"""

import matplotlib.pyplot as plt
import numpy as np

import kgflow
from kgflow.analysis.plots import STYLE
from kgflow.analysis.plots.evaluation import dot_plot

plt.rcParams.update(STYLE)
run = kgflow.open("runs/world")
ranking = run.evaluate("test").ranking
relation = np.array(run.data.relations.names)[ranking.r % ranking.relations]
mrr = {
    side: {name: part.metrics()["realistic"].mrr for name, part in sided.by(names).items()}
    for side in ("tail", "head")
    if (chosen := ranking.side == side).any()
    for sided, names in [(ranking.take(chosen), relation[chosen])]
}
names = sorted(mrr["tail"], key=mrr["tail"].get, reverse=True)

figure, axes = plt.subplots(figsize=(6.5, 3.8))
dot_plot(axes, names, [[mrr[side][name] for name in names] for side in mrr], [*mrr])
