"""What a policy may say for tables of the office, and not for a builder that the public asks."""

from __future__ import annotations

from sdcensus.model.policy.policy import OneHousehold, Policy


def withholds_households(policy: Policy | None) -> bool:
    """Whether a policy withholds cells of one household."""
    return policy is not None and policy.design.one_household_cells is OneHousehold.WITHHOLD
