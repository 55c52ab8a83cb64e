"""Questions of the public, answered safely: the road from a question to a published table."""

from sdcensus.session.answering.budgets import OpenedBudget
from sdcensus.session.answering.catalogue import Catalogue, OfferedVariable, Population
from sdcensus.session.answering.levels import level_label
from sdcensus.session.answering.opening import open_service
from sdcensus.session.answering.rendering import FORMATS, MEDIA_TYPES, Rendered, json_stat, render
from sdcensus.session.answering.service import Answer, Checked, TableService, Versions
from sdcensus.session.answering.telling import question_of, told_example

__all__ = [
    "FORMATS",
    "MEDIA_TYPES",
    "Answer",
    "Catalogue",
    "Checked",
    "OfferedVariable",
    "OpenedBudget",
    "Population",
    "Rendered",
    "TableService",
    "Versions",
    "json_stat",
    "level_label",
    "open_service",
    "question_of",
    "render",
    "told_example",
]
