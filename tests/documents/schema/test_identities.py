"""Identities between units as a schema says them, and what is said about mistakes."""

from __future__ import annotations

from pathlib import Path

import pytest

from sdcensus.documents.schema.document import read_schema
from sdcensus.errors import DocumentError
from sdcensus.model.schema.identities import ties_of
from sdcensus.model.schema.schema import Schema, UnitIdentity
from sdcensus.model.schema.variable import Entity
from tests.documents.schema.test_document import HEAD

SIZE = """
[variable.size]
file = "household"
range = [1, 6]
"""
PLACE = """
[variable.place]
file = "person"
codes = { 1 = "Reference person", 2 = "Other" }
"""


def read(folder: Path, text: str) -> Schema:
    path = folder / "schema.toml"
    path.write_text(HEAD + text, encoding="utf-8", newline="\n")
    return read_schema(path)


def test_a_variable_counts_the_units_inside(tmp_path: Path) -> None:
    schema = read(tmp_path, SIZE + 'counts = "persons"\ncounts_open = [6]\n')
    size = schema.variable("size")
    assert (size.counts, size.counts_open) == (Entity.PERSON, ("6",))
    assert [tie.times for tie in ties_of(schema)] == [1, 2, 3, 4, 5]
    # Each setting changes what follows.
    assert [tie.times for tie in ties_of(read(tmp_path, SIZE + 'counts = "person"\n'))][-1] == 6
    assert ties_of(read(tmp_path, SIZE)) == ()


def test_identities_are_conditions_with_a_number(tmp_path: Path) -> None:
    text = (
        '[[identity]]\neach = "households"\nholds = "persons"\nwhen = "place == 1"\n'
        '[[identity]]\neach = "household"\nholds = "person"\ntimes = 2\nwhen = "rooms == 9"\n'
    )
    schema = read(tmp_path, PLACE + text)
    assert schema.identities == (
        UnitIdentity(each=Entity.HOUSEHOLD, holds=Entity.PERSON, when="place == 1"),
        UnitIdentity(each=Entity.HOUSEHOLD, holds=Entity.PERSON, when="rooms == 9", times=2),
    )
    reference, rooms = ties_of(schema)
    assert [variable.name for variable, _ in reference.shared(schema)] == []
    assert [variable.name for variable, _ in rooms.shared(schema)] == ["rooms"]
    assert (reference.times, rooms.times) == (1, 2)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (SIZE + 'counts = "people"\n', "people"),
        (SIZE + 'counts = "dwellings"\n', "dwelling"),
        (SIZE + 'counts = "households"\n', "do not lie in"),
        (SIZE + "counts_open = [6]\n", "'counts_open' belongs to 'counts'"),
        (SIZE + 'counts = "persons"\ncounts_open = [7]\n', "no code '7'"),
        (
            '[variable.kind]\nfile = "household"\ncodes = { a = "A" }\ncounts = "persons"\n',
            "no code is a whole number",
        ),
        (SIZE + 'count = "persons"\n', "counts"),
        ("identity = 3\n", "two pairs of brackets"),
        ('[[identity]]\neach = "household"\nholds = "person"\n', "'when' is missing"),
        ('[[identity]]\nholds = "person"\nwhen = "rooms == 1"\n', "'each' is missing"),
        (
            '[[identity]]\neach = "person"\nholds = "household"\nwhen = "rooms == 1"\n',
            "households do not lie in persons",
        ),
        (
            '[[identity]]\neach = "household"\nholds = "person"\nwhen = "rooms == 1 or age == 2"\n',
            "joined by 'and'",
        ),
        (
            '[[identity]]\neach = "household"\nholds = "person"\nwhen = "rooms >= 1"\n',
            "true for every record",
        ),
        (
            '[[identity]]\neach = "household"\nholds = "person"\nwhen = "roms == 1"\n',
            "rooms",
        ),
        (
            '[[identity]]\neach = "household"\nholds = "person"\nwhen = "rooms == 1"\ntimes = 0\n',
            "at least 1",
        ),
        (
            '[[identity]]\neach = "household"\nholds = "person"\nwhen = "rooms == 1"\ntime = 2\n',
            "times",
        ),
    ],
)
def test_mistakes_are_named_with_their_line(tmp_path: Path, text: str, words: str) -> None:
    if text.startswith("identity"):
        path = tmp_path / "schema.toml"
        path.write_text(text + HEAD, encoding="utf-8", newline="\n")
        with pytest.raises(DocumentError) as caught:
            read_schema(path)
    else:
        with pytest.raises(DocumentError) as caught:
            read(tmp_path, text)
    assert words in str(caught.value), str(caught.value)
    assert all(mistake.line for mistake in caught.value.mistakes)
