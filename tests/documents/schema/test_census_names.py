"""The name of a census in several languages: in the schema, in the store, and for readers."""

from __future__ import annotations

from pathlib import Path

import pytest

from sdcensus.documents.schema.document import read_schema
from sdcensus.errors import DocumentError
from sdcensus.model.text import parse_json
from sdcensus.store.schema_json import canonical_json, schema_digest, schema_from_json
from tests.cli.tiny import write_village

PLAIN = 'name = "Village census"\ncountry = "Nowhere"\n'
NAMED = 'name = { es = "Censo de la aldea", en = "Village census" }\ncountry = { en = "Nowhere" }\n'


def village(folder: Path, head: str) -> Path:
    schema = write_village(folder)
    text = schema.read_text(encoding="utf-8")
    assert PLAIN in text
    schema.write_text(text.replace(PLAIN, head), encoding="utf-8", newline="\n")
    return schema


def test_the_name_is_that_of_the_language_and_stays_in_the_store(tmp_path: Path) -> None:
    named, plain = (
        read_schema(village(tmp_path / "a", NAMED)),
        read_schema(village(tmp_path / "b", PLAIN)),
    )
    again = schema_from_json(parse_json(canonical_json(named)))
    for census in (named.census, again.census):
        assert [census.name_in(one) for one in ("en", "es", "fr")] == [
            "Village census",
            "Censo de la aldea",
            "Censo de la aldea",
        ]
        assert (census.name, census.country_in("es")) == ("Village census", "Nowhere")
    assert schema_digest(again) == schema_digest(named) != schema_digest(plain)
    assert plain.census.name_in("es") == "Village census"
    assert "names" not in canonical_json(plain)


@pytest.mark.parametrize(
    ("head", "line"),
    [
        ('name = { en = "Census", tlh = "toghbogh" }\n', "tlh"),
        ('name = { en = "" }\n', "empty"),
        ("name = {}\n", "Censo"),
        ("name = { en = 2021 }\n", "double quotes"),
        ('name = ""\n', "empty"),
    ],
)
def test_a_name_that_cannot_be_shown_is_refused(tmp_path: Path, head: str, line: str) -> None:
    with pytest.raises(DocumentError, match=line):
        read_schema(village(tmp_path, head))
