"""What a table breaks down together with others: those published before, planned, or on offer."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from sdcensus.documents.policy.document import read_policy
from sdcensus.errors import SdcensusError
from sdcensus.methods.method import Method
from sdcensus.model.policy.policy import UserRole, menu_of
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.spec.table_spec import Measure, TableSpec
from sdcensus.risk.groups.broken_down import BrokenDown, GroupNoise
from sdcensus.session.census.census import Census
from sdcensus.session.gate.broken_down import (
    broken_down_in_menu,
    broken_down_in_tables,
    group_noise,
)

#: How many units are put into cells at most.
ASSESS_WORK = 200_000_000


def groups_of(
    census: Census,
    spec: TableSpec,
    others: Sequence[TableSpec],
    method: Method | None,
    *,
    smallest_group: int | None = None,
    policy: str | Path | None = None,
    progress: Progress = no_progress,
) -> tuple[BrokenDown, ...]:
    """What a table and the others together break down, and what a menu does.

    Tables of a registry may be of code lists that this census has no more: what cannot be counted
    is left out.

    Args:
        census: The census.
        spec: The table.
        others: The other tables with the same people.
        method: How they are protected, if that is known.
        smallest_group: The rule of the smallest group, if there is one.
        policy: The policy whose menu is meant as well, if one is named.
        progress: Told how far it is.
    """
    noise = GroupNoise(None, None) if method is None else group_noise(method, smallest_group)
    broken_downs: list[BrokenDown] = []
    tables = [one for one in (spec, *others) if one.of is spec.of]
    if others and any(table.measure is Measure.COUNT for table in tables):
        with suppress(SdcensusError):
            broken_downs += broken_down_in_tables(
                census, tables, lambda _: noise, most_work=ASSESS_WORK, progress=progress
            )
    if policy is not None:
        rules = read_policy(policy, census.schema)
        broken_downs.append(
            broken_down_in_menu(
                census,
                menu_of(rules, census.schema, of=spec.of, role=UserRole.PUBLIC),
                replace(noise, smallest_group=rules.online.smallest_group or smallest_group),
                most_work=ASSESS_WORK,
                progress=progress,
            )
        )
    return tuple(broken_downs)
