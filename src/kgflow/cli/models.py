"""kgflow models."""

from inspect import getdoc

from kgflow.cli.output import Json, show_json, table


def models(json: Json = False) -> None:
    """The models that can be trained, with the options of each.

    Example: kgflow models
    """
    from kgflow.models import MODELS, options

    found = [
        {
            "name": name,
            "about": (getdoc(kind) or "").split("\n")[0],
            "entity": list(kind.entity_parts),
            "relation": list(kind.relation_parts),
            "options": list(options(name)),
        }
        for name, kind in MODELS.items()
    ]
    if json:
        show_json({"models": found})
        return
    columns = ("name", "about", "entity", "relation", "options")
    rows = [[m["name"], m["about"], *(", ".join(m[c]) for c in columns[2:])] for m in found]
    table("models", columns, rows)
