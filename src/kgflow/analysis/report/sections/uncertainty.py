"""How sure the model is of entities."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from kgflow.analysis.associations import associations
from kgflow.analysis.certainty import entity_uncertainty
from kgflow.analysis.plots.degree import entropy_against_degree
from kgflow.analysis.report.pieces import Heading, Note, Picture, Piece, Row, Table
from kgflow.analysis.report.section import Section
from kgflow.analysis.report.subject import Subject
from kgflow.analysis.report.text import signed
from kgflow.errors import KgflowError
from kgflow.runs.run import Run

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

SHOWN = 6
"""Entities at either end."""

BESIDE = {
    "degree": "degree",
    "type": "type",
    "facts": "number of facts",
    "tails_per_head": "tails per head",
    "heads_per_tail": "heads per tail",
}


class Uncertainty(Section):
    """The entropies of entities, and what they go along with."""

    id, title = "uncertainty", "Uncertainty"

    def pieces(self, subject: Subject) -> Iterator[Piece]:
        """For each run a picture, correlations, and entities at both ends."""
        for place, name in enumerate(subject.names):
            if len(subject.runs) > 1:
                yield Heading(name)
            try:
                yield from _of(subject.runs[place], place)
            except KgflowError as error:
                yield Note(f"{error}.")


def _of(run: Run, place: int) -> Iterator[Piece]:
    yield Row([_picture(run, place), _associations(run)])
    yield _ends(run)


def _picture(run: Run, place: int) -> Picture:
    def draw(figure: "Figure") -> None:
        entropy_against_degree(figure.subplots(), run)

    return Picture.of(
        f"uncertainty-{place + 1}",
        "Entropy change of every entity against its degree in training.",
        "The entropy of each entity less that of x0, per coordinate: the lower, the surer the "
        "model is of it. Degree counts training facts.",
        draw,
        (5.6, 4.2),
    )


def _associations(run: Run) -> Table:
    rows = [
        [f"{BESIDE[r['beside']]} of {_plural(r['of'])}", _value(r), _p(r["p"]), r["count"]]
        for r in associations(run).to_dicts()
        if r["value"] is not None
    ]
    return Table(
        "What uncertainty goes along with: rank correlations (Spearman, −1 to 1), and for types "
        "the share of the variance of ranks that they explain. p is the chance of so much if "
        "there were nothing.",
        ("beside", "value", "p", "count"),
        rows,
    )


def _plural(of: str) -> str:
    return "entities" if of == "entity" else "relations"


def _value(row: dict[str, Any]) -> str:
    return signed(row["value"]) if row["test"] == "Spearman" else f"{row['value']:.3f}"


def _p(p: float) -> str:
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def _ends(run: Run) -> Piece:
    frame = entity_uncertainty(run)
    return Row(
        [
            _entities(run, "surest", frame.head(SHOWN)),
            _entities(run, "least sure", frame.tail(SHOWN).reverse()),
        ]
    )


def _entities(run: Run, which: str, frame: "pl.DataFrame") -> Table:
    typed = bool(run.data.types)
    rows = [
        [
            row["entity"],
            *([row["type"]] if typed else []),
            _number(row["per_coordinate"]),
            row["degree"],
        ]
        for row in frame.to_dicts()
    ]
    return Table(
        f"What the model is {which} of: entropy change in nats per coordinate, and degree.",
        ("entity", *(["type"] if typed else []), "change", "degree"),
        rows,
    )


def _number(value: float) -> str:
    return "−∞" if value == float("-inf") else signed(value)
