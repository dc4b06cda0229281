"""Graphs as data: read, named, split, described and indexed.

Nothing here loads torch; polars is loaded when the first table is read.
"""

from kgflow.data.catalog import Entry, listing
from kgflow.data.columns import Columns
from kgflow.data.dataset import SPLITS, Dataset
from kgflow.data.downloads import download
from kgflow.data.holdout import Holdout, hold_out
from kgflow.data.queries import QueryIndex
from kgflow.data.reduction import REDUCTIONS, entity_sample, k_core
from kgflow.data.relations import Cardinality, Inverses
from kgflow.data.sources import import_files, load, read_triples
from kgflow.data.splits import resplit
from kgflow.data.statistics import Statistics, describe
from kgflow.data.triples import Triples
from kgflow.data.vocabulary import Vocabulary
from kgflow.data.writers import save

__all__ = [
    "REDUCTIONS",
    "SPLITS",
    "Cardinality",
    "Columns",
    "Dataset",
    "Entry",
    "Holdout",
    "Inverses",
    "QueryIndex",
    "Statistics",
    "Triples",
    "Vocabulary",
    "describe",
    "download",
    "entity_sample",
    "hold_out",
    "import_files",
    "k_core",
    "listing",
    "load",
    "read_triples",
    "resplit",
    "save",
]
