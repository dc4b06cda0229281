"""Sections on learning curves, data and settings."""

import platform
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from kgflow.analysis.plots.evaluation import learning_curve
from kgflow.analysis.report.content import (
    Content,
    DescriptionList,
    Paragraph,
    Plot,
    SideBySide,
    Table,
)
from kgflow.analysis.report.section import ReportContext, Section, each_run, register
from kgflow.data import Statistics
from kgflow.errors import KgflowError
from kgflow.runs.run import Run

MAX_RELATIONS = 10
"""Largest number of relations in the table of the data."""


@register
class LearningCurve(Section):
    """Learning curve of every run."""

    id, title, order = "learning-curve", "Learning curve", 120

    def contents(self, context: ReportContext) -> Iterator[Content]:
        yield each_run(context, _curve)


def _curve(context: ReportContext, i: int) -> Plot:
    run, name = context.runs[i], context.names[i]
    history = run.history
    if run.config.model.members:
        raise KgflowError(f"{run.directory} is an ensemble: see the reports of its member runs")
    if not history:
        raise KgflowError(f"{run.directory} has no learning curve: no epoch is finished yet")
    seconds = sum(record["seconds"] for record in history)
    return Plot.draw(
        f"learning-curve-{i + 1}",
        f"Training loss and validation MRR of {name} over {len(history)} epochs.",
        f"Training loss (dashed, left axis, logarithmic) and validation MRR (solid, right axis) of "
        f"{name}. The model of epoch {run.best_epoch} of {len(history)} is used. Training took "
        f"{seconds:,.0f} seconds.",
        lambda figure: learning_curve(figure.subplots(), run),
        title=name,
    )


@register
class DataStatistics(Section):
    """Statistics of the data."""

    id, title, order = "data", "Data", 130

    def contents(self, context: ReportContext) -> Iterator[Content]:
        statistics = context.statistics
        yield DescriptionList(
            [
                ("data", statistics.name),
                ("entities", statistics.entities),
                ("relations", statistics.relations),
                ("training facts per entity", _degrees(statistics)),
                ("types", "known" if context.data.types else "not known"),
                ("weighted facts", "yes" if context.data.weighted else "no"),
            ]
        )
        yield _splits(statistics)
        yield _categories(statistics)
        yield _frequent(statistics)


def _degrees(statistics: Statistics) -> str:
    d = statistics.degrees
    return f"{d.min:,} to {d.max:,}, median {d.median:,.0f}, mean {d.mean:,.1f}"


def _splits(statistics: Statistics) -> Table:
    rows = []
    for split, size in statistics.sizes.items():
        unseen, leakage = statistics.unseen.get(split), statistics.leakage.get(split)
        counts = (unseen.entities, unseen.relations, unseen.triples) if unseen else [None] * 3
        shared = statistics.shared.get(f"train+{split}")
        leaked = None if leakage is None else _percent(leakage)
        rows.append([split, size, *counts, shared, leaked])
    return Table(
        "Splits. Unseen entities and relations are not in the training facts. Inverse leakage is "
        "the share of facts whose inverse, by an inverse or symmetric relation, is a training "
        "fact; these facts are easy to predict.",
        ("split", "facts", "unseen entities", "unseen relations", "facts with unseen",
         "also in train", "inverse leakage"),
        rows,
    )  # fmt: skip


def _categories(statistics: Statistics) -> Table:
    relations = Counter(r.category for r in statistics.by_relation)
    facts = Counter[str]()
    for r in statistics.by_relation:
        facts[r.category] += r.count
    total = max(1, sum(facts.values()))
    rows = [
        [name, relations[name], facts[name], _percent(facts[name] / total)]
        for name in sorted(relations)
    ]
    return Table(
        "Relations by category in training: 1-N relations have 1.5 or more tails per head on "
        "average, N-1 relations 1.5 or more heads per tail, N-N relations both.",
        ("category", "relations", "facts", "share of facts"),
        rows,
    )


