"""The declared levels of a variable, prepared for sets of codes as whole numbers.

A set of codes is one number with a bit for each code, so that sets are cut and compared at once.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sdcensus.model.schema.variable import Level, Role, Variable
from sdcensus.model.spec.levels_told_apart import coarser_or_equal

Int64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

#: A set of codes; ``None`` stands for all of them.
CodeSet = int | None


def number_of(chosen: Mask) -> int:
    """A set as a number: bit ``i`` stands for element ``i``."""
    return int.from_bytes(np.packbits(chosen, bitorder="little").tobytes(), "little")


class Levels:
    """The declared levels of a variable, those with the same groups of leaves once.

    Only declared codes have noise of their own, so whatever else is asked for is counted at the
    coarsest declared level that it can be put together from.
    """

    def __init__(self, variable: Variable) -> None:
        self.variable = variable
        self._leaf = variable.leaf_level
        self.geography = variable.role is Role.GEOGRAPHY
        self._group: dict[str, Int64] = {}
        self._size: dict[str, int] = {}
        self._same: dict[str, str] = {}
        self._all: dict[str, int] = {}
        self._parts: dict[tuple[str, str], tuple[tuple[int, int], ...]] = {}
        for level in variable.levels():
            group = level.group_array
            size = int(np.unique(group).size)
            same = next((name for name in self._group if self._alike(name, group, size)), None)
            self._same[level.name] = level.name if same is None else same
            if same is None:
                self._group[level.name], self._size[level.name] = group, size
        self._coarser = {
            fine: tuple(
                coarse
                for coarse in self._group
                if self._size[coarse] < self._size[fine]
                and coarser_or_equal(self._group[coarse], self._group[fine])
            )
            for fine in self._group
        }
        valid = np.array([not code.is_missing for code in variable.codes], dtype=bool)
        self._valid = valid
        #: All leaves that are values.
        self.leaves = number_of(valid)

    def _alike(self, name: str, group: Int64, size: int) -> bool:
        return self._size[name] == size and coarser_or_equal(self._group[name], group)

    def size(self, level: str) -> int:
        """How many codes of a level can occur."""
        return self._size[level]

    def coarser(self, level: str) -> tuple[str, ...]:
        """The levels whose codes are made up of several codes of this one."""
        return self._coarser[level]

    def named(self, level: Level) -> str:
        """The declared level that is counted for a level, declared or somebody's own."""
        group = level.group_array
        known = self._same.get(level.name)
        if known is not None and self._alike(known, group, int(np.unique(group).size)):
            return known
        return self.saying(group)

    def saying(self, partition: Int64) -> str:
        """The coarsest declared level whose codes can say a partition of the leaves."""
        fits = [name for name in self._group if self.says(name, partition)]
        return min(fits, key=lambda name: self._size[name])

    def says(self, level: str, partition: Int64) -> bool:
        """Whether the parts are made up of whole codes of a level."""
        return coarser_or_equal(partition, self._group[level])

    def leaves_in(self, chosen: Mask) -> int:
        """The chosen leaves that are values: who leaves out the not stated asks for the same."""
        return number_of(chosen & self._valid)

    def codes_in(self, level: str, chosen: Mask) -> CodeSet:
        """The codes of a level all of whose values are chosen; ``None`` for every one of them."""
        group = self._group[level]
        out = group[~chosen & self._valid]
        if not out.size:
            return None
        inside = self._with_values(level)
        inside[out] = False
        return number_of(inside)

    def _with_values(self, level: str) -> Mask:
        """Which codes of a level hold leaves that are values."""
        group = self._group[level]
        held = np.zeros(int(group.max(initial=0)) + 1, dtype=bool)
        held[group[self._valid]] = True
        return held

    def all_codes(self, level: str) -> int:
        """Every code of a level that holds values."""
        if level not in self._all:
            self._all[level] = number_of(self._with_values(level))
        return self._all[level]

    def raised(self, codes: CodeSet, fine: str, coarse: str) -> CodeSet:
        """The codes of a coarser level that are made up of codes of a set."""
        if codes is None or fine == coarse:
            return codes
        whole = 0
        for bit, children in self._children(fine, coarse):
            if children & codes == children:
                whole |= bit
        return None if whole == self.all_codes(coarse) else whole

    def _children(self, fine: str, coarse: str) -> tuple[tuple[int, int], ...]:
        """For each code of a coarser level the codes of a finer one that make it up."""
        if (fine, coarse) not in self._parts:
            above, below = self._group[coarse][self._valid], self._group[fine][self._valid]
            parts = []
            for at in np.unique(above).tolist():
                inside = np.zeros(int(below.max(initial=0)) + 1, dtype=bool)
                inside[below[above == at]] = True
                parts.append((1 << at, number_of(inside)))
            self._parts[fine, coarse] = tuple(parts)
        return self._parts[fine, coarse]

    def few(self, leaves: int, most: int) -> bool:
        """Whether a set of leaves is made up of at most so many codes of one level."""
        if leaves.bit_count() <= most:
            return True
        return any(self._made_of(leaves, level, most) for level in self._coarser[self._leaf])

    def _made_of(self, leaves: int, level: str, most: int) -> bool:
        count = 0
        for _, held in self._children(self._leaf, level):
            if held & leaves:
                count += 1
                if count > most or held & leaves != held:
                    return False
        return True

    def words(self, level: str, codes: CodeSet, most: int = 5) -> str:
        """The codes of a set, the first few by name; nothing for all of them."""
        if codes is None:
            return ""
        known = [code.code for code in self.variable.level(level).codes]
        chosen = [code for at, code in enumerate(known) if codes >> at & 1]
        more = f" and {len(chosen) - most} more" if len(chosen) > most else ""
        return f"{self.variable.name}: {', '.join(chosen[:most])}{more}"
