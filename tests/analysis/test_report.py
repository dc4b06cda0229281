"""The report: one file that holds everything, the same for the same runs."""

import re
from dataclasses import replace

import numpy as np
import pytest

import kgflow
from graphs import random_graph
from kgflow.analysis.layout import MAX_TSNE, groups, layout
from kgflow.analysis.report import (
    Paragraph,
    Plot,
    ReportContext,
    Section,
    Table,
    registered_sections,
    write_report,
)
from kgflow.analysis.report.sections.calibration import COVERAGES, Calibration, PredictionSets
from kgflow.analysis.report.sections.entities import Densities, EntityMap
from kgflow.analysis.report.sections.metrics import (
    MAX_RELATIONS,
    RankingMetrics,
    RelationMetrics,
    RunComparison,
)
from kgflow.analysis.report.sections.rules import Rules
from kgflow.analysis.report.sections.settings import LearningCurve
from kgflow.analysis.report.sections.summary import MissingFacts, Summary, percent
from kgflow.data import Dataset, Triples, Vocabulary
from kgflow.errors import KgflowError


class Broken(Section):
    id, title, order = "broken", "Broken", 0

    def contents(self, context):
        yield Paragraph("not shown")
        raise KgflowError("this model cannot be so described")


def test_every_section_is_there_and_in_the_contents(report):
    page = report.page.read_text()
    for section in registered_sections():
        assert f'<section id="{section.id}"' in page
        assert f'<a href="#{section.id}">{section.title}</a>' in page
    assert report.sections == tuple(section.id for section in registered_sections())


def test_the_page_needs_nothing_else_and_its_ids_are_its_own(report):
    page = report.page.read_text()
    links = re.findall(r'(?:href|src)="([^"]*)"', page)
    assert all(link.startswith(("#", "data:")) for link in links)
    assert not re.search(r"<script|@import|url\((?!#)", page)
    ids = re.findall(r'\sid="([^"]*)"', page)
    assert len(ids) == len(set(ids))
    assert {link[1:] for link in links if link.startswith("#")} <= set(ids)


def test_every_picture_is_named_and_also_a_png(report):
    page = report.page.read_text()
    drawn = re.findall(r"<svg [^>]*>", page)
    assert len(drawn) == len(report.plots)
    assert all('role="img"' in svg and 'aria-label="' in svg for svg in drawn)
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in report.plots)
    assert {path.parent.name for path in report.plots} == {"both_files"}


def test_the_same_runs_give_the_same_bytes(runs, report, tmp_path):
    again = write_report(runs, tmp_path / "again.html", entities=["e5", "the third"])
    assert again.page.read_bytes() == report.page.read_bytes()
    for one, other in zip(report.plots, again.plots, strict=True):
        assert one.read_bytes() == other.read_bytes()


def test_a_model_without_densities_says_so(report):
    page = report.page.read_text()
    assert "<p>distmult has no densities: its x0 is a point, or discrete.</p>" in page
    names = [path.name for path in report.plots]
    assert "densities-1.png" in names
    assert "densities-2.png" not in names


def test_a_model_without_uncertainty_shows_what_it_has_and_says_so(report):
    page = report.page.read_text()
    assert "<p>distmult has no entropies: its x0 is a point, or discrete.</p>" in page
    names = {path.stem for path in report.plots}
    assert "entropy-1" in names
    assert "entropy-2" not in names


def test_a_run_without_calibration_set_has_no_prediction_sets(tmp_path):
    data = random_graph(entities=20, relations=2, facts=90, held_out=25)
    run = kgflow.train(
        data, dim=2, epochs=1, settings={"training.conformal_fraction": 0}, out=tmp_path / "run"
    )
    found = write_report([run], tmp_path / "x.html", sections=[PredictionSets()])
    assert "held out no validation triples" in found.page.read_text()
    assert found.plots == ()


def test_sets_and_probabilities_are_those_of_the_run(runs, report):
    page = report.page.read_text()
    for run in runs:
        for coverage in COVERAGES:
            sets = run.coverage(coverage=coverage, nonconformity="rank")
            assert f"{100 * sets.covered.mean():.1f} %" in page
        found = run.reliability()
        for name, title in (("brier", "Brier score"), ("ece", "ECE")):
            before, after = found["before"][name], found["after"][name]
            cells = f'<td>{title}</td><td class="n">{before:.3f}</td><td class="n">{after:.3f}</td>'
            assert cells in page


def test_a_run_without_calibration_says_so(runs, tmp_path):
    import shutil

    copy = shutil.copytree(runs[0].directory, tmp_path / "bare")
    (copy / "calibration.json").unlink()
    bare = kgflow.Run.open(copy)
    page = write_report([bare], tmp_path / "x.html", sections=[Calibration()]).page.read_text()
    assert "bare is not calibrated" in page


