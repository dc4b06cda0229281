"""Resolves references to kgflow's classes and functions by the names that users import."""

from functools import cache
from importlib import import_module

from sphinx.util.nodes import make_refnode

PACKAGES = (
    "kgflow.data",
    "kgflow.flows",
    "kgflow.models",
    "kgflow.kernels",
    "kgflow.training",
    "kgflow.evaluation",
    "kgflow.uncertainty",
    "kgflow.analysis",
    "kgflow.analysis.rules",
    "kgflow.analysis.plots",
    "kgflow.export",
    "kgflow.tuning",
    "kgflow",
)
"""Packages whose public names the reference describes, each name at the first that has it."""


@cache
def public_names():
    """Return the full name of each public name."""
    found = {}
    for package in PACKAGES:
        for name in import_module(package).__all__:
            found.setdefault(name, f"{package}.{name}")
    return found


def resolve(app, env, node, content):
    """Find the description of a name that is written without a package, or with a module."""
    if node.get("refdomain") != "py":
        return None
    place, _, name = node["reftarget"].removeprefix("~").rpartition(".")
    owner = public_names().get(place.rpartition(".")[2])
    objects = env.get_domain("py").objects
    for target in (public_names().get(name), f"{owner}.{name}"):
        if target in objects:
            entry = objects[target]
            refdoc = node["refdoc"]
            return make_refnode(app.builder, refdoc, entry.docname, entry.node_id, content)
    return None


def escape(app, what, name, thing, options, lines):
    """Keep bars of absolute values as they are, where reStructuredText would substitute."""
    formula = None
    for i, line in enumerate(lines):
        indent = len(line) - len(line.lstrip())
        if line.strip() and formula is not None and indent <= formula:
            formula = None
        if line.lstrip().startswith(".. math::"):
            formula = indent
        code = "`" in line or line.lstrip().startswith((">>>", "..."))
        if formula is None and not code:
            lines[i] = line.replace("|", "\\|")


def setup(app):
    """Connect the resolver."""
    app.connect("autodoc-process-docstring", escape)
    app.connect("missing-reference", resolve)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
