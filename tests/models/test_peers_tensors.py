"""TuckER and ConvE against PyKEEN's, with the same weights."""

import warnings

import pytest
import torch

from graphs import build
from laws import close

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from pykeen.models import ConvE, TuckER
    from pykeen.triples import CoreTriplesFactory

E, R, DIM = 6, 4, 12


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(0)


def peer(cls, **arguments):
    """PyKEEN's model of a tiny graph, in float64 and evaluation."""
    facts = torch.tensor([[0, 0, 1], [2, 1, 3], [4, 2, 5], [5, 3, 0]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        factory = CoreTriplesFactory(facts, num_entities=E, num_relations=R)
        return cls(triples_factory=factory, embedding_dim=DIM, **arguments).double().eval()


def ours(name, **options):
    """Our model with random parameters and statistics, in float64 and evaluation."""
    model = build(name, E, R, DIM, options).double().eval()
    for tensor in (*model.parameters(), *model.buffers()):
        tensor.data.uniform_(0.5, 1.5).mul_(torch.randint_like(tensor, 2) * 2 - 1)
    for name, buffer in model.named_buffers():
        if name.endswith("variance"):
            buffer.abs_()
    return model


def copy(target, *values):
    """Into PyKEEN's parameters, which are frozen at their shapes."""
    for tensor, value in zip(target, values, strict=True):
        assert tensor.shape == value.shape
        tensor.data.copy_(value.data)


def copy_norm(target, norm):
    copy(
        (target.weight, target.bias, target.running_mean, target.running_var),
        *(norm.weight, norm.bias, norm.mean, norm.variance),
    )


def same_scores(model, pykeen):
    ids = torch.cartesian_prod(torch.arange(E), torch.arange(R), torch.arange(E))
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        expected = pykeen.score_hrt(ids).squeeze(1)
    assert expected.std() > 0.1
    close(model.score(*ids.unbind(1)).detach(), expected, 1e-10)


def test_tucker():
    model, pykeen = ours("tucker"), peer(TuckER)
    layer = pykeen.interaction
    # PyKEEN's core has the axes of h, r and t; ours has the relation's first.
    copy([layer.core_tensor], model.core.permute(1, 0, 2))
    copy_norm(layer.head_batch_norm, model.norm_head)
    copy_norm(layer.head_relation_batch_norm, model.norm_query)
    copy(pykeen.entity_representations[0].parameters(), model.entity.weight)
    copy(pykeen.relation_representations[0].parameters(), model.relation.weight)
    same_scores(model, pykeen)


def test_conve():
    model = ours("conve", channels=5)
    # PyKEEN is told the image that ours finds by itself.
    pykeen = peer(ConvE, output_channels=5, embedding_height=3, embedding_width=4)
    layer = pykeen.interaction
    image_norm, _, convolution, maps_norm, _, _ = layer.hr2d
    full, _, full_norm, _ = layer.hr1d
    copy_norm(image_norm, model.norm_image)
    copy(convolution.parameters(), *model.convolve.parameters())
    copy_norm(maps_norm, model.norm_maps)
    copy(full.parameters(), *model.project.full.parameters())
    copy_norm(full_norm, model.project.norm)
    vector, bias = model.entity.split(model.entity.weight)
    copy(pykeen.entity_representations[0].parameters(), vector)
    copy(pykeen.entity_representations[1].parameters(), bias)
    copy(pykeen.relation_representations[0].parameters(), model.relation.weight)
    same_scores(model, pykeen)
