"""PyKEEN's data is read with its ids, and NFE scores there as here.

PyKEEN's own cases for interactions are not in its wheel: `test_scores_*` check what these check:
shapes of the four score functions, slices, broadcasting, gradients, and scores written out.
"""

import gzip
import math
import warnings

import numpy as np
import pytest
import torch

import kgflow
from graphs import build, random_graph
from kgflow.data import Dataset
from kgflow.errors import KgflowError

pytest.importorskip("pykeen", reason="the extra `peers` is not installed")
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # PyKEEN's own
    from pykeen.datasets import Nations
    from pykeen.evaluation import RankBasedEvaluator
    from pykeen.pipeline import pipeline
    from pykeen.triples import CoreTriplesFactory, TriplesFactory

    from kgflow.interop.pykeen import INTERACTIONS, to_pykeen

NFE = sorted(INTERACTIONS)
OPTIONS = [(name, {}) for name in NFE] + [
    ("nfe-2", {"form": "paper"}),
    ("nfe-2", {"x0": "uniform"}),
]
B, E, R, D = 3, 7, 5, 4


def parts(shape, dims):
    return tuple(torch.rand(*dims, D, requires_grad=True) for _ in shape)


def triples(data):
    return {split: data.split(split).array().tolist() for split in ("train", "valid", "test")}


@pytest.fixture(params=OPTIONS, ids=str)
def interaction(request):
    name, options = request.param
    return INTERACTIONS[name](**options)


def inputs(interaction, h, r, t):
    shapes = interaction.head_shape, interaction.relation_shape, interaction.tail_shape
    return {k: parts(s, d) for k, s, d in zip("hrt", shapes, (h, r, t), strict=True)}


def check(scores, shape):
    assert scores.shape == shape
    assert scores.dtype == torch.float32
    assert torch.isfinite(scores).all()
    assert scores.requires_grad


