from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sdcensus.ingest.readers import ColumnKind, Reader, SourceColumn, lines
from tests.ingest.readers.helpers import opened, refusal, whole

OLD = """\
[Dictionary]
Version=CSPro 7.7
Label=Census of Isla Demo|Censo de Isla Demo
Name=CENSUS_DICT
RecordTypeStart=1
RecordTypeLen=1
Positions=Relative
ZeroFill=Yes
DecimalChar=No
SecurityOptions=3F804FBE

[Languages]
EN=English
ES=Español

[Level]
Label=Questionnaire
Name=QUEST

[IdItems]

[Item]
Label=District
Name=DISTRICT
Start=2
Len=2
DataType=Numeric
ZeroFill=Yes

[Item]
Label=Household
Name=HH
Start=4
Len=3
DataType=Numeric

[Record]
Label=Housing
Name=HOUSING
RecordTypeValue='1'
RecordLen=20

[Item]
Label=Rent
Name=RENT
Start=7
Len=6
DataType=Numeric
Decimal=2

[Item]
Label=Area
Name=AREA
Start=13
Len=5
DataType=Numeric
Decimal=1
DecimalChar=Yes

[Record]
Label=Person
Name=PERSON
RecordTypeValue='2'
MaxRecords=30
RecordLen=40

[Item]
Label=Name
Name=NAME
Start=7
Len=6
DataType=Alpha

[Item]
Label=Sex|Sexo
Name=SEX
Start=13
Len=1

[ValueSet]
Label=Sex
Name=SEX_VS1
Value=1;Male|Hombre
Note=not used
Value=2;Female|Mujer
Value=9;Not stated
Name=MISSING,Special

[ValueSet]
Label=Sex, short
Name=SEX_VS2
Value=1 2;Anyone

[Item]
Label=Where born
Name=BORN
Start=14
Len=2
ZeroFill=Yes

[ValueSet]
Label=Where born
Name=BORN_VS1
Link=7
Value=1:3;Isla Demo
Value=10;Elsewhere; far away
Value='  ';Not applicable
Name=NOTAPPL,Special
Value=98 99;Unknown
Name=REFUSED,Special

[Item]
Label=Date of birth
Name=DOB
Start=16
Len=6
Occurrences=2
OccurrenceLabel=1,first
OccurrenceLabel=2,second

[Item]
Label=Year
Name=DOB_YEAR
Start=16
Len=4
ItemType=SubItem

[Item]
Label=Month
Name=DOB_MONTH
Start=20
Len=2
ItemType=SubItem

[Item]
Label=Tongue
Name=TONGUE
Start=28
Len=1
DataType=Alpha

[ValueSet]
Label=Tongue
Name=TONGUE_VS1
Value='E';English
Value="S";Spanish

[Relation]
Name=R
Primary=PERSON
"""

