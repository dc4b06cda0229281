"""kgflow predict."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from kgflow.cli.options import (
    Device,
    Json,
    PredictionSetOptions,
    RunPath,
    TsvOut,
    option,
    option_groups,
)
from kgflow.cli.output import check_writable, frame_rows, print_note, show_json, table, write_tsv
from kgflow.errors import KgflowError

if TYPE_CHECKING:
    import polars as pl

    from kgflow.analysis import Explanation
    from kgflow.runs.answers import TripleQuery
    from kgflow.runs.prediction_set import PredictionSet
    from kgflow.runs.predictor import Predictor
    from kgflow.runs.run import Run

COLUMNS = ("rank", "answer", "score", "probability", "trust", "certainty", "known")
MAX_NAMES = 10
"""Largest number of names in a note."""


@dataclass(frozen=True)
class QueryOptions:
    """One query, or a file of queries."""

    panel: ClassVar[str] = "Query"

    head: str | None = option(None, "Name or label of the head.")
    relation: str | None = option(None, "Name of the relation.")
    tail: str | None = option(None, "Name or label of the tail.")
    file: Path | None = option(
        None, "File of queries: head TAB relation TAB tail, with ? for the unknown one."
    )

    def queries(self) -> list["TripleQuery"]:
        """Return the queries."""
        from kgflow.runs.answers import TripleQuery

        if self.file is None:
            return [TripleQuery(self.head, self.relation, self.tail)]
        if self.head or self.relation or self.tail:
            raise KgflowError("use either --file or --head, --relation and --tail")
        return list(_read(self.file))


@dataclass(frozen=True)
class AnswerOptions:
    """Number and kind of answers."""

    panel: ClassVar[str] = "Answers"

    k: int = option(10, "Number of answers to each query.", "-k")
    new: bool = option(False, "Exclude known facts.")
    types: list[str] | None = option(None, "Type of the answers (repeatable).", "--type")
    conditional: bool = option(
        False, "Also show the probability that an answer is right if one is missing."
    )
    entropy: bool = option(False, "Also show the entropy changes of answers, in nats.")
    explain: int = option(0, "Explain this many of the best answers to each query.", min=0)


@option_groups
def predict(
    run: RunPath,
    query: QueryOptions,
    wanted: AnswerOptions,
    sets: PredictionSetOptions,
    out: TsvOut = None,
    device: Device = "cpu",
    json: Json = False,
) -> None:
    """Predict the missing head, relation or tail of a fact, from the other two.

    Answers have a score, the probability that the fact is true (none for known facts), and a
    certainty: a percentile among entities of the same type or degree. The probability supposes
    that the graph lacks as many facts as validation has. Explanations are rules that imply an
    answer from training facts, and similar training facts.

    With --coverage 0.9, compute prediction sets instead of the k best answers: a set contains the
    missing answer with probability 0.9. Known answers are excluded, and -k answers are printed.

    Example: kgflow predict runs/world --head France --relation borders -k 5 --explain 1
    """
    from kgflow.runs.run import Run

    queries = query.queries()
    _check(wanted, sets, out, json)
    opened = Run.open(run, device)
    found = [] if sets.coverage is None else _sets(opened, queries, sets)
    answers = (
        _concat(found)
        if found
        else opened.predictor.predict(
            queries, wanted.k, wanted.new, wanted.types or (), wanted.entropy
        )
    )
    if out is not None:
        write_tsv(out, answers)
    explanations = _explain(opened, answers, wanted.explain) if wanted.explain else {}
    if json and found:
        show_json({"prediction_sets": [one.to_dict() for one in found]})
    elif json:
        rows = answers.to_dicts()
        for i, reasons in explanations.items():
            rows[i]["explanations"] = [reason.to_dict() for reason in reasons]
        show_json({"answers": rows})
    elif out is None:
        _show_sets(found, wanted) if found else _show(queries, answers, wanted)
        _show_explanations(answers, explanations)
    if not json:
        _warn(opened.predictor, answers)


def _check(wanted: AnswerOptions, sets: PredictionSetOptions, out: Path | None, json: bool) -> None:
    if wanted.k < 1:
        raise KgflowError(f"k is {wanted.k}: give 1 or more")
    if sets.coverage is not None and wanted.types:
        raise KgflowError(
            "--type cannot be used with --coverage: prediction sets are for all entities"
        )
    if sets.coverage is not None and wanted.entropy:
        raise KgflowError("--entropy cannot be used with --coverage: leave one out")
    if sets.coverage is not None and wanted.explain:
        raise KgflowError("--explain cannot be used with --coverage: leave one out")
    if wanted.explain and out is not None and not json:
        raise KgflowError(
            "--explain cannot be written to a TSV file: leave out --out, or add --json"
        )
    if out is not None:
        check_writable(out)


def _sets(
    run: "Run", queries: list["TripleQuery"], options: PredictionSetOptions
) -> list["PredictionSet"]:
    from kgflow.cli.progress import progress_bar

    kind = (options.coverage or 0.0, options.by_relation, options.nonconformity)
    with progress_bar("prediction sets") as progress:
        sets = []
        for done, q in enumerate(queries, start=1):
            sets.append(run.prediction_set(q.head, q.relation, q.tail, *kind))
            progress(done / len(queries))
    return sets


def _concat(sets: list["PredictionSet"]) -> "pl.DataFrame":
    import polars as pl

    return pl.concat(s.answers.with_columns(query=pl.lit(i)) for i, s in enumerate(sets, start=1))


def _show_sets(sets: list["PredictionSet"], wanted: AnswerOptions) -> None:
    k = wanted.k
    for found in sets:
        _show([found.query], found.answers.head(k), wanted)
        if len(found) > k:
            print(f"… and {len(found) - k:,} more (all with --json or --out)")
        print(found)


def _read(path: Path) -> Iterator["TripleQuery"]:
    from kgflow.runs.answers import TripleQuery

    try:
        # str.splitlines would split names at characters such as U+2028.
        lines = path.read_bytes().decode("utf-8-sig").split("\n")
    except FileNotFoundError:
        raise KgflowError(f"{path} does not exist") from None
    except UnicodeDecodeError as error:
        raise KgflowError(f"{path} is not UTF-8 at byte {error.start}") from None
    if not any(line.strip() for line in lines):
        raise KgflowError(f"{path} has no query: write head, relation and ? in its lines")
    for number, line in enumerate((line.removesuffix("\r") for line in lines), start=1):
        if not line.strip():
            continue
        parts = [None if part in ("?", "") else part for part in line.split("\t")]
        if len(parts) != 3 or parts.count(None) != 1:
            raise KgflowError(
                f"{path}:{number}: '{line}' is no query: write head, relation and tail "
                "separated by tabs, with ? for the unknown one"
            )
        head, relation, tail = parts
        yield TripleQuery(head, relation, tail, source=f"{path}:{number}")


def _show(queries: list["TripleQuery"], answers: "pl.DataFrame", wanted: AnswerOptions) -> None:
    import polars as pl

    asked = {"conditional_probability": wanted.conditional, "entropy_change": wanted.entropy}
    columns = [*COLUMNS, *(name for name, shown in asked.items() if shown)]

    for number, q in enumerate(queries, start=1):
        own = answers.filter(pl.col("query") == number)
        title = f"({q.head or '?'}, {q.relation or '?'}, {q.tail or '?'})"
        table(title, columns, frame_rows(own, columns))


def _explain(run: "Run", answers: "pl.DataFrame", count: int) -> dict[int, list["Explanation"]]:
    """Explain the best answers to each query, by row of the table."""
    from kgflow.analysis import Explainer
    from kgflow.cli.progress import progress_bar

    explainer, data, found = Explainer(run.predictor), run.data, {}
    best = [(i, row) for i, row in enumerate(answers.to_dicts()) if row["rank"] <= count]
    with progress_bar("explanations") as progress:
        for done, (i, row) in enumerate(best, start=1):
            h, t = (data.entities.id(row[side]) for side in ("head", "tail"))
            found[i] = explainer.explain(h, data.relations.id(row["relation"]), t)
            progress(done / len(best))
    return found


def _show_explanations(
    answers: "pl.DataFrame", explanations: dict[int, list["Explanation"]]
) -> None:
    for i, found in explanations.items():
        row = answers.row(i, named=True)
        print(f"explanation of {row['answer']} (rank {row['rank']}):")
        for explanation in found:
            print(f"  - {_line(explanation)}")
        if not found:
            print("  - no rule implies it, and no other training fact has this relation")


def _line(explanation: "Explanation") -> str:
    if explanation.distance is not None:
        return f"{explanation.text} (distance {explanation.distance:.2f})"
    return (
        f"{explanation.text} (confidence {explanation.confidence:.2f}, "
        f"model confidence {explanation.model_confidence:.2f})"
    )


def _warn(predictor: "Predictor", answers: "pl.DataFrame") -> None:
    from kgflow.runs.predictor import UNTRAINED

    for note in answers["note"].drop_nulls().unique(maintain_order=True):
        if note != UNTRAINED:
            print_note(f"note: {note}")
    unseen = _untrained(predictor, answers)
    if unseen:
        more = f" and {len(unseen) - MAX_NAMES:,} more" if len(unseen) > MAX_NAMES else ""
        names = ", ".join(unseen[:MAX_NAMES]) + more
        print_note(f"note: not in the training data, so the scores are unreliable: {names}")


def _untrained(predictor: "Predictor", answers: "pl.DataFrame") -> list[str]:
    """Return the names in queries and answers that are not in the training data."""
    data, rows = predictor.data, answers.filter(~answers["trained"])
    entities = data.entities.ids(dict.fromkeys([*rows["head"], *rows["tail"]])).tolist()
    relations = data.relations.ids(dict.fromkeys(rows["relation"])).tolist()
    return [
        *(data.relations[r] for r in relations if not predictor.trained_relations[r]),
        *(data.label(e) for e in entities if not predictor.trained_entities[e]),
    ]
