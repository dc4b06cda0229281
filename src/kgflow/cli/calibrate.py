"""kgflow calibrate."""

from typing import Any

from kgflow.cli.output import Device, Json, RunPath, show_json, table

NUMBERS = {"brier": "Brier score", "log_loss": "log loss", "ece": "calibration error"}
BINS = ("probability", "frequency", "candidates", "true")


def calibrate(run: RunPath, device: Device = "cpu", json: Json = False) -> None:
    """Learn from valid what scores mean as probabilities, keep it, and judge it on test.

    Training does this at its end; older runs get it here. A probability is the share of true
    answers among candidates (entities that are no known answers) of such a score.

    Example: kgflow calibrate runs/umls
    """
    from kgflow.cli.progress import progress_bar
    from kgflow.runs.run import Run

    opened = Run.open(run, device)
    with progress_bar("counting valid") as progress:
        learned = opened.calibrate(progress)
    found: dict[str, Any] = {
        "run": run,
        "facts": learned.facts,
        "map": learned.common.kind,
        "own_maps": len(learned.by_relation),
    }
    if len(opened.data.test):
        with progress_bar("counting test") as progress:
            found |= opened.reliability("test", progress)
    if json:
        show_json(found)
        return
    print(
        f"learned from {learned.facts:,} facts of valid: {learned.common.kind} map for all "
        f"relations, {len(learned.by_relation)} with their own"
    )
    if "before" in found:
        _show(found)


def _show(found: dict[str, Any]) -> None:
    rows = [
        [title, found["before"][name], found["after"][name], *found["difference"][name]]
        for name, title in NUMBERS.items()
    ]
    title = f"test: {found['answers']:,} answers, every entity not known to be true a candidate"
    table(title, ["per question", "before", "after", "difference", "± (bootstrap)"], rows)
    bins = [[row[name] for name in BINS] for row in found["after"]["bins"]]
    table("what was said and what came true, after", BINS, bins)
