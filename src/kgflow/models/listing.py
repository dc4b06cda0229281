"""The models as a table: each a row of the paper's Table 3."""

from dataclasses import asdict
from inspect import getdoc
from typing import Any

from kgflow.models.base import MODELS
from kgflow.models.registry import build, options

RULES = ("symmetry", "antisymmetry", "inverse", "composition")


def listing() -> list[dict[str, Any]]:
    """What there is to know of each model, by name.

    Example:
        >>> nfe = next(m for m in listing() if m["name"] == "nfe-1")
        >>> nfe["D"], nfe["entity"], nfe["lowers"]
        ('-W₂²', '2*n', True)
    """
    return [_describe(name) for name in sorted(MODELS)]


def _describe(name: str) -> dict[str, Any]:
    kind = MODELS[name]
    row = asdict(kind.card)
    functions = {"f_h": row["f_entity"], "f_r": row["f_relation"], "f_t": row["f_entity"]}
    return {
        "name": name,
        "about": (getdoc(kind) or "").split("\n")[0],
        "x0": row["x0"],
        **functions,
        "D": row["D"],
        **{key: row[key].replace(" ", "") for key in ("entity", "relation")},
        **{rule: row[rule] for rule in RULES},
        # Whether it is one matrix product is a fact of the model itself.
        "lowers": build(name, 2, 2, 12).interaction is None,
        "year": row["year"],
        "multiple": kind.multiple,
        "options": list(options(name)),
        "settings": dict(kind.settings),
    }


def markdown() -> str:
    """The table as the documentation shows it."""
    head = ("model", "x0", "f_h, f_t", "f_r", "D", "per entity", "per relation",
            "sym.", "antisym.", "inv.", "comp.", "form", "year")  # fmt: skip
    lines = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    for m in listing():
        rules = ["yes" if m[rule] else "no" for rule in RULES]
        numbers = [_symbols(m[key]) for key in ("entity", "relation")]
        form = "product" if m["lowers"] else "pairwise"
        cells = [f"`{m['name']}`", m["x0"], m["f_h"], m["f_r"], m["D"], *numbers, *rules, form]
        escaped = [str(cell).replace("|", "\\|") for cell in (*cells, m["year"])]
        lines.append("| " + " | ".join(escaped) + " |")
    return "\n".join(lines)


def _symbols(expression: str) -> str:
    for old, new in (("**2", "²"), ("//", "/"), ("*", "")):
        expression = expression.replace(old, new)
    return expression
