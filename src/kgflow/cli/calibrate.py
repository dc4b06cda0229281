"""kgflow calibrate."""

from typing import Any

from kgflow.cli.output import Device, Json, RunPath, show_json, table

MEASURES = {"brier": "Brier score", "log_loss": "log loss", "ece": "ECE"}
BINS = ("probability", "frequency", "candidates", "true")


def calibrate(run: RunPath, device: Device = "cpu", json: Json = False) -> None:
    """Calibrate the probabilities of a run on validation facts, and evaluate them on test facts.

    Training does this at its end; use this command for runs without calibration. A calibrated
    probability is the share of true answers among candidates with the same score; candidates are
    all entities that are not known answers.

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
        _show(result)


def _show(result: dict[str, Any]) -> None:
    rows = [
        [title, result["before"][name], result["after"][name], *result["difference"][name]]
        for name, title in MEASURES.items()
    ]
    title = f"calibration on {result['answers']:,} test queries (sum over candidates)"
    table(title, ["measure", "before", "after", "difference", "std. error (bootstrap)"], rows)
    bins = [[row[name] for name in BINS] for row in result["after"]["bins"]]
    table("reliability after calibration", BINS, bins)
