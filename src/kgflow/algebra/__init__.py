"""The paper's Eq. 2 as algebra: x0 (variable), f (function), f(x0) (flow), D (similarity)."""

from kgflow.algebra.coordinates import Coordinates, coordinates, moment
from kgflow.algebra.flow import Flow
from kgflow.algebra.function import (
    Affine,
    Composition,
    Function,
    Linear,
    NotInvertibleError,
    Scaling,
    Translation,
    TwoPiece,
    compose,
)
from kgflow.algebra.push import Gaussianise, Uniformise
from kgflow.algebra.quadrature import integrate
from kgflow.algebra.similarity import (
    InnerProduct,
    Keys,
    KullbackLeibler,
    Lowered,
    Norm,
    Paired,
    PrintedWasserstein,
    Query,
    Similarity,
    SquaredWasserstein,
    integrate_kl,
    integrate_wasserstein,
)
from kgflow.algebra.variable import VARIABLES, Normal, Point, Scaled, Uniform, Variable

__all__ = [
    "VARIABLES",
    "Affine",
    "Composition",
    "Coordinates",
    "Flow",
    "Function",
    "Gaussianise",
    "InnerProduct",
    "Keys",
    "KullbackLeibler",
    "Linear",
    "Lowered",
    "Norm",
    "Normal",
    "NotInvertibleError",
    "Paired",
    "Point",
    "PrintedWasserstein",
    "Query",
    "Scaled",
    "Scaling",
    "Similarity",
    "SquaredWasserstein",
    "Translation",
    "TwoPiece",
    "Uniform",
    "Uniformise",
    "Variable",
    "compose",
    "coordinates",
    "integrate",
    "integrate_kl",
    "integrate_wasserstein",
    "moment",
]
