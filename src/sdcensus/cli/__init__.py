"""The command line: reads arguments, calls the session, shows what it answers."""

from __future__ import annotations

from sdcensus.cli.running import main

__all__ = ["main"]
