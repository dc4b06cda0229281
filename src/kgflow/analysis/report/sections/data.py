"""Section on the data."""

from collections import Counter
from collections.abc import Iterator

from kgflow.analysis.report.content import Content, DescriptionList, Table
from kgflow.analysis.report.section import ReportContext, Section, register
from kgflow.data import Statistics

SHOWN = 10
"""Number of relations in the table."""


@register
class DataStatistics(Section):
    """Statistics of the data."""

    id, title, order = "data", "Data", 130

    def contents(self, context: ReportContext) -> Iterator[Content]:
        """Yield counts, splits, categories, and the most frequent relations."""
        statistics = context.statistics
        yield DescriptionList(
            [
                ("data", statistics.name),
                ("entities", statistics.entities),
                ("relations", statistics.relations),
                ("training facts per entity", _degrees(statistics)),
                ("types", "known" if context.data.types else "not known"),
                ("weighted facts", "yes" if context.data.weighted else "no"),
            ]
        )
        yield _splits(statistics)
        yield _categories(statistics)
        yield _frequent(statistics)


def _degrees(statistics: Statistics) -> str:
    d = statistics.degrees
    return f"{d.min:,} to {d.max:,}, median {d.median:,.0f}, mean {d.mean:,.1f}"


def _splits(statistics: Statistics) -> Table:
    rows = []
    for split, size in statistics.sizes.items():
        unseen = statistics.unseen.get(split)
        rows.append(
            [
                split,
                size,
                unseen.entities if unseen else None,
                unseen.relations if unseen else None,
                unseen.triples if unseen else None,
                statistics.shared.get(f"train+{split}"),
                _percent(statistics.leakage[split]) if split in statistics.leakage else None,
            ]
        )
    return Table(
        "Splits. Unseen entities and relations are not in the training facts. Inverse leakage is "
        "the share of facts whose inverse, by an inverse or symmetric relation, is a training "
        "fact; these facts are easy to predict.",
        ("split", "facts", "unseen entities", "unseen relations", "facts with unseen",
         "also in train", "inverse leakage"),
        rows,
    )  # fmt: skip


def _categories(statistics: Statistics) -> Table:
    relations = Counter(r.category for r in statistics.by_relation)
    facts = Counter[str]()
    for r in statistics.by_relation:
        facts[r.category] += r.count
    total = max(1, sum(facts.values()))
    rows = [
        [name, relations[name], facts[name], _percent(facts[name] / total)]
        for name in sorted(relations)
    ]
    return Table(
        "Relations by category in training: 1-N relations have 1.5 or more tails per head on "
        "average, N-1 relations 1.5 or more heads per tail, N-N relations both.",
        ("category", "relations", "facts", "share of facts"),
        rows,
    )


def _frequent(statistics: Statistics) -> Table:
    order = sorted(statistics.by_relation, key=lambda r: (-r.count, r.name))[:SHOWN]
    rows = [
        [
            r.name,
            r.count,
            r.category,
            r.tails_per_head,
            r.heads_per_tail,
            _percent(r.symmetry),
            f"{r.inverse} ({_percent(r.inverse_share)})" if r.inverse is not None else "–",
        ]
        for r in order
    ]
    return Table(
        f"The {len(rows)} most frequent of {statistics.relations:,} relations in training. "
        "Symmetric: share of facts (h, r, t) with a fact (t, r, h). Inverse: other relation s with "
        "the most facts (t, s, h), and their share.",
        ("relation", "facts", "category", "tails per head", "heads per tail", "symmetric",
         "inverse"),
        rows,
    )  # fmt: skip


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
