"""Reports: one run, or several runs on the same data, as an HTML page."""

from kgflow.analysis.report import sections as _sections  # registers all sections
from kgflow.analysis.report.content import Content, Paragraph, Plot, SideBySide, Table
from kgflow.analysis.report.page import Report, write_report
from kgflow.analysis.report.section import ReportContext, Section, register, registered_sections

__all__ = [
    "Content",
    "Paragraph",
    "Plot",
    "Report",
    "ReportContext",
    "Section",
    "SideBySide",
    "Table",
    "register",
    "registered_sections",
    "write_report",
]

del _sections