NEW: dict[str, Any] = {
    "software": "CSPro",
    "version": 8.0,
    "fileType": "dictionary",
    "name": "CENSUS_DICT",
    "labels": [{"text": "Census"}],
    "recordType": {"start": 1, "length": 1},
    "defaults": {"decimalMark": True, "zeroFill": False},
    "relativePositions": True,
    "levels": [
        {
            "name": "QUEST",
            "ids": {
                "items": [
                    {
                        "name": "DISTRICT",
                        "labels": [{"text": "District"}],
                        "contentType": "numeric",
                        "start": 2,
                        "length": 2,
                        "zeroFill": True,
                    },
                    {
                        "name": "HH",
                        "labels": [{"text": "Household"}],
                        "contentType": "numeric",
                        "start": 4,
                        "length": 3,
                    },
                ]
            },
            "records": [
                {
                    "name": "HOUSING",
                    "recordType": "1",
                    "occurrences": {"required": True, "maximum": 1},
                    "items": [
                        {
                            "name": "RENT",
                            "labels": [{"text": "Rent"}],
                            "contentType": "numeric",
                            "length": 6,
                            "decimals": 2,
                            "decimalMark": False,
                        },
                        {
                            "name": "AREA",
                            "labels": [{"text": "Area"}],
                            "contentType": "numeric",
                            "length": 5,
                            "decimals": 1,
                            "decimalMark": True,
                        },
                    ],
                },
                {
                    "name": "PERSON",
                    "recordType": "2",
                    "occurrences": {"required": False, "maximum": 30},
                    "items": [
                        {
                            "name": "NAME",
                            "labels": [{"text": "Name"}],
                            "contentType": "alpha",
                            "length": 6,
                        },
                        {
                            "name": "SEX",
                            "labels": [
                                {"text": "Sex", "language": "EN"},
                                {"text": "Sexo", "language": "ES"},
                            ],
                            "contentType": "numeric",
                            "length": 1,
                            "valueSets": [
                                {
                                    "name": "SEX_VS1",
                                    "values": [
                                        {
                                            "labels": [{"text": "Male"}],
                                            "pairs": [{"value": "1"}],
                                        },
                                        {
                                            "labels": [{"text": "Female"}],
                                            "pairs": [{"value": "2"}],
                                        },
                                        {
                                            "labels": [{"text": "Not stated"}],
                                            "special": "MISSING",
                                            "pairs": [{"value": "9"}],
                                        },
                                    ],
                                }
                            ],
                        },
                        {
                            "name": "BORN",
                            "labels": [{"text": "Where born"}],
                            "contentType": "numeric",
                            "length": 2,
                            "zeroFill": True,
                            "valueSets": [
                                {
                                    "name": "BORN_VS1",
                                    "values": [
                                        {
                                            "labels": [{"text": "Isla Demo"}],
                                            "pairs": [{"range": ["1", "3"]}],
                                        },
                                        {
                                            "labels": [{"text": "Elsewhere; far away"}],
                                            "pairs": [{"value": "10"}],
                                        },
                                        {
                                            "labels": [{"text": "Not applicable"}],
                                            "special": "NOTAPPL",
                                            "pairs": [{"value": ""}],
                                        },
                                        {
                                            "labels": [{"text": "Unknown"}],
                                            "special": "REFUSED",
                                            "pairs": [{"value": "98"}, {"value": "99"}],
                                        },
                                    ],
                                }
                            ],
                        },
                        {
                            "name": "DOB",
                            "labels": [{"text": "Date of birth"}],
                            "contentType": "numeric",
                            "length": 6,
                            "occurrences": {"maximum": 2},
                        },
                        {
                            "name": "DOB_YEAR",
                            "labels": [{"text": "Year"}],
                            "contentType": "numeric",
                            "subitem": True,
                            "subitemOffset": 0,
                            "length": 4,
                        },
                        {
                            "name": "DOB_MONTH",
                            "labels": [{"text": "Month"}],
                            "contentType": "numeric",
                            "subitem": True,
                            "subitemOffset": 4,
                            "length": 2,
                        },
                        {
                            "name": "TONGUE",
                            "labels": [{"text": "Tongue"}],
                            "contentType": "alpha",
                            "length": 1,
                            "valueSets": [
                                {
                                    "name": "TONGUE_VS1",
                                    "values": [
                                        {
                                            "labels": [{"text": "English"}],
                                            "pairs": [{"value": "E"}],
                                        },
                                        {
                                            "labels": [{"text": "Spanish"}],
                                            "pairs": [{"value": "S"}],
                                        },
                                    ],
                                }
                            ],
                        },
                    ],
                },
            ],
        }
    ],
}

DATA = (
    "101  1012550  9.5\n"
    "201  1Ana   101198705200312E\n"
    "~01  1Gone  101198705200312E\n"
    "201  1José  2 3            S\n"
    "\n"
    "1 2 17     5\n"
    "202 17Zo"
)


