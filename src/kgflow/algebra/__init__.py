"""The paper's Eq. 2 as algebra: x0 (variable), f (function), f(x0) (flow), D (similarity)."""

from kgflow.algebra.basis import Basis
from kgflow.algebra.blocks import BlockNorm, Orthogonal
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
    compose,
)
from kgflow.algebra.inverse import Inverse
from kgflow.algebra.plane import Moduli, Rotation
from kgflow.algebra.push import Gaussianise, Uniformise
from kgflow.algebra.quadrature import integrate
from kgflow.algebra.ring import MobiusRing
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
from kgflow.algebra.spline import Spline, TwoPiece
from kgflow.algebra.torus import TorusChord, TorusNorm
from kgflow.algebra.variable import (
    VARIABLES,
    Discrete,
    Logistic,
    Normal,
    Point,
    Scaled,
    Triangular,
    Uniform,
    Variable,
)

__all__ = [
    "VARIABLES",
    "Affine",
    "Basis",
    "BlockNorm",
    "Composition",
    "Coordinates",
    "Discrete",
    "Flow",
    "Function",
    "Gaussianise",
    "InnerProduct",
    "Inverse",
    "Keys",
    "KullbackLeibler",
    "Linear",
    "Logistic",
    "Lowered",
    "MobiusRing",
    "Moduli",
    "Norm",
    "Normal",
    "NotInvertibleError",
    "Orthogonal",
    "Paired",
    "Point",
    "PrintedWasserstein",
    "Query",
    "Rotation",
    "Scaled",
    "Scaling",
    "Similarity",
    "Spline",
    "SquaredWasserstein",
    "TorusChord",
    "TorusNorm",
    "Translation",
    "Triangular",
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
