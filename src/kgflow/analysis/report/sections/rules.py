"""The rules that a model believes."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from kgflow.analysis.plots.rules import rule_histograms, short
from kgflow.analysis.report.pieces import Note, Picture, Piece, Row, Table
from kgflow.analysis.report.section import Section
from kgflow.analysis.report.sections.metrics import run_column
from kgflow.analysis.report.subject import Subject
from kgflow.analysis.report.text import shorten
from kgflow.analysis.rules.believed import beliefs
from kgflow.analysis.rules.judge import Belief
from kgflow.analysis.rules.rule import KINDS, Rule
from kgflow.analysis.rules.statistic import Statistic
from kgflow.errors import KgflowError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SHOWN = 8
"""Rules of each kind."""

LONG = 80
"""Letters of a rule, at most."""

ABOUT = (
    "Belief is how often the model accepts what a rule says, from 0 (as by chance) to 1 (as its "
    "own facts); support counts cases in the graph, and confidence is the share of them that holds "
    "there. The verdict tells whether model and graph agree, or which of them alone is for it."
)
NAMED = {"symmetric": "symmetry", "antisymmetric": "antisymmetry"}
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
        """A table for each kind, and histograms of the first rule of each."""
        found = [beliefs(run, k=SHOWN) for run in subject.runs]
        if not any(found):
            yield Note("Neither models nor graph are for any rule.")
            return
        names = subject.data.relations.names
        yield Note(ABOUT + (CUT if _cut(subject) != list(names) else ""))
        for kind in KINDS:
            of_kind = [[b for b in rules if b.rule.kind == kind] for rules in found]
            if any(of_kind):
                yield _table(subject, kind, of_kind)
        yield Note(HISTOGRAMS)
        yield from _pictures(subject, found)


def _table(subject: Subject, kind: str, found: list[list[Belief]]) -> Table:
    cut, several = _cut(subject), len(found) > 1
    rows = [
        [*([name] if several else []), b.rule.words(cut), b.belief, b.support, b.confidence,
         b.verdict]
        for name, rules in zip(subject.names, found, strict=True)
        for b in rules
    ]  # fmt: skip
    most = f", the {SHOWN} most believed" if max(map(len, found)) == SHOWN else ""
    columns = ("rule", "belief", "support", "confidence", "verdict")
    return Table(f"{kind.capitalize()}{most}.", (*run_column(subject), *columns), rows, width=LONG)


def _pictures(subject: Subject, found: list[list[Belief]]) -> Iterator[Piece]:
    drawn: list[Piece] = []
    for place, rules in enumerate(found):
        first = {belief.rule.kind: belief for belief in reversed(rules)}
        chosen = [belief for belief in rules if first[belief.rule.kind] is belief]
        try:
            drawn += [_picture(subject, place, belief.rule) for belief in chosen]
        except KgflowError as error:
            drawn.append(Note(f"{error}."))
    yield Row(drawn)


def _picture(subject: Subject, place: int, rule: Rule) -> Picture:
    title, what = rule.words(_cut(subject)), NAMED.get(rule.kind, rule.kind)
    by = f" by {subject.names[place]}" if len(subject.runs) > 1 else ""

    def draw(figure: "Figure") -> None:
        axes = figure.subplots(1, 2)
        rule_histograms(list(axes), subject.runs[place], Statistic.of(rule), "")
        axes[1].set_ylabel("")
        axes[1].get_legend().remove()
        named = axes[1].get_legend_handles_labels()
        figure.legend(*named, loc="outside lower center", ncols=2, fontsize=9)
        figure.suptitle(shorten(title, LONG), x=0.01, ha="left", fontsize=11, fontweight="bold")

    return Picture.of(
        f"rule-{rule.kind}-{place + 1}",
        f"Histograms of how far from exact it is in each coordinate that {title}{by}.",
        f"The first {what}{by}.",
        draw,
        (6.4, 2.9),
    )


def _cut(subject: Subject) -> list[str]:
    return [short(name) for name in subject.data.relations.names]
