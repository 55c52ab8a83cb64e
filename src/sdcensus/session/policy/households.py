"""Cells of persons who all live in one household: found in true counts, reported or withheld.

Which cells are one household is confidential, and a sign in their place tells it. So a person
decides it once, for tables that the office publishes; nothing that answers the public reads it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.kernels.cells.tabulate import NO_ROW
from sdcensus.methods.withhold_sparse import withhold
from sdcensus.model.confidential import Confidential
from sdcensus.model.cube.sparse_cube import AnyCube
from sdcensus.model.policy.policy import Policy
from sdcensus.model.published.table import Table
from sdcensus.model.schema.variable import Entity
from sdcensus.model.spec.axis import make_axis
from sdcensus.model.spec.table_spec import TableSpec

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class OneHouseholdCells(Confidential):
    """Person cells of a table whose members all live in one household.

    Attributes:
        spec: The table.
        cells: Those cells.
        nonzero: How many cells hold anybody.
    """

    spec: TableSpec
    cells: Mask
    nonzero: int

    def __repr__(self) -> str:
        return f"<OneHouseholdCells of {self.spec.title}: confidential>"

    @property
    def count(self) -> int:
        """How many there are."""
        return int(self.cells.sum())

    @property
    def share(self) -> float | None:
        """Among the cells that hold anybody; ``None`` where no cell does."""
        return self.count / self.nonzero if self.nonzero else None


def one_household_cells(cube: AnyCube) -> OneHouseholdCells:
    """The person cells of a table whose members all live in one household.

    Args:
        cube: A table of persons that was counted with its households
            (``census.tabulate(..., households=True)``).
    """
    cube = cube.held_for("looking for cells of one household")
    first, last = cube.values.first_household, cube.values.last_household
    if first is None or last is None:
        raise SpecError(
            f"{cube.spec.title}: the table was counted without households. Count it with"
            " tabulate(..., households=True)."
        )
    held = cube.count > 0
    # Persons without a household are not members of the same one.
    cells = held & (first == last) & (first != NO_ROW)
    return OneHouseholdCells(cube.spec, cells, int(held.sum()))


def tables_of_areas(policy: Policy) -> tuple[TableSpec, ...]:
    """Persons of the finest areas that are offered, by each of the other variables that are."""
    offered = [
        variable
        for variable in policy.schema.usable(Entity.PERSON)
        if policy.rule_of(variable.name).offered and policy.allowed_levels(variable)
    ]
    areas = [variable for variable in offered if variable in policy.areas]
    geographies = policy.schema.geographies
    specs = []
    for area in areas:
        place = make_axis(area, policy.allowed_levels(area)[:1], total=True)
        for variable in offered:
            further = area == policy.schema.geography and variable in geographies[1:]
            if variable not in areas or further:
                other = make_axis(variable, policy.allowed_levels(variable)[:1], total=True)
                specs.append(TableSpec(of=Entity.PERSON, axes=(place, other)))
    return tuple(specs)


def withhold_households(table: Table, found: OneHouseholdCells) -> Table:
    """A table of persons without its cells of one household.

    What was withheld before keeps its sign.
    """
    if table.spec != found.spec or table.shape != found.cells.shape:
        raise SpecError(f"{table.spec.title} is not the table whose households were looked at.")
    return withhold(table, found.cells)
