from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.web.servers import Place, opened


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """A server for all tests of a module that leave nothing behind."""
    folder: Path = tmp_path_factory.mktemp("web")
    with opened(folder) as made:
        yield made
