"""The smallest group: nothing is broken down below a published group of fewer than K units.

A cell is shown if and only if every proper ancestor is *published* at K or more: perturbed by the
method, as an unweighted count, before any step after the method. The rule reads published values
only, so what it hides follows from what is shown. It needs the ancestors of a table whether that
shows them or not, so it is no part of a method: the table is counted with its ancestors here,
protected, hidden in part, and cut back. Every road of the product goes through this module.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from sdcensus.errors import Refused, SpecError
from sdcensus.kernels.cells.tabulate import NO_ROW
from sdcensus.methods.method import CellMethod, Method
from sdcensus.model.confidential import Confidential
from sdcensus.model.cube.ancestors import Ancestry, ancestry_of
from sdcensus.model.cube.cube import Accumulators, Cube
from sdcensus.model.cube.sparse_cube import AnyCube, SparseCube
from sdcensus.model.policy.policy import Policy
from sdcensus.model.published.protected import Protected
from sdcensus.model.published.small_groups import NonZeroCells, SparseGroups
from sdcensus.model.published.table import AnyTable, Mark, SparseTable, Table
from sdcensus.model.schema.variable import Entity
from sdcensus.model.sentences import sentence
from sdcensus.model.spec.table_spec import Measure, TableSpec
from sdcensus.model.spec.universe import universe_of
from sdcensus.model.text import Text
from sdcensus.risk.groups.broken_down import LARGEST_GROUP, LARGEST_HOUSEHOLD
from sdcensus.session.census.census import Census

Int64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
Tabulate = Callable[[TableSpec], AnyCube]

#: The smallest group that makes a rule: below it nothing would ever be hidden but empty cells.
LEAST = 2
#: The households of a census that has none: few private ones anywhere are larger.
WITHOUT_HOUSEHOLDS = 12


def checked_size(smallest: object, *, where: str = "smallest_group") -> int | None:
    """The size of the smallest group as somebody wrote it; ``None`` stays."""
    if smallest is None:
        return None
    if type(smallest) is not int or smallest < LEAST:
        raise SpecError(f"{where} is a whole number, {LEAST} or more, such as 23.")
    return smallest


def in_force(policy: Policy | None, role: str, own: int | None) -> int | None:
    """The smallest group of a plan or a command under a policy; ``None`` for no rule.

    Raises:
        Refused: It would be below that of the policy.
    """
    own = checked_size(own)
    of_policy = None if policy is None else policy.online_for(role).smallest_group
    if policy is None or of_policy is None:
        return own
    if own is not None and own < of_policy:
        raise Refused(
            f"smallest_group = {own} is below that of the policy {policy.name!r} ({of_policy}). It"
            " can be raised, never lowered. Leave it out, or change the policy."
        )
    return own or of_policy


def judging_method(method: Method, counts: Method | None = None) -> CellMethod:
    """The part of a method whose published values the rule reads.

    Sums say nothing about how many stand behind them: their cells are judged by the published
    counts of the same cells, as every other product shows them.

    Args:
        method: How the table is protected.
        counts: How counts are protected beside it, where it is a table of sums.

    Raises:
        SpecError: Its values have no bound in every cell, or depend on the table around them.
    """
    if method.first.for_sums:
        if counts is None or counts.first.for_sums:
            raise SpecError(
                "smallest_group of a table of sums reads the published counts of its cells, and"
                " nothing says how counts are protected. Publish it by a plan: [protect] for"
                " counts, and a section [protect.NAME] for the tables of sums."
            )
        return judging_method(counts)
    first = method.first
    claims = first.claims()
    why = ""
    if not claims.bounded or first.largest_deviation is None:
        why = (
            "a single number of it can be far from the truth, so that a small group could be"
            " published as a large one"
        )
    elif not claims.consistent or not isinstance(first, CellMethod):
        why = (
            "the same cell has other numbers in other tables, so that a cell would be hidden in one"
            " and shown in another"
        )
    if why or not isinstance(first, CellMethod):
        raise SpecError(
            f"smallest_group needs a method with a limit on every number, the same in every table,"
            f" and {method.described_name!r} is none: {why}. Take the method 'cell-key', or"
            " 'random-rounding'; or leave smallest_group out."
        )
    return first


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class GroupClaim(Confidential):
    """What the rule guarantees. For the office: together with K it gives the largest deviation.

    Attributes:
        smallest: The smallest group, K. Public by itself.
        units: No cell of so many units or fewer is broken down; 0 where nothing is guaranteed.
        adds_up: Whether totals are made to add up afterwards, so that hidden values can be
            computed from the others, and nothing is guaranteed.
    """

    smallest: int
    units: int
    adds_up: bool = False

    def __repr__(self) -> str:
        return "<GroupClaim: confidential>"

    @property
    def sentence(self) -> str:
        """The claim in words; confidential."""
        if self.adds_up:
            return sentence("assess.smallest.adds_up", n=self.smallest)
        if not self.units:
            return sentence("assess.smallest.nothing", n=self.smallest)
        return sentence("assess.smallest.claim", n=self.units)


def group_claim(method: Method, smallest: int) -> GroupClaim:
    """What the rule guarantees of everything that goes through it; confidential."""
    largest = judging_method(method).largest_deviation or 0
    return GroupClaim(
        smallest=smallest,
        units=max(0, smallest - largest - 1),
        adds_up=any(step.claims().additive for step in method.steps),
    )


def suggested_smallest_group(census: Census, method: Method | int, *, private: str = "") -> int:
    """The smallest group that offices should begin with: K = t + D + 1.

    D is the largest deviation, and t the size of the largest private household: its members share
    its variables, so a cell of one household tells of each of them what it tells of all. No cell
    of t or fewer units is broken down then. Public, as any size that is in force.

    Args:
        census: The census.
        method: How its tables are protected, or its largest deviation.
        private: Which households are private ones, as ``largest_private_household`` takes it.

    Raises:
        SpecError: The method has no limit for every number.
    """
    if not isinstance(method, int):
        method = judging_method(method).largest_deviation or 0
    return max(LARGEST_GROUP, largest_private_household(census, private)) + method + 1


def largest_private_household(census: Census, private: str = "") -> int:
    """How many persons the largest private household has; confidential.

    Args:
        census: The census; without households ``WITHOUT_HOUSEHOLDS`` stands in for theirs.
        private: Which households are private ones, as a condition on their variables, such as
            ``"household_kind == 1"``; without it, those of at most ``LARGEST_HOUSEHOLD`` persons.
    """
    schema, store = census.schema, census.records
    kinds = {entity.entity for entity in schema.entities}
    linked = {Entity.PERSON, Entity.HOUSEHOLD} <= kinds
    if store is None or not linked or not schema.path(Entity.PERSON, Entity.HOUSEHOLD):
        if private:
            raise SpecError("There are no households in this census that could be private.")
        return WITHOUT_HOUSEHOLDS
    rows = store.household_rows(Entity.PERSON)[slice(0, store.rows(Entity.PERSON))]
    size = np.bincount(rows[rows != NO_ROW], minlength=store.rows(Entity.HOUSEHOLD))
    if not private:
        return int(size[size <= LARGEST_HOUSEHOLD].max(initial=1))
    universe = universe_of(private, schema)
    every = slice(0, store.rows(Entity.HOUSEHOLD))
    place = []
    for variable, classes in zip(universe.variables, universe.classes, strict=True):
        if schema.path(Entity.HOUSEHOLD, variable.entity) is None:
            raise SpecError(f"{variable.name!r} does not describe households.")
        place.append(classes[store.column(Entity.HOUSEHOLD, variable)[every].astype(np.int64)])
    held = np.broadcast_to(universe.truth[tuple(place)], size.shape)
    if not held.any():
        raise SpecError(f"No household is a private one by the condition {private!r}.")
    return int(size[held].max())


class GroupRule:
    """The rule for one size of the smallest group, or none.

    Args:
        smallest: The smallest group; without it every cell is shown.
    """

    __slots__ = ("smallest",)

    def __init__(self, smallest: int | None) -> None:
        self.smallest = checked_size(smallest)

    def __repr__(self) -> str:
        return f"<GroupRule {self.smallest or 'none'}>"

    def __bool__(self) -> bool:
        return self.smallest is not None

    def counted(self, spec: TableSpec) -> TableSpec:
        """What has to be counted for a table: itself, with its ancestors under the rule."""
        return spec if self.smallest is None else ancestry_of(spec).extended

    def protect(
        self,
        spec: TableSpec,
        method: Method,
        tabulate: Tabulate,
        *,
        counted: AnyCube | None = None,
        counts: Method | None = None,
    ) -> Protected:
        """Count a table with its ancestors, protect it, hide what is below a small group, cut.

        Args:
            spec: The table.
            method: How it is protected.
            tabulate: Counts a table, such as ``census.tabulate``.
            counted: The cube of ``counted(spec)``, where it is at hand.
            counts: How counts are protected, for a table of sums.
        """
        if self.smallest is None:
            return method.protect(tabulate(spec) if counted is None else counted)
        judge = judging_method(method, counts)
        ancestry = ancestry_of(spec)
        cube = tabulate(ancestry.extended) if counted is None else counted
        if isinstance(cube, SparseCube):
            return self._sparse(ancestry, method, cube, tabulate)
        other = None
        if ancestry.unconditioned is not None:
            whole = tabulate(ancestry.unconditioned).dense
            if whole is None:  # as large as the table itself, which is held
                raise Refused(too_large(spec, self.smallest))
            other = _judged(judge, whole).published < self.smallest
        judged = _judged(judge, cube)
        hidden = ancestry.broken_down(judged.published < self.smallest, other)
        own = ancestry.cut_cube(cube)
        if method is judge and spec.measure is Measure.COUNT:
            # The same cells have the same numbers, whatever stands beside them.
            flags = None if judged.flags is None else ancestry.cut(judged.flags)
            protected = method.finished(own, Table(spec, ancestry.cut(judged.published), flags))
        else:
            protected = method.protect(own)
        return replace(
            protected,
            table=_hidden(protected.table.whole(), hidden, self.smallest),
            provenance=replace(protected.provenance, smallest_group=self.smallest),
        )

    def _sparse(
        self, ancestry: Ancestry, method: Method, cube: SparseCube, tabulate: Tabulate
    ) -> Protected:
        """The same for a table too large to hold, with the cells that are not published as 0."""
        smallest, spec = self.smallest, ancestry.spec
        if smallest is None or method.first.for_sums:
            raise Refused(too_large(spec, smallest or 0))
        judge = judging_method(method)
        if method is not judge or spec.measure is not Measure.COUNT:
            raise Refused(too_large(spec, smallest))
        other = None
        if ancestry.unconditioned is not None:
            other = _listed(judge.protect(tabulate(ancestry.unconditioned)).table)
        groups = SparseGroups(ancestry, _listed(judge.protect(cube).table), smallest, other)
        own = tabulate(spec)
        if isinstance(own, SparseCube):
            shown = groups.shown
            table: AnyTable = SparseTable(
                spec, shown.numbers, shown.published, (note_for(smallest),), groups.outside()
            )
            protected = method.finished(own, table)
        else:
            # Only its ancestors are too many: every cell of the table itself can have a mark.
            protected = method.protect(own)
            hidden = groups.broken_down(np.arange(spec.cells, dtype=np.uint64))
            held = protected.table.whole()
            protected = replace(
                protected, table=_hidden(held, hidden.reshape(spec.shape), smallest)
            )
        return replace(protected, provenance=replace(protected.provenance, smallest_group=smallest))


def too_large(spec: TableSpec, smallest: int) -> str:
    """Why a table cannot go through the rule that is too large to be held with its ancestors."""
    return (
        f"{spec.title}: with the groups above its cells the table is too large to be held whole,"
        f" which smallest_group = {smallest} needs. Take fewer variables or coarser areas; or"
        " publish it by a plan without smallest_group, where the risk has to be accepted by name."
    )


def _listed(table: AnyTable) -> NonZeroCells:
    """The cells of a table that are not published as 0."""
    if isinstance(table, SparseTable):
        return NonZeroCells(table.numbers, table.published)
    published = table.published.reshape(-1)
    numbers = np.flatnonzero(published)
    return NonZeroCells(numbers.astype(np.uint64), published[numbers])


def published_records(method: Method, cube: Cube) -> Int64 | None:
    """Behind weighted counts, the numbers of records as they would be published; else ``None``.

    Rules about few units are about these: a single record of a sample may stand for thousands.
    Methods that protect no counts have none; rules about sums are about their contributors.
    """
    measure, first = cube.spec.measure, method.first
    if measure is Measure.COUNT or measure.is_sum or first.for_samples:
        return None
    return _judged(method.first, cube).published


def _judged(judge: Method, cube: Cube) -> Table:
    """What the rule reads: unweighted counts as the method publishes them; 0 for withheld ones."""
    if cube.spec.measure is not Measure.COUNT:
        # Read by rules and never shown, also where only weighted counts are published.
        origin = replace(cube.origin, weights_only=False)
        cube = Cube(cube.spec.records, origin, Accumulators(cube.count, cube.key))
    return judge.protect(cube).table.whole()


def _hidden(table: Table, hidden: Mask, smallest: int) -> Table:
    """The table without some cells. What stood there, a sign included, says nothing any more."""
    if not hidden.any():
        return table
    flags = np.zeros(table.shape, dtype=np.uint8) if table.flags is None else table.flags
    return Table(
        table.spec,
        np.where(hidden, 0, table.published),
        np.where(hidden, np.uint8(Mark.NOT_BROKEN_DOWN), flags).astype(np.uint8),
        (*table.notes, note_for(smallest, table.spec.measure)),
    )


def note_for(smallest: int, measure: Measure = Measure.COUNT) -> Text:
    """What readers are told, with what helps them; groups of a sample are small by its records."""
    of_sample = "_of_sample" if measure is Measure.WEIGHTED else ""
    return Text.named(f"notes.smallest_group{of_sample}").filled(size=str(smallest))
