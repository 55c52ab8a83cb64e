"""A change in whole numbers for given ways of cells, found fast by moving single units.

Units are those of the sets of records that the tables tell apart: whatever is moved, totals are
sums. Where it begins from nothing, no float has a part in it.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sdcensus.kernels.perturbation.unit_moves import ChangeCosts, Membership, moved_units
from sdcensus.methods.tabular_adjustment.requirements import Int64, Mask, Requirements
from sdcensus.methods.tabular_adjustment.senses import Draws
from sdcensus.model.linked.atoms import Atoms

Float64 = npt.NDArray[np.float64]

#: How often all sets of records are looked at, at most.
_ROUNDS = 30
#: Pairs are looked for in cells of at most so many sets, fewer where there are many sets.
_LONGEST, _PAIRS = 400, 20_000_000


class UnitSearch:
    """The sets of records behind some cells, ready to be moved."""

    def __init__(self, atoms: Atoms, asked: Requirements, draws: Draws) -> None:
        """Take the sets of all cells, auxiliary ones included; draws decide their order."""
        self._asked = asked
        size = np.diff(atoms.starts)
        cells = atoms.cells.astype(np.int64)
        sets = np.repeat(np.arange(len(atoms), dtype=np.int64), size)
        by_cell = np.argsort(cells, kind="stable")
        cell_starts = np.zeros(asked.counts.size + 1, dtype=np.int64)
        np.cumsum(np.bincount(cells, minlength=asked.counts.size), out=cell_starts[1:])
        self._member = Membership(
            atoms.starts.astype(np.int64), cells, cell_starts, np.ascontiguousarray(sets[by_cell])
        )
        self._order = np.argsort(draws.of_sets(atoms.definitions), kind="stable").astype(np.int64)
        self._rank = np.argsort(self._order, kind="stable")

    def agreeing(self, senses: Mask) -> Mask:
        """Ways of cells in which sums go where their parts take them.

        A total of one small cell holds the same people: it cannot go up where they go down. The
        ways of cells that are one set of records stay; of the others each takes the nearer one.
        """
        asked, member = self._asked, self._member
        own = self._own_sensitive()
        rises = senses.copy()
        sets = np.zeros(member.starts.size - 1, dtype=np.int64)
        moving = own >= 0
        cell = own[moving]
        sets[moving] = np.where(rises[cell], asked.up[cell], -asked.down[cell])
        sums = np.zeros(asked.counts.size, dtype=np.int64)
        np.add.at(sums, member.cells, np.repeat(sets, np.diff(member.starts)))
        self._turn(own, rises, sets, sums)
        nearer = np.abs(asked.up - sums) < np.abs(sums + asked.down)
        nearer = (nearer & asked.can_rise) | ~asked.can_fall
        # Two cells of one and the same set go together as well.
        agreed: Mask = asked.sensitive & np.where(sums == 0, rises, nearer)
        return agreed

    def _own_sensitive(self) -> Int64:
        """For each set of records the sensitive cell that holds nothing else; -1 for none."""
        member = self._member
        own = np.full(member.starts.size - 1, -1, dtype=np.int64)
        cells = np.flatnonzero((np.diff(member.cell_starts) == 1) & self._asked.sensitive)
        # Backwards: of several cells of one set the first decides.
        own[member.sets[member.cell_starts[cells]][::-1]] = cells[::-1]
        return own

    def _turn(self, own: Int64, rises: Mask, sets: Int64, sums: Int64) -> None:
        """Turn cells whose sum leaves its bounds and has no other part that could make up for it.

        Changes ``rises``, ``sets`` and ``sums``.
        """
        asked, member = self._asked, self._member
        steady = np.zeros(asked.counts.size, dtype=np.int64)
        np.add.at(steady, member.cells, np.repeat(own < 0, np.diff(member.starts)))
        bounded = (steady == 0) & ~asked.sensitive
        for cell in np.flatnonzero(bounded & ((sums < asked.least) | (sums > asked.most))):
            members = member.sets[member.cell_starts[cell] : member.cell_starts[cell + 1]]
            for at in sorted(members.tolist(), key=lambda at: int(self._rank[at])):
                low, high = sums[cell] < asked.least[cell], sums[cell] > asked.most[cell]
                mine = own[at]
                up = bool(low)
                can = asked.can_rise[mine] if up else asked.can_fall[mine]
                if not (low or high) or rises[mine] == up or not can:
                    continue
                moved = (asked.up[mine] if up else -asked.down[mine]) - sets[at]
                rises[mine], sets[at] = up, sets[at] + moved
                sums[member.cells[member.starts[at] : member.starts[at + 1]]] += moved

    def change(self, senses: Mask, near: Float64 | None = None) -> Int64:
        """A change of all cells; it may lie outside of their bounds.

        Args:
            senses: Whether each sensitive cell goes up.
            near: A change of all cells to begin with, in any numbers, if one is known.
        """
        asked, member = self._asked, self._member
        start = None if near is None else self._sets_of(near)
        sets = member.starts.size - 1
        least = np.where(asked.sensitive & senses, asked.up, asked.least)
        most = np.where(asked.sensitive & ~senses, -asked.down, asked.most)
        dearest = int(asked.weight.max(initial=1)) + 1
        longest = int(np.diff(member.starts).max(initial=1))
        room = max(_PAIRS // max(sets * longest, 1), 16)
        moved = moved_units(
            member,
            ChangeCosts(asked.weight, least, most, dearest * (longest + 1) * 4),
            np.zeros(sets, dtype=np.int64) if start is None else start,
            order=self._order,
            rounds=_ROUNDS,
            longest=min(_LONGEST, room),
        )
        change = np.zeros(asked.counts.size, dtype=np.int64)
        np.add.at(change, member.cells, np.repeat(moved, np.diff(member.starts)))
        return change

    def _sets_of(self, near: Float64) -> Int64 | None:
        """The change of each set; ``None`` where some set has no cell of its own."""
        member = self._member
        alone = np.diff(member.cell_starts)[member.cells] == 1
        sets = np.repeat(np.arange(member.starts.size - 1), np.diff(member.starts))
        own = np.full(member.starts.size - 1, -1, dtype=np.int64)
        own[sets[alone]] = member.cells[alone]
        return None if (own < 0).any() else np.round(near[own]).astype(np.int64)
