"""Threads that work for the server and do not keep the process from ending."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Any, ParamSpec, TypeVar

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")

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
        fn: Callable[Parameters, Result],
        /,
        *args: Parameters.args,
        **kwargs: Parameters.kwargs,
    ) -> Future[Result]:
        """Have something done.

        Raises:
            RuntimeError: The threads were told to end.
        """
        future: Future[Result] = Future()
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
            made = work()
        except BaseException as error:
            future.set_exception(error)
        else:
            future.set_result(made)
