"""The paper's Eq. 2 as algebra: x0 (variable), f (function), f(x0) (flow), D (similarity)."""

from kgflow.flows.basis import Basis
from kgflow.flows.blocks import BlockNorm, Orthogonal
from kgflow.flows.coordinates import Coordinates, coordinates, moment
from kgflow.flows.flow import Flow
from kgflow.flows.function import (
    Affine,
    Composition,
    Function,
    Linear,
    NotInvertibleError,
    Scaling,
    Translation,
    compose,
)
from kgflow.flows.inverse import Inverse
from kgflow.flows.plane import Moduli, Rotation
from kgflow.flows.push import Gaussianise, Uniformise
from kgflow.flows.quadrature import integrate
from kgflow.flows.ring import MobiusRing
from kgflow.flows.similarity import (
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
from kgflow.flows.spline import Spline, TwoPiece
from kgflow.flows.torus import TorusChord, TorusNorm
from kgflow.flows.variable import (
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
