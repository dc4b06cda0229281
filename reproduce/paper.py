"""The tables of the paper, run again beside the printed numbers."""

from collections.abc import Sequence
from functools import cache
from itertools import product
from pathlib import Path
from statistics import fmean, stdev

from reproduce.experiments import Row, read_rows
from reproduce.running import Plan, Result
from reproduce.small import to_dict
from reproduce.study import Shown, Study, table

METRICS = {"MRR": "mrr", "H@1": "hits@1", "H@10": "hits@10"}


class PaperStudy(Study):
    """A table of the paper, at some scale, with some seeds."""

    varies, storable = ("scale", "seeds"), True
    about = (
        "each row with the published settings, filtered ranks on test, ties realistic. With several"
        " seeds, numbers are means ± standard deviations; diff is ours minus the paper's; epochs"
        " and s, seconds of training, are means."
    )

    def seeds(self, row: Row) -> list[Plan]:
        """Return the runs of a row at the chosen scale, one per seed."""
        scale, seeds = self.options.scale, range(self.options.seeds)
        dim = self.options.dim(row.settings()["model"]["dim"])
        return [Plan(self.name, row.id, seed, scale, row.settings(seed, dim)) for seed in seeds]

    def show(self, results: Sequence[Result]) -> Shown:
        """Return each row with mean and standard deviation, printed numbers and difference."""
        by_plan = {result.plan: result for result in results}
        lines, values = [], []
        for row in self.rows():
            mine = [by_plan[plan] for plan in self.seeds(row) if plan in by_plan]
            if mine:
                lines.append(comparison(row, mine))
                results_of_row = [to_dict(result) for result in mine]
                values.append({"row": row.id, "published": row.published, "runs": results_of_row})
        head = ["graph", "row", "n", "seeds"]
        head += [name + what for name, what in product(METRICS, ("", " paper", " diff"))]
        return Shown(table([*head, "epochs", "s"], lines, words=2), {"rows": values})


class Table1Study(PaperStudy):
    """The NFE family, TransE (as NFE-1-μ) and DistMult on three graphs."""

    name, title = "table1", "The paper's Table 1"


class Table2Study(PaperStudy):
    """NFE-1 on WN18RR with ten values of 1/k²."""

    name, title = "table2", "The paper's Table 2"


class Table5Study(PaperStudy):
    """NFE-3 on three graphs."""

    name, title = "table5", "The paper's Table 5"


def comparison(row: Row, results: Sequence[Result]) -> list[str]:
    """Return the cells of a row: each metric, the printed one and the difference."""
    done = [result.record for result in results if result.record is not None]
    if not done:
        printed = [cell for x in row.published for cell in ("–", f"{x:.3f}", "–")]
        return [row.data, row.title, "–", "0", *printed, "–", "–"]
    cells = [row.data, row.title, str(done[0].dim), str(len(done))]
    for name, printed_one in zip(METRICS.values(), row.published, strict=True):
        values = [record.metric(name) for record in done]
        cells += [spread(values), f"{printed_one:.3f}", f"{fmean(values) - printed_one:+.3f}"]
    epochs, seconds = fmean(len(r.history) for r in done), fmean(r.seconds for r in done)
    return [*cells, f"{epochs:.0f}", f"{seconds:.0f}"]


def spread(values: Sequence[float]) -> str:
    """Return the mean and, of several values, the standard deviation.

    Example:
        >>> spread([0.5]), spread([0.5, 0.54]), spread([])
        ('0.500', '0.520 ± 0.028', '–')
    """
    if not values:
        return "–"
    return f"{fmean(values):.3f}" + (f" ± {stdev(values):.3f}" if len(values) > 1 else "")


def published(row: Row) -> tuple[float, ...] | None:
    """Return MRR, Hits@1 and Hits@10 of Table 1 or 5 for the model and graph of a row.

    The settings of the model must be those of the paper, except its dimension.

    Example:
        >>> published(Row("a", "a", {"data": "wn18rr", "model": {"name": "nfe-1"}}))
        (0.483, 0.438, 0.576)
        >>> published(Row("a", "a", {"data": "umls", "model": {"name": "nfe-1"}}))
    """
    tables = _tables(Study.files)
    same = [x for x in tables if x.data == row.data and x.model == row.model]
    return next((x.published for x in same if _model(x) == _model(row)), None)


@cache
def _tables(files: Path) -> list[Row]:
    return [row for name in ("table1", "table5") for row in read_rows(files / f"{name}.toml")]


def _model(row: Row) -> dict[str, object]:
    return row.settings()["model"] | {"dim": None}
