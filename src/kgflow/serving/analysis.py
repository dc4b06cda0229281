"""Slower analyses of a run, in a separate thread: explanations, rules, suggestions and plots."""

from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from kgflow.analysis.explain import Explainer
from kgflow.analysis.layout import groups, layout
from kgflow.analysis.missing import without_reverse
from kgflow.analysis.plots import density_plot, entity_map, new_figure, rule_histograms, to_svg
from kgflow.analysis.rules import (
    Deviation,
    EvaluatedRule,
    Rule,
    evaluate_candidates,
    rules_frame,
)
from kgflow.errors import KgflowError
from kgflow.queries.engine import AskOptions
from kgflow.queries.graph import QueryGraph, example_queries
from kgflow.queries.language import parse_query
from kgflow.runs.answers import TripleQuery
from kgflow.serving.batching import Batcher
from kgflow.serving.service import RunService, Values

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

MAX_QUEUE = 64
"""Largest number of waiting requests."""
MAX_RULES = 12
"""Largest number of rules of a relation."""
CACHED_PLOTS = 64
"""Number of cached plots of each kind."""
MAX_LABELS = 150
"""Largest number of labelled entities in a map, those of highest degree."""
NEIGHBOURS = 10
"""Number of neighbours whose relations are candidates for suggestions."""
MIN_NEIGHBOURS = 2
"""Smallest number of neighbours that must have such a relation."""
MAX_QUERIES = 60
"""Largest number of queries for the suggestions of an entity."""
ANSWERS_PER_QUERY = 5
"""Largest number of suggestions from one query."""

Task = Callable[[], Any]


class AnalysisService:
    """Analyses that run one after the other in a separate thread, so that predictions never wait.

    Only one thread may call the methods that analyse and plot, since the settings of matplotlib
    are global: `await service.submit(service.explain, triple, 3)`. Rules and plots are cached.

    Args:
        service: lookup of entities and relations.
    """

    def __init__(self, service: RunService) -> None:
        self.service, self.run = service, service.run
        self.batcher: Batcher[Task, Any] = Batcher(
            lambda tasks: [task() for task in tasks], max_batch=1, max_delay=0, max_queue=MAX_QUEUE
        )
        self.find_rules = lru_cache(None)(self._find_rules)
        self.densities = lru_cache(CACHED_PLOTS)(self._densities)
        self.histograms = lru_cache(CACHED_PLOTS)(self._histograms)
        self.entity_map = lru_cache(1)(self._entity_map)

    async def submit(self, analysis: Callable[..., Any], *arguments: Any) -> Any:  # noqa: ANN401
        """Return the result of an analysis, computed in the thread."""
        (result,) = await self.batcher.submit([partial(analysis, *arguments)])
        return result

    @cached_property
    def explainer(self) -> Explainer:
        """Explainer of triples, which also caches the evidence for rules."""
        return Explainer(self.run.predictor)

    def explain(self, triple: tuple[str, str, str], n: int) -> list[Values]:
        """Return reasons for a triple of names."""
        head, relation, tail = triple
        h, t = self.service.entity_id(head), self.service.entity_id(tail)
        reasons = self.explainer.explain(h, self.service.relation_id(relation), t, n)
        return [reason.to_dict() for reason in reasons]

    def ask(self, query: str, options: AskOptions) -> Values:
        """Return answers to a query of several hops, and its graph."""
        found = self.run.queries.ask(query, options)
        target = parse_query(query).target.text
        graph = QueryGraph(found.node, self.run.data, target)
        return found.to_dict() | {"graph": graph.to_dict()}

    @cached_property
    def examples(self) -> list[str]:
        """Queries of several hops that have answers."""
        return example_queries(self.run.data)

    def rules(self, relation: int) -> list[Values]:
        """Return the rules of a relation that the model or the graph supports."""
        return rules_frame(self.run, self.find_rules(relation)).to_dicts()

    def suggest(self, entity: int, k: int) -> list[Values]:
        """Return the k most probable unknown triples about an entity."""
        data, found = self.service.data, []
        for row in suggest_triples(self.service, entity, k).iter_rows(named=True):
            ids = {side: data.entities.id(row[side]) for side in ("head", "tail")}
            found.append(row | {f"{side}_label": data.label(i) for side, i in ids.items()})
        return found

    def _find_rules(self, relation: int) -> list[EvaluatedRule]:
        found = evaluate_candidates(self.explainer.evaluator, relation)
        supported = [rule for rule in found if rule.agreement not in ("neither", "untested")]
        return sorted(supported, key=lambda rule: rule.order)[:MAX_RULES]

    def _densities(self, entities: tuple[str, ...]) -> str:
        return _plot(
            7, 3.4, lambda figure: density_plot(figure.subplots(), self.run, list(entities))
        )

    def _histograms(self, relation: int) -> str:
        """Plot the two histograms of the first rule of each kind, one rule below the other."""
        rules = first_of_each_kind([evaluated.rule for evaluated in self.find_rules(relation)])
        if not rules:
            raise KgflowError("neither the model nor the graph supports a rule of this relation")
        names = self.run.data.relations.names

        def draw(figure: "Figure") -> None:
            grid = figure.subplots(len(rules), 2, squeeze=False)
            for axes, rule in zip(grid, rules, strict=True):
                rule_histograms(list(axes), self.run, Deviation.of(rule), rule.text(names))

        return _plot(9, 2.6 * len(rules) + 0.2, draw)

    def _entity_map(self) -> str:
        data, found = self.run.data, groups(self.run.data)
        by_degree = np.argsort(-data.train.degrees(len(data.entities)), kind="stable")
        labels = [(int(i), _shorten(data.label(i))) for i in by_degree[:MAX_LABELS]]
        names = [_shorten(name) for name in found.names]

        def draw(figure: "Figure") -> None:
            entity_map(figure.subplots(), layout(self.run), found, names, labels)

        return _plot(9, 7, draw)


