"""Writes the pages of the reference from the library itself."""

import inspect
import io
import sys
from contextlib import redirect_stdout
from importlib import import_module
from pathlib import Path

import typer
from sphinx.pycode import ModuleAnalyzer

from public_names import PACKAGES, public_names

RUN_FILES = {
    "config.toml": "settings, format version, digest of the data, sizes, plugins",
    "vocabulary.json": "names, labels and types of entities, names of relations",
    "splits.safetensors": "train, valid and test triples as integers",
    "model.safetensors": "weights of the best epoch",
    "checkpoint": "state of the last epoch, from which `kgflow train --resume` continues",
    "history.jsonl": "one JSON object per epoch: loss, seconds, validation metrics",
    "metrics.json": "ranking metrics of each split",
    "calibration.json": "parameters of the maps from scores to probabilities",
}
"""What each file of a run holds; a run with other files is an error of this table."""

TITLES = {
    "kgflow": "kgflow: train, open, load",
    "kgflow.data": "kgflow.data: triples, vocabularies, splits",
    "kgflow.flows": "kgflow.flows: x0, f, D",
    "kgflow.models": "kgflow.models: models, wrappers, entropies",
    "kgflow.kernels": "kgflow.kernels: losses, ranks and top-k in blocks",
    "kgflow.training": "kgflow.training: losses, optimizers, trainer",
    "kgflow.evaluation": "kgflow.evaluation: ranks and metrics",
    "kgflow.uncertainty": "kgflow.uncertainty: calibration, prediction sets",
    "kgflow.analysis": "kgflow.analysis: certainty, explanations, comparison",
    "kgflow.analysis.rules": "kgflow.analysis.rules: rules of models and graphs",
    "kgflow.analysis.plots": "kgflow.analysis.plots: figures",
    "kgflow.export": "kgflow.export: formats of other programs",
    "kgflow.tuning": "kgflow.tuning: hyperparameter search",
}


def write(directory, run):
    """Write all pages; a page that stays the same keeps its time."""
    pages = {
        "command-line": command_line(),
        "settings": settings(),
        "http": http(run),
        "run-files": run_files(run),
        "data-sets": data_sets(),
        "report-sections": report_sections(),
        "export-formats": export_formats(),
    }
    pages |= {f"python/{name}": python_page(name) for name in PACKAGES}
    (directory / "python").mkdir(parents=True, exist_ok=True)
    for name, text in pages.items():
        path = directory / f"{name}.md"
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def table(columns, rows):
    """Return a Markdown table."""
    lines = [columns, ["---"] * len(columns), *rows]
    cells = ([str(cell).replace("|", "\\|").replace("\n", " ") for cell in row] for row in lines)
    return "\n".join(f"| {' | '.join(row)} |" for row in cells) + "\n"


def plain(text):
    """Write the single backticks of a docstring as code."""
    return inspect.cleandoc(text or "").strip()


# Command line


def command_line():
    """Describe every command with its options."""
    from kgflow.cli.app import app

    program = typer.main.get_command(app)
    parts = [
        "# Command line\n",
        "Exit codes: 0, 1 (failed), 2 (bad usage or input, one sentence), 130 (interrupted, state"
        " saved). `--json` prints one JSON object and nothing else; notes and progress bars go to"
        " stderr.\n",
        "```text\nkgflow [--plugin FILE.py] COMMAND [ARGUMENTS] [OPTIONS]\n```\n",
        _options(program),
    ]
    for name, command in program.commands.items():
        parts.append(_command(f"kgflow {name}", command))
        for inner, sub in sorted(getattr(command, "commands", {}).items()):
            parts.append(_command(f"kgflow {name} {inner}", sub))
    return "\n".join(parts)


def _command(name, command):
    text, _, example = plain(command.help).partition("Example:")
    arguments = " ".join(p.metavar or p.name.upper() for p in _arguments(command))
    level = "##" if name.count(" ") == 1 else "###"
    usage = "" if hasattr(command, "commands") else f"{name} {arguments} [OPTIONS]"
    parts = [f"{level} {name}\n", text.strip() + "\n"]
    if usage:
        parts.append(f"```text\n{usage}\n```\n")
    if example:
        parts.append(f"Example:\n\n```sh\n{example.strip()}\n```\n")
    parts.append(_options(command))
    return "\n".join(parts)


def _arguments(command):
    return [p for p in command.params if _is_argument(p)]


def _is_argument(parameter):
    return not parameter.opts[0].startswith("-")


def _fill_help(command):
    """Let a command write the help of options that it takes from elsewhere."""
    context = typer.Context(command, info_name=command.name)
    with redirect_stdout(io.StringIO()):
        command.format_help(context, context.make_formatter())


