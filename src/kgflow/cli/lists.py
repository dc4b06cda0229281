"""kgflow models and kgflow settings: the lists of all models and all settings."""

from typing import Annotated

import typer

from kgflow.cli.options import Json
from kgflow.cli.output import show_json, table
from kgflow.errors import KgflowError, suggest

COLUMNS = ("name", "x0", "f_h, f_t", "f_r", "D", "entity", "relation", "patterns", "form", "year")


def models(
    json: Json = False,
    markdown: Annotated[
        bool, typer.Option("--markdown", help="Print the tables in Markdown.")
    ] = False,
) -> None:
    """List all models with their options, and the relation patterns they can represent.

    Example: kgflow models
    """
    from kgflow.models.card import PATTERNS
    from kgflow.models.listing import OPTION_COLUMNS, label, listing, option_rows
    from kgflow.models.listing import markdown as as_markdown

    if markdown:
        print(as_markdown())
        return
    found = listing()
    if json:
        show_json({"models": found})
        return
    parts = ("x0", "f_h", "f_r", "D", "entity", "relation")
    patterns = ["".join(p[0].upper() if m[p] else "·" for p in PATTERNS) for m in found]
    rows = [
        [
            label(m["name"], m["variant"]),
            *(m[p] for p in parts),
            p,
            m["form"],
            str(m["year"] or "–"),
        ]
        for m, p in zip(found, patterns, strict=True)
    ]
    table("f(h, r, t) = D(f_r ∘ f_h (x0), f_t (x0))", COLUMNS, rows)
    print("entity, relation: number of parameters each, for dimension n = --dim")
    print("patterns without inverse relations: Symmetry, Antisymmetry, Inverse, Composition")
    table("Options (--set model.OPTION=VALUE)", OPTION_COLUMNS, option_rows())


def settings(
    key: Annotated[
        str | None, typer.Argument(metavar="KEY", help="Key of a setting, or beginning of keys.")
    ] = None,
    json: Json = False,
) -> None:
    """List all settings of training with their types, defaults and descriptions.

    `kgflow train --set KEY=VALUE` changes a setting.

    Example: kgflow settings training.loss
    """
    from kgflow.config import PRESETS, entries

    found = list(entries())
    chosen = [e for e in found if key is None or e.key == key or e.key.startswith(f"{key}.")]
    if not chosen:
        hint = suggest(str(key), [e.key for e in found])
        raise KgflowError(f"unknown setting '{key}'{hint or ': `kgflow settings` lists all'}")
    if json:
        show_json({"settings": [e.model_dump() for e in chosen], "presets": PRESETS})
        return
    rows = [[e.key, e.type, e.default, e.description, ", ".join(e.components)] for e in chosen]
    table("settings", ("key", "type", "default", "description", "only with"), rows)
    if key is None:
        print("Defaults are those with --model. Presets (kgflow train --preset NAME) change many:")
        print(*(f"  {name}: {text}" for name, text in PRESETS.items()), sep="\n")
