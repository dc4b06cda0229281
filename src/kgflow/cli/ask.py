"""kgflow ask."""

from dataclasses import asdict, dataclass
from typing import Annotated, ClassVar

import typer

from kgflow.cli.options import Device, Json, RunPath, TsvOut, option, option_groups
from kgflow.cli.output import check_writable, show_json, table, write_tsv

COLUMNS = ("rank", "answer", "probability", "known", "because")


@dataclass(frozen=True)
class Answering:
    """Number of answers, and how they are found."""

    panel: ClassVar[str] = "Answers"

    k: int = option(10, "Number of answers.", "-k")
    new: bool = option(False, "Exclude answers that follow from known facts alone.")
    model_only: bool = option(False, "Judge known facts by the model too, instead of as certain.")
    existential: str = option(
        "max", "Probability over intermediate entities: that of the best one (max), or noisy-or."
    )
    method: str = option(
        "beam", "beam: from entity to entity; compose: a chain of relations as one function."
    )
    beam: int = option(512, "Number of intermediate entities to follow in large graphs.")


@option_groups
def ask(
    run: RunPath,
    query: Annotated[str, typer.Argument(help="Query, such as 'France borders ?x'.")],
    answering: Answering,
    out: TsvOut = None,
    device: Device = "cpu",
    json: Json = False,
) -> None:
    """Answer a query of several hops, with probabilities and the facts that lead to each answer.

    Queries are patterns of SPARQL: 'head relation tail' separated by dots, with variables such as
    ?x, UNION, FILTER NOT EXISTS and MINUS. Names with spaces are quoted. The answers are those of
    the last variable, or of SELECT ?x.

    Example: kgflow ask runs/world 'France borders ?x . ?x has_currency ?c'
    """
    from kgflow.queries import AskOptions
    from kgflow.runs.run import Run

    options = AskOptions(**asdict(answering))
    if out is not None:
        check_writable(out)
    found = Run.open(run, device).queries.ask(query, options)
    if out is not None:
        write_tsv(out, found.frame)
    if json:
        show_json(found.to_dict())
    elif out is None:
        rows = [
            [one.rank, one.answer, one.probability, one.known, str(one.witness)]
            for one in found.answers
        ]
        table(query, COLUMNS, rows)
        print(found)
