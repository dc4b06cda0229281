"""Export of a run with a model card, ready to be shared."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

from pydantic import Field

from kgflow.analysis.comparison import LEVEL, RESAMPLES, Comparison, bootstrap
from kgflow.config import Experiment, dump
from kgflow.data import SPLITS
from kgflow.evaluation import Evaluation
from kgflow.export.base import DirectoryFormat
from kgflow.runs.run import Run
from kgflow.runs.store import CALIBRATION, model_digest

CARD = "README.md"
LEFT_OUT = ("checkpoint", "tensorboard", CARD)
"""Files of a run that are not shared: the state to resume from, logs, and an older card."""
HITS = (1, 3, 10)
USE = """```python
import kgflow

run = kgflow.open("{directory}")
print(run.predict(head={head!r}, relation={relation!r}, k=5))
```

```sh
kgflow serve {directory}
```
"""


class ModelCard(DirectoryFormat):
    """The run, which `kgflow.open` opens, and a README.md that describes it.

    The metrics are computed again, with bootstrap intervals; the state of the optimizer is left
    out, so the copy cannot be trained further.
    """

    name = "model-card"
    summary = "the run itself with a README.md: data, metrics, settings, provenance, limits"
    license: Annotated[str | None, Field(description="Licence of the model, by its SPDX id.")] = (
        None
    )

    def fill(self, run: Run, path: Path) -> None:
        for file in sorted(run.directory.iterdir()):
            if file.name in LEFT_OUT or file.name.startswith("."):
                continue
            if file.is_dir():
                shutil.copytree(file, path / file.name)
            else:
                shutil.copy2(file, path / file.name)
        text = "\n".join(self.lines(run, path.name)).strip() + "\n"
        (path / CARD).write_text(text, encoding="utf-8")

    def lines(self, run: Run, directory: str) -> Iterator[str]:
        """Yield the paragraphs of the card."""
        model, data = run.config.model, run.data
        tags = ["knowledge-graph", "knowledge-graph-embedding", "link-prediction", model.name]
        licence = f"license: {self.license.lower()}\n" if self.license else ""
        yield f"---\nlibrary_name: kgflow\ntags: {json.dumps(tags)}\n{licence}---\n"
        yield f"# {model.name} on {data.name}\n"
        yield (
            f"A knowledge graph embedding: {len(data.entities):,} entities and "
            f"{len(data.relations):,} relations, for the prediction of missing facts. "
            f"Made with kgflow {run.config.run.kgflow}.\n"
        )
        yield "## How to open\n"
        head, relation = _example(run)
        yield USE.format(directory=directory, head=head, relation=relation)
        for title, contents in (
            ("Data", _data),
            ("Metrics", _metrics),
            ("Probabilities", _probabilities),
            ("Settings", _settings),
            ("Provenance", _provenance),
            ("Limits", _limits),
        ):
            yield f"## {title}\n"
            yield from contents(run)
            yield ""


def _example(run: Run) -> tuple[str, str]:
    facts = run.data.test if len(run.data.test) else run.data.train
    return run.data.label(int(facts.h[0])), run.data.relations[int(facts.r[0])]


def _data(run: Run) -> Iterator[str]:
    data = run.data
    yield "| | |\n|---|---|"
    for split in SPLITS:
        yield f"| {split} facts | {len(data.split(split)):,} |"
    yield f"| entities with a label | {len(data.labels):,} |"
    yield f"| entities with a type | {len(data.types):,} |"
    yield f"| confidences of facts | {'yes' if data.weighted else 'no'} |"


def _metrics(run: Run) -> Iterator[str]:
    yield (
        f"Filtered ranks of head and tail queries, ties counted realistically; in brackets the "
        f"{LEVEL:.0%} interval of {RESAMPLES:,} bootstrap samples of facts. The epoch was chosen "
        "on valid.\n"
    )
    yield "| split | facts | MRR | Hits@1 | Hits@3 | Hits@10 | AMRI |\n" + "|---" * 7 + "|"
    found = [split for split in SPLITS[1:] if len(run.data.split(split))]
    for split in found:
        yield _row(run.evaluate(split), len(run.data.split(split)))
    if "test" not in found:
        yield "\nThere are no test facts: nothing here measures the model on facts it never saw."


def _row(evaluation: Evaluation, facts: int) -> str:
    """Return a row of the table; both queries of a fact are in the same samples."""
    ranks = Comparison(evaluation.ranking, evaluation.ranking).rank[0]
    cells = [bootstrap((1 / ranks).mean(1)), *(bootstrap((ranks <= k).mean(1)) for k in HITS)]
    texts = (f"{cell.mean:.3f} [{cell.low:.3f}, {cell.high:.3f}]" for cell in cells)
    amri = evaluation["realistic"]["amri"]
    return f"| {evaluation.split} | {facts:,} | {' | '.join(texts)} | {amri:.3f} |"


def _probabilities(run: Run) -> Iterator[str]:
    if not (run.directory / CALIBRATION).is_file():
        yield "Not calibrated: probabilities are those of the loss. Run `kgflow calibrate` first."
        return
    yield (
        "Calibrated on validation facts. A probability assumes that the graph lacks as many facts "
        "as valid has."
    )
    if len(run.data.test):
        after = run.reliability("test")["after"]
        yield (
            f"\nOn test: Brier score {after['brier']:.4g}, log loss {after['log_loss']:.4g}, "
            f"ECE {after['ece']:.4g} (sums over the candidates of a query)."
        )


def _settings(run: Run) -> Iterator[str]:
    if not run.config.model.members:
        yield "As experiment.toml, `kgflow train --config experiment.toml` repeats the training:\n"
    experiment = Experiment.model_validate(run.config.model_dump(exclude={"run"}))
    yield f"```toml\n{dump(experiment).decode().strip()}\n```"


def _provenance(run: Run) -> Iterator[str]:
    history, info = run.history, run.config.run
    yield "| | |\n|---|---|"
    if run.config.model.members:
        yield f"| ensemble of | {', '.join(m.model.name for m in run.config.model.members)} |"
    if history:
        seconds = sum(record["seconds"] for record in history)
        yield f"| epochs | {len(history)}, of which {run.best_epoch} is used |"
        yield f"| seconds of training | {seconds:,.0f} |"
    yield f"| SHA-256 of the model | `{model_digest(run.directory)}` |"
    yield f"| SHA-256 of the data | `{info.data_digest}` |"
    yield f"| kgflow | {info.kgflow}, format {info.format} |"
    if info.plugins:
        yield f"| plugins, needed to open it | {', '.join(info.plugins)} |"


def _limits(run: Run) -> Iterator[str]:
    data = run.data
    unseen = int((~data.train.entity_mask(len(data.entities))).sum())
    yield "- Answers are entities of the graph above; others are unknown to the model."
    if unseen:
        yield f"- {unseen:,} entities do not occur in training: their scores mean nothing."
    yield "- Metrics are means over this graph; `kgflow evaluate --by relation` shows the spread."
    yield "- What the graph lacks or gets wrong systematically, the predictions repeat."
    yield "- A predicted fact is a candidate to be checked, with its probability, and no evidence."
    yield "- The state of the optimizer is not included: the training cannot be resumed."
