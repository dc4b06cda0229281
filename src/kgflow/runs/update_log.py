"""What was added to a run after its training, and the embeddings that were fitted for it."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from kgflow.errors import KgflowError
from kgflow.io import write_atomic

UPDATES = "updates.json"

Id = Annotated[int, Field(ge=0)]


class UpdateRecord(BaseModel):
    """One update of a run.

    Args:
        date: day of the update.
        facts: number of facts that were added.
        known: number of given facts that the graph had already.
        repeated: number of given facts that were given twice.
        entities: number of entities that were fitted.
        relations: number of relations that were fitted.
        finetune: whether trained embeddings were moved as well.
        seconds: processor time of the fit.
        notices: remarks for the user.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)

    date: str
    facts: int
    known: int
    repeated: int
    entities: int
    relations: int
    finetune: bool
    seconds: float
    notices: tuple[str, ...] = ()


class UpdateLog(BaseModel):
    """All updates of a run, and the ids of the embeddings that were fitted and not trained.

    Args:
        updates: updates in order.
        entities: ids of fitted entities.
        relations: ids of fitted relations.

    Example:
        >>> UpdateLog().entities
        ()
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    format: Literal[1] = 1
    updates: tuple[UpdateRecord, ...] = ()
    entities: tuple[Id, ...] = ()
    relations: tuple[Id, ...] = ()

    def check(self, entities: int, relations: int, source: Path) -> None:
        """Raise an error if an id is not below these numbers of entities and relations."""
        for ids, size in ((self.entities, entities), (self.relations, relations)):
            if max(ids, default=-1) >= size:
                raise _damaged(source, f"it names id {max(ids)} of {size}")


def read_updates(directory: Path) -> UpdateLog:
    """Read the updates of a run; none if there is no file."""
    path = directory / UPDATES
    try:
        return UpdateLog.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        return UpdateLog()
    except (ValidationError, OSError) as error:
        reason = str(error.errors()[0]["msg"] if isinstance(error, ValidationError) else error)
        raise _damaged(path, reason) from None


def write_updates(directory: Path, log: UpdateLog) -> None:
    """Write the updates of a run."""
    write_atomic(directory / UPDATES, log.model_dump_json(indent=1).encode())


def _damaged(path: Path, reason: str) -> KgflowError:
    return KgflowError(f"{path} is damaged ({reason}): update the original run again")
