"""Code in the documentation runs: tutorials when the site is built, all other pages here."""

import csv
import re

import pytest

import kgflow
from endpoint import serve
from executed_pages import is_executed
from kgflow.runs import start
from prepare import BUILD, ROOT
from snippets import Workplace, blocks

DOCS = ROOT / "docs"
MADE = ("_build", "gallery", "reference", "results", "benchmarks")


def pages():
    for path in sorted(DOCS.rglob("*.md")):
        name = path.relative_to(DOCS)
        if name.parts[0] not in MADE:
            yield str(name.with_suffix(""))


def blocks_of(page):
    return blocks((DOCS / f"{page}.md").read_text(encoding="utf-8"))


OTHERS = [p for p in pages() if not is_executed(p) and any(b.runs for b in blocks_of(p))]


@pytest.fixture
def short_trainings(monkeypatch):
    """Train for two epochs in small dimension: what is learned is of no interest."""
    plain = start.run_experiment

    def short(experiment, *arguments, **options):
        changes = {"epochs": min(2, experiment.training.epochs)}
        model = experiment.model.model_copy(update={"dim": min(16, experiment.model.dim)})
        experiment = experiment.model_copy(
            update={"model": model, "training": experiment.training.model_copy(update=changes)}
        )
        return plain(experiment, *arguments, **options)

    monkeypatch.setattr(start, "run_experiment", short)


def write_facts(path):
    """Write facts with confidences, with the names that guides use."""
    names = kgflow.load("world")
    world = names.train
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["subject", "verb", "object", "confidence"])
        rows.writerows([["aspirin", "treats", x, 0.9] for x in ("headache", "pain", "fever")])
        for i, (h, r, t) in enumerate(zip(world.h, world.r, world.t, strict=True)):
            triple = names.entities[h], names.relations[r], names.entities[t]
            rows.writerow([*triple, 0.05 + 0.9 * (i % 7) / 7])


@pytest.fixture
def endpoint_of_people():
    """Address of a SPARQL endpoint, for pages that ask one at port 7878."""
    ox = pytest.importorskip("pyoxigraph", reason="pyoxigraph is not installed")
    store = ox.Store()
    facts = "".join(f"e:n{i} schema:knows e:n{(i + 1) % 9} ." for i in range(9))
    prefixes = "PREFIX e: <http://example.org/> PREFIX schema: <http://schema.org/>"
    store.update(f"{prefixes} INSERT DATA {{ {facts} }}")
    with serve(store) as running:
        yield running.address


@pytest.mark.filterwarnings("ignore")  # other libraries' own
@pytest.mark.parametrize("page", OTHERS)
def test_code_of_a_page_runs(page, site, short_trainings, tmp_path, request):
    text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
    if "localhost:7878" in text:
        address = request.getfixturevalue("endpoint_of_people")
        text = re.sub(r"http://localhost:7878/\w+", address, text)
    with Workplace(tmp_path, page, BUILD / "examples" / "runs" / "world") as place:
        write_facts(tmp_path / "facts.csv")
        for block in blocks(text):
            place.run(block)


def test_blocks_that_do_not_run_have_a_reason_and_are_the_minority():
    found = [b for page in pages() for b in blocks_of(page) if b.language in ("python", "sh")]
    left_out = [b for b in found if b.mark == "not run"]
    assert all(len(b.value) > 10 for b in left_out)
    assert 2 * len(left_out) < len(found), f"{len(left_out)} of {len(found)} blocks do not run"
