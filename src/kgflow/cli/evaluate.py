"""kgflow evaluate."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

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
    print_note,
    show_json,
    table,
)
from kgflow.errors import KgflowError

if TYPE_CHECKING:
    from kgflow.data import Triples
    from kgflow.evaluation import Ranking
    from kgflow.runs.run import Run

NAMES = ("mrr", "mr", "hits@1", "hits@3", "hits@10", "amr", "amri")


def evaluate(
    run: RunPath,
    split: Annotated[str, typer.Option(help="train, valid or test.")] = "test",
    by: Annotated[
        str | None, typer.Option(help="Also for each relation, side or category.")
    ] = None,
    ranks: Annotated[Path | None, typer.Option(help="Write every query's rank here, TSV.")] = None,
    known: Annotated[
        Path | None, typer.Option("--filter", help="A file of further facts to filter out.")
    ] = None,
    confidence: Annotated[
        bool,
        typer.Option("--confidence", help="Errors of predicted confidences, and nDCG, instead."),
    ] = False,
    coverage: Coverage = None,
    by_relation: ByRelation = False,
    adaptive: Adaptive = False,
    device: Device = "cpu",
    json: Json = False,
) -> None:
    """Filtered ranking metrics, with ties won, shared and lost.

    With --coverage 0.9 also how often answer sets that promise it hold the answer.

    Example: kgflow evaluate runs/umls --split test --by relation
    """
    from kgflow.cli.progress import progress_bar
    from kgflow.runs.run import Run

    if confidence and (by or ranks or known or coverage is not None):
        raise KgflowError("--confidence goes with none of --by, --ranks, --filter and --coverage")
    if coverage is not None and known:
        raise KgflowError("--filter does not go with --coverage: sets are made without it")
    if ranks is not None:
        check_writable(ranks)
    check_coverage_flags(coverage, by_relation, adaptive)
    opened = Run.open(run, device)
    if confidence:
        _confidence(opened, split, json)
        return
    if coverage is not None:
        opened.conformal(coverage, by_relation, adaptive)  # refuses before the ranking
    facts = _facts(opened, known) if known else None
    with progress_bar("ranking") as progress:
        result = opened.evaluate(split, by, facts, progress)
    if ranks is not None:
        _write_ranks(ranks, opened, result.ranking)
    found = result.to_dict()
    if coverage is not None:
        with progress_bar("covering") as progress:
            measured = opened.coverage(split, coverage, by_relation, adaptive, progress)
        names = opened.data.relations.names if by == "relation" else ()
        found["coverage"] = measured.to_dict(names)
    if json:
        show_json(found)
        return
    show({split: found})
    about = f"{found['answers']:,} answers"
    print(f"{about}, {found['untrained']:,} of them about an entity unseen in training")
    if by:
        groups = found["by"].items()
        rows = [[name, g["count"], *(g["realistic"][n] for n in NAMES)] for name, g in groups]
        table(f"{split} by {by} (realistic)", [by, "answers", *NAMES], rows)
    if coverage is not None:
        _show_coverage(found["coverage"])


def _show_coverage(found: dict[str, Any]) -> None:
    if "by" in found:
        columns = ("count", "measured", "mean_size", "median_size")
        rows = [[name, *(group[c] for c in columns)] for name, group in found["by"].items()]
        titles = ("relation", "answers", "covered", "mean size", "median size")
        table(f"answer sets of coverage {found['nominal']:g}", titles, rows)
    size = found["size"]
    print(
        f"answer sets hold {found['measured']:.4f} of {found['answers']:,} answers; promised were "
        f"{found['nominal']:g}, and a kept promise measures {found['low']:.4f} to "
        f"{found['high']:.4f} with probability 0.99\n"
        f"{size['mean']:,.1f} answers in a set on average, {size['median']:,.0f} in the median, "
        f"{size['largest']:,} at most; thresholds by {found['held_out']:,} held-out answers, "
        f"{found['own_thresholds']} relations and sides with their own"
    )


def show(metrics: dict[str, Any]) -> None:
    """The metrics of some splits, one row per tie policy."""
    rows = [
        [split, policy, *(found[policy][name] for name in NAMES)]
        for split, found in metrics.items()
        for policy in ("optimistic", "realistic", "pessimistic")
    ]
    table("filtered ranking, both sides", ["split", "ties", *NAMES], rows)


def _confidence(run: "Run", split: str, json: bool) -> None:
    from kgflow.cli.progress import progress_bar

    with progress_bar("ranking") as progress:
        found = run.evaluate_confidence(split, progress)
    if json:
        show_json({"split": split} | found.to_dict())
        return
    named = {"direct": found.direct, "mapped": found.mapped, "constant": found.constant}
    rows = [[name, *errors] for name, errors in named.items() if errors is not None]
    table(f"confidence of {found.facts:,} {split} facts", ["predicted", "MSE", "MAE"], rows)
    gains = [["linear", found.linear], ["exponential", found.exponential]]
    table(f"nDCG of {found.queries:,} queries (h, r, ?)", ["gain", "nDCG"], gains)
    print("direct: σ(margin + score); mapped: by a monotone map fitted on the validation facts;")
    print("constant: their mean confidence; gains: the confidences of all known facts of a query")


def _facts(run: "Run", path: Path) -> "Triples":
    from kgflow.data import Triples, read_triples

    frame = read_triples(path)
    e, r = set(run.data.entities), set(run.data.relations)
    rows = [x[:3] for x in frame.iter_rows() if x[0] in e and x[1] in r and x[2] in e]
    if len(rows) < len(frame):
        print_note(
            f"note: {len(frame) - len(rows):,} facts of {path} name what the run does not know"
        )
    heads, relations, tails = zip(*rows, strict=True) if rows else ((), (), ())
    ids = run.data.entities.ids
    return Triples(ids(heads), run.data.relations.ids(relations), ids(tails))


def _write_ranks(path: Path, run: "Run", ranking: "Ranking") -> None:
    import polars as pl

    from kgflow.io import write_atomic

    e, r = pl.Series(run.data.entities.names), pl.Series(run.data.relations.names)
    asked, answer = e.gather(ranking.h), e.gather(ranking.t)
    tail = pl.Series(ranking.side) == "tail"
    frame = pl.DataFrame(
        {
            "head": asked.zip_with(tail, answer),
            "relation": r.gather(ranking.r % ranking.relations),
            "tail": answer.zip_with(tail, asked),
            "side": ranking.side,
            **{
                policy: ranking.rank(policy)
                for policy in ("optimistic", "realistic", "pessimistic")
            },
            "candidates": ranking.candidates,
        }
    )
    write_atomic(path, frame.write_csv(separator="\t").encode())
