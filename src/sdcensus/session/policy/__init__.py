"""A policy at work: what may be asked, what of a published table is shown, what would help.

Online rules read code lists and published numbers only; rules on true counts are in ``design`` and
``households`` and run when a person decides. The noun is ``model/policy``; the document is read in
``documents/policy``.
"""

from sdcensus.documents.policy.document import policy_text, read_policy
from sdcensus.model.policy.policy import Policy, UserRole, menu_of
from sdcensus.session.policy.conflicts import conflicts
from sdcensus.session.policy.lock import loosened, tightened
from sdcensus.session.policy.online import Ruling, ask, decide, needed, show
from sdcensus.session.policy.verdict import (
    Decision,
    Outcome,
    Reason,
    ReasonCode,
    Remedy,
    RemedyKind,
    RemedyStep,
    StepKind,
    Verdict,
    Withheld,
)
from sdcensus.session.policy.versions import publishable_versions

__all__ = [
    "Decision",
    "Outcome",
    "Policy",
    "Reason",
    "ReasonCode",
    "Remedy",
    "RemedyKind",
    "RemedyStep",
    "Ruling",
    "StepKind",
    "UserRole",
    "Verdict",
    "Withheld",
    "ask",
    "conflicts",
    "decide",
    "loosened",
    "menu_of",
    "needed",
    "policy_text",
    "publishable_versions",
    "read_policy",
    "show",
    "tightened",
]
