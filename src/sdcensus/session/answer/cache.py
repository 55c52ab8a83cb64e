"""Published tables that were asked for lately, each made once however many ask at the same time."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from typing import Generic, TypeVar

Value = TypeVar("Value")


class RecentlyUsed(Generic[Value]):
    """Values by key, the least recently used of which go first.

    Args:
        limit: How many bytes are kept.
        size: How many bytes a value takes.
    """

    def __init__(self, limit: int, size: Callable[[Value], int]) -> None:
        self._limit = limit
        self._size = size
        self._kept: OrderedDict[Hashable, Value] = OrderedDict()
        self._making: dict[Hashable, Future[Value]] = {}
        self._bytes = 0
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._kept)

    @property
    def bytes(self) -> int:
        """How many bytes are kept now."""
        return self._bytes

    def get(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """The value of a key; whoever comes first makes it, the others wait for it."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
            waiting = self._making.get(key)
            if waiting is None:
                mine: Future[Value] = Future()
                self._making[key] = mine
        if waiting is not None:
            return waiting.result()
        try:
            value = make()
        except BaseException as error:
            with self._lock:
                del self._making[key]
            mine.set_exception(error)
            raise
        with self._lock:
            del self._making[key]
            self._keep(key, value)
        mine.set_result(value)
        return value

    def _keep(self, key: Hashable, value: Value) -> None:
        size = self._size(value)
        if size > self._limit // 4:
            return  # one large table would drive out all others
        self._kept[key] = value
        self._bytes += size
        while self._bytes > self._limit:
            _, gone = self._kept.popitem(last=False)
            self._bytes -= self._size(gone)
