"""Print the size of the library beside its limits; the exit code is 1 if a limit is missed.

    python scripts/stats.py [--report] [--root DIRECTORY]

With --report the exit code is 0 whatever the numbers.
"""

import argparse
import ast
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

MODULES, LINES, FILES = 190, 24_000, 500
SHORT = 30
ARGUMENTS = 8
ENTRY_POINTS = {("runs/start.py", "train")}
"""Functions with an argument for each setting that people change."""


def short_modules(modules: Sequence[Path]) -> list[Path]:
    """Return modules with few lines, except `__init__.py`."""
    return [m for m in modules if m.name != "__init__.py" and lines(m) < SHORT]


def lines(path: Path) -> int:
    """Return the number of lines of a file."""
    return len(path.read_text(encoding="utf-8").splitlines())


def long_signatures(path: Path, name: str) -> Iterator[str]:
    """Return the functions of a module with many arguments; `self` and `cls` do not count."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            spec = node.args
            words = [a.arg for a in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs)]
            words += [a.arg for a in (spec.vararg, spec.kwarg) if a is not None]
            count = len(words) - (words[:1] in (["self"], ["cls"]))
            if count > ARGUMENTS and (name, node.name) not in ENTRY_POINTS:
                yield f"{name}: {node.name} has {count} arguments"


def tracked(root: Path) -> int:
    """Return the number of files in version control."""
    words = ["git", "-C", str(root), "ls-files"]
    return len(
        subprocess.run(words, capture_output=True, text=True, check=True).stdout.splitlines()
    )


def main(words: Sequence[str] | None = None) -> int:
    """Print the table and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--report", action="store_true", help="exit with 0 whatever the numbers")
    parser.add_argument("--root", type=Path, default=Path(__file__).parent.parent)
    chosen = parser.parse_args(words)
    source = chosen.root / "src" / "kgflow"
    modules = sorted(source.rglob("*.py"))
    small = short_modules(modules)
    names = {path: path.relative_to(source).as_posix() for path in modules}
    wide = [found for path in modules for found in long_signatures(path, names[path])]
    rows = [
        ("modules in src", len(modules), MODULES),
        ("lines in src", sum(map(lines, modules)), LINES),
        (f"modules under {SHORT} lines", len(small), 0),
        (f"functions with more than {ARGUMENTS} arguments", len(wide), 0),
        ("tracked files", tracked(chosen.root), FILES),
    ]
    print(f"{'':42}{'found':>8}{'limit':>8}")
    for title, found, limit in rows:
        print(f"{title:42}{found:8,}{limit:8,}{'  missed' * (found > limit)}")
    print(*(f"short: {names[path]}" for path in small), *wide, sep="\n")
    missed = any(found > limit for _, found, limit in rows)
    return 0 if chosen.report or not missed else 1


if __name__ == "__main__":
    sys.exit(main())
