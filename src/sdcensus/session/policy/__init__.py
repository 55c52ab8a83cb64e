"""A policy at work: what may be asked, what of a published table is shown, what would help.

Online rules read code lists and published numbers only; rules on true counts are in ``design`` and
``households`` and run when a person decides. The noun is ``model/policy``; the document is read in
``documents/policy``.
"""

from sdcensus.documents.policy.document import policy_text as policy_text
from sdcensus.documents.policy.document import read_policy as read_policy
from sdcensus.model.policy.policy import Policy as Policy
from sdcensus.model.policy.policy import UserRole as UserRole
from sdcensus.model.policy.policy import menu_of as menu_of
from sdcensus.session.policy.conflicts import conflicts as conflicts
from sdcensus.session.policy.lock import loosened as loosened
from sdcensus.session.policy.lock import tightened as tightened
from sdcensus.session.policy.online import Ruling as Ruling
from sdcensus.session.policy.online import ask as ask
from sdcensus.session.policy.online import decide as decide
from sdcensus.session.policy.online import needed as needed
from sdcensus.session.policy.online import show as show
from sdcensus.session.policy.verdict import Decision as Decision
from sdcensus.session.policy.verdict import Outcome as Outcome
from sdcensus.session.policy.verdict import Reason as Reason
from sdcensus.session.policy.verdict import ReasonCode as ReasonCode
from sdcensus.session.policy.verdict import Remedy as Remedy
from sdcensus.session.policy.verdict import RemedyKind as RemedyKind
from sdcensus.session.policy.verdict import RemedyStep as RemedyStep
from sdcensus.session.policy.verdict import StepKind as StepKind
from sdcensus.session.policy.verdict import Verdict as Verdict
from sdcensus.session.policy.verdict import Withheld as Withheld
from sdcensus.session.policy.versions import publishable_versions as publishable_versions
