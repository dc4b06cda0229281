"""Numbers of a table beside the printed ones."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from statistics import fmean, stdev

from kgflow.reproduction import Result
from kgflow.studies.printed import Numbers


@dataclass(frozen=True)
class Row:
    """A row of a table: its experiment file, the printed numbers, and what sets its runs apart."""

    title: str
    data: str
    model: str
    file: str
    printed: Numbers
    variant: str = ""


@dataclass(frozen=True)
class Measured:
    """A row run again, with one result per seed."""

    row: Row
    results: tuple[Result, ...]

    @property
    def done(self) -> list[Result]:
        """The results that have numbers."""
        return [r for r in self.results if r.mrr is not None]

    @property
    def command(self) -> str:
        """What a user types for the first of them."""
        return self.results[0].plan.command

    def numbers(self) -> list[list[float]]:
        """MRR, Hits@1 and Hits@10, each for every seed that has them."""
        found = [(r.mrr, r.hits1, r.hits10) for r in self.done]
        return [[x for x in column if x is not None] for column in zip(*found, strict=True)]


def comparison(found: Sequence[Measured]) -> str:
    """A table: each number, its spread over seeds, the printed one and the difference."""
    head = ["graph", "row", "n", "seeds"]
    for name, what in product(("MRR", "H@1", "H@10"), ("", " paper", " diff")):
        head.append(name + what)
    head += ["epochs", "s", "command"]
    lines = ["| " + " | ".join(head) + " |", "| --- | --- |" + " ---: |" * 13 + " --- |"]
    lines += ["| " + " | ".join(_cells(measured)) + " |" for measured in found]
    return "\n".join(lines)


def _cells(measured: Measured) -> list[str]:
    row, done = measured.row, measured.done
    command = f"`{measured.command}`"
    if not done:
        printed = [cell for n in row.printed for cell in ("–", f"{n:.3f}", "–")]
        return [row.data, row.title, "–", "0", *printed, "–", "–", command]
    cells = [row.data, row.title, str(done[0].dim), str(len(done))]
    for values, printed_one in zip(measured.numbers(), row.printed, strict=True):
        spread = f" ± {stdev(values):.3f}" if len(values) > 1 else ""
        mean = fmean(values)
        cells += [f"{mean:.3f}{spread}", f"{printed_one:.3f}", f"{mean - printed_one:+.3f}"]
    epochs = fmean(r.epochs or 0 for r in done)
    seconds = fmean(r.seconds or 0.0 for r in done)
    return [*cells, f"{epochs:.0f}", f"{seconds:.0f}", command]
