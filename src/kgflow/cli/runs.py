"""kgflow discover, kgflow calibrate and kgflow ensemble."""

from pathlib import Path
from typing import Annotated, Any

import typer

from kgflow.cli.options import Device, Force, Json, RunPath, TsvOut
from kgflow.cli.output import check_writable, frame_rows, print_note, show_json, table, write_tsv

FACT = (
    "rank",
    "head_label",
    "relation",
    "tail_label",
    "score",
    "probability",
    "trust",
    "certainty",
)
MEASURES = {"brier": "Brier score", "log_loss": "log loss", "ece": "ECE"}
BINS = ("probability", "frequency", "candidates", "true")


def discover(
    run: RunPath,
    k: Annotated[int, typer.Option("-k", help="Number of facts.")] = 100,
    relation: Annotated[
        str | None, typer.Option(help="Name of the only relation to find facts of.")
    ] = None,
    out: TsvOut = None,
    device: Device = "cpu",
    json: Json = False,
) -> None:
    """Find the most probable facts of the whole graph that are not known yet.

    The probability that a fact is true supposes that the graph lacks as many facts as validation
    has. Certainty is that of the tail, a percentile among entities of the same type or degree.

    Example: kgflow discover runs/world -k 20 --relation borders
    """
    from kgflow.runs.run import Run

    if out is not None:
        check_writable(out)
    facts = Run.open(run, device).discover(k, relation)
    if out is not None:
        write_tsv(out, facts)
    if json:
        show_json({"facts": facts.to_dicts()})
    elif out is None:
        titles = [name.removesuffix("_label") for name in FACT]
        table("new facts", titles, frame_rows(facts, FACT))
        if not len(facts):
            print_note(
                "note: all facts are known, or contain a name that is not in the training data"
            )


def calibrate(run: RunPath, device: Device = "cpu", json: Json = False) -> None:
    """Calibrate the probabilities of a run on validation facts, and evaluate them on test facts.

    Training does this at its end; use this command for runs without calibration. Printed are
    probabilities of answers to queries that have an answer missing: the share of true ones among
    candidates with the same score; candidates are all entities that are not known answers.

    Example: kgflow calibrate runs/umls
    """
    from kgflow.cli.progress import progress_bar
    from kgflow.runs.run import Run

    opened = Run.open(run, device)
    with progress_bar("calibrating on valid") as progress:
        calibration = opened.calibrate(progress)
    result: dict[str, Any] = {
        "run": run,
        "facts": calibration.facts,
        "calibrator": calibration.common.kind,
        "relation_calibrators": len(calibration.by_relation),
    }
    if len(opened.data.test):
        with progress_bar("evaluating on test") as progress:
            result |= opened.reliability("test", progress)
    if json:
        show_json(result)
        return
    print(
        f"calibrated on {calibration.facts:,} validation facts: {calibration.common.kind} "
        f"calibrator for all relations, {len(calibration.by_relation)} relations with their own"
    )
    if "before" in result:
        _show_reliability(result)


def _show_reliability(result: dict[str, Any]) -> None:
    rows = [
        [title, result["before"][name], result["after"][name], *result["difference"][name]]
        for name, title in MEASURES.items()
    ]
    title = f"calibration on {result['answers']:,} test queries (sum over candidates)"
    table(title, ["measure", "before", "after", "difference", "std. error (bootstrap)"], rows)
    bins = [[row[name] for name in BINS] for row in result["after"]["bins"]]
    table("reliability after calibration", BINS, bins)


def ensemble(
    runs: Annotated[
        list[Path], typer.Argument(help="Two or more run directories.", metavar="RUN RUN…")
    ],
    out: Annotated[Path, typer.Option(help="Directory of the new run.")],
    force: Force = False,
    device: Device = "cpu",
    json: Json = False,
) -> None:
    """Build an ensemble: a run whose scores are the means of the scores of other runs.

    The runs must have been trained on the same data; models, dimensions and seeds may differ. The
    ensemble is evaluated and calibrated, and works without the other runs. It has no entropies and
    cannot be trained further.

    Example: kgflow ensemble runs/umls-0 runs/umls-1 --out runs/umls-ensemble
    """
    from kgflow.cli.evaluate import show
    from kgflow.runs.ensemble import ensemble as build
    from kgflow.runs.store import check_free

    check_free(out, force)
    run = build(runs, out, force, device)
    names = [part.model.name for part in run.config.model.members]
    if json:
        show_json({"run": run.directory, "models": names} | run.metrics)
        return
    show(run.metrics)
    print(f"ensemble of {', '.join(names)} saved in {run.directory}")
