"""Additivity: the smallest change of a published table after which all its totals are sums."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, replace
from enum import StrEnum
from typing import ClassVar, Self

import numpy as np

from sdcensus.errors import SpecError
from sdcensus.methods.exchanges import by_exchange
from sdcensus.methods.method import Int64, Method, MethodKind, Step, member
from sdcensus.model.cube.constraints import adds_up, interior, with_totals
from sdcensus.model.method.parameter import Parameter, ValueKind
from sdcensus.model.perturbation.table import Perturbation
from sdcensus.model.published.claims import Claims
from sdcensus.model.published.table import Table
from sdcensus.model.sentences import sentence
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.solvers.solve import Solver

#: By default the nearest table is looked for and proven up to so many interior cells that are not
#: 0; up to fewer where counts are blocked, which is much harder.
AUTO_CELLS, AUTO_CELLS_BLOCKED = 300, 40
#: Tables with more of them are not proven even when that is asked for.
MOST_EXACT_CELLS = 1_000
#: Nodes of the search tree after which it is given up. Not a time: published numbers must not
#: depend on how fast a machine is.
_AUTO_NODES, _MOST_NODES = 100, 5_000
#: A margin that is farther than this from the sum of its cells, for each of them, was not made by
#: perturbing a table that added up.
_LARGEST_GAP = 100

_CAUTIONS = (sentence("cautions.adds_up"),)


class Mode(StrEnum):
    """How the table that adds up is found.

    ``exact``: the nearest one, proven by integer programming. ``fast``: a near one, by exchanging
    units between cells. ``auto``: exact for small tables, fast for large ones.
    """

    AUTO = "auto"
    EXACT = "exact"
    FAST = "fast"


@dataclass(frozen=True, slots=True, repr=False)
class Additivity(Step):
    """Change a published table as little as possible so that it adds up, with all hierarchies.

    It reads published values only. Interior cells that are published as 0 stay 0, and among them
    are all cells without records.

    Attributes:
        blocked: Counts from 1 to this appear neither in cells nor in totals. In a pipeline, where
            nothing is said, those that the method before it blocks; else none.
        mode: How the table is found.
        solver: Which solver proves that a table is the nearest; the table is the same.
    """

    blocked: int | None = None
    _: KW_ONLY
    mode: Mode | str = Mode.AUTO
    solver: Solver | str = Solver.HIGHS

    name: ClassVar[str] = "additivity"
    kind: ClassVar[MethodKind] = MethodKind.ADDS_UP
    summary: ClassVar[str] = "The smallest change after which all totals are sums."
    takes: ClassVar[tuple[Parameter, ...]] = (
        Parameter(
            "mode",
            ValueKind.WORD,
            "How hard the smallest change is looked for.",
            words=tuple(Mode),
            called="mode",
            default=Mode.AUTO,
        ),
    )

    def __post_init__(self) -> None:
        if self.blocked is not None and (type(self.blocked) is not int or self.blocked < 0):
            raise SpecError("Counts are blocked up to a whole number, 0 or more.")
        object.__setattr__(self, "mode", member(Mode, "mode", self.mode))
        object.__setattr__(self, "solver", member(Solver, "solver", self.solver))

    def __repr__(self) -> str:
        return f"<Additivity, {self.mode}: confidential parameters>"

    def after(self, method: Method) -> Self:
        """The same step; where nothing was said, what the method blocks stays blocked."""
        perturbation = getattr(method, "perturbation", None)
        if self.blocked is None and isinstance(perturbation, Perturbation):
            return replace(self, blocked=perturbation.blocked)
        return self

    @property
    def _blocked(self) -> int:
        return self.blocked or 0

    def parameters(self) -> Mapping[str, object]:
        """Everything that decides the published numbers; confidential."""
        return {"blocked": self._blocked, "mode": str(self.mode)}

    def claims(self) -> Claims:
        """What the step brings by itself."""
        return Claims(
            zeros_kept=True,
            never_negative=True,
            blocked_counts_never_appear=self._blocked > 0,
            additive=True,
            cautions=_CAUTIONS,
        )

    def claims_after(self, before: Claims) -> Claims:
        """The table adds up; what held for single cells no longer does."""
        own = self.claims()
        return replace(
            own,
            zeros_kept=before.zeros_kept,
            for_publication=before.for_publication,
            cautions=(*before.cautions, *_CAUTIONS),
        )

    def apply(self, table: Table) -> Table:
        """The nearest table that adds up."""
        if table.flags is not None:
            raise SpecError(
                f"{table.spec.title}: some cells are withheld, so it cannot be known what the"
                " others must add up to. Make the table add up before cells are withheld."
            )
        if (table.published < 0).any():
            raise SpecError(f"{table.spec.title}: a count below 0 cannot be made to add up.")
        if self._is_fine(table):
            return table
        _check_gaps(table)
        return replace(table, published=self._changed(table.spec, table.published))

    def _is_fine(self, table: Table) -> bool:
        small = (table.published > 0) & (table.published <= self._blocked)
        return not small.any() and adds_up(table.spec, table.published)

    def _changed(self, spec: TableSpec, published: Int64) -> Int64:
        size = int(np.count_nonzero(published[interior(spec)]))
        exact = self.mode is Mode.EXACT
        most = AUTO_CELLS_BLOCKED if self._blocked else AUTO_CELLS
        if exact and size > MOST_EXACT_CELLS:
            raise SpecError(
                f"{spec.title}: the nearest table that adds up can be proven for up to"
                f" {MOST_EXACT_CELLS:,} interior cells that are not 0. Take the mode 'fast' or"
                " 'auto', or a smaller table."
            )
        if exact or (self.mode is Mode.AUTO and size <= most):
            # Solvers are loaded when they are needed: that takes longer than most tables.
            from sdcensus.methods.nearest_additive import by_program

            nearest = by_program(
                spec,
                published,
                blocked=self._blocked,
                solver=Solver(self.solver),
                steps=_MOST_NODES if exact else _AUTO_NODES,
            )
            if nearest is not None:
                return nearest
        if exact:
            raise SpecError(
                f"{spec.title}: the nearest table that adds up was not proven within the allowed"
                " work. Take the mode 'fast'."
            )
        return by_exchange(spec, published, blocked=self._blocked)


def _check_gaps(table: Table) -> None:
    """Refuse a table that nobody can have made by perturbing one that added up."""
    spec = table.spec
    sums = with_totals(spec, table.published[interior(spec)])
    cells = with_totals(spec, np.ones(spec.base_shape, dtype=np.int64))
    if (np.abs(table.published - sums) > _LARGEST_GAP * (cells + 1)).any():
        raise SpecError(
            f"{spec.title}: some total is too far from the sum of its cells to be mended by small"
            " changes. Is it a total of the same cells?"
        )
