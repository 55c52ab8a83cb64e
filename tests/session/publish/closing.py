"""Plans in which some tables are protected by a method that closes cells."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from sdcensus.testing.close_small import install_close_small

#: Sums of ages: what the law asks for, exactly, with small cells closed.
LEGAL = """
[[table]]
name = "legal"
rows = ["area@parish+district"]
columns = ["age@class"]
protect = "legal"
"""
#: A table with noise that shares the totals of areas, which nobody closes here.
COUNTS = """
[[table]]
name = "counts"
rows = ["sex"]
columns = ["married"]
"""
PROTECT = """
[protect]
method = "cell-key"
strength = "strong"

[protect.legal]
method = "close-small"
minimum = 3
"""


@pytest.fixture
def close_small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The method of the tests, under its name."""
    monkeypatch.syspath_prepend(install_close_small(tmp_path / "packages"))


def signs(path: Path) -> dict[tuple[str, ...], str]:
    """What stands in the cells of a published csv file, by their codes."""
    with path.open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file)
        names = [name for name in reader.fieldnames or () if not name.endswith("_label")]
        axes = [name for name in names if name not in ("published", "flag")]
        return {
            tuple(row[name] for name in axes): row.get("flag") or row["published"] for row in reader
        }