def _options(command):
    _fill_help(command)
    panels = {}
    for parameter in command.params:
        if parameter.name == "help" or getattr(parameter, "hidden", False):
            continue
        panel = getattr(parameter, "rich_help_panel", None) or ""
        panels.setdefault(panel, []).append(_option(parameter))
    parts = []
    for panel, rows in panels.items():
        title = panel or ("Arguments and options" if len(panels) > 1 else "")
        parts.append(
            (f"**{title}**\n\n" if title else "") + table(("option", "meaning", "default"), rows)
        )
    return "\n".join(parts)


def _option(parameter):
    names = [*parameter.opts, *parameter.secondary_opts]
    if _is_argument(parameter):
        names = [parameter.metavar or parameter.name.upper()]
    elif not getattr(parameter, "is_flag", False):
        names[-1] += f" {parameter.metavar or _value(parameter)}"
    default = parameter.default
    shown = "" if default in (None, False, (), []) or callable(default) else f"`{default}`"
    if "Sentinel" in str(default) or "UNSET" in str(default):
        shown = ""
    return [f"`{', '.join(names)}`", parameter.help or "", shown]


def _value(parameter):
    kind = getattr(parameter.type_descriptor.annotation, "__name__", "")
    return {"Path": "PATH", "int": "INTEGER", "float": "NUMBER"}.get(kind, "TEXT")


# Settings


def settings():
    """List every setting with its type, default and meaning."""
    from kgflow.config import entries

    groups = {}
    for entry in entries():
        group = entry.key.rpartition(".")[0] or "experiment"
        groups.setdefault(group, []).append(entry)
    parts = [
        "# Settings\n",
        "Each can be set in a TOML file (`kgflow train --config FILE`), by `--set KEY=VALUE`, or in"
        ' Python (`kgflow.train(..., settings={"training.loss.margin": 2.0})`). The options of'
        " single models, `model.OPTION`, are listed on the page of [models](../models.md).\n",
    ]
    for group, found in groups.items():
        rows = [_setting(entry) for entry in found]
        parts += [f"## {group}\n", table(("key", "type", "default", "meaning", "only with"), rows)]
    return "\n".join(parts)


def _setting(entry):
    default = "" if entry.default is None else f"`{entry.default}`"
    only = ", ".join(f"`{name}`" for name in entry.components)
    return [f"`{entry.key}`", entry.type, default, entry.description, only]


# Python


def python_page(package):
    """Describe the public names of a package; those described elsewhere are links."""
    names = import_module(package).__all__
    elsewhere = sorted(n for n in names if public_names()[n] != f"{package}.{n}")
    rows = (f"{{py:obj}}`{package}.{name} <{public_names()[name]}>`" for name in elsewhere)
    also = f"\nAlso: {', '.join(rows)}.\n" if elsewhere else ""
    constants = "".join(_constant(package, n) for n in names if n not in elsewhere)
    left_out = f"   :exclude-members: {', '.join(elsewhere)}\n" if elsewhere else ""
    return (
        f"# {TITLES[package]}\n{also}\n```{{eval-rst}}\n.. automodule:: {package}\n"
        f"   :members:\n{left_out}   :show-inheritance:\n{constants}```\n"
    )


def _constant(package, name):
    """Describe a public name that is no class, function or module, by the text below it."""
    value = getattr(import_module(package), name)
    if inspect.isclass(value) or inspect.isroutine(value) or inspect.ismodule(value):
        return ""
    for module in (m for n, m in list(sys.modules.items()) if n.startswith("kgflow")):
        if vars(module).get(name) is value and hasattr(module, "__file__"):
            text = ModuleAnalyzer.for_module(module.__name__).find_attr_docs().get(("", name))
            if text:
                body = "".join(f"   {line}\n" for line in text)
                return f"\n.. py:data:: {name}\n\n{body}\n"
    return f"\n.. py:data:: {name}\n"


# HTTP


def http(run):
    """Describe the HTTP interface from its OpenAPI schema."""
    import kgflow
    from kgflow.serving.app import create_app

    found = create_app(kgflow.open(run)).openapi()
    parts = [
        "# HTTP interface\n",
        "`kgflow serve RUN` answers these requests, and describes them itself at"
        " `/v1/openapi.json`. Errors are `application/problem+json` with `title`, `status` and"
        " `detail`. How to run a server: [Serve a run](../how-to/serve.md).\n",
    ]
    for path, methods in found["paths"].items():
        for method, operation in methods.items():
            parts.append(_operation(f"{method.upper()} {path}", operation))
    parts.append("## Objects\n")
    for name, schema in found["components"]["schemas"].items():
        parts += [f"### {name}\n", _fields(schema)]
    return "\n".join(parts)


