"""Notes of a delivered table: what its method says, and what the office adds."""

from __future__ import annotations

from collections.abc import Sequence

from sdcensus.model.plan.plan import Plan
from sdcensus.model.text import Text


def with_office_notes(notes: Sequence[Text], plan: Plan) -> tuple[Text, ...]:
    """The notes that stand beside a delivered table: its own, then the office's, each once."""
    office = [plan.office.legal_basis] if plan.office.legal_basis else []
    return tuple(dict.fromkeys([*notes, *office]))
