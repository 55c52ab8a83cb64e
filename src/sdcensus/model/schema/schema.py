"""A census described once: its units, variables, keys and impossible combinations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from types import MappingProxyType
from typing import Any, Self, TypeVar, overload

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError, UnknownName, told
from sdcensus.model.schema.grids import GridSpec
from sdcensus.model.schema.relation import Relation
from sdcensus.model.schema.source import FileSource
from sdcensus.model.schema.variable import CodeKind, Entity, EntitySpec, Role, Variable
from sdcensus.model.text import Text
from sdcensus.model.vocabulary import Measure

LARGEST_MODULUS = 1 << 32
MOST_DIGITS = 9
#: Below this modulus, an outsider can try out every key.
COARSE_BELOW = 1 << 16

#: Weights of a census that correct for who was missed are near 1. Records that stand for this many
#: on average are a sample.
SAMPLE_WEIGHT = Fraction(3, 2)


class Combine(StrEnum):
    """What is done with the keys of the records of a cell."""

    SUM = "sum"
    XOR = "xor"


@dataclass(frozen=True, slots=True)
class KeySpace:
    """Keys are whole numbers from 0 to below ``modulus``; a cell combines those of its records.

    The default serves every publication. Others exist for exchange: powers of ten (keys that
    another tool drew as decimals), 256 and 4096, and exclusive or instead of sums.

    Examples:
        >>> KeySpace().reduce(np.array([6183025649], dtype=np.uint64))
        array([1888058353], dtype=uint32)
    """

    modulus: int = LARGEST_MODULUS
    combine: Combine = Combine.SUM

    def __post_init__(self) -> None:
        """Refuse a modulus whose sums do not fit, and exclusive or that leaves the range."""
        if type(self.modulus) is not int:
            raise SpecError("The modulus of keys is a whole number.")
        if not isinstance(self.combine, Combine):
            raise SpecError("Keys are combined by Combine.SUM or Combine.XOR.")
        if not 2 <= self.modulus <= LARGEST_MODULUS:
            raise SpecError(
                f"The modulus of keys must lie between 2 and {LARGEST_MODULUS} (2**32): sums of "
                "larger keys do not fit 64 bits. Shorten the keys (decimals to at most "
                f"{MOST_DIGITS} digits), or derive keys from the record ids."
            )
        if self.combine is Combine.XOR and not self._is_power_of_two:
            raise SpecError(
                "Keys can be combined by xor only if the modulus is a power of two, such as 256, "
                '4096 or 4294967296. Take one of these, or combine = "sum".'
            )

    @classmethod
    def from_decimals(cls, digits: int) -> Self:
        """The space of keys that were drawn as decimals between 0 and 1 with so many digits."""
        if type(digits) is not int or not 1 <= digits <= MOST_DIGITS:
            raise SpecError(
                f"Decimal keys can have 1 to {MOST_DIGITS} digits: sums of longer ones do not fit "
                f"64 bits. Shorten them to {MOST_DIGITS} digits, or derive keys from the record "
                "ids."
            )
        return cls(modulus=10**digits)

    @property
    def coarse(self) -> bool:
        """Whether there are so few keys that an outsider can try out all of them.

        Such a space is for exchange with systems that use it, not for a new publication.
        """
        return self.modulus < COARSE_BELOW

    def reduce(
        self, sums: npt.NDArray[np.uint64] | npt.NDArray[np.int64]
    ) -> npt.NDArray[np.uint32]:
        """Cell keys from what was accumulated in 64 bits, sums or exclusive ors."""
        if sums.dtype not in (np.uint64, np.int64):
            raise TypeError("Keys are accumulated in 64-bit integers.")
        if self._is_power_of_two:
            return (sums & sums.dtype.type(self.modulus - 1)).astype(np.uint32)
        return (sums % sums.dtype.type(self.modulus)).astype(np.uint32)

    @overload
    def to_float(self, key: int) -> float: ...

    @overload
    def to_float(self, key: npt.NDArray[Any]) -> npt.NDArray[np.float64]: ...

    def to_float(self, key: int | npt.NDArray[Any]) -> float | npt.NDArray[np.float64]:
        """The key as a fraction of the modulus, at least 0 and below 1; for tools that want it.

        Examples:
            >>> round(KeySpace().to_float(1888058353), 10)
            0.4395978416
        """
        return key / self.modulus

    def to_json(self) -> dict[str, int | str]:
        """What ``from_json`` reads."""
        return {"modulus": self.modulus, "combine": self.combine.value}

    @classmethod
    def from_json(cls, document: Mapping[str, object]) -> Self:
        """Read what ``to_json`` wrote, and refuse anything else."""
        if set(document) != {"modulus", "combine"}:
            raise SpecError("A key space is written as its modulus and how keys are combined.")
        modulus, combine = document["modulus"], document["combine"]
        if not isinstance(modulus, int):
            raise SpecError("The modulus of keys is a whole number.")
        if combine not in list(Combine):
            raise UnknownName("way to combine keys", str(combine), known=list(Combine))
        return cls(modulus=modulus, combine=Combine(str(combine)))

    @property
    def _is_power_of_two(self) -> bool:
        return self.modulus & (self.modulus - 1) == 0


Made = TypeVar("Made")


@dataclass(frozen=True, slots=True, kw_only=True)
class CensusInfo:
    """What census this is. ``code`` are the first parts of every canonical record id.

    ``name`` and ``country`` are in the first language; ``names`` and ``countries`` in several.
    ``measure`` is what its tables say unless somebody asks by name for something else: a weighted
    sample says how many people there are, not how many were asked. ``None`` where nobody decided.
    ``weights_only``: its weights were drawn, and nothing but weighted counts may be published.
    """

    name: str
    country: str = ""
    code: tuple[str, ...] = ()
    reference_date: str = ""
    languages: tuple[str, ...] = ("en",)
    measure: Measure | None = None
    weights_only: bool = False
    names: Text = Text()
    countries: Text = Text()

    def name_in(self, language: str | None) -> str:
        """What the census is called in a language."""
        return self.names.show(language) or self.name

    def country_in(self, language: str | None) -> str:
        """What the country is called in a language."""
        return self.countries.show(language) or self.country


class KeyScope(StrEnum):
    """Whether a key belongs to this census or follows a person through the years."""

    CENSUS = "census"
    PERSON_NUMBER = "person-number"


class HouseholdKey(StrEnum):
    """Whether a household has a key of its own or that of its reference person."""

    OWN = "own"
    REFERENCE_PERSON = "reference-person"


@dataclass(frozen=True, slots=True)
class KeyColumn:
    """A column that already holds record keys: integers, or decimals with ``digits`` digits."""

    column: str
    digits: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyRules:
    """How records get their keys."""

    scope: KeyScope = KeyScope.CENSUS
    household: HouseholdKey = HouseholdKey.OWN
    reference_person: str = ""
    space: KeySpace = KeySpace()
    columns: tuple[tuple[Entity, KeyColumn], ...] = ()

    def column_of(self, entity: Entity) -> KeyColumn | None:
        """The column with existing keys of ``entity``, if there is one."""
        return dict(self.columns).get(entity)


@dataclass(frozen=True, slots=True)
class Impossible:
    """A combination that cannot occur: an edit rule, and without relation a structural zero."""

    when: str
    label: Text = Text()
    relation: Relation | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredUniverse:
    """Records in common use, by name: whoever is 15 and over, private households.

    It is a choice of codes of one variable, which has a level of that name then; or of several, of
    each of which it is a code that there is already. So it is counted, and everywhere the same.

    Attributes:
        name: How conditions call it.
        condition: Which records belong to it.
        label, description: What they are called where people read it.
    """

    name: str
    condition: str
    label: Text = Text()
    description: Text = Text()


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitIdentity:
    """Counts of two kinds of units that are the same number, or a multiple of it.

    Each unit of the kind ``each`` that fulfils the condition, as far as it has the variables, holds
    ``times`` units of the kind ``holds`` that fulfil it. So counts of the one, times that number,
    are counts of the other, by whatever else the larger units are told apart.

    Attributes:
        each: The larger units.
        holds: What lies in them.
        when: The condition; about variables of ``holds`` and of what holds them.
        times: How many.
    """

    each: Entity
    holds: Entity
    when: str
    times: int = 1


@dataclass(frozen=True, slots=True)
class CensusFile:
    """A named file of the schema: which units its rows are, and how to read it."""

    name: str
    entity: Entity
    source: FileSource


@dataclass(frozen=True, slots=True, kw_only=True)
class Schema:
    """Everything that the office says about a census, checked as a whole when it is built."""

    census: CensusInfo
    entities: tuple[EntitySpec, ...]
    variables: tuple[Variable, ...]
    keys: KeyRules = KeyRules()
    impossible: tuple[Impossible, ...] = ()
    grids: tuple[GridSpec, ...] = ()
    files: tuple[CensusFile, ...] = ()
    identities: tuple[UnitIdentity, ...] = ()
    universes: tuple[DeclaredUniverse, ...] = ()
    roles: tuple[tuple[str, str], ...] = ()
    _by_name: MappingProxyType[str, Variable] = field(init=False, repr=False, compare=False)
    _made: dict[Callable[..., object], Any] = field(
        init=False, repr=False, compare=False, default_factory=dict
    )

    def __post_init__(self) -> None:
        by_name = {variable.name: variable for variable in self.variables}
        if len(by_name) != len(self.variables):
            raise SpecError("Two variables have the same name.")
        object.__setattr__(self, "_by_name", MappingProxyType(by_name))

    def kept(self, make: Callable[[Schema], Made]) -> Made:
        """What a function makes of this schema alone: made once, as a schema never changes."""
        if make not in self._made:
            self._made[make] = make(self)
        derived: Made = self._made[make]
        return derived

    def variable(self, name: str) -> Variable:
        """The variable of that name."""
        try:
            return self._by_name[name]
        except KeyError:
            # Whoever names a level alone is shown of which variable it is one.
            levels = [
                f"{variable.name}@{level.name}"
                for variable in self.variables
                for level in variable.levels()
                if level.name.casefold() == name.casefold() and level.name != variable.leaf_level
            ]
            raise UnknownName("variable", name, known=levels or self._by_name) from None

    def universe(self, name: str) -> DeclaredUniverse:
        """The declared universe of that name."""
        for universe in self.universes:
            if universe.name == name:
                return universe
        raise UnknownName("universe", name, known=[universe.name for universe in self.universes])

    def entity(self, entity: Entity) -> EntitySpec:
        """How records of that kind are identified."""
        for entity_spec in self.entities:
            if entity_spec.entity is entity:
                return entity_spec
        known = [entity.entity.plural for entity in self.entities]
        raise UnknownName(
            "kind of unit", entity.plural, known=known, where=told("where.census", "In this census")
        )

    def parents(self, entity: Entity) -> tuple[Entity, ...]:
        """What directly holds such a unit: a person has a household and may have a family."""
        within = self.entity(entity).within
        derived = [
            entity_spec.entity
            for entity_spec in self.entities
            if entity_spec.derived_from is entity
        ]
        return tuple(dict.fromkeys([*([within] if within else []), *derived]))

    def may_lack(self, entity: Entity, parent: Entity) -> bool:
        """Whether a unit of that kind may have no such parent."""
        kind = entity
        while kind is not parent:
            spec = self.entity(kind)
            if spec.within is None or spec.optional:
                return True
            kind = spec.within
        return False

    def path(self, entity: Entity, ancestor: Entity) -> tuple[Entity, ...] | None:
        """The kinds on the way up from ``entity`` to ``ancestor``; ``None`` if there is no way."""
        paths: list[tuple[Entity, ...]] = [(entity,)]
        for path in paths:
            if path[-1] is ancestor:
                return path[1:]
            paths.extend((*path, parent) for parent in self.parents(path[-1]))
        return None

    def lineage(self, entity: Entity) -> tuple[Entity, ...]:
        """The kind itself and everything that holds it, nearest first."""
        chain = [entity]
        for unit in chain:
            chain.extend(parent for parent in self.parents(unit) if parent not in chain)
        return tuple(chain)

    @property
    def top_down(self) -> tuple[Entity, ...]:
        """The kinds of units, what holds others first."""
        kinds = [spec.entity for spec in self.entities]
        return tuple(sorted(kinds, key=lambda kind: len(self.lineage(kind))))

    def file(self, name: str) -> CensusFile:
        """The file of that name."""
        for file in self.files:
            if file.name == name:
                return file
        raise UnknownName("file", name, known=[file.name for file in self.files])

    def usable(self, entity: Entity) -> tuple[Variable, ...]:
        """The variables by which units of that kind can be tabulated: their own and inherited."""
        lineage = self.lineage(entity)
        return tuple(
            variable
            for variable in self.variables
            if variable.is_axis and variable.entity in lineage
        )

    def inherited_missing(self, entity: Entity, variable: Variable) -> int | None:
        """The leaf that a unit takes when it has no ancestor to inherit ``variable`` from.

        ``None`` where that cannot happen.
        """
        path = self.path(entity, variable.entity) or ()
        if not any(map(self.may_lack, (entity, *path), path)):
            return None
        position = variable.position_of(CodeKind.NOT_APPLICABLE)
        if position is None:
            position = variable.position_of(CodeKind.NOT_STATED)
        if position is None:
            raise SpecError(
                told(
                    "units.none-above",
                    "Some {units} may have no {above}, so {variable!r} needs a 'not_applicable'"
                    " code in the schema before they can be counted by it.",
                    units=entity.many,
                    above=variable.entity.single,
                    variable=variable.name,
                )
            )
        return position

    @property
    def geography(self) -> Variable | None:
        """The variable of the areas where units are counted, if the census has one.

        Of several, such as residence, place of work and place of birth, it is the main one.
        """
        return next(iter(self.geographies), None)

    @property
    def geographies(self) -> tuple[Variable, ...]:
        """The variables whose codes are areas, the main one first."""
        every = [variable for variable in self.variables if variable.role is Role.GEOGRAPHY]
        return tuple(sorted(every, key=lambda variable: not variable.main))

    @property
    def weighted(self) -> tuple[Entity, ...]:
        """The kinds of units that have a weight, their own or an inherited one."""
        kinds = [spec.entity for spec in self.entities]
        return tuple(kind for kind in kinds if self.weight(kind) is not None)

    def weight(self, entity: Entity) -> Variable | None:
        """The weight that applies to units of that kind: their own or an inherited one."""
        for kind in self.lineage(entity):
            for variable in self.variables:
                if variable.role is Role.WEIGHT and variable.entity is kind:
                    return variable
        return None
