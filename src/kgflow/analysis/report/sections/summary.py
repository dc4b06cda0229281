"""The numbers at a glance."""

from collections.abc import Iterator

from kgflow.analysis.report.pieces import Heading, Piece, Tiles
from kgflow.analysis.report.section import Section
from kgflow.analysis.report.subject import Subject


class Summary(Section):
    """The main metrics of every run."""

    id, title = "summary", "At a glance"

    def pieces(self, subject: Subject) -> Iterator[Piece]:
        """A row of numbers for each run."""
        for name, evaluation in zip(subject.names, subject.evaluations, strict=True):
            found = evaluation["realistic"]
            if len(subject.runs) > 1:
                yield Heading(name)
            yield Tiles(
                [
                    ("MRR", found["mrr"]),
                    ("Hits@1", found["hits@1"]),
                    ("Hits@10", found["hits@10"]),
                    ("mean rank", found["mr"]),
                    (f"{subject.split} answers", len(evaluation.ranking)),
                    ("entities", len(subject.data.entities)),
                ]
            )
