"""To whom amounts belong, and in which unit a file has them, while files are read.

Owners become numbers, and nothing else of them is kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sdcensus.ingest.id_parts import IdParts
from sdcensus.model.schema.encoding import NO_VALUE
from sdcensus.model.schema.id_forms import OWNER_FORM
from sdcensus.model.schema.source import FileSource
from sdcensus.model.schema.variable import EmptyOwner, Variable

Integers = npt.NDArray[Any]


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
