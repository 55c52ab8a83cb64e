"""A microdata file as its readers get it. The only noun of microdata that writers take."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.errors import UnknownName
from sdcensus.model.release.licence import LicenceClass
from sdcensus.model.schema.variable import Code, Entity
from sdcensus.model.text import Text

Integers = npt.NDArray[Any]


class ColumnKind(StrEnum):
    """What a column of a file is."""

    NUMBER_OF_UNIT = "number-of-unit"
    CODES = "codes"
    AMOUNT = "amount"
    WEIGHT = "weight"
    IMPUTATION_FLAG = "imputation-flag"
    HARMONISED = "harmonised"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ReleaseColumn:
    """A column of a file. Public.

    Attributes:
        name: Its name in the file.
        kind: What it is.
        label, description: What readers see.
        codes: Its code list, with labels and kinds of missing values; empty for numbers.
        values: Positions in ``codes``, or whole numbers of ``10**-decimals`` for amounts and
            weights, or the numbers of units.
        decimals: Digits after the point, for amounts and weights.
        absent: Which numbers are not there, for amounts that may be missing; ``None`` for none.
        unit: The unit of measurement.
        unit_by_language: The same in several languages, where it is said in several.
        universe: Whom it is asked of, in words.
        recoded: What was done to it, in words for the public; empty for nothing.
    """

    name: str
    kind: ColumnKind
    label: Text
    values: Integers
    codes: tuple[Code, ...] = ()
    description: Text = Text()
    decimals: int = 0
    absent: npt.NDArray[np.bool_] | None = None
    unit: str = ""
    unit_by_language: Text = Text()
    universe: Text = Text()
    recoded: Text = Text()


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ReleaseTable:
    """The records of one kind of unit. Public.

    Attributes:
        entity: The kind of unit.
        columns: All of one length; the first numbers the unit, those of what holds it follow.
    """

    entity: Entity
    columns: tuple[ReleaseColumn, ...]

    @property
    def rows(self) -> int:
        """How many records it has."""
        return int(self.columns[0].values.size)

    def column(self, name: str) -> ReleaseColumn:
        """A column by its name."""
        for column in self.columns:
            if column.name == name:
                return column
        raise UnknownName("column", name, known=[column.name for column in self.columns])


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ReleaseFile:
    """A microdata file with what its readers need to know. Public: holds no row of the store.

    Attributes:
        name: Its short name, of which names on disk are made.
        title, abstract, producer: What catalogues show.
        contact: Where to apply.
        country, census: What it is about.
        reference_date: The date of the census, as in the schema.
        licence: Who gets it.
        whole: Whether all units of the census are in it, so that its records are true counts.
        tables: Households before persons.
        languages: Languages of its labels, the first one is shown where another is missing.
        sampling: How records were drawn, in words for the public.
        notes: What readers have to know: that values were changed, not which.
        removed: Variables of the census that it does not hold, with the reason in words.
        citation: How to cite it.
        version: Of the file.
        data_version: Of the census that it was made from.
    """

    name: str
    title: Text
    tables: tuple[ReleaseTable, ...]
    licence: LicenceClass
    languages: tuple[str, ...]
    census: Text
    country: Text
    reference_date: str = ""
    abstract: Text = Text()
    producer: Text = Text()
    contact: str = ""
    sampling: Text = Text()
    notes: tuple[Text, ...] = ()
    removed: tuple[tuple[str, Text, Text], ...] = ()
    citation: Text = Text()
    version: str = "1"
    whole: bool = False
    data_version: str = ""

    def table(self, entity: Entity) -> ReleaseTable:
        """The records of one kind of unit."""
        for table in self.tables:
            if table.entity is entity:
                return table
        raise UnknownName("kind of unit", entity, known=[table.entity for table in self.tables])
