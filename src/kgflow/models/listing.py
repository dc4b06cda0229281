"""Table of all models and their variants, as in the paper's Table 3."""

from dataclasses import asdict
from inspect import getdoc
from typing import Any, get_args

from kgflow.models.base import MODELS
from kgflow.models.card import PATTERNS
from kgflow.models.registry import variant, variants

OPTION_COLUMNS = ("model", "option", "default", "choices", "meaning")


def listing() -> list[dict[str, Any]]:
    """Describe all models and their variants, ordered by name.

    Example:
        >>> nfe = next(m for m in listing() if m["name"] == "nfe-1")
        >>> nfe["D"], nfe["entity"], nfe["form"]
        ('-W₂²', '2*n', 'product')
    """
    return [_describe(name, chosen) for name in sorted(MODELS) for chosen in variants(name)]


def _describe(name: str, chosen: dict[str, Any]) -> dict[str, Any]:
    kind, found = MODELS[name], variant(name, chosen)
    card = asdict(found.card)
    return {
        "name": name,
        "variant": chosen,
        "about": (getdoc(found.model or kind) or "").split("\n")[0],
        "x0": card["x0"],
        "f_h": card["f_entity"],
        "f_r": card["f_relation"],
        "f_t": card["f_entity"],
        "D": card["D"],
        **{key: card[key].replace(" ", "") for key in ("entity", "relation")},
        **{pattern: pattern in found.card.patterns for pattern in PATTERNS},
        "form": "pairwise" if card["pairwise"] else "product",
        "year": card["year"],
        "dim_multiple": kind.dim_multiple,
        "options": [
            {
                "name": key,
                "default": field.default,
                "choices": list(get_args(field.annotation)),
                "description": field.description,
            }
            for key, field in kind.Options.model_fields.items()
        ],
        "settings": dict(found.settings),
    }


def label(name: str, chosen: dict[str, Any]) -> str:
    """Return the name of a variant for tables.

    Example:
        >>> label("transe", {"norm": "l1"})
        'transe norm=l1'
    """
    return " ".join([name, *(f"{key}={value}" for key, value in chosen.items())])


def markdown() -> str:
    """Return the tables of models and of options in Markdown, for the documentation."""
    head = ("model", "x0", "f_h, f_t", "f_r", "D", "per entity", "per relation",
            "sym.", "antisym.", "inv.", "comp.", "form", "year")  # fmt: skip
    rows = []
    for m in listing():
        patterns = ["yes" if m[pattern] else "no" for pattern in PATTERNS]
        sizes = [_symbols(m[key]) for key in ("entity", "relation")]
        functions = (m["x0"], m["f_h"], m["f_r"], m["D"])
        rows.append([f"`{label(m['name'], m['variant'])}`", *functions, *sizes, *patterns,
                     m["form"], m["year"]])  # fmt: skip
    options = [[f"`{name}`", f"`{key}`", *cells] for name, key, *cells in option_rows()]
    return "\n\n".join([_table(head, rows), _table(OPTION_COLUMNS, options)])


def option_rows() -> list[list[str]]:
    """Return model, option, default, choices and meaning of all options.

    Example:
        >>> next(row for row in option_rows() if row[0] == "transe")[:4]
        ['transe', 'norm', 'squared-l2', 'squared-l2, l1, l2']
    """
    return [
        [m["name"], option["name"], str(option["default"]), ", ".join(option["choices"]),
         option["description"]]
        for m in listing()
        if not m["variant"]
        for option in m["options"]
    ]  # fmt: skip


def _table(head: tuple[str, ...], rows: list[list[Any]]) -> str:
    lines = [
        head,
        ["---"] * len(head),
        *([str(x).replace("|", "\\|") for x in row] for row in rows),
    ]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _symbols(expression: str) -> str:
    for old, new in (("**2", "²"), ("//", "/"), ("*", "")):
        expression = expression.replace(old, new)
    return expression
