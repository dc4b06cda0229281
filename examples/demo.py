"""The main job on the embedded graph: train, evaluate, predict, explain, discover, report."""

import shutil
import time
from pathlib import Path

import polars as pl
from rich.console import Console
from rich.table import Table

import kgflow
from kgflow.analysis import (
    entity_uncertainty,
    explain,
    find_rules,
    overview,
    rules_frame,
    write_report,
)
from kgflow.training import Callback

OUT = Path("runs/demo")
QUERIES = (
    {"head": "France", "relation": "borders"},
    {"head": "Peru", "relation": "has_currency"},
    {"relation": "capital_of", "tail": "Kenya"},
    {"head": "Portugal", "tail": "Spain"},
)
PLOTTED = ("France", "Germany", "Peru", "Western Europe", "euro")
console = Console()
# In a pipe or a file, tables need no line breaks.
console.width = console.width if console.is_terminal else 120


class Epochs(Callback):
    """Print the validation MRR every ten epochs."""

    def on_epoch(self, record: dict[str, float]) -> None:
        """Print a line."""
        if record["epoch"] % 10 == 0:
            console.print(f"epoch {record['epoch']:3}   validation MRR {record['mrr']:.3f}")


def show(title: str, frame: pl.DataFrame) -> None:
    table = Table(title=title, title_justify="left", title_style="bold")
    for name, kind in frame.schema.items():
        table.add_column(name, justify="right" if kind.is_numeric() else "left")
    for row in frame.rows():
        table.add_row(*(cell(value) for value in row))
    console.print(table)


def cell(value: object) -> str:
    if value is None or isinstance(value, bool):
        return "yes" if value else ""
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def metrics(run: kgflow.Run) -> pl.DataFrame:
    names = {"mrr": "MRR", "hits@1": "Hits@1", "hits@3": "Hits@3", "hits@10": "Hits@10"}
    rows = [
        {"split": split, **{title: found["realistic"][key] for key, title in names.items()}}
        for split, found in run.metrics.items()
    ]
    return pl.DataFrame(rows)


def main() -> None:
    began = time.monotonic()
    world = kgflow.load("world")
    console.print(f"{world}\n")
    shutil.rmtree(OUT, ignore_errors=True)
    run = kgflow.train(world, model="nfe-1", dim=128, out=OUT, callbacks=[Epochs()])
    show("filtered ranking metrics", metrics(run))
    for query in QUERIES:
        answers = run.predict(**query, k=5)
        title = "({head}, {relation}, {tail})".format(
            **{"head": "?", "relation": "?", "tail": "?"} | query
        )
        show(title, answers.select("answer", "probability", "known"))
    for explanation in explain(run, "Portugal", "borders", "Spain", n=2):
        console.print(f"why (Portugal, borders, Spain)? {explanation.text}")
    answers = run.prediction_set(head="Kenya", relation="speaks")
    console.print(f"(Kenya, speaks, ?): {answers}\n")
    rules = rules_frame(run, find_rules(run, k=2)).select(
        "rule", "model_confidence", "support", "confidence"
    )
    show("rules that the model learned", rules)
    certainty = pl.col("certainty").round().cast(pl.Int64)
    entities = entity_uncertainty(run).select("entity", "type", certainty, "degree")
    show("most certain entities (percentile)", entities.head(5))
    show("least certain entities (percentile)", entities.tail(5).reverse())
    facts = run.discover(k=5).select("head", "relation", "tail", "probability")
    show("most probable facts that are not in the graph", facts)
    plot = overview(run, PLOTTED, OUT / "overview.png")
    report = write_report([run], OUT / "report.html").page
    console.print(f"run      {OUT}\nplot     {plot}\nreport   {report}")
    console.print(f"seconds  {time.monotonic() - began:.0f}")


if __name__ == "__main__":
    main()
