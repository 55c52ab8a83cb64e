"""SDMX of delivered tables, as the SDMX schema and another reader see it."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from pysdmx.io import get_datasets, read_sdmx

from sdcensus.formats.shared.arrow_columns import grid_positions
from sdcensus.formats.write import write_delivered
from sdcensus.formats.write.identifiers import at_least_one_axis, unique_codes
from sdcensus.formats.write.sdmx_structure import STATUS_OF, code_ids, sdmx_names
from sdcensus.model.published.delivery import NO_PARENT, DeliveredAxis, DeliveredTable
from sdcensus.model.published.table import Mark
from sdcensus.model.text import Text
from sdcensus.testing.delivered import AWKWARD_LABELS, LABELS, delivered_axes, delivered_tables

TABLES = st.one_of(delivered_tables(), delivered_tables(labels=(*LABELS, *AWKWARD_LABELS)))
STRUCTURE = "{http://www.sdmx.org/resources/sdmxml/schemas/v2_1/structure}"
COMMON = "{http://www.sdmx.org/resources/sdmxml/schemas/v2_1/common}"
LANGUAGE = "{http://www.w3.org/XML/1998/namespace}lang"

some = settings(max_examples=15, suppress_health_check=[HealthCheck.too_slow])


def written(
    tmp_path_factory: pytest.TempPathFactory, table: DeliveredTable, *languages: str
) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("files")
    data, structure = write_delivered(table, folder, formats=["sdmx-csv"], languages=languages)
    return data, structure


def marks_of(table: DeliveredTable) -> list[Mark]:
    marks = np.zeros(table.shape, np.uint8) if table.marks is None else table.marks
    return [Mark(one) for one in marks.reshape(-1).tolist()]


def as_pandas_reads(words: Sequence[str]) -> list[str]:
    """pysdmx lets pandas guess types: codes that are all numbers lose their leading zeros."""
    text = "x\n" + "".join(f"{word}\n" for word in words)
    read = pd.read_csv(io.StringIO(text), keep_default_na=False, na_values=[])
    return [str(one) for one in read["x"].astype(str)]


@some
@given(table=TABLES)
def test_another_reader_sees_every_number_code_and_mark_with_the_structure(
    tmp_path_factory: pytest.TempPathFactory, table: DeliveredTable
) -> None:
    data, structure = written(tmp_path_factory, table)
    (dataset,) = get_datasets(data, structure)  # checks the structure against the schema of SDMX
    names = sdmx_names(table)
    components: Any = dataset.structure.components  # type: ignore[union-attr]
    assert [dimension.id for dimension in components.dimensions] == list(names.dimensions)
    assert [measure.id for measure in components.measures] == ["OBS_VALUE"]
    frame = dataset.data
    axes = at_least_one_axis(table)
    shape = [len(axis) for axis in axes]
    places = grid_positions(tuple(shape), slice(0, table.cells))
    for component, ids, axis, at in zip(
        components.dimensions, names.codes, axes, places, strict=True
    ):
        assert list(frame[component.id]) == as_pandas_reads([ids[one] for one in at])
        listed = list(component.local_codes.items)
        assert [one.id for one in listed] == list(ids)
        kept = [{note.type: note.title for note in one.annotations} for one in listed]
        assert [one["LEVEL"] for one in kept] == list(axis.levels)
        pairs = zip(kept, ids, strict=True)
        assert [one.get("CODE", own) for one, own in pairs] == list(axis.codes)
    there = table.numbered.reshape(-1)
    values = table.values.reshape(-1).tolist()
    for read, value, number in zip(frame["OBS_VALUE"], values, there, strict=True):
        if not number:
            assert pd.isna(read)
        else:
            assert round(Decimal(str(read)), table.decimals) == Decimal(value).scaleb(
                -table.decimals
            )
    assert list(zip(frame["OBS_STATUS"], frame["CONF_STATUS"], strict=True)) == [
        STATUS_OF[one] for one in marks_of(table)
    ]
    populated = ["1" if one is Mark.POPULATED else "" for one in marks_of(table)]
    if any(populated):
        assert list(frame["POPULATED"]) == populated
    assert dataset.attributes == {"DECIMALS": str(table.decimals), "UNIT_MEASURE": names.unit}
    for name in ("OBS_STATUS", "CONF_STATUS"):
        (attribute,) = (attribute for attribute in components.attributes if attribute.id == name)
        assert set(frame[name]) <= {item.id for item in attribute.local_codes.items}


@some
@given(table=TABLES)
def test_the_file_itself_has_every_code_and_number_to_the_last_digit(
    tmp_path_factory: pytest.TempPathFactory, table: DeliveredTable
) -> None:
    data, _ = written(tmp_path_factory, table)
    names = sdmx_names(table)
    with data.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == table.cells
    axes = at_least_one_axis(table)
    places = grid_positions(tuple(len(axis) for axis in axes), slice(0, table.cells))
    values = table.values.reshape(-1).tolist()
    there = table.numbered.reshape(-1)
    for at, row in enumerate(rows):
        for component, ids, place in zip(names.dimensions, names.codes, places, strict=True):
            assert row[component] == ids[place[at]]
        exact = f"{Decimal(values[at]).scaleb(-table.decimals):f}" if there[at] else ""
        assert row["OBS_VALUE"] == exact
        assert row["STRUCTURE"] == "dataflow"
        assert row["STRUCTURE_ID"] == f"{names.agency}:{names.dataflow}(1.0)"
        assert row["ACTION"] == "I"


def names_of(element: ElementTree.Element) -> dict[str, str]:
    found = element.findall(f"{COMMON}Name")
    return {one.attrib[LANGUAGE]: one.text or "" for one in found}


def in_xml(text: str) -> str:
    return re.sub("[\x00-\x08\x0b-\x1f]", " ", text)


@some
@given(table=TABLES, languages=st.sampled_from([(), ("en",), ("es",), ("en", "es")]))
def test_the_structure_has_the_tree_and_all_languages(
    tmp_path_factory: pytest.TempPathFactory, table: DeliveredTable, languages: tuple[str, ...]
) -> None:
    _, structure = written(tmp_path_factory, table, *languages)
    root = ElementTree.parse(structure).getroot()
    names = sdmx_names(table)
    lists = {one.attrib["id"]: one for one in root.iter(f"{STRUCTURE}Codelist")}
    for axis, component, ids in zip(
        at_least_one_axis(table), names.dimensions, names.codes, strict=True
    ):
        codes = lists[names.code_list(component)].findall(f"{STRUCTURE}Code")
        for at, code in enumerate(codes):
            parent = code.find(f"{STRUCTURE}Parent/Ref")
            above = axis.parents[at]
            if above == NO_PARENT:
                assert parent is None
            else:
                assert parent is not None
                assert parent.attrib["id"] == ids[above]
            known = dict(axis.labels[at].by_language)
            wanted = {language: known[language] for language in languages if language in known}
            if not wanted:
                wanted = dict(list(known.items())[: 1 if languages else None])
            expected = wanted or {"en": axis.codes[at]}
            assert names_of(code) == {key: in_xml(text) for key, text in expected.items()}
    (flow,) = root.iter(f"{STRUCTURE}Dataflow")
    notes = [
        one for one in flow.iter(f"{COMMON}Annotation") if one.attrib["id"].startswith("NOTE_")
    ]
    assert len(notes) == len(table.notes)
    if not languages:
        for note, text in zip(notes, table.notes, strict=True):
            read = {
                one.attrib[LANGUAGE]: one.text or ""
                for one in note.findall(f"{COMMON}AnnotationText")
            }
            assert read == {key: in_xml(own) for key, own in text.by_language}
    signs = {
        one.attrib["id"].removeprefix("SIGN_"): one.findtext(f"{COMMON}AnnotationTitle")
        for one in flow.iter(f"{COMMON}Annotation")
        if one.attrib["id"].startswith("SIGN_")
    }
    assert signs == {mark.name: table.sign(mark) for mark in table.used_marks()}


def test_every_mark_has_a_status_of_its_own() -> None:
    told = {(*STATUS_OF[one], one is Mark.POPULATED) for one in Mark}
    assert len(told) == len(Mark)


@given(delivered_axes("x", most=8))
def test_codes_become_identifiers_that_are_allowed_and_distinct(axis: DeliveredAxis) -> None:
    ids = code_ids(axis)
    assert len(set(ids)) == len(axis)
    for own, code in zip(ids, unique_codes(axis), strict=True):
        assert re.fullmatch(r"[A-Za-z0-9_@$-]+", own)
        if re.fullmatch(r"[A-Za-z0-9_@$-]+", code):
            assert own == code


def test_a_code_that_is_allowed_keeps_its_identifier_beside_one_that_is_not() -> None:
    axis = DeliveredAxis(
        column="x",
        label=Text(),
        positions=np.arange(3, dtype=np.int64),
        codes=("1.1", "1_1", "1,1"),
        labels=(Text(),) * 3,
        levels=("a",) * 3,
        parents=(NO_PARENT,) * 3,
    )
    assert code_ids(axis) == ("1_1_2", "1_1", "1_1_3")


@pytest.mark.parametrize(
    ("name", "source", "flow", "agency"),
    [
        ("9.2", Text(), "DF_9_2", "OFFICE"),
        ("ages", Text.of("Oficina Nacional de Estadística"), "DF_ages", None),
        ("ages", Text.of("2nd Bureau"), "DF_ages", "A_2ND_BUREAU"),
    ],
)
def test_agency_and_dataflow_are_called_after_office_and_table(
    tmp_path: Path, name: str, source: Text, flow: str, agency: str | None
) -> None:
    table = DeliveredTable(
        name=name, title=Text.of("Ages"), axes=(), values=np.array(7), source=source
    )
    _, structure = write_delivered(table, tmp_path, formats=["sdmx-csv"])
    message = read_sdmx(structure)
    (found,) = message.get_dataflows()
    assert found.id == flow
    assert found.agency == (agency or "OFICINA_NACIONAL_DE_ESTADISTICA")
    assert found.name == "Ages"


def test_tables_whose_names_differ_in_forbidden_signs_have_different_dataflows() -> None:
    made = {
        sdmx_names(DeliveredTable(name=one, title=Text(), axes=(), values=np.array(1))).dataflow
        for one in ("a b", "a+b", "a_b")
    }
    assert len(made) == 3
