"""The web server: HTTP in, one call below, pages and JSON out.

``api`` for programs, ``pages`` with templates and static files for people, ``database`` for
accounts and audit, ``middleware`` around both. No rule about disclosure stands here: every answer
comes from ``session/answer``. Names are loaded when they are first used: whoever needs the
database only does not wait for a server.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sdcensus._names import offer

if TYPE_CHECKING:
    from sdcensus.web.app import create_app as create_app
    from sdcensus.web.server import RunningServer as RunningServer, serve as serve
    from sdcensus.web.settings import Settings as Settings

__getattr__, __dir__ = offer(__name__)
