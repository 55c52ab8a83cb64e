"""Differencing without limits on how tables overlap: elimination, for small systems of tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.kernels.inference.elimination import reduced
from sdcensus.model.confidential import Confidential
from sdcensus.model.cube.cube import Cube
from sdcensus.model.spec.headings import joined
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.model.text import said
from sdcensus.risk.detection.detectors import whole_number_from
from sdcensus.risk.detection.wording import (
    GroupWords,
    leaves_text,
    quoted,
    sentence_language,
    sentence_text,
)
from sdcensus.risk.differencing.atoms import Atoms

Int64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

#: The most different cells, and the most atoms, that are eliminated; time grows with their cube.
MOST_CELLS = 1_500
#: Before cells that hold the same atoms are counted once.
LARGEST_MATRIX = 50_000_000


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Isolated(Confidential):
    """Sets of few records that follow from cells of several tables by adding and subtracting.

    Attributes:
        atoms: The tables, taken apart.
        sets: For each finding, which atoms it holds.
        values: How many units it holds.
        coefficients: For each finding, how often each cell of all tables is added (above 0) or
            subtracted; cells stand table by table.
    """

    atoms: Atoms
    sets: Mask
    values: Int64
    coefficients: Int64

    def __repr__(self) -> str:
        return f"<Isolated by {len(self.atoms.specs)} tables: confidential>"

    def __len__(self) -> int:
        return int(self.values.size)

    @property
    def count(self) -> int:
        """How many findings there are."""
        return len(self)

    def sentences(self, limit: int | None = None, language: str | None = None) -> tuple[str, ...]:
        """The first findings as sentences."""
        wanted = len(self) if limit is None else min(limit, len(self))
        spoken = sentence_language(language)
        return tuple(self._sentence(at, spoken) for at in range(wanted))

    def _sentence(self, at: int, language: str | None) -> str:
        words = self.atoms.words(self.sets[at])
        value = int(self.values[at])
        conditions: tuple[str, ...] = ()
        if words is not None:
            conditions = tuple(leaves_text(one, leaves, language) for one, leaves in words)
        group = GroupWords(self.atoms.specs[0].of, (), conditions, "", language)
        names = [quoted(spec.title, language) for spec in self._used(at)]
        cells = int(np.count_nonzero(self.coefficients[at]))
        key = "findings.isolate" if words is not None else "findings.isolate_mixed"
        tables, units = joined(names, language), group.units(value)
        return sentence_text(said(key, language, cells=cells, tables=tables, units=units))

    def _used(self, at: int) -> list[TableSpec]:
        ends = np.cumsum([spec.cells for spec in self.atoms.specs])
        used = np.split(self.coefficients[at], ends[:-1])
        return [spec for spec, one in zip(self.atoms.specs, used, strict=True) if one.any()]


def eliminate(specs: Sequence[TableSpec], cube: Cube, *, threshold: int = 2) -> Isolated:
    """Find sets of few units that tables isolate together, however their cells overlap.

    The tables are taken apart into atoms. Elimination with the largest atoms first leaves, for
    every size, all that can be said about atoms up to that size alone; sets of 1 to ``threshold``
    units among them are findings, unless a cell of some table is the same set. Every finding is
    checked: its cells, added and subtracted, are that set exactly.

    Args:
        specs: The tables.
        cube: True counts of all records by every variable of the tables, finely enough.
        threshold: The largest number of units that is found, from 1.
    """
    threshold = whole_number_from("threshold", threshold, 1)
    if not specs:
        raise SpecError("There is no table to take apart. Give one specification or more.")
    atoms = Atoms.of(specs)
    cells = sum(spec.cells for spec in specs)
    if cells * atoms.size > LARGEST_MATRIX:
        raise _too_large()
    matrix = np.concatenate([atoms.cells_of(at) for at in range(len(specs))])
    counts = atoms.counts(cube.spec, cube.count)
    rows, first = np.unique(matrix, axis=0, return_index=True)
    kept = rows.any(axis=1)
    rows, first = rows[kept].astype(np.int64), first[kept]
    if max(rows.shape) > MOST_CELLS:
        raise _too_large()
    # Small cells first: findings then need fewer of them.
    sizes = np.argsort(rows.sum(axis=1), kind="stable")
    rows, first = rows[sizes], first[sizes]
    order = np.argsort(-counts, kind="stable")
    reduced_rows, combinations, _ = reduced(rows[:, order])
    sets = np.zeros(reduced_rows.shape, dtype=np.int64)
    sets[:, order] = reduced_rows
    plain = ((sets == 0) | (sets == 1)).all(axis=1)
    plain &= np.abs(combinations).max(axis=1, initial=0) < 1 << 20
    values = sets @ counts
    few = np.flatnonzero(plain & (values >= 1) & (values <= threshold))
    few = few[(combinations[few] @ rows == sets[few]).all(axis=1)]
    shown = {row.tobytes() for row in rows.astype(bool)}
    fresh = [sets[at].astype(bool).tobytes() not in shown for at in few.tolist()]
    few = few[np.array(fresh, dtype=bool)]
    coefficients = np.zeros((few.size, cells), dtype=np.int64)
    coefficients[:, first] = combinations[few]
    return Isolated(atoms, sets[few].astype(bool), values[few], coefficients)


def _too_large() -> SpecError:
    return SpecError(
        f"Elimination takes tables of at most {MOST_CELLS:,} different cells and as many"
        " combinations of codes that they tell apart. Use differences_between for pairs of larger"
        " tables, or take fewer axes."
    )
