"""Conformal prediction sets of queries by name."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from kgflow.errors import KgflowError
from kgflow.runs.answers import TripleQuery, id_array
from kgflow.runs.predictor import Predictor
from kgflow.uncertainty import Conformal

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, eq=False)
class PredictionSet:
    """Unknown answers to a query, best first, and the coverage of such sets.

    Among queries like those of the validation triples, whose answer is missing from the graph, the
    share `coverage` of prediction sets contains the answer. A set may be empty where the best
    answer alone has a larger coverage.

    Args:
        query: Query by name.
        answers: Table with the columns of `Run.predict`.
        coverage: Nominal coverage.
        held_out: Number of held-out answers that the threshold was computed from.
        by_relation: Whether these are of the same relation and direction only.
        fitted: Name in the query that was fitted after training, whose facts are not like those of
            validation, so that the coverage is not guaranteed; else None.
    """

    query: TripleQuery
    answers: "pl.DataFrame"
    coverage: float
    held_out: int
    by_relation: bool
    fitted: str | None = None

    def __len__(self) -> int:
        return len(self.answers)

    def __str__(self) -> str:
        source = "of this relation and direction" if self.by_relation else "of all relations"
        held_out = f"(from {self.held_out:,} held-out answers {source})"
        if self.fitted is not None:
            return (
                f"{len(self):,} answers that are not known facts; a coverage of {self.coverage:.4g}"
                f" is not guaranteed, as {self.fitted!r} was added after training {held_out}"
            )
        return (
            f"{len(self):,} answers that are not known facts; such sets contain the missing answer"
            f" in {self.coverage:.4g} of queries {held_out}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the set as a dictionary."""
        return {
            "coverage": self.coverage,
            "size": len(self),
            "held_out": self.held_out,
            "by_relation": self.by_relation,
            "guaranteed": self.fitted is None,
            "answers": self.answers.to_dicts(),
        }


def prediction_set(
    predictor: Predictor, conformal: Conformal, query: TripleQuery, coverage: float
) -> PredictionSet:
    """Compute the prediction set of a query.

    Its random numbers depend on the query only, so the same query has the same set.
    """
    if query.relation is None:
        raise KgflowError(
            "prediction sets contain entities: ask with a relation, or leave out the coverage"
        )
    ids = id_array([query.ids(predictor.data)])
    h, r = predictor.tail_queries(ids)
    relation = int(r[0])
    score = predictor.scorer.filtered_scores(h, r)[0].double().cpu().numpy()
    rng = np.random.default_rng([int(h[0]), relation])
    u, round_up = rng.random(2)
    order = np.lexsort((rng.random(len(score)), -score))
    limit = torch.tensor([conformal.threshold(relation, coverage, round_up)])
    ordered = torch.from_numpy(score[order])[None]
    inside = conformal.nonconformity.within(ordered, limit, torch.tensor([u]))
    chosen = order[inside[0].numpy()]
    answers = predictor.answer_table(ids, [(chosen, score[chosen])])
    groups = conformal.groups(coverage)
    own = relation in groups
    held_out, fitted = len(groups[relation if own else -1]), predictor.fitted(query)
    return PredictionSet(query, answers, coverage, held_out, own, fitted)
