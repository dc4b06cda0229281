"""kgflow predict."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kgflow.cli.output import (
    Adaptive,
    ByRelation,
    Coverage,
    Device,
    Json,
    RunPath,
    check_coverage_flags,
    check_writable,
    frame_rows,
    print_note,
    show_json,
    table,
)
from kgflow.errors import KgflowError

if TYPE_CHECKING:
    import polars as pl

    from kgflow.analysis import Reason
    from kgflow.runs.answers import TripleQuery
    from kgflow.runs.prediction_set import PredictionSet
    from kgflow.runs.predictor import Predictor
    from kgflow.runs.run import Run

SHOWN = ("rank", "answer", "score", "probability", "uncertainty", "known")
LISTED = 10
"""Names in a note, at most."""


def predict(
    run: RunPath,
    head: Annotated[str | None, typer.Option(help="The head's name or label.")] = None,
    relation: Annotated[str | None, typer.Option(help="The relation's name.")] = None,
    tail: Annotated[str | None, typer.Option(help="The tail's name or label.")] = None,
    file: Annotated[
        Path | None,
        typer.Option(help="Many questions: head TAB relation TAB tail, with ? for what is asked."),
    ] = None,
    k: Annotated[int, typer.Option("-k", help="Answers to each question.")] = 10,
    new: Annotated[bool, typer.Option("--new", help="Leave out known facts.")] = False,
    type_: Annotated[
        list[str] | None, typer.Option("--type", help="Only entities of this type (repeatable).")
    ] = None,
    explain: Annotated[
        int, typer.Option(min=0, help="Say why, for this many of the best answers to each.")
    ] = 0,
    coverage: Coverage = None,
    by_relation: ByRelation = False,
    adaptive: Adaptive = False,
    out: Annotated[Path | None, typer.Option(help="Write the answers here, TSV.")] = None,
    device: Device = "cpu",
    json: Json = False,
) -> None:
    """Ranked answers with score, probability and uncertainty; give two of the three names.

    Reasons are the rules, believed by the model and held by the graph, that lead from training
    facts to an answer, and the training facts most like it.

    With --coverage 0.9, instead of the k best, the set of answers that holds one that is not known
    yet with probability 0.9; known answers are left out, and -k is how many are shown.

    Example: kgflow predict runs/world --head France --relation borders -k 5 --explain 1
    """
    from kgflow.runs.answers import TripleQuery
    from kgflow.runs.run import Run

    if file is not None and (head or relation or tail):
        raise KgflowError("ask in a --file or with --head, --relation and --tail, not both")
    questions = list(_read(file)) if file else [TripleQuery(head, relation, tail)]
    check_coverage_flags(coverage, by_relation, adaptive)
    if coverage is not None and type_:
        raise KgflowError("--type does not go with --coverage: the promise is for all entities")
    if coverage is not None and explain:
        raise KgflowError("--explain does not go with --coverage: ask for the best answers alone")
    if explain and out is not None and not json:
        raise KgflowError("--explain does not go into a table: leave --out out, or add --json")
    if out is not None:
        check_writable(out)
    opened = Run.open(run, device)
    if k < 1:
        raise KgflowError(f"k is {k}: ask for 1 answer or more")
    sets = [] if coverage is None else _sets(opened, questions, coverage, by_relation, adaptive)
    if sets:
        import polars as pl

        numbered = (s.answers.with_columns(query=pl.lit(i)) for i, s in enumerate(sets, start=1))
        answers = pl.concat(numbered)
    else:
        answers = opened.predictor.predict(questions, k, new, type_ or ())
    if out is not None:
        from kgflow.io import write_atomic

        write_atomic(out, answers.write_csv(separator="\t").encode())
    reasons = _reasons(opened, answers, explain) if explain else {}
    if json:
        if sets:
            show_json({"sets": [found.to_dict() for found in sets]})
            return
        rows = answers.to_dicts()
        for place, why in reasons.items():
            rows[place]["reasons"] = [reason.to_dict() for reason in why]
        show_json({"answers": rows})
    elif out is None:
        _show_sets(sets, k) if sets else _show(questions, answers)
        _show_reasons(answers, reasons)
    if not json:
        _warn(opened.predictor, answers)


def _sets(
    run: "Run", questions: list["TripleQuery"], coverage: float, by_relation: bool, adaptive: bool
) -> list["PredictionSet"]:
    from kgflow.cli.progress import progress_bar

    with progress_bar("answering") as progress:
        sets = []
        for done, q in enumerate(questions, start=1):
            asked = (q.head, q.relation, q.tail)
            sets.append(run.prediction_set(*asked, coverage, by_relation, adaptive))
            progress(done / len(questions))
    return sets


def _show_sets(sets: list["PredictionSet"], k: int) -> None:
    for found in sets:
        _show([found.query], found.answers.head(k))
        if len(found) > k:
            print(f"… and {len(found) - k:,} more (--json or --out have all)")
        print(found)


def _read(path: Path) -> Iterator["TripleQuery"]:
    from kgflow.runs.answers import TripleQuery

    try:
        # Names may hold what else Python takes for the end of a line, such as U+2028.
        lines = path.read_bytes().decode("utf-8-sig").split("\n")
    except FileNotFoundError:
        raise KgflowError(f"{path} does not exist") from None
    except UnicodeDecodeError as error:
        raise KgflowError(f"{path} is not UTF-8 at byte {error.start}") from None
    if not any(line.strip() for line in lines):
        raise KgflowError(f"{path} holds no question: write head, relation and ? in its lines")
    for number, line in enumerate((line.removesuffix("\r") for line in lines), start=1):
        if not line.strip():
            continue
        parts = [None if part in ("?", "") else part for part in line.split("\t")]
        if len(parts) != 3 or parts.count(None) != 1:
            raise KgflowError(
                f"{path}:{number}: '{line}' is no question: write head, relation and tail "
                "separated by tabs, with ? for the one that is asked"
            )
        head, relation, tail = parts
        yield TripleQuery(head, relation, tail, source=f"{path}:{number}")


def _show(questions: list["TripleQuery"], answers: "pl.DataFrame") -> None:
    import polars as pl

    for number, q in enumerate(questions, start=1):
        mine = answers.filter(pl.col("query") == number)
        title = f"({q.head or '?'}, {q.relation or '?'}, {q.tail or '?'})"
        table(title, SHOWN, frame_rows(mine, SHOWN))


def _reasons(run: "Run", answers: "pl.DataFrame", count: int) -> dict[int, list["Reason"]]:
    """Why the best answers to each question, by their place in the table."""
    from kgflow.analysis import Explainer
    from kgflow.cli.progress import progress_bar

    explainer, data, found = Explainer(run.predictor), run.data, {}
    best = [(i, row) for i, row in enumerate(answers.to_dicts()) if row["rank"] <= count]
    with progress_bar("reasons") as progress:
        for done, (place, row) in enumerate(best, start=1):
            h, t = (data.entities.id(row[side]) for side in ("head", "tail"))
            found[place] = explainer.explain(h, data.relations.id(row["relation"]), t)
            progress(done / len(best))
    return found


def _show_reasons(answers: "pl.DataFrame", reasons: dict[int, list["Reason"]]) -> None:
    for place, why in reasons.items():
        row = answers.row(place, named=True)
        print(f"why {row['answer']} (rank {row['rank']}):")
        for reason in why:
            print(f"  - {_line(reason)}")
        if not why:
            print("  - no rule leads there, and no other training fact has this relation")


def _line(reason: "Reason") -> str:
    if reason.distance is not None:
        return f"{reason.text} (distance {reason.distance:.2f})"
    return f"{reason.text} (belief {reason.belief:.2f}, confidence {reason.confidence:.2f})"


def _warn(predictor: "Predictor", answers: "pl.DataFrame") -> None:
    unseen = _untrained(predictor, answers)
    if unseen:
        more = f" and {len(unseen) - LISTED:,} more" if len(unseen) > LISTED else ""
        names = ", ".join(unseen[:LISTED]) + more
        print_note(f"note: never seen in training, so not to be relied on: {names}")


def _untrained(predictor: "Predictor", answers: "pl.DataFrame") -> list[str]:
    """What training never saw of questions and answers, as it is shown."""
    data, rows = predictor.data, answers.filter(~answers["trained"])
    entities = data.entities.ids(dict.fromkeys([*rows["head"], *rows["tail"]])).tolist()
    relations = data.relations.ids(dict.fromkeys(rows["relation"])).tolist()
    return [
        *(data.relations[r] for r in relations if not predictor.trained_relations[r]),
        *(data.label(e) for e in entities if not predictor.trained_entities[e]),
    ]
