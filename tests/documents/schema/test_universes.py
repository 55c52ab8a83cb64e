"""Universes as a schema says them, and what is said about mistakes."""

from __future__ import annotations

from pathlib import Path

import pytest

from sdcensus.documents.schema.document import read_schema
from sdcensus.documents.schema.universes import universe_lines
from sdcensus.errors import DocumentError
from sdcensus.model.schema.schema import DeclaredUniverse, Schema
from sdcensus.model.text import Text
from tests.documents.schema.test_document import HEAD

ADULTS = """
[universe.adults]
condition = "age >= 15"
label = "15 and over"
description = "Those of working age, and older."
"""


def read(folder: Path, text: str, *, before: str = "") -> Schema:
    path = folder / "schema.toml"
    path.write_text(before + HEAD + text, encoding="utf-8", newline="\n")
    return read_schema(path)


def test_a_universe_has_a_name_a_condition_and_words(tmp_path: Path) -> None:
    schema = read(tmp_path, ADULTS + '[universe.young_men]\ncondition = "not adults"\n')
    (adults, young) = schema.universes
    assert adults.name == "adults"
    assert adults.condition == "age >= 15"
    assert adults.label.show() == "15 and over"
    assert adults.description.show() == "Those of working age, and older."
    assert (young.name, young.label) == ("young_men", Text())
    assert schema.variable("age").level("adults").universe


def test_the_lines_of_a_universe_are_read_as_that_universe(tmp_path: Path) -> None:
    odd = DeclaredUniverse(name="odd", condition="age in (1, '3', \"5\")", label=Text.of("Odd"))
    assert read(tmp_path, universe_lines(odd)).universes == (odd,)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('[universe.a]\nlabel = "A"\n', "'condition' is missing"),
        ('[universe.a]\ncondition = "age >= 15"\nwhen = "x"\n', "'when'"),
        ('[universe.a]\ncondition = "age >= 15"\nlabel = { xx = "A" }\n', "no language 'xx'"),
        ('[universe.a]\ncondition = "agee >= 15"\n', "no variable 'agee'"),
        ('[universe.a]\ncondition = "age >= "\n', "expected"),
        ('[universe.a]\ncondition = "b"\n', "no universe 'b'"),
        ('[universe.a]\ncondition = "age >= 0 or age < 0"\n', "true for"),
        ('[universe.a]\ncondition = "age >= 15 or rooms == 2"\n', "joined by 'and'"),
        ('[universe.a]\ncondition = "age >= 15 and rooms == 2"\n', "age >= 15 is no code of 'age'"),
        ('[universe.age]\ncondition = "rooms >= 2"\n', "'age' is the name of a variable"),
        ('[universe."a b"]\ncondition = "age >= 15"\n', "cannot be the name"),
        ("universe = 3\n", "[universe.adults]"),
    ],
)
def test_mistakes_are_named_with_their_line(tmp_path: Path, text: str, words: str) -> None:
    whole = text.startswith("universe =")
    with pytest.raises(DocumentError) as caught:
        read(tmp_path, "" if whole else text, before=text if whole else "")
    assert words in str(caught.value), str(caught.value)
    assert all(mistake.line for mistake in caught.value.mistakes)
