"""The rules that a model believes."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from kgflow.errors import KgflowError
from kgflow.insight.plots.rules import rule_histograms, short
from kgflow.insight.report.pieces import Heading, Note, Picture, Piece, Row, Table
from kgflow.insight.report.section import Section
from kgflow.insight.report.subject import Subject
from kgflow.insight.rules.believed import beliefs
from kgflow.insight.rules.judge import Belief
from kgflow.insight.rules.statistic import Statistic
from kgflow.run import Run

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SHOWN = 8
"""Rules of each kind."""

ABOUT = (
    "Belief is how often the model accepts what a rule says, from 0 (as by chance) to 1 (as its "
    "own facts); support counts cases in the graph, and confidence is the share of them that holds "
    "there. The verdict tells whether model and graph agree, or which of them alone is for it."
)
CUT = " Names that are paths are cut to their ends."
HISTOGRAMS = (
    "How far the first rule of each kind is from exact, in every coordinate of the model: gaps of "
    "scales (left) and of shifts (right). At 0 a rule is exact, and what is antisymmetric stays "
    "away from 0; dashed are other relations in its place."
)


class Rules(Section):
    """Rules believed by the model, beside what the graph says of them."""

    id, title = "rules", "Rules"

    def pieces(self, subject: Subject) -> Iterator[Piece]:
        """For each run a table, and histograms of the first rule of each kind."""
        for place, name in enumerate(subject.names):
            if len(subject.runs) > 1:
                yield Heading(name)
            yield from _of(subject.runs[place], place)


def _of(run: Run, place: int) -> Iterator[Piece]:
    found = beliefs(run, k=SHOWN)
    if not found:
        yield Note("Neither the model nor the graph is for any rule.")
        return
    kinds = {
        kind: [b for b in found if b.rule.kind == kind]
        for kind in dict.fromkeys(b.rule.kind for b in found)
    }
    names = run.data.relations.names
    yield Note(ABOUT + (CUT if _cut(run) != list(names) else ""))
    for kind, rules in kinds.items():
        yield _table(run, kind, rules)
    try:
        drawn = [_picture(run, place, rules[0]) for rules in kinds.values()]
    except KgflowError as error:
        yield Note(f"{error}.")
        return
    yield Note(HISTOGRAMS)
    yield Row(drawn)


def _table(run: Run, kind: str, found: list[Belief]) -> Table:
    return Table(
        f"{kind.capitalize()}{_most(found)}.",
        ("rule", "belief", "support", "confidence", "verdict"),
        [[b.rule.words(_cut(run)), b.belief, b.support, b.confidence, b.verdict] for b in found],
    )


def _most(found: list[Belief]) -> str:
    return f", the {SHOWN} most believed" if len(found) == SHOWN else ""


def _picture(run: Run, place: int, belief: Belief) -> Picture:
    rule, title = belief.rule, belief.rule.words(_cut(run))

    def draw(figure: "Figure") -> None:
        axes = figure.subplots(1, 2)
        rule_histograms(list(axes), run, Statistic.of(rule), "")
        axes[1].set_ylabel("")
        figure.suptitle(title, x=0.01, ha="left", fontsize=11, fontweight="bold")

    return Picture.of(
        f"rule-{rule.kind}-{place + 1}",
        f"Histograms of how far from exact it is in each coordinate that {title}.",
        f"The first rule that is {rule.kind}."
        if len(rule.body) == 1 and rule.kind.endswith("symmetric")
        else f"The first {rule.kind}.",
        draw,
        (6.4, 2.9),
    )


def _cut(run: Run) -> list[str]:
    return [short(name) for name in run.data.relations.names]
