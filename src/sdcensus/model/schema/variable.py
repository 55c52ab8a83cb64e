"""The units of a census, variables, their codes, and the levels at which they may be shown."""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from sdcensus.errors import Sentence, SpecError, UnknownName, told, unknown
from sdcensus.model.letters import plain_letters
from sdcensus.model.schema.id_forms import IdForm
from sdcensus.model.text import Text


class Entity(StrEnum):
    """A kind of unit with records of its own."""

    PERSON = "person"
    FAMILY = "family"
    HOUSEHOLD = "household"
    DWELLING = "dwelling"
    BUILDING = "building"

    @property
    def tag(self) -> str:
        """The letter that keeps record keys of different kinds of units apart."""
        return self.value[0].upper()

    @property
    def plural(self) -> str:
        """The word for many of them, as plans and tables say it."""
        return "families" if self is Entity.FAMILY else f"{self.value}s"

    @property
    def single(self) -> Sentence:
        """The word for one of them, inside a message."""
        return told(f"single.{self.value}", self.value)

    @property
    def many(self) -> Sentence:
        """The word for many of them, inside a message."""
        return told(f"many.{self.value}", self.plural)

    @classmethod
    def parse(cls, word: str) -> Entity:
        """Read ``person`` or ``persons`` alike, in the languages that the product speaks.

        Examples:
            >>> Entity.parse("families"), Entity.parse("HOGAR")
            (<Entity.FAMILY: 'family'>, <Entity.HOUSEHOLD: 'household'>)
        """
        entity = _spoken_entities().get(plain_letters(word.strip()))
        if entity is not None:
            return entity
        raise SpecError(unknown("kind of unit", word, [entity.plural for entity in cls]))


@functools.cache
def _spoken_entities() -> Mapping[str, Entity]:
    """Kinds of units by every word for them, in plain letters; the English ones go first."""
    words = {word: entity for entity in Entity for word in (entity.value, entity.plural)}
    for entity in Entity:
        for number in ("single", "many"):
            for _, text in Text.named(f"web/mistakes.{number}.{entity.value}").by_language:
                words.setdefault(plain_letters(text), entity)
    return words


@dataclass(frozen=True, slots=True, kw_only=True)
class EntitySpec:
    """How records of one kind are identified and which record of another kind holds them.

    Attributes:
        entity: The kind.
        id: Columns that together identify a record; joined by ``|`` they are its canonical id.
        within: The kind that holds it, if any.
        link: Columns of this entity's file that name the parent's id, in its order.
        optional: Whether a record may have no parent.
        from_content: There is no id: what the record says, and its rank among those that say the
            same, take its place. A corrected record then has another key.
        derived_from: No file of its own: one record per distinct id in the file of this kind.
        form: How its id is written wherever it stands, so that ids of several files compare.
    """

    entity: Entity
    id: tuple[str, ...]
    within: Entity | None = None
    link: tuple[str, ...] = ()
    optional: bool = False
    from_content: bool = False
    derived_from: Entity | None = None
    form: IdForm = IdForm()


Made = TypeVar("Made")

#: How many things that were made of a variable are kept with it.
MOST_MADE = 24


class CodeKind(StrEnum):
    """Whether a code is a value or one of the two ways to have none."""

    VALID = "valid"
    NOT_STATED = "not_stated"
    NOT_APPLICABLE = "not_applicable"


class Role(StrEnum):
    """What a variable is for; an ordinary variable has none."""

    DIRECT_IDENTIFIER = "direct-identifier"
    RECORD_ID = "record-id"
    HOUSEHOLD_LINK = "household-link"
    GEOGRAPHY = "geography"
    WEIGHT = "weight"
    KEY = "key"
    SENSITIVE = "sensitive"
    ADMINISTRATIVE = "administrative"
    POOR_QUALITY = "poor-quality"
    CONTINUOUS = "continuous"


#: Roles whose columns are read (for ids or for a check of presence) and never stored.
NEVER_STORED = frozenset({Role.DIRECT_IDENTIFIER, Role.RECORD_ID, Role.HOUSEHOLD_LINK})


@dataclass(frozen=True, slots=True)
class Code:
    """One code of a code list.

    ``lower`` and ``upper`` are the whole numbers that it stands for, both included, where it
    stands for numbers; ``upper`` is ``None`` for "and over".
    """

    code: str
    label: Text = Text()
    kind: CodeKind = CodeKind.VALID
    lower: int | None = None
    upper: int | None = None

    @property
    def is_missing(self) -> bool:
        """Whether the code says that there is no value."""
        return self.kind is not CodeKind.VALID


