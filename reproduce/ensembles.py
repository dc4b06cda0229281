"""Ensembles of runs of the benchmarks."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from kgflow.errors import KgflowError
from reproduce.benchmarks import BenchmarksStudy
from reproduce.experiments import Row, read_rows
from reproduce.results import Record
from reproduce.running import Plan, Result
from reproduce.study import Shown, Study, table

HEAD = (
    "graph", "ensemble", "runs", "MRR", "best single", "H@1", "H@10", "valid MRR",
    "best single, valid", "min",
)  # fmt: skip


@dataclass(frozen=True)
class Ensemble:
    """A row of the table: an ensemble and its members."""

    row: Row
    record: Record
    members: tuple[Record, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the row as values for JSON."""
        # The best single run is chosen by validation, as a user would.
        best = max(self.members, key=lambda member: member.metric("mrr", "valid"))
        return {
            "graph": self.row.data,
            "title": self.row.title,
            "runs": list(self.row.runs),
            "mrr": self.record.metric("mrr"),
            "hits1": self.record.metric("hits@1"),
            "hits10": self.record.metric("hits@10"),
            "valid": self.record.metric("mrr", "valid"),
            "single": best.metric("mrr"),
            "single_valid": best.metric("mrr", "valid"),
            "minutes": sum(member.seconds for member in self.members) / 60,
        }

    def cells(self) -> list[str]:
        """Return the row as text."""
        found = self.to_dict()
        names = ("mrr", "single", "hits1", "hits10", "valid", "single_valid")
        title = self.row.title.replace("|", "\\|")
        cells = [self.row.data, title, str(len(self.row.runs))]
        return [*cells, *(f"{found[name]:.3f}" for name in names), f"{found['minutes']:.0f}"]


class EnsemblesStudy(Study):
    """Every row of ensembles.toml."""

    name, title, storable = "ensembles", "Ensembles", True
    about = (
        "each row is an ensemble of runs of `python -m reproduce benchmarks`, which scores by the"
        " mean of their scores. MRR and hits are of the test triples, filtered, both sides, ties"
        " realistic. best single is the MRR of the member with the highest validation MRR. Minutes"
        " are those of training all members."
    )

    def rows(self) -> list[Row]:
        """Return the chosen ensembles."""
        if self.options.models:
            raise KgflowError("ensembles have several models: leave --model out")
        return super().rows()

    def plans(self) -> list[Plan]:
        """Return the members, each once, and then the ensembles."""
        ensembles = [self._ensemble(row) for row in self.rows()]
        return [*dict.fromkeys(need for plan in ensembles for need in plan.needs), *ensembles]

    def _ensemble(self, row: Row) -> Plan:
        if len(row.runs) < 2:
            raise KgflowError(f"{self.file}: row '{row.id}' needs two or more 'runs'")
        return Plan(self.name, row.id, needs=tuple(self._member(row, text) for text in row.runs))

    def _member(self, row: Row, text: str) -> Plan:
        file = self.files / f"{BenchmarksStudy.name}.toml"
        by_id = {other.id: other for other in read_rows(file)}
        name, _, seed = text.partition(":")
        if name not in by_id or not seed.isdecimal() or by_id[name].data != row.data:
            raise KgflowError(
                f"{self.file}: '{text}' of row '{row.id}' is not a run: give the id of a row of"
                f" {file.name} on {row.data} and a seed, such as {row.data}/nfe-1:0"
            )
        values = by_id[name].settings(int(seed))
        return Plan(BenchmarksStudy.name, name, int(seed), values=values)

    def show(self, results: Sequence[Result]) -> Shown:
        """Return a table of the ensembles, and why others are missing."""
        by_plan, found, missing = {result.plan: result for result in results}, [], []
        for row in self.rows():
            plan = self._ensemble(row)
            parts = [by_plan[part] for part in (*plan.needs, plan) if part in by_plan]
            reasons = [part.skipped for part in parts if part.skipped]
            if reasons:
                missing.append(f"- {row.title} (`{row.id}`): {reasons[0]}.")
            elif parts:
                *members, whole = [part.record for part in parts if part.record is not None]
                found.append(Ensemble(row, whole, tuple(members)))
        text = table(HEAD, [ensemble.cells() for ensemble in found], words=2)
        if missing:
            text += "\n\nNot made:\n\n" + "\n".join(missing)
        return Shown(text, {"rows": [ensemble.to_dict() for ensemble in found]})
