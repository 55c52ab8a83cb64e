"""A protected table with what belongs to it: the public part, and the office's part kept apart."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sdcensus.model.confidential import Confidential
from sdcensus.model.cube.sparse_cube import AnyCube
from sdcensus.model.published.closing import Closing
from sdcensus.model.published.provenance import Provenance
from sdcensus.model.published.table import AnyTable

Keys = npt.NDArray[np.uint32]
Numbers = npt.NDArray[np.uint64]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Audit(Confidential):
    """What the office needs to replay every number of a protected table.

    Attributes:
        cube: True counts and cell keys.
        effective_keys: The keys that were really looked up, from the keys of cells and from their
            numbers in the table; ``None`` where a method looks nothing up.
        stages: The published values after each step but the last, by name of the step.
        empty_keys: The keys of empty cells where those are perturbed, below 2**32.
        unchanged: The numbers of cells that are published as they are whatever their keys:
            exempt ones, and empty ones that must be empty. ``None`` where there are none.
        remarks: What the office should know of how the numbers were found, as sentences: how near
            they are to the best, which cells had to be left open.
        repeatable: Whether every machine finds the same numbers: not where the clock or a person
            ended a search.
        reasons: Why cells have no number, in words: for each a mask in the shape of the table. A
            cell can have several.
        keys_of_contributors: Whether the keys that were looked up are made of those of the
            contributors of a sum, not of those of all records.
    """

    cube: AnyCube
    effective_keys: Callable[[Keys, Numbers], Keys] | None = None
    stages: tuple[tuple[str, AnyTable], ...] = ()
    empty_keys: Keys | None = None
    unchanged: Callable[[], Numbers] | None = None
    remarks: tuple[str, ...] = ()
    repeatable: bool = True
    reasons: tuple[tuple[str, npt.NDArray[np.bool_]], ...] = ()
    keys_of_contributors: bool = False

    def __repr__(self) -> str:
        return f"<Audit of {self.cube.spec.title}: confidential>"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Protected(Confidential):
    """What a method makes of a cube.

    ``table`` and ``provenance`` are public. The audit is not, which is why the whole cannot be
    pickled: give away the table, or write it to a file. ``closing`` says what the method asks of
    all other products for the cells that it withholds.
    """

    table: AnyTable
    provenance: Provenance
    audit: Audit
    closing: Closing = Closing.NOTHING

    def __repr__(self) -> str:
        return f"<Protected {self.table.spec.title} by {self.provenance.method}: with audit>"
