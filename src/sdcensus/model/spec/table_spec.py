"""What a table shows: units, axes, universe, measure. No data."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from sdcensus.errors import SpecError, told
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.variable import Entity, Role, Variable
from sdcensus.model.spec.axis import Axis, parse_axis
from sdcensus.model.spec.measures import MeasureOf
from sdcensus.model.spec.universe import EVERYTHING, Universe, universe_of
from sdcensus.model.vocabulary import Measure as Measure

Made = TypeVar("Made")


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class TableSpec:
    """A table without its numbers. Axes come from code lists, so empty cells are part of it.

    Attributes:
        of, axes, universe, measure: What is counted, by what, of whom, and how.
        name: How a plan calls the table.
        weight_decimals: How many decimals the weights have, for a weighted table.
        amount: The continuous variable that is added up, for a table of sums.
    """

    of: Entity
    axes: tuple[Axis, ...]
    universe: Universe = field(default_factory=lambda: EVERYTHING)
    measure: Measure = Measure.COUNT
    name: str = ""
    weight_decimals: int = 0
    amount: Variable | None = None
    # Long code lists take a while, and a table is asked for its hash again and again.
    _hash: list[str] = field(init=False, default_factory=list)
    _made: dict[Hashable, Any] = field(init=False, default_factory=dict)

    @classmethod
    def build(
        cls,
        schema: Schema,
        by: Sequence[str],
        *,
        of: Entity | str = Entity.PERSON,
        universe: str | None = None,
        measure: Measure | MeasureOf | str | None = Measure.COUNT,
        name: str = "",
    ) -> TableSpec:
        """Read axes and condition in the grammar of plans and check them against the schema.

        Without a measure, that of the census is meant.
        """
        entity = of if isinstance(of, Entity) else Entity.parse(of)
        schema.entity(entity)
        if isinstance(by, str):
            by = [by]
        axes = tuple(parse_axis(text, schema.variable) for text in by)
        names = [axis.variable.name for axis in axes]
        for twice in {name for name in names if names.count(name) > 1}:
            raise SpecError(
                told(
                    "axis.twice",
                    "The table has two axes of {variable!r}. Ask for both levels in one axis:"
                    " {variable}@level+level.",
                    variable=twice,
                )
            )
        where = universe_of(universe, schema)
        lineage = schema.lineage(entity)
        for variable in [*(axis.variable for axis in axes), *where.variables]:
            if variable.entity not in lineage:
                raise SpecError(
                    told(
                        "units.several",
                        "{variable!r} describes {own}, and one {one} may have several; it cannot be"
                        " used to count {units}.",
                        variable=variable.name,
                        own=variable.entity.many,
                        one=entity.single,
                        units=entity.many,
                    )
                )
            schema.inherited_missing(entity, variable)
        if measure is None:
            measure = schema.census.measure or Measure.COUNT
        asked = MeasureOf.parse(measure)
        return cls(of=entity, axes=axes, universe=where, name=name).measured(asked, schema)

    def measured(self, measure: Measure | MeasureOf, schema: Schema) -> TableSpec:
        """The same table by another measure.

        Raises:
            SpecError: Weighted counts are asked for, and such units have no weight. Or what is to
                be added up is no amount of such units.
        """
        asked = MeasureOf.parse(measure)
        weight_decimals = 0
        if asked.measure.is_weighted:
            weight_decimals = self._weight(schema).decimals
        return replace(
            self,
            measure=asked.measure,
            weight_decimals=weight_decimals,
            amount=asked.amount_of(self.of, schema),
        )

    def _weight(self, schema: Schema) -> Variable:
        weight = schema.weight(self.of)
        if weight is None and schema.census.weights_only:
            known = " or ".join(kind.plural for kind in schema.weighted)
            raise SpecError(
                f"The weights that protect this store are not those of {self.of.plural}, and it"
                f" publishes weighted counts only. Count {known}; or draw weights of"
                f" {self.of.plural} for a store of its own: --of {self.of.plural}."
            )
        if weight is None:
            raise SpecError(
                f"The schema has no weight for {self.of.plural}, so they have no weighted counts."
                ' How many records there are is asked for by name: measure = "count".'
            )
        return weight

    @property
    def records(self) -> TableSpec:
        """The same table of plain counts.

        A weighted count has the noise of the count of its records, so whoever asks what a table
        gives away asks about this one.
        """
        if self.measure is Measure.COUNT:
            return self
        return replace(self, measure=Measure.COUNT, weight_decimals=0, amount=None)

    @property
    def compared(self) -> TableSpec:
        """The table by which it is known what others show of its cells, and close.

        Counts of the same records are one thing, weighted or not, and so are sums of the same
        amount over them. A sum is no count, and no sum of another amount.
        """
        if self.amount is None:
            return self.records
        if self.measure is Measure.SUM:
            return self
        return replace(self, measure=Measure.SUM, weight_decimals=0)

    @property
    def decimals(self) -> int:
        """How many digits of the published whole numbers stand behind the decimal point."""
        return 0 if self.amount is None else self.amount.decimals

    @property
    def unit(self) -> str:
        """What the published numbers are measured in; empty for counts."""
        return "" if self.amount is None else self.amount.unit

    @property
    def by_own_classes(self) -> bool:
        """Whether sums are told apart by the size of what is added up, not by who has it alone."""
        amount = self.amount
        if amount is None:
            return False
        known = [at for at, code in enumerate(amount.codes) if not code.is_missing]
        axes = [axis.variable.name for axis in self.axes]
        return amount.name in axes or self.universe.tells_apart(amount, known)

    @staticmethod
    def of_records(specs: Iterable[TableSpec], of: Entity | None = None) -> list[TableSpec]:
        """Tables as those who look at them count them: a weighted one and its records are one.

        Args:
            specs: The tables.
            of: Only those that count such units.
        """
        records = [spec.records for spec in specs if of is None or spec.of is of]
        return list({spec.hash(): spec for spec in records}.values())

    @property
    def shape(self) -> tuple[int, ...]:
        """How many positions each axis has, totals included."""
        return tuple(len(axis.codes) for axis in self.axes)

    @property
    def cells(self) -> int:
        """How many cells the table has, empty ones and totals included."""
        return math.prod(self.shape)

    @property
    def base_shape(self) -> tuple[int, ...]:
        """How many base groups each axis has."""
        return tuple(axis.base_size for axis in self.axes)

    @property
    def base_cells(self) -> int:
        """How many cells the finest tabulation has."""
        return math.prod(self.base_shape)

    @property
    def title(self) -> str:
        """The name, or what the table is in the grammar of plans."""
        by = ", ".join(axis.name for axis in self.axes)
        what = self.of.plural if self.amount is None else f"{self.amount.name} of {self.of.plural}"
        return self.name or (f"{what} by {by}" if by else what)

    def axis(self, variable: str) -> Axis:
        """The axis of that variable."""
        return self.axes[self.position(variable)]

    def position(self, variable: str) -> int:
        """Which axis shows that variable."""
        for position, axis in enumerate(self.axes):
            if axis.variable.name == variable:
                return position
        shown = ", ".join(axis.variable.name for axis in self.axes) or "none"
        raise SpecError(f"The table has no axis {variable!r}. Its axes are: {shown}.")

    def kept(self, key: Hashable, make: Callable[[], Made]) -> Made:
        """Something that is made of this table alone: made once, as a table never changes."""
        if key not in self._made:
            self._made[key] = make()
        derived: Made = self._made[key]
        return derived

    def with_axes(self, axes: Iterable[Axis]) -> TableSpec:
        """The same table on other axes."""
        return replace(self, axes=tuple(axes), name="")

    def hash(self) -> str:
        """The canonical hash: equal for two spellings of the same table.

        Order of axes, names of levels, labels, layout and the spelling of the universe are no
        matter; what is counted, the codes that are shown and the measure are.
        """
        if not self._hash:
            self._hash.append(self._computed_hash())
        return self._hash[0]

    def _computed_hash(self) -> str:
        canonical: dict[str, Any] = {
            "of": self.of.value,
            "axes": sorted(axis.canonical() for axis in self.axes),
            "universe": self.universe.canonical(),
            "measure": self.measure.value,
        }
        if self.amount is not None:
            canonical["amount"] = [self.amount.name, self.amount.decimals, self.amount.unit]
        text = json.dumps(canonical, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
        return hashlib.blake2b(text.encode(), digest_size=16, person=b"table-spec").hexdigest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TableSpec) and self.hash() == other.hash()

    def __hash__(self) -> int:
        return hash(self.hash())

    def __repr__(self) -> str:
        return f"<TableSpec {self.title}: {'×'.join(map(str, self.shape)) or 'one cell'}>"


def too_large(spec: TableSpec, purpose: str) -> str:
    """What is said where every cell of a table is needed and it is too large for that."""
    return (
        f"{spec.title}: the table is too large to be held whole, which {purpose} needs. Take fewer"
        " or coarser axes."
    )


def geography_axes(spec: TableSpec) -> tuple[int, ...]:
    """The positions of the axes whose codes are areas; that of the main geography first."""
    areas = [at for at, axis in enumerate(spec.axes) if axis.variable.role is Role.GEOGRAPHY]
    return tuple(sorted(areas, key=lambda at: not spec.axes[at].variable.main))


def area_axis(
    spec: TableSpec, named: str | None, *, how: str = "area=, on the command line --area"
) -> int:
    """The position of the axis of areas: the named variable, else the main or first geography.

    Refuses a table without such an axis.

    Args:
        spec: The table.
        named: The variable, if one is named.
        how: How it is named, for the message.
    """
    if named is not None:
        return spec.position(named)
    areas = geography_axes(spec)
    if areas:
        return areas[0]
    shown = ", ".join(axis.variable.name for axis in spec.axes) or "none"
    raise SpecError(
        f"{spec.title}: no axis of the table is a geography. Its axes are: {shown}. Name the one"
        f" whose codes are areas ({how}), or give its variable the role 'geography' in the schema."
    )
