"""What takes a moment: explanations, rules, suggestions and pictures, one after the other."""

from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache, partial
from typing import Any

from kgflow.analysis.explain import Explainer
from kgflow.analysis.rules import EvaluatedRule, Rule, evaluate_candidates
from kgflow.serving.batcher import Batcher
from kgflow.serving.catalogue import Catalogue
from kgflow.serving.drawings import Drawings, first_of_each_kind
from kgflow.serving.suggestions import suggestions

WAITING = 64
"""Requests that may wait, at most."""

RULES = 12
"""Rules shown of a relation."""

Row = dict[str, Any]
Work = Callable[[], Any]


class Study:
    """A thread of its own, so that predictions never wait for it.

    Args:
        catalogue: what is studied.
    """

    def __init__(self, catalogue: Catalogue) -> None:
        self.catalogue, self.run = catalogue, catalogue.run
        self.batcher: Batcher[Work, Any] = Batcher(_work, size=1, delay=0, bound=WAITING)
        self.drawings = Drawings(catalogue.run)
        self._of = lru_cache(None)(self._beliefs)

    @cached_property
    def explainer(self) -> Explainer:
        """It also judges rules, and remembers them."""
        return Explainer(self.run.predictor)

    async def explain(self, triple: tuple[str, str, str], n: int) -> list[Row]:
        """Why a triple of names may be true."""
        return await self._do(partial(self._explain, triple, n))

    async def rules(self, relation: int) -> list[Row]:
        """The rules with a relation that the model believes or the graph holds."""
        return await self._do(partial(self._rules, relation))

    async def suggest(self, entity: int, k: int) -> list[Row]:
        """Facts about an entity that may be missing."""
        return await self._do(partial(self._suggest, entity, k))

    async def densities(self, entities: tuple[str, ...]) -> str:
        """The densities of entities, as SVG."""
        return await self._do(partial(self.drawings.densities, entities))

    async def histograms(self, relation: int) -> str:
        """The histograms of a relation's rules, one of each kind, as SVG."""
        return await self._do(partial(self._histograms, relation))

    async def map(self) -> str:
        """All entities, as SVG."""
        return await self._do(self.drawings.map)

    async def close(self) -> None:
        """Finish what waits."""
        await self.batcher.close()

    async def _do(self, work: Work) -> Any:  # noqa: ANN401
        (found,) = await self.batcher.ask([work])
        return found

    def _explain(self, triple: tuple[str, str, str], n: int) -> list[Row]:
        head, relation, tail = triple
        h, t = self.catalogue.entity_id(head), self.catalogue.entity_id(tail)
        found = self.explainer.explain(h, self.catalogue.relation_id(relation), t, n)
        return [reason.to_dict() for reason in found]

    def _beliefs(self, relation: int) -> list[EvaluatedRule]:
        found = evaluate_candidates(self.explainer.evaluator, relation)
        held = [b for b in found if b.agreement not in ("neither", "untested")]
        return sorted(held, key=lambda belief: belief.order)

    def _rules(self, relation: int) -> list[Row]:
        names = self.run.data.relations.names
        return [_row(belief, names) for belief in self._of(relation)[:RULES]]

    def _histograms(self, relation: int) -> str:
        rules: list[Rule] = [belief.rule for belief in self._of(relation)[:RULES]]
        return self.drawings.rules(first_of_each_kind(rules))

    def _suggest(self, entity: int, k: int) -> list[Row]:
        data, rows = self.catalogue.data, []
        for row in suggestions(self.catalogue, entity, k).iter_rows(named=True):
            ids = {end: data.entities.id(row[end]) for end in ("head", "tail")}
            rows.append(row | {f"{end}_label": data.label(i) for end, i in ids.items()})
        return rows


def _row(belief: EvaluatedRule, names: Sequence[str]) -> Row:
    return {
        "kind": belief.rule.kind,
        "rule": belief.rule.text(names),
        "model_confidence": belief.model_confidence,
        "distance": belief.distance,
        "support": belief.support,
        "confidence": belief.confidence,
        "agreement": belief.agreement,
    }


def _work(jobs: Sequence[Work]) -> list[Any]:
    return [job() for job in jobs]
