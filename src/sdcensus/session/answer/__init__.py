"""Questions of the public, answered safely: the road from a question to a published table.

What is counted for a question, how its cells are put together from published values, and what its
reader gets. Whether it may be asked is decided in ``session/policy``; HTTP is in ``web``.
"""

from sdcensus.session.answer.budgets import OpenedBudget as OpenedBudget
from sdcensus.session.answer.catalogue import (
    Catalogue as Catalogue,
    OfferedAmount as OfferedAmount,
    OfferedPopulation as OfferedPopulation,
    OfferedVariable as OfferedVariable,
)
from sdcensus.session.answer.delivery import level_label as level_label
from sdcensus.session.answer.files import (
    JSON_STAT as JSON_STAT,
    ZIP_ENDING as ZIP_ENDING,
    Rendered as Rendered,
    form_names as form_names,
    forms_of as forms_of,
    json_stat as json_stat,
    question_of as question_of,
    render as render,
    served_formats as served_formats,
    told_example as told_example,
)
from sdcensus.session.answer.opening import open_service as open_service
from sdcensus.session.answer.service import (
    Answer as Answer,
    Checked as Checked,
    DataVersions as DataVersions,
    TableService as TableService,
)
