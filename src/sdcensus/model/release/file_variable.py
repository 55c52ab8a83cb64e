"""What a design makes of the census: the variables of its file, and those that it leaves out."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from sdcensus.errors import UnknownName
from sdcensus.model.release.plan import Design
from sdcensus.model.release.recode import Recode
from sdcensus.model.schema.variable import Entity, Level, Role, Variable


@dataclass(frozen=True, slots=True, kw_only=True)
class FileVariable:
    """A variable as a file tells it: code lists only, nothing of any record.

    Attributes:
        name: Its name in the file.
        source: The variable of the census.
        entity: The table of the file where it stands: dwellings and buildings tell theirs of the
            household that lives there, families theirs of their members; all stand with persons
            where a census has no households.
        level: The codes of the file, and for each leaf of the census the one that tells it. Codes
            keep their kind: "not stated" is missing, "not applicable" is a value.
        amounts: Whether the file tells the number itself, for a continuous variable.
        role: What it is to the file: the schema's role, or the one that the plan gives it.
        recode: What was done to it; ``None`` for a variable as it is.
    """

    name: str
    source: Variable
    entity: Entity
    level: Level
    amounts: bool = False
    role: Role | None = None
    recode: Recode | None = None


class RemovalReason(StrEnum):
    """Why a variable of the census is not in a file."""

    DIRECT_IDENTIFIER = "direct-identifier"
    ADMINISTRATIVE = "administrative"
    POOR_QUALITY = "poor-quality"
    GEOGRAPHY = "geography"
    DESIGN = "design"
    THRESHOLD = "threshold"


@dataclass(frozen=True, slots=True)
class RemovedVariable:
    """A variable that a file leaves out, with the reason. Public."""

    variable: Variable
    reason: RemovalReason


@dataclass(frozen=True, slots=True, kw_only=True)
class FileDesign:
    """A design, resolved against the schema of a census. Holds code lists only.

    Attributes:
        design: What the plan says.
        unit: What is sampled: households, or persons where there are none.
        variables: What the file holds, in the order of the schema.
        removed: What it leaves out.
        ladder: The keys of the plan's ladder as this file tells them, in the ladder's order; a
            person has the household variables of the household.
        not_in_file: Keys of the ladder that this file does not hold, as the plan writes them.
        not_applied: Recodes of a preset that this census cannot have, with the reason.
        extract: The name of a researcher's extract; empty for the whole file.
        population: The condition of the extract; empty for everybody.
    """

    design: Design
    unit: Entity
    variables: tuple[FileVariable, ...]
    removed: tuple[RemovedVariable, ...] = ()
    ladder: tuple[FileVariable, ...] = ()
    not_in_file: tuple[str, ...] = ()
    not_applied: tuple[str, ...] = ()
    extract: str = ""
    population: str = ""

    def of(self, entity: Entity) -> tuple[FileVariable, ...]:
        """The variables that stand in one table of the file."""
        return tuple(variable for variable in self.variables if variable.entity is entity)

    @property
    def geographies(self) -> tuple[FileVariable, ...]:
        """The areas that the file keeps; a file without any is not swapped."""
        return tuple(
            each for each in self.variables if Role.GEOGRAPHY in (each.source.role, each.role)
        )

    def variable(self, text: str) -> FileVariable:
        """A variable by its name in the file, or as plans call it: ``age``, ``ed@parish``.

        Raises:
            UnknownName: The file does not hold it.
        """
        name, _, level = (part.strip() for part in text.partition("@"))
        by_name = [each for each in self.variables if each.name == name and not level]
        by_source = [each for each in self.variables if each.source.name == name]
        at_level = [each for each in by_source if level in (each.level.name, each.name)]
        for each in (*by_name, *at_level, *by_source):
            return each
        known = [each.name for each in self.variables]
        raise UnknownName("variable of the file", text, known=known)
