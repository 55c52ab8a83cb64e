"""A policy at work: what may be asked, what of a published table is shown, what would help.

Online rules read code lists and published numbers only; rules on true counts are in ``design`` and
``households`` and run when a person decides. The noun is ``model/policy``; the document is read in
``documents/policy``.
"""

from sdcensus.documents.policy.document import (
    policy_text as policy_text,
    read_policy as read_policy,
)
from sdcensus.model.policy.policy import Policy as Policy, UserRole as UserRole, menu_of as menu_of
from sdcensus.session.policy.amount_rules import (
    amount_policy as amount_policy,
    refused_measure as refused_measure,
    told_of_amount as told_of_amount,
)
from sdcensus.session.policy.conflicts import conflicts as conflicts
from sdcensus.session.policy.lock import loosened as loosened, tightened as tightened
from sdcensus.session.policy.online import (
    Ruling as Ruling,
    ask as ask,
    decide as decide,
    needed as needed,
    show as show,
)
from sdcensus.session.policy.verdict import (
    Decision as Decision,
    Outcome as Outcome,
    ReasonCode as ReasonCode,
    RemedyKind as RemedyKind,
    RemedyStep as RemedyStep,
    StepKind as StepKind,
    Verdict as Verdict,
    VerdictReason as VerdictReason,
    VerdictRemedy as VerdictRemedy,
    Withheld as Withheld,
)
from sdcensus.session.policy.versions import publishable_versions as publishable_versions
