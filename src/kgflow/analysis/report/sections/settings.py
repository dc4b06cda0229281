"""How the runs were made."""

import platform
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from kgflow.analysis.report.pieces import Note, Piece, Row, Table
from kgflow.analysis.report.section import Section
from kgflow.analysis.report.subject import Subject
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


def _side_by_side(items: list[dict[str, str]]) -> list[list[str]]:
    keys = dict.fromkeys(key for item in items for key in item)
    return [[key, *(item.get(key, "–") for item in items)] for key in keys]


def _model(run: Run) -> dict[str, str]:
    row, config = run.model.card, run.config.model
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
        **{f"option {k}": str(v) for k, v in config.options.items()},
    }


def _training(run: Run) -> dict[str, str]:
    if run.config.model.members:
        return {"trained": "each run by itself"}
    found = {"seed": run.config.seed, **_flat(run.config.training.model_dump())}
    return {k: f"{v:g}" if isinstance(v, float) else str(v) for k, v in found.items()}


def _flat(values: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return nested settings by dotted keys; the name of a component has the key of its table."""
    found: dict[str, Any] = {}
    for key, value in values.items():
        path = f"{prefix}.{key}".lstrip(".").removesuffix(".name")
        found |= _flat(value, path) if isinstance(value, dict) else {path: value}
    return found


def _parts(run: Run) -> dict[str, str]:
    return {
        f"part {number}": f"{part.model.name}, n = {part.model.dim:,}, seed {part.seed}"
        + (", from both ends" if part.model.bidirectional else "")
        for number, part in enumerate(run.config.model.members, 1)
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
        **({} if run.config.model.members else _effort(run)),
        "data": run.config.data,
        "data digest": run.config.run.data_digest[:16],
    }


def machine() -> str:
    """Return the number and the kind of processors."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    names = [line.split(":")[1].strip() for line in lines if line.startswith("model name")]
    return f"{len(names)} x {names[0]}" if names else platform.processor() or platform.machine()
