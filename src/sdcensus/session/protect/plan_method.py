"""The method that a plan asks for, ready for what it counts."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

from sdcensus.documents.policy.document import read_policy
from sdcensus.errors import SpecError
from sdcensus.methods.method import Method
from sdcensus.model.plan.plan import Plan, Protection
from sdcensus.model.policy.policy import Policy
from sdcensus.model.schema.entity import Entity
from sdcensus.model.schema.schema import Schema
from sdcensus.model.secret import Secret, SubSecret
from sdcensus.session.census.census import Census
from sdcensus.session.protect.smallest_group import in_force
from sdcensus.session.protect.table import (
    DEFAULT_STRENGTH,
    MethodOptions,
    build_method,
    takes_option,
)

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
        plan: The plan; its perturbation file lies beside it.
        census: The census whose tables are protected.
        of: What the tables count.
        secret: The office secret or its file; else ``SDCENSUS_SECRET_FILE`` names it.
        key_version: The version of the series of numbers, where it is not the plan's.
        lookup: How keys are looked up where the plan does not say it.
    """
    protect = plan.protect or DEFAULT
    settings: dict[str, Any] = dict(protect.settings)
    known = {one.name for one in fields(MethodOptions)}
    for name in settings:
        if name not in known:
            raise SpecError(f"[protect] has no setting {name!r}.")
    if "perturbation" in settings:
        settings["perturbation"] = plan.path(str(settings["perturbation"]))
    if key_version is not None and takes_option(protect.method, protect.then, "key_version"):
        settings["key_version"] = key_version
    if lookup is not None and takes_option(protect.method, protect.then, "lookup"):
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
