"""What `kgflow train` prints: the forecast before, the results and the next steps after."""

from typing import TYPE_CHECKING, Any

from kgflow.cli.output import clock, print_note, show_json, table

if TYPE_CHECKING:
    from kgflow.runs.run import Run
    from kgflow.runs.start import Plan

METRICS = {"mrr": "MRR", "hits@1": "Hits@1", "hits@3": "Hits@3", "hits@10": "Hits@10"}


def summary(plan: "Plan") -> str:
    """Return one sentence about the settings, the time and the memory of a training."""
    from kgflow.runs.forecast import data_size

    name, experiment, preset = plan.candidates[0]
    found, model = plan.forecast, experiment.model
    chosen = f"preset {preset}: " if preset else ""
    if plan.limit is not None:
        duration = f"{clock(plan.limit)} as limited"
    else:
        more = f" for each of {len(plan.candidates)} recipes" if len(plan.candidates) > 1 else ""
        duration = f"about {clock(found.seconds)}{more}"
    return (
        f"{chosen}{model.name or name}, dim {model.dim}, up to {found.epochs} epochs;"
        f" {duration}, {data_size(found.memory)} of memory"
    )


def show_plan(plan: "Plan", json: bool) -> None:
    """Print the settings, the time and the memory of a training."""
    from kgflow.runs.forecast import data_size

    found = plan.forecast
    if json:
        names = [{"name": c.name, "preset": c.preset} for c in plan.candidates]
        settings = plan.candidates[0].experiment.model_dump()
        show_json({"recipes": names, "settings": settings, "forecast": found.to_dict()})
        return
    print(summary(plan))
    rows = [
        ["epoch", f"{found.epoch_seconds:.1f} s"],
        ["validation", f"{found.validation_seconds:.1f} s"],
        ["evaluation and calibration", f"{found.final_seconds:.1f} s"],
        [f"all of {found.epochs} epochs", clock(found.seconds)],
        ["memory", f"{data_size(found.memory)} of {data_size(found.available)} free"],
    ]
    table("forecast", ["part", "expected"], rows)
    keys = _flat(plan.candidates[0].experiment.model_dump())
    table("settings", ["key", "value"], [[key, str(value)] for key, value in keys.items()])


def show_training(run: "Run", json: bool) -> None:
    """Print the results of a training, and what to do next."""
    history, metrics, model = run.history, run.metrics, run.config.model
    width = run.model.entity.weight.shape[1]
    if json:
        summary = {"run": run.directory, "model": model.model_dump()}
        summary |= {"floats_per_entity": width, "epochs": len(history)}
        summary |= {"best_epoch": run.best_epoch, "seconds": sum(r["seconds"] for r in history)}
        summary |= {"preset": run.config.run.preset, "trials": run.trials}
        show_json(summary | metrics)
        return
    if run.trials:
        show_trials(run)
    name = " + ".join(member.model.name for member in model.members) or model.name
    epoch = f"; best epoch {run.best_epoch}" if history else ""
    print_note(f"{name}, dim {model.dim}: {width} floats per entity{epoch}")
    if metrics:
        rows = [[s, *(found["realistic"][key] for key in METRICS)] for s, found in metrics.items()]
        table("filtered ranking metrics (realistic ties)", ["split", *METRICS.values()], rows)
    print(f"run saved in {run.directory}")
    print(next_steps(run))


def show_trials(run: "Run") -> None:
    """Print the recipes that took part in a race."""
    rows = [
        [
            trial["name"],
            f"{trial['mrr']:.3f}" if trial["mrr"] >= 0 else "–",
            trial["epochs"],
            f"{trial['seconds'] / 60:.1f}",
            trial["note"],
        ]
        for trial in run.trials
    ]
    table("recipes", ["recipe", "validation MRR", "epochs", "minutes", ""], rows)


def next_steps(run: "Run") -> str:
    """Return commands for the first fact of the graph, and for the run."""
    from shlex import quote

    data, place = run.data, quote(str(run.directory))
    head = quote(data.entities[int(data.train.h[0])])
    relation = quote(data.relations[int(data.train.r[0])])
    return (
        "next:\n"
        f"  kgflow predict {place} --head {head} --relation {relation}\n"
        f"  kgflow report {place} --out report.html\n"
        f"  kgflow serve {place}"
    )


def _flat(values: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in values.items():
        inner = isinstance(value, dict)
        found |= _flat(value, f"{prefix}{key}.") if inner else {prefix + key: value}
    return found