@pytest.fixture(params=["sections", "json"])
def census(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A data file with its dictionary beside it, written in the old or the new way."""
    path = tmp_path / "census.dat"
    path.write_text(DATA, encoding="utf-8", newline="")
    old = "\ufeff" + OLD.replace("\n", "\r\n")
    text = json.dumps(NEW) if request.param == "json" else old
    path.with_suffix(".dcf").write_text(text, encoding="utf-8", newline="")
    return path


def _column(reader: Reader, name: str) -> SourceColumn:
    return next(column for column in reader.columns() if column.name == name)


def test_one_record_type_is_read_with_the_id_items(census: Path) -> None:
    assert whole(opened(census, record="PERSON")) == {
        "DISTRICT": ["01", "01", "02"],
        "HH": ["1", "1", "17"],
        "NAME": ["Ana", "José", "Zo"],
        "SEX": ["1", "2", None],
        "BORN": ["01", "03", None],
        "DOB_1": ["198705", None, None],
        "DOB_2": ["200312", None, None],
        "DOB_YEAR_1": ["1987", None, None],
        "DOB_YEAR_2": ["2003", None, None],
        "DOB_MONTH_1": ["05", None, None],
        "DOB_MONTH_2": ["12", None, None],
        "TONGUE": ["E", "S", None],
    }


def test_implied_decimals_get_their_point_and_written_ones_stay(census: Path) -> None:
    assert whole(opened(census, record="housing")) == {
        "DISTRICT": ["01", "02"],
        "HH": ["1", "17"],
        "RENT": ["0125.50", "0.05"],
        "AREA": ["9.5", None],
    }


def test_value_sets_are_offered_as_labels_with_codes_as_the_data_have_them(census: Path) -> None:
    reader = opened(census, record="PERSON")
    sex = _column(reader, "SEX")
    assert sex.label == "Sex"
    assert sex.kind is ColumnKind.TEXT
    assert sex.width == 1
    assert sex.value_labels == (("1", "Male"), ("2", "Female"), ("9", "Not stated"))
    assert sex.missing == ("9",)
    born = _column(reader, "BORN")
    assert born.value_labels == (
        ("01", "Isla Demo"),
        ("02", "Isla Demo"),
        ("03", "Isla Demo"),
        ("10", "Elsewhere; far away"),
        ("98", "Unknown"),
        ("99", "Unknown"),
    )
    assert born.missing == ("98", "99")
    assert _column(reader, "TONGUE").value_labels == (("E", "English"), ("S", "Spanish"))


def test_the_record_type_must_be_named_where_there_are_several(census: Path) -> None:
    assert "several record types: HOUSING, PERSON" in refusal(census)
    message = refusal(census, record="PERSONS")
    assert "There is no record type 'PERSONS'" in message
    assert "'PERSON'" in message


def test_a_dictionary_elsewhere_can_be_named(census: Path, tmp_path: Path) -> None:
    dictionary = tmp_path / "other" / "d.dcf"
    dictionary.parent.mkdir()
    census.with_suffix(".dcf").replace(dictionary)
    assert "needs its dictionary" in refusal(census, record="PERSON")
    found = whole(opened(census, record="PERSON", dictionary=dictionary), ["NAME"])
    assert found == {"NAME": ["Ana", "José", "Zo"]}
    assert "no file" in refusal(census, record="PERSON", dictionary=tmp_path / "none.dcf")


def test_older_encodings_of_data_and_dictionary(census: Path) -> None:
    dictionary = census.with_suffix(".dcf")
    text = dictionary.read_text(encoding="utf-8-sig").replace("Where born", "Dónde nació")
    dictionary.write_bytes(text.encode("cp1252", "replace"))
    census.write_bytes(DATA.encode("cp1252"))
    reader = opened(census, record="PERSON", encoding="cp1252")
    assert whole(reader, ["NAME"]) == {"NAME": ["Ana", "José", "Zo"]}
    if "\\u" not in text:
        assert _column(reader, "BORN").label == "Dónde nació"


def test_many_blocks_and_batches_give_the_same(
    census: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    census.write_text((DATA + "\n") * 40, encoding="utf-8", newline="")
    at_once = whole(opened(census, record="PERSON"))
    monkeypatch.setattr(lines, "_BLOCK", 33)
    assert whole(opened(census, record="PERSON"), rows=2) == at_once
    assert at_once["NAME"] == ["Ana", "José", "Zo"] * 40


def test_a_line_of_an_unknown_record_type_is_an_error(census: Path) -> None:
    census.write_text("101  1\n301  1SECRET\n", encoding="utf-8", newline="")
    message = refusal(census, record="PERSON")
    assert "line 2 is of a record type" in message
    assert "'1', '2'" in message
    assert "SECRET" not in message


def test_a_record_type_without_lines_has_no_rows(census: Path) -> None:
    census.write_text("101  1\n", encoding="utf-8", newline="")
    assert whole(opened(census, record="PERSON"), ["SEX"]) == {"SEX": []}


def test_numbers_that_are_not_zero_filled_get_their_zeros_and_others_stay(census: Path) -> None:
    census.write_text(
        "2 1  1Ana   1 1\n2-1  1Ana   1-1\n2 x  1Ana   1??\n", encoding="utf-8", newline=""
    )
    found = whole(opened(census, record="PERSON"), ["DISTRICT", "BORN"])
    assert found == {"DISTRICT": ["01", "-1", "x"], "BORN": ["01", "-1", "??"]}


def _write(tmp_path: Path, dictionary: dict[str, Any] | str, data: str) -> Path:
    path = tmp_path / "c.dat"
    path.write_text(data, encoding="utf-8", newline="")
    text = dictionary if isinstance(dictionary, str) else json.dumps(dictionary)
    path.with_suffix(".dcf").write_text(text, encoding="utf-8", newline="")
    return path


def test_levels_below_the_first_have_the_ids_of_those_above(tmp_path: Path) -> None:
    def level(name: str, id_name: str, record: str, kind: str, item: str) -> dict[str, Any]:
        return {
            "name": name,
            "ids": {"items": [{"name": id_name, "contentType": "numeric", "length": 2}]},
            "records": [
                {
                    "name": record,
                    "recordType": kind,
                    "items": [{"name": item, "contentType": "alpha", "length": 3}],
                }
            ],
        }

    dictionary = {
        "recordType": {"start": 1, "length": 1},
        "relativePositions": True,
        "levels": [
            level("L1", "HH", "HOUSE", "H", "ROOF"),
            level("L2", "WOMAN", "BIRTHS", "B", "CHILD"),
        ],
    }
    # The items of a record follow the ids of all levels, also of those below it.
    path = _write(tmp_path, dictionary, "H07  tin\nB0701Bob\nB0702Eve\n")
    assert whole(opened(path, record="HOUSE")) == {"HH": ["07"], "ROOF": ["tin"]}
    assert whole(opened(path, record="BIRTHS")) == {
        "HH": ["07", "07"],
        "WOMAN": ["01", "02"],
        "CHILD": ["Bob", "Eve"],
    }


def test_absolute_positions_may_leave_holes_and_put_the_type_anywhere(tmp_path: Path) -> None:
    text = (
        "[Dictionary]\nRecordTypeStart=5\nRecordTypeLen=2\nPositions=Absolute\n"
        "[Level]\nName=L\n[IdItems]\n[Item]\nName=ID\nStart=1\nLen=3\n"
        "[Record]\nName=R\nRecordTypeValue='P1'\n[Item]\nName=X\nStart=10\nLen=2\n"
        "[Record]\nName=S\nRecordTypeValue='P2'\n[Item]\nName=Y\nStart=8\nLen=1\n"
    )
    path = _write(tmp_path, text, "001xP1  z42\n002xP2 8\n")
    assert whole(opened(path, record="R")) == {"ID": ["001"], "X": ["42"]}
    assert whole(opened(path, record="S")) == {"ID": ["002"], "Y": ["8"]}


def test_a_file_with_one_record_type_needs_no_type(tmp_path: Path) -> None:
    dictionary = {
        "recordType": {"start": 0, "length": 0},
        "relativePositions": True,
        "levels": [
            {
                "ids": {"items": [{"name": "CODE", "contentType": "numeric", "length": 3}]},
                "records": [
                    {
                        "name": "REC",
                        "items": [
                            {"name": "PHOTO", "contentType": "image"},
                            {"name": "TEXT", "contentType": "alpha", "length": 4},
                        ],
                    }
                ],
            }
        ],
    }
    path = _write(tmp_path, dictionary, "001 abcd\n002 efgh\n")
    assert whole(opened(path)) == {"CODE": ["001", "002"], "TEXT": ["abcd", "efgh"]}


def test_repeated_subitems_of_repeated_items(tmp_path: Path) -> None:
    item = {"contentType": "numeric"}
    dictionary = {
        "relativePositions": True,
        "levels": [
            {
                "ids": {"items": [{"name": "ID", "contentType": "numeric", "length": 1}]},
                "records": [
                    {
                        "name": "R",
                        "items": [
                            item | {"name": "G", "length": 4, "occurrences": {"maximum": 2}},
                            item
                            | {
                                "name": "S",
                                "length": 1,
                                "subitem": True,
                                "subitemOffset": 2,
                                "occurrences": {"maximum": 2},
                            },
                            item | {"name": "AFTER", "length": 1},
                        ],
                    }
                ],
            }
        ],
    }
    path = _write(tmp_path, dictionary, "9abcdefgh!\n")
    assert whole(opened(path)) == {
        "ID": ["9"],
        "G_1": ["abcd"],
        "G_2": ["efgh"],
        "S_1_1": ["c"],
        "S_1_2": ["d"],
        "S_2_1": ["g"],
        "S_2_2": ["h"],
        "AFTER": ["!"],
    }


def test_linked_value_sets_are_written_once_and_known_twice(tmp_path: Path) -> None:
    base = OLD.replace(
        "[Item]\nLabel=Tongue\n",
        "[Item]\nLabel=Where now\nName=NOW\nStart=29\nLen=2\nZeroFill=Yes\n\n"
        "[ValueSet]\nName=NOW_VS1\nLink=7\n\n[Item]\nLabel=Tongue\n",
    )
    reader = opened(_write(tmp_path, base, DATA), record="PERSON")
    assert _column(reader, "NOW").value_labels == _column(reader, "BORN").value_labels


def test_long_ranges_are_not_written_out(tmp_path: Path) -> None:
    text = OLD.replace("Value=1:3;Isla Demo", "Value=0:5000;Many\nValue=0.5:1.5;Fractions")
    born = _column(opened(_write(tmp_path, text, DATA), record="PERSON"), "BORN")
    assert [code for code, _ in born.value_labels] == ["10", "98", "99"]


def _changed(change: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
    dictionary = copy.deepcopy(NEW)
    change(dictionary)
    return dictionary


def _person(dictionary: dict[str, Any]) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = dictionary["levels"][0]["records"][1]["items"]
    return items


@pytest.mark.parametrize(
    ("dictionary", "complaint"),
    [
        ("nothing of the kind", "line 1 is neither"),
        ("Name=x\n", "line 1 is neither"),
        ("[Dictionary]\nName=x\n", "no [Level]"),
        ("[Dictionary]\n[Item]\nName=x\n", "line 2: a section [Item] cannot stand here"),
        ("[Dictionary]\n[Level]\n[ValueSet]\n", "line 3: a section [ValueSet]"),
        ("[Dictionary]\n[Record]\n", "line 2: a section [Record]"),
        (OLD.replace("Len=6\nDataType=Alpha", "Len=six"), "'six' is not a whole number"),
        (OLD.replace("Name=SEX\n", ""), "has no name"),
        (OLD.replace("Name=SEX\n", "Name=NAME\n"), "same name 'NAME'"),
        (OLD.replace("RecordTypeLen=1", "RecordTypeLen=0"), "does not say where"),
        ("{", "not valid JSON"),
        ("{}", "no record types"),
        ({"levels": 5}, "levels is not a list"),
        ({"levels": [5]}, "a level is not written"),
        (_changed(lambda d: d.update(relativePositions=False)), "does not say where it starts"),
        (_changed(lambda d: _person(d)[0].update(length="6")), "length is a whole number"),
        (_changed(lambda d: _person(d)[0].update(length=0)), "a start and a length from 1"),
        (_changed(lambda d: _person(d)[0].update(subitem=True)), "a subitem without an item"),
        (_changed(lambda d: _person(d)[0].update(occurrences=0)), "occurrences are"),
        (_changed(lambda d: _person(d)[0].pop("name")), "has no name"),
    ],
)
def test_mistakes_in_the_dictionary_are_named(
    tmp_path: Path, dictionary: dict[str, Any] | str, complaint: str
) -> None:
    message = refusal(_write(tmp_path, dictionary, DATA), record="PERSON")
    assert message.startswith("c.dcf")
    assert complaint in message


def test_a_database_of_cspro_is_recognised(tmp_path: Path) -> None:
    path = _write(tmp_path, NEW, DATA)
    path.write_bytes(b"SQLite format 3\0" + b"\0" * 100)
    assert "has the ending .csdb" in refusal(path, record="PERSON")
