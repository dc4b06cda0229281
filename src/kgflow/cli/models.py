"""kgflow models."""

from typing import Annotated

import typer

from kgflow.cli.output import Json, show_json, table


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
    rows = [
        [label(m["name"], m["variant"]), m["x0"], m["f_h"], m["f_r"], m["D"], m["entity"],
         m["relation"], "".join(p[0].upper() if m[p] else "·" for p in PATTERNS), m["form"],
         str(m["year"] or "–")]
        for m in found
    ]  # fmt: skip
    columns = ("name", "x0", "f_h, f_t", "f_r", "D", "entity", "relation", "patterns", "form",
               "year")  # fmt: skip
    table("f(h, r, t) = D(f_r ∘ f_h (x0), f_t (x0))", columns, rows)
    print("entity, relation: number of parameters each, for dimension n = --dim")
    print("patterns without inverse relations: Symmetry, Antisymmetry, Inverse, Composition")
    table("Options (--set model.OPTION=VALUE)", OPTION_COLUMNS, option_rows())