def test_rules_are_listed_with_their_histograms_where_the_model_has_them(tmp_path):
    facts = Triples.of([(a, 0, b) for a in range(12) for b in (a ^ 1, a ^ 2)])
    names = Vocabulary([f"e{i}" for i in range(12)]), Vocabulary(["/a/near"], kind="relation")
    for model, pictures in (("nfe-1", 1), ("rescal", 0)):
        data = Dataset("d", *names, facts, test=facts.take(slice(4)))
        run = kgflow.train(data, model, 8, epochs=30, lr=0.05, out=tmp_path / model)
        found = write_report([run], tmp_path / f"{model}.html", sections=[Rules()])
        assert "near is symmetric</th>" in found.page.read_text()
        assert len(found.plots) == pictures


def test_the_numbers_are_those_of_the_evaluation(runs, report):
    page = report.page.read_text()
    for run, evaluation in zip(runs, report.context.evaluations, strict=True):
        expected = run.evaluate("test")["realistic"]
        assert evaluation["realistic"] == expected
        assert f"<dt>MRR</dt><dd>{expected['mrr']:.3f}</dd>" in page


def test_the_report_opens_with_the_run_in_words(runs, report):
    page = report.page.read_text()
    for run, evaluation in zip(runs, report.context.evaluations, strict=True):
        text = page.split(f"<h3>{run.directory.name}</h3>\n<p>")[1].split("</p>")[0]
        metrics = evaluation["realistic"]
        assert f"The model is {run.config.model.name} of dimension 8." in text
        assert f"{percent(metrics['hits@10'])} of the queries" in text
        assert f"(MRR) is {metrics['mrr']:.3f}" in text
        sets = run.coverage(coverage=0.9, nonconformity="rank")
        assert f"did for {100 * sets.covered.mean():.1f} % of the test queries" in text
        best = run.discover(1).row(0, named=True)
        fact = " ".join(best[name] for name in ("head_label", "relation", "tail_label"))
        assert f"{fact} ({percent(best['probability'])}, {best['trust']})" in text


def test_missing_facts_are_those_of_discovery(runs, tmp_path):
    found = write_report(runs[:1], tmp_path / "x.html", sections=[MissingFacts()])
    page, rows = found.page.read_text(), found.context.missing[0]
    expected = runs[0].discover(len(rows))["probability"]
    assert rows["probability"][0] == expected[0]
    assert page.count(f"<td>{rows['trust'][0]}</td>") >= 1
    assert page.count('<th scope="row"') == len(rows)


def test_large_graphs_are_not_searched_for_missing_facts(runs, tmp_path, monkeypatch):
    monkeypatch.setattr("kgflow.analysis.report.section.MAX_SCORES", 10)
    sections = [Summary(), MissingFacts()]
    page = write_report(runs[:1], tmp_path / "x.html", sections=sections).page.read_text()
    assert page.count("too large to look for missing facts in a report") == 2


def test_one_run_has_nothing_to_compare_and_a_run_with_itself_differs_by_nothing(runs, tmp_path):
    alone = write_report(
        runs[:1], tmp_path / "one.html", sections=[RunComparison(), RankingMetrics()]
    )
    assert alone.sections == ("metrics",)
    twice = write_report([runs[0]] * 2, tmp_path / "two.html", sections=[RunComparison()])
    assert twice.context.names == ("nfe-1 (1)", "nfe-1 (2)")
    assert "have the same rank for every query" in twice.page.read_text()


def test_what_cannot_be_said_is_one_sentence(runs, tmp_path):
    found = write_report(runs[:1], tmp_path / "x.html", sections=[Broken()])
    page = found.page.read_text()
    assert "<p>this model cannot be so described.</p>" in page
    assert "not shown" not in page


def test_names_are_shown_as_they_are(tmp_path):
    data = random_graph(entities=40, relations=3, facts=120)
    names = ["<b>bold</b>", 'a "quoted" $x_1$ name', "長い名前"]
    odd = replace(data, relations=Vocabulary(names, kind="relation"))
    run = kgflow.train(odd, dim=4, epochs=1, out=tmp_path / "run")
    sections = [RelationMetrics(), EntityMap()]
    page = write_report([run], tmp_path / "odd.html", sections=sections).page.read_text()
    assert "<b>" not in page
    assert "&lt;b&gt;bold&lt;/b&gt;" in page
    assert "$x_1$" in page


def test_a_run_before_its_first_epoch_has_no_curve(runs, tmp_path, monkeypatch):
    monkeypatch.setattr(type(runs[0]), "history", [])
    found = write_report(runs[:1], tmp_path / "young.html", sections=[LearningCurve()])
    assert "no epoch is finished yet" in found.page.read_text()
    assert found.plots == ()


