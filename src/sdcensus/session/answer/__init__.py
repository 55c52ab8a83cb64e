"""Questions of the public, answered safely: the road from a question to a published table.

What is counted for a question, how its cells are put together from published values, and what its
reader gets. Whether it may be asked is decided in ``session/policy``; HTTP is in ``web``.
"""

from sdcensus.session.answer.budgets import OpenedBudget
from sdcensus.session.answer.catalogue import Catalogue, OfferedVariable, Population
from sdcensus.session.answer.files import (
    JSON_STAT,
    ZIP_ENDING,
    Rendered,
    form_names,
    json_stat,
    render,
    served_formats,
)
from sdcensus.session.answer.hints import question_of, told_example
from sdcensus.session.answer.levels import level_label
from sdcensus.session.answer.opening import open_service
from sdcensus.session.answer.service import Answer, Checked, TableService, Versions

__all__ = [
    "JSON_STAT",
    "ZIP_ENDING",
    "Answer",
    "Catalogue",
    "Checked",
    "OfferedVariable",
    "OpenedBudget",
    "Population",
    "Rendered",
    "TableService",
    "Versions",
    "form_names",
    "json_stat",
    "level_label",
    "open_service",
    "question_of",
    "render",
    "served_formats",
    "told_example",
]