@dataclass(frozen=True, slots=True)
class Level:
    """A partition of the leaves of a variable: one group of leaves for each of its codes.

    ``universe`` says that it is a universe of the schema: the code of its name, and all others.
    """

    name: str
    codes: tuple[Code, ...]
    group: tuple[int, ...]
    universe: bool = False
    #: For each leaf, the position of its code at this level: ``group`` as an array.
    group_array: npt.NDArray[np.int64] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        positions = set(self.group)
        if positions - set(range(len(self.codes))):
            raise SpecError(f"Level {self.name!r} groups a leaf under a code that it has not.")
        array = np.array(self.group, dtype=np.int64)
        array.flags.writeable = False
        object.__setattr__(self, "group_array", array)

    def refines(self, other: Level) -> bool:
        """Whether every group of this level lies inside one group of ``other``."""
        mine, theirs = self.group_array, other.group_array
        above = np.zeros(len(self.codes), dtype=np.int64)
        above[mine] = theirs
        return bool((above[mine] == theirs).all())


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """A tree over the leaves of a variable: levels from the finest to the coarsest."""

    name: str
    levels: tuple[Level, ...]

    def __post_init__(self) -> None:
        for fine, coarse in zip(self.levels, self.levels[1:], strict=False):
            if not fine.refines(coarse):
                raise SpecError(
                    f"Hierarchy {self.name!r}: level {fine.name!r} does not nest in"
                    f" {coarse.name!r}. Put them in hierarchies of their own."
                )


class EmptyField(StrEnum):
    """What an empty field of the file means."""

    PROBLEM = "problem"
    NOT_STATED = "not_stated"
    NOT_APPLICABLE = "not_applicable"


class EmptyOwner(StrEnum):
    """What it means that a record names nobody to whom its amount belongs."""

    PROBLEM = "problem"
    ITSELF = "itself"


