"""What a policy may say for tables of the office, and not for a builder that the public asks."""

from __future__ import annotations

from sdcensus.errors import Refused
from sdcensus.model.policy import OneHousehold, Policy


def withholds_households(policy: Policy | None) -> bool:
    """Whether a policy withholds cells of one household."""
    return policy is not None and policy.design.one_household_cells is OneHousehold.WITHHOLD


def refuse_online(policy: Policy) -> None:
    """Refuse to answer the public under a policy that withholds by what only the office knows."""
    if withholds_households(policy):
        raise Refused(
            f"The policy {policy.name!r} withholds cells of one household: one_household_cells ="
            ' "withhold". A table builder answers from published numbers only, and to withhold'
            " these cells would tell whoever asks which of them are one household. Take"
            ' "report" in the policy of the builder; rules on published numbers keep small groups'
            " together there."
        )
