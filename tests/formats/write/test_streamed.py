"""Tables that are written part by part."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from sdcensus.errors import OutputError, SpecError, UnknownName
from sdcensus.formats.read.tables import read_published
from sdcensus.formats.write import streamed
from sdcensus.formats.write.streamed import StreamedTable, write_streamed
from sdcensus.model.cube.streamed_cells import PublishedCells, places_of
from sdcensus.model.published.delivery import DeliveredAxis, delivered_axis
from sdcensus.model.published.provenance import Provenance
from sdcensus.model.published.table import SparseTable
from sdcensus.model.schema.schema import CensusInfo, Schema
from sdcensus.model.schema.variable import Code, Entity, EntitySpec, Hierarchy, Level, Variable
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.model.text import Text


def _text(en: str, es: str) -> Text:
    return Text.of({"en": en, "es": es})


AREA = Variable(
    name="area",
    entity=Entity.PERSON,
    codes=(
        Code("E1", _text("Hill", "Colina")),
        Code("E2", _text('Shore, "west"', "Orilla")),
        Code("E3", _text("Wood", "Bosque")),
    ),
    hierarchies=(
        Hierarchy(
            "tree",
            # The parish P2 has one part, and E3 stands for itself.
            (Level("parish", (Code("P1", _text("North", "Norte")), Code("E3")), (0, 0, 1)),),
        ),
    ),
)
SEX = Variable(
    name="sex",
    entity=Entity.PERSON,
    codes=(Code("1", _text("Male", "Hombre")), Code("2", _text("Female", "Mujer"))),
)
SCHEMA = Schema(
    census=CensusInfo(name="By hand", languages=("en", "es")),
    entities=(EntitySpec(entity=Entity.PERSON, id=("id",)),),
    variables=(AREA, SEX),
)
SPEC = TableSpec.build(SCHEMA, ["area@area+parish", "sex"])
PROVENANCE = Provenance(
    method="cell-key",
    method_version="1",
    fingerprint="00112233445566778899aabbccddeeff",
    data_version="d41d8cd98f00b204",
    key_version=1,
    secret_id="b7a551f2cc2b4dff",
    package_version="0.0",
    spec_hash=SPEC.hash(),
)
#: Each code once, the total first: total, P1 with E1 and E2, E3.
GEO = DeliveredAxis(
    column="GEO",
    label=_text("Area", "Zona"),
    positions=np.array([5, 3, 0, 1, 2]),
    codes=("0", "P1", "E1", "E2", "E3"),
    labels=tuple(SPEC.axes[0].codes[at].label for at in (5, 3, 0, 1, 2)),
    levels=("_T", "parish", "area", "area", "area"),
    parents=(-1, 0, 1, 1, 0),
    total=0,
    geography=True,
)
TABLE = StreamedTable(
    name="large",
    title=_text("Large", "Grande"),
    axes=(GEO, delivered_axis(SPEC.axes[1])),
    spec=SPEC,
    provenance=PROVENANCE,
    notes=(_text("Protected.", "Protegida."),),
    source=Text.of("The office"),
    date="2026-01-31",
)
#: What is published, by delivered place: 5 × 3 cells, of which 11 are listed.
VALUES = [4, 7, 12, 0, 5, 6, 0, 0, 3, 1, 5, 4, 5, 2, 7]


def _cells(values: Sequence[int], sizes: Sequence[int]) -> Iterator[PublishedCells]:
    numbers = np.flatnonzero(values).astype(np.uint64)
    published = np.array(values, dtype=np.int64)[np.flatnonzero(values)]
    start = 0
    for size in [*sizes, numbers.size]:
        part = slice(start, start + size)
        yield PublishedCells(places_of((5, 3), numbers[part]), published[part])
        start += size


def _write(folder: Path, sizes: Sequence[int] = (), **options: object) -> tuple[Path, ...]:
    folder.mkdir(exist_ok=True)
    asked: dict[str, object] = {"formats": ["parquet", "csv"], **options}
    return write_streamed(TABLE, _cells(VALUES, sizes), folder, **asked)  # type: ignore[arg-type]


def test_files_list_the_cells_that_are_not_zero_under_delivered_names(tmp_path: Path) -> None:
    parquet, text, about = _write(tmp_path, labels=False)
    assert [one.name for one in (parquet, text, about)] == [
        "large.parquet",
        "large.csv",
        "large.about.json",
    ]
    with text.open(encoding="utf-8", newline="") as file:
        head, *rows = list(csv.reader(file))
    assert head == ["GEO", "sex", "published"]
    codes = [[geo, sex] for geo in GEO.codes for sex in ("1", "2", "_T")]
    assert rows == [[*code, str(value)] for code, value in zip(codes, VALUES, strict=True) if value]
    listed = pq.read_table(parquet)
    assert [list(map(str, row.values())) for row in listed.to_pylist()] == rows
    assert str(listed.schema.field("published").type) == "int64"


def test_both_formats_say_what_is_not_listed_and_how_they_were_made(tmp_path: Path) -> None:
    parquet, _, beside = _write(tmp_path)
    about = json.loads(beside.read_text(encoding="utf-8"))
    assert about["cells_not_listed"] == "published as 0"
    assert about["notes"][-1]["en"] == "Cells that are not listed are published as 0."
    assert about["provenance"]["method"] == "cell-key"
    assert about["source"]
    assert about["date"] == "2026-01-31"
    assert json.loads(pq.read_schema(parquet).metadata[b"sdcensus"]) == about


@pytest.mark.parametrize("name", ["large.parquet", "large.csv"])
def test_what_is_written_is_read_back_with_all_positions(tmp_path: Path, name: str) -> None:
    """E3 stands at two levels of the table, and gets at both what the file shows for it."""
    _write(tmp_path)
    found = read_published(tmp_path / name)
    assert isinstance(found.table, SparseTable)
    grid = np.array(VALUES).reshape(5, 3)
    assert found.table.spec == SPEC
    assert np.array_equal(found.table.whole().published, grid[[2, 3, 4, 1, 4, 0]])
    assert found.provenance == PROVENANCE


def test_labels_come_in_every_language(tmp_path: Path) -> None:
    _, text, _ = _write(tmp_path, languages=["en", "es"])
    with text.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    west = next(row for row in rows if row["GEO"] == "E2" and row["sex"] == "1")
    assert west["GEO_label_en"] == 'Shore, "west"'
    assert west["GEO_label_es"] == "Orilla"
    assert west["sex_label_es"] == "Hombre"
    assert pq.read_table(tmp_path / "large.parquet").to_pylist()[0]["sex_label_es"] == "Hombre"


@pytest.mark.parametrize("sizes", [(1,), (3, 0, 4), (11,), (0, 0), (1,) * 11])
def test_bytes_do_not_depend_on_how_cells_were_cut_into_parts(
    tmp_path: Path, sizes: Sequence[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streamed, "ROW_GROUP", 4)
    whole = [one.read_bytes() for one in _write(tmp_path / "whole")]
    cut = _write(tmp_path / "cut", sizes)
    assert [one.read_bytes() for one in cut] == whole
    assert pq.ParquetFile(cut[0]).num_row_groups == 3


def test_a_table_without_axes_and_one_without_cells(tmp_path: Path) -> None:
    spec = TableSpec.build(SCHEMA, [])
    table = replace(
        TABLE, spec=spec, axes=(), provenance=replace(PROVENANCE, spec_hash=spec.hash())
    )
    for name, values in (("one", [9]), ("none", [])):
        cells = PublishedCells((), np.array(values, dtype=np.int64))
        write_streamed(
            replace(table, name=name), iter([cells]), tmp_path, formats=["csv", "parquet"]
        )
        lines = (tmp_path / f"{name}.csv").read_text(encoding="utf-8").split()
        assert lines == ["published", *map(str, values)]
        assert pq.read_table(tmp_path / f"{name}.parquet").to_pydict() == {"published": values}


@pytest.mark.parametrize("name", ["xlsx", "px", "json-stat", "sdmx-csv"])
def test_formats_that_need_a_whole_table_are_refused_with_a_remedy(
    tmp_path: Path, name: str
) -> None:
    with pytest.raises(SpecError, match="too large to be held whole") as refused:
        _write(tmp_path, formats=["parquet", name])
    assert name in str(refused.value)
    assert "csv or parquet" in str(refused.value)
    assert list(tmp_path.iterdir()) == []


def test_unknown_formats_and_none_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="parket"):
        _write(tmp_path, formats=["parket"])
    with pytest.raises(SpecError, match="name a format"):
        _write(tmp_path, formats=[])


def test_a_file_that_exists_is_not_touched(tmp_path: Path) -> None:
    (tmp_path / "large.about.json").write_text("mine", encoding="utf-8")
    with pytest.raises(OutputError, match="already exists"):
        _write(tmp_path)
    assert [one.name for one in tmp_path.iterdir()] == ["large.about.json"]


@pytest.mark.parametrize(
    "failure", [OSError(28, "No space left on device"), SpecError("enough"), KeyboardInterrupt()]
)
def test_what_fails_half_way_leaves_no_file(tmp_path: Path, failure: BaseException) -> None:
    def cells() -> Iterator[PublishedCells]:
        yield from _cells(VALUES, [3])
        raise failure

    expected = OutputError if isinstance(failure, OSError) else type(failure)
    with pytest.raises(expected):
        write_streamed(TABLE, cells(), tmp_path, formats=["csv", "parquet"])
    assert list(tmp_path.iterdir()) == []


def test_cells_of_another_shape_are_refused(tmp_path: Path) -> None:
    odd = PublishedCells((np.zeros(1, dtype=np.uint8),), np.ones(1, dtype=np.int64))
    with pytest.raises(SpecError, match="place on every axis"):
        write_streamed(TABLE, [odd], tmp_path, formats=["parquet"])
