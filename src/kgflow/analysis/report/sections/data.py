"""What the data set is like."""

from collections import Counter
from collections.abc import Iterator

from kgflow.analysis.report.pieces import Facts, Piece, Table
from kgflow.analysis.report.section import Section
from kgflow.analysis.report.subject import Subject
from kgflow.data import Statistics

FREQUENT = 10


class DataCard(Section):
    """Counts of the data set, and its pitfalls."""

    id, title = "data", "Data"

    def pieces(self, subject: Subject) -> Iterator[Piece]:
        """Counts, splits, categories, and the most frequent relations."""
        found = subject.statistics
        yield Facts(
            [
                ("data set", found.name),
                ("entities", found.entities),
                ("relations", found.relations),
                ("facts per entity, training", _degrees(found)),
                ("types", "known" if subject.data.types else "not known"),
                ("weights", "yes" if subject.data.weighted else "no"),
            ]
        )
        yield _splits(found)
        yield _categories(found)
        yield _frequent(found)


def _degrees(found: Statistics) -> str:
    d = found.degrees
    return f"{d.min:,} to {d.max:,}, median {d.median:,.0f}, mean {d.mean:,.1f}"


def _splits(found: Statistics) -> Table:
    rows = []
    for split, size in found.sizes.items():
        unseen = found.unseen.get(split)
        rows.append(
            [
                split,
                size,
                unseen.entities if unseen else None,
                unseen.relations if unseen else None,
                unseen.triples if unseen else None,
                found.shared.get(f"train+{split}"),
                _percent(found.leakage[split]) if split in found.leakage else None,
            ]
        )
    return Table(
        "Splits. Unseen are entities and relations that training lacks, and the facts that name "
        "one; turned round are facts that training holds the other way under an inverse or "
        "symmetric relation, which are easily guessed.",
        ("split", "facts", "unseen entities", "unseen relations", "facts with unseen",
         "also in train", "turned round"),
        rows,
    )  # fmt: skip


def _categories(found: Statistics) -> Table:
    relations = Counter(r.category for r in found.by_relation)
    facts = Counter[str]()
    for r in found.by_relation:
        facts[r.category] += r.count
    total = max(1, sum(facts.values()))
    rows = [
        [name, relations[name], facts[name], _percent(facts[name] / total)]
        for name in sorted(relations)
    ]
    return Table(
        "Relations by category in training: N where a tail has 1.5 or more heads on average (first "
        "place), or a head so many tails (second place).",
        ("category", "relations", "facts", "share of facts"),
        rows,
    )


def _frequent(found: Statistics) -> Table:
    order = sorted(found.by_relation, key=lambda r: (-r.count, r.name))[:FREQUENT]
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
        f"The {len(rows)} most frequent of {found.relations:,} relations in training. Symmetric: "
        "the share of facts that also hold turned round; inverse: the other relation that holds "
        "most of them turned round.",
        ("relation", "facts", "category", "tails per head", "heads per tail", "symmetric",
         "inverse"),
        rows,
    )  # fmt: skip


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
