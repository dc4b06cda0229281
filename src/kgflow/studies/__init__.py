"""What `kgflow reproduce` can reproduce."""

from kgflow.studies.confidence import ConfidenceStudy
from kgflow.studies.figures import FiguresStudy
from kgflow.studies.small import SmallStudy
from kgflow.studies.study import Shown, Study
from kgflow.studies.uncertainty import UncertaintyStudy

STUDIES: dict[str, type[Study]] = {
    study.name: study for study in (SmallStudy, FiguresStudy, UncertaintyStudy, ConfidenceStudy)
}

__all__ = [
    "STUDIES",
    "ConfidenceStudy",
    "FiguresStudy",
    "Shown",
    "SmallStudy",
    "Study",
    "UncertaintyStudy",
]
