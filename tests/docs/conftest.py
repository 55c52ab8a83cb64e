"""The terminal in which pages are tried."""

from __future__ import annotations

import pytest

from sdcensus.cli.shared.console import Stages


@pytest.fixture
def plain_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal of 80 signs without colours, on which nothing is slow."""
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.setenv("COLUMNS", "80")
    for name in ("FORCE_COLOR", "NO_COLOR", "SDCENSUS_DEBUG", "SDCENSUS_SECRET_FILE"):
        monkeypatch.delenv(name, raising=False)
    defaults = Stages.__init__.__kwdefaults__
    assert defaults is not None
    monkeypatch.setitem(defaults, "patience", 3600.0)
