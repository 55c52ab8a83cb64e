"""Finished answers in memory, up to a number of bytes; equal questions worked on once."""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import threading
from collections import OrderedDict, deque
from collections.abc import Callable
from concurrent.futures import Executor, Future
from dataclasses import dataclass, field
from typing import Any, Generic, ParamSpec, TypeVar

from sdcensus.model.progress import Progress

Result = TypeVar("Result")
Key = bytes

#: Smaller bodies are not worth the work of packing them.
SMALLEST_PACKED = 1_024
#: How hard the packing tries: twice as fast as the next one, and 3 % larger (tables as JSON-stat).
PACKING = 4
#: What is packed: texts. Workbooks and Parquet are packed already.
PACKED_TYPES = ("application/json", "application/vnd", "application/geo+json", "text/", "image/svg")
_NEVER_PACKED = ("application/vnd.openxmlformats", "application/vnd.apache.parquet")
#: How many spellings of questions are remembered.
MOST_ALIASES = 100_000
#: What an entry takes besides its body.
_OVERHEAD = 2_000


class CacheBusy(Exception):
    """More waits already than is allowed to."""


def key_of(*parts: object) -> Key:
    """A short key for a few texts that belong together.

    Examples:
        >>> key_of("a", "bc") == key_of("ab", "c")
        False
    """
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        data = part if isinstance(part, bytes) else str(part).encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
    return digest.digest()


def etag_of(body: bytes) -> str:
    """The strong tag of some content: equal bytes have equal tags, others do not."""
    return hashlib.blake2b(body, digest_size=16).hexdigest()


def packed(body: bytes, media_type: str) -> bytes | None:
    """The content packed, where that makes it clearly smaller; the same bytes every time."""
    if len(body) < SMALLEST_PACKED or not media_type.startswith(PACKED_TYPES):
        return None
    if media_type.startswith(_NEVER_PACKED):
        return None
    smaller = gzip.compress(body, compresslevel=PACKING, mtime=0)
    return smaller if len(smaller) < 0.9 * len(body) else None


class ByteCache(Generic[Result]):
    """The results used last, as many as fit into some bytes. For one thread."""

    def __init__(self, most_bytes: int) -> None:
        self._most = most_bytes
        self._bytes = 0
        self._kept: OrderedDict[Key, tuple[Result, int]] = OrderedDict()
        self._aliases: OrderedDict[Key, Key] = OrderedDict()

    def __len__(self) -> int:
        return len(self._kept)

    @property
    def weight(self) -> int:
        """How many bytes are kept."""
        return self._bytes

    def get(self, key: Key) -> Result | None:
        """What is kept under a key."""
        kept = self._kept.get(key)
        if kept is None:
            return None
        self._kept.move_to_end(key)
        return kept[0]

    def get_alias(self, alias: Key) -> Result | None:
        """What is kept under another spelling of a key."""
        key = self._aliases.get(alias)
        return None if key is None else self.get(key)

    def put(self, key: Key, result: Result, size: int) -> None:
        """Keep a result; those that were not used for longest make room. Huge ones are not kept."""
        size += _OVERHEAD
        self.remove(key)
        if size > self._most // 4:
            return
        self._kept[key] = (result, size)
        self._bytes += size
        while self._bytes > self._most:
            _, (_, gone) = self._kept.popitem(last=False)
            self._bytes -= gone

    def put_alias(self, alias: Key, key: Key) -> None:
        """Remember another spelling of a key."""
        self._aliases[alias] = key
        self._aliases.move_to_end(alias)
        if len(self._aliases) > MOST_ALIASES:
            self._aliases.popitem(last=False)

    def remove(self, key: Key) -> None:
        """Forget a result."""
        removed = self._kept.pop(key, None)
        if removed is not None:
            self._bytes -= removed[1]


@dataclass(slots=True, eq=False)
class Flight(Generic[Result]):
    """Work that is going on, and how far it is. Any number of requests may wait for it."""

    future: asyncio.Future[Result] = field(init=False)
    stage: str = "waiting"
    done: float = 0.0

    def tell(self, stage: str, done: float) -> None:
        """Note how far the work is; called by the thread that does it."""
        self.stage, self.done = stage, min(max(done, 0.0), 1.0)

    async def wait(self, seconds: float | None = None) -> Result:
        """The result. The work goes on when the one who waits has gone or has no more time.

        Raises:
            TimeoutError: It is not there in time.
        """
        return await asyncio.wait_for(asyncio.shield(self.future), seconds)


