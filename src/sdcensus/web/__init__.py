"""The web server: HTTP in, one call below, pages and JSON out.

``api`` for programs, ``pages`` with templates and static files for people, ``database`` for
accounts and audit, ``middleware`` around both. No rule about disclosure stands here: every answer
comes from ``session/answer``.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sdcensus.web.app import create_app
    from sdcensus.web.server import RunningServer, serve
    from sdcensus.web.settings import Settings

__all__ = ["RunningServer", "Settings", "create_app", "serve"]

# Loaded when they are asked for: whoever needs the database only does not wait for a server.
_PLACES = {
    "create_app": "app",
    "RunningServer": "server",
    "serve": "server",
    "Settings": "settings",
}


def __getattr__(name: str) -> object:
    if name in _PLACES:
        return getattr(import_module(f"{__name__}.{_PLACES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
