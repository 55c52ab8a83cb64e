"""Counting the tables of a schedule: few passes over the records, bounded memory."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Collection

from sdcensus.engine.requests import Engine, Tabulate
from sdcensus.errors import UnknownName
from sdcensus.model.cube.sparse_cube import AnyCube
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.schema.variable import Entity
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.session.census.census import Census, EngineName
from sdcensus.session.publish.derived_cubes import derived
from sdcensus.session.publish.schedule import Scan, Schedule

#: What is done with each table: its position among those of the schedule, and its cube.
Work = Callable[[int, AnyCube], None]

#: What progress calls this stage.
STAGE = "tables"
#: How often whoever waits looks whether somebody wants everything to stop.
_PATIENCE = 0.2


def count_tables(
    census: Census,
    schedule: Schedule,
    work: Work,
    *,
    engine: str | EngineName | None = None,
    threads: int | None = None,
    progress: Progress = no_progress,
    only: Collection[int] | None = None,
    households: bool = False,
) -> None:
    """Count every table of a schedule and hand each to ``work``.

    ``work`` is called by several threads at the same time, for each table once, in no promised
    order. At most ``schedule.workers`` scans and as many tables are held. The first error, of
    counting or of ``work``, stops everything and is raised here once the others have ended what
    they were at.

    Args:
        census: The records.
        schedule: What is counted together.
        work: What is done with each table.
        engine: Who counts, as for ``Census.tabulate``.
        threads: How many processors to use; those of the schedule by default.
        progress: Told how much is done, by one thread at a time.
        only: Positions of the tables that are wanted; the others were done before.
        households: Also find which cells of persons are one household.
    """
    schedule.check_memory()
    wanted = set(range(len(schedule.specs))) if only is None else set(only)
    for at in sorted(wanted - set(range(len(schedule.specs)))):
        raise UnknownName(
            "table in the schedule", str(at), known=map(str, range(len(schedule.specs)))
        )
    if wanted:
        _Crew(census, schedule, wanted, work, engine, threads, progress, households).run()


class _Counted:
    """A scan that was counted, and its tables that are still to be made from it."""

    __slots__ = ("_cube", "left", "scan", "waiting")

    def __init__(self, scan: Scan, cube: AnyCube, waiting: list[int]) -> None:
        self.scan, self.waiting = scan, waiting
        self.left = len(waiting)
        self._cube: AnyCube | None = cube

    def table(self, spec: TableSpec) -> AnyCube:
        """The cube of one of its tables."""
        assert self._cube is not None
        return self._cube if self.scan.direct else derived(self._cube, spec)

    def forget(self) -> None:
        """Give the memory back: nothing more comes of it."""
        self._cube = None


class _Crew:
    """The workers. Each takes a table of a counted scan if one waits, else counts the next scan."""

    def __init__(
        self,
        census: Census,
        schedule: Schedule,
        wanted: set[int],
        work: Work,
        engine: str | EngineName | None,
        threads: int | None,
        progress: Progress,
        households: bool,
    ) -> None:
        self._households = households
        scans = [scan for scan in schedule.scans if wanted.intersection(scan.tables)]
        most = schedule.threads if threads is None else max(1, threads)
        self._workers = max(1, min(schedule.workers, most, len(wanted)))
        at_once = max(1, min(self._workers, len(scans)))
        self._engine: Engine = census.engine(engine, threads=max(1, most // at_once))
        # Other engines spread one request over all processors themselves: one at a time.
        self._at_once = at_once if self._engine.name == EngineName.MEMORY else 1
        self._specs, self._wanted, self._work = schedule.specs, wanted, work
        self._scans = scans[::-1]  # taken from the end
        self._counted: list[_Counted] = []
        self._held = self._counting = 0
        self._failure: BaseException | None = None
        self._changed = threading.Condition()
        self._progress, self._telling = progress, threading.Lock()
        self._cells = sum(self._specs[at].cells for at in wanted)
        self._done = 0

    def run(self) -> None:
        """Do all of it; raise what stopped it."""
        self._progress(STAGE, 0.0)
        threads = [
            threading.Thread(target=self._serve, name=f"tables-{at}", daemon=True)
            for at in range(self._workers)
        ]
        for thread in threads:
            thread.start()
        try:
            for thread in threads:
                while thread.is_alive():  # a wait without an end cannot be interrupted everywhere
                    thread.join(_PATIENCE)
        except BaseException as interruption:
            self._stop(interruption)
            for thread in threads:
                thread.join()
            raise
        if self._failure is not None:
            raise self._failure
        self._progress(STAGE, 1.0)

    def _stop(self, failure: BaseException) -> None:
        with self._changed:
            if self._failure is None:
                self._failure = failure
            self._changed.notify_all()

    def _serve(self) -> None:
        try:
            while (step := self._next()) is not None:
                step()
        except BaseException as failure:  # raised again by whoever waits
            self._stop(failure)

    def _next(self) -> Callable[[], None] | None:
        """What to do next; waits while something may still come, None if nothing will."""
        with self._changed:
            while self._failure is None:
                if self._counted:
                    counted = self._counted[0]
                    at = counted.waiting.pop(0)
                    if not counted.waiting:
                        self._counted.remove(counted)
                    return functools.partial(self._make, counted, at)
                free = self._counting < self._at_once and self._held < self._workers
                if self._scans and free:
                    self._held += 1
                    self._counting += 1
                    return functools.partial(self._count, self._scans.pop())
                if not self._scans and not self._counting:
                    return None
                self._changed.wait()
            return None

    def _count(self, scan: Scan) -> None:
        households = self._households and scan.spec.of is Entity.PERSON
        cube = self._engine.tabulate(Tabulate(spec=scan.spec, households=households))
        waiting = [at for at in scan.tables if at in self._wanted]
        with self._changed:
            self._counted.append(_Counted(scan, cube, waiting))
            self._counting -= 1
            self._changed.notify_all()

    def _make(self, counted: _Counted, at: int) -> None:
        cube = counted.table(self._specs[at])
        with self._changed:
            counted.left -= 1
            if not counted.left:
                counted.forget()
                self._held -= 1
                self._changed.notify_all()
        self._work(at, cube)
        with self._telling:
            self._done += self._specs[at].cells
            self._progress(STAGE, self._done / self._cells if self._cells else 1.0)
