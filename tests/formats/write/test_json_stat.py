"""JSON-stat of delivered tables, as a validator and another reader see it."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from jsonstat_validator import validate_jsonstat
from pyjstat import pyjstat

from sdcensus.errors import OutputError
from sdcensus.formats.shared.arrow_columns import grid_positions
from sdcensus.formats.write import json_stat as json_stat_module, write_delivered
from sdcensus.formats.write.identifiers import distinct, unique_codes
from sdcensus.formats.write.json_stat import json_stat
from sdcensus.model.published.delivery import NO_PARENT, DeliveredAxis, DeliveredTable
from sdcensus.model.published.table import Mark
from sdcensus.model.text import Text
from sdcensus.testing.delivered import AWKWARD_LABELS, LABELS, delivered_tables

TABLES = st.one_of(delivered_tables(), delivered_tables(labels=(*LABELS, *AWKWARD_LABELS)))


def through_json(table: DeliveredTable, language: str | None) -> dict[str, Any]:
    read: dict[str, Any] = json.loads(json.dumps(json_stat(table, language)))
    return read


def expected_numbers(table: DeliveredTable) -> list[float | None]:
    pairs = zip(table.values.reshape(-1).tolist(), table.numbered.reshape(-1).tolist(), strict=True)
    return [value / 10**table.decimals if there else None for value, there in pairs]


@given(TABLES, st.sampled_from(["en", "fr"]), st.sampled_from([1, 2, 1 << 20]))
def test_a_file_holds_what_programs_get(
    table: DeliveredTable, language: str, at_a_time: int
) -> None:
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_stat_module, "AT_A_TIME", at_a_time)
        (path,) = write_delivered(table, Path(folder), formats=["json-stat"], languages=[language])
        read = json.loads(path.read_text(encoding="utf-8"))
    expected = json_stat(table, language)
    assert read == expected
    assert list(read) == list(expected)


@given(TABLES, st.sampled_from([None, "en", "es", "fr"]))
def test_a_validator_finds_nothing_wrong(table: DeliveredTable, language: str | None) -> None:
    assert validate_jsonstat(through_json(table, language)) is True


@pytest.mark.filterwarnings("ignore:Shouldn't use this function anymore:DeprecationWarning")
@given(TABLES, st.sampled_from([None, "en", "es"]))
def test_another_reader_sees_every_number_code_and_label(
    table: DeliveredTable, language: str | None
) -> None:
    dataset = pyjstat.Dataset.read(json.dumps(through_json(table, language)))
    by_id, by_label = (dataset.write("dataframe", naming=one) for one in ("id", "label"))
    places = grid_positions(table.shape, slice(0, table.cells))
    for at, axis in enumerate(table.axes):
        ids = unique_codes(axis)
        assert list(by_id.iloc[:, at]) == [ids[one] for one in places[at]]
        assert list(by_label.iloc[:, at]) == [axis.label_of(one, language) for one in places[at]]
    assert list(by_id.columns[:-2]) == [axis.column for axis in table.axes]
    numbers = by_id.iloc[:, -1].astype(object)
    read = [None if number is None or number != number else number for number in numbers]
    assert read == expected_numbers(table)


@given(TABLES)
def test_the_tree_the_levels_and_the_areas_are_there(table: DeliveredTable) -> None:
    read = through_json(table, None)
    assert read["role"].get("geo", []) == [axis.column for axis in table.axes if axis.geography]
    assert read["role"]["metric"] == [read["id"][-1]]
    assert len(set(read["id"])) == len(table.axes) + 1
    for axis in table.axes:
        dimension = read["dimension"][axis.column]
        ids = dimension["category"]["index"]
        children = dimension["category"].get("child", {})
        above = {own: parent for parent, below in children.items() for own in below}
        assert sum(map(len, children.values())) == len(above)
        for own, parent in zip(ids, axis.parents, strict=True):
            assert above.get(own) == (None if parent == NO_PARENT else ids[parent])
        more = dimension.get("extension", {})
        assert [more.get("code", {}).get(one, one) for one in ids] == list(axis.codes)
        if {"low", "high"} <= set(axis.levels):
            assert [more["level"][one] for one in ids] == list(axis.levels)


@given(TABLES)
def test_every_mark_is_a_status_and_every_sign_is_explained(table: DeliveredTable) -> None:
    read = through_json(table, "es")
    marks = np.zeros(table.shape, np.uint8) if table.marks is None else table.marks
    signs = {
        str(at): table.sign(Mark(one)) for at, one in enumerate(marks.reshape(-1).tolist()) if one
    }
    assert read.get("status", {}) == signs
    meanings = read["extension"].get("status", {}).get("label", {})
    assert set(meanings) == set(signs.values())
    for mark in table.used_marks():
        assert meanings[table.sign(mark)] == mark.meaning.show("es")


@given(TABLES)
def test_unit_decimals_notes_and_the_making_are_told(table: DeliveredTable) -> None:
    read = through_json(table, "es")
    measure = read["dimension"][read["id"][-1]]["category"]
    (unit,) = measure["unit"].values()
    assert unit["decimals"] == table.decimals
    assert unit.get("label", "") == table.unit.show("es")
    assert read.get("note", []) == [note.show("es") for note in table.notes]
    languages = [dict(note.by_language) for note in table.notes]
    assert read["extension"].get("notes", []) == languages
    made = None if table.provenance is None else table.provenance.to_json()
    assert read["extension"].get("provenance") == made
    assert read.get("updated", "") == table.date
    assert read.get("source", "") == table.source.show("es")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(delivered_tables(), st.sampled_from([(), ("en",), ("es", "en")]))
def test_each_language_has_a_file_of_its_own(
    tmp_path_factory: pytest.TempPathFactory, table: DeliveredTable, languages: tuple[str, ...]
) -> None:
    folder = tmp_path_factory.mktemp("files")
    made = write_delivered(table, folder, formats=["json-stat"], languages=languages)
    assert len(made) == max(len(languages), 1)
    for path, language in zip(made, languages or (None,), strict=True):
        assert json.loads(path.read_text(encoding="utf-8")) == through_json(table, language)


def one_axis(codes: tuple[str, ...], levels: tuple[str, ...]) -> DeliveredAxis:
    return DeliveredAxis(
        column="area",
        label=Text(),
        positions=np.arange(len(codes), dtype=np.int64),
        codes=codes,
        labels=(Text(),) * len(codes),
        levels=levels,
        parents=(NO_PARENT,) * len(codes),
    )


def test_a_code_at_two_levels_gets_its_level_and_others_stay() -> None:
    axis = one_axis(("N1", "N2", "N1"), ("town", "town", "region"))
    assert unique_codes(axis) == ("N1@town", "N2", "N1@region")
    same = one_axis(("N1", "N1"), ("town", "town"))
    assert unique_codes(same) == ("N1@town", "N1@town_2")


@given(st.lists(st.sampled_from(["a", "b", "a_2", "a_2_2", "b_3"])))
def test_words_are_made_distinct_and_the_first_of_each_stays(words: list[str]) -> None:
    made = distinct(words)
    assert len(set(made)) == len(words)
    assert [made[words.index(word)] for word in words] == words


def test_cells_that_mostly_have_no_number_are_left_out() -> None:
    axis = one_axis(("a", "b", "c"), ("town",) * 3)
    marks = np.array([1, 0, 1], dtype=np.uint8)
    table = DeliveredTable(
        name="t", title=Text(), axes=(axis,), values=np.array([0, 7, 0]), marks=marks
    )
    assert json_stat(table)["value"] == {"1": 7}
    assert json_stat(table)["status"] == {"0": "c", "2": "c"}


def test_a_table_without_any_number_lists_nothing_for_every_cell() -> None:
    axis = one_axis(("a", "b"), ("town",) * 2)
    marks = np.array([1, 4], dtype=np.uint8)
    table = DeliveredTable(
        name="t", title=Text(), axes=(axis,), values=np.array([0, 0]), marks=marks
    )
    assert json_stat(table)["value"] == [None, None]


def test_a_file_is_not_overwritten(tmp_path: Path) -> None:
    axis = one_axis(("a",), ("town",))
    table = DeliveredTable(name="t", title=Text(), axes=(axis,), values=np.array([5]))
    (made,) = write_delivered(table, tmp_path, formats=["json-stat"])
    before = made.read_bytes()
    with pytest.raises(OutputError, match="already exists"):
        write_delivered(table, tmp_path, formats=["json-stat"])
    assert made.read_bytes() == before
