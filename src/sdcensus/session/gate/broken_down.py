"""What the tables of a plan or the menu of a policy break down, measured on the census.

Read at design time and for the office only: every figure comes from true counts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

from sdcensus.documents.policy.document import read_policy
from sdcensus.kernels.cells.tabulate import NO_ROW
from sdcensus.methods.method import Method
from sdcensus.model.perturbation.table import Lookup, Perturbation, default_lookup
from sdcensus.model.plan.plan import Plan
from sdcensus.model.policy.menu import Menu
from sdcensus.model.policy.policy import Policy, UserRole, menu_of
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.schema.variable import Entity
from sdcensus.model.secret import LONGEST, Secret
from sdcensus.model.spec.axis import Axis, make_axis
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.risk.groups.broken_down import (
    FEW_ATTRIBUTES,
    LARGEST_GROUP,
    LARGEST_HOUSEHOLD,
    MOST_WORK,
    BrokenDown as BrokenDown,
    GroupNoise,
    KindFigures,
    group_sizes,
    measure_broken_down,
    measure_share,
    sample_of_kinds,
)
from sdcensus.risk.groups.shown_cells import KindOfCells, kinds_of_menu, kinds_of_tables
from sdcensus.risk.groups.unit_records import NO_HOUSEHOLD, UnitRecords
from sdcensus.session.census.census import Census
from sdcensus.session.protect.smallest_group import (
    largest_private_household,
    suggested_smallest_group,
)
from sdcensus.store.census_store import RecordSource

__all__ = [
    "BrokenDown",
    "broken_down_in_menu",
    "broken_down_in_plan",
    "broken_down_in_policy",
    "broken_down_in_tables",
    "divided_further",
    "group_noise",
    "has_definition_keys",
    "measured",
    "read_plan_of",
    "read_policy_of",
    "share_in_kinds",
    "smallest_group_text",
    "unit_records",
]

#: Tables that are counted where only an engine can read the records.
_COUNTED_TABLES = 40
#: Larger ones are left out there.
_COUNTED_CELLS = 2_000_000


def group_noise(method: Method, smallest_group: int | None = None) -> GroupNoise:
    """What a method, and the rule of the smallest group, do to small groups. Confidential.

    Args:
        method: How tables are protected.
        smallest_group: Groups that are published below it are not broken down; ``None`` without
            the rule.
    """
    if any(step.claims().additive for step in method.steps):
        # A number that is not shown is then a total less the others: the rule hides nothing.
        smallest_group = None
    definition_keys = has_definition_keys(method)
    noise = method.noise
    if noise is not None:
        return GroupNoise.of(noise, smallest_group=smallest_group, definition_keys=definition_keys)
    return GroupNoise(None, method.first.largest_deviation, smallest_group, definition_keys)


def has_definition_keys(method: Method) -> bool:
    """Whether cells of different definitions have noise of their own."""
    return method.first.claims().by_definition


def broken_down_in_policy(
    census: Census,
    policy: Policy,
    *,
    perturbation: Perturbation,
    of: str | Entity = Entity.PERSON,
    role: str | UserRole = UserRole.PUBLIC,
    progress: Progress = no_progress,
) -> BrokenDown:
    """What everything that a policy opens to a role breaks down together.

    Args:
        census: The census.
        policy: The policy.
        perturbation: The noise that will protect it, looked up as suits it.
        of: What is counted.
        role: For whom it is open.
        progress: Told how far it is.
    """
    return broken_down_in_menu(
        census,
        menu_of(policy, census.schema, of=of, role=role),
        GroupNoise.of(
            perturbation,
            smallest_group=policy.online_for(role).smallest_group,
            definition_keys=default_lookup(perturbation) is Lookup.DEFINITION,
        ),
        progress=progress,
    )


def broken_down_in_plan(
    census: Census, plan: Plan, policy: Policy | None, *, progress: Progress = no_progress
) -> tuple[BrokenDown, ...]:
    """What all tables of a plan together break down, by what they count. Needs no secret.

    Args:
        census: The census.
        plan: The plan.
        policy: The policy that it obeys, if it names one.
        progress: Told how far it is.
    """
    # Here and not above: whoever asks about a policy needs nothing of what publishing needs.
    from sdcensus.session.protect.plan_method import (
        own_protections,
        planned_method,
        planned_smallest_group,
    )
    from sdcensus.session.publish.planned import planned_products

    smallest = planned_smallest_group(plan, census.schema, policy)

    def noise(of: Entity) -> GroupNoise:
        # Nothing is drawn, so any secret will do.
        method = planned_method(plan, census, of, secret=Secret(bytes(LONGEST)))
        return group_noise(method, smallest)

    products = planned_products(plan, census.schema)
    by_hash = {spec.hash(): spec for product in products for spec in product.specs}
    for own in own_protections(plan, products):
        del by_hash[own]  # not under the noise of the plan
    return broken_down_in_tables(census, [*by_hash.values()], noise, progress=progress)


def read_policy_of(census: Census, path: str | Path) -> Policy:
    """A policy, checked against the census."""
    return read_policy(path, census.schema)


def read_plan_of(census: Census, path: str | Path) -> tuple[Plan, Policy | None]:
    """A plan, checked against the census, with the policy that it obeys, if it names one."""
    from sdcensus.documents.plan.document import read_plan

    plan = read_plan(path, lambda _: census.schema)
    if plan.policy is None:
        return plan, None
    return plan, read_policy(plan.path(plan.policy.file), census.schema)


def broken_down_in_menu(
    census: Census,
    menu: Menu,
    noise: GroupNoise,
    *,
    twins: bool = True,
    most_work: int = MOST_WORK,
    progress: Progress = no_progress,
) -> BrokenDown:
    """What all tables of a menu together break down.

    Args:
        census: The census.
        menu: The tables that may be asked for.
        noise: What noise and the rule of the smallest group do.
        twins: Whether twins are looked for as well.
        most_work: How many units are put into cells at most; above, a sample is taken.
        progress: Told how far it is.
    """
    progress("going through the menu", 0.0)
    return measured(
        census,
        kinds_of_menu(menu),
        menu.of,
        noise,
        twins=twins,
        most_work=most_work,
        progress=progress,
    )


def broken_down_in_tables(
    census: Census,
    specs: Sequence[TableSpec],
    noise: Callable[[Entity], GroupNoise],
    *,
    twins: bool = True,
    most_work: int = MOST_WORK,
    progress: Progress = no_progress,
) -> tuple[BrokenDown, ...]:
    """What some tables together break down, for each kind of unit that they count.

    Args:
        census: The census.
        specs: The tables.
        noise: What noise and the rule of the smallest group do to tables of some units.
        twins: Whether twins are looked for as well.
        most_work: How many units are put into cells at most; above, a sample is taken.
        progress: Told how far it is.
    """
    broken_downs = []
    for of in Entity:
        tables = TableSpec.of_records(specs, of)
        if tables:
            progress("going through the tables", 0.0)
            broken_downs.append(
                measured(
                    census,
                    kinds_of_tables(tables),
                    of,
                    noise(of),
                    twins=twins,
                    most_work=most_work,
                    progress=progress,
                )
            )
    return tuple(broken_downs)


def measured(
    census: Census,
    kinds: Sequence[KindOfCells],
    of: Entity,
    noise: GroupNoise,
    *,
    twins: bool,
    most_work: int = MOST_WORK,
    progress: Progress = no_progress,
) -> BrokenDown:
    """Count what is broken down of some kinds of cells; from tables where there are no records."""
    if _is_proven(census, of, noise):
        largest = max(LARGEST_GROUP, noise.proven)
        return BrokenDown(of=of, largest=largest, noise=noise, kinds_in_all=len(kinds), proven=True)
    if census.records is None:
        return _counted(census, kinds, of, noise, progress)
    counted = sample_of_kinds(kinds, census.records.rows(of), most_work)
    return measure_broken_down(
        unit_records(census.records, of, counted),
        kinds,
        of=of,
        noise=noise,
        largest=max(LARGEST_GROUP, noise.proven),
        twins=twins,
        sample=counted,
        progress=progress,
    )


def _is_proven(census: Census, of: Entity, noise: GroupNoise) -> bool:
    """Whether nothing has to be read, however large the census is."""
    if not noise.definition_keys or noise.proven < LARGEST_GROUP:
        return False
    return noise.proven >= _largest_group(census, of)


def _largest_group(census: Census, of: Entity) -> int:
    """The largest group that must not be broken down: three units, or a private household."""
    if of is Entity.PERSON:
        return max(LARGEST_GROUP, largest_private_household(census))
    return LARGEST_HOUSEHOLD if of is Entity.FAMILY else LARGEST_GROUP


def share_in_kinds(
    census: Census,
    kinds: Sequence[KindOfCells],
    of: Entity,
    noise: GroupNoise,
    *,
    most_work: int = MOST_WORK,
    progress: Progress = no_progress,
) -> float:
    """The share of visible groups that can be claimed with more than two attributes."""
    divided = divided_further(kinds)
    if not divided:
        return 0.0
    if _is_proven(census, of, noise):
        return 0.0
    if census.records is None:
        return _counted(census, divided, of, noise, progress).share
    chosen = sample_of_kinds(divided, census.records.rows(of), most_work)
    return measure_share(
        unit_records(census.records, of, chosen, households=noise.proven > 0),
        chosen,
        noise=noise,
        largest=max(LARGEST_GROUP, noise.proven),
        progress=progress,
    )


def divided_further(kinds: Sequence[KindOfCells]) -> list[KindOfCells]:
    """The kinds of cells of which a group can be claimed with more than two attributes."""
    return [kind for kind in kinds if len(kind.finer) > FEW_ATTRIBUTES]


def smallest_group_text(census: Census, noise: GroupNoise) -> str:
    """The setting that leaves no group and no private household broken down."""
    farthest = noise.largest_deviation
    if farthest is None:
        return "smallest_group = K (with a method that bounds every deviation, such as cell-key)"
    return f"smallest_group = {suggested_smallest_group(census, farthest)}"


def unit_records(
    store: RecordSource, of: Entity, kinds: Sequence[KindOfCells], *, households: bool = True
) -> UnitRecords:
    """The records of a store, with the variables that some kinds of cells need.

    Args:
        store: The store.
        of: What the units are.
        kinds: The kinds of cells.
        households: Whether it is needed who lives together.
    """
    rows = store.rows(of)
    every = slice(0, rows)
    names = {parts.variable.name for kind in kinds for parts in kind.parts}
    names |= {variable.name for kind in kinds for variable in kind.universe.variables}
    schema = store.schema
    codes: Mapping[str, np.ndarray[tuple[int], np.dtype[np.uint32]]] = {
        name: np.ascontiguousarray(store.column(of, schema.variable(name))[every])
        for name in sorted(names)
    }
    lived_in = None
    entities = {entity.entity for entity in schema.entities}
    lies_in_one = of is not Entity.HOUSEHOLD and Entity.HOUSEHOLD in entities
    if households and lies_in_one and schema.path(of, Entity.HOUSEHOLD):
        in_rows = store.household_rows(of)[every]
        lived_in = np.where(in_rows == NO_ROW, NO_HOUSEHOLD, in_rows.astype(np.int64))
    return UnitRecords(codes, lived_in, rows)


def _counted(
    census: Census,
    kinds: Sequence[KindOfCells],
    of: Entity,
    noise: GroupNoise,
    progress: Progress,
) -> BrokenDown:
    """The same from tables, where only an engine can read the records: without units and twins."""
    plain = [kind for kind in kinds if kind.universe.everything and _levels_of(kind) is not None]
    small = [kind for kind in plain if kind.cells <= _COUNTED_CELLS]
    figures = []
    claimed = seen = 0.0
    chosen = sample_of_kinds(small, 1, _COUNTED_TABLES) if small else ()
    for at, kind in enumerate(chosen):
        progress("counting what is broken down", at / len(chosen))
        cube = census.tabulate(TableSpec(of=of, axes=_levels_of(kind) or ())).dense
        if cube is None:
            continue
        groups = group_sizes(cube.count)
        few = (cube.count > noise.proven) & (cube.count <= max(LARGEST_GROUP, noise.proven))
        figures.append(
            KindFigures(
                kind.title, kind.area, len(kind.finer), tuple(groups.tolist()), int(few.sum()), 0
            )
        )
        if len(kind.finer) > FEW_ATTRIBUTES:
            seen += float(groups @ noise.visible)
            claimed += float(groups @ noise.passing)
    share = claimed / seen if seen else 0.0
    uncounted = [kind for kind in kinds if kind not in small and len(kind.finer) > FEW_ATTRIBUTES]
    if not seen and uncounted:
        share = noise.largest_share  # for any data: nothing may pass because it was not counted
    return BrokenDown(
        of=of,
        largest=max(LARGEST_GROUP, noise.proven),
        noise=noise,
        kinds=tuple(figures),
        kinds_in_all=len(kinds),
        share=share,
        claimed=claimed,
    )


def _levels_of(kind: KindOfCells) -> tuple[Axis, ...] | None:
    """The axes that count a kind of cells; ``None`` where its parts are no level."""
    axes = []
    for parts in kind.parts:
        variable = parts.variable
        own = [
            level for level in variable.levels() if f"{variable.name}@{level.name}" == parts.name
        ]
        if parts.name == variable.name:
            own = [variable.level()]
        if not own or (parts.group < 0).any():
            return None
        axes.append(make_axis(variable, own, total=False))
    return tuple(axes)
