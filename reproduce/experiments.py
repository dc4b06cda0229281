"""Experiments of a study, read from a TOML file."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kgflow.config import ModelSettings, merge, read_toml
from kgflow.errors import KgflowError
from kgflow.models.listing import label
from kgflow.runs.build import complete

SECTIONS = {"model", "training"}
KEYS = {"id", "title", "data", "published", "runs", *SECTIONS}

Values = Mapping[str, Any]


@dataclass(frozen=True)
class Row:
    """One experiment of a study.

    Args:
        id: unique name, such as ``wn18rr/nfe-1``.
        title: description in one line.
        values: settings with the keys of a config file: `data`, `seed`, `model`, `training`.
        published: MRR, Hits@1 and Hits@10 as the paper prints them.
        runs: members of an ensemble, each a row of another study and a seed, ``row:seed``.
    """

    id: str
    title: str
    values: Values = field(compare=False)
    published: tuple[float, ...] = ()
    runs: tuple[str, ...] = ()

    @property
    def data(self) -> str:
        """Name of the graph."""
        return str(self.values["data"])

    @property
    def model(self) -> str:
        """Name of the model."""
        return str(self.values["model"].get("name", ModelSettings().name))

    @property
    def model_label(self) -> str:
        """Name of the model with its options, such as ``transe norm=l1``."""
        return model_label(self.values["model"])

    def settings(self, seed: int = 0, dim: int | None = None) -> dict[str, Any]:
        """Return all settings of a run of this experiment, as its config file has them."""
        chosen = {"seed": seed} | ({} if dim is None else {"model": {"dim": dim}})
        return complete(merge(self.values, chosen), f"row '{self.id}'").model_dump()


def read_rows(path: Path) -> list[Row]:
    r"""Read the rows of a study.

    A row has the settings that differ from ``[graphs.NAME]`` of its graph, which has those that
    differ from ``[defaults]``. A component with another name has no settings of the former one.

    Example:
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp()) / "mine.toml"
        >>> text = "[defaults]\nmodel.dim = 8\n[[rows]]\nid = 'a'\ndata = 'umls'\n"
        >>> _ = path.write_text(text + "training.optimizer.lr = 0.5\n")
        >>> (row,) = read_rows(path)
        >>> row.settings(seed=3)["training"]["optimizer"], row.values["model"]
        ({'name': 'adam', 'lr': 0.5}, {'dim': 8})
    """
    found = read_toml(path)
    rows = [_row(path, found, values) for values in found.get("rows", [])]
    for place, row in enumerate(rows):
        if row.id in [other.id for other in rows[:place]]:
            raise KgflowError(f"{path}: the id '{row.id}' is used twice, give each row its own")
    return rows


def _row(path: Path, file: Values, values: Values) -> Row:
    unknown = sorted(set(values) - KEYS)
    if unknown or not {"id", "data"} <= set(values):
        problem = f"has the unknown key '{unknown[0]}'" if unknown else "lacks 'id' or 'data'"
        raise KgflowError(f"{path}: row '{values.get('id', '?')}' {problem}")
    settings: dict[str, Any] = {"model": {}, "training": {}}
    own = {key: values[key] for key in SECTIONS & set(values)}
    for part in (file.get("defaults", {}), file.get("graphs", {}).get(values["data"], {}), own):
        settings = merge(settings, part)
    return Row(
        values["id"],
        values.get("title", values["id"]),
        {"data": values["data"]} | settings,
        tuple(values.get("published", ())),
        tuple(map(str, values.get("runs", ()))),
    )


def model_label(model: Values) -> str:
    """Return the name of a model with its options, from its settings.

    Example:
        >>> model_label({"name": "transe", "dim": 8, "norm": "l1"})
        'transe norm=l1'
    """
    common = ModelSettings.common_keys()
    options = {key: value for key, value in model.items() if key not in common}
    return label(model.get("name", ModelSettings().name), options)


def differing(one: Values, other: Values) -> dict[str, tuple[Any, Any]]:
    """Compare nested settings and return the keys whose values differ.

    Example:
        >>> differing({"data": "umls", "model": {"dim": 8}}, {"data": "umls", "model": {"dim": 4}})
        {'model.dim': (8, 4)}
    """
    a, b = _flat(one), _flat(other)
    return {key: (a.get(key), b.get(key)) for key in a | b if a.get(key) != b.get(key)}


def _flat(values: Values, prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in values.items():
        inner = isinstance(value, Mapping)
        flat |= _flat(value, f"{prefix}{key}.") if inner else {prefix + key: value}
    return flat
