"""Study of entropies as signals of correct predictions, compared with simpler signals."""

from collections.abc import Sequence

import polars as pl

from kgflow.runs.run import Run
from reproduce.plots import rejections
from reproduce.running import Result
from reproduce.signals import (
    BASELINES,
    ENTROPIES,
    MEMBERS,
    TRUST,
    SignalComparison,
    compare_signals,
)
from reproduce.study import Shown, Study, table

INTRODUCTION = """\
Filtered ranks on test, ties realistic, one observation per answer. A signal is a number that is
known before the answer is checked: the entropy change of the query's entity, of the best answer and
of f_r ∘ f_h (low means certain), and simpler ones: the score of the best answer and its difference
to the second, the degrees of both entities, and the fan-out of the relation (answers per query in
training; low means certain). Answers that are in training or validation are removed first.

What people are shown is measured beside them: the probability that the best answer is true and its
conditional probability, the size of the set of answers that have a softmax probability of 0.9
together, and for ensembles the share of pairs of members with the same best answer and the standard
deviation of its softmax probability.

**AUROC** is the probability that a hit at 1 has a higher signal than a miss (chance: .5); intervals
are 95 %, by bootstrap over queries. **Gain** is the area under the MRR of the share answered, most
certain first: 0 for a random order, 1 for the order of the true ranks. **Added** is what the three
entropies add to the AUROC of all simpler signals in a logistic regression fitted to validation.
**Corrupted** queries have an entity that the relation never has, drawn from all entities, or from
the queries of test.

Limits: one seed each; the best of three entropies and of five simple signals are chosen afterwards;
and the entropies of h and of f_r ∘ f_h together identify the relation, so what they add may be the
relation of the query rather than the width of a distribution.
"""


class UncertaintyStudy(Study):
    """Rows of uncertainty.toml, whose entropies are compared with simpler signals.

    Example:
        >>> from pathlib import Path
        >>> from reproduce.study import Options
        >>> UncertaintyStudy(Path(), Path(), Options(data=("codex-s",))).plans()[0].command
        'python -m reproduce uncertainty --row codex-s/nfe-1'
    """

    name, title = "uncertainty", "Does uncertainty help?"
    about = "each run measured on the answers of its test triples."

    def show(self, results: Sequence[Result]) -> Shown:
        """Return tables, a sentence per run, and rejection curves."""
        plans = [result.plan for result in results if not result.skipped]
        found = [compare_signals(Run.open(plan.run(self.directory))) for plan in plans]
        if not found:
            return Shown("No run is finished.", {"studies": []})
        drawn = rejections(found, self.pictures / "rejection.png")
        link = f"![MRR of the most certain answers, by signal]({self.pictures.name}/{drawn.name})"
        pairs = zip(plans, found, strict=True)
        values = [study.to_dict() | {"command": plan.command} for plan, study in pairs]
        return Shown(f"{study_page(found)}\n\n{link}", {"studies": values})


def study_page(studies: Sequence[SignalComparison]) -> str:
    """Return the tables of several studies as Markdown, with a sentence for each."""
    parts = [INTRODUCTION, "## Results\n", *(f"- {outcome(s)}" for s in studies)]
    parts += ["\n## Hits from misses\n", _errors(studies)]
    parts += ["\n## Real queries from corrupted ones (AUROC)\n", _corrupted(studies)]
    return "\n".join(parts)


def outcome(found: SignalComparison) -> str:
    """Return whether entropies help, as far as the intervals show."""
    where = f"**{found.model} on {found.data}** (MRR {found.mrr:.3f}, {found.answers:,} answers):"
    trust = _best(found.errors, (*TRUST, *MEMBERS), "auroc@1")
    if not found.has_entropy:
        return f"{where} the model has no entropies; the best of what people are shown is {trust}."
    best, simple = (_best(found.errors, names, "auroc@1") for names in (ENTROPIES, BASELINES))
    text = f"{where} alone, the best entropy ({best}) against the best simple signal ({simple}) and"
    text += f" the best of what people are shown ({trust})"
    if found.added is not None:
        low, high = found.added.low, found.added.high
        word = "help" if low > 0 else "harm" if high < 0 else "add nothing significant"
        change = f"{found.added.difference:+.3f}, {low:+.3f} to {high:+.3f}"
        text += f"; beside all simple signals entropies {word} ({change})"
    own = found.corrupted.filter(found.corrupted["drawn"] == "split")
    best, simple = (_best(own, names, "auroc") for names in (ENTROPIES, BASELINES))
    return f"{text}; for corrupted queries {best} against {simple}."


def _best(frame: pl.DataFrame, names: Sequence[str], column: str) -> str:
    row = frame.filter(frame["signal"].is_in(list(names))).sort(column).row(-1, named=True)
    return f"{row['signal']} {row[column]:.3f}"


def _errors(studies: Sequence[SignalComparison]) -> str:
    rows = [
        [
            *(s.data, s.model, r["signal"]),
            f"{r['auroc@1']:.3f} ({r['low@1']:.3f}-{r['high@1']:.3f})",
            f"{r['auroc@10']:.3f} ({r['low@10']:.3f}-{r['high@10']:.3f})",
            *(f"{r[name]:+.3f}" for name in ("spearman", "gain")),
        ]
        for s in studies
        for r in s.errors.to_dicts()
    ]
    head = ["data", "model", "signal", "AUROC of hits at 1", "of hits at 10"]
    return table([*head, "Spearman with rank", "gain"], rows, words=3)


def _corrupted(studies: Sequence[SignalComparison]) -> str:
    rows = [
        [
            *(s.data, s.model, name),
            *(
                f"{r['auroc']:.3f} ({r['low']:.3f}-{r['high']:.3f})"
                for r in s.corrupted.filter(s.corrupted["signal"] == name).to_dicts()
            ),
        ]
        for s in studies
        for name in s.corrupted["signal"].unique(maintain_order=True)
    ]
    return table(["data", "model", "signal", "drawn from any", "from test queries"], rows, words=3)