def first_of_each_kind(rules: Sequence[Rule]) -> tuple[Rule, ...]:
    """Return the first rule of each kind.

    Example:
        >>> first_of_each_kind([Rule((3,), 0, 3), Rule((4,), 1, 3), Rule((1,), 0, 3)])[1].kind
        'implication'
    """
    return tuple({rule.kind: rule for rule in reversed(rules)}.values())[::-1]


def suggest_triples(service: RunService, entity: int, k: int) -> "pl.DataFrame":
    """Return the k most probable unknown triples of an entity with another one.

    The queries have the relations of the entity itself, on either side, and those that several of
    its nearest neighbours have: other relations do not apply to it. Of a triple of a symmetric
    relation and its reverse only the more probable one is returned. The columns are those of
    `Run.predict` and "target", the predicted part.
    """
    import polars as pl

    data, predictor = service.data, service.predictor
    name, R = data.entities[entity], len(data.relations)
    queries = [
        TripleQuery(head=name, relation=data.relations[r])
        if r < R
        else TripleQuery(relation=data.relations[r - R], tail=name)
        for r in candidate_relations(service, entity)
    ]
    found = predictor.predict(queries, ANSWERS_PER_QUERY, new=True)
    target = ["head" if queries[i - 1].head is None else "tail" for i in found["query"]]
    found = found.with_columns(pl.Series("target", target, dtype=pl.String))
    found = found.filter(pl.col("head") != pl.col("tail"))
    order = ("probability", "conditional_probability")
    found = found.sort(order, descending=True, nulls_last=True, maintain_order=True)
    symmetry = {r["name"]: r["symmetry"] for r in service.relation_statistics}
    return without_reverse(found, symmetry).head(k)


def candidate_relations(service: RunService, entity: int) -> list[int]:
    """Return the relations and inverse relations that apply to an entity, its own ones first."""
    _, neighbours = service.neighbours(entity, NEIGHBOURS)
    own = _relations_of(service, entity)
    others = np.concatenate([own[:0], *(_relations_of(service, i) for i, _ in neighbours)])
    r, count = np.unique(others, return_counts=True)
    r, count = r[count >= MIN_NEIGHBOURS], count[count >= MIN_NEIGHBOURS]
    frequent = r[np.argsort(-count, kind="stable")]
    return list(dict.fromkeys([*own.tolist(), *frequent.tolist()]))[:MAX_QUERIES]


def _relations_of(service: RunService, entity: int) -> "np.ndarray":
    """Return the relations and inverse relations of which an entity is a head."""
    known = service.predictor.known
    return known.r[slice(*np.searchsorted(known.h, [entity, entity + 1]))]


def _plot(width: float, height: float, draw: Callable[["Figure"], None]) -> str:
    with new_figure(width, height) as figure:
        draw(figure)
        return to_svg(figure)


def _shorten(text: str, length: int = 28) -> str:
    return text if len(text) <= length else text[: length - 1] + "…"