@pytest.mark.parametrize("size", [1, B])
def test_scores_have_the_shapes_of_pykeen(interaction, size):
    x = inputs(interaction, (size,), (size,), (size,))
    check(interaction.score_hrt(**x), (size, 1))
    for side, count in (("h", E), ("r", R), ("t", E)):
        dims = {"h": (size,), "r": (size,), "t": (size,)} | {side: (count,)}
        x = inputs(interaction, **dims)
        name = "all_relations" if side == "r" else "all_entities"
        x = {(name if k == side else k): v for k, v in x.items()}
        score = getattr(interaction, f"score_{side}")
        check(score(**x), (size, count))
        torch.testing.assert_close(score(**x, slice_size=count // 2 + 1), score(**x))


@pytest.mark.parametrize(
    ("h", "r", "t"),
    [
        ((), (), ()),
        ((B, 1, 1), (1, R, 1), (B, 1, E // 2 + 1)),
        ((1, 1, 1), (1, R, 1), (B, 1, E)),
        ((E, 1, 1), (1, R, 1), (1, 1, E)),
    ],
)
def test_scores_broadcast(interaction, h, r, t):
    x = inputs(interaction, h, r, t)
    scores = interaction(**x)
    check(scores, tuple(map(max, zip(h, r, t, strict=True))))
    scores.sum().backward()
    assert all(torch.isfinite(part.grad).all() and part.grad.any() for k in x for part in x[k])


def nfe1(h, r, t):
    terms = zip(*h, *r, *t, strict=True)
    return -sum((s * a + m - b) ** 2 + (abs(s * p) - abs(q)) ** 2 for a, p, m, s, b, q in terms)


def nfe2(h, r, t):
    total = 0
    for a, p1, p2, m, s, b, q1, q2 in zip(*h, *r, *t, strict=True):
        gap, d1, d2 = s * a + m - b, abs(s * p1) - abs(q1), abs(s * p2) - abs(q2)
        if s < 0:
            d1, d2 = abs(s * p2) - abs(q1), abs(s * p1) - abs(q2)
        total += gap**2 + (d1**2 + d2**2) / 2 + math.sqrt(2 / math.pi) * gap * (d2 - d1)
    return -total


def nfe3(h, r, t):
    total = 0
    for a, p, m, s, b, q in zip(*h, *r, *t, strict=True):
        mean, scale = s * a + m, abs(s * p)
        total += math.log(abs(q) / scale) + (scale**2 + (mean - b) ** 2) / (2 * q**2) - 0.5
    return -total


@pytest.mark.parametrize(("name", "expected"), [("nfe-1", nfe1), ("nfe-2", nfe2), ("nfe-3", nfe3)])
def test_scores_are_those_written_out(name, expected):
    torch.manual_seed(0)
    interaction = INTERACTIONS[name]()
    for _ in range(10):
        x = inputs(interaction, (), (), ())
        x = {k: tuple((2 * part - 1).detach() for part in v) for k, v in x.items()}
        plain = {k: [part.tolist() for part in v] for k, v in x.items()}
        assert interaction(**x).item() == pytest.approx(expected(**plain), rel=1e-4)


def test_an_interaction_has_no_parameters_of_its_own(interaction):
    assert not list(interaction.parameters())
    assert not interaction.state_dict()


@pytest.mark.parametrize(("name", "options"), OPTIONS, ids=str)
def test_the_same_embeddings_have_the_same_scores(name, options):
    torch.manual_seed(1)
    model = build(name, E, 2 * R, D, options)
    h, r, t = (torch.randint(n, (50,)) for n in (E, 2 * R, E))
    given = (model.entity.split(model.entity(h)), model.relation.split(model.relation(r)),
             model.entity.split(model.entity(t)))  # fmt: skip
    found = INTERACTIONS[name](**options)(*given)
    torch.testing.assert_close(found, model.score(h, r, t), atol=1e-5, rtol=1e-5)


def test_options_without_an_interaction_are_refused():
    with pytest.raises(KgflowError, match="has no interaction in PyKEEN"):
        INTERACTIONS["nfe-3"](scale="softplus")


@pytest.fixture(scope="module")
def nations():
    return Nations(create_inverse_triples=True)


@pytest.mark.filterwarnings("ignore")
def test_a_pipeline_trains_with_an_interaction(nations):
    found = pipeline(
        dataset=nations,
        interaction=INTERACTIONS["nfe-1"],
        dimensions={"d": 8},
        training_kwargs={"num_epochs": 1, "use_tqdm": False, "use_tqdm_batch": False},
        evaluation_kwargs={"use_tqdm": False},
        random_seed=0,
        device="cpu",
    )
    assert len(found.losses) == 1
    assert 0 < found.get_metric("mrr") < 1


@pytest.mark.parametrize("name", NFE)
def test_a_run_has_the_same_scores_in_pykeen(name, nations, tmp_path):
    run = kgflow.train(kgflow.load(nations), name, dim=4, epochs=1, out=tmp_path / "run")
    shuffled = nations.training.entity_to_id
    order = dict(zip(sorted(shuffled, key=hash), range(len(shuffled)), strict=True))
    factory = TriplesFactory(
        nations.training.mapped_triples, order, nations.training.relation_to_id,
        create_inverse_triples=True, num_entities=len(order), num_relations=55,
    )  # fmt: skip
    model = to_pykeen(run, factory)
    h, r, t = (torch.from_numpy(x) for x in run.data.test.array().T[:, :50])
    place = torch.tensor([order[name] for name in run.data.entities])
    expected = run.model.score(h, r, t)
    hrt = torch.stack([place[h], r, place[t]], dim=1)
    torch.testing.assert_close(model.predict_hrt(hrt)[:, 0], expected, atol=1e-5, rtol=1e-5)
    expected = run.model.score(t, r + 55, h)
    parts = model._get_representations(place[t], 2 * r + 1, place[h], mode=None)
    torch.testing.assert_close(model.interaction(*parts), expected, atol=1e-5, rtol=1e-5)


@pytest.mark.filterwarnings("ignore")
def test_a_run_has_the_same_metrics_in_pykeen(nations, tmp_path):
    data = kgflow.load(nations)
    run = kgflow.train(data, "nfe-1", dim=4, epochs=2, lr=0.05, out=tmp_path / "run")
    known = [nations.training.mapped_triples, nations.validation.mapped_triples]
    theirs = RankBasedEvaluator().evaluate(
        to_pykeen(run, nations.training),
        nations.testing.mapped_triples,
        batch_size=64,
        use_tqdm=False,
        additional_filter_triples=known,
    )
    for name, ours in run.evaluate("test", by="side").to_dict()["by"].items():
        found = theirs.get_metric(f"{name}.realistic.inverse_harmonic_mean_rank")
        assert found == pytest.approx(ours["realistic"]["mrr"], abs=1e-5)


def test_other_runs_are_refused(nations, tmp_path):
    for name, settings in (("transe", {}), ("nfe-1", {"model.bias": True}),
                           ("nfe-1", {"model.bidirectional": True})):  # fmt: skip
        out = tmp_path / f"{name}{len(settings)}{''.join(settings)}"
        run = kgflow.train(random_graph(), name, dim=2, epochs=1, settings=settings, out=out)
        with pytest.raises(KgflowError, match="only runs of nfe-1, nfe-2, nfe-3 without bias"):
            to_pykeen(run, nations.training)


def test_a_data_set_keeps_its_ids(nations, tmp_path):
    data = kgflow.load(nations)
    assert (data.name, len(data.entities), len(data.relations)) == ("nations", 14, 55)
    for split, factory in (("train", nations.training), ("valid", nations.validation),
                           ("test", nations.testing)):  # fmt: skip
        expected = np.unique(factory.mapped_triples.numpy(), axis=0).tolist()
        assert sorted(data.split(split).array().tolist()) == expected
    assert {n: i for i, n in enumerate(data.entities)} == nations.training.entity_to_id
    nations.to_directory_binary(tmp_path / "saved")
    (tmp_path / "saved" / "training" / "base.pth").write_bytes(b"never opened")
    assert triples(kgflow.load(tmp_path / "saved")) == triples(data)


def test_a_factory_is_split_or_taken_whole(nations, tmp_path):
    factory = nations.training
    whole = Dataset.from_pykeen(factory)
    assert len(whole.train) == factory.num_triples
    split = kgflow.load(factory, seed=3)
    assert len(split.valid) == len(split.test) == math.ceil(0.05 * len(whole.train))
    factory.to_path_binary(tmp_path / "saved")
    assert triples(kgflow.load(tmp_path / "saved", seed=3)) == triples(split)
    bare = CoreTriplesFactory(factory.mapped_triples, num_entities=14, num_relations=55)
    assert Dataset.from_pykeen(bare).entities[13] == "13"


def test_wrong_factories_and_files_are_refused(nations, tmp_path):
    other = TriplesFactory.from_labeled_triples(np.array([["a", "r", "b"]]))
    with pytest.raises(KgflowError, match="the valid factory has other entities or relations"):
        Dataset.from_pykeen(nations.training, other)
    nations.training.to_path_binary(tmp_path / "saved")
    path = tmp_path / "saved" / "numeric_triples.tsv.gz"
    for text, message in (("h\tr\tt\n0\t0\t14\n", "ids without a name"),
                          ("h\tr\tt\n0\tx\t1\n", "not saved by PyKEEN")):  # fmt: skip
        path.write_bytes(gzip.compress(text.encode()))
        with pytest.raises(KgflowError, match=message):
            kgflow.load(tmp_path / "saved")
