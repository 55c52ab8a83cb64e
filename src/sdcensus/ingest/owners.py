"""To whom amounts belong, and in which unit a file has them, while files are read.

Owners become numbers, and nothing else of them is kept. Files in another unit are declared
(``file_units``). Where somebody forgets that, a year's income stands beside a month's, and no value
is wrong by itself: only the files as wholes differ, and that is told.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sdcensus.ingest.id_parts import IdParts
from sdcensus.model.schema.encoding import NO_VALUE
from sdcensus.model.schema.id_forms import OWNER_FORM
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.source import FileSource
from sdcensus.model.schema.variable import EmptyOwner, Entity, Role, Variable
from sdcensus.model.text import Text
from sdcensus.store.manifest import value_column

if TYPE_CHECKING:
    from sdcensus.ingest.reading import ColumnParts

Integers = npt.NDArray[Any]

#: So many times as large as in another file, amounts are told. Rich and poor areas differ less; a
#: year has twelve months.
MANY_TIMES = 6
#: Files with fewer amounts say nothing.
FEWEST_AMOUNTS = 5


class OwnerReader:
    """Digests of the owners of an amount; whole numbers are the same however they are written.

    Args:
        variable: The amount.
        column: Where the file names the owners.
        widths: How many digits the numbers of columns have, where that is declared.
        file: The name of the file, for messages.
        secret: The office secret.
    """

    def __init__(
        self, variable: Variable, column: str, widths: Mapping[str, int], file: str, secret: bytes
    ) -> None:
        source = variable.source
        self.column = column
        self._required = source is None or source.owner_empty is EmptyOwner.PROBLEM
        self._ids = IdParts(
            (column,),
            prefix=("owner",),
            widths=widths,
            form=OWNER_FORM,
            file=file,
            secret=secret,
            tag=variable.entity.tag,
        )

    def digests(self, batch: pa.RecordBatch, amounts: Integers) -> tuple[Integers, Integers]:
        """The digest of each owner, 0 for none; and which records should have one.

        Who has no land needs no owner of it: ``amounts`` that are missing or 0 belong to nobody.
        """
        owners = self._ids.digests(batch)
        owners.digests[owners.empty] = 0
        belongs = (amounts != NO_VALUE) & (amounts != 0)
        return owners.digests, owners.empty & belongs & self._required


def owner_reader(
    variable: Variable, widths: Mapping[str, int], file: str, secret: bytes
) -> OwnerReader | None:
    """What reads the owners of an amount; ``None`` for variables without."""
    source = variable.source
    if source is None or source.owner is None:
        return None
    return OwnerReader(variable, source.owner, widths, file, secret)


def owner_numbers(digests: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint32]:
    """A number for each owner, by the digests of their ids; 0 stands for no owner.

    Who has no owner gets a number of its own.

    Examples:
        >>> owner_numbers(np.array([7, 0, 3, 7, 0], dtype=np.uint64))
        array([1, 2, 0, 1, 3], dtype=uint32)
    """
    named = digests != 0
    owners, places = np.unique(digests[named], return_inverse=True)
    numbers: npt.NDArray[Any] = np.empty(digests.size, dtype=np.uint32)
    numbers[named] = places
    numbers[~named] = owners.size + np.arange(digests.size - places.size)
    return numbers


def scale_of(variable: Variable, source: FileSource, path: Path) -> Fraction:
    """What the amounts of one of several files are multiplied by."""
    scales = () if variable.source is None else variable.source.scales
    for name, scale in scales:
        if path in source.named(name):
            return scale
    return Fraction(1)


def unit_notes(schema: Schema, parts: Mapping[Entity, ColumnParts]) -> tuple[Text, ...]:
    """What an office is told of amounts whose files differ by far. Confidential, as the load is."""
    return tuple(
        note
        for variable in schema.variables
        if variable.continuous and variable.role is not Role.WEIGHT and variable.source is not None
        for note in _notes(variable, parts[schema.file(variable.source.file).entity])
    )


def _notes(variable: Variable, parts: ColumnParts) -> tuple[Text, ...]:
    """The file with the largest amounts, where they are by far larger than in another one."""
    if len(parts.pieces) < 2:
        return ()
    values = parts.read(value_column(variable.name))
    ends = [*(first for _, first, _ in parts.pieces[1:]), parts.rows]
    sizes = [
        (_median(values[first:end]), name)
        for (name, first, _), end in zip(parts.pieces, ends, strict=True)
    ]
    known = sorted(size for size in sizes if size[0])
    if len(known) < 2 or known[-1][0] < MANY_TIMES * known[0][0]:
        return ()
    (small, smaller), (large, larger) = known[0], known[-1]
    note = Text.named("load.report.found_units").filled(
        variable=variable.name,
        file=larger,
        other=smaller,
        times=f"{round(large / small):,}",
    )
    return (note,)


def _median(values: npt.NDArray[np.int64]) -> int:
    """The median size of amounts other than 0; 0 where there are too few."""
    sizes = np.abs(values[(values != NO_VALUE) & (values != 0)])
    if sizes.size < FEWEST_AMOUNTS:
        return 0
    middle = sizes.size // 2
    return int(np.partition(sizes, middle)[middle])
