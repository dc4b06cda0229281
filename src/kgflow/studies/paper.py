"""The paper's own tables, run again beside the printed numbers."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import ClassVar

from kgflow.errors import KgflowError
from kgflow.reproduction import Plan, Result
from kgflow.studies.comparison import Measured, Row, comparison
from kgflow.studies.experiment_file import ExperimentFile
from kgflow.studies.printed import GRAPHS, TABLE_1, TABLE_2, TABLE_5
from kgflow.studies.study import Shown, Study


class PaperStudy(Study):
    """A table of the paper: experiment files, at some scale, with some seeds."""

    varies, keeps = ("scale", "seeds"), True
    about = (
        "each row with the settings of its experiment file, filtered ranks on test, ties"
        " realistic. Where there are several seeds, numbers are means ± standard deviations;"
        " diff is ours less the paper's; epochs and s, seconds of training, are means."
    )
    experiments: ClassVar[Path] = Path("experiments")

    @abstractmethod
    def rows(self) -> list[Row]:
        """All rows of the table."""

    def plans(self, models: Sequence[str], data: Sequence[str]) -> list[Plan]:
        """Rows times seeds."""
        found = [row for row in self.rows() if row.model in (models or [row.model])]
        found = [row for row in found if row.data in (data or [row.data])]
        if not found:
            raise KgflowError(f"{self.name} has no row of these models and graphs")
        if not self.experiments.is_dir():
            raise KgflowError(f"{self.experiments} is not here: run this in a checkout of kgflow")
        return [plan for row in found for plan in self.seeds(row)]

    def seeds(self, row: Row) -> list[Plan]:
        """The trainings behind a row."""
        file, scale = ExperimentFile(self.experiments / row.file), self.options.scale
        dim = self.options.dim(file.experiment.model.dim)
        words = ("train", "--config", str(file.path), "--dim", str(dim), "--seed")
        return [
            Plan(
                row.data,
                row.model,
                (*words, str(seed)),
                f"{row.variant}{scale}-{seed}",
                settings=file.settled(seed, dim),
            )
            for seed in range(self.options.seeds)
        ]

    def show(self, results: Sequence[Result]) -> Shown:
        """Each row with its mean and spread over seeds, the printed numbers and the difference."""
        by_plan, chosen = {result.plan: result for result in results}, []
        for row in self.rows():
            plans = self.seeds(row)
            if plans[0] in by_plan:
                chosen.append(Measured(row, tuple(by_plan[plan] for plan in plans)))
        told = [asdict(measured) | {"command": measured.command} for measured in chosen]
        return Shown(comparison(chosen), {"rows": told})


class Table1Study(PaperStudy):
    """The NFE family, TransE (as NFE-1-μ) and DistMult on three graphs.

    Example:
        >>> len(Table1Study(Path(), Path()).rows())
        18
    """

    name, title = "table1", "The paper's Table 1"

    def rows(self) -> list[Row]:
        """Models times graphs."""
        return [
            Row(model, data, model, f"{data}/{model}.toml", printed)
            for model, numbers in TABLE_1.items()
            for data, printed in zip(GRAPHS, numbers, strict=True)
        ]


class Table2Study(PaperStudy):
    """NFE-1 on WN18RR with ten values of 1/k².

    Example:
        >>> Table2Study(Path(), Path()).rows()[1].title
        '1/k² = 1/16'
    """

    name, title = "table2", "The paper's Table 2"

    def rows(self) -> list[Row]:
        """One for each value."""
        return [
            Row(f"1/k² = {key.replace('-', '/')}", "wn18rr", "nfe-1", file, printed, f"k{key}-")
            for key, printed in TABLE_2.items()
            for file in [f"wn18rr/table-2/{key}.toml"]
        ]


class Table5Study(PaperStudy):
    """NFE-3 on three graphs.

    Example:
        >>> [row.data for row in Table5Study(Path(), Path()).rows()]
        ['wn18rr', 'fb15k-237', 'yago3-10']
    """

    name, title = "table5", "The paper's Table 5"

    def rows(self) -> list[Row]:
        """One for each graph."""
        model = "nfe-3-softplus"
        return [
            Row(model, data, model, f"{data}/{model}.toml", printed)
            for data, printed in zip(GRAPHS, TABLE_5, strict=True)
        ]
