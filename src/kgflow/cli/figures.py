"""kgflow reproduce figures."""

from collections.abc import Sequence
from pathlib import Path

from kgflow.cli.output import check_writable, say, show_json


def reproduce_figures(
    data: Sequence[str], out: Path, page: Path | None, jobs: int, json: bool
) -> None:
    """Train what is missing, draw the rules' histograms, and show how near the rules are."""
    from kgflow.insight.figures import draw_figures, figures_page
    from kgflow.reproduction import figures, reproduce
    from kgflow.run import Run

    if page is not None:
        check_writable(page)
    directory = page.parent / "figures" if page is not None else out / "figures"
    drawn, done = [], []
    for result in reproduce(figures(data), out, jobs, say):
        plan = result.plan
        if result.skipped:
            say(f"{plan.data} skipped: {result.skipped}")
            continue
        done.append(f"- `{plan.command}` (test MRR {result.mrr:.3f})")
        drawn += draw_figures(Run.open(out / f"{plan.data}-{plan.model}"), plan.data, directory)
    text = figures_page(drawn, page if page is not None else out / "figures.md")
    if page is not None:
        words = ["kgflow reproduce figures", *(f"--data {name}" for name in data), "--page", page]
        command = " ".join(map(str, words))
        page.write_text(_page(command, text, done), encoding="utf-8")
    if json:
        found = [
            {
                "data": d.figure.data,
                "rule": d.figure.title,
                "file": str(d.path),
                "median_scale": d.medians[0],
                "median_shift": d.medians[1],
                "others_scale": d.others[0],
                "others_shift": d.others[1],
            }
            for d in drawn
        ]
        show_json({"figures": found})
    else:
        print(text)


def _page(command: str, text: str, runs: Sequence[str]) -> str:
    from kgflow.provenance import provenance

    trained = "\n".join(runs)
    return f"""# The rules NFE-1 learns

Printed by `{command}`, after Figures 3 to 6 of the paper.

A relation is the function σ x + μ. For symmetry and antisymmetry the statistics are |σσ - 1| and
|σμ + μ|, for the inverse |σ₂σ₁ - 1| and |σ₂μ₁ + μ₂|, for a composition |σ₂σ₁ - σ₃| and
|σ₂μ₁ + μ₂ - μ₃|, of each coordinate; all would be 0 for an exact rule. In brackets and dashed: the
same with other relations in the rule's place. Figure 6 has the first two relations in the order in
which the graph has paths.

Where scales are below 1 in size, |σσ - 1| is nearer to 1 than to 0 even if a relation is symmetric.
So `kgflow rules`, of which belief, distance, support and confidence are, compares a relation with
its reciprocal, which the model learns too: 0 is the same function, 1 as different as any two.

{text}

Trained by

{trained}

{provenance()}
"""
