"""The columns of a file: the same for real records and for dummy ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.microdata.release.records import WEIGHT_DECIMALS
from sdcensus.microdata.release.words import recode_words
from sdcensus.model.release.file_variable import FileVariable
from sdcensus.model.release.release_file import ColumnKind, ReleaseColumn
from sdcensus.model.schema.encoding import NO_VALUE
from sdcensus.model.schema.variable import Code, Entity
from sdcensus.model.text import Text

Integers = npt.NDArray[Any]
Int64 = npt.NDArray[np.int64]


class FreeNames:
    """Names for columns that are ours: of no variable, however it is written."""

    def __init__(self, variables: Iterable[FileVariable]) -> None:
        self._taken = {variable.name.casefold() for variable in variables}

    def __call__(self, wanted: str) -> str:
        """The name, or the name with a number where a variable has it."""
        name, number = wanted, 2
        while name.casefold() in self._taken:
            name, number = f"{wanted}_{number}", number + 1
        return name


def number_columns(
    entity: Entity, own: Int64, households: Int64 | None, names: Callable[[str], str]
) -> list[ReleaseColumn]:
    """The numbers of units, and of what holds them.

    Args:
        entity: The kind of unit.
        own: The number of each unit; of persons within their household.
        households: The number of each person's household, 0 for none; ``None`` where a file has no
            households, and for households themselves.
        names: Gives free names.
    """

    def numbers(name: str, words: str, values: Int64) -> ReleaseColumn:
        absent = values == 0
        return ReleaseColumn(
            name=names(name),
            kind=ColumnKind.NUMBER_OF_UNIT,
            label=Text.named(f"release_sample.{words}"),
            values=values,
            absent=absent if absent.any() else None,
        )

    if entity is Entity.HOUSEHOLD:
        return [numbers("household_number", "household_number", own)]
    if households is None:
        return [numbers("person_number", "person_number", own)]
    return [
        numbers("person_number", "member_number", own),
        numbers("household_number", "household_number", households),
    ]


def variable_column(variable: FileVariable, values: Integers) -> ReleaseColumn:
    """A variable of a file: positions of codes, or fixed-point numbers for amounts."""
    source = variable.source
    if variable.amounts:
        absent = values == NO_VALUE
        return ReleaseColumn(
            name=variable.name,
            kind=ColumnKind.AMOUNT,
            label=source.label or Text.of(source.name),
            description=source.description,
            values=np.where(absent, 0, values),
            decimals=source.decimals,
            absent=absent if absent.any() else None,
            unit=source.unit,
            unit_by_language=source.unit_by_language,
            recoded=recode_words(variable),
        )
    return ReleaseColumn(
        name=variable.name,
        kind=ColumnKind.CODES,
        label=source.label or Text.of(source.name),
        description=source.description,
        values=values,
        codes=variable.level.codes,
        unit=source.unit,
        unit_by_language=source.unit_by_language,
        recoded=recode_words(variable),
    )


def flag_column(
    variable: FileVariable, flags: Integers, names: Callable[[str], str]
) -> ReleaseColumn:
    """Which values of a variable were imputed: ones and zeros."""
    source = variable.source
    return ReleaseColumn(
        name=names(f"{variable.name}_imputed"),
        kind=ColumnKind.IMPUTATION_FLAG,
        label=Text.named("release_sample.flag").filled(label=source.label or source.name),
        values=flags.astype(np.uint8),
        codes=(
            Code("0", Text.named("release_sample.not_imputed")),
            Code("1", Text.named("release_sample.imputed")),
        ),
    )


def weight_column(weights: Int64, names: Callable[[str], str]) -> ReleaseColumn:
    """The weight of each unit."""
    return ReleaseColumn(
        name=names("weight"),
        kind=ColumnKind.WEIGHT,
        label=Text.named("release_sample.weight"),
        values=weights,
        decimals=WEIGHT_DECIMALS,
    )
