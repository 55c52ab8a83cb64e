"""What stands in files of published tables, read back by programs that are not ours."""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path
from typing import Any, get_type_hints

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdcensus.errors import MissingExtra, OutputError, SpecError
from sdcensus.formats.tables import columns, write_table
from sdcensus.formats.tables.text import write_csv
from sdcensus.model.cube.cube import Origin, finish
from sdcensus.model.plain_cells import plain_cell
from sdcensus.model.published.table import AnyTable, Table
from sdcensus.model.schema.key_space import KeySpace
from sdcensus.model.text import Text
from tests.formats.tables.made import PROVENANCE, sparse, spec, table

NOTE = Text.of({"en": "Read this.", "es": "Lea esto."})
ENDINGS = [".csv", ".parquet", ".xlsx"]
AXES = ("area+parish", "sex")


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def written(folder: Path, one: AnyTable, ending: str, **options: Any) -> Path:
    return write_table(one, folder / f"table{ending}", provenance=PROVENANCE, **options)


# ---------------------------------------------------------------- csv


def test_csv_holds_the_columns_of_the_table(tmp_path: Path) -> None:
    one = table(*AXES, withheld=[3, 4], below=7)
    found = rows(written(tmp_path, one, ".csv"))
    expected = one.columns()
    assert list(found[0]) == list(expected)
    as_text = {
        name: ["" if value is None else plain_cell(str(value)) for value in values]
        for name, values in expected.items()
    }
    assert {name: [row[name] for row in found] for name in expected} == as_text
    assert [row["flag"] for row in found][3:8] == ["c", "c", "", "", ".."]


def test_csv_without_flags_has_no_column_for_them(tmp_path: Path) -> None:
    assert list(rows(written(tmp_path, table("sex"), ".csv"))[0]) == [
        *("sex", "sex_label", "published")
    ]


def test_csv_of_a_single_cell(tmp_path: Path) -> None:
    path = written(tmp_path, table(values=[17]), ".csv")
    assert path.read_bytes() == b"published\n17\n"


def test_csv_is_quoted_only_where_it_must_be(tmp_path: Path) -> None:
    text = written(tmp_path, table("area-total"), ".csv").read_text(encoding="utf-8")
    assert text.splitlines() == [
        "area,area_label,published",
        "E1,Hill,0",
        'E2,"Shore, “west”",1',
        'E3,"\'=HYPERLINK(""x"")",2',
        "E4,-1,3",
    ]


def test_labels_are_in_the_language_asked_for(tmp_path: Path) -> None:
    path = written(tmp_path, table("sex"), ".csv", language="es")
    assert [row["sex_label"] for row in rows(path)] == ["Hombre", "Mujer", "Total"]


def test_a_table_in_pieces_is_the_table_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = table("age", *AXES, withheld=range(20, 40))
    for ending in ENDINGS:
        (tmp_path / "whole").mkdir(exist_ok=True)
        written(tmp_path / "whole", one, ending)
    monkeypatch.setattr(columns, "ROWS_AT_A_TIME", 7)
    for ending in ENDINGS:
        written(tmp_path, one, ending)
        whole, pieces = (folder / f"table{ending}" for folder in (tmp_path / "whole", tmp_path))
        if ending == ".parquet":
            assert pq.read_table(whole).to_pydict() == pq.read_table(pieces).to_pydict()
        else:
            assert whole.read_bytes() == pieces.read_bytes()


@given(
    st.lists(
        st.tuples(st.text(st.characters(exclude_categories=["Cs"])), st.none() | st.integers(-9)),
        min_size=1,
    )
)
def test_whatever_is_written_as_csv_is_read_back(cells: list[tuple[str, int | None]]) -> None:
    import io

    words, numbers = zip(*cells, strict=True)
    # A csv reader of Python cannot tell apart what is empty, and it takes NUL for the end.
    words = tuple(word.replace("\0", "") for word in words)
    numbers = tuple(None if one is None else min(one, 2**62) for one in numbers)
    one = pa.table({"a,b": pa.array(words), "n": pa.array(numbers, pa.int64())})
    file = io.BytesIO()
    write_csv(iter([one, one]), file)
    found = list(csv.reader(io.StringIO(file.getvalue().decode(), newline="")))
    line = [
        [plain_cell(word), "" if n is None else str(n)]
        for word, n in zip(words, numbers, strict=True)
    ]
    assert found == [["a,b", "n"], *line, *line]


# ---------------------------------------------------------------- about


def test_what_stands_beside_a_csv_file(tmp_path: Path) -> None:
    one = table(*AXES, withheld=[1]).with_notes(NOTE)
    more = Text.of({"en": "And this."})
    path = written(tmp_path, one, ".csv", notes=[more, NOTE])
    about = json.loads((tmp_path / "table.about.json").read_text(encoding="utf-8"))
    assert path.name == "table.csv"
    assert about["provenance"] == PROVENANCE.to_json()
    assert about["notes"] == [{"en": "Read this.", "es": "Lea esto."}, {"en": "And this."}]
    assert list(about["signs"]) == ["c"]
    assert about["title"] == "Persons by Area (area, parish) and Sex"
    assert [one["positions"] for one in about["axes"]] == [7, 3]


