"""What may tell beforehand whether an answer can be trusted."""

from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray

from kgflow.data import QueryIndex
from kgflow.evaluation import Scorer
from kgflow.models import composed_entropy
from kgflow.runs.run import Run

ENTROPIES = ("query entropy", "answer entropy", "composed entropy")
BASELINES = ("top score", "score margin", "degree", "answer degree", "fan-out")
CHUNK = 4096

Floats = NDArray[np.float64]
Ids = NDArray[np.int64]


def signals(
    run: Run,
    h: Ids,
    r: Ids,
    known: QueryIndex,
    progress: Callable[[float], None] = lambda share: None,
) -> dict[str, Floats]:
    r"""What there is to go by for each query (h, r, ?), ``(Q,)`` each, higher for surer.

    - top score: the score of the best answer; its probability orders queries alike
    - score margin: how far it is ahead of the second
    - degree: in how many training facts the query's entity stands
    - answer degree: likewise of the best answer
    - fan-out: minus the mean number of answers that training has for a query of the relation
    - query entropy: :math:`-H(f_h(x_0))`
    - answer entropy: :math:`-H(f_{\hat t}(x_0))` of the best answer
    - composed entropy: :math:`-H(f_r \circ f_h(x_0))`

    each entropy up to :math:`H(x_0)`, and left out where the model has none.

    Args:
        run: a trained run.
        h: the entities asked about.
        r: relations; a reciprocal one asks for heads.
        known: answers that are no news, left out.
        progress: called with the share of the work that is done.
    """
    score, answer = Scorer(run.model, known).top_k(h, r, 2, progress=progress)
    degree = run.data.train.degrees(len(run.data.entities)).astype(np.float64)
    found = {
        "top score": score[:, 0],
        "score margin": score[:, 0] - score[:, -1],
        "degree": degree[h],
        "answer degree": degree[answer[:, 0]],
        "fan-out": -_answers_per_query(run.data.queries("train"))[r],
    }
    entropy = run.predictor.entropy["entity"]
    if entropy is not None:
        found |= {"query entropy": -entropy[h], "answer entropy": -entropy[answer[:, 0]]}
    composed = _composed(run, h, r)
    return found if composed is None else found | {"composed entropy": -composed}


def _answers_per_query(train: QueryIndex) -> Floats:
    queries = np.bincount(train.r, minlength=train.relations)
    return np.bincount(train.r, train.counts, train.relations) / np.maximum(queries, 1)


def _composed(run: Run, h: Ids, r: Ids) -> Floats | None:
    parts = []
    for low in range(0, max(1, len(h)), CHUNK):
        ids = (run.predictor.tensor(x[low : low + CHUNK]) for x in (h, r))
        found = composed_entropy(run.model, *ids)
        if found is None:
            return None
        parts.append(found.double().cpu())
    return torch.cat(parts).numpy()
