"""Write the list of the methods of this package, and the page of the documentation about them.

    python scripts/methods.py

Methods and steps are registered in ``pyproject.toml``, as those of other packages are. The list
beside ``sdcensus.model.method.registry`` holds what they declare, so that nobody has to load them
to show the help or to read a plan. A test says when it has to be written anew.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

from sdcensus.cli.shared.reference import methods_page
from sdcensus.model.method.registry import LIST, built_in, listing

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "methods" / "parameters.md"


def registered() -> dict[str, dict[str, str]]:
    """Where the methods and steps of this package are, by the group of their entry points."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    groups: dict[str, dict[str, str]] = project["entry-points"]
    return groups


if __name__ == "__main__":
    LIST.write_text(listing(registered()), encoding="utf-8", newline="\n")
    built_in.cache_clear()
    PAGE.write_text(methods_page(), encoding="utf-8", newline="\n")
