"""How a table builder protects sums: as the plan of the office does, or as its opener says."""

from __future__ import annotations

from collections.abc import Mapping

from sdcensus.errors import Refused
from sdcensus.methods.magnitude.cell_key_sums import CellKeySums
from sdcensus.methods.method import Method
from sdcensus.model.method.parameter import MethodOptions
from sdcensus.model.plan.plan import Plan, Protection
from sdcensus.model.policy.policy import Policy
from sdcensus.model.schema.variable import Entity
from sdcensus.model.secret import SubSecret
from sdcensus.model.spec.measures import MeasureOf
from sdcensus.session.census.census import Census
from sdcensus.session.protect.table import build_method

#: How sums are protected where nobody says it.
DEFAULT = "cell-key-sums"


def sum_methods(
    census: Census,
    policy: Policy,
    methods: Mapping[Entity, Method],
    *,
    plan: Plan | None,
    options: MethodOptions | None,
    secret: SubSecret,
    version: int,
) -> dict[Entity, Method]:
    """The method for sums of each kind of unit of which a policy offers sums or means.

    Args:
        census: The census.
        policy: What may be asked.
        methods: How counts are protected, by what is counted.
        plan: A plan of the office, whose tables of sums say how they are protected.
        options: What is said about the method, where no plan says it.
        secret: The look-up secret.
        version: The version of the series of numbers.

    Raises:
        Refused: The sums of a cell would not be the same in every table, or the plan protects its
            own in several ways.
    """
    entities = {
        census.schema.variable(rule.variable).entity for rule in policy.amounts if rule.adds_up
    }
    made: dict[Entity, Method] = {}
    for of in methods:
        if of not in entities:
            continue
        said = None if plan is None else _planned(plan, of)
        if plan is not None and said is not None:
            from sdcensus.session.protect.plan_method import planned_method

            method = planned_method(
                plan, census, of, secret=secret, key_version=version, protect=said
            )
        else:
            settings = (options or MethodOptions()).also(key_version=version)
            method = build_method(DEFAULT, census, of=of, options=settings, secret=secret)
        _refuse_other(method)
        made[of] = method
    return made


def _planned(plan: Plan, of: Entity) -> Protection | None:
    """How a plan protects sums of some units; ``None`` where it has none.

    Raises:
        Refused: In several ways.
    """
    said: dict[Protection, str] = {}
    for table in plan.tables:
        measure = table.measure
        if table.of is not of or not isinstance(measure, MeasureOf) or not measure.measure.is_sum:
            continue
        protection = plan.own_protection(table) or plan.protect
        if protection is not None:
            said.setdefault(protection, table.name)
    if len(said) > 1:
        names = ", ".join(repr(name) for name in said.values())
        raise Refused(
            f"The plan protects sums of {of.plural} in several ways ({names}), and the table"
            " builder has one number for a sum. Protect them in the same way, or serve without a"
            " plan, under a name of its own."
        )
    if said:
        return next(iter(said))
    further = [each for _, each in plan.protections if each.method == DEFAULT]
    return further[0] if len(further) == 1 else None


def _refuse_other(method: Method) -> None:
    """Refuse a method whose sums differ between tables, or whose looks cannot be counted."""
    if isinstance(method, CellKeySums) and method.claims().by_definition:
        if method.same_key:
            raise Refused(
                "The table builder does not serve sums that are drawn with the keys of their counts"
                " (same_key): who knows a count, or asks for it often, knows most of the noise of"
                " the sum. Leave same_key out."
            )
        return
    raise Refused(
        f"The table builder protects sums by cell keys of their definition, and not by"
        f" {method.described_name!r}: every sum must have the same number in every table, and noise"
        " whose look budget can be computed. Take the method 'cell-key-sums' with"
        " key_derivation = \"definition\", without steps after it; or take 'sum' and 'mean' out of"
        " the policy."
    )
