"""Studies of several runs as one page that says what came out."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kgflow.analysis.signals import BASELINES, ENTROPIES
from kgflow.analysis.study import Study

if TYPE_CHECKING:
    import polars as pl

INTRODUCTION = """\
Filtered ranks on test, ties realistic, one row per answer. A signal is what is known before the
answer is checked: the entropy change of the query's entity, of the best answer and of f_r ∘ f_h
(low counts as sure), and simpler ones: the best answer's score and its lead over the second, the
degrees of both entities, and the relation's fan-out (answers per query in training; low is sure).
Answers that training or validation hold are left out first, as for a user who wants news.

**AUROC** is the chance that a hit at 1 has the surer signal than a miss: .5 knows nothing, below .5
is wrong; intervals are 95 %, by bootstrap over queries. **Gain** is the area under the MRR of the
surest share answered, 0 for answering at random, 1 for knowing the ranks. **Added** is what the
three entropies add to the AUROC of all simpler signals in a logistic regression fitted to
validation. **Foreign** queries have their entity exchanged for one that the relation never has
there, drawn from all entities, or (asked) as often as test asks about it.

To be read with care: one seed each; the best of three entropies and of five simple signals are
picked after the fact; and the entropies of h and of f_r ∘ f_h together give away the relation, so
what they add may be which relation is asked rather than how wide a distribution is.
"""


def study_page(studies: Sequence[Study]) -> str:
    """The tables of some studies as Markdown, with a sentence for each on what came out."""
    parts = [INTRODUCTION, "## What came out\n", *(f"- {verdict(s)}" for s in studies)]
    parts += ["\n## Hits from misses\n", _errors(studies)]
    parts += ["\n## Real queries from foreign ones (AUROC)\n", _foreign(studies)]
    return "\n".join(parts)


def verdict(found: Study) -> str:
    """Whether entropies help, as far as the intervals tell, in plain words."""
    where = f"**{found.model} on {found.data}** (MRR {found.mrr:.3f}, {found.answers:,} answers):"
    if not found.has_entropy:
        return f"{where} the model knows no uncertainty."
    best, simple = (_best(found.errors, names, "auroc@1") for names in (ENTROPIES, BASELINES))
    said = f"{where} alone, the best entropy ({best}) against the best simple signal ({simple})"
    if found.added is not None:
        low, high = found.added.low, found.added.high
        word = "help" if low > 0 else "harm" if high < 0 else "add nothing that can be told"
        change = f"{found.added.difference:+.3f}, {low:+.3f} to {high:+.3f}"
        said += f"; beside all simple signals entropies {word} ({change})"
    asked = found.foreign.filter(found.foreign["drawn"] == "asked")
    best, simple = (_best(asked, names, "auroc") for names in (ENTROPIES, BASELINES))
    return f"{said}; for foreign queries {best} against {simple}."


def _best(frame: "pl.DataFrame", names: Sequence[str], column: str) -> str:
    row = frame.filter(frame["signal"].is_in(list(names))).sort(column).row(-1, named=True)
    return f"{row['signal']} {row[column]:.3f}"


def _errors(studies: Sequence[Study]) -> str:
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
    return _table([*head, "Spearman with rank", "gain"], rows, words=3)


def _foreign(studies: Sequence[Study]) -> str:
    rows = [
        [
            *(s.data, s.model, name),
            *(
                f"{r['auroc']:.3f} ({r['low']:.3f}-{r['high']:.3f})"
                for r in s.foreign.filter(s.foreign["signal"] == name).to_dicts()
            ),
        ]
        for s in studies
        for name in s.foreign["signal"].unique(maintain_order=True)
    ]
    return _table(["data", "model", "signal", "drawn from any", "from asked"], rows, words=3)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], words: int) -> str:
    rule = ["---"] * words + ["---:"] * (len(head) - words)
    return "\n".join("| " + " | ".join(row) + " |" for row in (head, rule, *rows))
