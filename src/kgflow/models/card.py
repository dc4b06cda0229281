"""Model card: the entry of a model in the paper's Table 3."""

from collections.abc import Mapping, Set
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kgflow.models.base import Model

PATTERNS = ("symmetry", "antisymmetry", "inverse", "composition")
ALL_PATTERNS = frozenset(PATTERNS)
"""Relation patterns, defined in `Card`."""
NO_FLOW = ("–", "–", "–")
"""x0, f_entity and f_relation of a model that is no flow model."""
SETTINGS = {
    "dim": "model.dim",
    "epochs": "training.epochs",
    "batch_size": "training.batch_size",
    "margin": "training.loss.margin",
    "dropout": "training.loss.dropout",
    "lr": "training.optimizer.lr",
    "decay": "training.lr_schedule.decay",
}
"""Keys of the settings that models recommend, by short names."""


@dataclass(frozen=True)
class Card:
    """Definition of a model in symbols: f(h, r, t) = D(f_r ∘ f_h (x0), f_t (x0)).

    A model that is not of this form has `NO_FLOW` for x0 and the functions, and its whole scoring
    function for D.

    The relation patterns are, for all entities and by the parameters of relations alone, without
    inverse relations:

    - symmetry: f(h, r, t) = f(t, r, h) for some r under which two entities prefer each other to
      themselves.
    - antisymmetry: f(h, r, t) > f(t, r, h) for some r, h and t.
    - inverse: f(h, r, t) = f(t, r', h) for some r' and some r that is not symmetric.
    - composition: some relations, neither all symmetric nor all equal, are closed under
      composition: the best answer to (a, r'', ?) is the best answer to (b, r', ?), where b is the
      best answer to (a, r, ?).

    The best answer is the best of all possible embeddings; under an inner product, of those with
    the same norm as the head. Entity biases are ignored, and a divergence keeps its direction: an
    inverse must fulfil D(f_r ∘ f_h, f_t) = D(f_h, f_r' ∘ f_t).

    Args:
        x0: initial random variable or point.
        f_entity: f_h and f_t.
        f_relation: f_r.
        D: similarity.
        entity: number of parameters per entity, an expression in the dimension n.
        relation: number of parameters per relation, an expression in n.
        year: year of publication.
        patterns: relation patterns that the model can represent.
        pairwise: whether scores need an interaction other than the matrix product.
    """

    x0: str = "–"
    f_entity: str = "–"
    f_relation: str = "–"
    D: str = "–"
    entity: str = "–"
    relation: str = "–"
    year: int | None = None
    patterns: Set[str] = ALL_PATTERNS
    pairwise: bool = False


@dataclass(frozen=True)
class Variant:
    """Card and recommended settings of a model for some values of its options.

    Args:
        options: values of options that select this variant.
        card: card of the variant.
        settings: recommended training settings of the variant.
        model: class that implements the variant, if it is not the class with the model's name.
    """

    options: Mapping[str, Any]
    card: Card
    settings: Mapping[str, float] = field(default_factory=dict)
    model: "type[Model] | None" = None


def recommended(**settings: float) -> dict[str, float]:
    """Return recommended settings by their keys, given by the short names in `SETTINGS`.

    Example:
        >>> recommended(margin=6.0, lr=0.05)
        {'training.loss.margin': 6.0, 'training.optimizer.lr': 0.05}
    """
    return {SETTINGS[name]: value for name, value in settings.items()}
