from __future__ import annotations

import re

from tests.docs.pages import ROOT

PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")


def test_every_module_that_the_map_names_is_there() -> None:
    named = set(re.findall(r"`([a-z_]+/[a-z_/]+(?:\.py|/))`", PAGE))
    assert len(named) > 40
    gone = [
        name
        for name in sorted(named)
        if not (ROOT / "src" / "sdcensus" / name).exists() and not (ROOT / name).exists()
    ]
    assert gone == []


def test_every_package_is_on_the_map() -> None:
    packages = {path.parent.name for path in (ROOT / "src" / "sdcensus").glob("*/__init__.py")}
    assert packages - set(re.findall(r"`([a-z]+)`", PAGE)) == set()
