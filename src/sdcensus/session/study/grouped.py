"""Tables of a study that are counted with their ancestors, for the rule of the smallest group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sdcensus.methods.method import Method
from sdcensus.model.confidential import Confidential
from sdcensus.model.cube.ancestors import ancestry_of
from sdcensus.model.cube.cube import Cube
from sdcensus.model.published.table import Table
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.session.protect.smallest_group import GroupRule, Tabulate


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Grouped(Confidential):
    """Tables that are counted with their ancestors, for the rule of the smallest group."""

    rule: GroupRule
    specs: tuple[TableSpec, ...]
    tabulate: Tabulate

    def __repr__(self) -> str:
        return f"<Grouped {len(self.specs)} tables>"

    def cubes(self, counted: Sequence[Cube]) -> list[Cube]:
        """The cubes of the tables alone."""
        return [
            ancestry_of(spec).cut_cube(cube) for spec, cube in zip(self.specs, counted, strict=True)
        ]

    def protect(self, at: int, counted: Cube, method: Method) -> tuple[Cube, Table]:
        """The cube of a table, and what is published of it."""
        protected = self.rule.protect(self.specs[at], method, self.tabulate, counted=counted)
        return protected.audit.cube.held_for("the study"), protected.table.held_for("the study")
