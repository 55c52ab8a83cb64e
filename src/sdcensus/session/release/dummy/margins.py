"""Published tables as margins to draw from: whole numbers by the codes of a file.

Which table serves is decided by fixed rules, so that the same published values always give the
same draws. Tables of the whole population serve, whose numbers are counts. For a variable it is
the one that tells most of its codes; among these the one with fewest axes, then by the table's
own digest. What a table tells by a coarser code is spread evenly over the codes of the census that
it stands for; what is withheld counts as 0.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.model.published.table import AnyTable, Table
from sdcensus.model.release.file_variable import FileVariable
from sdcensus.model.schema.variable import Entity, Variable
from sdcensus.model.spec.axis import Axis
from sdcensus.model.vocabulary import Measure

Int64 = npt.NDArray[np.int64]
#: Counts are multiplied by this before they are spread, so that whole numbers stay.
_SCALE = 1 << 14
#: Published counts above this are cut: sums must fit 64 bits.
_MOST = 1 << 34


class PublishedMargins:
    """What published tables say about the variables of a file. Public.

    Args:
        tables: The tables, as anybody can read them.
    """

    def __init__(self, tables: Sequence[AnyTable]) -> None:
        # Sorted by what they say, so that names of files and their order are no matter.
        dense = [table.dense for table in tables if table.dense is not None]
        keyed = sorted(((_digest(table), table) for table in dense), key=lambda pair: pair[0])
        self._tables = [table for _, table in dict(keyed).items()]
        self._digests = [digest for digest, _ in dict(keyed).items()]

    def seed(self, *words: str) -> bytes:
        """16 bytes that follow from all published values, and from nothing else but some words."""
        digest = hashlib.blake2b(digest_size=16, person=b"dummy-data")
        for word in (*words, *(each.hex() for each in self._digests)):
            digest.update(word.encode("utf-8") + b"\0")
        return digest.digest()

    def margin(self, variable: FileVariable) -> Int64 | None:
        """The published count of each code of the file; ``None`` where no table tells any.

        Tables of the same units go first.
        """
        for table, axes in self._with(variable.entity, (variable,)):
            counts = np.asarray(_file_counts(table, axes, (variable,)), dtype=np.int64)
            if counts.sum() > 0:
                return counts
        return None

    def pair(self, first: FileVariable, second: FileVariable) -> Int64 | None:
        """The published counts of both, by the codes of the file; ``None`` for no such table."""
        entity = second.entity
        for table, axes in self._with(entity, (first, second)):
            counts = np.asarray(_file_counts(table, axes, (first, second)), dtype=np.int64)
            if counts.sum() > 0:
                return counts
        return None

    def total(self, entity: Entity) -> int:
        """How many units of a kind are published; 0 where no table says so."""
        for table in self._tables:
            if table.spec.of is entity and _is_usable(table):
                values = _without(table, ())
                if int(values.sum()) > 0:
                    return int(values.sum())
        return 0

    def _with(
        self, entity: Entity, variables: Sequence[FileVariable]
    ) -> Iterator[tuple[Table, tuple[int, ...]]]:
        """Tables by all of some variables, the best one first, with the places of their axes."""
        candidates = []
        for table in self._tables:
            names = [axis.variable.name for axis in table.spec.axes]
            wanted = [variable.source.name for variable in variables]
            if not _is_usable(table) or not set(wanted) <= set(names):
                continue
            axes = tuple(names.index(name) for name in wanted)
            detail = [table.spec.axes[at].blocks[0].size for at in axes]
            key = (table.spec.of is not entity, -int(np.prod(detail)), len(names))
            candidates.append((key, table, axes))
        # Tables stand in the order of their digests, and sorting keeps it among equals.
        for _, table, axes in sorted(candidates, key=lambda candidate: candidate[0]):
            yield table, axes


def _digest(table: Table) -> bytes:
    digest = hashlib.blake2b(table.spec.hash().encode(), digest_size=16)
    # Axes may stand in any order in equal tables: their names say which.
    digest.update("|".join(axis.name for axis in table.spec.axes).encode("utf-8"))
    digest.update(np.ascontiguousarray(table.published, dtype="<i8").tobytes())
    if table.flags is not None:
        digest.update(np.ascontiguousarray(table.flags).tobytes())
    return digest.digest()


def _is_usable(table: Table) -> bool:
    counts = table.spec.measure in (Measure.COUNT, Measure.WEIGHTED)
    return counts and table.spec.universe.everything


def _without(table: Table, kept: Sequence[int]) -> npt.NDArray[Any]:
    """Values by the finest shown level of some axes; the others as their total, or added up."""
    values = np.clip(table.published, 0, _MOST)
    for at in reversed(range(len(table.spec.axes))):
        axis = table.spec.axes[at]
        if at in kept:
            block = axis.blocks[0]
            values = np.take(values, np.arange(block.start, block.start + block.size), axis=at)
        elif axis.total:
            values = np.take(values, axis.blocks[-1].start, axis=at)
        else:
            block = axis.blocks[0]
            parts = np.arange(block.start, block.start + block.size)
            values = np.take(values, parts, axis=at).sum(axis=at)
    return values


def _file_counts(
    table: Table, axes: Sequence[int], variables: Sequence[FileVariable]
) -> npt.NDArray[Any]:
    """The counts of a table by the codes of the file, in the order of the variables."""
    values = _without(table, axes)
    ranks = np.argsort(np.argsort(axes))
    values = np.transpose(values, [int(rank) for rank in ranks]) if len(axes) > 1 else values
    for number, (at, variable) in enumerate(zip(axes, variables, strict=True)):
        spread = _spreading(table.spec.axes[at], variable)
        values = np.moveaxis(np.tensordot(spread, values, axes=([1], [number])), 0, number)
    return values


def _spreading(axis: Axis, variable: FileVariable) -> Int64:
    """Which part of each shown code goes to each code of the file, in parts of ``_SCALE``."""
    group_of = _group_of(axis)
    groups = [group_of(code.code) for code in variable.source.codes]
    spread = np.zeros((len(variable.level.codes), axis.blocks[0].size), dtype=np.int64)
    sizes = np.bincount(
        [group for group in groups if group is not None], minlength=axis.blocks[0].size
    )
    for group, place in zip(groups, variable.level.group, strict=True):
        if group is not None:
            spread[place, group] += _SCALE // int(sizes[group])
    return spread


def _group_of(axis: Axis) -> Callable[[str], int | None]:
    """For a leaf by its code, the place of the finest shown code that holds it."""
    shown: Variable = axis.variable
    places = {
        code.code: group for code, group in zip(shown.codes, axis.levels[0].group, strict=True)
    }
    return places.get
