"""Questions of the public, answered safely: the road from a question to a published table.

What is counted for a question, how its cells are put together from published values, and what its
reader gets. Whether it may be asked is decided in ``session/policy``; HTTP is in ``web``.
"""

from sdcensus.session.answer.budgets import OpenedBudget as OpenedBudget
from sdcensus.session.answer.catalogue import Catalogue as Catalogue
from sdcensus.session.answer.catalogue import OfferedVariable as OfferedVariable
from sdcensus.session.answer.catalogue import Population as Population
from sdcensus.session.answer.files import JSON_STAT as JSON_STAT
from sdcensus.session.answer.files import ZIP_ENDING as ZIP_ENDING
from sdcensus.session.answer.files import Rendered as Rendered
from sdcensus.session.answer.files import form_names as form_names
from sdcensus.session.answer.files import json_stat as json_stat
from sdcensus.session.answer.files import render as render
from sdcensus.session.answer.files import served_formats as served_formats
from sdcensus.session.answer.hints import question_of as question_of
from sdcensus.session.answer.hints import told_example as told_example
from sdcensus.session.answer.levels import level_label as level_label
from sdcensus.session.answer.opening import open_service as open_service
from sdcensus.session.answer.service import Answer as Answer
from sdcensus.session.answer.service import Checked as Checked
from sdcensus.session.answer.service import TableService as TableService
from sdcensus.session.answer.service import Versions as Versions
