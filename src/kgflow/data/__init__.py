"""Data sets of triples: reading, vocabularies, splits, statistics and query indexes.

The package does not import torch; polars is imported when the first table is read.
"""

from kgflow.data.catalog import CatalogEntry, list_datasets
from kgflow.data.columns import Columns
from kgflow.data.dataset import SPLITS, Dataset, save
from kgflow.data.downloads import download
from kgflow.data.loading import import_files, load, read_triples
from kgflow.data.query_index import QueryIndex
from kgflow.data.reduction import REDUCTIONS, entity_sample, k_core
from kgflow.data.splits import ValidationSplit, resplit, split_validation
from kgflow.data.statistics import (
    Cardinality,
    InverseRelations,
    RelationStatistics,
    Statistics,
    describe,
)
from kgflow.data.triples import Floats, Ids, Mask, Triples, Weights
from kgflow.data.vocabulary import Vocabulary

__all__ = [
    "REDUCTIONS",
    "SPLITS",
    "Cardinality",
    "CatalogEntry",
    "Columns",
    "Dataset",
    "Floats",
    "Ids",
    "InverseRelations",
    "Mask",
    "QueryIndex",
    "RelationStatistics",
    "Statistics",
    "Triples",
    "ValidationSplit",
    "Vocabulary",
    "Weights",
    "describe",
    "download",
    "entity_sample",
    "import_files",
    "k_core",
    "list_datasets",
    "load",
    "read_triples",
    "resplit",
    "save",
    "split_validation",
]
