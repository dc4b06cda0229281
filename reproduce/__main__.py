"""Command line: `python -m reproduce STUDY [options]`."""

import argparse
import json
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kgflow.errors import KgflowError, suggest
from kgflow.io import write_atomic
from reproduce.batches import BatchesStudy
from reproduce.benchmarks import BenchmarksStudy
from reproduce.confidence import ConfidenceStudy
from reproduce.ensembles import EnsemblesStudy
from reproduce.figures import FiguresStudy
from reproduce.paper import Table1Study, Table2Study, Table5Study
from reproduce.prediction_sets import PredictionSetsStudy
from reproduce.presets import PresetsStudy
from reproduce.probabilities import ProbabilitiesStudy
from reproduce.questions import QuestionsStudy
from reproduce.results import Results
from reproduce.running import collect, run_plans
from reproduce.small import SmallStudy
from reproduce.study import SCALES, Options, Study
from reproduce.uncertainty import UncertaintyStudy
from reproduce.updates import UpdatesStudy

STUDIES: dict[str, type[Study]] = {
    study.name: study
    for study in (
        SmallStudy,
        FiguresStudy,
        UncertaintyStudy,
        ProbabilitiesStudy,
        ConfidenceStudy,
        Table1Study,
        Table2Study,
        Table5Study,
        BenchmarksStudy,
        BatchesStudy,
        EnsemblesStudy,
        PredictionSetsStudy,
        PresetsStudy,
        QuestionsStudy,
        UpdatesStudy,
    )
}


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    words = argparse.ArgumentParser(
        prog="python -m reproduce",
        description="Train the models of a study and show them on one page. Finished runs and"
        " stored results are not run again.",
        epilog="Example: python -m reproduce benchmarks --seeds 3 --no-train",
    )
    add = words.add_argument
    add("study", help=f"Name of the study: {', '.join(STUDIES)}.")
    add("--model", action="append", default=[], help="Only rows of this model (repeatable).")
    add("--data", action="append", default=[], help="Only rows of this graph (repeatable).")
    add("--row", action="append", default=[], help="Only the row with this id (repeatable).")
    add("--scale", default="paper", help=f"Dimension n: {', '.join(SCALES)}; tables only.")
    add("--seeds", type=int, default=1, help="Number of seeds; tables and benchmarks only.")
    add("--out", type=Path, default=Path("runs/reproduce"), help="Directory of the runs.")
    add("--results", type=Path, default=Path("results"), help="Directory of stored results.")
    add("--store", action="store_true", help="Store finished runs in the directory of results.")
    add("--no-train", action="store_true", help="Show what is finished or stored; run nothing.")
    add("--page", type=Path, help="Markdown file to write; pictures go to a directory beside it.")
    add("--jobs", type=int, default=1, help="Number of processes at a time.")
    add("--json", action="store_true", help="Print one JSON object and nothing else.")
    return words


def main(words: Sequence[str] | None = None) -> int:
    """Run the command line; the exit code is 0, or 2 for bad usage or input."""
    chosen = parser().parse_args(words)
    try:
        _run(chosen)
    except KgflowError as error:
        print(f"reproduce: {error}", file=sys.stderr)
        return 2
    return 0


def _run(chosen: argparse.Namespace) -> None:
    study, page = _study(chosen), chosen.page
    if page is not None and (not page.absolute().parent.is_dir() or page.is_dir()):
        raise KgflowError(f"{page} cannot be written: give a file in a directory that exists")
    if chosen.store and not study.storable:
        raise KgflowError(f"{study.name} needs the trained models: leave --store out")
    results, plans = Results(chosen.results), study.plans()
    if chosen.no_train:
        found = list(collect(plans, chosen.out, results))
    else:
        found = run_plans(plans, chosen.out, results, max(1, chosen.jobs), _say)
    found = [study.complete(result) for result in found]
    for result in found:
        if result.skipped:
            _say(f"{result.plan.name} skipped: {result.skipped}")
        elif chosen.store and result.record is not None:
            results.add(result.record)
    shown = study.show(found)
    if page is not None:
        write_atomic(page, study.page(shown, found).encode())
    print(json.dumps(_plain(shown.values), indent=2) if chosen.json else shown.text)


def _study(chosen: argparse.Namespace) -> Study:
    if chosen.study not in STUDIES:
        known = suggest(chosen.study, STUDIES) or f"; known are {', '.join(STUDIES)}"
        raise KgflowError(f"unknown study '{chosen.study}'{known}")
    models, data, rows = (tuple(values) for values in (chosen.model, chosen.data, chosen.row))
    options = Options(models, data, rows, chosen.scale, chosen.seeds)
    pictures = (chosen.page.parent if chosen.page is not None else chosen.out) / chosen.study
    return STUDIES[chosen.study](chosen.out, pictures, options)


def _plain(value: Any) -> Any:  # noqa: ANN401
    """Replace numbers that are not finite by null."""
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _say(text: str) -> None:
    print(text, file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
