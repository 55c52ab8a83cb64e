"""What an office wants to know about a derived store: tables, associations, a perturbation."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from math import prod

from sdcensus.errors import SpecError
from sdcensus.methods.method import Method
from sdcensus.microdata.method import Changes
from sdcensus.model.confidential import Confidential
from sdcensus.model.method.parameter import MethodOptions
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.variable import Entity, Role, Variable
from sdcensus.model.secret import Secret
from sdcensus.model.spec.table_spec import Measure, TableSpec
from sdcensus.session.census.census import Census
from sdcensus.session.protect.table import build_method

#: Levels of the table that stands for all have no more codes than this, if there are such levels,
#: and the table no more cells.
_FEW_CODES, _FEW_CELLS = 25, 300_000
#: What tables by area usually show, where a census has variables of these names.
_USUAL = ("sex", "age")
#: More cells than this are not measured whole.
MOST_CELLS = 20_000_000


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class EffectQuestions(Confidential):
    """What the report on a derived store is asked.

    Attributes:
        tables: Tables as comma-separated axes; ``households: tenure,size`` counts other units than
            persons. One that stands for all where none is named.
        associations: Pairs of axes whose Cramér's V is compared.
        strength, scheme: How tables are perturbed by cell keys besides; medium if nothing is said.
        language: Of the report.
    """

    tables: tuple[str, ...] = ()
    associations: tuple[str, ...] = ()
    strength: str | None = None
    scheme: str | None = None
    language: str | None = None

    @property
    def perturbation(self) -> str:
        """How tables are perturbed, as it is typed."""
        return f"cell-key {self.scheme or self.strength or 'medium'}"

    def checked(self, schema: Schema) -> None:
        """Refuse before any work what could not be answered in the end.

        Raises:
            SpecError: A table or an association cannot be counted in this census.
        """
        for text in self.tables:
            table_of(text, schema)
        for text in self.associations:
            association_of(text, schema)

    def method(self, census: Census, of: Entity, secret: Secret) -> Method:
        """The perturbation of the last column."""
        said = {"strength": self.strength, "scheme": self.scheme}
        options = MethodOptions(**said)
        return build_method("cell-key", census, of=of, options=options, secret=secret)


def counted_unit(schema: Schema) -> Entity:
    """What tables count where nothing is said: persons, or the innermost units there are."""
    kinds = schema.top_down
    return Entity.PERSON if Entity.PERSON in kinds else kinds[-1]


def measure_of(schema: Schema, of: Entity, *, weighing: bool) -> Measure:
    """How units are counted: as the census says, else as records.

    A method that changes weights is measured by the weights that it found.
    """
    if weighing and schema.weight(of) is not None:
        return Measure.WEIGHTED
    return schema.census.measure or Measure.COUNT


def table_of(text: str, schema: Schema, *, weighing: bool = False) -> TableSpec:
    """A table that is written as ``ed@parish,sex``, or as ``households: ed,tenure``."""
    units, colon, axes = text.rpartition(":")
    of = Entity.parse(units.strip()) if colon else counted_unit(schema)
    by = [axis.strip() for axis in axes.split(",") if axis.strip()]
    if not by:
        raise SpecError(f"{text!r} names no table. Name its axes, such as --table ed@parish,sex.")
    spec = TableSpec.build(schema, by, of=of, measure=measure_of(schema, of, weighing=weighing))
    if spec.cells > MOST_CELLS:
        raise SpecError(
            f"{spec.title}: {spec.cells:,} cells are too many to be measured whole. Take fewer axes"
            " or coarser levels."
        )
    return spec


def association_of(text: str, schema: Schema, *, weighing: bool = False) -> TableSpec:
    """The two-way table of an association that is written as ``sex,tenure``."""
    if text.count(",") != 1:
        raise SpecError(
            f"An association has two variables, comma-separated, and not {text!r}. Write it like"
            " this: --association sex,tenure."
        )
    _, _, axes = text.rpartition(":")
    if len({axis.partition("@")[0].strip() for axis in axes.split(",")}) < 2:
        raise SpecError(f"An association has two different variables, and not {text!r}.")
    return table_of(text, schema, weighing=weighing)


def standing_for_all(schema: Schema, changed: Collection[str]) -> tuple[str, ...]:
    """A table that shows what a method did where nobody named one: areas by two variables.

    Args:
        schema: Of the census.
        changed: Variables that the method changes; the table shows them, if it can.
    """
    of = counted_unit(schema)
    area = schema.geography
    usable = [
        variable
        for variable in schema.usable(of)
        if variable.is_axis and variable.role not in (Role.GEOGRAPHY, Role.WEIGHT)
    ]
    keys = [variable for variable in usable if variable.role is Role.KEY]
    # What went along with a place says little by itself.
    moved = area is not None and area.name in changed
    first = [each for each in usable if each.name in changed and not moved]
    first += [each for each in usable if each.name in _USUAL]
    own = [variable for variable in usable if variable.entity is of]
    chosen = list({each.name: each for each in (*first, *keys, *own, *usable)}.values())[:2]
    axes = [_with_few_codes(variable) for variable in chosen]
    if area is not None and schema.path(of, area.entity) is not None:
        codes = prod(size + 1 for _, size in axes)
        levels = [(_named(area, level.name), len(level.codes)) for level in area.plain_levels]
        fitting = [name for name, size in levels if size * codes <= _FEW_CELLS]
        axes = [(fitting[0] if fitting else levels[-1][0], 0), *axes]
    return (",".join(name for name, _ in axes),) if axes else ()


def _with_few_codes(variable: Variable) -> tuple[str, int]:
    """A variable at its finest level with few codes, and how many these are."""
    levels = sorted(variable.plain_levels, key=lambda level: -len(level.codes))
    few = [level for level in levels if len(level.codes) <= _FEW_CODES] or levels[-1:]
    return _named(variable, few[0].name), len(few[0].codes)


def _named(variable: Variable, level: str) -> str:
    return variable.name if level == variable.leaf_level else f"{variable.name}@{level}"


def table_texts(questions: EffectQuestions, schema: Schema, changes: Changes) -> Sequence[str]:
    """The tables that were named, those for which records were changed, or one for all."""
    if questions.tables:
        return questions.tables
    if changes.one_kind is not None and changes.one_kind.listed is not None:
        listed = changes.one_kind.listed
        return [f"{listed.of.plural}: {text}" for text in listed.tables]
    return standing_for_all(schema, changes.codes)
