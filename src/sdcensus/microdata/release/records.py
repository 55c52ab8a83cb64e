"""The records of a file before they get their order and numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.errors import Sentence
from sdcensus.kernels.cells.tabulate import NO_ROW
from sdcensus.microdata.holders import holder_rows
from sdcensus.microdata.method import FactTable, OfficeFile
from sdcensus.microdata.release.give_aways import give_aways
from sdcensus.model.confidential import Confidential
from sdcensus.model.release.file_variable import FileDesign
from sdcensus.model.schema.variable import Entity, smallest_width
from sdcensus.store.census_store import CensusStore

Integers = npt.NDArray[Any]
Int64 = npt.NDArray[np.int64]

#: Digits after the point of weights.
WEIGHT_DECIMALS = 6
#: In place of a holder, for persons who live in no household.
NO_HOLDER = -1


@dataclass(frozen=True, slots=True, eq=False, kw_only=True, repr=False)
class Sample(Confidential):
    """Which units of a census are in a file, and how much they weigh.

    Attributes:
        rows: The rows of the store, ascending, by kind of unit: households and persons.
        weights: For each of them its weight, in whole numbers of ``10**-WEIGHT_DECIMALS``.
        facts: What the office should see.
        notes: What else it should know.
    """

    rows: Mapping[Entity, Int64]
    weights: Mapping[Entity, Int64]
    facts: tuple[FactTable, ...] = ()
    notes: tuple[Sentence, ...] = ()

    def __repr__(self) -> str:
        return "<Sample: confidential>"

    def taken(self, entity: Entity, size: int) -> npt.NDArray[np.bool_]:
        """Which of all records of a kind are in the sample."""
        mask = np.zeros(size, dtype=bool)
        mask[self.rows[entity]] = True
        return mask


@dataclass(frozen=True, slots=True, eq=False, kw_only=True, repr=False)
class FileRecords(Confidential):
    """What a file tells of each sampled unit, still in the order of the store.

    Attributes:
        store: The store that the records come from.
        design: What the file tells.
        sample: Who is in it.
        codes: For each variable of the file the position of each record's code in the codes of
            its level, in the order of ``sample.rows`` of the variable's kind of unit.
        amounts: Fixed-point numbers of variables that tell them, likewise.
        holders: The place in the sample of each record's holder, by (held, holder); ``NO_HOLDER``
            for none.
        facts, notes, files: What treatments tell the office.
    """

    store: CensusStore
    design: FileDesign
    sample: Sample
    codes: Mapping[str, Integers]
    amounts: Mapping[str, Int64] = field(default_factory=dict)
    holders: Mapping[tuple[Entity, Entity], Int64] = field(default_factory=dict)
    facts: tuple[FactTable, ...] = ()
    notes: tuple[Sentence, ...] = ()
    files: tuple[OfficeFile, ...] = ()

    def __repr__(self) -> str:
        return "<FileRecords: confidential>"

    def told(
        self,
        *,
        codes: Mapping[str, Integers] | None = None,
        amounts: Mapping[str, Int64] | None = None,
        facts: tuple[FactTable, ...] = (),
        notes: tuple[Sentence, ...] = (),
        files: tuple[OfficeFile, ...] = (),
    ) -> FileRecords:
        """The same records after a treatment: some columns anew, and what it tells."""
        return replace(
            self,
            codes={**self.codes, **(codes or {})},
            amounts={**self.amounts, **(amounts or {})},
            facts=(*self.facts, *facts),
            notes=(*self.notes, *notes),
            files=(*self.files, *files),
        )


def records_of(
    store: CensusStore, design: FileDesign, sample: Sample, *, warned: bool = True
) -> FileRecords:
    """What a design tells of the units of a sample.

    Args:
        store: The census, or the view of one whose records were changed.
        design: What the file tells.
        sample: Who is in it.
        warned: Whether to look for codes that tell an area that the file leaves out.
    """
    codes: dict[str, Integers] = {}
    amounts: dict[str, Int64] = {}
    for variable in design.variables:
        rows = sample.rows[variable.entity]
        if variable.amounts:
            values = store.values(variable.entity, variable.source)[rows]
            amounts[variable.name] = np.asarray(values, dtype=np.int64)
            continue
        leaves = store.column(variable.entity, variable.source)[rows]
        groups = variable.level.group_array.astype(smallest_width(len(variable.level.codes)))
        codes[variable.name] = groups[leaves]
    warning = give_aways(store, design) if warned else None
    return FileRecords(
        store=store,
        design=design,
        sample=sample,
        codes=codes,
        amounts=amounts,
        holders=_holders(store, design, sample),
        facts=() if warning is None else (warning,),
    )


def _holders(
    store: CensusStore, design: FileDesign, sample: Sample
) -> dict[tuple[Entity, Entity], Int64]:
    unit = design.unit
    if unit is Entity.PERSON or Entity.PERSON not in sample.rows:
        return {}
    place = np.full(store.rows(unit) + 1, NO_HOLDER, dtype=np.int64)
    place[sample.rows[unit]] = np.arange(sample.rows[unit].size)
    rows = holder_rows(store, Entity.PERSON, unit)[sample.rows[Entity.PERSON]]
    return {(Entity.PERSON, unit): place[np.where(rows == NO_ROW, place.size - 1, rows)]}
