"""The least change of some tables that meets what is asked, or which cells stand in the way.

The ways of sensitive cells come first: drawn, or the cheapest of some choices. For these ways a
linear program finds the least change. In tables of two axes it is in whole numbers already; where
it is not, units are moved until it is. Then, where that is asked for and nothing is proven yet, the
program of whole numbers is solved, within limits. Tables too large for linear programs are changed
by moving units alone, and so are those for which the clock, or a person, leaves no time for linear
programs. Every solution is checked in whole numbers.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from threading import Thread

import numpy as np

from sdcensus.errors import SpecError
from sdcensus.methods.tabular_adjustment.program import AdjustmentModel
from sdcensus.methods.tabular_adjustment.requirements import Int64, Mask, Requirements, named
from sdcensus.methods.tabular_adjustment.senses import Draws, alternating, drawn_senses
from sdcensus.methods.tabular_adjustment.unit_search import UnitSearch
from sdcensus.model.linked.cubes import LinkedCubes
from sdcensus.model.progress import Progress, no_progress
from sdcensus.solvers.limits import NO_LIMITS, Limits
from sdcensus.solvers.program import LinearProgram, Solution, Status
from sdcensus.solvers.report import SolutionReport
from sdcensus.solvers.solve import Solver, reported, solve

WHAT = "sum of weighted changes"
#: How far from a relaxed solution whole numbers are looked for, step by step.
_NEIGHBOURS = (0, 1, 3)
#: How often drawn ways are mended before a search decides.
_MENDED = 3
#: How often whoever waits for a solver looks whether somebody wants it to stop.
_PATIENCE = 0.2
#: What is done for rounding a relaxed solution.
_ROUNDING = Limits(steps=20, gap=0.01)


class Effort(StrEnum):
    """How hard the least change is looked for.

    ``fast``: by linear programs, with the gap reported. ``exact``: proven by integer programming,
    within the limits. ``auto``: exact for small tables, fast for large ones.
    """

    AUTO = "auto"
    EXACT = "exact"
    FAST = "fast"


class Senses(StrEnum):
    """Whether cells go up or down: drawn from the secret, or as the least change has it."""

    DRAWN = "drawn"
    BEST = "best"


#: Up to so many cells that can change, ``auto`` proves the least change.
AUTO_CELLS = 2_000
#: Up to so many, linear programs are solved; beyond, units are moved one by one.
MOST_RELAXED = 40_000


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchOptions:
    """How the least change is looked for."""

    senses: Senses = Senses.DRAWN
    effort: Effort = Effort.AUTO
    solver: Solver = Solver.HIGHS
    limits: Limits = NO_LIMITS


def least_change(
    linked: LinkedCubes,
    asked: Requirements,
    draws: Draws,
    options: SearchOptions,
    progress: Progress = no_progress,
) -> tuple[Int64, SolutionReport]:
    """The change of every cell, and how near it is to the least.

    Raises:
        SpecError: What is asked cannot be met; the cells are named.
    """
    tables = linked.tables
    asked.check(tables)
    if not asked.sensitive.any():
        none = np.zeros(tables.size, dtype=np.int64)
        report = SolutionReport(what=WHAT, status=Status.OPTIMAL, objective=0, bound=0)
        return none, report
    model = AdjustmentModel.of(tables, asked, draws)
    best = _Search(linked, model, options, progress).run()
    if not (tables.adds_up(best.change) and asked.met_by(best.change)):
        raise SpecError(
            "The change that a solver found does not hold in whole numbers. Take the effort 'fast'"
            " or another solver."
        )
    return best.change, best.report(model)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _Best:
    """A change of all cells, and what no change costs less than if draws count as well."""

    change: Int64
    bound: float
    status: Status
    repeatable: bool = True
    remarks: tuple[str, ...] = ()

    def report(self, model: AdjustmentModel) -> SolutionReport:
        cost = model.asked.cost(self.change)
        bound = model.least_cost(self.bound, cost)
        proven = bound >= cost
        return SolutionReport(
            what=WHAT,
            status=Status.OPTIMAL if proven else self.status,
            objective=cost,
            bound=bound,
            repeatable=self.repeatable or proven,
            remarks=self.remarks,
        )


class _OutOfTime(Exception):
    """The clock ended a program on which all others depend."""


class _Search:
    """One search; what has been found so far is kept for whoever interrupts it."""

    def __init__(
        self,
        linked: LinkedCubes,
        model: AdjustmentModel,
        options: SearchOptions,
        progress: Progress,
    ) -> None:
        self._linked, self._tables, self._model = linked, linked.tables, model
        self._options, self._progress = options, progress
        self._moving: UnitSearch | None = None
        self._began = time.monotonic()

    @property
    def _units(self) -> UnitSearch:
        """The sets of records behind the cells; counted when they are first needed."""
        if self._moving is None:
            atoms = self._linked.every_atom
            self._moving = UnitSearch(atoms, self._model.asked, self._model.draws)
        return self._moving

    def run(self) -> _Best:
        """The best change that is found."""
        options, model = self._options, self._model
        self._progress("looking for the least change", 0.0)
        if model.cells.size > MOST_RELAXED:
            large = self._by_units()
            if large is not None:
                return self._told(large)
        try:
            best, senses = self._by_programs()
        except (_OutOfTime, KeyboardInterrupt) as ended:
            return self._told(self._instead(ended))
        small = model.cells.size <= AUTO_CELLS
        exact = options.effort is Effort.EXACT or (options.effort is Effort.AUTO and small)
        if exact and best.report(model).status is not Status.OPTIMAL:
            best = self._proven(best, senses)
        return self._told(best)

    def _by_programs(self) -> tuple[_Best, Mask]:
        if self._options.senses is Senses.DRAWN:
            return self._for_senses(self._drawn())
        return self._for_best_senses()

    def _instead(self, ended: BaseException) -> _Best:
        """A change by moving units, where there was no time for programs."""
        best = self._by_units()
        if best is not None:
            stopped = isinstance(ended, KeyboardInterrupt)
            status = Status.STOPPED if stopped else Status.LIMIT
            return replace(best, status=status, repeatable=False)
        if isinstance(ended, KeyboardInterrupt):
            raise ended
        raise SpecError(
            "No change was found within the time that protects all cells. Allow more of it, fix"
            " fewer cells, or take lower protection levels."
        ) from None

    def _drawn(self) -> Mask:
        """Drawn ways of cells that do not contradict each other where sums are."""
        return self._units.agreeing(drawn_senses(self._model.asked, self._model.draws))

    def _by_units(self) -> _Best | None:
        """A change of tables that are too large for programs; ``None`` where it fails."""
        asked = self._model.asked
        senses = self._drawn()
        change = self._units.change(senses)
        if not self._sound(change):
            return None
        needed = np.minimum(
            np.where(asked.can_fall, asked.down, asked.up),
            np.where(asked.can_rise, asked.up, asked.down),
        )
        if self._options.senses is Senses.DRAWN:
            needed = np.where(senses, asked.up, asked.down)
        bound = int((needed * asked.weight)[asked.sensitive].sum())
        return _Best(change, float(bound), Status.LIMIT)

    def _for_senses(self, senses: Mask) -> tuple[_Best, Mask]:
        """The least change for these ways, or for near ones where they cannot be taken."""
        senses, fixed = self._feasible(senses)
        return self._rounded(senses, fixed), senses

    def _for_best_senses(self) -> tuple[_Best, Mask]:
        """The cheapest of several choices of ways, with what no choice is below."""
        model = self._model
        relaxed = self._relaxed(model.with_free_senses())
        choices = [self._drawn(), self._units.agreeing(alternating(model.asked, model.draws))]
        if relaxed.has_values:
            choices.append(model.found_senses(relaxed.values))
        bound = relaxed.bound if relaxed.has_values else 0.0
        tried: list[tuple[_Best, Mask]] = []
        for senses in choices:
            try:
                tried.append(self._for_senses(senses))
            except KeyboardInterrupt:
                if not tried:
                    raise
                break
        best, senses = min(tried, key=lambda pair: model.asked.cost(pair[0].change))
        return replace(best, bound=bound), senses

    def _told(self, best: _Best) -> _Best:
        """The same with what the office should know of it."""
        asked = self._model.asked
        moved = int(np.count_nonzero(best.change[self._tables.published]))
        remarks = [
            f"Cells that may not be shown as they are: {int(asked.sensitive.sum()):,}. Published"
            f" with another number: {moved:,} of {int(self._tables.published.sum()):,}."
        ]
        return replace(best, remarks=tuple(remarks))

    def _proven(self, best: _Best, senses: Mask) -> _Best:
        """The solution of the program of whole numbers, where it is better than what is known."""
        model, options = self._model, self._options
        free = options.senses is Senses.BEST
        program = model.with_free_senses() if free else model.with_senses(senses)
        try:
            found = self._solved(program, options.limits)
        except _OutOfTime:
            return replace(best, repeatable=False)
        if found is None:  # stopped by a person: what is known is kept
            return replace(best, status=Status.STOPPED, repeatable=False)
        bound = max(best.bound, found.bound)
        if not found.has_values:
            return replace(best, bound=bound, repeatable=found.repeatable)
        change = model.change(found.values)
        if not (self._tables.adds_up(change) and model.asked.met_by(change)):
            return replace(best, bound=bound)
        # What is found last is also what draws decide among equals.
        if model.asked.cost(change) > model.asked.cost(best.change):
            change = best.change
        return _Best(change, bound, found.status, found.repeatable)

    def _rounded(self, senses: Mask, fixed: Solution) -> _Best:
        """A change in whole numbers near a relaxed one."""
        model = self._model
        bound = fixed.bound
        program = model.with_senses(senses)
        change = model.change(fixed.values)
        if not self._sound(change):
            change = self._units.change(senses, model.relaxed_change(fixed.values))
        if self._sound(change):
            return _Best(change, bound, Status.LIMIT)
        for far in _NEIGHBOURS:
            near = replace(
                program,
                lower=np.maximum(program.lower, np.floor(fixed.values + 1e-6) - far),
                upper=np.minimum(program.upper, np.ceil(fixed.values - 1e-6) + far),
            )
            found = self._solved(near, _ROUNDING, quiet=True)
            if found is None:
                raise KeyboardInterrupt
            if found.has_values and self._sound(model.change(found.values)):
                return _Best(model.change(found.values), bound, Status.LIMIT)
        found = self._solved(program, self._options.limits)
        if found is None:
            raise KeyboardInterrupt
        if found.has_values and self._sound(model.change(found.values)):
            change = model.change(found.values)
            return _Best(change, found.bound, found.status, found.repeatable)
        self._refuse(senses)
        raise SpecError(
            "No table of whole numbers was found within the limits in which all of these cells are"
            " protected. Allow more work, fix fewer cells, or take lower protection levels."
        )

    def _sound(self, change: Int64) -> bool:
        return self._tables.adds_up(change) and self._model.asked.met_by(change)

    def _feasible(self, senses: Mask) -> tuple[Mask, Solution]:
        """Ways of cells for which there is a change, and the least one in any numbers."""
        model = self._model
        for _ in range(_MENDED):
            fixed = self._relaxed(model.with_senses(senses))
            if fixed.has_values:
                return senses, fixed
            mended = self._solved(
                _relaxed(model.nearest_senses(senses, unprotected=False)), Limits(), quiet=True
            )
            if mended is None:
                raise KeyboardInterrupt
            if not mended.has_values:
                break
            turned = model.found_senses(mended.values)
            if (turned == senses).all():
                break
            senses = turned
        senses = self._refuse(senses)
        fixed = self._relaxed(model.with_senses(senses))
        if not fixed.has_values:
            raise SpecError(
                "No change was found within the limits that protects all cells. Allow more work,"
                " fix fewer cells, or take lower protection levels."
            )
        return senses, fixed

    def _refuse(self, senses: Mask) -> Mask:
        """Ways of cells near the given ones; where there are none, the cells that stand in the way.

        Raises:
            SpecError: Not all cells can be protected; those that cannot are named.
        """
        model = self._model
        self._progress("looking for cells that stand in the way", 0.0)
        found = self._solved(model.nearest_senses(senses, unprotected=True), self._options.limits)
        if found is None:
            raise KeyboardInterrupt
        if not found.has_values:
            return senses
        left = model.unprotected(found.values)
        if left.size:
            raise SpecError(
                "Not all cells that may not be shown can be moved while totals are sums, bounds"
                " hold and other cells stay as they are. It fails at:"
                f" {named(self._tables, left)}. Let more totals, zeros or cells change, allow"
                " larger changes, or take lower protection levels."
            )
        return model.found_senses(found.values)

    def _relaxed(self, program: LinearProgram) -> Solution:
        found = self._solved(_relaxed(program), Limits(), quiet=True)
        if found is None:
            raise KeyboardInterrupt
        return found

    def _solved(
        self, program: LinearProgram, limits: Limits, *, quiet: bool = False
    ) -> Solution | None:
        """What a solver finds, in units of weights; ``None`` where a person stopped it."""
        limits = self._within(limits)
        solver = self._options.solver if program.integer.all() else Solver.HIGHS
        scale = self._model.scale
        if solver is Solver.HIGHS:
            # Near to 1, costs are better understood; a power of two divides without an error.
            scaled = program.with_cost(program.cost / scale)
            answer = _interruptible(lambda: solve(scaled, solver, limits=limits))
            if answer is not None and answer.status is Status.LIMIT and not program.integer.any():
                raise _OutOfTime
            return answer
        tell = None if quiet else reported(self._progress, "changing as little as possible")
        try:
            found = solve(program, solver, limits=limits, search=tell)
        except KeyboardInterrupt:
            return None
        return replace(found, objective=found.objective / scale, bound=found.bound / scale)

    def _within(self, limits: Limits) -> Limits:
        """The limits of one program, within the time that is left for all of them."""
        seconds = self._options.limits.seconds
        if seconds is None:
            return limits
        left = seconds - (time.monotonic() - self._began)
        if left <= 0:
            raise _OutOfTime
        return replace(limits, seconds=left)


def _relaxed(program: LinearProgram) -> LinearProgram:
    """The same program in any numbers."""
    return replace(program, integer=np.zeros(program.width, dtype=bool))


def _interruptible(work: Callable[[], Solution]) -> Solution | None:
    """Let a solver work that cannot be stopped; ``None`` where somebody does not want to wait.

    It then ends by its own limits, and nobody looks at what it finds.
    """
    ended: list[Solution] = []
    failure: list[BaseException] = []

    def run() -> None:
        try:
            ended.append(work())
        except BaseException as error:  # raised again by whoever waits
            failure.append(error)

    thread = Thread(target=run, name="highs", daemon=True)
    thread.start()
    try:
        while thread.is_alive():
            thread.join(_PATIENCE)
    except KeyboardInterrupt:
        return None
    if failure and isinstance(failure[0], KeyboardInterrupt):
        return None
    if failure:
        raise failure[0]
    return ended[0]
