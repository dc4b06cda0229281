"""With tied inverse relations a triple has the same score in both directions."""

import numpy as np
import pytest
import torch

import kgflow
from graphs import ALL_MODELS, VARIANTS, build, by_autograd, random_graph, random_model
from kgflow.errors import KgflowError
from kgflow.evaluation import rank
from kgflow.models.protocols import InvertibleRelations
from kgflow.training import Batch, MarginRanking, SelfAdversarial, Softmax, Sum
from kgflow.training.losses.negative_sampling import corrupt_both
from kgflow.training.regularizers import N3
from laws import close

DATA = random_graph()
INDEX = DATA.queries("train")
BATCH = Batch.of_queries(INDEX, np.array([3, 0, 11, 5]))
E, R = len(DATA.entities), len(DATA.relations)

INVERTIBLE = [
    key for key in ALL_MODELS if isinstance(build(key, E, 2 * R, 12), InvertibleRelations)
]


def tied(name, dim=12):
    torch.manual_seed(0)
    model = build(name, E, 2 * R, dim, inverse_relations=False).double()
    for parameter in model.parameters():
        parameter.data.uniform_(-1, 1)
    return model.eval()


def everything():
    return (x.flatten() for x in torch.meshgrid(*map(torch.arange, (E, R, E)), indexing="ij"))


@pytest.mark.parametrize("name", INVERTIBLE)
def test_both_directions_have_the_same_score(name):
    model = tied(name)
    h, r, t = everything()
    close(model.score(t, r + R, h), model.score(h, r, t), 1e-10)


@pytest.mark.parametrize("name", INVERTIBLE)
def test_the_inverse_of_the_inverse_is_the_relation(name):
    model = tied(name)
    there = model.relation.weight[:R]
    again = model.inverse_relation(model.inverse_relation(there))
    torch.testing.assert_close(again, there, rtol=0, atol=0)


@pytest.mark.parametrize("name", INVERTIBLE)
def test_half_of_the_parameters_remain_with_the_same_initial_values(name):
    found = []
    for inverse_relations in (True, False):
        torch.manual_seed(3)
        found.append(build(name, E, 2 * R, 12, inverse_relations=inverse_relations).eval())
    plain, tied_model = found
    learned = [p.shape for p in tied_model.relation.parameters()]
    assert learned == [(R, plain.relation.weight.shape[1])]
    assert len(tied_model.relation) == len(plain.relation) == 2 * R
    h, r, t = everything()
    assert torch.equal(plain.score(h, r, t), tied_model.score(h, r, t))


@pytest.mark.parametrize("name", ["transe norm=l1", "complex", "boxe"])
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
    "margin": lambda m: MarginRanking(m, INDEX, 1.0, num_negatives=3, corruption=corrupt_both),
    "self-adversarial": lambda m: SelfAdversarial(
        m, INDEX, 1.0, num_negatives=3, corruption=corrupt_both
    ),
    "softmax": lambda m: Sum(Softmax(m, INDEX), [N3(m, 0.1)]),
}


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("name", ["complex", "transe norm=l1", "rotate norm=squared-l2"])
def test_a_step_is_what_the_loss_says(name, loss):
    model, found = tied(name, dim=4), []
    made = LOSSES[loss](model)
    for step in (lambda: by_autograd(made, BATCH).backward(), lambda: made.backward(BATCH)):
        model.zero_grad()
        torch.manual_seed(0)
        step()
        found.append([p.grad.clone() for p in model.parameters()])
    for one, other in zip(*found, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-7, atol=1e-10)


def test_the_gradient_is_of_both_directions():
    """It is the sum of the gradients of two free embeddings, the second one inverted."""
    free, model = random_model("complex", DATA, dim=4), tied("complex", dim=4)
    with torch.no_grad():
        free.entity.weight.copy_(model.entity.weight)
        free.relation.weight.copy_(model.relation.weight)
    for m in (free, model):
        by_autograd(Softmax(m, INDEX), BATCH).backward()
    there, back = free.relation.weight.grad.split(R)
    (found,) = (p.grad for p in model.relation.parameters())
    torch.testing.assert_close(found, there + model.inverse_relation(back))


@pytest.mark.parametrize("name", sorted(set(ALL_MODELS) - set(INVERTIBLE)))
def test_other_models_are_refused(name):
    with pytest.raises(KgflowError, match=f"{VARIANTS[name][0]} cannot compute inverse relations"):
        build(name, E, 2 * R, 12, inverse_relations=False)


def test_half_of_an_odd_number_of_relations_is_refused():
    with pytest.raises(KgflowError, match="3 relations: inverse relations need an even number"):
        build("complex", E, 3, 4, inverse_relations=False)


def test_a_bias_does_not_go_with_it():
    with pytest.raises(KgflowError, match="'bias' applies to tails only"):
        build("complex", E, 2 * R, 12, bias=True, inverse_relations=False)


def test_a_run_keeps_it(tmp_path):
    run = kgflow.train(
        DATA,
        "complex",
        dim=4,
        epochs=2,
        settings={"model.inverse_relations": False},
        out=tmp_path / "run",
    )
    again = kgflow.open(tmp_path / "run")
    assert again.config.model.inverse_relations is False
    h, r, t = everything()
    close(again.model.score(t, r + R, h), again.model.score(h, r, t), 1e-5)
    torch.testing.assert_close(again.model.relation.weight, run.model.relation.weight)
