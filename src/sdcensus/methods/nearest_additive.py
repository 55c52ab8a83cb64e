"""The nearest table that adds up, proven to be the nearest by integer programming."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.methods.exchanges import by_exchange, cell_hashes, distance, weights
from sdcensus.model.cube.constraints import aggregation, interior, is_interior, with_totals
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.solvers.limits import Limits
from sdcensus.solvers.program import LinearProgram
from sdcensus.solvers.solve import Solver, solve

Int64 = npt.NDArray[np.int64]

#: Among equally near tables, the further units of change in one cell count more and more: the
#: first, the second, the third and fourth, all others.
_PIECES = (1, 1, 2)
#: Among equally even ones, draws of so many bits decide.
_DRAW_BITS = 16


def by_program(
    spec: TableSpec, published: Int64, *, blocked: int, solver: Solver, steps: int
) -> Int64 | None:
    """The nearest table that adds up, proven; ``None`` when the work would be too much.

    Two programs are solved. The first finds how near a table can be. The second chooses among all
    tables that are as near: the one whose changes are spread most evenly, and then by draws from
    a hash. So the choice is the same for every solver, and for every order of axes and codes.
    """
    start = by_exchange(spec, published, blocked=blocked)
    most = distance(spec, start, published)
    model = _Model.build(spec, published, blocked, most=most, whole=solver is Solver.CP_SAT)
    if model is None:
        return start
    first = solve(model.program(), solver, limits=Limits(steps=steps))
    if not first.optimal:
        return None
    second = solve(model.choice(round(first.objective)), solver, limits=Limits(steps=steps))
    if not second.optimal:
        return None
    inner = model.interior(second.values)
    result = with_totals(spec, inner.reshape(spec.base_shape)).copy()
    # Solvers work with rounded numbers; what they found is checked in whole ones.
    sound = (inner >= 0).all() and not ((inner > 0) & (inner <= blocked)).any()
    return result if sound and distance(spec, result, published) <= model.most else None


@dataclass(frozen=True, slots=True, eq=False)
class _Model:
    """The smallest change of a table, in the order of hashes.

    Attributes:
        cells: Published values of interior cells.
        chosen: Those that may change: the ones that are not 0.
        draws: Two numbers for each of them, for a unit more and a unit less.
        rows, columns: Which of them lie in which margin.
        gaps: By how much each margin exceeds the sum of its cells, as published.
        costs: What a unit of change costs in each margin.
        blocked: Counts up to this are not allowed.
        most: No table that is farther than this is looked for.
        whole: Whether margins are said to be whole numbers. They are anyway; it is HiGHS that is
            faster without being told, and CP-SAT that has to be told.
    """

    cells: Int64
    chosen: Int64
    draws: Int64
    rows: Int64
    columns: Int64
    gaps: Int64
    costs: Int64
    blocked: int
    most: int
    whole: bool

    @classmethod
    def build(
        cls, spec: TableSpec, published: Int64, blocked: int, *, most: int, whole: bool
    ) -> _Model | None:
        """``None`` when there is nothing to choose."""
        hashes = cell_hashes(spec)
        cells = published[interior(spec)].reshape(-1)
        ranks = hashes[interior(spec)].reshape(-1)
        chosen = np.flatnonzero(cells)
        if not (chosen.size and most):
            return None
        chosen = chosen[np.argsort(ranks[chosen], kind="stable")]
        sums = aggregation(spec)
        number = np.full(cells.size, -1, dtype=np.int64)
        number[chosen] = np.arange(chosen.size)
        used = (number[sums.columns] >= 0) & ~is_interior(spec).reshape(-1)[sums.rows]
        rows, columns = sums.rows[used], number[sums.columns[used]]
        margins = np.unique(rows)
        margins = margins[np.argsort(hashes.reshape(-1)[margins], kind="stable")]
        place = np.zeros(spec.cells, dtype=np.int64)
        place[margins] = np.arange(margins.size)
        mask = np.uint64((1 << _DRAW_BITS) - 1)
        draws = [ranks[chosen] >> np.uint64(shift) & mask for shift in (0, _DRAW_BITS)]
        return cls(
            cells=cells,
            chosen=chosen,
            draws=np.stack(draws).astype(np.int64),
            rows=place[rows],
            columns=columns,
            gaps=(published.reshape(-1) - sums.times(cells))[margins],
            costs=weights(spec).reshape(-1)[margins],
            blocked=blocked,
            most=most,
            whole=whole,
        )

    def program(self, pieces: Sequence[int] = ()) -> LinearProgram:
        """How near can a table be?

        Variables: pieces of the increase and of the decrease of each cell, by how much each margin
        grows and shrinks, and, where counts are blocked, whether each cell stays above 0.
        """
        size, tall = self.chosen.size, self.gaps.size
        kept = size if self.blocked else 0
        lengths = (*pieces, self.most)
        changes = 2 * len(lengths) * size
        every, each = np.arange(tall), np.arange(kept)
        now = self.now[:kept]
        entries = [
            (every, changes + every, np.full(tall, -1)),
            (every, changes + tall + every, np.ones(tall)),
        ]
        for at, sign in enumerate((1, -1)):
            for piece in range(len(lengths)):
                start = (at * len(lengths) + piece) * size
                entries.append((self.rows, start + self.columns, np.full(self.rows.size, sign)))
                # Two rows for the increase, two for the decrease of each cell; see below.
                for row in (2 * at, 2 * at + 1):
                    entries.append((tall + row * kept + each, start + each, np.ones(kept)))
        # A cell that stays has an increase that leads out of the blocked counts, and a decrease
        # that does not lead into them; one that does not stay is decreased to 0.
        into = np.minimum(now, self.blocked + 1)
        stays = (into - self.blocked - 1, np.full(kept, -self.most), now, into)
        for row, coefficient in enumerate(stays):
            entries.append((tall + row * kept + each, changes + 2 * tall + each, coefficient))
        zero, none = np.zeros(kept), np.full(kept, np.inf)
        rows, columns, values = (np.concatenate(column) for column in zip(*entries, strict=True))
        more = self._pieces(lengths, np.full(size, self.most))
        less = self._pieces(lengths, np.minimum(self.now, self.most))
        margins = np.tile(self.most // self.costs, 2)
        return LinearProgram(
            cost=_real(np.ones(changes), self.costs, self.costs, np.zeros(kept)),
            lower=np.zeros(changes + 2 * tall + kept),
            upper=_real(*more, *less, margins, np.ones(kept)),
            integer=np.repeat([True, self.whole, True], [changes, 2 * tall, kept]),
            rows=rows,
            columns=columns,
            values=_real(values),
            row_lower=_real(self.gaps, zero, -none, now, -none),
            row_upper=_real(self.gaps, none, zero, none, now),
        )

    @staticmethod
    def _pieces(lengths: Sequence[int], whole: Int64) -> list[Int64]:
        """Upper bounds of pieces, one after the other, of at most ``whole`` together."""
        starts = np.cumsum([0, *lengths[:-1]])
        return [
            np.clip(whole - start, 0, length)
            for start, length in zip(starts.tolist(), lengths, strict=True)
        ]

    def choice(self, nearest: int) -> LinearProgram:
        """Which of the tables that are as near as that?"""
        program = self.program(_PIECES)
        costs = [
            draw + 1 + (piece << _DRAW_BITS)
            for draw in self.draws
            for piece in range(len(_PIECES) + 1)
        ]
        rest = program.width - 2 * (len(_PIECES) + 1) * self.chosen.size
        return program.with_row(program.cost, -np.inf, nearest).with_cost(
            _real(*costs, np.zeros(rest))
        )

    @property
    def now(self) -> Int64:
        """Published values of the cells that may change."""
        return self.cells[self.chosen]

    def interior(self, values: npt.NDArray[np.float64]) -> Int64:
        """The interior cells of a solution of ``choice``."""
        size, pieces = self.chosen.size, len(_PIECES) + 1
        changes = values[: 2 * pieces * size].reshape(2, pieces, size).sum(axis=1)
        inner = self.cells.copy()
        inner[self.chosen] += (changes[0] - changes[1]).astype(np.int64)
        return inner


def _real(*parts: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    return np.concatenate(parts).astype(np.float64)
