"""What `kgflow reproduce` can reproduce."""

from kgflow.studies.benchmarks import BenchmarksStudy
from kgflow.studies.combinations import CombinationsStudy
from kgflow.studies.confidence import ConfidenceStudy
from kgflow.studies.figures import FiguresStudy
from kgflow.studies.options import SCALES, Options
from kgflow.studies.paper import PaperStudy, Table1Study, Table2Study, Table5Study
from kgflow.studies.small import SmallStudy
from kgflow.studies.study import Shown, Study
from kgflow.studies.uncertainty import UncertaintyStudy

STUDIES: dict[str, type[Study]] = {
    study.name: study
    for study in (
        SmallStudy,
        FiguresStudy,
        UncertaintyStudy,
        ConfidenceStudy,
        Table1Study,
        Table2Study,
        Table5Study,
        BenchmarksStudy,
        CombinationsStudy,
    )
}

__all__ = [
    "SCALES",
    "STUDIES",
    "BenchmarksStudy",
    "CombinationsStudy",
    "ConfidenceStudy",
    "FiguresStudy",
    "Options",
    "PaperStudy",
    "Shown",
    "SmallStudy",
    "Study",
    "Table1Study",
    "Table2Study",
    "Table5Study",
    "UncertaintyStudy",
]
