"""A run, or several of one data set, as one HTML file."""

from kgflow.analysis.report.page import SECTIONS, Report, write_report
from kgflow.analysis.report.pieces import Facts, Heading, Note, Picture, Piece, Row, Table, Tiles
from kgflow.analysis.report.section import Section
from kgflow.analysis.report.subject import Subject

__all__ = [
    "SECTIONS",
    "Facts",
    "Heading",
    "Note",
    "Picture",
    "Piece",
    "Report",
    "Row",
    "Section",
    "Subject",
    "Table",
    "Tiles",
    "write_report",
]
