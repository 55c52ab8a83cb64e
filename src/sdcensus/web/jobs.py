"""Tables that take longer than a request waits: each has an id that nobody can guess."""

from __future__ import annotations

import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from sdcensus.web.answers import CachedAnswer
from sdcensus.web.caching import Flight

Json = dict[str, Any]

#: Results of more bytes than this are kept in files.
IN_MEMORY = 4 * 1024 * 1024
#: Ended jobs that are remembered at most, whatever they weigh.
MOST_KEPT = 2_000


#: The files of a body and of the packed body, where they are in files.
Files = tuple[Path | None, Path | None]


class JobStatus(StrEnum):
    """How far a job is. These words do not change."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    EXPIRED = "expired"


@dataclass(slots=True, eq=False)
class Job:
    """A table that is being made for somebody.

    Attributes:
        id: 128 random bits.
        owner: To whom it belongs; nobody else can see that it exists.
        who: Who asked, for the limit of jobs at the same time.
        expires: When it is forgotten, in seconds of the clock.
        status: How far it is.
        flight: The work, while it is going on.
        entry: The finished answer, without its body if that is in a file.
        body, zipped: The files of the body and of the packed body.
        error: What went wrong, as the member of an error.
        size: Bytes that are kept.
    """

    id: str
    owner: str
    who: str
    expires: float
    status: JobStatus = JobStatus.WAITING
    flight: Flight[CachedAnswer] | None = None
    entry: CachedAnswer | None = None
    body: Path | None = None
    zipped: Path | None = None
    error: Json | None = None
    size: int = 0
    removed: bool = field(default=False)

    @property
    def ended(self) -> bool:
        """Whether nothing more will happen to it."""
        return self.status in (JobStatus.DONE, JobStatus.FAILED, JobStatus.EXPIRED)

    @property
    def progress(self) -> float:
        """How much is done, from 0 to 1."""
        if self.ended:
            return 1.0
        return self.flight.done if self.flight is not None else 0.0

    @property
    def shown_status(self) -> JobStatus:
        """How far it is, by the work itself."""
        if self.ended or self.flight is None or self.flight.stage == "waiting":
            return self.status
        return JobStatus.RUNNING

    @property
    def stage(self) -> str:
        """What is being done."""
        if self.ended or self.flight is None:
            return self.status.value
        return self.flight.stage


class Jobs:
    """The jobs of everybody. For one event loop.

    Args:
        seconds: For how long results are kept.
        most_bytes: How many bytes of results are kept; the oldest go first.
        clock: Seconds since some time.
    """

    def __init__(self, *, seconds: int, most_bytes: int, clock: Callable[[], float]) -> None:
        self._seconds, self._most, self._clock = seconds, most_bytes, clock
        self._jobs: OrderedDict[str, Job] = OrderedDict()
        # Forgotten while they were worked on: that work still takes the place of another.
        self._leaving: set[Job] = set()
        self._folder: TemporaryDirectory[str] | None = None
        self._making = threading.Lock()

    def __len__(self) -> int:
        return len(self._jobs)

    @property
    def going_on(self) -> int:
        """How many jobs wait or run, those included that nobody wants any more."""
        return len(self._leaving) + sum(not job.ended for job in self._jobs.values())

    @property
    def weight(self) -> int:
        """How many bytes of results are kept."""
        return sum(job.size for job in self._jobs.values())

    def going_on_of(self, who: str) -> int:
        """How many jobs of somebody wait or run, those included that were told to be forgotten."""
        leaving = sum(job.who == who for job in self._leaving)
        return leaving + sum(job.who == who and not job.ended for job in self._jobs.values())

    def add(self, owner: str, who: str) -> Job:
        """A new job of somebody."""
        self.sweep()
        job = Job(secrets.token_urlsafe(16), owner, who, self._clock() + self._seconds)
        self._jobs[job.id] = job
        return job

    def find(self, job_id: str, owner: str) -> Job | None:
        """A job, for its owner only: ids that never were, are over or are others' look the same."""
        self.sweep()
        job = self._jobs.get(job_id)
        if job is None or not owner or not secrets.compare_digest(job.owner, owner):
            return None
        return job

    def write(self, job: Job, entry: CachedAnswer) -> Files:
        """Write a large result into files. Blocks: for a thread."""
        if len(entry.body) + len(entry.zipped or b"") <= IN_MEMORY:
            return None, None
        body = self._file(job.id, entry.body)
        return body, None if entry.zipped is None else self._file(f"{job.id}.gz", entry.zipped)

    def done(self, job: Job, entry: CachedAnswer, files: Files = (None, None)) -> None:
        """Keep the result of a job, in memory or in the files that hold it."""
        job.body, job.zipped = files
        if job.removed:
            job.status = JobStatus.DONE
            self.remove(job)
            return
        job.size = len(entry.body) + len(entry.zipped or b"")
        job.entry = entry if job.body is None else entry.without_body()
        job.flight, job.status = None, JobStatus.DONE
        job.expires = self._clock() + self._seconds
        self.sweep()

    def failed(self, job: Job, error: Json) -> None:
        """Keep what went wrong with a job."""
        job.error, job.flight, job.status = error, None, JobStatus.FAILED
        job.expires = self._clock() + self._seconds
        self._leaving.discard(job)

    def result(self, job: Job) -> CachedAnswer | None:
        """The finished answer of a job. Reads a file where it is large: for a thread."""
        if job.entry is None or job.body is None:
            return job.entry
        zipped = None if job.zipped is None else job.zipped.read_bytes()
        return job.entry.with_body(job.body.read_bytes(), zipped)

    def remove(self, job: Job) -> None:
        """Forget a job and its result. Work that is going on ends by itself, and is not kept."""
        job.removed = True
        self._jobs.pop(job.id, None)
        if job.ended:
            self._leaving.discard(job)
        else:
            self._leaving.add(job)
        self._drop(job)

    def sweep(self) -> None:
        """Drop results that are over, and the oldest ones when they weigh too much.

        Their owners are told for as long again that there was a result.
        """
        now = self._clock()
        for job in [job for job in self._jobs.values() if job.ended and job.expires <= now]:
            if job.status is JobStatus.EXPIRED:
                self.remove(job)
            else:
                self._expire(job, now)
        kept = [job for job in self._jobs.values() if job.ended]
        weight = sum(job.size for job in kept)
        while kept and (weight > self._most or len(kept) > MOST_KEPT):
            oldest = kept.pop(0)
            weight -= oldest.size
            if len(kept) >= MOST_KEPT:
                self.remove(oldest)
            elif oldest.size:
                self._expire(oldest, now)

    def close(self) -> None:
        """Remove every result."""
        self._jobs.clear()
        self._leaving.clear()
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None

    def _expire(self, job: Job, now: float) -> None:
        job.status, job.error, job.expires = JobStatus.EXPIRED, None, now + self._seconds
        self._drop(job)

    @staticmethod
    def _drop(job: Job) -> None:
        job.entry, job.size = None, 0
        for path in (job.body, job.zipped):
            if path is not None:
                path.unlink(missing_ok=True)
        job.body = job.zipped = None

    def _file(self, name: str, data: bytes) -> Path:
        with self._making:
            if self._folder is None:
                # Made for this user only, under a name that nobody can guess.
                self._folder = TemporaryDirectory(prefix="sdcensus-jobs-")
            path = Path(self._folder.name) / name
        path.write_bytes(data)
        return path
