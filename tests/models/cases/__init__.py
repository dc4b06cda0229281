"""The table of constructors: every model, and its score straight from its paper.

Each module of this folder holds some of the lines, as `CASES`.
"""

from importlib import import_module
from pkgutil import iter_modules

from cases.case import Case, E, R, row_parts

_modules = [import_module(f"cases.{found.name}") for found in iter_modules(__path__)]
CONSTRUCTORS: dict[str, Case] = {
    name: case for module in _modules for name, case in getattr(module, "CASES", {}).items()
}

__all__ = ["CONSTRUCTORS", "Case", "E", "R", "row_parts"]
