"""The rules of a run."""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from kgflow.analysis.rules.candidates import (
    distinct,
    held_compositions,
    near_compositions,
    singles,
)
from kgflow.analysis.rules.judge import Belief, Judge
from kgflow.analysis.rules.rule import KINDS, Rule, directed
from kgflow.errors import KgflowError, suggest
from kgflow.runs.run import Run

if TYPE_CHECKING:
    import polars as pl

COLUMNS: dict[str, type] = {
    "kind": str,
    "rule": str,
    "belief": float,
    "distance": float,
    "closure": float,
    "support": int,
    "confidence": float,
    "chance": float,
    "verdict": str,
    "body": str,
    "head": str,
}
"""What is said of a rule."""


def believed_rules(
    run: Run,
    relation: str | None = None,
    kind: str | None = None,
    k: int = 20,
    everything: bool = False,
    progress: Callable[[float], None] = lambda share: None,
) -> "pl.DataFrame":
    """The rules that the model believes or the graph holds, k of each kind, most believed first.

    Columns as in `Belief`, with the rule in words, its kind, verdict, body and head.

    Args:
        run: a trained run.
        relation: only rules with this relation.
        kind: only rules of this one of `KINDS`.
        k: rules of each kind, at most.
        everything: also rules without a case in the graph, that say in other words what a listed
            one says, or that neither model nor graph is for.
        progress: called with the share of the work that is done.

    Reference:
        Xiao, He, Cao: Knowledge Graph Embedding by Normalizing Flows, AAAI 2023, Proposition 6.
    """
    return rules_frame(run, beliefs(run, relation, kind, k, everything, progress))


def beliefs(
    run: Run,
    relation: str | None = None,
    kind: str | None = None,
    k: int = 20,
    everything: bool = False,
    progress: Callable[[float], None] = lambda share: None,
) -> list[Belief]:
    """What `believed_rules` shows, as objects."""
    if kind is not None and kind not in KINDS:
        hint = suggest(kind, KINDS) or f"; known are {', '.join(KINDS)}"
        raise KgflowError(f"unknown kind of rule '{kind}'{hint}")
    if k < 1:
        raise KgflowError(f"k is {k}: ask for 1 rule or more")
    wanted = None if relation is None else run.data.relations.id(relation)
    found = [
        belief
        for belief in judged(
            Judge(run.predictor), wanted, [kind] if kind else KINDS, everything, progress
        )
        if everything or belief.verdict not in ("neither", "untested")
    ]
    found.sort(key=lambda belief: belief.order)
    return [b for name in KINDS for b in [b for b in found if b.rule.kind == name][:k]]


def rules_frame(run: Run, found: Sequence[Belief]) -> "pl.DataFrame":
    """Beliefs as a table."""
    import polars as pl

    names = run.data.relations.names
    return pl.DataFrame([_row(belief, names) for belief in found], schema=COLUMNS)


def judged(
    judge: Judge,
    relation: int | None,
    kinds: Sequence[str],
    everything: bool,
    progress: Callable[[float], None],
) -> Iterator[Belief]:
    """All candidates of these kinds with this relation, each before both courts."""
    graph, geometry, R = judge.known, judge.geometry, judge.known.relations
    rules = list(singles(graph, geometry))
    if "composition" in kinds:
        rules += _compositions(judge, everything, lambda share: progress(share / 2))
    rules = [
        rule
        for rule in rules
        if rule.kind in kinds
        and (relation is None or relation in (rule.head, *(d % R for d in rule.body)))
    ]
    for done, rule in enumerate(rules, start=1):
        yield judge.judge(rule)
        progress((1 + done / len(rules)) / 2)


def _compositions(judge: Judge, everything: bool, progress: Callable[[float], None]) -> list[Rule]:
    graph, geometry = judge.known, judge.geometry
    near = [] if geometry is None else near_compositions(graph, geometry, everything, progress)
    rules = list(dict.fromkeys([*near, *held_compositions(graph)]))
    return rules if everything else list(distinct(rules, graph))


def _row(belief: Belief, names: Sequence[str]) -> dict[str, object]:
    rule = belief.rule
    return {
        "kind": rule.kind,
        "rule": rule.words(names),
        "belief": belief.belief,
        "distance": belief.distance,
        "closure": belief.closure,
        "support": belief.support,
        "confidence": belief.confidence,
        "chance": belief.chance,
        "verdict": belief.verdict,
        "body": ", ".join(directed(d, names) for d in rule.body),
        "head": names[rule.head],
    }
