"""What the parts and settings of a plan mean, in plain words: ``help.toml``."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from string import Template

from sdcensus.model.plan.vocabulary import INDICATOR_KINDS, PROGRAMME_NAMES
from sdcensus.model.published.table_format import FORMAT_NAMES


@cache
def plan_help(section: str) -> Mapping[str, str]:
    """The notes of a section, by what they are about: parts, settings, columns, office."""
    text = (files("sdcensus.documents.plan") / "help.toml").read_text(encoding="utf-8")
    kinds = list(INDICATOR_KINDS)
    lists = {
        "kinds": kinds,
        "first_kinds": kinds[:7],
        "more_kinds": kinds[7:],
        "programmes": PROGRAMME_NAMES,
        "formats": FORMAT_NAMES,
    }
    words = {name: ", ".join(listed) for name, listed in lists.items()}
    notes: Mapping[str, str] = tomllib.loads(Template(text).substitute(words))[section]
    return notes
