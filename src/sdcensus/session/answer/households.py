"""Cells of one household in a table builder: the smallest group takes the place of withholding.

Read once, when a builder opens. Answers read published numbers only.
"""

from __future__ import annotations

from collections.abc import Mapping

from sdcensus.errors import Refused, SpecError
from sdcensus.methods.method import Method
from sdcensus.model.policy.policy import Policy, UserRole
from sdcensus.model.schema.variable import Entity
from sdcensus.session.census.census import Census
from sdcensus.session.policy.builder_rules import withholds_households
from sdcensus.session.protect.smallest_group import (
    group_claim,
    in_force,
    largest_private_household,
    suggested_smallest_group,
)


def refuse_online(
    policy: Policy,
    census: Census,
    methods: Mapping[Entity, Method],
    smallest_group: int | None = None,
) -> None:
    """Refuse to answer the public where only what the office knows would protect households.

    Cells of one household are withheld by true records, which an answer may not read. The smallest
    group takes that place where it guarantees that no cell of one private household is broken down.

    Args:
        policy: What may be asked.
        census: The census.
        methods: What protects each kind of unit.
        smallest_group: That of a plan, which may raise the policy's.

    Raises:
        Refused: The policy withholds cells of one household, and no smallest group is large enough.
    """
    if not withholds_households(policy):
        return
    method = methods.get(Entity.PERSON)
    smallest = in_force(policy, UserRole.PUBLIC, smallest_group)
    advised = "a smallest_group"
    if method is not None:
        try:
            advised = f"smallest_group = {suggested_smallest_group(census, method)}"
            claim = None if smallest is None else group_claim(method, smallest)
        except SpecError:  # its numbers have no limit, so no size would do
            claim = None
        kept = 0 if claim is None or claim.adds_up else claim.units
        if kept >= largest_private_household(census):
            return
    raise Refused(
        f"The policy {policy.name!r} withholds cells of one household: one_household_cells ="
        ' "withhold". A table builder answers from published numbers only, and to withhold'
        " these cells would tell whoever asks which of them are one household. The smallest group"
        f" can take its place: with {advised} in [online] or a larger one, no private household is"
        ' broken down. Or take "report" in the policy of the builder.'
    )
