"""Looking for a solution with small deviations: first solutions, descents, searches, restarts.

What may be done is counted in moves that are looked at, so that every machine ends at the same
solution. A clock is the net below it; it and a person who interrupts keep the best so far.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.kernels.keys.siphash import siphash24
from sdcensus.kernels.safe.homes import bring_nearer, send_home
from sdcensus.kernels.safe.problem import State
from sdcensus.kernels.safe.search import descend, go_back, search_worst
from sdcensus.kernels.safe.start import repair_all
from sdcensus.microdata.method import Draws
from sdcensus.microdata.safe.problem import Problem, run_key
from sdcensus.model.confidential import Confidential
from sdcensus.model.progress import Progress

Integers = npt.NDArray[Any]
Int64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

#: Moves that are looked at before somebody is told how far it is.
_PIECE = 250_000
#: Combinations that are repaired before somebody is told how far it is.
_REPAIRED = 5_000
#: How often combinations with too few are gone through before it is given up.
_ROUNDS = 40
#: A descent ends when fewer than this share of the combinations with units still gain.
_STILL_GAINS = 0.002
#: Descents of one run at most.
_MOST_DESCENTS = 12
#: How often descents and searches take turns.
_TURNS = 8
#: The share of the work that goes on with the best of several runs.
_LAST_SHARE = 0.5
#: Lines of a diary at most.
_LONGEST_DIARY = 1 << 20
#: Powers of deviations that a first solution and a search look at: the higher, the more the
#: largest ones count.
_START_POWER, _SEARCH_POWER = 2, 4


class Ended(StrEnum):
    """Why a search ended."""

    NOTHING_TO_DO = "nothing_to_do"
    WORK = "work"
    CLOCK = "clock"
    STOPPED = "stopped"
    PROVEN = "proven"


@dataclass(frozen=True, slots=True, order=True, repr=False)
class Score(Confidential):
    """How good a solution is; smaller is better.

    Attributes:
        worst: The largest deviation, divided by its weight, times the common multiple of weights.
        ties: How many control cells have it.
        squares: The sum of the squares of all deviations.
    """

    worst: int
    ties: int
    squares: int


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Found(Confidential):
    """What a search found.

    Attributes:
        cells: For each unit its combination.
        score: How good it is.
        ended: Why it ended.
        looked: How many moves were looked at.
        scores: The best so far, after each piece of work.
    """

    cells: Int64
    score: Score
    ended: Ended
    looked: int
    scores: tuple[Score, ...] = ()

    def __repr__(self) -> str:
        return "<Found: confidential>"

    @property
    def repeatable(self) -> bool:
        """Whether every machine finds the same."""
        return self.ended not in (Ended.CLOCK, Ended.STOPPED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """How much may be done.

    Attributes:
        moves: How many moves are looked at.
        restarts: How often it begins anew.
        seconds: By the clock.
    """

    moves: int
    restarts: int = 0
    seconds: float = float("inf")


@dataclass(slots=True, repr=False)
class Watch(Confidential):
    """Looks at the clock, and tells how far the work is.

    Attributes:
        effort: How much may be done.
        multiple: By what worst deviations were multiplied.
        progress: Told.
        clock: What time it is.
    """

    effort: Effort
    multiple: int
    progress: Progress
    clock: Callable[[], float] = time.monotonic
    ended: Ended = Ended.WORK
    scores: list[Score] = field(default_factory=list)
    looked: Int64 = field(default_factory=lambda: np.zeros(1, dtype=np.int64))
    _began: float = 0.0

    def __post_init__(self) -> None:
        self._began = self.clock()

    def again(self, share: int) -> Watch:
        """A watch for a part of the work that begins anew, and the same clock."""
        left = self.effort.seconds - (self.clock() - self._began)
        effort = Effort(moves=self.effort.moves // share, seconds=max(left, 0.0))
        return Watch(effort, self.multiple, self.progress, self.clock)

    def goes_on(self, best: Score | None) -> bool:
        """Tell how far it is, and whether there is time."""
        share = min(1.0, int(self.looked[0]) / max(self.effort.moves, 1))
        if best is None:
            self.progress("a first solution", share)
        else:
            self.scores.append(best)
            worst = best.worst / self.multiple
            self.progress(f"largest deviation so far {worst:,.4g}", share)
        if self.clock() - self._began > self.effort.seconds:
            self.ended = Ended.CLOCK
        return self.ended is Ended.WORK


class _Run(Confidential):
    """One run: a state, the best that it had, and what was done since."""

    def __init__(self, problem: Problem, state: State) -> None:
        self.problem, self.state = problem, state
        cells = problem.found.counts.size
        self.diary = np.zeros((min(_LONGEST_DIARY, 8 * cells + 1024), 2), dtype=np.int32)
        self.tabu = np.zeros((cells, 2), dtype=np.int64)
        self.record = np.zeros(4, dtype=np.int64)
        self.note()

    def note(self) -> None:
        """Keep the state as the best one."""
        state = self.state
        self.record[:3] = state.levels[1], state.ties[1], state.squares[0]
        self.diary[0, 0] = 0

    @property
    def best(self) -> Score:
        worst, ties, squares = (int(number) for number in self.record[:3])
        return Score(worst, ties, squares)

    def come_back(self) -> Int64:
        """The best state; for each unit its combination."""
        go_back(self.problem.layout, self.state, self.diary)
        return self.state.cells.astype(np.int64)


def made_safe(problem: Problem, state: State, watch: Watch) -> None:
    """Change a state until no combination has too few units.

    Raises:
        SpecError: Edit rules leave no way.
    """
    table = problem.costs(_START_POWER)
    stuck = -1
    for _ in range(_ROUNDS):
        small = np.flatnonzero((state.counts > 0) & (state.counts < problem.least))
        if not small.size:
            return
        for piece in _pieces(_mixed(small, state), _REPAIRED):
            largest = int(state.counts.max()) + problem.least
            stuck = max(
                stuck, repair_all(problem.layout, state, table, piece, largest, watch.looked)
            )
            watch.goes_on(None)
    cell = int(stuck if stuck >= 0 else small[0])
    block = problem.found.name_of_block(int(problem.found.blocks[cell]))
    where = f" in {block}" if block else ""
    raise SpecError(
        f"Edit rules of the schema leave no way to give every combination{where} none or at least"
        f" {problem.least} {problem.found.listed.unit.plural}. List the variables that the rules"
        " name besides, list coarser levels, or leave out what the rules tie."
    )


def _pieces(order: Int64, size: int) -> Iterator[Int64]:
    for start in range(0, order.size, size):
        yield order[start : start + size]


def _mixed(cells: Int64, state: State) -> Int64:
    """Combinations in a drawn order."""
    key = state.stream[:2].astype("<u8").tobytes()
    words = np.stack([cells.astype(np.uint64), np.full(cells.size, state.stream[2])], axis=1)
    state.stream[2] += np.uint64(1)
    return cells[np.lexsort((cells, siphash24(key, words.astype(np.uint64))))]


def _improve(run: _Run, watch: Watch, until: int) -> None:
    """In turns descend as long as it gains, and search through the worst control cells."""
    began = int(watch.looked[0])
    turn = max((until - began) // _TURNS, 1)
    while watch.looked[0] < until and run.best.worst > 0:
        if not _descended(run, watch, until):
            return
        if not _searched_through(run, watch, min(until, int(watch.looked[0]) + turn)):
            return
        run.come_back()


def _descended(run: _Run, watch: Watch, until: int) -> bool:
    """Make every move that is a gain, until few are; whether there is time to go on."""
    problem, state = run.problem, run.state
    table = problem.costs(_SEARCH_POWER)
    for _ in range(_MOST_DESCENTS):
        order = _mixed(np.flatnonzero(state.counts > 0), state)
        gained = 0
        for piece in _pieces(order, max(_PIECE // 25, 1)):
            if watch.looked[0] >= until:
                return True
            if not watch.goes_on(run.best):
                return False
            gained += descend(
                problem.layout, state, table, piece, run.record, run.diary, watch.looked, until
            )
        if gained <= _STILL_GAINS * order.size:
            break
    return True


def _searched_through(run: _Run, watch: Watch, until: int) -> bool:
    """Make moves through the worst control cells; whether there is time to go on."""
    problem, state = run.problem, run.state
    table = problem.costs(_SEARCH_POWER)
    while watch.looked[0] < until and run.best.worst > 0:
        if not watch.goes_on(run.best):
            return False
        piece = min(until, int(watch.looked[0]) + _PIECE)
        search_worst(
            problem.layout, state, table, run.record, run.diary, run.tabu, watch.looked, piece
        )
    return True


def searched(
    problem: Problem,
    draws: Draws,
    watch: Watch,
    *,
    begin: Int64 | None = None,
    frozen: Mask | None = None,
    first_run: int = 0,
) -> Found:
    """Look for a solution with small deviations.

    Args:
        problem: The problem.
        draws: Draws of the office secret.
        watch: How much may be done, and whom to tell.
        begin: For each unit its combination to begin with; its own if nothing is said.
        frozen: Which units have to stay as they are.
        first_run: The number of the first run, by which it draws.

    Raises:
        SpecError: Edit rules leave no way.
    """
    homes = problem.found.homes
    stays = np.zeros(homes.size, dtype=bool) if frozen is None else frozen
    cells = homes if begin is None else begin
    best: Found | None = None
    effort = watch.effort
    runs = effort.restarts + 1 if begin is None else 1
    share = 1.0 if runs == 1 else 1.0 - _LAST_SHARE
    first = int(watch.looked[0])
    for number in range(runs):
        run = _Run(problem, problem.state(cells, stays, run_key(draws, first_run + number)))
        if best is not None and not watch.goes_on(best.score):
            break
        try:
            made_safe(problem, run.state, watch)
            run.note()
            until = first + int(effort.moves * share * (number + 1) / runs)
            _improve(run, watch, until)
        except KeyboardInterrupt:
            if best is None and _has_too_few(problem, run.state):
                raise
            watch.ended = Ended.STOPPED
        if not _has_too_few(problem, run.state) and (best is None or run.best < best.score):
            score = run.best
            best = Found(run.come_back(), score, watch.ended, int(watch.looked[0]))
        if watch.ended is not Ended.WORK:
            break
    assert best is not None
    if runs > 1 and watch.ended is Ended.WORK:
        best = _continued(problem, run_key(draws, runs), watch, best, stays, first + effort.moves)
    return Found(best.cells, best.score, watch.ended, int(watch.looked[0]), tuple(watch.scores))


def _continued(
    problem: Problem,
    key: npt.NDArray[np.uint64],
    watch: Watch,
    best: Found,
    frozen: Mask,
    until: int,
) -> Found:
    """Go on with the best of several runs."""
    run = _Run(problem, problem.state(best.cells, frozen, key))
    try:
        _improve(run, watch, until)
    except KeyboardInterrupt:
        watch.ended = Ended.STOPPED
    score = run.best
    return Found(run.come_back(), score, watch.ended, int(watch.looked[0]))


def _has_too_few(problem: Problem, state: State) -> bool:
    return bool(((state.counts > 0) & (state.counts < problem.least)).any())


def settled(problem: Problem, cells: Int64, frozen: Mask, codes: Integers) -> Int64:
    """The same counts with as many units as possible at home, and the others near to it.

    Args:
        problem: The problem.
        cells: For each unit its combination.
        frozen: Which units have to stay as they are.
        codes: For each combination its codes, at all levels that count.
    """
    state = problem.state(cells, frozen, np.zeros(3, dtype=np.uint64))
    for _ in range(_ROUNDS):
        if not send_home(problem.layout, state):
            break
    for _ in range(4):
        if not bring_nearer(problem.layout, state, codes):
            break
    return state.cells.astype(np.int64)
