"""Which margins of tables can be kept next to their counts when numbers are drawn without bias.

A margin is all cells of a table with the same levels: areas by sex, or districts. Two chains of
margins, in each of which every margin breaks down the one before, are a network together with the
smallest groups; so all their cells can be kept. A table with two axes, at most one of them with
levels, is two chains. Others have more, and as many margins as possible are kept, published ones
first.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sdcensus.model.linked.atoms import Atoms
from sdcensus.model.linked.tables import LinkedTables
from sdcensus.model.spec.axis import Block
from sdcensus.model.spec.table_spec import TableSpec

Int64 = npt.NDArray[np.int64]

#: More margins than this are not looked at: the coarsest come first.
_MOST_MARGINS = 60
#: What it is worth to keep a margin that is published, against all that are not.
_SHOWN = 1_000


@dataclass(frozen=True, slots=True, eq=False)
class Margin:
    """All cells of a table with the same levels.

    Attributes:
        spec: The table.
        blocks: The level on each of its axes.
        levels: For each variable that it breaks down by, the code of each leaf.
        shown: Whether it is published.
    """

    spec: TableSpec
    blocks: tuple[Block, ...]
    levels: dict[str, Int64]
    shown: bool

    @property
    def size(self) -> int:
        """How many cells it has."""
        return int(np.prod([block.size for block in self.blocks], initial=1))

    @property
    def key(self) -> tuple[str, tuple[tuple[str, bytes], ...]]:
        """What tells margins apart, whatever table they are part of."""
        levels = sorted((name, group.tobytes()) for name, group in self.levels.items())
        return str(self.spec.universe.canonical()), tuple(levels)

    @property
    def name(self) -> str:
        """How messages call it."""
        pairs = zip(self.spec.axes, self.blocks, strict=True)
        named = [
            f"{axis.variable.name} ({block.level})"
            for axis, block in pairs
            if axis.variable.name in self.levels
        ]
        return " by ".join(named) or "the total"

    def breaks_down(self, coarse: Margin) -> bool:
        """Whether each cell of another margin is made of cells of this one."""
        if self.key[0] != coarse.key[0]:
            return False
        return all(
            name in self.levels and _nested(self.levels[name], group)
            for name, group in coarse.levels.items()
        )

    def classes(self, atoms: Atoms) -> Int64:
        """For each of the smallest groups the number of the cell that holds it, without gaps.

        Groups that the table does not count are one more cell.
        """
        groups, inside = atoms.base_groups(self.spec)
        place = np.zeros(len(atoms), dtype=np.int64)
        for group, block in zip(groups, self.blocks, strict=True):
            place = place * block.size + block.group[group]
        place[~inside] = -1
        return np.unique(place, return_inverse=True)[1].reshape(-1).astype(np.int64)


def _nested(fine: Int64, coarse: Int64) -> bool:
    above = np.zeros(int(fine.max(initial=-1)) + 1, dtype=np.int64)
    above[fine] = coarse
    return bool((above[fine] == coarse).all())


def two_chains(tables: LinkedTables) -> tuple[list[Margin], list[Margin], list[Margin]]:
    """Two chains of margins, coarsest first, and the published margins that are in neither."""
    margins = _margins(tables)
    best: dict[tuple[int, int], tuple[int, tuple[int, ...], tuple[int, ...]]] = {
        (-1, -1): (0, (), ())
    }
    for at, margin in enumerate(margins[:_MOST_MARGINS]):
        worth = _SHOWN if margin.shown else 1
        follows = {-1} | {before for before in range(at) if margin.breaks_down(margins[before])}
        for (first, second), (value, one, other) in list(best.items()):
            longer = []
            if first in follows:
                longer.append(((at, second), (*one, at), other))
            if second in follows:
                longer.append(((first, at), one, (*other, at)))
            for state, new_one, new_other in longer:
                known = best.get(state)
                if known is None or known[0] < value + worth:
                    best[state] = value + worth, new_one, new_other
    _, one, other = max(best.values(), key=lambda found: found[0])
    kept = {*one, *other}
    left = [margin for at, margin in enumerate(margins) if margin.shown and at not in kept]
    return [margins[at] for at in one], [margins[at] for at in other], left


def _margins(tables: LinkedTables) -> list[Margin]:
    """The margins of all tables, coarsest first, without that of the smallest groups."""
    known: dict[object, Margin] = {}
    for spec, whole in zip(tables.specs, tables.counted, strict=True):
        for margin in itertools.chain(_of_table(spec, shown=True), _of_table(whole, shown=False)):
            before = known.get(margin.key)
            if before is None or (margin.shown and not before.shown):
                known[margin.key] = margin
    finest = [
        margin
        for margin in known.values()
        if all(margin.breaks_down(other) for other in known.values())
    ]
    # What breaks down all others is what the smallest groups are, unless conditions differ.
    margins = [margin for margin in known.values() if margin not in finest[:1]]
    return sorted(margins, key=lambda margin: (margin.size, margin.key))


def _of_table(spec: TableSpec, *, shown: bool) -> Iterator[Margin]:
    for blocks in itertools.product(*(axis.blocks for axis in spec.axes)):
        levels = {
            axis.variable.name: block.group[axis.base].astype(np.int64)
            for axis, block in zip(spec.axes, blocks, strict=True)
            if block.size > 1
        }
        yield Margin(spec, blocks, levels, shown)
