"""What everybody may know about a file before it exists: its variables, codes and labels."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from sdcensus.model.release.file_variable import FileDesign, FileVariable
from sdcensus.model.release.licence import LicenceClass
from sdcensus.model.schema.variable import Entity
from sdcensus.model.text import Text


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PublicStructure:
    """The structure of a file. Public: code lists and titles, no place where records lie.

    Attributes:
        name: Its short name, of which names on disk are made.
        title: What it is called.
        languages: Languages of its labels.
        census, country: What it is about.
        unit: What is drawn: households, or persons where there are none.
        variables: What it holds.
        persons: Whether it has persons.
        fraction: The share of units that the real file holds: it gives the weight.
        licence: Who gets the real file.
        reference_date: The date of the census.
        producer: The office.
        contact: Where to apply for the real file.
        flags: Variables whose imputation is told.
        design: What the structure was made of; ``None`` where it is that of published tables.
    """

    name: str
    title: Text
    languages: tuple[str, ...]
    census: Text
    country: Text
    unit: Entity
    variables: tuple[FileVariable, ...]
    persons: bool = True
    fraction: Fraction = Fraction(1)
    licence: LicenceClass = LicenceClass.PUBLIC_USE
    reference_date: str = ""
    producer: Text = Text()
    contact: str = ""
    flags: tuple[str, ...] = ()
    design: FileDesign | None = None

    def of(self, entity: Entity) -> tuple[FileVariable, ...]:
        """The variables of one table of the file."""
        return tuple(variable for variable in self.variables if variable.entity is entity)
