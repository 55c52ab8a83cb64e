"""The keys of a file as local suppression takes them: codes of persons, and who shares a value."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError, unknown
from sdcensus.kernels.cells.tabulate import NO_ROW
from sdcensus.microdata.holders import holder_rows
from sdcensus.microdata.release.records import FileRecords
from sdcensus.model.confidential import Confidential
from sdcensus.model.release.file_variable import FileDesign, FileVariable
from sdcensus.model.release.plan import Suppression
from sdcensus.model.schema.encoding import NO_VALUE
from sdcensus.model.schema.variable import CodeKind, Entity

Integers = npt.NDArray[Any]
Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]

#: Sets of keys are looked at one by one: 2 to the power of their number.
MOST_KEYS = 16
#: A value that no blank can change: it stands nowhere in the file.
NOWHERE = -1
_PARTS = 10**6


@dataclass(frozen=True, slots=True, eq=False, kw_only=True, repr=False)
class FileKey(Confidential):
    """A key of a file, for every record that is counted.

    Attributes:
        variable: The variable of the file.
        codes: What each record has.
        missing: Which of them are not stated.
        unit: The row of the table of the variable where each record's value stands, ``NOWHERE``
            for none.
        shared: For each row of that table the number of the value: rows that have it from one
            unit of the census, such as members of a family, have one number.
        weight: What a blank costs; ``None`` for a key that is never blanked.
    """

    variable: FileVariable
    codes: Int32
    missing: npt.NDArray[np.bool_]
    unit: Int64
    shared: Int64
    weight: Fraction | None

    def __repr__(self) -> str:
        return f"<FileKey {self.variable.name!r}: confidential>"


def counted_unit(records: FileRecords) -> Entity:
    """Of whom records are counted: persons, or households in a file without persons."""
    return Entity.PERSON if Entity.PERSON in records.sample.rows else records.design.unit


def file_keys(records: FileRecords, suppression: Suppression) -> tuple[FileKey, ...]:
    """The keys that are looked at, each with its codes.

    A variable that another key tells more finely adds nothing, and is blanked together with it.

    Raises:
        SpecError: A key or an importance names what the file does not hold, or cannot be followed.
    """
    design = records.design
    variables = (
        [variable_of(design, name, "keys") for name in suppression.keys]
        if suppression.keys
        else list(design.ladder)
    )
    if not variables:
        raise SpecError(
            "[suppress] has no keys, and the file holds none of the ladder. Name them: keys ="
            ' ["age", "sex"].'
        )
    weights: dict[str, Fraction | None] = {}
    for name, importance in suppression.importance.items():
        weights[variable_of(design, name, "importance").name] = _weight(name, importance)
    names = [variable.name for variable in variables]
    for name in names:
        if names.count(name) > 1:
            raise SpecError(f"[suppress] keys: {name!r} stands there twice. Say it once.")
    strange = [name for name in weights if name not in names]
    if strange:
        raise SpecError(
            f"[suppress] importance names {strange[0]!r}, which is not among the keys"
            f" ({', '.join(names)}). Take it out, or add it to keys."
        )
    finest = [variable for variable in variables if not _told_finer(variable, variables)]
    if len(finest) > MOST_KEYS:
        raise SpecError(
            f"[suppress] has {len(finest)} keys; at most {MOST_KEYS} can be looked at together."
            ' Name fewer: keys = ["age", "sex"].'
        )
    keys = tuple(
        _key(records, variable, weights.get(variable.name, Fraction(1))) for variable in finest
    )
    if all(key.weight is None for key in keys):
        raise SpecError(
            "[suppress] importance keeps every key from being blanked. Leave one of them free."
        )
    return keys


def variable_of(design: FileDesign, name: str, where: str) -> FileVariable:
    """A variable of a file by its name, or as ladders call it: ``ed@parish``."""
    source, _, level = name.partition("@")
    for variable in design.variables:
        if variable.name == name or (
            variable.source.name == source and level and level == variable.level.name
        ):
            return variable
    for variable in design.variables:
        if variable.source.name == source:
            return variable
    known = [variable.name for variable in design.variables]
    raise SpecError(f"[suppress] {where}: {unknown('variable', name, known)}")


def integer_weights(keys: Sequence[FileKey]) -> Int64:
    """What blanks cost, as whole numbers in the same proportions."""
    parts = [0 if key.weight is None else max(round(key.weight * _PARTS), 1) for key in keys]
    common = math.gcd(*parts)
    return np.array([part // common for part in parts], dtype=np.int64)


def _weight(name: str, importance: float) -> Fraction | None:
    if importance == math.inf:
        return None
    if not 0 < importance <= _PARTS:
        raise SpecError(
            f"[suppress] importance of {name!r} is {importance:g}. Say a number above 0 and up to"
            f" {_PARTS:,}, such as 2 for a key that is worth two others."
        )
    return Fraction(str(importance))


def _told_finer(variable: FileVariable, variables: Sequence[FileVariable]) -> bool:
    """Whether another key is the same variable of the census at a finer level."""
    if variable.amounts:
        return False
    return any(
        other is not variable
        and other.source.name == variable.source.name
        and (other.amounts or other.level.refines(variable.level))
        and not (
            variable.level.refines(other.level)
            and variables.index(variable) < variables.index(other)
        )
        for other in variables
    )


def _key(records: FileRecords, variable: FileVariable, weight: Fraction | None) -> FileKey:
    counted, entity = counted_unit(records), variable.entity
    if variable.amounts:
        amounts = records.amounts[variable.name]
        codes = np.unique(amounts, return_inverse=True)[1].reshape(-1).astype(np.int32)
        missing = amounts == NO_VALUE
    else:
        codes = records.codes[variable.name].astype(np.int32)
        missing = np.array(
            [code.kind is CodeKind.NOT_STATED for code in variable.level.codes], dtype=bool
        )[codes]
    unit = np.arange(codes.size, dtype=np.int64)
    if entity is not counted:
        unit = records.holders[counted, entity]
        outside, absent = _of_nobody(records, variable)
        held = unit >= 0
        places = np.where(held, unit, 0)
        if not codes.size:
            codes, missing = np.zeros(1, dtype=np.int32), np.zeros(1, dtype=bool)
        codes = np.where(held, codes[places], outside).astype(np.int32)
        missing = np.where(held, missing[places], absent)
        unit = np.where(held, unit, NOWHERE)
    return FileKey(
        variable=variable,
        codes=codes,
        missing=missing,
        unit=unit,
        shared=_shared(records, variable),
        weight=weight,
    )


def _of_nobody(records: FileRecords, variable: FileVariable) -> tuple[int, bool]:
    """What somebody has whom nothing holds: a code of the level, and whether it is missing."""
    source = variable.source
    leaf = records.store.schema.inherited_missing(Entity.PERSON, source)
    if leaf is None:
        leaf = source.missing_position
    if leaf is None or variable.amounts:
        return NOWHERE, True
    code = variable.level.group[leaf]
    return code, variable.level.codes[code].kind is CodeKind.NOT_STATED


def _shared(records: FileRecords, variable: FileVariable) -> Int64:
    """The number of the value of each row of the table where a variable stands."""
    entity, source = variable.entity, variable.source.entity
    rows = records.sample.rows[entity]
    own = np.arange(rows.size, dtype=np.int64)
    # A file does not tell who shares a dwelling; who shares a household it does.
    if source is not Entity.FAMILY:
        return own
    above = holder_rows(records.store, entity, source)[rows].astype(np.int64)
    # Rows that nothing holds have a value of their own, beyond those of the units.
    alone = above == int(NO_ROW)
    numbers = np.where(alone, own + records.store.rows(source), above)
    numbers = np.unique(numbers, return_inverse=True)[1].reshape(-1)
    return numbers.astype(np.int64)
