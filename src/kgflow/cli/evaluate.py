"""kgflow evaluate."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer

from kgflow.cli.options import (
    Device,
    Json,
    PredictionSetOptions,
    RunPath,
    Split,
    option,
    option_groups,
)
from kgflow.cli.output import check_writable, print_note, show_json, table, write_tsv
from kgflow.errors import KgflowError

if TYPE_CHECKING:
    import polars as pl

    from kgflow.data import Triples
    from kgflow.evaluation import Ranking
    from kgflow.runs.run import Run

METRICS = ("mrr", "mr", "hits@1", "hits@3", "hits@10", "amr", "amri")
POLICIES = ("optimistic", "realistic", "pessimistic")


@dataclass(frozen=True)
class RankingOptions:
    """Groups, filter and file of ranks."""

    panel: ClassVar[str] = "Ranking"

    by: str | None = option(None, "Group the metrics by relation, side or category.")
    ranks: Path | None = option(None, "Write the rank of each query to a TSV file.")
    known: Path | None = option(None, "File of additional known facts to filter out.", "--filter")


@option_groups
def evaluate(
    run: RunPath,
    ranking: RankingOptions,
    sets: PredictionSetOptions,
    split: Split = "test",
    confidence: Annotated[
        bool,
        typer.Option(
            "--confidence",
            help="Compute nDCG and the errors of predicted confidences instead of ranking metrics.",
        ),
    ] = False,
    device: Device = "cpu",
    json: Json = False,
) -> None:
    """Compute filtered ranking metrics of a run, such as MRR and hits@10, for three tie policies.

    With --coverage 0.9, also measure the coverage and the size of prediction sets.

    Example: kgflow evaluate runs/umls --split test --by relation
    """
    from kgflow.cli.progress import progress_bar
    from kgflow.runs.run import Run

    _check(ranking, sets, confidence)
    opened, wanted = Run.open(run, device), (sets.by_relation, sets.nonconformity)
    if confidence:
        _confidence(opened, split, sets.coverage, json)
        return
    if sets.coverage is not None:
        opened.conformal(sets.coverage, *wanted)  # fails before the evaluation
    facts = _facts(opened, ranking.known) if ranking.known else None
    with progress_bar("ranking") as progress:
        result = opened.evaluate(split, ranking.by, facts, progress)
    if ranking.ranks is not None:
        write_tsv(ranking.ranks, _rank_table(opened, result.ranking))
    found = result.to_dict()
    if sets.coverage is not None:
        with progress_bar("prediction sets") as progress:
            measured = opened.coverage(split, sets.coverage, *wanted, progress)
        names = opened.data.relations.names if ranking.by == "relation" else ()
        found["coverage"] = measured.to_dict(names)
    if json:
        show_json(found)
    else:
        _show_all(split, ranking.by, found)


def _check(ranking: RankingOptions, sets: PredictionSetOptions, confidence: bool) -> None:
    others = (ranking.by, ranking.ranks, ranking.known, sets.nonconformity)
    if confidence and (sets.by_relation or any(value is not None for value in others)):
        raise KgflowError(
            "--confidence cannot be used with --by, --ranks, --filter, --by-relation or"
            " --nonconformity"
        )
    if sets.coverage is not None and ranking.known:
        raise KgflowError("--filter cannot be used with --coverage: prediction sets do not use it")
    if ranking.ranks is not None:
        check_writable(ranking.ranks)


def _show_all(split: str, by: str | None, found: dict[str, Any]) -> None:
    show({split: found})
    counts = f"{found['answers']:,} queries, {found['untrained']:,} of them"
    print(f"{counts} with an entity that is not in the training data")
    if by:
        groups = found["by"].items()
        rows = [[name, g["count"], *(g["realistic"][n] for n in METRICS)] for name, g in groups]
        table(f"{split} by {by} (realistic)", [by, "queries", *METRICS], rows)
    if "coverage" in found:
        _show_coverage(found["coverage"])


def _show_coverage(found: dict[str, Any]) -> None:
    if "by" in found:
        columns = ("count", "measured", "mean_size", "median_size")
        rows = [[name, *(group[c] for c in columns)] for name, group in found["by"].items()]
        titles = ("relation", "queries", "coverage", "mean size", "median size")
        table(f"prediction sets with coverage {found['nominal']:g}", titles, rows)
    size = found["size"]
    print(
        f"prediction sets: measured coverage {found['measured']:.4f} on {found['answers']:,} "
        f"queries, nominal coverage {found['nominal']:g}, 99 % interval {found['low']:.4f} to "
        f"{found['high']:.4f}\n"
        f"set size: mean {size['mean']:,.1f}, median {size['median']:,.0f}, maximum "
        f"{size['largest']:,}; nonconformity score '{found['nonconformity']}'; mean gap of "
        f"relations and sides {found['relation_gap']:.4f}; calibration set of "
        f"{found['held_out']:,} answers, {found['own_thresholds']} relations and sides with "
        "their own thresholds"
    )


def show(metrics: dict[str, Any]) -> None:
    """Print the metrics of splits, one row per tie policy."""
    rows = [
        [split, policy, *(found[policy][name] for name in METRICS)]
        for split, found in metrics.items()
        for policy in POLICIES
    ]
    table("filtered ranking metrics", ["split", "ties", *METRICS], rows)


def _confidence(run: "Run", split: str, coverage: float | None, json: bool) -> None:
    from kgflow.cli.progress import progress_bar

    if coverage is not None and split != "test":
        raise KgflowError(f"intervals are calibrated on validation facts: take test, not {split}")
    with progress_bar("ranking") as progress:
        found = run.evaluate_confidence(split, progress)
    intervals = None if coverage is None else run.interval_coverage(coverage).to_dict()
    if json:
        extra = {} if intervals is None else {"intervals": intervals}
        show_json({"split": split} | found.to_dict() | extra)
        return
    named = ("direct", "mapped", "fitted", "constant")
    pairs = [(name, getattr(found, name)) for name in named]
    rows = [[name, *errors] for name, errors in pairs if errors is not None]
    table(f"confidence of {found.facts:,} {split} facts", ["predicted", "MSE", "MAE"], rows)
    gains = [["linear", found.linear], ["exponential", found.exponential]]
    table(f"nDCG of {found.queries:,} queries (h, r, ?)", ["gain", "nDCG"], gains)
    ranked = [["all", *found.tails], ["0.7 or more", *found.high]]
    table("tails, filtered", ["confidence", "facts", "mrr", "hits@1", "hits@10"], ranked)
    print("direct: σ(margin + score); mapped: monotone regression fitted on the validation facts;")
    print("fitted: regression on scores and training confidences; constant: mean confidence;")
    print("gain: confidences of all known facts of a query")
    if intervals is not None:
        print(
            f"intervals: measured coverage {intervals['measured']:.4f}, nominal coverage "
            f"{intervals['nominal']:g}; mean width {intervals['mean_width']:.4f}; "
            f"{intervals['held_out']:,} held-out facts"
        )


def _facts(run: "Run", path: Path) -> "Triples":
    from kgflow.data import Triples, read_triples

    frame = read_triples(path)
    e, r = set(run.data.entities), set(run.data.relations)
    rows = [x[:3] for x in frame.iter_rows() if x[0] in e and x[1] in r and x[2] in e]
    if len(rows) < len(frame):
        print_note(f"note: {len(frame) - len(rows):,} facts of {path} are ignored: unknown names")
    heads, relations, tails = zip(*rows, strict=True) if rows else ((), (), ())
    ids = run.data.entities.ids
    return Triples(ids(heads), run.data.relations.ids(relations), ids(tails))


def _rank_table(run: "Run", ranking: "Ranking") -> "pl.DataFrame":
    import polars as pl

    e, r = pl.Series(run.data.entities.names), pl.Series(run.data.relations.names)
    entity, answer = e.gather(ranking.h), e.gather(ranking.t)
    tail = pl.Series(ranking.side) == "tail"
    return pl.DataFrame(
        {
            "head": entity.zip_with(tail, answer),
            "relation": r.gather(ranking.r % ranking.relations),
            "tail": answer.zip_with(tail, entity),
            "side": ranking.side,
            **{policy: ranking.rank(policy) for policy in POLICIES},
            "candidates": ranking.candidates,
        }
    )
