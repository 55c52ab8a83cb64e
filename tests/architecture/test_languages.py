from __future__ import annotations

import ast
import string
from pathlib import Path

import pytest

import sdcensus
from sdcensus.model.quantities import figure_text, number_text
from sdcensus.model.schema.variable import Entity
from sdcensus.model.spec.headings import entity_text, joined
from sdcensus.model.text import FOLDER, LANGUAGES, Text, catalogue, lines

SOURCE = Path(sdcensus.__file__).parent
#: Sentences for offices, which are written in English and Spanish.
OFFICE = {"findings": ("en", "es")}
#: Marks and single words may be the same in several languages.
FEW_WORDS = 3
#: A format is one module, with what it says of itself.
FORMATS = {
    f"formats/write/{name}.py"
    for name in ("delimited", "json_stat", "parquet", "px", "sdmx", "xlsx")
}

AREAS = sorted(
    {
        path.relative_to(FOLDER / language).with_suffix("").as_posix()
        for language in LANGUAGES
        for path in (FOLDER / language).rglob("*.toml")
    }
)


def places(text: str) -> set[str]:
    """What has to be filled in."""
    return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}


def test_every_language_has_a_folder_and_there_is_no_other() -> None:
    assert sorted(path.name for path in FOLDER.iterdir()) == sorted(LANGUAGES)
    assert {"headings", "notes", "publication", "web/pages"} <= set(AREAS)


@pytest.mark.parametrize("area", AREAS)
def test_every_text_speaks_all_languages(area: str) -> None:
    languages = OFFICE.get(area, LANGUAGES)
    first = catalogue(area, languages[0])
    assert first
    for language in LANGUAGES:
        assert list(catalogue(area, language)) == (list(first) if language in languages else [])
    for key, text in first.items():
        spoken = [catalogue(area, language)[key] for language in languages]
        assert all(places(other) == places(text) for other in spoken), key
        if len(text.split()) > FEW_WORDS:
            assert len(set(spoken)) == len(languages), key


def in_code(path: Path) -> bool:
    """Whether a module holds texts by language."""
    return any(
        isinstance(node, ast.Dict)
        and {"en", "es"} <= {key.value for key in node.keys if isinstance(key, ast.Constant)}
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    )


def test_words_stand_in_catalogues_and_not_in_code() -> None:
    own = ("demo", "testing")  # what a country writes is its own
    modules = {path.relative_to(SOURCE) for path in SOURCE.rglob("*.py") if in_code(path)}
    assert {path.as_posix() for path in modules if path.parts[0] not in own} == FORMATS


def test_a_text_is_read_by_its_key() -> None:
    spoken = {language: Text.named("headings.and").show(language) for language in LANGUAGES}
    assert spoken == {"en": "and", "es": "y", "fr": "et", "nl": "en"}
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
    ]
    assert [figure_text(0.25, one) for one in LANGUAGES] == ["0.25", "0,25", "0,25", "0,25"]
    assert [joined(["a", "b", "c"], one) for one in LANGUAGES] == [
        "a, b and c",
        "a, b y c",
        "a, b et c",
        "a, b en c",
    ]
    assert len({entity_text(Entity.HOUSEHOLD, one) for one in LANGUAGES}) == len(LANGUAGES)
