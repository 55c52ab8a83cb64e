"""Every setting of every document has an effect: how it is shown.

A setting is declared as a field of a ``Section``. For each there is an ``Effect``: two versions of
the documents that differ in this setting, and the way on which its effect is seen (a census that
is loaded, tables that are published, a builder that answers). The test compares what is seen.

A new setting needs an entry in ``effects_of_schemas``, ``effects_of_plans`` or
``effects_of_policies``, under the name of its section and its own: ``"RuleSection.offered"``. An
entry whose two versions lead to the same result says that the setting does nothing: give it its
effect, or take it out of the section, so that it is refused as an unknown one.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import sdcensus.documents
from sdcensus.documents.schema.sections import Section

#: Documents and other files by name; whatever a way needs.
Files = Mapping[str, str | bytes]
#: From files to what is seen, in an empty folder.
Way = Callable[[Files, Path], object]


@dataclass(frozen=True, slots=True)
class Effect:
    """Two versions of the documents, and the way on which the difference is seen.

    Attributes:
        without, given: The versions.
        way: From a version to what is seen: anything that can be compared, and a text where the
            documents are refused.
        refused: Which of them is refused: ``without``, ``given``, ``both`` (with other
            words), or as a rule neither.
    """

    without: Files
    given: Files
    way: Way
    refused: str = ""


def edited(text: str, *changes: tuple[str, str]) -> str:
    """A text with parts replaced, each of which must be there."""
    for old, new in changes:
        assert text.count(old) >= 1, old
        text = text.replace(old, new, 1)
    return text


def sections() -> tuple[type[Section], ...]:
    """Every kind of table that a document may have."""
    for module in pkgutil.walk_packages(sdcensus.documents.__path__, "sdcensus.documents."):
        importlib.import_module(module.name)
    return tuple(_below(Section))


def declared(*modules: str) -> Iterator[str]:
    """All settings that are declared in some modules of the documents: section and name."""
    for section in sections():
        if section.__module__.removeprefix("sdcensus.documents.") in modules:
            yield from (f"{section.__name__}.{name}" for name in section.model_fields)


def _below(kind: type[Section]) -> Iterator[type[Section]]:
    for subclass in kind.__subclasses__():
        yield subclass
        yield from _below(subclass)
