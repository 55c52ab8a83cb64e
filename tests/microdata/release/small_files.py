"""Small files with keys of persons and of households, made from arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.microdata.release.records import FileRecords, Sample
from sdcensus.model.release.file_variable import FileDesign, FileVariable
from sdcensus.model.release.plan import Design
from sdcensus.model.schema.schema import CensusInfo, Schema
from sdcensus.model.schema.variable import Code, CodeKind, Entity, EntitySpec, Variable
from sdcensus.testing.stores import Units, write_store

Integers = npt.NDArray[Any]
P, H = Entity.PERSON, Entity.HOUSEHOLD
#: The position of "not stated" in keys that have such a code, and of "not applicable".
SIZE, NOT_APPLICABLE, NOT_STATED = 8, 8, 9


def key_variable(name: str, entity: Entity, *, stated: bool = True) -> Variable:
    codes = [Code(f"{at:02d}") for at in range(SIZE)]
    codes.append(Code("NA", kind=CodeKind.NOT_APPLICABLE))
    if stated:
        codes.append(Code("99", kind=CodeKind.NOT_STATED))
    return Variable(name=name, entity=entity, codes=tuple(codes))


def small_file(
    path: Path,
    persons: Mapping[str, Sequence[int]],
    households: Mapping[str, Sequence[int]] | None = None,
    household_of: Sequence[int] = (),
    *,
    without_code: Sequence[str] = (),
    digests: Sequence[int] = (),
) -> FileRecords:
    """A file of everybody; ``household_of`` is -1 for persons in no household.

    Args:
        path: Where the store is written.
        persons, households: The codes of each key.
        household_of: The household of each person.
        without_code: Keys that have no code for "not stated".
        digests: Of the persons; their number if not given.
    """
    size = len(next(iter(persons.values())))
    variables = [
        key_variable(name, entity, stated=name not in without_code)
        for entity, columns in ((P, persons), (H, households or {}))
        for name in columns
    ]
    entities = [EntitySpec(entity=P, id=("p",), within=H if households else None, optional=True)]
    keys = np.array(digests or range(size), dtype=np.uint64)
    units = {
        P: Units(
            keys=np.arange(size),
            digests=keys,
            leaves={name: np.array(codes) for name, codes in persons.items()},
            parents={H: np.array(household_of)} if households else {},
        )
    }
    if households:
        entities.append(EntitySpec(entity=H, id=("h",)))
        number = len(next(iter(households.values())))
        units = {
            H: Units(
                keys=np.arange(number),
                leaves={name: np.array(codes) for name, codes in households.items()},
            ),
            **units,
        }
    schema = Schema(
        census=CensusInfo(name="File"), entities=tuple(entities), variables=tuple(variables)
    )
    store = write_store(path, schema, units)
    told = tuple(
        FileVariable(name=each.name, source=each, entity=each.entity, level=each.level())
        for each in variables
    )
    design = FileDesign(
        design=Design(name="A", fraction=Fraction(1)),
        unit=H if households else P,
        variables=told,
        ladder=told,
    )
    rows = {entity: np.arange(store.rows(entity), dtype=np.int64) for entity in units}
    sample = Sample(
        rows=rows,
        weights={entity: np.full(own.size, 10**6, dtype=np.int64) for entity, own in rows.items()},
    )
    return FileRecords(
        store=store,
        design=design,
        sample=sample,
        codes={each.name: store.column(each.entity, each)[rows[each.entity]] for each in variables},
        holders={(P, H): np.array(household_of, dtype=np.int64)} if households else {},
    )


def keys_of_persons(records: FileRecords) -> tuple[Integers, npt.NDArray[np.bool_]]:
    """The codes that persons have in a file, and which of them are missing: told plainly."""
    columns, missing = [], []
    for variable in records.design.ladder:
        codes = records.codes[variable.name].astype(np.int64)
        kinds = [code.kind for code in variable.level.codes]
        if variable.entity is H:
            none = kinds.index(CodeKind.NOT_APPLICABLE)
            places = records.holders[P, H]
            codes = np.array([codes[place] if place >= 0 else none for place in places])
        columns.append(codes)
        missing.append(np.array([kinds[code] is CodeKind.NOT_STATED for code in codes]))
    return np.stack(columns, axis=1), np.stack(missing, axis=1)


def plain_counts(codes: Integers, missing: npt.NDArray[np.bool_]) -> list[int]:
    """How many records match each one, compared one by one."""
    size, width = codes.shape
    return [
        sum(
            all(
                missing[first, key]
                or missing[second, key]
                or codes[first, key] == codes[second, key]
                for key in range(width)
            )
            for second in range(size)
        )
        for first in range(size)
    ]


def stated_plainly(codes: Integers, missing: npt.NDArray[np.bool_]) -> list[int]:
    """How many records state all that each one states, and the same, compared one by one."""
    size, width = codes.shape
    return [
        sum(
            all(
                missing[first, key]
                or (not missing[second, key] and codes[first, key] == codes[second, key])
                for key in range(width)
            )
            for second in range(size)
        )
        for first in range(size)
    ]
