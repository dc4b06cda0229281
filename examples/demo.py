"""The main job, start to end, on the embedded data set: train, evaluate, predict, report."""

import shutil
import time
from pathlib import Path

import kgflow
from kgflow.analysis import entity_uncertainty, explain, learned_rules, overview, write_report
from kgflow.cli.evaluate import show
from kgflow.cli.output import frame_rows, table
from kgflow.cli.progress import ProgressBar
from kgflow.config import TrainingConfig

OUT = Path("runs/demo")
QUESTIONS = (
    {"head": "France", "relation": "borders"},
    {"head": "Peru", "relation": "has_currency"},
    {"relation": "capital_of", "tail": "Kenya"},
    {"head": "Portugal", "tail": "Spain"},
)
PICTURED = ("France", "Germany", "Peru", "Western Europe", "euro")


def main() -> None:
    began = time.monotonic()
    world = kgflow.load("world")
    print(f"{world}\n")
    shutil.rmtree(OUT, ignore_errors=True)
    with ProgressBar(TrainingConfig().epochs) as bar:
        run = kgflow.train(world, model="nfe-1", dim=128, out=OUT, callbacks=[bar])
    show(run.metrics)
    for question in QUESTIONS:
        answers = run.predict(**question, k=5)
        title = "({head}, {relation}, {tail})".format(
            **({"head": "?", "relation": "?", "tail": "?"} | question)
        )
        columns = ("answer", "probability", "certainty", "known")
        table(title, columns, frame_rows(answers, columns))
    for explanation in explain(run, "Portugal", "borders", "Spain", n=2):
        print(f"explanation of (Portugal, borders, Spain): {explanation.text}")
    print(f"(Peru, has_currency, ?): {run.prediction_set(head='Peru', relation='has_currency')}\n")
    rules = learned_rules(run, k=2)
    columns = ("rule", "support", "confidence", "model_confidence", "agreement")
    table("rules of the model and the graph", columns, frame_rows(rules, columns))
    entities = entity_uncertainty(run)
    columns = ("entity", "type", "certainty", "degree")
    table("most certain entities", columns, frame_rows(entities.head(5), columns))
    table("least certain entities", columns, frame_rows(entities.tail(5).reverse(), columns))
    new = run.discover(k=5)
    columns = ("head", "relation", "tail", "probability")
    table("facts that are not in the data, most likely first", columns, frame_rows(new, columns))
    picture = overview(run, PICTURED, OUT / "overview.png")
    report = write_report([run], OUT / "report.html").page
    print(f"run:     {OUT}\npicture: {picture}\nreport:  {report}")
    print(f"seconds: {time.monotonic() - began:.0f}")


if __name__ == "__main__":
    main()
