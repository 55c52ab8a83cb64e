"""Certificates of the solver in the words of tables: codes and published values."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from sdcensus.model.linked.tables import LinkedTables
from sdcensus.model.progress import Progress
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.report.audit.results import Proof, ProofTerm
from sdcensus.solvers.audit.certificate import Certificate, Side, certificate
from sdcensus.solvers.audit.intervals import CellIntervals
from sdcensus.solvers.audit.system import FREE, AuditSystem, Int64


class CellNames:
    """What the cells of linked tables are called: by their codes, in a table that shows them."""

    __slots__ = ("_linked", "_place", "_table")

    def __init__(self, linked: LinkedTables) -> None:
        self._linked = linked
        self._table = np.full(linked.size, -1, dtype=np.int64)
        self._place = np.zeros(linked.size, dtype=np.int64)
        every = (*linked.cell_of, *linked.counted_cell_of)
        for at in reversed(range(len(every))):
            cells = every[at].reshape(-1)
            held = np.flatnonzero(cells >= 0)[::-1]
            self._table[cells[held]], self._place[cells[held]] = at, held

    def of(self, cell: int) -> str:
        """A cell by its codes; one beyond those of the tables is a combination of codes."""
        linked = self._linked
        if cell >= linked.size:
            return f"combination {cell - linked.size + 1}"
        spec = (*linked.specs, *linked.counted)[self._table[cell]]
        return codes_at(spec, int(self._place[cell]))


def codes_at(spec: TableSpec, number: int) -> str:
    """A cell of a table by its codes, from its number with the last axis running fastest."""
    place = np.unravel_index(number, spec.shape)
    codes = [
        f"{axis.variable.name}={axis.codes[at].code}"
        for axis, at in zip(spec.axes, place, strict=True)
    ]
    return ", ".join(codes) or "total"


def proofs_of(
    system: AuditSystem,
    names: CellNames,
    intervals: CellIntervals,
    cells: Int64,
    progress: Progress,
) -> dict[int, tuple[Proof, ...]]:
    """For some cells why their bounds hold; every certificate is checked before it is told."""
    unknowns = system.unknowns()
    found: dict[int, tuple[Proof, ...]] = {}
    for at, cell in enumerate(cells.tolist()):
        progress("published cells that disclose", at / cells.size)
        low, high = int(intervals.lower[cell]), int(intervals.upper[cell])
        proofs: list[Proof] = []
        for side, bound in ((Side.LOWER, low), (Side.UPPER, high)):
            if abs(bound) >= FREE:
                continue
            proven = certificate(system, unknowns, cell, side, bound)
            if proven is None or not proven.holds(system):
                continue
            if proven.is_sum and low == high:
                proofs = [_told(system, names, proven, None)]
                break
            if proven.equations:
                proofs.append(_told(system, names, proven, side))
        found[cell] = tuple(proofs)
    return found


def _told(system: AuditSystem, names: CellNames, proven: Certificate, side: Side | None) -> Proof:
    published = [
        ProofTerm(names.of(cell), factor, int(system.values[cell]))
        for cell, factor in proven.published
        if system.values[cell]
    ]
    # Totals first, as one would write the sum.
    published.sort(key=lambda term: (term.factor < 0, -term.value, term.cell))
    withheld = []
    for cell, factor in proven.withheld:
        bounds = system.lower if proven.side.sign * factor > 0 else system.upper
        withheld.append(ProofTerm(names.of(cell), factor, int(bounds[cell])))
    used = sum((abs(times) for _, times in proven.equations), Fraction(0))
    return Proof(
        side=side,
        bound=proven.bound,
        published=tuple(published),
        zeros=int(np.sum([system.values[cell] == 0 for cell, _ in proven.published])),
        withheld=tuple(withheld),
        slack=system.tolerance * used,
    )
