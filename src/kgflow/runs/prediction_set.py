"""The answers to one question that hold the true one with a promised probability."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from kgflow.errors import KgflowError
from kgflow.runs.predictor import Predictor, Question
from kgflow.uncertainty import Conformal, NonconformityScore

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, eq=False)
class PredictionSet:
    """A set of answers that are not known yet, best first, and what is promised of it.

    The promise is about a question whose answer the graph does not hold, asked like those of the
    validation facts: in the share `coverage` of such questions the set holds the answer. It may be
    empty where the best answer alone would promise more.

    Args:
        question: what was asked.
        answers: the table that `Run.predict` gives.
        coverage: the promised probability.
        held_out: how many held-out answers the threshold was read from.
        own: whether these are of this relation and side only.
    """

    question: Question
    answers: "pl.DataFrame"
    coverage: float
    held_out: int
    own: bool

    def __len__(self) -> int:
        return len(self.answers)

    def __str__(self) -> str:
        source = "of this relation and side" if self.own else "of all relations together"
        return (
            f"{len(self):,} answers that are not known facts; sets made so hold the missing answer"
            f" in {self.coverage:.4g} of questions (by {self.held_out:,} held-out answers {source})"
        )

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        return {
            "coverage": self.coverage,
            "size": len(self),
            "held_out": self.held_out,
            "by_relation": self.own,
            "answers": self.answers.to_dicts(),
        }


@torch.no_grad()
def prediction_set(
    predictor: Predictor,
    nonconformity: NonconformityScore,
    conformal: Conformal,
    question: Question,
    coverage: float,
) -> PredictionSet:
    """The set for a question; always the same one, as its chances depend on the question only.

    Args:
        predictor: model and names.
        nonconformity: the one that `conformal` was measured with.
        conformal: where the threshold is from.
        question: (h, r, ?) or (?, r, t).
        coverage: with what probability it is to hold the answer.
    """
    if question.relation is None:
        raise KgflowError(
            "answer sets are of entities: ask with a relation, or leave the coverage out"
        )
    predictor.model.eval()
    asked = np.array([question.ids(predictor.data)])
    h, r = predictor.asked_for_tails(asked)
    query = predictor.model.query(predictor.tensor(h), predictor.tensor(r))
    S = predictor.entities.scores(query.Q, query.a)
    S[predictor.known_tails(h, r)] = -torch.inf
    score = S[0].double().cpu().numpy()
    chance = np.random.default_rng([int(h[0]), int(r[0])])
    u, round_up = chance.random(2)
    order = np.lexsort((chance.random(len(score)), -score))
    groups = conformal.groups(coverage)
    limit = torch.tensor([conformal.threshold(int(r[0]), coverage, round_up)])
    inside = nonconformity.within(torch.from_numpy(score[order])[None], limit, torch.tensor([u]))
    chosen = order[inside[0].numpy()]
    own = int(r[0]) in groups
    behind = len(groups[int(r[0]) if own else -1])
    answers = predictor.described(asked, [(chosen, score[chosen])])
    return PredictionSet(question, answers, coverage, behind, own)
