"""What a list of tables says together about a cell: a bound on the best linear estimate.

The tables of a plan are no regular lattice, so there is no closed form. But the looks at a cell are
the smallest value, over all changes of the counts that change the cell by 1, of what all tables see
of the change (the sum of squares over their cells). Any change therefore gives a bound that holds.
The changes that are tried here are sums of products over variables, the best ones of a regular
lattice; for one, the bound is exact.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sdcensus.risk.looks.tables import CellClass, Pair

Int64 = npt.NDArray[np.int64]
Float64 = npt.NDArray[np.float64]

#: Variables with more parts than this are spread evenly, without solving for the best way.
LARGEST_SYSTEM = 1_000
#: Codes of a variable that are tried as the worst one.
MOST_CODES = 3
#: Directions that no table sees are kept apart by this much.
_RIDGE = 1e-7

#: A level, and what a condition leaves of it.
Family = tuple[str, str]


def looks_at_classes(
    classes: Sequence[CellClass], *, own: int
) -> Iterator[tuple[CellClass, float, bool]]:
    """For each class with few variables, the looks at its worst cell, and whether that is exact."""
    for condition in dict.fromkeys(class_.condition for class_ in classes):
        alike = [class_ for class_ in classes if class_.condition == condition]
        shown = _Shown(alike)
        for cell in alike:
            if len(cell.others) <= own:
                yield cell, shown.looks(cell), shown.exact


class _Axis:
    """The codes of a variable in some tables, and how changes of it are seen."""

    def __init__(self, families: dict[Family, Int64]) -> None:
        stacked = np.stack(list(families.values()))
        _, part = np.unique(stacked, axis=1, return_inverse=True)
        part = part.reshape(-1)
        self.parts = int(part.max()) + 1
        groups = np.full((len(families), self.parts), -1, dtype=np.int64)
        groups[:, part] = stacked
        nodes: dict[bytes, tuple[Int64, list[int]]] = {}
        self._codes: list[list[bytes]] = []
        for at, group in enumerate(groups):
            order = np.argsort(group, kind="stable")
            order = order[group[order] >= 0]
            cuts = np.flatnonzero(np.diff(group[order])) + 1
            self._codes.append([])
            for members in np.split(order, cuts) if order.size else []:
                key = members.tobytes()
                self._codes[-1].append(key)
                if members.size < self.parts:  # else it is everybody
                    nodes.setdefault(key, (members, []))[1].append(at)
        self._names = list(families)
        self._members = {key: members for key, (members, _) in nodes.items()}
        # Codes that are shown by the same levels stand together: they are seen in the same tables.
        blocks: dict[tuple[int, ...], int] = {}
        place = [blocks.setdefault(tuple(at), len(blocks) + 1) for _, at in nodes.values()]
        self.blocks = len(blocks) + 1
        self._block = np.array(place, dtype=np.int64)
        sizes = [member.size for member in self._members.values()]
        self._node = np.repeat(np.arange(len(sizes)), sizes)
        self._part = np.concatenate([np.zeros(0, np.int64), *self._members.values()])
        self.blocks_of = {
            name: [
                *([0] if any(len(key) == 8 * self.parts for key in self._codes[at]) else []),
                *(block for levels, block in blocks.items() if at in levels),
            ]
            for at, name in enumerate(self._names)
        }
        self._solve()

    def _solve(self) -> None:
        self.inverse: Float64 | None = None
        spread = np.ones(self.parts)
        if self.parts <= LARGEST_SYSTEM:
            seen = np.zeros((len(self._members), self.parts))
            seen[self._node, self._part] = 1
            information = seen.T @ seen
            if (seen.sum(axis=1) == 1).sum() < self.parts:
                information = information + _RIDGE * np.eye(self.parts)
            self.inverse = np.asarray(np.linalg.inv(information), dtype=np.float64)
            spread = self.inverse.sum(axis=1)
        self.spread = spread / spread.sum()
        self.both = self._seen(self.spread, self.spread)

    def _seen(self, first: Float64, second: Float64) -> Float64:
        """What the codes of each block see of two changes: the sum of products; 0: everybody."""
        nodes = len(self._members)
        one = np.bincount(self._node, first[self._part], minlength=nodes)
        other = np.bincount(self._node, second[self._part], minlength=nodes)
        found = np.bincount(self._block, one * other, minlength=self.blocks)
        found[0] = first.sum() * second.sum()
        return found.astype(np.float64)

    def changes(self, family: Family) -> list[tuple[float, Float64, Float64]]:
        """For the codes of a level that may be the worst: how a change of the code is seen.

        Returns:
            For each code its share of a change of everybody; and what each block sees of the change
            of the code at the cost of all others, together with the spread and with itself. The
            code itself changes by 1.
        """
        keys = [key for key in self._codes[self._names.index(family)] if key in self._members]
        found = []
        for key in self._worst(keys):
            inside = np.zeros(self.parts)
            inside[self._members[key]] = 1
            if self.inverse is not None:
                change = self.inverse @ inside
                change = change - change.sum() * self.spread
            else:
                change = inside / inside.sum() - (1 - inside) / (1 - inside).sum()
            change = change / (inside @ change)
            found.append(
                (
                    float(inside @ self.spread),
                    self._seen(self.spread, change),
                    self._seen(change, change),
                )
            )
        return found

    def _worst(self, keys: Sequence[bytes]) -> list[bytes]:
        """The codes that are best known by the levels alone; a condition has one code."""
        if len(keys) <= MOST_CODES:
            return list(keys)
        sizes = np.array([self._members[key].size for key in keys], dtype=np.float64)
        known = sizes
        if self.inverse is not None:
            known = np.array(
                [self.inverse[np.ix_(self._members[key], self._members[key])].sum() for key in keys]
            )
        _, first = np.unique(np.round(known, 9), return_index=True)
        return [keys[at] for at in first[:MOST_CODES]]


@dataclass(frozen=True, slots=True, eq=False)
class _Change:
    """How tables see the changes of a code: by table, for spread and spread, both, own and own."""

    share: float
    seen: tuple[Float64, Float64, Float64]


class _Shown:
    """All cells of some tables, each once."""

    def __init__(self, classes: Sequence[CellClass]) -> None:
        families: dict[str, dict[Family, Int64]] = {}
        for class_ in classes:
            for pair in class_.pairs:
                family, group = _family(class_, pair)
                families.setdefault(pair[0].name, {}).setdefault(family, group)
        self._axes = {name: _Axis(own) for name, own in families.items()}
        self._names = list(self._axes)
        place = {name: at for at, name in enumerate(self._names)}
        rows: set[tuple[int, ...]] = set()
        for class_ in classes:
            choice = [[0]] * len(self._names)
            for pair in class_.pairs:
                name = pair[0].name
                choice[place[name]] = self._axes[name].blocks_of[_family(class_, pair)[0]]
            rows.update(itertools.product(*choice))
        self._table = np.array(sorted(rows), dtype=np.int64).reshape(len(rows), len(self._names))
        self._spread = np.stack(
            [
                np.ones(len(rows)),
                *(self._axes[name].both[self._table[:, at]] for at, name in enumerate(self._names)),
            ]
        )
        self._changes: dict[tuple[str, Family], list[_Change]] = {}

    @property
    def exact(self) -> bool:
        """Whether the lattice is regular: every variable is there at one level, or not at all."""
        return all(
            axis.blocks <= 2 and axis.inverse is not None and len(axis.blocks_of) == 1
            for axis in self._axes.values()
        )

    def looks(self, cell: CellClass) -> float:
        """The looks at the worst cell of a class."""
        options = []
        outside = dict.fromkeys(self._names)
        for pair in cell.pairs:
            changes = self._seen(pair[0].name, _family(cell, pair)[0])
            if changes:  # else its code is everybody, and the variable says nothing
                options.append(changes)
                outside.pop(pair[0].name)
        rows = [0, *(self._names.index(one) + 1 for one in outside)]
        beside = np.prod(self._spread[rows], axis=0)
        return max(self._bound(codes, beside) for codes in itertools.product(*options))

    def _seen(self, name: str, family: Family) -> list[_Change]:
        key = (name, family)
        if key not in self._changes:
            at = self._names.index(name)
            axis, column = self._axes[name], self._table[:, at]
            self._changes[key] = [
                _Change(share, (self._spread[at + 1], both[column], itself[column]))
                for share, both, itself in axis.changes(family)
            ]
        return self._changes[key]

    def _bound(self, codes: Sequence[_Change], beside: Float64) -> float:
        """The smallest of all changes that are sums of products."""
        kinds = list(itertools.product((0, 1), repeat=len(codes)))
        matrix = np.zeros((len(kinds), len(kinds)))
        for row, first in enumerate(kinds):
            for column, second in enumerate(kinds[: row + 1]):
                product = beside
                for code, left, right in zip(codes, first, second, strict=True):
                    product = product * code.seen[left + right]
                matrix[row, column] = matrix[column, row] = product.sum()
        wanted = np.array(
            [
                math.prod(1.0 if own else code.share for code, own in zip(codes, kind, strict=True))
                for kind in kinds
            ]
        )
        scale = 1 / np.sqrt(np.maximum(np.diag(matrix), 1e-300))
        inverse = np.linalg.pinv(matrix * scale[:, None] * scale[None, :], rcond=1e-10)
        change = scale * (inverse @ (scale * wanted))
        bounds = [float(change @ matrix @ change) / float(wanted @ change) ** 2]
        # A single product is a change as well, and does not depend on the numbers of the solution.
        bounds += [
            float(matrix[at, at]) / float(wanted[at]) ** 2 for at in range(len(kinds)) if wanted[at]
        ]
        return max(1.0, min(bounds))


def _family(cell: CellClass, pair: Pair) -> tuple[Family, Int64]:
    """A level under a condition on its own variable: its name, and the codes of the leaves."""
    variable, level = pair
    selected = next((level for other, level in cell.selected if other.name == variable.name), None)
    if selected is None:
        return (level.name, ""), level.group_array
    group = np.where(selected.group_array == 0, level.group_array, -1)
    return (level.name, selected.name), group
