"""Without reciprocal relations a fact has one score, from whichever end it is asked for."""

import numpy as np
import pytest
import torch

import kgflow
from graphs import ALL_MODELS, random_graph, random_model
from kgflow.errors import KgflowError
from kgflow.evaluation import rank
from kgflow.flows import Affine, KullbackLeibler, Normal, Translation
from kgflow.models import MODELS, FlowModel, build
from kgflow.models.mirror import mirror
from kgflow.training import MarginRanking, SelfAdversarial, Softmax, Sum
from kgflow.training.corruption import BothSides
from kgflow.training.regularizers import N3
from laws import close

DATA = random_graph()
INDEX = DATA.queries("train")
ROWS = np.array([3, 0, 11, 5])
E, R = len(DATA.entities), len(DATA.relations)

TRANSLATIONS = {"transe", "transe-l1", "transe-l2", "nfe-1-mu", "manifolde"}
TORI = {"toruse-l1", "toruse-l2", "toruse-el2", "mobiuse"}
TURNS = {"rotate", "rotate-squared", "nage-so3", "nage-so3-squared", "nage-su2", "nage-su2-squared"}
BILINEAR = {"distmult", "complex", "complex-flow", "rescal", "quate", "dihedral"}
OTHERS = {"kg2e-kl", "kg2e-el", "transg", "boxe"}
MIRRORED = sorted(TRANSLATIONS | TORI | TURNS | BILINEAR | OTHERS)


def tied(name, dim=12):
    torch.manual_seed(0)
    model = build(name, E, 2 * R, dim, inverse_relations=False).double()
    for parameter in model.parameters():
        parameter.data.uniform_(-1, 1)
    return model.eval()


def everything():
    return (x.flatten() for x in torch.meshgrid(*map(torch.arange, (E, R, E)), indexing="ij"))


def test_who_can():
    def can(name):
        model = build(name, E, 2 * R, 12)
        return model.inverse_relation(model.relation.weight) is not None

    assert [name for name in ALL_MODELS if can(name)] == MIRRORED


@pytest.mark.parametrize("name", MIRRORED)
def test_both_ends_have_one_score(name):
    model = tied(name)
    h, r, t = everything()
    close(model.score(t, r + R, h), model.score(h, r, t), 1e-10)


@pytest.mark.parametrize("name", MIRRORED)
def test_a_mirror_image_of_a_mirror_image_is_the_relation(name):
    model = tied(name)
    there = model.relation.weight[:R]
    again = model.inverse_relation(model.inverse_relation(there))
    torch.testing.assert_close(again, there, rtol=0, atol=0)


@pytest.mark.parametrize("name", MIRRORED)
def test_half_of_the_numbers_and_the_rest_of_the_beginning_are_left(name):
    found = []
    for inverse_relations in (True, False):
        torch.manual_seed(3)
        found.append(build(name, E, 2 * R, 12, inverse_relations=inverse_relations).eval())
    plain, inverse_relation = found
    learned = [p.shape for p in inverse_relation.relation.parameters()]
    assert learned == [(R, plain.relation.weight.shape[1])]
    assert len(inverse_relation.relation) == len(plain.relation) == 2 * R
    h, r, t = everything()
    assert torch.equal(plain.score(h, r, t), inverse_relation.score(h, r, t))


@pytest.mark.parametrize("name", ["transe-l1", "complex", "boxe"])
def test_heads_are_ranked_by_the_score_of_the_fact(name):
    model, known = tied(name), DATA.queries()
    ranking = rank(model, DATA.index(DATA.test), known)
    heads = ranking.by(ranking.side)["head"]
    true = {
        tuple(fact)
        for split in (DATA.train, DATA.valid, DATA.test)
        for fact in split.array().tolist()
    }
    assert len(heads) == len(DATA.test)
    for t, r, h, found in zip(heads.h, heads.r - R, heads.t, heads.rank("realistic"), strict=True):
        ids = [x for x in range(E) if x == h or (x, r, t) not in true]
        s = model.score(torch.tensor(ids), torch.full((len(ids),), r), torch.full((len(ids),), t))
        own = s[ids.index(h)]
        assert found == (s > own).sum() + ((s == own).sum() + 1) / 2


LOSSES = {
    "margin": lambda m: MarginRanking(m, INDEX, 1.0, negatives=3, corruption=BothSides()),
    "self-adversarial": lambda m: SelfAdversarial(m, INDEX, 1.0, 3, BothSides()),
    "softmax": lambda m: Sum(Softmax(m, INDEX), [N3(m, 0.1)]),
}


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("name", ["complex", "transe-l1", "rotate-squared"])
def test_a_step_is_what_the_loss_says(name, loss):
    model, found = tied(name, dim=4), []
    made = LOSSES[loss](model)
    for step in (lambda: made(ROWS).backward(), lambda: made.backward(ROWS)):
        model.zero_grad()
        torch.manual_seed(0)
        step()
        found.append([p.grad.clone() for p in model.parameters()])
    for one, other in zip(*found, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-7, atol=1e-10)


def test_the_gradient_is_of_both_readings():
    """With tied rows it is the sum of what two free rows would have, the second one mirrored."""
    free, model = random_model("complex", DATA, dim=4), tied("complex", dim=4)
    with torch.no_grad():
        free.entity.weight.copy_(model.entity.weight)
        free.relation.weight.copy_(model.relation.weight)
    for m in (free, model):
        Softmax(m, INDEX)(ROWS).backward()
    there, back = free.relation.weight.grad.split(R)
    (found,) = (p.grad for p in model.relation.parameters())
    torch.testing.assert_close(found, there + model.inverse_relation(back))


@pytest.mark.parametrize("name", sorted(set(MODELS) - set(MIRRORED)))
def test_models_without_such_relations_say_so(name):
    with pytest.raises(KgflowError, match=f"{name} cannot read its relations backwards"):
        build(name, E, 2 * R, 12, inverse_relations=False)


def test_what_is_declared_is_tried():
    """A translation that goes back is no mirror where D takes its two sides differently."""

    class Leaning(FlowModel):
        name = "leaning"
        entity_parts, relation_parts = ("mu", "sigma"), ("mu",)
        x0, D = Normal(), KullbackLeibler()
        f_entity, f_relation = Affine, Translation

    model = MODELS.pop("leaning")(E, 2 * R, 4)
    assert model.inverse_relation(model.relation.weight) is not None
    with pytest.raises(KgflowError, match="leaning cannot read its relations backwards"):
        mirror(model)


def test_half_of_an_odd_number_of_relations_is_refused():
    with pytest.raises(
        KgflowError, match="3 relations are no relations with their inverse_relations"
    ):
        build("complex", E, 3, 4, inverse_relations=False)


def test_a_bias_does_not_go_with_it():
    with pytest.raises(KgflowError, match="a bias counts for tails only"):
        build("complex", E, 2 * R, 12, bias=True, inverse_relations=False)


def test_a_run_keeps_it(tmp_path):
    run = kgflow.train(
        DATA, "complex", dim=4, epochs=2, inverse_relations=False, out=tmp_path / "run"
    )
    again = kgflow.open(tmp_path / "run")
    assert again.config.model.inverse_relations is False
    h, r, t = everything()
    close(again.model.score(t, r + R, h), again.model.score(h, r, t), 1e-5)
    torch.testing.assert_close(again.model.relation.weight, run.model.relation.weight)