def _operation(title, operation):
    parts = [f"## {title}\n", plain(operation.get("description") or operation["summary"]) + "\n"]
    parameters = operation.get("parameters", [])
    if parameters:
        rows = [
            [f"`{p['name']}`", p["in"], _type(p["schema"]), p.get("description", "")]
            for p in parameters
        ]
        parts.append(table(("parameter", "in", "type", "meaning"), rows))
    body = operation.get("requestBody")
    if body:
        kinds = (_type(content["schema"]) for content in body["content"].values())
        parts.append(f"Request: {', '.join(kinds)}\n")
    answers = operation["responses"].get("200", {}).get("content", {})
    kinds = [_type(content.get("schema", {})) or kind for kind, content in answers.items()]
    if any(kinds):
        parts.append(f"Response: {', '.join(filter(None, kinds))}\n")
    return "\n".join(parts)


def _fields(schema):
    required = schema.get("required", [])
    rows = [
        [f"`{name}`", _type(field), "" if name in required else _default(field), _about(field)]
        for name, field in schema.get("properties", {}).items()
    ]
    about = plain(schema.get("description", ""))
    return (about + "\n\n" if about else "") + table(("field", "type", "default", "meaning"), rows)


def _default(field):
    return f"`{field['default']}`" if "default" in field else "optional"


def _about(field):
    return plain(field.get("description", ""))


def _type(schema):
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    choices = schema.get("anyOf") or schema.get("oneOf")
    if choices:
        return " or ".join(filter(None, map(_type, choices)))
    if "const" in schema:
        return f"`{schema['const']}`"
    if "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema["enum"])
    if schema.get("type") == "array":
        return f"list of {_type(schema.get('items', {})) or 'values'}"
    return schema.get("type", "")


# Files, data, report, formats


def run_files(run):
    """Describe the files of a run, which must be those that a run has."""
    found = {path.name for path in Path(run).iterdir()}
    if found != set(RUN_FILES):
        wrong = ", ".join(sorted(found ^ set(RUN_FILES)))
        raise ValueError(f"docs/_ext/reference.py describes other files than a run has: {wrong}")
    rows = [[f"`{name}`", about] for name, about in RUN_FILES.items()]
    return (
        "# Files of a run\n\nA run is a directory that works after it was moved or copied. No file"
        " contains code, so opening a run from elsewhere is safe. Files are written completely or"
        " not at all.\n\n"
        + table(("file", "contents"), rows)
        + "\n`index/`, which `kgflow serve --index` builds, holds a faiss index; delete it in a run"
        " from an untrusted source, because faiss does not validate its files.\n"
    )


def data_sets():
    """List the data catalogue."""
    from kgflow.data.catalog import entries

    keys = ("entities", "relations", "train", "valid", "test")
    rows = []
    for name, entry in entries().items():
        counts = [f"{getattr(entry, key):,}" if getattr(entry, key) else "" for key in keys]
        way = "included" if name == "world" else "`kgflow data download`" if entry.blob else ""
        rows.append([f"`{name}`", entry.about, *counts, way])
    return (
        "# Data sets\n\nNamed data sets lie in `$KGFLOW_DATA/NAME`, or in the user's cache after"
        " `kgflow data download NAME`. Those without an address are put there by hand. Counts are"
        " of the rows in the files. `kgflow data list` shows what is on your machine.\n\n"
        + table(("name", "contents", *keys, "from"), rows)
    )


def report_sections():
    """List the sections of the HTML report."""
    import kgflow.analysis.report.sections  # noqa: F401
    from kgflow.analysis.report.section import registered_sections

    rows = [[section.title, plain(type(section).__doc__)] for section in registered_sections()]
    return (
        "# Sections of the report\n\n`kgflow report RUN [RUN …]` writes one HTML file with these"
        " sections, in this order. A section of your own is one class: `Section` in"
        " `kgflow.analysis.report.section`.\n\n" + table(("section", "contents"), rows)
    )


def export_formats():
    """List the export formats with their options."""
    from kgflow.export import FORMATS

    rows = [
        [
            f"`{name}`",
            plain(kind.__doc__).split("\n")[0],
            ", ".join(map(_export_option, _own(kind))),
        ]
        for name, kind in sorted(FORMATS.items())
    ]
    return (
        "# Export formats\n\n`kgflow export RUN FORMAT --out PATH` writes a run for other programs."
        "\n\n" + table(("format", "contents", "options and defaults"), rows)
    )


def _own(kind):
    return kind.model_fields.items()


def _export_option(item):
    name, field = item
    return f"`{name}={field.default}`"
