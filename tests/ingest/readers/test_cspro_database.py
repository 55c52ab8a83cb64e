"""CSPro databases hold what the text file of the same cases holds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hypothesis import given, strategies as st

from sdcensus.model.schema.source import FileFormat
from tests.ingest.readers.cspro_database import Case, write_csdb
from tests.ingest.readers.helpers import opened, refusal, whole

Items = list[dict[str, Any]]
IDS: Items = [{"name": "HH", "labels": [{"text": "Hogar"}], "length": 4, "zeroFill": True}]
HOUSING: Items = [
    {
        "name": "RENT",
        "labels": [{"text": "Renta"}],
        "length": 6,
        "decimals": 2,
        "decimalMark": True,
    },
    {"name": "ROOM", "labels": [{"text": "Pieza"}], "length": 2, "occurrences": {"maximum": 3}},
]
PERSON: Items = [
    {
        "name": "SEX",
        "labels": [{"text": "Sexo", "language": "ES"}, {"text": "Sex", "language": "EN"}],
        "length": 1,
        "valueSets": [
            {
                "name": "SEX_VS1",
                "values": [
                    {"labels": [{"text": "Hombre"}, {"text": "Male"}], "pairs": [{"value": 1}]},
                    {"labels": [{"text": "Mujer"}, {"text": "Female"}], "pairs": [{"value": 2}]},
                ],
            }
        ],
    },
    {
        "name": "AGE",
        "labels": [{"text": "Edad"}, {"text": "Age"}],
        "length": 3,
        "zeroFill": True,
        "valueSets": [
            {
                "name": "AGE_VS1",
                "values": [
                    {"labels": [{"text": "Años"}], "pairs": [{"range": [0, 120]}]},
                    {
                        "labels": [{"text": "Ignorado"}],
                        "pairs": [{"value": 999}],
                        "special": "MISSING",
                    },
                ],
            }
        ],
    },
    {"name": "NAME", "labels": [{"text": "Nombre"}], "length": 8, "contentType": "alpha"},
]
DICTIONARY: dict[str, Any] = {
    "software": "CSPro",
    "version": 8.0,
    "fileType": "dictionary",
    "languages": [{"name": "ES", "label": "Español"}, {"name": "EN", "label": "English"}],
    "name": "CENSUS",
    "labels": [{"text": "Censo"}],
    "relativePositions": True,
    "recordType": {"start": 1, "length": 1},
    "levels": [
        {
            "name": "QUEST",
            "ids": {"items": IDS},
            "records": [
                {
                    "name": "HOUSING",
                    "recordType": "1",
                    "items": HOUSING,
                    "occurrences": {"required": True, "maximum": 1},
                },
                {
                    "name": "PERSON",
                    "recordType": "2",
                    "items": PERSON,
                    "occurrences": {"required": True, "maximum": 30},
                },
            ],
        }
    ],
}

PERSONS = st.fixed_dictionaries(
    {
        "sex": st.one_of(st.none(), st.integers(1, 2)),
        "age": st.integers(0, 120),
        "name": st.text("abcñ ", max_size=8),
    }
)
HOUSINGS = st.fixed_dictionaries(
    {
        "rent": st.one_of(st.none(), st.integers(0, 99999).map(lambda cents: cents / 100)),
        "room(1)": st.integers(0, 99),
        "room(2)": st.one_of(st.none(), st.integers(0, 99)),
        "room(3)": st.none(),
    }
)
CASES = st.lists(st.tuples(HOUSINGS, st.lists(PERSONS, max_size=3)), min_size=1, max_size=5)


def _blank(value: Any, width: int, *, zeros: bool = False) -> str:
    if value is None:
        return " " * width
    return str(value).zfill(width) if zeros else str(value).rjust(width)


def _text(cases: list[Case]) -> str:
    """The cases as CSPro exports them to text."""
    lines = []
    for identity, records in cases:
        hh = _blank(identity["hh"], 4, zeros=True)
        for housing in records["housing"]:
            rent = housing["rent"]
            rooms = "".join(_blank(housing[f"room({place})"], 2) for place in (1, 2, 3))
            lines.append(f"1{hh}{_blank(None if rent is None else f'{rent:.2f}', 6)}{rooms}")
        for person in records["person"]:
            age = _blank(person["age"], 3, zeros=True)
            lines.append(f"2{hh}{_blank(person['sex'], 1)}{age}{person['name']:8}")
    return "\n".join(lines) + "\n"


@given(drawn=CASES)
def test_a_database_gives_what_the_text_file_gives(
    tmp_path_factory: Any, drawn: list[tuple[dict[str, Any], list[dict[str, Any]]]]
) -> None:
    folder: Path = tmp_path_factory.mktemp("csdb")
    cases: list[Case] = [
        ({"hh": number}, {"housing": [housing], "person": persons})
        for number, (housing, persons) in enumerate(drawn, start=1)
    ]
    (folder / "c.dcf").write_text(json.dumps(DICTIONARY), encoding="utf-8", newline="\n")
    ordered = list(reversed(cases))  # the file order of the written database
    (folder / "c.dat").write_text(_text(ordered), encoding="utf-8", newline="\n")
    write_csdb(folder / "c.csdb", DICTIONARY, cases)
    for record in ("HOUSING", "PERSON"):
        text = opened(folder / "c.dat", record=record, dictionary=folder / "c.dcf")
        database = opened(folder / "c.csdb", record=record)
        assert database.columns() == text.columns()
        assert whole(database) == whole(text)


def test_deleted_cases_are_passed_over_and_batches_are_small(tmp_path: Path) -> None:
    housing = {"rent": None, "room(1)": 1, "room(2)": None, "room(3)": None}
    cases: list[Case] = [({"hh": number}, {"housing": [housing]}) for number in range(1, 8)]
    path = write_csdb(tmp_path / "c.csdb", DICTIONARY, cases, deleted=[0, 3])
    reader = opened(path, record="HOUSING")
    batches = list(reader.batches(["HH"], rows=2))
    assert [batch.num_rows for batch in batches] == [2, 2, 1]
    assert whole(reader, ["HH"])["HH"] == ["0007", "0006", "0005", "0003", "0002"]


def test_files_that_are_no_databases_of_cspro_are_refused(tmp_path: Path) -> None:
    other = tmp_path / "other.csdb"
    other.write_text("no database", encoding="utf-8", newline="\n")
    assert "not a CSPro database" in refusal(other, record="PERSON")
    damaged = write_csdb(tmp_path / "damaged.csdb", DICTIONARY, [])
    damaged.write_bytes(damaged.read_bytes()[:2000])
    assert "cannot be read" in refusal(damaged, record="PERSON")
    early = write_csdb(tmp_path / "early.csdb", DICTIONARY, [], version=2)
    assert "export it as text" in refusal(early, record="PERSON")
    text = tmp_path / "c.dat"
    text.write_text("1", encoding="utf-8", newline="\n")
    sound = write_csdb(tmp_path / "c.csdb", DICTIONARY, [])
    assert "cannot be read as one" in refusal(sound, text, format=FileFormat.CSPRO, record="X")
