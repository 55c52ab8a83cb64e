"""What anybody can compute of a pattern, by a program that shares nothing with the one that closes.

Unknown is how many people have each combination of codes that the tables tell apart. Open cells are
what they are, closed ones hold somebody where empty ones are shown, and everything is a whole
number. Elimination asks for more: no combination of open cells makes up a primary one, whatever is
known of zeros. Both are looked at.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.model.cube.constraints import interior
from sdcensus.model.linked.atoms import cells_of_atoms, joint_spec
from sdcensus.model.linked.cubes import LinkedCubes

Int64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
#: A primary cell, and a cell in which somebody is alone who wants to know; nobody if ``None``.
Demand = tuple[int, int | None]


class World:
    """All combinations of codes: which cells each is in, and how many people there are of it."""

    def __init__(self, linked: LinkedCubes) -> None:
        tables = linked.tables
        joint = joint_spec(tables.specs)
        numbers = np.arange(joint.cells, dtype=np.uint64)
        self.members = np.zeros((tables.size, joint.cells), dtype=np.int64)
        for spec, cells in zip(tables.specs, tables.cell_of, strict=True):
            atom, cell = cells_of_atoms(joint, numbers, spec, cells)
            self.members[cell, atom] = 1
        possible = np.zeros(joint.cells, dtype=bool)
        for spec, cells in zip(tables.counted, tables.counted_cell_of, strict=True):
            base = np.full(spec.shape, -1, dtype=np.int64)
            base[interior(spec)] = cells[interior(spec)]
            possible[cells_of_atoms(joint, numbers, spec, base)[0]] = True
        self.members[:, ~possible] = 0
        self.people = np.zeros(joint.cells, dtype=np.int64)
        self.people[linked.atoms.numbers.astype(np.int64)] = linked.atoms.counts
        self.counts, self.published = linked.counts, tables.published
        # Only so does the attack speak of the same tables.
        counted = self.members[self.published] @ self.people
        assert (counted == self.counts[self.published]).all()

    def same(self, first: int, other: int) -> bool:
        """Whether two cells hold the same people."""
        return bool(((self.members[first] == self.members[other]) | (self.people == 0)).all())


class Reader:
    """Whoever reads the tables and solves for whole numbers."""

    def __init__(self, world: World, closed: Mask) -> None:
        from scipy.sparse import csr_array

        self._world = world
        opened = world.published & ~closed
        empty = world.members[opened & (world.counts == 0)].any(axis=0)
        self._cells = np.concatenate(
            [np.flatnonzero(opened & (world.counts > 0)), np.flatnonzero(closed)]
        )
        columns = np.unique(world.members[self._cells][:, ~empty], axis=1)
        self._sums = csr_array(columns.astype(np.float64))
        counts = world.counts[self._cells].astype(np.float64)
        hidden = closed[self._cells]
        self._lower = np.where(hidden, 1.0, counts)
        self._upper = np.where(hidden, np.inf, counts)
        self._place = {int(cell): at for at, cell in enumerate(self._cells)}
        self._known: list[Int64] = []
        self._draw = np.random.default_rng(1)

    def can_be(self, cell: int, low: float, high: float, inside: int | None = None) -> bool:
        """Whether a closed cell can lie so, also for somebody who is alone in another one."""
        from scipy.optimize import Bounds, LinearConstraint, milp

        at = self._place[cell]
        for table in self._known:
            knows = inside is not None and table[self._place[inside]] != 1
            if not knows and low <= table[at] <= high:
                return True
        lower, upper = self._lower.copy(), self._upper.copy()
        if inside is not None:
            lower[self._place[inside]] = upper[self._place[inside]] = 1
        lower[at], upper[at] = max(lower[at], low), min(upper[at], high)
        if lower[at] > upper[at]:
            return False
        width = self._sums.shape[1]
        solved: Any = milp(
            self._draw.random(width) - 0.5,
            constraints=LinearConstraint(self._sums, lower, upper),
            integrality=np.ones(width),
            bounds=Bounds(0, float(self._world.counts.max()) + 5),
        )
        assert solved.status in (0, 2), solved.message
        if solved.status == 0:
            self._known.append(np.rint(self._sums @ np.rint(solved.x)).astype(np.int64))
        return bool(solved.status == 0)

    def is_in_doubt(self, demand: Demand) -> bool:
        """Whether a primary cell can be something else than it is."""
        cell, inside = demand
        count = int(self._world.counts[cell])
        more, less = (count + 1, np.inf), (-np.inf, count - 1)
        return self.can_be(cell, *more, inside) or self.can_be(cell, *less, inside)


def demands(world: World, closed: Mask, primary: Mask, *, most: int = 4_000) -> Iterator[Demand]:
    """What may not be known: by anybody, and by those who are alone in a closed cell."""
    cells = np.flatnonzero(primary).tolist()
    yield from ((cell, None) for cell in cells)
    inside: list[int] = []
    for cell in np.flatnonzero(closed & (world.counts == 1)).tolist():
        if not any(world.same(cell, other) for other in inside):
            inside.append(cell)
    if len(inside) * len(cells) > most:
        return
    for person in inside:
        yield from ((cell, person) for cell in cells if not world.same(cell, person))


def made_up(world: World, closed: Mask, primary: Mask, *, alone: bool = True) -> bool:
    """Whether open cells make up a primary one, or would with one in which somebody is alone."""
    parts = world.members[:, world.people > 0].astype(np.float64)
    opened = parts[world.published & ~closed]
    _, size, turned = np.linalg.svd(opened, full_matrices=False)
    base = turned[size > 1e-9 * max(size.max(initial=0), 1)]
    cells = np.flatnonzero(primary)
    left = parts[cells] - parts[cells] @ base.T @ base
    length = np.linalg.norm(left, axis=1)
    if (length < 1e-7).any():
        return True
    alike = np.abs(left @ left.T) > (1 - 1e-9) * np.outer(length, length)
    pairs = zip(*np.nonzero(alike), strict=True)
    return alone and any(
        world.counts[cells[one]] == 1 and not world.same(int(cells[one]), int(cells[other]))
        for one, other in pairs
    )


def exposed(linked: LinkedCubes, closed: Mask, primary: Mask) -> list[Demand]:
    """What somebody can compute."""
    world = World(linked)
    assert not made_up(world, closed, primary)
    reader = Reader(world, closed)
    return [each for each in demands(world, closed, primary) if not reader.is_in_doubt(each)]


def needless(linked: LinkedCubes, closed: Mask, primary: Mask) -> list[int]:
    """Closed cells each of which could be opened by itself and nobody could compute anything."""
    world = World(linked)
    chosen = []
    for cell in np.flatnonzero(closed & ~primary).tolist():
        fewer = closed.copy()
        fewer[cell] = False
        if made_up(world, fewer, primary):
            continue
        reader = Reader(world, fewer)
        if all(reader.is_in_doubt(each) for each in demands(world, fewer, primary)):
            chosen.append(cell)
    return chosen