def _frequent(statistics: Statistics) -> Table:
    order = sorted(statistics.by_relation, key=lambda r: (-r.count, r.name))[:MAX_RELATIONS]
    rows = [
        [
            *(r.name, r.count, r.category, r.tails_per_head, r.heads_per_tail),
            _percent(r.symmetry),
            f"{r.inverse} ({_percent(r.inverse_share)})" if r.inverse is not None else "–",
        ]
        for r in order
    ]
    return Table(
        f"The {len(rows)} most frequent of {statistics.relations:,} relations in training. "
        "Symmetric: share of facts (h, r, t) with a fact (t, r, h). Inverse: other relation s with "
        "the most facts (t, s, h), and their share.",
        ("relation", "facts", "category", "tails per head", "heads per tail", "symmetric",
         "inverse"),
        rows,
    )  # fmt: skip


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


@register
class Settings(Section):
    """Model, settings and provenance of every run."""

    id, title, order = "settings", "Settings", 140

    def contents(self, context: ReportContext) -> Iterator[Content]:
        columns = ("setting", *context.names)
        model, training, provenance = (
            _rows([make(run) for run in context.runs]) for make in (_model, _training, _provenance)
        )
        score = "Model, with the score f(h, r, t) = D(f_r ∘ f_h (x0), f_t (x0))."
        yield SideBySide([Table(score, columns, model), Table("Training.", columns, training)])
        digest = "Runs with the same data digest have the same names, facts and splits."
        yield Table(f"Provenance. {digest}", columns, provenance)
        yield Paragraph(f"This report was computed on {machine()}.")


def _rows(columns: list[dict[str, str]]) -> list[list[str]]:
    keys = dict.fromkeys(key for column in columns for key in column)
    return [[key, *(column.get(key, "–") for column in columns)] for key in keys]


def _model(run: Run) -> dict[str, str]:
    base, config = run.model.base, run.config.model
    card = base.variant(base.options).card
    parameters = sum(p.numel() for p in run.model.parameters())
    return {
        "model": config.name,
        **_members(run),
        "x0": str(config.options.get("x0", card.x0)),
        "f_h, f_t": card.f_entity,
        "f_r": card.f_relation,
        "D": card.D,
        "dimension n": f"{config.dim:,}",
        "parameters per entity": f"{run.model.entity.weight.shape[1]:,}",
        "parameters": f"{parameters:,}",
        **({"entity bias": "yes"} if config.bias else {}),
        **({} if config.inverse_relations else {"inverse relations": "no"}),
        **({"bidirectional scoring": "yes"} if config.bidirectional else {}),
        **{f"option {k}": str(v) for k, v in config.options.items()},
    }


def _members(run: Run) -> dict[str, str]:
    return {
        f"member {number}": f"{part.model.name}, n = {part.model.dim:,}, seed {part.seed}"
        + (", bidirectional" if part.model.bidirectional else "")
        for number, part in enumerate(run.config.model.members, 1)
    }


def _training(run: Run) -> dict[str, str]:
    if run.config.model.members:
        return {"training": "none (ensemble of trained runs)"}
    settings = {"seed": run.config.seed, **_flat(run.config.training.model_dump())}
    return {k: f"{v:g}" if isinstance(v, float) else str(v) for k, v in settings.items()}


def _flat(values: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return nested settings by dotted keys; the name of a component has the key of its table."""
    found: dict[str, Any] = {}
    for key, value in values.items():
        path = f"{prefix}.{key}".lstrip(".").removesuffix(".name")
        found |= _flat(value, path) if isinstance(value, dict) else {path: value}
    return found


def _provenance(run: Run) -> dict[str, str]:
    history = run.history
    effort = {
        "epochs": f"{len(history):,}, best {run.best_epoch:,}",
        "training time (seconds)": f"{sum(r['seconds'] for r in history):,.0f}",
    }
    return {
        "run directory": str(run.directory),
        "version": f"kgflow {run.config.run.kgflow}",
        **({} if run.config.model.members else effort),
        "data": run.config.data,
        "data digest": run.config.run.data_digest[:16],
    }


def machine() -> str:
    """Return the number and the kind of processors."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    names = [line.split(":")[1].strip() for line in lines if line.startswith("model name")]
    return f"{len(names)} x {names[0]}" if names else platform.processor() or platform.machine()
