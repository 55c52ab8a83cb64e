"""The method that a plan asks for, ready for what it counts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sdcensus.documents.plan.document import files_of
from sdcensus.documents.policy.document import read_policy
from sdcensus.methods.look_up import DEFAULT_STRENGTH
from sdcensus.methods.method import Method
from sdcensus.model.method.parameter import MethodOptions
from sdcensus.model.method.registry import parameters_of, takers_of
from sdcensus.model.plan.plan import Plan, Protection
from sdcensus.model.policy.policy import Policy
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.variable import Entity
from sdcensus.model.secret import Secret, SubSecret
from sdcensus.session.census.census import Census
from sdcensus.session.protect.smallest_group import in_force
from sdcensus.session.protect.table import build_method

#: How a plan that does not say how is protected.
DEFAULT = Protection(method="cell-key", settings=(("strength", DEFAULT_STRENGTH),))


def planned_method(
    plan: Plan,
    census: Census,
    of: Entity,
    *,
    secret: str | Path | Secret | SubSecret | None = None,
    key_version: int | None = None,
    lookup: str | None = None,
) -> Method:
    """The method of a plan for tables of one kind of unit.

    Args:
        plan: The plan; files that it names lie beside it.
        census: The census whose tables are protected.
        of: What the tables count.
        secret: The office secret or its file; else ``SDCENSUS_SECRET_FILE`` names it.
        key_version: The version of the series of numbers, where it is not the plan's.
        lookup: How keys are looked up where the plan does not say it.
    """
    protect = plan.protect or DEFAULT
    settings: dict[str, Any] = dict(protect.settings)
    takes = parameters_of(takers_of(protect.method, protect.then))
    settings |= {name: plan.path(file) for name, file in files_of(protect).items()}
    if key_version is not None and "key_version" in takes:
        settings["key_version"] = key_version
    if lookup is not None and "lookup" in takes:
        settings.setdefault("lookup", lookup)
    return build_method(
        protect.method,
        census,
        of=of,
        then=protect.then,
        options=MethodOptions(**settings),
        secret=secret,
    )


def planned_smallest_group(plan: Plan, schema: Schema, policy: Policy | None = None) -> int | None:
    """The smallest group of a plan: its own, or that of the policy that it obeys.

    Args:
        plan: The plan.
        schema: Of the census that it is about.
        policy: The policy, where it is read already.
    """
    if policy is None and plan.policy is not None:
        policy = read_policy(plan.path(plan.policy.file), schema)
    own = None if plan.protect is None else plan.protect.smallest_group
    return in_force(policy, "" if plan.policy is None else plan.policy.role, own)
