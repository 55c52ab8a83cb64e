"""The kinds of units that a census counts, and how they lie inside each other."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from sdcensus.errors import Sentence, SpecError, told, unknown


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
        """Read ``person`` or ``persons`` alike.

        Examples:
            >>> Entity.parse("families")
            <Entity.FAMILY: 'family'>
        """
        for entity in cls:
            if word.strip().lower() in (entity.value, entity.plural):
                return entity
        raise SpecError(unknown("kind of unit", word, [entity.plural for entity in cls]))


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
    """

    entity: Entity
    id: tuple[str, ...]
    within: Entity | None = None
    link: tuple[str, ...] = ()
    optional: bool = False
    from_content: bool = False
    derived_from: Entity | None = None
