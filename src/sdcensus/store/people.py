"""The mark of the people of a store: the same for the same records under whatever name."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.kernels.perturbation.additivity import scattered
from sdcensus.model.people_mark import SIGNS, PeopleMark
from sdcensus.model.schema.variable import Entity, Variable
from sdcensus.store.census_store import CensusStore
from sdcensus.store.manifest import value_column

UInt64 = npt.NDArray[np.uint64]

_ROWS = 1 << 18
_STEP = np.uint64(0x9E3779B97F4A7C15)


def people_mark(store: CensusStore) -> PeopleMark:
    """The mark of the people of a store; reads all its variables once.

    A record is the sum of a random number for each of its codes, spread over all bits. The exact
    mark is the sum and the sum of squares of these, by kind of unit; the outline holds the sign of
    128 sums of ones and minus ones that they choose, of which equal records choose others each.
    """
    whole = hashlib.blake2b(digest_size=16, person=b"people-mark")
    ones = np.zeros(SIGNS, dtype=np.int64)
    total = 0
    for spec in sorted(store.schema.entities, key=lambda entity: entity.entity.value):
        entity = spec.entity
        contents = np.sort(_contents(store, entity))
        with np.errstate(over="ignore"):
            sums = (contents.sum(dtype=np.uint64), (contents * contents).sum(dtype=np.uint64))
        whole.update(f"{entity}/{contents.size}/{sums[0]}/{sums[1]}\n".encode())
        total += contents.size
        for part in _told_apart(contents):
            ones += _ones(part)
    signs = np.packbits((2 * ones > total).astype(np.uint8)).tobytes().hex()
    return PeopleMark(whole.hexdigest(), signs)


def _contents(store: CensusStore, entity: Entity) -> UInt64:
    """A number for what each record says."""
    rows = store.rows(entity)
    contents = np.full(rows, _number(f"unit\x1f{entity}"), dtype=np.uint64)
    own = [variable for variable in store.schema.variables if variable.entity is entity]
    for variable in own:
        if store.has(entity, variable.name):
            _add_codes(store, entity, variable, contents)
        name = value_column(variable.name)
        if store.has(entity, name):
            _add_values(store.raw(entity, name), _number(name), contents)
    return _spread(contents)


def _add_codes(store: CensusStore, entity: Entity, variable: Variable, contents: UInt64) -> None:
    codes = np.array(
        [_number(f"{variable.name}\x1f{code.code}") for code in variable.codes], dtype=np.uint64
    )
    column = store.column(entity, variable)
    for start in range(0, contents.size, _ROWS):
        contents[start : start + _ROWS] += codes[column[start : start + _ROWS]]


def _add_values(values: npt.NDArray[Any], name: int, contents: UInt64) -> None:
    for start in range(0, contents.size, _ROWS):
        part = values[start : start + _ROWS].astype(np.uint64)
        contents[start : start + _ROWS] += _spread(part + np.uint64(name))


def _told_apart(contents: UInt64) -> Iterator[UInt64]:
    """Sorted contents in blocks, equal ones with another number each."""
    starts = np.ones(contents.size, dtype=bool)
    starts[1:] = contents[1:] != contents[:-1]
    at = np.arange(contents.size, dtype=np.int64)
    repeats = at - np.maximum.accumulate(np.where(starts, at, 0))
    for start in range(0, contents.size, _ROWS):
        part = slice(start, start + _ROWS)
        yield _spread(contents[part] + repeats[part].astype(np.uint64) * _STEP)


def _ones(numbers: UInt64) -> npt.NDArray[np.int64]:
    """For each place of the outline, how many of the numbers choose a one."""
    words = [_spread(numbers + np.uint64(at + 1)) for at in range(SIGNS // 64)]
    bits = np.unpackbits(np.stack(words, axis=1).astype("<u8").view(np.uint8), axis=1)
    return np.asarray(bits.sum(axis=0, dtype=np.int64))


def _number(text: str) -> int:
    digest = hashlib.blake2b(text.encode("utf-8"), digest_size=8, person=b"people-mark")
    return int.from_bytes(digest.digest(), "little")


def _spread(numbers: UInt64) -> UInt64:
    return scattered(numbers + _STEP)
