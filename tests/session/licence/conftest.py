"""The registered file of the settlement, once for all tests of a process."""

from __future__ import annotations

from pathlib import Path

import pytest

from sdcensus.session.release.release import Release
from tests.session.licence.handed import HOLDERS, licensed, prepare


@pytest.fixture(scope="package")
def handed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Release]:
    """A folder with ``files``, ``office`` and the copies ``copy-NUMBER`` of three holders."""
    folder = tmp_path_factory.mktemp("handed")
    release = prepare(folder)
    for name in HOLDERS:
        number = licensed(folder, name)
        release.hand_out(number, folder / f"copy-{number}", date="2026-02-01")
    return folder, release
