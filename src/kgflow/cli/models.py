"""kgflow models."""

from typing import Annotated

import typer

from kgflow.cli.output import Json, show_json, table


def models(
    json: Json = False,
    markdown: Annotated[
        bool, typer.Option("--markdown", help="Print the table as Markdown.")
    ] = False,
) -> None:
    """List the models: x0, f and D of each, its size, and the rules it can represent.

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
    print("entity, relation: parameters for n = --dim; form: inner product or pairwise scores")
    print("rules it can represent without inverse relations: Symmetry, Antisymmetry, Inverse,")
    print("Composition; --json lists the options of each model, too")