def test_parquet_says_the_same_in_its_metadata(tmp_path: Path) -> None:
    one = table(*AXES).with_notes(NOTE)
    written(tmp_path, one, ".csv")
    found = pq.read_table(written(tmp_path, one, ".parquet"))
    beside = json.loads((tmp_path / "table.about.json").read_text(encoding="utf-8"))
    assert json.loads(found.schema.metadata[b"sdcensus"]) == beside


def test_a_sparse_table_says_what_absent_cells_are(tmp_path: Path) -> None:
    one = sparse(table(*AXES, values=[0, 0, 5] * 7))
    assert [row["published"] for row in rows(written(tmp_path, one, ".csv"))] == ["5"] * 7
    about = json.loads((tmp_path / "table.about.json").read_text(encoding="utf-8"))
    assert about["cells_not_listed"] == "published as 0"
    assert about["notes"][0]["en"] == "Cells that are not listed are published as 0."


# ---------------------------------------------------------------- parquet


def test_parquet_is_typed_and_its_codes_are_dictionaries(tmp_path: Path) -> None:
    one = table(*AXES, withheld=[3])
    found = pq.read_table(written(tmp_path, one, ".parquet"))
    assert found.schema.field("published").type == pa.int64()
    for name in ("area", "sex", "area_level", "area_label", "sex_label", "flag"):
        assert pa.types.is_dictionary(found.schema.field(name).type)
    assert found.to_pydict() == one.columns()


def test_no_dictionary_repeats_itself() -> None:
    """Arrow would write what its memory holds, true counts perhaps, into a Parquet file."""
    one = table("area+parish", "sex", withheld=[3])
    for piece in columns.published_columns(one, None):
        for column in piece.columns:
            if pa.types.is_dictionary(column.type):
                words = column.chunk(0).dictionary.to_pylist()
                assert len(words) == len(set(words))


def test_an_empty_sparse_table_still_has_its_columns(tmp_path: Path) -> None:
    nothing = sparse(table(*AXES, values=[0] * 21))
    assert pq.read_table(written(tmp_path, nothing, ".parquet")).num_rows == 0
    header = written(tmp_path, nothing, ".csv").read_text(encoding="utf-8")
    assert header == "area,sex,area_level,area_label,sex_label,published\n"
    written(tmp_path, nothing, ".xlsx")


# ---------------------------------------------------------------- for the public only


def test_a_cube_cannot_be_written(tmp_path: Path) -> None:
    one = spec("sex")
    sums = {"count": np.array([1, 2]), "key": np.array([3, 4], dtype=np.uint64)}
    cube: Any = finish(one, Origin(KeySpace()), sums)
    for ending in ENDINGS:
        with pytest.raises(SpecError, match="A Cube is no published table"):
            written(tmp_path, cube, ending)
    assert list(tmp_path.iterdir()) == []
    # and a type checker says so before it is tried
    assert get_type_hints(write_table)["table"] == AnyTable


@pytest.mark.parametrize("ending", ENDINGS)
def test_the_same_table_gives_the_same_bytes(tmp_path: Path, ending: str) -> None:
    one = table("age", *AXES, withheld=[5]).with_notes(NOTE)
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        written(tmp_path / name, one, ending)
    first, second = (sorted((tmp_path / name).iterdir()) for name in ("first", "second"))
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]


@pytest.mark.parametrize("ending", ENDINGS)
def test_nothing_is_overwritten_and_nothing_is_left_when_writing_fails(
    tmp_path: Path, ending: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / f"table{ending}"
    path.write_text("precious", encoding="utf-8", newline="\n")
    with pytest.raises(OutputError, match="already exists"):
        written(tmp_path, table("sex"), ending)
    assert path.read_text(encoding="utf-8") == "precious"
    path.unlink()

    def full(*arguments: object, **options: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(OutputError, match="No space left on device"):
        written(tmp_path, table("sex"), ending)
    assert [one.name for one in tmp_path.iterdir() if one.suffix != ".json"] == []


def test_a_csv_file_that_cannot_be_written_takes_its_notes_along(tmp_path: Path) -> None:
    (tmp_path / "table.about.json").write_text("{}", encoding="utf-8", newline="\n")
    with pytest.raises(OutputError, match=r"table\.about\.json already exists"):
        written(tmp_path, table("sex"), ".csv")
    assert not (tmp_path / "table.csv").exists()


def test_what_cannot_be_a_table_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match=r"\.csv, \.parquet or \.xlsx"):
        written(tmp_path, table("sex"), ".doc")
    with pytest.raises(OutputError, match="does not exist"):
        written(tmp_path / "no", table("sex"), ".csv")


def test_a_workbook_needs_an_optional_library(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "xlsxwriter", None)
    with pytest.raises(MissingExtra, match=r"sdcensus\[formats\]"):
        written(tmp_path, table("sex"), ".xlsx")
    assert list(tmp_path.iterdir()) == []


def test_a_variable_that_is_called_like_a_made_column_is_refused(tmp_path: Path) -> None:
    from dataclasses import replace

    from sdcensus.model.spec.axis import make_axis
    from sdcensus.model.spec.table_spec import TableSpec
    from tests.formats.tables.made import SEX

    odd = replace(SEX, name="published", leaf_level="")
    axis = make_axis(odd, [odd.level()], total=True)
    one = TableSpec(of=odd.entity, axes=(axis,))
    with pytest.raises(SpecError, match="two columns 'published'"):
        written(tmp_path, Table(one, np.zeros(3, dtype=np.int64)), ".csv")
    assert list(tmp_path.iterdir()) == []
