"""Which function answers which address."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Generic, TypeVar

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

#: What the functions need besides the request.
Context = TypeVar("Context")
Endpoint = Callable[[Context, Request], Awaitable[Response]]


class Routes(Generic[Context]):
    """Addresses with what answers them, in the order in which they are tried.

    Args:
        prefix: What every address begins with.
    """

    def __init__(self, prefix: str = "") -> None:
        self._prefix = prefix
        self._added: list[tuple[str, Endpoint[Context], str]] = []

    def get(self, path: str) -> Callable[[Endpoint[Context]], Endpoint[Context]]:
        """Answer GET, and HEAD, at an address such as ``/jobs/{job}``."""
        return self._adding(path, "GET")

    def post(self, path: str) -> Callable[[Endpoint[Context]], Endpoint[Context]]:
        """Answer POST at an address."""
        return self._adding(path, "POST")

    def delete(self, path: str) -> Callable[[Endpoint[Context]], Endpoint[Context]]:
        """Answer DELETE at an address."""
        return self._adding(path, "DELETE")

    def of(self, context: Context, prefix: str = "") -> list[Route]:
        """The routes of a server, all of them below an address."""
        return [
            Route(f"{prefix}{self._prefix}{path}", partial(endpoint, context), methods=[method])
            for path, endpoint, method in self._added
        ]

    def _adding(self, path: str, method: str) -> Callable[[Endpoint[Context]], Endpoint[Context]]:
        def add(endpoint: Endpoint[Context]) -> Endpoint[Context]:
            self._added.append((path, endpoint, method))
            return endpoint

        return add
