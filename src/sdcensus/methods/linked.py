"""What methods have in common that protect tables together: a common cell has one value."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.methods.method import Flags, Int64, Method, MethodKind
from sdcensus.model.confidential import Confidential
from sdcensus.model.cube.sparse_cube import AnyCube
from sdcensus.model.linked.cubes import LinkedCubes
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.published.closing import Closing
from sdcensus.model.published.protected import Protected
from sdcensus.model.published.table import Table
from sdcensus.solvers.report import SolutionReport


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LinkedOutcome(Confidential):
    """What is published for the cells of some tables.

    Attributes:
        published: The value of every cell, auxiliary ones included; 0 where it has none.
        flags: Why cells have no number, a ``Mark`` for each; ``None`` where all have one.
        solution: How near the result is to the best; ``None`` where nothing was searched for.
        remarks: What else the office should know of it, as sentences; confidential.
        reasons: Why cells are closed, in words for the office: a mask of all cells by reason.
    """

    published: Int64
    flags: Flags | None = None
    solution: SolutionReport | None = None
    remarks: tuple[str, ...] = ()
    reasons: tuple[tuple[str, npt.NDArray[np.bool_]], ...] = ()

    def __repr__(self) -> str:
        return "<LinkedOutcome: confidential>"


class LinkedMethod(Method):
    """A method that looks at all cells of several tables at once; one table is the simplest case.

    Tables that share cells are protected together, or one of them gives away what another hides.
    """

    __slots__ = ()

    @classmethod
    def closing(cls) -> Closing:
        """Cells that it withholds cannot be computed from its tables, nor may they from others."""
        return Closing.SUMS if cls.kind is MethodKind.WITHHOLDS else Closing.NOTHING

    @abstractmethod
    def publish_linked(
        self, linked: LinkedCubes, progress: Progress = no_progress
    ) -> LinkedOutcome:
        """What is published for the cells of some tables.

        A method that chooses what it closes leaves cells open that other products show, closes
        those that others close (``linked.elsewhere``), and remarks where it cannot.
        """

    def protect(self, cube: AnyCube) -> Protected:
        """Publish one table whose levels nest; others are counted by the session."""
        self.check(cube)
        (protected,) = self.protect_together(LinkedCubes.of_cube(cube))
        return protected

    def protect_together(
        self, linked: LinkedCubes, progress: Progress = no_progress
    ) -> tuple[Protected, ...]:
        """Publish tables together: in their order, each with its provenance and audit."""
        for cube in linked.cubes:
            self.check(cube)
        linked.check_whole()
        outcome = self.publish_linked(linked, progress)
        if outcome.published.shape != linked.counts.shape:
            raise SpecError(f"The method {self.name!r} has to publish every cell.")
        tables = linked.tables
        published = tables.spread(outcome.published)
        flags = (None,) * len(published) if outcome.flags is None else tables.spread(outcome.flags)
        solution = outcome.solution
        remarks = outcome.remarks if solution is None else (solution.statement, *outcome.remarks)
        repeatable = solution is None or solution.repeatable
        reasons = [(word, tables.spread(mask)) for word, mask in outcome.reasons]
        protected = []
        for at, (cube, values, marks) in enumerate(
            zip(linked.cubes, published, flags, strict=True)
        ):
            table = Table(cube.spec, values.astype(np.int64), marks)
            finished = self.finished(cube, table)
            audit = replace(
                finished.audit,
                remarks=remarks,
                repeatable=repeatable,
                reasons=tuple((word, masks[at]) for word, masks in reasons),
            )
            protected.append(replace(finished, audit=audit))
        return tuple(protected)
