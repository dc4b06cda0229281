"""Data sets of triples: reading, vocabularies, splits, statistics and query indexes.

The package does not import torch; polars is imported when the first table is read.
"""

from kgflow.data.catalog import list_datasets
from kgflow.data.columns import Columns
from kgflow.data.dataset import SPLITS, Dataset, save
from kgflow.data.downloads import download
from kgflow.data.extension import Extension, extend, triples_frame
from kgflow.data.files import read_labels, read_types
from kgflow.data.iri import RdfOptions, short_name
from kgflow.data.loading import import_files, load, read_triples
from kgflow.data.query_index import QueryIndex
from kgflow.data.reduction import k_core
from kgflow.data.splits import ValidationSplit, resplit, split_validation
from kgflow.data.statistics import RelationStatistics, Statistics, describe
from kgflow.data.triples import Triples
from kgflow.data.vocabulary import Vocabulary

__all__ = [
    "SPLITS",
    "Columns",
    "Dataset",
    "Extension",
    "QueryIndex",
    "RdfOptions",
    "RelationStatistics",
    "Statistics",
    "Triples",
    "ValidationSplit",
    "Vocabulary",
    "describe",
    "download",
    "extend",
    "import_files",
    "k_core",
    "list_datasets",
    "load",
    "read_labels",
    "read_triples",
    "read_types",
    "resplit",
    "save",
    "short_name",
    "split_validation",
    "triples_frame",
]
