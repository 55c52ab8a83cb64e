"""Tables taken apart together: the largest sets of records that no cell of any table divides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.kernels.cells.tabulate import Combine, regroup
from sdcensus.model.schema.variable import Variable
from sdcensus.model.spec.leaf_groups import SharedVariable, leaf_blocks, shared_variables
from sdcensus.model.spec.table_spec import TableSpec

Int64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Atoms:
    """Combinations of classes of leaves; every cell of every table is a union of them.

    Attributes:
        specs: The tables.
        variables: The variables that any of them shows or has a condition on.
        classes: For each variable, for each leaf, the number of its class.
    """

    specs: tuple[TableSpec, ...]
    variables: tuple[Variable, ...]
    classes: tuple[Int64, ...]
    _shared: tuple[SharedVariable, ...]

    @classmethod
    def of(cls, specs: Sequence[TableSpec]) -> Atoms:
        """Take tables apart; refuses tables that cannot be compared by sets of leaves."""
        shared = shared_variables(specs)
        if shared is None:
            raise SpecError(
                "The tables count different things, use different code lists, or have conditions"
                " that combine variables; they cannot be taken apart together."
            )
        classes = []
        for one in shared:
            stacked = np.stack([block.group for blocks in one.blocks for block in blocks])
            _, group = np.unique(stacked, axis=1, return_inverse=True)
            classes.append(group.reshape(-1).astype(np.int64))
        return cls(
            tuple(specs),
            tuple(shared_variable.variable for shared_variable in shared),
            tuple(classes),
            shared,
        )

    @property
    def shape(self) -> tuple[int, ...]:
        """How many classes each variable has."""
        return tuple(int(class_.max()) + 1 for class_ in self.classes)

    @property
    def size(self) -> int:
        """How many atoms there are."""
        return int(np.prod(self.shape, dtype=np.int64))

    def cells_of(self, table: int) -> Mask:
        """For each cell of a table, by number, which atoms it holds."""
        spec = self.specs[table]
        made = np.ones((1, 1), dtype=bool)
        order: list[int | None] = []
        for shared_variable, classes, size in zip(
            self._shared, self.classes, self.shape, strict=True
        ):
            parts = []
            for block in shared_variable.blocks[table]:
                holds = np.zeros((block.size, size), dtype=bool)
                inside = block.group >= 0
                holds[block.group[inside], classes[inside]] = True
                parts.append(holds)
            holds = np.concatenate(parts)
            made = (made[:, None, :, None] & holds[None, :, None, :]).reshape(
                made.shape[0] * holds.shape[0], made.shape[1] * size
            )
            order.append(shared_variable.axes[table])
        # Rows stand in the order of variables; bring them into the order of the axes.
        rows = [1 if at is None else len(spec.axes[at].codes) for at in order]
        shown = [place for place, at in enumerate(order) if at is not None]
        by_axis = sorted(shown, key=lambda place: order[place] or 0)
        rest = [place for place in range(len(order)) if place not in shown]
        grid = made.reshape(*rows, -1).transpose(*by_axis, *rest, len(order))
        return grid.reshape(spec.cells, -1)

    def counts(self, spec: TableSpec, values: Int64) -> Int64:
        """The values of all atoms, from a table whose cells are fine enough and add up."""
        named = {axis.variable.name: at for at, axis in enumerate(spec.axes)}
        if (
            not spec.universe.everything
            or {variable.name for variable in self.variables} - named.keys()
        ):
            raise SpecError(
                f"{spec.title}: to count what tables isolate, a table of all records is needed"
                f" that shows {', '.join(variable.name for variable in self.variables)}."
            )
        for at, axis in enumerate(spec.axes):
            block = leaf_blocks(spec, axis.variable)[0]
            group = np.zeros(block.size, dtype=np.int64)
            size = 1
            for variable, classes in zip(self.variables, self.classes, strict=True):
                if variable.name == axis.variable.name:
                    group, size = self._classes_of_codes(spec, block.group, classes, variable)
            part = np.take(values, range(block.start, block.start + block.size), axis=at)
            values = regroup(part, at, group, size, Combine.SUM, 0)
        order = [named[variable.name] for variable in self.variables]
        rest = [at for at in range(len(spec.axes)) if at not in order]
        return values.transpose(*order, *rest).reshape(-1)

    def _classes_of_codes(
        self, spec: TableSpec, codes: Int64, classes: Int64, variable: Variable
    ) -> tuple[Int64, int]:
        """The class that holds each code of the finest level of an axis."""
        own = spec.axis(variable.name).variable
        places = {code.code: at for at, code in enumerate(variable.codes)}
        mine = classes[[places[code.code] for code in own.codes]]
        group = np.zeros(int(codes.max()) + 1, dtype=np.int64)
        group[codes] = mine
        if (group[codes] != mine).any():
            raise SpecError(
                f"{spec.title}: {variable.name!r} is too coarse to count what tables isolate. Show"
                " its own codes."
            )
        return group, int(classes.max()) + 1

    def words(self, atoms: Mask) -> tuple[tuple[Variable, Mask], ...] | None:
        """A set of atoms as a set of leaves of each variable; ``None`` if it is no such product.

        Variables of which the set holds all leaves are left out.
        """
        grid = atoms.reshape(self.shape)
        free = np.ones(self.shape, dtype=bool)
        made = []
        for at, (variable, classes) in enumerate(zip(self.variables, self.classes, strict=True)):
            others = tuple(one for one in range(grid.ndim) if one != at)
            held = np.asarray(grid.any(axis=others))
            free &= held.reshape([-1 if one == at else 1 for one in range(grid.ndim)])
            if not held.all():
                made.append((variable, held[classes]))
        return tuple(made) if (free == grid).all() else None
