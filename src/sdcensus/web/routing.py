"""Which function answers which address."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

Endpoint = Callable[[Request], Awaitable[Response]]


class Routes:
    """Addresses with what answers them, in the order in which they are tried.

    Args:
        prefix: What every address begins with.
    """

    def __init__(self, prefix: str = "") -> None:
        self._prefix = prefix
        self._added: list[tuple[str, Endpoint, str]] = []

    def get(self, path: str) -> Callable[[Endpoint], Endpoint]:
        """Answer GET, and HEAD, at an address such as ``/jobs/{job}``."""
        return self._adding(path, "GET")

    def post(self, path: str) -> Callable[[Endpoint], Endpoint]:
        """Answer POST at an address."""
        return self._adding(path, "POST")

    def delete(self, path: str) -> Callable[[Endpoint], Endpoint]:
        """Answer DELETE at an address."""
        return self._adding(path, "DELETE")

    def under(self, prefix: str = "") -> list[Route]:
        """The routes, all of them below an address."""
        return [
            Route(f"{prefix}{self._prefix}{path}", endpoint, methods=[method])
            for path, endpoint, method in self._added
        ]

    def _adding(self, path: str, method: str) -> Callable[[Endpoint], Endpoint]:
        def add(endpoint: Endpoint) -> Endpoint:
            self._added.append((path, endpoint, method))
            return endpoint

        return add
