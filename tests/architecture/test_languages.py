from __future__ import annotations

import ast
from pathlib import Path

import pytest

import sdcensus
from sdcensus.model.catalogue import FIRST, FOLDER, LANGUAGES, areas, catalogue, lines, problems
from sdcensus.model.quantities import figure_text, number_text
from sdcensus.model.schema.variable import Entity
from sdcensus.model.spec.headings import entity_text, joined
from sdcensus.model.text import Text

SOURCE = Path(sdcensus.__file__).parent
#: Marks and single words may be the same in several languages.
FEW_WORDS = 3


def test_the_languages_are_the_folders() -> None:
    assert {path.name for path in FOLDER.iterdir()} == set(LANGUAGES)
    assert {"en", "es", "fr", "nl", "pt"} <= set(LANGUAGES)
    assert LANGUAGES[0] == FIRST


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_is_complete(language: str) -> None:
    assert not list(problems(FOLDER / language))
    for area in areas():
        english, own = catalogue(area, FIRST), catalogue(area, language)
        assert list(english) == list(own)
        for key, text in english.items():
            same = own[key] == text and language != FIRST
            assert not same or len(text.split()) <= FEW_WORDS, (area, key)


def first_of(node: ast.expr) -> object:
    """The first member of something written as a pair, such as a language and a text."""
    pair = isinstance(node, ast.Tuple) and node.elts
    return pair[0].value if pair and isinstance(pair[0], ast.Constant) else None


def in_code(path: Path) -> bool:
    """Whether a module holds texts by language."""
    return any(
        (
            isinstance(node, ast.Dict)
            and {"en", "es"} <= {key.value for key in node.keys if isinstance(key, ast.Constant)}
        )
        or (isinstance(node, ast.Tuple) and {"en", "es"} <= {first_of(pair) for pair in node.elts})
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    )


def test_words_stand_in_catalogues_and_not_in_code() -> None:
    own = ("demo", "testing")  # what a country writes is its own
    modules = {path.relative_to(SOURCE) for path in SOURCE.rglob("*.py") if in_code(path)}
    assert {path.as_posix() for path in modules if path.parts[0] not in own} == set()


def test_a_text_is_read_by_its_key() -> None:
    spoken = {language: Text.named("headings.and").show(language) for language in LANGUAGES}
    assert spoken == {"en": "and", "es": "y", "fr": "et", "nl": "en", "pt": "e"}
    assert len(lines(catalogue("publication", "nl"), "for_users.sums")) == 3
    with pytest.raises(KeyError, match="nothing_of_this_name"):
        Text.named("headings.nothing_of_this_name")


def test_numbers_and_lists_are_written_as_each_language_does() -> None:
    thin = "\N{NARROW NO-BREAK SPACE}"
    assert [number_text(1_234_567, one) for one in LANGUAGES] == [
        "1,234,567",
        "1.234.567",
        f"1{thin}234{thin}567",
        "1.234.567",
        "1.234.567",
    ]
    assert [figure_text(0.25, one) for one in LANGUAGES] == ["0.25", *["0,25"] * 4]
    assert [joined(["a", "b", "c"], one) for one in LANGUAGES] == [
        "a, b and c",
        "a, b y c",
        "a, b et c",
        "a, b en c",
        "a, b e c",
    ]
    assert len({entity_text(Entity.HOUSEHOLD, one) for one in LANGUAGES}) == len(LANGUAGES)
