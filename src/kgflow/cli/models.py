"""kgflow models."""

from typing import Annotated

import typer

from kgflow.cli.output import Json, show_json, table


def models(
    json: Json = False,
    markdown: Annotated[
        bool, typer.Option("--markdown", help="Print the table as the documentation shows it.")
    ] = False,
) -> None:
    """The models that can be trained: x0, f and D of each, and which rules it can hold.

    Example: kgflow models
    """
    from kgflow.models.listing import RULES, listing
    from kgflow.models.listing import markdown as as_markdown

    if markdown:
        print(as_markdown())
        return
    found = listing()
    if json:
        show_json({"models": found})
        return
    rows = [
        [m["name"], m["x0"], m["f_h"], m["f_r"], m["D"], m["entity"], m["relation"],
         "".join(rule[0].upper() if m[rule] else "·" for rule in RULES),
         "product" if m["lowers"] else "pairwise", str(m["year"])]
        for m in found
    ]  # fmt: skip
    columns = ("name", "x0", "f_h, f_t", "f_r", "D", "entity", "relation", "rules", "form", "year")
    table("f(h, r, t) = D(f_r ∘ f_h (x0), f_t (x0))", columns, rows)
    print(
        "numbers per entity and relation, of n = --dim; rules that it can hold without reciprocal"
    )
    print("relations: Symmetry, Antisymmetry, Inverse, Composition; --json tells options, too")