def test_many_relations_are_the_largest_and_the_others(tmp_path):
    data = random_graph(entities=60, relations=MAX_RELATIONS + 9, facts=900, held_out=200)
    run = kgflow.train(data, dim=2, epochs=1, out=tmp_path / "run")
    page = write_report(
        [run], tmp_path / "many.html", sections=[RelationMetrics()]
    ).page.read_text()
    svg, table = page.split("</svg>")
    assert re.search(r"9 others \(\d+\)", svg)
    assert table.count('scope="row"') == MAX_RELATIONS + 9
    asked = [int(n) for n in re.findall(r'</th><td class="n">(\d+)</td>', table)]
    assert asked == sorted(asked, reverse=True)


@pytest.mark.parametrize(
    ("keywords", "said"),
    [
        ({"entities": ["Atlantis"]}, "unknown entity 'Atlantis'"),
        ({"entities": ["e1"] * 7}, "at most 6"),
        ({"split": "tset"}, "unknown split"),
    ],
)
def test_what_is_not_known_is_refused_first(runs, keywords, said):
    with pytest.raises(KgflowError, match=said):
        ReportContext(runs, **keywords)


def test_runs_of_other_data_are_refused(runs, tmp_path):
    other = kgflow.train(random_graph(), dim=2, epochs=1, out=tmp_path / "run")
    with pytest.raises(KgflowError, match="was trained on other data than"):
        ReportContext([runs[0], other])
    with pytest.raises(KgflowError, match="one run or more"):
        ReportContext([])


def test_densities_are_of_the_chosen_entities(runs, tmp_path):
    out, sections = tmp_path / "one.html", [Densities()]
    page = write_report(runs[:1], out, entities=["the third"], sections=sections).page
    assert "Densities of the third in" in page.read_text()


def test_tables_put_numbers_right_and_words_left():
    html = Table("t", ("name", "count", "part"), [["a", 1, "+0.1"], ["b", None, "−0.2"]]).html()
    assert html.count('class="n"') == 6
    mixed = [["a", "< 0.001", "+0.1 to +0.2", "both"], ["b", "0.2", "−0.1 to 3 %", "–"]]
    assert Table("t", ("name", "p", "interval", "word"), mixed).html().count('class="n"') == 6
    assert "<td" not in Table("t", ("name",), []).html()


def test_ids_within_names_of_the_data_stay():
    def draw(figure):
        figure.subplots().set_title('the id="x" of url(#y)')

    assert 'the id="x" of url(#y)' in Plot.draw("p", "alt", "caption", draw).svg


def test_layout_is_seeded_and_keeps_neighbours(runs):
    one, other = layout(runs[0]), layout(runs[0])
    assert one.method == "t-SNE"
    assert one.model_distance
    assert not layout(runs[1]).model_distance
    assert np.array_equal(one.positions, other.positions)
    assert np.isfinite(one.positions).all()


@pytest.mark.parametrize("entities", [2, 3, 5, MAX_TSNE + 1])
@pytest.mark.parametrize("model", ["distmult", "nfe-1"])
def test_graphs_of_any_size_have_a_map(tmp_path, entities, model):
    facts = Triples.of([(e, 0, 0) for e in range(entities)])
    names = Vocabulary([f"e{e}" for e in range(entities)]), Vocabulary(["r"], kind="relation")
    run = kgflow.train(Dataset("d", *names, facts), model, 1, epochs=1, out=tmp_path / "run")
    found = layout(run)
    assert found.positions.shape == (entities, 2)
    assert (found.method == "PCA") == (entities <= 3 or entities > MAX_TSNE)


def test_groups_go_by_type_and_else_by_use():
    world = kgflow.load("world")
    typed = groups(world)
    assert typed.by == "type"
    sizes = [int((typed.index == i).sum()) for i in range(len(typed.names))]
    assert sizes == sorted(sizes, reverse=True)
    assert typed.names[:2] == ("city", "country")
    used = groups(replace(world, types={}), count=3)
    # The same, entity by entity.
    without, facts = set(range(len(world.entities))), world.train
    for place, name in enumerate(used.names):
        having = {}
        for side, ends in (("head", facts.h), ("tail", facts.t)):
            for e, r in zip(ends.tolist(), facts.r.tolist(), strict=True):
                if e in without:
                    having.setdefault(f"{side} of {world.relations[r]}", set()).add(e)
        assert len(having[name]) == max(map(len, having.values()))
        assert set(np.flatnonzero(used.index == place).tolist()) == having[name]
        without -= having[name]
    assert set(np.flatnonzero(used.index < 0).tolist()) == without
