"""What is said about a table that is assessed, and about what it stands beside."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.methods.method import Method
from sdcensus.model.confidential import Confidential
from sdcensus.model.cube.cube import Cube
from sdcensus.model.cube.sparse_cube import AnyCube
from sdcensus.model.inference.knowledge import Knowledge
from sdcensus.model.perturbation.table import Perturbation
from sdcensus.model.published.provenance import Provenance
from sdcensus.model.schema.schema import Schema
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.risk.groups.broken_down import BrokenDown
from sdcensus.risk.looks.budget import LookBudget
from sdcensus.risk.magnitude.attackers import WITHIN, check_within

Tabulate = Callable[[TableSpec], AnyCube]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RecordsBehind(Confidential):
    """The records behind a table, before it was protected.

    Attributes:
        untouched: Of each interior cell how many records are neither perturbed nor imputed.
        original: The counts of the store from which that of the table was derived, if it is given.
    """

    untouched: npt.NDArray[np.int64]
    original: Cube | None

    def __repr__(self) -> str:
        return "<RecordsBehind: confidential>"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class AssessOptions(Confidential):
    """How a table was made, what it stands beside, and what is asked about it.

    Attributes:
        method: How it was protected; tells what an intruder may know. Without it the largest
            change in the table itself is taken as known.
        perturbation: The noise of the method, if it is not a method with one of its own.
        knowledge: What an intruder is taken to know, instead of what the method says.
        provenance: How the table was made.
        schema: Tells which cells cannot hold anyone, such as ``census.schema``.
        sensitive: The variables that tell something; by default those that the schema calls so.
        coalition: How many members of a group may put together what they know.
        within: For a table of sums: how near an estimate of the largest contributor is that counts,
            in percent.
        compare: Whether to protect the table by other methods and show them beside it; by default
            if it is not too large.
        exact: Whether to find exact intervals by linear programs; by default for small tables.
        others: Other tables with the same people: published before, or planned.
        tabulate: Counts the other tables, such as ``census.tabulate``; without it they are counted
            from the cube, where it is fine enough.
        budgets: How often all tables together look at a cell; by default of this table and the
            others, if there are any.
        groups: What all tables together break down, if it was measured.
        recovery_limit: The chance of recovery that the office accepts, between 0 and 1.
        number: The number of the table on the evaluation sheet.
        title: What stands above the pages; by default what the table shows, in words.
        language: The language of labels.
        behind: The records behind the table, where some are imputed or the store is a derived one.
    """

    method: Method | None = None
    perturbation: Perturbation | None = None
    knowledge: Knowledge | None = None
    provenance: Provenance | None = None
    schema: Schema | None = None
    sensitive: Sequence[str] | None = None
    coalition: int = 1
    within: float = WITHIN
    compare: bool | None = None
    exact: bool | None = None
    others: Sequence[TableSpec] = ()
    tabulate: Tabulate | None = None
    budgets: Sequence[LookBudget] | None = None
    groups: Sequence[BrokenDown] = ()
    recovery_limit: float | None = None
    number: int = 1
    title: str = ""
    language: str | None = None
    behind: RecordsBehind | None = None

    def __post_init__(self) -> None:
        if self.recovery_limit is not None and not 0 < self.recovery_limit < 1:
            raise SpecError("The chance of recovery that is accepted lies between 0 and 1.")
        check_within(self.within)

    def __repr__(self) -> str:
        return "<AssessOptions: confidential>"


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What a table of a census is taken together with.

    Attributes:
        registry: The folder of a registry of what was published before.
        policy: The file of a policy: everything that it opens is taken together, and its limit
            for the chance of recovery holds unless the options name another.
        smallest_group: Groups that are published below this are not broken down further; not below
            what a plan or a policy says.
        original: The store from which that of the table was derived: what is published is compared
            with its records as well.
    """

    registry: str | Path | None = None
    policy: str | Path | None = None
    smallest_group: int | None = None
    original: str | Path | None = None
