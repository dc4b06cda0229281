"""Plugins: components from a user's own Python file or from an installed package."""

import sys
from collections.abc import Iterator, Mapping
from importlib.metadata import entry_points
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

from kgflow.config import ENSEMBLE, GROUPS, Experiment
from kgflow.errors import KgflowError
from kgflow.models import MODELS

ENTRY_POINTS = "kgflow.plugins"
"""Entry-point group in which installed packages offer plugins."""

_LOADED: dict[str, str] = {}
"""Module name of each loaded plugin, to the file or entry point it was loaded from."""


def load_plugin(source: str) -> None:
    """Import a plugin, whose components register themselves.

    Args:
        source: A Python file, or the name of an entry point of the group ``kgflow.plugins``.
    """
    if source.endswith(".py"):
        _load_file(Path(source))
        return
    found = entry_points(group=ENTRY_POINTS, name=source)
    if not found:
        raise KgflowError(f"plugin '{source}' is neither a .py file nor an installed entry point")
    for point in found:
        point.load()
        _LOADED[point.module] = source


def _load_file(path: Path) -> None:
    if not path.is_file():
        raise KgflowError(f"plugin {path} does not exist: give a Python file")
    name = f"kgflow_plugin_{path.stem}"
    if _LOADED.get(name) == str(path.resolve()):
        return
    spec = spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        reason = f"{type(error).__name__}: {error}".split("\n")[0]
        raise KgflowError(f"plugin {path} cannot be imported ({reason})") from None
    _LOADED[name] = str(path.resolve())


def loaded_plugins(experiment: Experiment) -> list[str]:
    """Return the plugins that define the components of an experiment."""
    training = experiment.training
    used: list[type] = [type(getattr(training, key.split(".")[1])) for key in GROUPS]
    names = [experiment.model.name, *(member.model.name for member in experiment.model.members)]
    used += [MODELS[name] for name in names if name in MODELS]
    return sorted({_LOADED[kind.__module__] for kind in used if kind.__module__ in _LOADED})


def check_plugins(values: Mapping[str, Any], directory: Path) -> None:
    """Refuse a run with a component that a plugin defines which is not loaded."""
    info = values.get("run")
    plugins = info.get("plugins") if isinstance(info, dict) else None
    missing = list(_missing(values))
    if plugins and missing:
        raise KgflowError(
            f"{directory} uses {missing[0]} from a plugin that is not loaded: add"
            f" --plugin {plugins[0] if isinstance(plugins, list) else plugins}"
        )


def _missing(values: Mapping[str, Any]) -> Iterator[str]:
    """Yield the components in the settings of a run that nothing defines."""
    training, model = values.get("training"), values.get("model")
    for key, group in GROUPS.items():
        table = training.get(key.split(".")[1]) if isinstance(training, dict) else None
        name = table.get("name") if isinstance(table, dict) else group.default
        if name not in group.members:
            yield f"{key.split('.')[1]} '{name}'"
    members = model.get("members", []) if isinstance(model, dict) else []
    models = [model, *(m.get("model") for m in members if isinstance(m, dict))]
    for table in models:
        name = table.get("name") if isinstance(table, dict) else None
        if isinstance(name, str) and name != ENSEMBLE and name not in MODELS:
            yield f"model '{name}'"
