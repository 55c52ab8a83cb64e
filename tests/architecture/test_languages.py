from __future__ import annotations

import importlib
import pkgutil
import string
from collections.abc import Iterator, Mapping
from types import ModuleType
from typing import Any

import pytest

from sdcensus.model.quantities import figure_text, number_text
from sdcensus.model.schema.entity import Entity
from sdcensus.model.spec.headings import entity_text, joined
from sdcensus.model.text import LANGUAGES, Text

#: Breakdowns of a programme are told in the language of the programme.
_OWN_LANGUAGES = ("sdcensus.model.plan.mapping", "sdcensus.session.publish.programme")
#: Whole packages that public words stand in.
_PUBLIC = ("model", "methods", "formats", "session", "report")


def modules() -> Iterator[ModuleType]:
    for part in _PUBLIC:
        package = importlib.import_module(f"sdcensus.{part}")
        for found in pkgutil.walk_packages(package.__path__, f"sdcensus.{part}."):
            yield importlib.import_module(found.name)


def constants(value: Any, where: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every text in several languages below a value, with its place."""
    if isinstance(value, Text):
        if value:
            yield where, dict(value.by_language)
    elif isinstance(value, Mapping):
        if {"en", "es"} <= set(value):
            yield where, dict(value)
        for key, one in value.items():
            yield from constants(one, f"{where}[{key!r}]")
    elif isinstance(value, (tuple, list)):
        for at, one in enumerate(value):
            yield from constants(one, f"{where}[{at}]")


def texts() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for module in modules():
        if module.__name__.startswith(_OWN_LANGUAGES):
            continue
        for name, value in vars(module).items():
            if not name.startswith("__"):
                found |= dict(constants(value, f"{module.__name__}.{name}"))
    return found


TEXTS = texts()


def _shape(value: Any) -> Any:
    """What has to be alike in all languages: keys, the number of sentences, places to fill."""
    if isinstance(value, str):
        return {name for _, name, _, _ in string.Formatter().parse(value) if name is not None}
    if isinstance(value, Mapping):
        return {key: _shape(one) for key, one in value.items()}
    return [_shape(one) for one in value]


def test_public_words_were_found() -> None:
    assert len(TEXTS) > 60
    assert "sdcensus.methods.notes_words.PROTECTED" in TEXTS


@pytest.mark.parametrize("where", TEXTS)
def test_every_public_text_speaks_all_languages(where: str) -> None:
    text = TEXTS[where]
    assert set(LANGUAGES) <= set(text), where
    shapes = [_shape(text[language]) for language in LANGUAGES]
    assert all(one == shapes[0] for one in shapes), where
    if not isinstance(text["en"], str) or len(text["en"].split()) > 3:
        assert len({str(text[language]) for language in LANGUAGES}) == len(LANGUAGES), where


def test_numbers_and_lists_are_written_as_each_language_does() -> None:
    thin = "\N{NARROW NO-BREAK SPACE}"
    assert [number_text(1_234_567, one) for one in LANGUAGES] == [
        "1,234,567",
        "1.234.567",
        f"1{thin}234{thin}567",
        "1.234.567",
    ]
    assert [figure_text(0.25, one) for one in LANGUAGES] == ["0.25", "0,25", "0,25", "0,25"]
    assert [joined(["a", "b", "c"], one) for one in LANGUAGES] == [
        "a, b and c",
        "a, b y c",
        "a, b et c",
        "a, b en c",
    ]
    assert len({entity_text(Entity.HOUSEHOLD, one) for one in LANGUAGES}) == len(LANGUAGES)
