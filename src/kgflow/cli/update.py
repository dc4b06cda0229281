"""kgflow update."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

import typer

from kgflow.cli.options import Device, FileOptions, Json, RunPath, option, option_groups
from kgflow.cli.output import print_note, show_json, table
from kgflow.errors import KgflowError

if TYPE_CHECKING:
    from kgflow.runs.run import Run

SHOWN = 10
"""Largest number of fitted entities that are printed."""


@dataclass(frozen=True)
class TargetOptions:
    """Where the updated run goes, and what is updated."""

    panel: ClassVar[str] = "Update"

    out: Path | None = option(None, "Directory of the updated run.")
    in_place: bool = option(False, "Replace the run itself, atomically.")
    force: bool = option(False, "Replace an existing run in --out.")
    finetune: bool = option(False, "Move the embeddings of known entities in the facts as well.")
    no_evaluate: bool = option(False, "Leave out the ranking metrics, which take longest.")

    def __post_init__(self) -> None:
        if (self.out is None) != self.in_place:
            raise KgflowError("give either --out DIRECTORY or --in-place")


@option_groups
def update(
    run: RunPath,
    facts: Annotated[Path, typer.Argument(help="File of new facts.", metavar="FACTS")],
    target: TargetOptions,
    files: FileOptions,
    device: Device = "cpu",
    json: Json = False,
) -> None:
    """Add new facts, entities and relations to a trained run without training again.

    New entities and relations get embeddings that are fitted to their facts; all others keep
    theirs. New facts between known entities become known facts.

    Example: kgflow update runs/world new.tsv --out runs/world-2
    """
    from kgflow.data import read_triples
    from kgflow.runs.run import Run
    from kgflow.runs.store import check_free

    if target.out is not None:
        check_free(target.out, target.force)
    opened = Run.open(run, device)
    updated = opened.update(
        read_triples(facts, files.columns),
        target.out,
        force=target.force,
        labels=files.labels,
        types=files.types,
        finetune=target.finetune,
        evaluated=not target.no_evaluate,
    )
    _report(opened, updated, json)


def _report(run: "Run", updated: "Run", json: bool) -> None:
    record, added = updated.updates.updates[-1], _added(run, updated)
    relations = updated.data.relations.names[len(run.data.relations) :]
    if json:
        names = {"new_entities": added, "new_relations": list(relations)}
        show_json({"run": updated.directory, **record.model_dump(), **names} | updated.metrics)
        return
    for notice in record.notices:
        print_note(f"note: {notice}")
    print(
        f"{record.facts:,} facts added, {record.known:,} known already,"
        f" {record.repeated:,} repeated"
    )
    if relations:
        print(f"new relations: {', '.join(relations)}")
    if added:
        rows = [[row["label"], row["facts"], row["certainty"]] for row in added[:SHOWN]]
        title = f"{len(added):,} entities fitted in {record.seconds:.2g} s of processor time"
        table(title, ["entity", "facts", "certainty"], rows)
    print(f"run saved in {updated.directory}")


def _added(run: "Run", updated: "Run") -> list[dict[str, object]]:
    """Return the entities that this update fitted."""
    data, earlier = updated.data, set(run.updates.entities)
    degrees = data.train.degrees(len(data.entities))
    return [
        {
            "name": data.entities[i],
            "label": data.label(i),
            "facts": int(degrees[i]),
            "certainty": updated.predictor.certainty(i),
        }
        for i in updated.updates.entities
        if i not in earlier
    ]