class Flights(Generic[Result]):
    """Work in threads: equal work is done once, and only so much may wait.

    For one event loop; the work itself runs in the threads of the executor.
    """

    def __init__(self, executor: Executor, most: int) -> None:
        self._executor = executor
        self._most = most
        self._flights: dict[Key, Flight[Result]] = {}

    def __len__(self) -> int:
        return len(self._flights)

    def start(self, key: Key, work: Callable[[Progress], Result]) -> Flight[Result]:
        """Begin some work, unless it is going on already.

        Raises:
            Busy: So much waits that more would have to wait too long.
        """
        known = self._flights.get(key)
        if known is not None:
            return known
        if len(self._flights) >= self._most:
            raise CacheBusy
        flight: Flight[Result] = Flight()
        loop = asyncio.get_running_loop()
        flight.future = loop.run_in_executor(self._executor, work, flight.tell)
        self._flights[key] = flight
        flight.future.add_done_callback(lambda future: self._ended(key, future))
        return flight

    def _ended(self, key: Key, future: asyncio.Future[Result]) -> None:
        self._flights.pop(key, None)
        if not future.cancelled():
            # Whoever still waits gets the error; where nobody does, it is no news.
            future.exception()

    async def finish(self, seconds: float) -> bool:
        """Wait until nothing is going on; false if that takes longer than some seconds."""
        futures = [flight.future for flight in self._flights.values()]
        if not futures:
            return True
        _, late = await asyncio.wait(futures, timeout=seconds)
        return not late


Parameters = ParamSpec("Parameters")
Outcome = TypeVar("Outcome")

#: Work that waits, with what becomes of it.
_Work = tuple["Future[Any]", Callable[[], Any]]


class Threads(Executor):
    """Some threads, started when they are needed.

    Those of the standard library are waited for when the process ends, whatever they do: one
    count that takes an hour would hold a server that was told to stop.

    Args:
        most: How many threads there are at most.
        name: What their names begin with.
    """

    def __init__(self, most: int, name: str) -> None:
        self._most, self._name = most, name
        self._waiting: deque[_Work] = deque()
        self._changed = threading.Condition()
        self._threads: list[threading.Thread] = []
        self._working = 0
        self._closed = False

    @property
    def running(self) -> int:
        """How many threads are working."""
        with self._changed:
            return self._working

    def submit(
        self,
        fn: Callable[Parameters, Outcome],
        /,
        *args: Parameters.args,
        **kwargs: Parameters.kwargs,
    ) -> Future[Outcome]:
        """Have something done.

        Raises:
            RuntimeError: The threads were told to end.
        """
        future: Future[Outcome] = Future()
        with self._changed:
            if self._closed:
                raise RuntimeError("The threads of the server have ended.")
            self._waiting.append((future, lambda: fn(*args, **kwargs)))
            free = len(self._threads) - self._working
            if free < len(self._waiting) and len(self._threads) < self._most:
                name = f"{self._name}-{len(self._threads)}"
                thread = threading.Thread(target=self._run, name=name, daemon=True)
                self._threads.append(thread)
                thread.start()
            self._changed.notify()
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Take no more work; what waits is done or forgotten, as asked."""
        with self._changed:
            self._closed = True
            forgotten = [*self._waiting] if cancel_futures else []
            if cancel_futures:
                self._waiting.clear()
            self._changed.notify_all()
        for future, _ in forgotten:
            future.cancel()
        if wait:
            for thread in self._threads:
                thread.join()

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or self._closed)
                if not self._waiting:
                    return
                future, work = self._waiting.popleft()
                self._working += 1
            self._do(future, work)
            # What was made must not be kept by a thread that waits.
            del future, work
            with self._changed:
                self._working -= 1

    @staticmethod
    def _do(future: Future[Any], work: Callable[[], Any]) -> None:
        if not future.set_running_or_notify_cancel():
            return
        try:
            result = work()
        except BaseException as error:
            future.set_exception(error)
        else:
            future.set_result(result)
