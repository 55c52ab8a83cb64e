"""The mark of the people of a store: the same for the same records under whatever name.

Record keys come from identities, and identities from the code of the census: whoever renames a
census draws all its noise anew, which is one more look that nobody has named. The mark depends on
what the records say only: not on their keys, their order, or the name of the census.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError, StoreError
from sdcensus.kernels.perturbation.additivity import scattered
from sdcensus.model.published.lock import CLOSE_DAYS, Making, days_apart
from sdcensus.model.schema.schema import CensusInfo
from sdcensus.model.schema.variable import Entity, Variable
from sdcensus.store.census_store import CensusStore
from sdcensus.store.manifest import value_column

#: How many signs the outline of a census has.
SIGNS = 128
#: Outlines that differ in at most this share of their signs are of the same people. If a share c
#: of the records of a census is changed, arccos(1 - c) / pi of the signs are: .2 is reached at
#: about a fifth of the records. Outlines of different people differ in half of them, and in so
#: few only once in 10^12 cases.
SAME_SHARE = 0.2


@dataclass(frozen=True, slots=True)
class PeopleMark:
    """Who the records of a census are about; no count, no record and no key can be read from it.

    Attributes:
        exact: A digest of what all records say, in any order.
        outline: Signs of random sums over all records: few records change few of them.
    """

    exact: str
    outline: str

    def __str__(self) -> str:
        return f"{self.exact}:{self.outline}"

    @classmethod
    def parse(cls, text: str) -> PeopleMark | None:
        """Read what ``str`` made; ``None`` of an empty text."""
        if not text:
            return None
        exact, colon, outline = text.partition(":")
        if not colon or len(outline) != SIGNS // 4:
            raise SpecError("The mark of the people of a census is damaged.")
        return cls(exact, outline)

    def is_nearly(self, other: PeopleMark) -> bool:
        """Whether both are about the same people, but for some that were corrected."""
        if self.exact == other.exact:
            return True
        differ = int(self.outline, 16) ^ int(other.outline, 16)
        return differ.bit_count() <= SAME_SHARE * SIGNS


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


def renamed_from(
    known: Iterable[Making], info: CensusInfo, series: str, people: Callable[[], PeopleMark | None]
) -> Making | None:
    """What is out about the same people under another name; ``None`` if this is no new name.

    The same records are the same people. So are those of which few were corrected meanwhile,
    unless the dates of both say that they are different censuses.

    Args:
        known: How the numbers that are out were made.
        info: The census that would be published.
        series: Its name among them.
        people: Gives the mark of its people; called only if it is needed.
    """
    others = list(known)
    if not others or any(other.series == series for other in others):
        return None
    mark = people()
    if mark is None:
        return None
    for making in others:
        other = _mark_of(making)
        if other is None:
            continue
        apart = days_apart(making.reference_date, info.reference_date)
        if other.exact == mark.exact or ((apart or 0) <= CLOSE_DAYS and other.is_nearly(mark)):
            return making
    return None


def _mark_of(known: Making) -> PeopleMark | None:
    """The mark that was kept, or else that of the store if it still lies there."""
    if known.people or not known.store:
        return PeopleMark.parse(known.people)
    try:
        store = CensusStore.open(Path(known.store), verify=True)
    except StoreError:
        return None
    same = store.manifest.data_version == known.data_version
    return people_mark(store) if same else None
