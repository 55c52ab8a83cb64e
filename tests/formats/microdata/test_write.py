"""All files or none, the same bytes every time, whatever names, codes and labels are."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from sdcensus.errors import InputError, OutputError, SpecError
from sdcensus.formats.microdata import write
from sdcensus.formats.microdata.ddi import write_ddi
from sdcensus.formats.microdata.layout import parts_of
from sdcensus.formats.microdata.nada import write_nada
from sdcensus.formats.microdata.read import read_microdata, table_texts
from sdcensus.formats.microdata.write import write_microdata
from sdcensus.model.release.plan import Layout, MicrodataFormat
from sdcensus.model.release.release_file import ReleaseFile, ReleaseTable
from sdcensus.model.schema.variable import Code, CodeKind, Entity
from sdcensus.model.text import Text
from tests.formats.microdata.release_example import (
    SEX,
    codes_column,
    example,
    number_column,
)

ALL = tuple(MicrodataFormat)


def test_the_same_file_gives_the_same_bytes_at_any_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    contents = []
    for name in ("first", "second"):
        folder = tmp_path / name
        folder.mkdir()
        write_microdata(example(), folder, ALL)
        write_ddi(example(), folder)
        write_nada(example(), folder)
        contents.append({path.name: path.read_bytes() for path in folder.iterdir()})
        monkeypatch.setattr(time, "time", lambda: 4_102_444_800.0)
    assert contents[0] == contents[1]
    told = [os.environ.get(name, "") for name in ("USER", "HOSTNAME", "LOGNAME")]
    for word in (str(tmp_path), os.uname().nodename if hasattr(os, "uname") else "", *told):
        if len(word) > 3:
            assert not any(word.encode() in content for content in contents[0].values())


@pytest.mark.parametrize("layout", list(Layout))
def test_all_formats_are_read_back_as_what_was_written(tmp_path: Path, layout: Layout) -> None:
    file = example()
    paths = write_microdata(file, tmp_path, ALL, layout)
    assert {path.name for path in tmp_path.iterdir()} == {path.name for path in paths}
    for part in parts_of(file, layout):
        expected = table_texts(part.table)
        files = sorted(tmp_path.glob(f"{part.stem}.*"))
        assert len(files) == 6
        for path in files:
            assert read_microdata(path).differs_from(expected) == (), path.name


def test_a_changed_value_is_seen(tmp_path: Path) -> None:
    file = example()
    write_microdata(file, tmp_path, [MicrodataFormat.CSV])
    path = tmp_path / "puf-persons.csv"
    path.write_text(path.read_text(encoding="utf-8").replace("\n1,1,1,", "\n1,1,2,"), "utf-8")
    expected = table_texts(file.table(Entity.PERSON))
    assert read_microdata(path).differs_from(expected) == ("sex",)


words = st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]), max_size=12)
plain = st.sampled_from(
    [
        *("", " ", "0", "00", "01", "-1", "-0", "12", "3 ", "é", ".a", "a", "NA", "nan"),
        *('q"', "a,b", "l\n2", "\r"),
    ]
)
code_words = st.one_of(
    plain, words, st.integers(-(10**18), 10**18).map(str), st.text("ñ", max_size=140)
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    lists=st.lists(
        st.lists(
            st.tuples(code_words, st.sampled_from(list(CodeKind)), st.text(max_size=130)),
            min_size=1,
            max_size=8,
            unique_by=lambda code: code[0],
        ),
        min_size=1,
        max_size=4,
    ),
    names=st.lists(
        st.one_of(words, st.sampled_from(["if", "IF", "_n", "_N", "All", "str12", "x" * 70])),
        min_size=4,
        max_size=4,
        unique=True,
    ),
    rows=st.integers(0, 5),
)
def test_any_code_list_comes_back_from_every_format(
    tmp_path_factory: pytest.TempPathFactory,
    lists: list[list[tuple[str, CodeKind, str]]],
    names: list[str],
    rows: int,
) -> None:
    """Empty codes, leading zeros, blanks at the end, letters of all kinds, huge numbers."""
    columns = [number_column("person number", np.arange(rows))]
    for name, codes in zip(names, lists, strict=False):
        known = [Code(word, Text.of(label), kind) for word, kind, label in codes]
        columns.append(codes_column(name, known, np.arange(rows)))
    table = ReleaseTable(entity=Entity.PERSON, columns=tuple(columns))
    file = replace(example(), tables=(table,), languages=("en",))
    folder = tmp_path_factory.mktemp("any")
    expected = table_texts(table)
    for path in write_microdata(file, folder, ALL)[:4]:
        assert read_microdata(path).differs_from(expected) == (), path.name


def test_more_missing_codes_than_formats_have_room_for_come_back(tmp_path: Path) -> None:
    for count in (3, 4, 26, 27, 40):
        none = [Code(str(900 + each), Text(), CodeKind.NOT_STATED) for each in range(count)]
        column = codes_column("many", [*SEX, *none], np.arange(60))
        table = ReleaseTable(
            entity=Entity.PERSON, columns=(number_column("person", np.arange(60)), column)
        )
        folder = tmp_path / str(count)
        folder.mkdir()
        for path in write_microdata(replace(example(), tables=(table,)), folder, ALL)[:6]:
            assert read_microdata(path).differs_from(table_texts(table)) == (), path.name


def test_a_census_without_households_is_one_file_in_both_layouts(tmp_path: Path) -> None:
    file = example(households=0)
    linked = write_microdata(file, tmp_path, [MicrodataFormat.CSV], Layout.LINKED)
    flat = write_microdata(replace(file, name="flat"), tmp_path, [MicrodataFormat.CSV], Layout.FLAT)
    assert [path.name for path in linked] == [
        "puf-persons.csv",
        "puf-variables.csv",
        "puf-codes.csv",
    ]
    assert linked[0].read_bytes() == flat[0].read_bytes()


def households(file: ReleaseFile) -> ReleaseTable:
    return file.table(Entity.HOUSEHOLD)


def test_a_flat_file_loses_no_household(tmp_path: Path) -> None:
    file = example(households=40, persons=38)
    with pytest.raises(SpecError, match=r"2 households of this file have none.*layout = .linked"):
        write_microdata(file, tmp_path, ALL, Layout.FLAT)
    assert not list(tmp_path.iterdir())
    write_microdata(file, tmp_path, ALL, Layout.LINKED)  # as the message says


def test_persons_without_household_stay_in_a_flat_file(tmp_path: Path) -> None:
    file = example(households=4, persons=20)
    persons = file.table(Entity.PERSON)
    lost = persons.column("household").values.copy()
    lost[7] = 0
    columns = [
        replace(column, values=lost) if column.name == "household" else column
        for column in persons.columns
    ]
    places = (*SEX, Code("9", Text(), CodeKind.NOT_STATED))
    home = households(file)
    stated = codes_column("ed@parish", places, np.arange(4))
    home = replace(home, columns=(home.columns[0], stated, home.columns[2]))
    flat = replace(file, tables=(home, replace(persons, columns=tuple(columns))))
    for path in write_microdata(flat, tmp_path, ALL, Layout.FLAT)[:6]:
        table = read_microdata(path)
        assert table.rows == 20
        assert table.columns["ed@parish"].to_pylist()[6:9] == ["9", "", "1"]
        assert table.columns["household_weight"].to_pylist()[7] == ""
    # With the empty text as a code nobody could tell who has no household.
    with pytest.raises(SpecError, match="empty text as a code"):
        write_microdata(
            replace(flat, tables=(households(file), flat.tables[1]), name="empty"),
            tmp_path,
            ALL,
            Layout.FLAT,
        )


def test_a_file_that_exists_stays_as_it_is(tmp_path: Path) -> None:
    there = tmp_path / "puf-persons.dta"
    there.write_text("mine")
    with pytest.raises(OutputError, match="already exists"):
        write_microdata(example(), tmp_path, ALL)
    assert list(tmp_path.iterdir()) == [there]


def test_a_run_that_breaks_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def breaking(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(write, "write_codes", breaking)
    with pytest.raises(KeyboardInterrupt):
        write_microdata(example(), tmp_path, ALL)
    assert not list(tmp_path.iterdir())


def test_progress_grows_to_the_end(tmp_path: Path) -> None:
    shares: list[float] = []
    write_microdata(example(), tmp_path, ALL, progress=lambda stage, done: shares.append(done))
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


def test_numbers_that_would_lose_digits_are_refused(tmp_path: Path) -> None:
    file = example()
    persons = file.table(Entity.PERSON)
    columns = list(persons.columns)
    columns[8] = replace(columns[8], values=columns[8].values + (1 << 54))
    large = replace(file, tables=(households(file), replace(persons, columns=tuple(columns))))
    with pytest.raises(SpecError, match="income has numbers that the format dta"):
        write_microdata(large, tmp_path, [MicrodataFormat.DTA])
    assert not list(tmp_path.iterdir())
    write_microdata(large, tmp_path, [MicrodataFormat.CSV])
    table = read_microdata(tmp_path / "puf-persons.csv")
    assert table.differs_from(table_texts(large.tables[1])) == ()


def test_damaged_and_lonely_files_are_told(tmp_path: Path) -> None:
    paths = write_microdata(example(), tmp_path, ALL)
    for path in paths:
        if path.suffix in (".sav", ".dta", ".parquet"):
            path.write_bytes(path.read_bytes()[: len(path.read_bytes()) // 2])
            with pytest.raises(InputError, match="cannot be read"):
                read_microdata(path)
    (tmp_path / "puf-variables.csv").unlink()
    with pytest.raises(InputError, match="missing"):
        read_microdata(tmp_path / "puf-persons.sav")
    with pytest.raises(InputError, match=r"end in \.csv"):
        read_microdata(tmp_path / "puf-persons.xlsx")


@pytest.mark.parametrize("size", [255, 256, 257])
def test_lists_that_fill_a_byte_and_columns_without_value_come_back(
    tmp_path: Path, size: int
) -> None:
    """Positions are kept in the smallest type, and "nothing there" needs one position more."""
    places = np.arange(size).astype(np.uint8 if size <= 256 else np.uint16)
    none = np.arange(size) % 2 == 0
    known = [Code(f"c{each}", Text()) for each in range(size)]
    columns = (
        number_column("person", np.arange(size)),
        replace(codes_column("area", known, np.arange(size)), values=places, absent=none),
        replace(codes_column("twice", [*SEX, *SEX], np.arange(size)), absent=none),
    )
    table = ReleaseTable(entity=Entity.PERSON, columns=columns)
    file = replace(example(), tables=(table,), languages=("en",))
    for path in write_microdata(file, tmp_path, ALL)[:4]:
        assert read_microdata(path).differs_from(table_texts(table)) == (), path.name
