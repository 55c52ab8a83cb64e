"""A small method that closes cells of tables together, for tests of whoever uses such methods."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.kernels.inference.derivation import Sums, derivable
from sdcensus.methods.linked import LinkedMethod, LinkedOutcome
from sdcensus.methods.method import MethodKind
from sdcensus.model.linked.cubes import LinkedCubes
from sdcensus.model.linked.elsewhere import NOTHING_ELSEWHERE, CellsElsewhere
from sdcensus.model.method.parameter import Asked, Parameter, ValueKind
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.published.claims import Claims
from sdcensus.model.published.table import Mark
from sdcensus.solvers.program import Status
from sdcensus.solvers.report import SolutionReport

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, repr=False)
class CloseSmall(LinkedMethod):
    """Counts from 1 below a minimum are closed, and the smallest others until none follows.

    Attributes:
        minimum: The smallest count that is shown.
        stopped: Whether to say that a person ended the search.
        households: Whether cells of one household are closed as well.
        earlier: What an earlier release shows and closes.
    """

    minimum: int = 3
    stopped: bool = False
    households: bool = False
    earlier: CellsElsewhere = NOTHING_ELSEWHERE

    name: ClassVar[str] = "close-small"
    kind: ClassVar[MethodKind] = MethodKind.WITHHOLDS
    summary: ClassVar[str] = "Small counts are closed, and others so that nobody can compute them."
    takes: ClassVar[tuple[Parameter, ...]] = (
        Parameter("minimum", ValueKind.WHOLE, "The smallest count that is shown.", least=1),
        Parameter("stopped", ValueKind.YES, "Say that a person ended the search."),
        Parameter("households", ValueKind.YES, "Close cells of one household as well."),
        Parameter("earlier", ValueKind.RELEASE, "An earlier release, to whose cells it keeps."),
    )
    shows_truth: ClassVar[bool] = True

    def __repr__(self) -> str:
        return "<CloseSmall>"

    @classmethod
    def build(cls, asked: Asked) -> CloseSmall:
        """The method with what somebody said about it."""
        said = dict(asked.values)
        earlier = said.pop("earlier", None)
        known = NOTHING_ELSEWHERE if earlier is None else asked.earlier(Path(earlier))
        return cls(**said, earlier=known)

    @property
    def needs_households(self) -> bool:
        """Whether cells of one household are asked for."""
        return self.households

    def parameters(self) -> Mapping[str, object]:
        """Everything that decides the published numbers."""
        return {
            "minimum": self.minimum,
            "stopped": self.stopped,
            "households": self.households,
            "earlier": self.earlier.digest(),
        }

    def claims(self) -> Claims:
        """Counts that are shown are true."""
        return Claims(bounded=True, zeros_kept=True, zeros_are_true=True, never_negative=True)

    def publish_linked(
        self, linked: LinkedCubes, progress: Progress = no_progress
    ) -> LinkedOutcome:
        """Close cells until no small one follows from others."""
        tables, counts = linked.tables, linked.counts
        progress("closing cells: best 1, bound 1, gap 0.0%", 0.5)
        shown, frozen = self.earlier.also(linked.elsewhere).masks(tables)
        primary = (counts > 0) & (counts < self.minimum) & tables.published
        if self.households:
            primary |= _one_household(linked)
        closed = primary | (frozen & tables.published)
        matrix = tables.equations
        sums = Sums(tables.size, matrix.starts, matrix.columns, matrix.values.astype(np.int64))
        while True:
            known = tables.published & ~closed
            follow = np.flatnonzero(derivable(sums, known, closed))
            if not follow.size:
                break
            closed[_next(linked, sums, known, int(follow[0]), shown)] = True
        flags = np.where(closed, np.uint8(Mark.WITHHELD), np.uint8(0)).astype(np.uint8)
        status = Status.STOPPED if self.stopped else Status.OPTIMAL
        solution = SolutionReport(
            what="closed cells",
            status=status,
            objective=float(closed.sum()),
            bound=0.0,
            repeatable=not self.stopped,
        )
        told = shown & primary
        remarks = (f"{int(told.sum())} cells had to be closed again.",) if told.any() else ()
        return LinkedOutcome(np.where(closed, 0, counts), flags, solution, remarks)


def _next(linked: LinkedCubes, sums: Sums, known: Mask, cell: int, shown: Mask) -> int:
    """The smallest cell in a sum with one that follows from others, or with closed ones near it.

    Cells that are shown elsewhere come last.
    """
    tables = linked.tables
    near = np.zeros(tables.size, dtype=bool)
    near[cell] = True
    while True:
        rows = np.isin(sums.rows, sums.rows[near[sums.columns]])
        parts = np.unique(sums.columns[rows])
        free = parts[known[parts] & ~shown[parts]]
        more = near.copy()
        more[parts[~known[parts]]] = True
        if free.size or (more == near).all():
            break
        near = more
    free = free if free.size else parts[known[parts]]
    if not free.size:
        raise SpecError(f"{tables.name(cell)}: the cell is 0 for any data and cannot be closed.")
    counts, words = linked.counts[free], tables.hashes[free]
    return int(free[np.lexsort((words[:, 1], words[:, 0], counts, counts == 0))[0]])


def _one_household(linked: LinkedCubes) -> Mask:
    """Cells whose records are one household of several persons."""
    mask = np.zeros(linked.tables.size, dtype=bool)
    for cube, cells in zip(linked.cubes, linked.tables.cell_of, strict=True):
        low, high = cube.values.first_household, cube.values.last_household
        if low is None or high is None:
            raise SpecError("Households were not counted.")
        single = (low == high) & (cube.count > 1)
        mask[cells[single & (cells >= 0)]] = True
    return mask


def install_close_small(folder: Path) -> Path:
    """Write what makes the method known under its name, once the folder is on the path."""
    about = folder / "close_small-1.0.dist-info"
    about.mkdir(parents=True)
    lines = "Metadata-Version: 2.1\nName: close-small\nVersion: 1.0\n"
    (about / "METADATA").write_text(lines, encoding="utf-8", newline="\n")
    points = "[sdcensus.methods]\nclose-small = sdcensus.testing.close_small:CloseSmall\n"
    (about / "entry_points.txt").write_text(points, encoding="utf-8", newline="\n")
    return folder
