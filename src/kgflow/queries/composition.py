"""Chains of relations composed into one function, as in the paper's closure property."""

from dataclasses import replace
from functools import lru_cache

import numpy as np
import torch

from kgflow.data import Dataset, Triples
from kgflow.errors import KgflowError
from kgflow.evaluation import Scorer
from kgflow.evaluation.metrics import Floats
from kgflow.evaluation.scoring import Ids, evaluation_mode
from kgflow.models.protocols import ComposableRelations
from kgflow.queries.sampling import QuerySampler, SampledQuery
from kgflow.queries.tree import Anchor, Node, Projection, chain
from kgflow.uncertainty import Platt

QUERIES = 300
"""Validation queries of each length to which probabilities are fitted."""
MIN_ANSWERS = 20
"""Smallest number of validation answers to fit probabilities to."""


class ComposedRelations:
    r"""Answers to chains (h, r₁, …, r_k, ?) by :math:`f_{r_k} \circ \dots \circ f_{r_1} \circ f_h`.

    The composed function is a query like that of one relation, so all answers are one matrix
    product, whatever the number of intermediate entities, and none of them is chosen. Scores
    become probabilities by Platt scaling, fitted to random chains of the same length whose new
    answers need a validation triple.

    Reference:
        Xiao, He, Cao: Knowledge Graph Embedding by Normalizing Flows, AAAI 2023.

    Args:
        scorer: Scorer of a model whose relations compose.
        data: Data set with the validation triples.
        valid: Validation triples to which probabilities are fitted.
        seed: Random seed of the sampled chains.
    """

    def __init__(self, scorer: Scorer, data: Dataset, valid: Triples, seed: int = 0) -> None:
        if not isinstance(scorer.model.base, ComposableRelations):
            raise KgflowError(
                f"relations of {scorer.model.name} have no composition in closed form: use the"
                " method beam, or a model such as nfe-1, nfe-1-complex, complex or rotate"
            )
        self.scorer, self.data, self.valid, self.seed = scorer, data, valid, seed
        self.base = scorer.model.base
        self.calibrator = lru_cache(maxsize=None)(self._calibrator)

    def scores(self, h: Ids, path: tuple[Ids, ...]) -> Floats:
        """Score all entities for chains of heads ``(B,)`` and relations, each ``(B,)``: (B, E)."""
        model, tensor = self.scorer.model.trained, self.scorer.tensor
        with evaluation_mode(self.scorer.model), torch.no_grad():
            heads = model.entity.without_bias(model.entity(tensor(h)))
            query = self.base.encode_path(heads, [model.relation(tensor(r)) for r in path])
            S = self.scorer.embedding_keys.scores(query.Q, query.a)
        found: Floats = S.double().cpu().numpy()
        return found

    def __call__(self, node: Node) -> Floats:
        """Return the probabilities of all entities as answers to a chain, ``(E,)``."""
        from scipy.special import expit

        calibrator = self.calibrator(len(require_chain(node)[1]))
        probability: Floats = expit(calibrator(self.chain_scores(node)))
        return probability

    def _calibrator(self, length: int) -> Platt:
        """Fit the probabilities of chains of a length to the answers that validation adds."""
        data = replace(self.data, valid=self.valid, test=Triples.empty())
        shape: Node = Anchor()
        for _ in range(length):
            shape = Projection(shape)
        queries = QuerySampler(data, data.train, self.seed).draw(shape, QUERIES, hard=False)
        if sum(len(query.hard) for query in queries) < MIN_ANSWERS:
            raise KgflowError(
                f"{data.name} has too few validation facts to fit probabilities of composed"
                " relations to: use the method beam"
            )
        score, truth = zip(*(self._labelled(query) for query in queries), strict=True)
        z, y = np.concatenate(score), np.concatenate(truth)
        return Platt.fit(z, y, np.ones(len(z)))

    def chain_scores(self, node: Node) -> Floats:
        """Return the scores of all entities for a chain, ``(E,)``."""
        anchor, relations = require_chain(node)
        return self.scores(np.array([anchor]), tuple(np.array([r]) for r in relations))[0]

    def _labelled(self, query: SampledQuery) -> tuple[Floats, Floats]:
        """Return scores of the entities that are no known answers, and 1 for answers, else 0."""
        score = self.chain_scores(query.node)
        label = np.isin(np.arange(len(score)), query.hard).astype(np.float64)
        unknown = ~np.isin(np.arange(len(score)), query.known)
        return score[unknown], label[unknown]


def require_chain(node: Node) -> tuple[int, tuple[int, ...]]:
    """Return anchor and relations of a chain, or raise an error."""
    found = chain(node)
    if found is None:
        raise KgflowError(
            "the method compose takes a chain of relations from one name, such as"
            " 'France borders ?x . ?x borders ?y': use the method beam"
        )
    return found
