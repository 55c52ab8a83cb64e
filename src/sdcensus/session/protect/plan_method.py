"""The method that a plan asks for, ready for what it counts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from sdcensus.documents.plan.protections import files_of
from sdcensus.documents.policy.document import read_policy
from sdcensus.errors import SpecError
from sdcensus.methods.look_up import DEFAULT_STRENGTH
from sdcensus.methods.method import CellMethod, Method
from sdcensus.model.confidential import Confidential
from sdcensus.model.method.parameter import MethodOptions
from sdcensus.model.method.registry import Part, declared, load, parameters_of, takers_of
from sdcensus.model.plan.plan import SUMS_PROTECTION, Plan, Protection
from sdcensus.model.policy.policy import Policy
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.variable import Entity
from sdcensus.model.secret import Secret, SubSecret
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.session.census.census import Census
from sdcensus.session.protect.smallest_group import in_force
from sdcensus.session.protect.table import build_method, exempting

#: How sums are protected where a plan does not say it.
SUMS_METHOD = "cell-key-sums"
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
    protect: Protection | None = None,
) -> Method:
    """The method of a plan for tables of one kind of unit.

    Args:
        plan: The plan; files that it names lie beside it.
        census: The census whose tables are protected.
        of: What the tables count.
        secret: The office secret or its file; else ``SDCENSUS_SECRET_FILE`` names it.
        key_version: The version of the series of numbers, where it is not the plan's.
        lookup: How keys are looked up where the plan does not say it.
        protect: How some of its tables are protected, if not as the plan says.
    """
    protect = protect or plan.protect or DEFAULT
    settings: dict[str, Any] = dict(protect.settings)
    takes = parameters_of(takers_of(protect.method, protect.then))
    settings |= {name: plan.path(file) for name, file in files_of(protect).items()}
    if key_version is not None and "key_version" in takes:
        settings["key_version"] = key_version
    if lookup is not None and "lookup" in takes:
        settings.setdefault("lookup", lookup)
    try:
        return build_method(
            protect.method,
            census,
            of=of,
            then=protect.then,
            options=MethodOptions(**settings),
            secret=secret,
        )
    except SpecError as error:
        # What a setting may be, only the method knows; where it was said, only the plan.
        if type(error) is not SpecError:
            raise
        raise SpecError(f"{plan.file}: {protect.method}: {error}") from error


def planned_smallest_group(plan: Plan, schema: Schema, policy: Policy | None = None) -> int | None:
    """The smallest group of a plan: its own, or that of the policy that it obeys.

    Args:
        plan: The plan.
        schema: Of the census that it is about.
        policy: The policy, where it is read already.
    """
    if policy is None and plan.policy is not None:
        policy = read_policy(plan.path(plan.policy.file), schema)
    return smallest_group_of(plan, plan.protect or DEFAULT, policy)


class _Named(Protocol):
    """A product of a plan, as far as it matters here."""

    @property
    def name(self) -> str: ...

    @property
    def specs(self) -> tuple[TableSpec, ...]: ...


def own_protections(plan: Plan, products: Iterable[_Named]) -> dict[str, Protection]:
    """The protection of every table that says one itself, by the hash of its specification.

    Args:
        plan: The plan.
        products: Everything that it publishes.

    Raises:
        SpecError: Two products stand on one table and are protected in different ways.
    """
    said = {table.name: plan.own_protection(table) for table in plan.tables}
    own: dict[str, Protection] = {}
    known: dict[str, tuple[str, Protection]] = {}
    for product in products:
        for spec in product.specs:
            protection = said.get(product.name)
            if protection is None and spec.measure.is_sum:
                protection = sums_protection(plan)
            used = protection or plan.protect or DEFAULT
            first, other = known.setdefault(spec.hash(), (product.name, used))
            if other != used:
                raise SpecError(
                    f"{first!r} and {product.name!r} stand on the same table ({_title(spec)}) and"
                    " are protected in different ways: readers would have two numbers for one"
                    " question. Protect both in the same way, or leave one of them out."
                )
            if protection is not None:
                own[spec.hash()] = protection
    return own


def sums_protection(plan: Plan) -> Protection | None:
    """How sums are protected that name nothing themselves; ``None`` for as all other tables are.

    By the section ``[protect.sums]``; or by ``[protect]`` where that method takes sums; or else
    by the cell key method for sums as it is.
    """
    named = dict(plan.protections).get(SUMS_PROTECTION)
    main = plan.protect or DEFAULT
    if named is None and load(Part.METHOD, main.method).takes_sums:
        return None
    protection = named or Protection(method=SUMS_METHOD)
    # Groups that no count breaks down are not broken down by sums either.
    return replace(protection, smallest_group=protection.smallest_group or main.smallest_group)


def _title(spec: TableSpec) -> str:
    return replace(spec, name="").title


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class PlannedMethods(Confidential):
    """The methods of a plan: one for all tables, and those of tables that say another one.

    Attributes:
        plan: The plan.
        census: The census whose tables are protected.
        own: The protection of tables that have one of their own, by the hash of the table.
        policy: What is published exactly in every product, if there is a policy.
        secret, key_version, lookup: As for ``planned_method``.
    """

    plan: Plan
    census: Census
    own: Mapping[str, Protection] = field(default_factory=dict)
    policy: Policy | None = None
    secret: str | Path | Secret | SubSecret | None = None
    key_version: int | None = None
    lookup: str | None = None
    _made: dict[tuple[Protection, Entity], Method] = field(default_factory=dict)

    def __repr__(self) -> str:
        return "<PlannedMethods: confidential>"

    @property
    def for_all(self) -> Protection:
        """How tables are protected that say nothing."""
        return self.plan.protect or DEFAULT

    def protection(self, spec: TableSpec) -> Protection:
        """What is said about a table."""
        return self.own.get(spec.hash(), self.for_all)

    def method(self, spec: TableSpec) -> Method:
        """The method of a table; the same one each time."""
        return self.of_protection(self.protection(spec), spec.of)

    def judging(self, spec: TableSpec) -> Method:
        """The method by whose published counts groups are small: of sums, that of counts."""
        return self.main(spec.of) if spec.measure.is_sum else self.method(spec)

    def for_counts(self, of: Entity) -> Method:
        """The method of counts, by which contributors are numbered; of a plan of sums the usual."""
        main = self.main(of)
        usable = isinstance(main.first, CellMethod) and not main.first.for_sums
        return main if usable else self.of_protection(DEFAULT, of)

    def main(self, of: Entity) -> Method:
        """The method of tables that say nothing."""
        return self.of_protection(self.for_all, of)

    def used(self, specs: Iterable[TableSpec]) -> tuple[Method, ...]:
        """The methods of some tables, each once."""
        return tuple({id(method): method for method in map(self.method, specs)}.values())

    def of_protection(self, protection: Protection, of: Entity) -> Method:
        """The method of tables of one kind of unit that are protected in one way."""
        key = (protection, of)
        if key not in self._made:
            planned = planned_method(
                self.plan,
                self.census,
                of,
                secret=self.secret,
                key_version=self.key_version,
                lookup=self.lookup,
                protect=protection,
            )
            policy = self.policy
            self._made[key] = planned if policy is None else exempting(planned, policy)
        return self._made[key]

    def by_protection(
        self, specs: Sequence[TableSpec]
    ) -> Iterator[tuple[Protection, list[TableSpec]]]:
        """Tables by how they are protected, those that say nothing first."""
        groups: dict[Protection, list[TableSpec]] = {self.for_all: []}
        for spec in specs:
            groups.setdefault(self.protection(spec), []).append(spec)
        for protection, tables in groups.items():
            if tables:
                yield protection, tables

    def together(self, specs: Sequence[TableSpec]) -> list[tuple[TableSpec, ...]]:
        """Tables that are protected together: of one kind of unit, by one method that does so."""
        groups: dict[tuple[Protection, Entity, str], list[TableSpec]] = {}
        for spec in specs:
            protection = self.protection(spec)
            if is_linked(protection):
                amount = "" if spec.amount is None else spec.amount.name
                key = (protection, spec.of, f"{spec.measure.value} {amount}")
                groups.setdefault(key, []).append(spec)
        return [tuple(tables) for tables in groups.values()]


def is_linked(protection: Protection) -> bool:
    """Whether a protection protects tables together."""
    return declared(Part.METHOD, protection.method).linked


def smallest_group_of(plan: Plan, protection: Protection, policy: Policy | None) -> int | None:
    """The smallest group of tables with a protection: its own, or that of the policy."""
    role = "" if plan.policy is None else plan.policy.role
    return in_force(policy, role, protection.smallest_group)