@dataclass(frozen=True, slots=True, kw_only=True)
class VariableSource:
    """Where a variable is read from; the store does not keep this.

    ``owner`` is the column that says to whom an amount belongs. ``scales`` are the factors that
    bring amounts of some of the files, by their names, to the unit of the variable.
    """

    file: str
    column: str
    empty: EmptyField = EmptyField.PROBLEM
    imputed: str | None = None
    width: int | None = None
    owner: str | None = None
    owner_empty: EmptyOwner = EmptyOwner.PROBLEM
    scales: tuple[tuple[str, Fraction], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Variable:
    """A variable of the census.

    Attributes:
        name: How plans, tables and predicates call it.
        entity: The kind of unit that it describes.
        codes: Its leaves: values in code-list order, then "not applicable", then "not stated".
        hierarchies: Trees over the leaves; levels have different names throughout a variable.
        leaf_level: The name of the leaves as a level (``occupation@unit``).
        level_labels: What levels are called where people read them, for those that have a label.
        continuous: Kept as a fixed-point number with ``decimals`` digits, besides its codes.
        label, description, topic, unit, role: What they say.
        unit_by_language: The unit in several languages, where the schema says it in several; the
            first of them is ``unit``.
        main: Of several geographies, whether it is the one where units are counted; ``None``
            where there is one only, and for all other variables.
        map: File name of a GeoJSON map with the areas, for a geography.
        imputed: Whether the store has a column that says where the value was imputed.
        counts: The units whose number in each record its codes say, such as persons for the size
            of a household.
        counts_open: Codes that stand for their number and more.
        codes_from_records: Whether its code list is what occurs in the records, by a decision of
            the office, such as inhabited squares: the list itself then tells something.
        owner: Whether the store says to whom each amount belongs: amounts of one owner in a cell
            are one contribution.
        waiver: The condition under which a contributor agreed to be shown; empty where nobody did.
        source: Where it is read from.
    """

    name: str
    entity: Entity
    codes: tuple[Code, ...] = ()
    hierarchies: tuple[Hierarchy, ...] = ()
    leaf_level: str = ""
    level_labels: tuple[tuple[str, Text], ...] = ()
    role: Role | None = None
    label: Text = Text()
    description: Text = Text()
    topic: Text = Text()
    unit: str = ""
    unit_by_language: Text = Text()
    continuous: bool = False
    decimals: int = 0
    main: bool | None = None
    map: str = ""
    imputed: bool = False
    counts: Entity | None = None
    counts_open: tuple[str, ...] = ()
    codes_from_records: bool = False
    owner: bool = False
    waiver: str = ""
    source: VariableSource | None = None
    _levels: tuple[Level, ...] = field(init=False, repr=False, compare=False)
    _made: dict[Hashable, Any] = field(init=False, repr=False, compare=False, default_factory=dict)

    def __post_init__(self) -> None:
        if not self.leaf_level:
            object.__setattr__(self, "leaf_level", self.name)
        levels = [level for hierarchy in self.hierarchies for level in hierarchy.levels]
        if self.codes:
            levels.insert(0, Level(self.leaf_level, self.codes, tuple(range(len(self.codes)))))
        object.__setattr__(self, "_levels", tuple(levels))
        for level in self.levels():
            if len(level.group) != len(self.codes):
                raise SpecError(f"Level {level.name!r} of {self.name!r} does not cover its codes.")

    @property
    def unit_text(self) -> Text:
        """What it is measured in, in every language in which that is said."""
        return self.unit_by_language or Text.of(self.unit)

    @property
    def stored(self) -> bool:
        """Whether a store holds a column for it."""
        return self.role not in NEVER_STORED

    @property
    def called_by_level(self) -> bool:
        """Whether readers know its codes by their level: a parish is where people are counted.

        A further geography is called by its own name as well, such as a place of work.
        """
        return self.role is Role.GEOGRAPHY and self.main is not False

    @property
    def is_axis(self) -> bool:
        """Whether tables can be made by it."""
        return self.stored and any(not code.is_missing for code in self.codes)

    def levels(self) -> Iterator[Level]:
        """Its levels: the leaves first, then those of each hierarchy."""
        return iter(self._levels)

    @property
    def plain_levels(self) -> tuple[Level, ...]:
        """Its levels without those that are universes: what tables are usually made by."""
        return tuple(level for level in self._levels if not level.universe)

    def kept(self, key: Hashable, make: Callable[[], Made]) -> Made:
        """Something that is made of this variable alone: made once, as the variable never changes.

        Few such things are kept. Tables that ask for the same share them.
        """
        derived: Made | None = self._made.get(key)
        if derived is None:
            derived = make()
            if len(self._made) < MOST_MADE:
                self._made[key] = derived
        return derived

    def level(self, name: str | None = None) -> Level:
        """The level of that name; the leaves when none is named."""
        if name is None or name == self.name:
            name = self.leaf_level
        for level in self.levels():
            if level.name == name:
                return level
        known = [level.name for level in self.levels()]
        raise UnknownName(
            "level",
            name,
            known=known,
            where=told("where.variable", "Variable {name!r}", name=self.name),
        )

    def level_label(self, name: str) -> Text:
        """What the schema calls the level of that name for readers; empty if it has no label."""
        return next((label for one, label in self.level_labels if one == name), Text())

    def position_of(self, kind: CodeKind) -> int | None:
        """The position of the first leaf of that kind, if there is one."""
        for position, code in enumerate(self.codes):
            if code.kind is kind:
                return position
        return None

    @property
    def missing_position(self) -> int | None:
        """The leaf to use where a value is missing: "not stated", else "not applicable"."""
        stated = self.position_of(CodeKind.NOT_STATED)
        return self.position_of(CodeKind.NOT_APPLICABLE) if stated is None else stated


def smallest_width(size: int) -> npt.DTypeLike:
    """The smallest unsigned type for positions below ``size``.

    Examples:
        >>> smallest_width(256).__name__, smallest_width(257).__name__
        ('uint8', 'uint16')
    """
    if size <= 1 << 8:
        return np.uint8
    return np.uint16 if size <= 1 << 16 else np.uint32


def common_refinement(levels: Sequence[Level]) -> tuple[npt.NDArray[np.int64], int]:
    """The coarsest partition of the leaves that is at least as fine as every given level.

    Nested levels give their finest one. Groups are numbered by their first leaf, except that a
    level which is itself the refinement keeps its own order of codes.

    Returns:
        For each leaf the number of its group, and how many groups there are.
    """
    finest = max(levels, key=lambda level: len(level.codes))
    if all(finest.refines(level) for level in levels):
        return finest.group_array, len(finest.codes)
    stacked = np.stack([level.group_array for level in levels])
    _, first, inverse = np.unique(stacked, axis=1, return_index=True, return_inverse=True)
    rank = np.argsort(np.argsort(first, kind="stable"), kind="stable")
    return rank[inverse.reshape(-1)].astype(np.int64), int(first.size)
