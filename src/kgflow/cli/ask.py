"""kgflow ask."""

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar

import typer

from kgflow.cli.options import Device, Json, RunPath, TsvOut, option, option_groups
from kgflow.cli.output import check_writable, show_json, table, write_tsv

if TYPE_CHECKING:
    from kgflow.queries.engine import AskOptions, QueryEngine
    from kgflow.queries.prediction_sets import QueryPredictionSet

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
    beam: int | None = option(
        None, "Number of intermediate entities to follow; by default all, or 512 in large graphs."
    )
    coverage: float | None = option(
        None, "Print a prediction set of new answers with this coverage, such as 0.9."
    )


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

    With --coverage 0.9, print the new answers that contain a missing one with probability 0.9, for
    queries of this shape that have one.

    Example: kgflow ask runs/world 'France borders ?x . ?x has_currency ?c'
    """
    from kgflow.queries.answers import QueryAnswers
    from kgflow.queries.engine import AskOptions
    from kgflow.runs.run import Run

    values = asdict(answering)
    coverage = values.pop("coverage")
    options = AskOptions(**values)
    if out is not None:
        check_writable(out)
    engine = Run.open(run, device).queries
    found = (
        engine.ask(query, options) if coverage is None else _set(engine, query, coverage, options)
    )
    answers = found if isinstance(found, QueryAnswers) else found.answers
    if out is not None:
        write_tsv(out, answers.frame)
    if json:
        show_json(found.to_dict())
    elif out is None:
        rows = [
            [one.rank, one.answer, one.probability, one.known, str(one.witness)]
            for one in answers.answers
        ]
        table(query, COLUMNS, rows[: options.k])
        if len(rows) > options.k:
            print(f"… and {len(rows) - options.k:,} more (all with --json or --out)")
        print(found)


def _set(
    engine: "QueryEngine", query: str, coverage: float, options: "AskOptions"
) -> "QueryPredictionSet":
    from kgflow.cli.progress import progress_bar

    with progress_bar("held-out queries") as progress:
        return engine.prediction_set(query, coverage, options, progress)
