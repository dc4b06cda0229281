"""How the runs were made."""

from collections.abc import Iterator
from typing import Any

from kgflow.analysis.report.pieces import Note, Piece, Row, Table
from kgflow.analysis.report.section import Section
from kgflow.analysis.report.subject import Subject
from kgflow.provenance import machine
from kgflow.runs.run import Run


class Settings(Section):
    """The model in symbols, its settings, and where the numbers come from."""

    id, title = "settings", "Settings and provenance"

    def pieces(self, subject: Subject) -> Iterator[Piece]:
        """A column for each run."""
        columns = ("setting", *subject.names)
        model = Table(
            "The model: f(h, r, t) = D(f_r ∘ f_h (x0), f_t (x0)) scores a fact.",
            columns,
            _side_by_side([_model(run) for run in subject.runs]),
        )
        training = Table(
            "The training.", columns, _side_by_side([_training(run) for run in subject.runs])
        )
        yield Row([model, training])
        yield Table(
            "The provenance. Runs of the same digest have the same names, facts and splits.",
            columns,
            _side_by_side([_provenance(run) for run in subject.runs]),
        )
        yield Note(f"This page was computed on {machine()}.")


NAMES = {"lr": "learning rate", "batch_size": "batch size", "eval_every": "validated every"}


def _side_by_side(items: list[dict[str, str]]) -> list[list[str]]:
    keys = dict.fromkeys(key for item in items for key in item)
    return [[key, *(item.get(key, "–") for item in items)] for key in keys]


def _model(run: Run) -> dict[str, str]:
    base, config = run.model.base, run.config.model
    row = base.variant(base.options).card
    numbers = sum(p.numel() for p in run.model.parameters())
    return {
        "model": config.name,
        **_parts(run),
        "x0": str(config.options.get("x0", row.x0)),
        "f_h, f_t": row.f_entity,
        "f_r": row.f_relation,
        "D": row.D,
        "dimension n": f"{config.dim:,}",
        "numbers per entity": f"{run.model.entity.weight.shape[1]:,}",
        "numbers in all": f"{numbers:,}",
        **({"bias of entities": "yes"} if config.bias else {}),
        **({} if config.inverse_relations else {"reciprocal relations": "no"}),
        **({"answers scored from both ends": "yes"} if config.bidirectional else {}),
        **({} if config.start == 1 else {"first numbers times": f"{config.start:g}"}),
        **{f"option {k}": str(v) for k, v in config.options.items()},
    }


def _training(run: Run) -> dict[str, str]:
    if run.config.model.parts:
        return {"trained": "each run by itself"}
    found: dict[str, Any] = run.config.training.model_dump()
    return {NAMES.get(k, k): f"{v:g}" if isinstance(v, float) else str(v) for k, v in found.items()}


def _parts(run: Run) -> dict[str, str]:
    return {
        f"part {number}": f"{part.model.name}, n = {part.model.dim:,}, seed {part.training.seed}"
        + (", from both ends" if part.model.bidirectional else "")
        for number, part in enumerate(run.config.model.parts, 1)
    }


def _effort(run: Run) -> dict[str, str]:
    history = run.history
    return {
        "epochs trained": f"{len(history):,}, kept {run.best_epoch:,}",
        "seconds of training": f"{sum(r['seconds'] for r in history):,.0f}",
    }


def _provenance(run: Run) -> dict[str, str]:
    return {
        "run directory": str(run.directory),
        "trained by": f"kgflow {run.config.run.kgflow}",
        **({} if run.config.model.parts else _effort(run)),
        "data": run.config.data,
        "data digest": run.config.run.data_digest[:16],
    }
