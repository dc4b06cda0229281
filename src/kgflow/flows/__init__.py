"""Normalizing flow embeddings as algebra (the paper's Eq. 2): x0, f, f(x0) and D.

x0 is a random variable or a point (`variables`), f an invertible function (`functions`, `spline`),
f(x0) a flow (`flow`), and D a similarity of two flows (`similarities`), in closed form where there
is one (`coordinates`), else by numerical integration (`quadrature`).
"""

from kgflow.flows.basis import Basis
from kgflow.flows.coordinates import coordinates, moment
from kgflow.flows.flow import Flow
from kgflow.flows.functions import (
    Affine,
    Composition,
    Function,
    Linear,
    NotInvertibleError,
    Scaling,
    Translation,
)
from kgflow.flows.nonlinear import Inverse
from kgflow.flows.points import (
    BlockNorm,
    ComplexNorm,
    MobiusRing,
    Orthogonal,
    Rotation,
    TorusChord,
    TorusNorm,
)
from kgflow.flows.quadrature import integrate
from kgflow.flows.similarities import (
    InnerProduct,
    Keys,
    KullbackLeibler,
    Norm,
    PairwiseInteraction,
    PairwiseSimilarity,
    PaperWasserstein,
    Query,
    Similarity,
    SquaredWasserstein,
    integrate_kl,
    integrate_wasserstein,
)
from kgflow.flows.spline import Spline, TwoPiece
from kgflow.flows.variables import (
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
    "ComplexNorm",
    "Composition",
    "Discrete",
    "Flow",
    "Function",
    "InnerProduct",
    "Inverse",
    "Keys",
    "KullbackLeibler",
    "Linear",
    "Logistic",
    "MobiusRing",
    "Norm",
    "Normal",
    "NotInvertibleError",
    "Orthogonal",
    "PairwiseInteraction",
    "PairwiseSimilarity",
    "PaperWasserstein",
    "Point",
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
    "Variable",
    "coordinates",
    "integrate",
    "integrate_kl",
    "integrate_wasserstein",
    "moment",
]
