"""The example of a new model runs, and its variable keeps the laws of the others."""

import math
import runpy
from pathlib import Path

import pytest
import torch
from scipy import stats

from kgflow.flows import Flow, moment
from kgflow.flows.coordinates import LINE, spline_gram
from kgflow.flows.spline import HALVES
from kgflow.models import MODELS
from laws import T, close, wasserstein

EXAMPLE = Path(__file__).parents[2] / "examples" / "custom_model.py"
SCALE = math.sqrt(0.5)
TWIN = stats.laplace(scale=SCALE)


@pytest.fixture
def example(monkeypatch):
    monkeypatch.setitem(MODELS, "nfe-2-laplace", None)  # so that it is taken away again
    return lambda name: runpy.run_path(str(EXAMPLE), run_name=name)


def test_it_prints_what_it_says(example, capsys):
    example("__main__")
    printed = capsys.readouterr().out
    assert "-0.3536   0.5000   0.0000" in printed, "E|x0| = √½, half of it on each side"
    line = next(line for line in printed.splitlines() if line.startswith("scores of"))
    scores = [float(s) for s in line.split(":")[-1].split(",")]
    assert "hits@10" in printed, "it trains like any other model"
    assert len(scores) == 5
    assert max(scores) < 0


def test_its_variable_is_scipys(example):
    x0 = example("example")["Laplace"]()
    z = torch.linspace(0.001, 0.999, 101, dtype=torch.float64)
    x = x0.icdf(z)
    close(x, T(TWIN.ppf(z.numpy())), 1e-12)
    close(x0.cdf(x), z, 1e-12)
    close(x0.log_prob(x), T(TWIN.logpdf(x.numpy())), 1e-10)
    close(x0.entropy(), TWIN.entropy(), 1e-12)
    assert moment(x0, 2, LINE) == pytest.approx(1, abs=1e-9)
    close(T(spline_gram(x0, HALVES)[0]), [1, -SCALE / 2, SCALE / 2], 1e-9)


def test_its_scores_are_the_integral(example):
    example("example")
    torch.manual_seed(0)
    model = MODELS["nfe-2-laplace"](3, 2, 2).double()
    for table in (model.entity, model.relation):
        table.weight.requires_grad_(False).normal_()
    f_h, f_t = (model.flow(model.entity.weight[i]).f for i in (0, 1))
    f_r = model.f_relation(*model.relation.split(model.relation.weight[1]))
    (score,) = model.score(*torch.tensor([[0], [1], [1]]))
    close(score, model.D(Flow(model.x0, f_r @ f_h), Flow(model.x0, f_t)), 1e-12)
    expected = 0.0
    for i in range(2):
        images = [lambda x, f=f, i=i: float(f(T(x))[i]) for f in (f_r @ f_h, f_t)]
        expected -= wasserstein(*images, lambda z: float(TWIN.ppf(z)))
    close(score, expected, 1e-6)
