"""A rule: what follows from one fact, or from two that meet."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

KINDS = ("symmetric", "antisymmetric", "inverse", "implication", "composition")


@dataclass(frozen=True)
class Rule:
    r"""(h, body, t) → (h, head, t), over R relations and their inverse_relations r + R.

    - symmetric: (h, r⁻¹, t) → (h, r, t), which is (t, r, h) → (h, r, t);
    - antisymmetric: (h, r⁻¹, t) → not (h, r, t);
    - inverse: (h, s⁻¹, t) → (h, r, t); implication: (h, s, t) → (h, r, t);
    - composition: (h, s, m), (m, s', t) → (h, r, t).

    Args:
        body: one or two relations, those from R on reversed.
        head: a relation below R.
        relations: R.
        negated: whether the head is denied.

    Example:
        >>> Rule((0, 1), 2, relations=3).words(["in_city", "city_in", "in_country"])
        'in_city then city_in gives in_country'
        >>> Rule((3,), 0, relations=3).kind
        'symmetric'
    """

    body: tuple[int, ...]
    head: int
    relations: int
    negated: bool = False

    @cached_property
    def kind(self) -> str:
        """One of `KINDS`."""
        if self.negated:
            return "antisymmetric"
        if len(self.body) == 2:
            return "composition"
        if self.body[0] == self.head + self.relations:
            return "symmetric"
        return "inverse" if self.body[0] >= self.relations else "implication"

    def words(self, names: Sequence[str]) -> str:
        """As a sentence, with the names of the R relations."""
        body = [directed(d, names) for d in self.body]
        head = names[self.head]
        if self.kind == "inverse":
            return f"{head} is the inverse of {names[self.body[0] - self.relations]}"
        if self.kind == "implication":
            return f"{body[0]} implies {head}"
        if self.kind == "composition":
            return f"{body[0]} then {body[1]} gives {head}"
        return f"{head} is {self.kind}"


def directed(d: int, names: Sequence[str]) -> str:
    """The name of a relation, or of its reciprocal.

    Example:
        >>> directed(1, ["borders"])
        'borders⁻¹'
    """
    return names[d] if d < len(names) else f"{names[d - len(names)]}⁻¹"


def reverse(d: int, relations: int) -> int:
    """The reciprocal of a relation or reciprocal.

    Example:
        >>> reverse(1, 3), reverse(4, 3)
        (4, 1)
    """
    return d - relations if d >= relations else d + relations
