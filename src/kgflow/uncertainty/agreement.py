"""Agreement of the members of an ensemble about the best answers to queries."""

from typing import NamedTuple

import numpy as np
import torch

from kgflow.evaluation import Scorer
from kgflow.evaluation.metrics import Floats
from kgflow.evaluation.scoring import Ids
from kgflow.kernels import blocks
from kgflow.models import Ensemble

BATCH = 256
"""Queries scored at a time, at most."""


class Agreement(NamedTuple):
    """Agreement about the answers to queries.

    Shapes:
        agreement: (B,), share of pairs of members with the same best answer. deviation: (B,),
        standard deviation over members of the softmax probability of the ensemble's best answer.
    """

    agreement: Floats
    deviation: Floats


def member_agreement(model: Ensemble, scorer: Scorer, h: Ids, r: Ids) -> Agreement:
    """Compute the agreement of members about queries ``(B,)``, without known answers.

    Lakshminarayanan, Pritzel, Blundell: Simple and scalable predictive uncertainty estimation using
    deep ensembles, 2017.
    """
    parts = [np.empty((2, 0))]
    for low, high in blocks(len(h), scorer.batch_size(BATCH)):
        head, relation = h[low:high], r[low:high]
        S = model.member_scores(scorer.tensor(head), scorer.tensor(relation))
        row, tail = scorer.known_answers(head, relation)
        S[:, row, tail] = -torch.inf
        answers = S.argmax(2)
        same = (answers[:, None] == answers[None]).double().sum((0, 1)) - len(S)
        best = S.mean(0).argmax(1)
        p = torch.softmax(S.double(), dim=2)[:, torch.arange(len(best)), best]
        pair = same / (len(S) * (len(S) - 1)), p.std(0, unbiased=False)
        parts.append(torch.stack(pair).cpu().numpy())
    agreement, deviation = np.concatenate(parts, axis=1)
    return Agreement(agreement, deviation)
