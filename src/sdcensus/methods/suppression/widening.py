"""Room for primary cells: closing further cells until each has several possible whole numbers.

That a cell is no sum or difference of open ones does not say that it can be anything. Counts are
not negative, closed cells hold somebody where empty ones are shown, and tables that count the same
people leave less than their sums say: three closed cells with a total of 3 are three ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.methods.suppression.combinations import MOST_ATOMS, say_more_than_sums
from sdcensus.methods.suppression.problem import SuppressionProblem
from sdcensus.methods.suppression.room import Insiders, Room
from sdcensus.methods.suppression.search.holding import free_cells, further_cells, places_of
from sdcensus.model.confidential import Confidential
from sdcensus.model.cube.constraints import SparseMatrix
from sdcensus.model.linked.cubes import LinkedCubes
from sdcensus.model.linked.tables import LinkedTables
from sdcensus.model.progress import Progress, no_progress
from sdcensus.solvers.audit.atoms import atoms_of, equations_with_atoms
from sdcensus.solvers.audit.audit import audit_system
from sdcensus.solvers.audit.certificate import Side, certificate
from sdcensus.solvers.audit.intervals import CellIntervals
from sdcensus.solvers.audit.system import FREE, AuditSystem

Int64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

#: More primary cells are not audited by programs, only by single sums.
MOST_AUDITED = 3_000
#: Primary cells up to which room is looked for over whole numbers; beyond, programs have to do.
MOST_WHOLE = 500
#: Those who are alone times primary cells, up to which each of them is thought of by programs.
MOST_PAIRS = 4_000
#: Cells for which a proof is looked for at a time.
_PROVEN = 3
#: Cells that a message names.
_NAMED = 5
#: What is said where several tables tell more than their sums, and there are too many.
BY_SUMS = (
    "The tables have too many combinations of codes to look at all: cells are protected by the sums"
    " of the tables, and what the tables tell together beyond them is not looked at."
)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Widened(Confidential):
    """Cells that are closed so that every primary one has room, and what was asked for them.

    Attributes:
        closed: The cells.
        audit: What says which values are possible.
        room: How much room each primary cell has to have.
        known: A cell for each of those who are alone in a closed one and were thought of.
        statement: What is said of it, for the office.
    """

    closed: Mask
    audit: RoomAudit
    room: Room
    known: tuple[int, ...]
    statement: str

    def __repr__(self) -> str:
        return f"<Widened: {self.closed.size} cells, confidential>"


def widened(
    linked: LinkedCubes,
    problem: SuppressionProblem,
    closed: Mask,
    *,
    width: int,
    insiders: Insiders | None = None,
    progress: Progress = no_progress,
) -> Widened:
    """Close further cells until every primary one has room.

    Args:
        linked: The tables.
        problem: What is asked.
        closed: Cells that are closed already.
        width: How far apart the smallest and the largest possible value of a primary cell have to
            be, 1 or more.
        insiders: Those for whom one value must not be left either; ``None`` for nobody.
        progress: Told how far it is.

    Raises:
        SpecError: There is no room, whatever else is closed.
    """
    audit = RoomAudit.of(linked, problem)
    room = audit.possible(Room.of(problem, width), progress)
    now = audit.with_room(closed, problem.primary, room, progress)
    said = audit.statement
    known: tuple[int, ...] = ()
    if insiders is not None:
        now, known, thought_of = audit.with_room_inside(now, insiders, progress)
        said += " So was what those know who are alone in one." if known and thought_of else ""
    if problem.reach is not None and problem.reach.many_combined:
        said += f" {BY_SUMS}"
    return Widened(now, audit, room, known, said)


def proven(
    linked: LinkedCubes,
    problem: SuppressionProblem,
    closed: Mask,
    *,
    width: int,
    insiders: Insiders | None = None,
) -> Widened:
    """The same for cells of which an engine has proven already that every primary one has room."""
    known = () if insiders is None else tuple(insiders.each(closed))
    said = "Each primary cell was proven to have room, by changes of whole numbers."
    said += " So was what those know who are alone in one." if known else ""
    return Widened(closed, RoomAudit.of(linked, problem), Room.of(problem, width), known, said)


class Way(Enum):
    """How intervals are found: by sums one by one, by linear programs, over whole numbers."""

    SINGLE_SUMS = 0
    PROGRAMS = 1
    WHOLE_NUMBERS = 2


WAYS = tuple(Way)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RoomAudit:
    """What is solved again and again, with more cells closed each time."""

    linked: LinkedCubes
    problem: SuppressionProblem
    equations: SparseMatrix
    ways: tuple[Way, ...]

    @classmethod
    def of(cls, linked: LinkedCubes, problem: SuppressionProblem) -> RoomAudit:
        """The equations: with combinations of codes where they say more, and there are few.

        The ways are chosen by how many primary cells there are, never by how far a search came:
        the same tables close the same cells.
        """
        primary = int(problem.primary.sum())
        whole = problem.reach is None and primary <= min(MOST_AUDITED, MOST_WHOLE)
        ways = WAYS[: 1 + (primary <= MOST_AUDITED) + whole]
        tables = linked.tables
        looked_at = problem.reach is None or problem.reach.combined is not None
        looked_at = looked_at and len(ways) > 1 and say_more_than_sums(linked)
        atoms = looked_at and 0 < atoms_of(tables) <= MOST_ATOMS
        equations = equations_with_atoms(tables) if atoms else tables.equations
        return cls(linked, problem, equations, ways)

    @property
    def tables(self) -> LinkedTables:
        """The tables."""
        return self.linked.tables

    @property
    def has_combinations(self) -> bool:
        """Whether combinations of codes are cells behind those of the tables."""
        return self.equations.shape[1] > self.problem.size

    @property
    def statement(self) -> str:
        """How primary cells were looked at, for the office."""
        if self.problem.reach is not None and Way.PROGRAMS in self.ways:
            return "Each primary cell was audited by linear programs."
        if Way.WHOLE_NUMBERS in self.ways:
            return "Each primary cell was audited."
        if Way.PROGRAMS in self.ways:
            return (
                "Each primary cell was audited by linear programs. Over whole numbers that is done"
                f" for up to {MOST_WHOLE:,} primary cells."
            )
        return (
            "No primary cell is a sum or difference of open ones, nor settled by a single sum. What"
            " several sums leave together was not audited: that is done for up to"
            f" {MOST_AUDITED:,} primary cells."
        )

    def possible(self, wanted: Room, progress: Progress) -> Room:
        """What is asked of sums, downwards no farther than they go with everything closed.

        Cells of other tables hold somebody, who has to be somewhere.
        """
        problem = self.problem
        if problem.reach is None or problem.reach.combined is None or problem.forced.any():
            return wanted
        everything = problem.shown & (problem.counts > 0)
        intervals = self.intervals(everything, problem.primary, None, Way.PROGRAMS, progress)
        bounded = problem.primary & intervals.bounded
        return wanted.not_below(np.where(bounded, intervals.lower, wanted.low))

    def with_room(
        self, closed: Mask, asked: Mask, wanted: Room, progress: Progress, known: int | None = None
    ) -> Mask:
        """Close further cells until those that are asked for have room.

        Args:
            closed: Cells that are closed already.
            asked: The cells.
            wanted: How much room.
            progress: Told how far it is.
            known: A closed cell whose value somebody knows.
        """
        now = closed.copy()
        settled = np.zeros_like(asked)
        # What is quick to see is mended first: whatever is found by less stands.
        for way in self.ways:
            narrow = asked & ~settled
            while narrow.any():
                intervals = self.intervals(now, narrow, known, way, progress)
                distance = intervals.upper - intervals.lower
                room = np.where(intervals.bounded, distance, wanted.needed)
                # Whatever is closed, no interval becomes narrower: the others have room for good.
                settled |= narrow & self._reached(intervals, wanted)
                narrow = narrow & wanted.lacking(intervals.lower, intervals.upper)
                further = np.zeros(0, dtype=np.int64)
                if way is not Way.SINGLE_SUMS:
                    further = self._proving(now, narrow, known, intervals, wanted)
                if not further.size:
                    further = self._further(now, narrow, room, wanted)
                now[further] = True
        return now

    def with_room_inside(
        self, closed: Mask, insiders: Insiders, progress: Progress
    ) -> tuple[Mask, tuple[int, ...], bool]:
        """Close further cells until nobody who is alone in a closed one can tell another.

        Whatever is closed for one of them, no interval of another becomes narrower; but cells are
        closed in which others are alone, who come next.

        Returns:
            The closed cells; a cell for each of those who were thought of; and whether those
            are all.
        """
        now, wanted = closed, self.room_inside()
        known: dict[int, int] = {}
        while True:
            alone = [cell for cell in insiders.each(now) if int(insiders.group[cell]) not in known]
            thought_of = tuple(known.values())
            if not alone:
                return now, thought_of, True
            known.update((int(insiders.group[cell]), cell) for cell in alone)
            if len(known) * int(self.problem.primary.sum()) > MOST_PAIRS:
                return now, thought_of, False
            for cell in alone:
                others = self.others(insiders, cell)
                now = self.with_room(now, others, wanted, progress, known=cell)

    def room_inside(self) -> Room:
        """How much room is asked where somebody alone in a cell knows that nobody else is."""
        wanted = Room.of(self.problem, 1)
        return wanted if self.problem.reach is None else wanted.upwards(self.problem)

    def others(self, insiders: Insiders, cell: int) -> Mask:
        """The primary cells of others than who is alone in a cell."""
        inside = self.problem.primary & (self.problem.counts > 0)
        return np.asarray(inside & (insiders.group != insiders.group[cell]))

    def has_room(
        self, closed: Mask, asked: Mask, wanted: Room, progress: Progress, known: int | None = None
    ) -> bool:
        """Whether cells have room with nothing else closed: what ``with_room`` closes cells for."""
        for way in self.ways:
            intervals = self.intervals(closed, asked, known, way, progress)
            if (asked & wanted.lacking(intervals.lower, intervals.upper)).any():
                return False
        return True

    def _reached(self, intervals: CellIntervals, wanted: Room) -> Mask:
        """Cells that have room over whole numbers: the true table is one, and others are known."""
        values = self.problem.values
        low = np.where(intervals.reached_lower, intervals.lower, values)
        high = np.where(intervals.reached_upper, intervals.upper, values)
        return ~wanted.lacking(low, high)

    def _proving(
        self,
        closed: Mask,
        narrow: Mask,
        known: int | None,
        intervals: CellIntervals,
        wanted: Room,
    ) -> Int64:
        """For the first cells that are too narrow, the last in the order of what proves a bound.

        Several sums hold them together, and the proof says which open cells it needs.
        """
        problem = self.problem
        system = self.system(closed, known)
        unknowns = system.unknowns()
        free, place = free_cells(problem, closed), places_of(problem)
        chosen = []
        bounds = {Side.UPPER: intervals.upper, Side.LOWER: intervals.lower}
        lacks = {side: wanted.lacking(intervals.lower, intervals.upper, side) for side in bounds}
        for cell in np.flatnonzero(narrow)[:_PROVEN].tolist():
            for side, bound in bounds.items():
                if not lacks[side][cell]:
                    continue
                proof = certificate(system, unknowns, cell, side, int(bound[cell]))
                terms = [] if proof is None else [number for number, _ in proof.published]
                opened = [number for number in terms if number < problem.size and free[number]]
                if opened:
                    chosen.append(max(opened, key=lambda number: int(place[number])))
                    break
        return np.unique(np.array(chosen, dtype=np.int64))

    def _further(self, closed: Mask, narrow: Mask, room: Int64, wanted: Room) -> Int64:
        """What is closed for cells that are too narrow, by their sums one by one."""
        cells = np.flatnonzero(narrow)
        further = further_cells(self.problem, closed, room, cells, wanted.needed)
        if cells.size and not further.size:
            names = " | ".join(self.tables.name(cell) for cell in cells[:_NAMED].tolist())
            raise SpecError(
                f"{cells.size} cells that may not be shown have fewer possible values than asked,"
                f" whatever else is closed: {names}. Ask for less ({self._asking}), or leave the"
                " cells out."
            )
        return further

    @property
    def _asking(self) -> str:
        return "width" if self.problem.reach is None else "width, or the rules about contributions"

    def intervals(
        self, closed: Mask, asked: Mask, known: int | None, way: Way, progress: Progress
    ) -> CellIntervals:
        """What can be computed of the cells that are asked for."""
        problem = self.problem
        more = self.equations.shape[1] - problem.size
        return audit_system(
            self.system(closed, known),
            asked=_with(asked, more, False),
            integer=way is Way.WHOLE_NUMBERS,
            programs=way is not Way.SINGLE_SUMS,
            # A true table is known of changes: nothing changes.
            solution=None if more and problem.reach is None else _with(problem.values, more, 0),
            workers=1 if way is Way.WHOLE_NUMBERS else None,
            progress=lambda stage, done: progress(f"audit: {stage}", done),
        ).first(problem.size)

    def system(self, closed: Mask, known: int | None) -> AuditSystem:
        """What readers know, or somebody who is alone in a cell."""
        problem = self.problem
        more = self.equations.shape[1] - problem.size
        hidden = closed | ~problem.shown
        upper = np.full(self.equations.shape[1], FREE, dtype=np.int64)
        lower = _with(problem.least, more, 0).astype(np.int64)
        if problem.reach is not None:
            upper[: problem.size] = problem.reach.most
            if problem.reach.combined is not None and more:
                below, above = problem.reach.combined
                lower[problem.size :], upper[problem.size :] = -below, above
        if known is not None:
            upper[known] = problem.values[known]
            if problem.reach is not None:
                lower[known] = problem.values[known]
        return AuditSystem.of(
            self.equations,
            _with(np.where(hidden, 0, problem.values), more, 0),
            _with(hidden, more, True),
            lower=lower,
            upper=upper,
        )


def _with(array: npt.NDArray[np.generic], more: int, value: int) -> npt.NDArray[np.generic]:
    """An array of the cells, with one value for all further ones."""
    return np.append(array, np.full(more, value, dtype=array.dtype))
