"""Delivered csv files: exact bytes, and what other readers make of them."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow.csv as arrow_csv
import pytest
from hypothesis import given, strategies as st

from sdcensus.errors import SpecError
from sdcensus.formats.write import delimited, write_delivered
from sdcensus.model.published.delivery import DeliveredTable
from sdcensus.model.published.table import Mark
from sdcensus.model.spec.document import spec_to_json
from sdcensus.model.text import Text, plain_cell
from tests.formats.made import text
from tests.formats.write.delivered_made import GEO, axis, counts, delivered, published, spec

WORDS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)


def written(table: DeliveredTable, folder: Path, **options: object) -> bytes:
    path, beside = write_delivered(table, folder, formats=["csv"], **options)  # type: ignore[arg-type]
    assert (path.name, beside.name) == ("t.csv", "t.about.json")
    return path.read_bytes()


def rows_of(content: bytes) -> list[list[str]]:
    return list(csv.reader(content.decode().splitlines(keepends=True), strict=True))


def test_a_small_table_byte_by_byte(tmp_path: Path) -> None:
    one = delivered(
        axis("SEX", ("T", "M"), labels=("Total", 'Men, "all"'), total=0),
        axis("AGE", ("Y1", "Y2")),
        values=np.array([[10, 7], [0, 5]]),
        marks=np.array([[0, 5], [1, 6]], dtype=np.uint8),
    )
    assert written(one, tmp_path) == (
        b"SEX,AGE,SEX_label,AGE_label,published,flag\n"
        b"T,Y1,Total,Y1,10,\n"
        b"T,Y2,Total,Y2,7,( )\n"
        b'M,Y1,"Men, ""all""",Y1,,c\n'
        b'M,Y2,"Men, ""all""",Y2,5,populated\n'
    )


def test_without_labels_axes_or_cells(tmp_path: Path) -> None:
    for at, (one, expected) in enumerate(
        [
            (delivered(axis("SEX", ("M", "F"))), b"SEX,published\nM,0\nF,1\n"),
            (delivered(values=np.array(12)), b"published\n12\n"),
            (delivered(axis("SEX", ())), b"SEX,published\n"),
        ]
    ):
        folder = tmp_path / str(at)
        folder.mkdir()
        assert written(one, folder, labels=False) == expected


def test_decimals_are_written_with_all_their_digits(tmp_path: Path) -> None:
    values = np.array([1234, -7, 0, 100, np.iinfo(np.int64).max, np.iinfo(np.int64).min])
    one = delivered(axis("K", "abcdef"), values=values, decimals=2)
    assert [row[-1] for row in rows_of(written(one, tmp_path, labels=False))] == [
        "value",
        "12.34",
        "-0.07",
        "0.00",
        "1.00",
        "92233720368547758.07",
        "-92233720368547758.08",
    ]


def test_labels_in_several_languages_have_a_column_each(tmp_path: Path) -> None:
    sex = axis("SEX", ("M",))
    sex = type(sex)(
        **{name: getattr(sex, name) for name in sex.__slots__}
        | {"labels": (text("Man", "Hombre"),)}
    )
    rows = rows_of(written(delivered(sex), tmp_path, languages=["en", "es"]))
    assert rows == [
        ["SEX", "SEX_label_en", "SEX_label_es", "published"],
        ["M", "Man", "Hombre", "0"],
    ]


def test_a_level_is_written_only_where_codes_alone_do_not_tell(tmp_path: Path) -> None:
    twice = axis("JOB", ("a", "c", "c"), levels=("leaf", "leaf", "group"))
    rows = rows_of(written(delivered(GEO, twice), tmp_path, labels=False))
    assert rows[0] == ["GEO", "JOB", "JOB_level", "published"]
    assert rows[2:4] == [["NL", "c", "leaf", "1"], ["NL", "c", "group", "2"]]


@pytest.mark.parametrize("names", [("SEX", "SEX_label"), ("published",), ("flag",), ("value",)])
def test_an_axis_that_is_called_like_a_made_column_is_refused(
    tmp_path: Path, names: tuple[str, ...]
) -> None:
    with pytest.raises(SpecError, match=f"two columns '{names[-1]}'"):
        write_delivered(
            delivered(*(axis(name, ("1",)) for name in names)), tmp_path, formats=["csv"]
        )
    assert not list(tmp_path.iterdir())


@given(
    st.lists(WORDS, min_size=1, max_size=4, unique=True),
    st.lists(WORDS, min_size=4, max_size=4),
    st.lists(st.integers(-(10**6), 10**18), min_size=12, max_size=12),
    st.sampled_from([24, 100, 1 << 20]),
)
def test_any_words_are_read_back_by_the_csv_module(
    codes: list[str], labels: list[str], numbers: list[int], buffer: int
) -> None:
    labels = labels[: len(codes)]
    one = delivered(
        axis("A", codes, labels=labels),
        axis("B", ("x", "y", "z")),
        values=np.array(numbers[: 3 * len(codes)]).reshape(-1, 3),
    )
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(delimited, "BUFFER", buffer)
        path = write_delivered(one, Path(folder), formats=["csv"])[0]
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.reader(file, strict=True))
    expected = [
        [plain_cell(code), inner, plain_cell(label), inner]
        for code, label in zip(codes, labels, strict=True)
        for inner in "xyz"
    ]
    assert [row[:-1] for row in rows[1:]] == expected
    assert [int(row[-1]) for row in rows[1:]] == numbers[: 3 * len(codes)]


def test_a_large_table_is_what_another_reader_reads(tmp_path: Path) -> None:
    sizes = (37, 3, 21, 8, 11)
    values = np.random.default_rng(3).geometric(0.01, sizes).astype(np.int64) - 1
    marks = np.zeros(sizes, dtype=np.uint8)
    marks[::5, 0] = Mark.WITHHELD
    values[marks == Mark.WITHHELD] = 0
    axes = [
        axis(name, [f"{name}{at}" for at in range(size)])
        for name, size in zip("ABCDE", sizes, strict=True)
    ]
    path = write_delivered(
        delivered(*axes, values=values, marks=marks), tmp_path, formats=["csv"], labels=False
    )[0]
    found = arrow_csv.read_csv(path)
    assert found.num_rows == values.size
    places = np.unravel_index(np.arange(values.size), sizes)
    for name, at in zip("ABCDE", places, strict=True):
        assert found[name].to_pylist() == [f"{name}{one}" for one in at]
    shown = found["published"]
    assert shown.null_count == int((marks != 0).sum())
    np.testing.assert_array_equal(shown.fill_null(0).to_numpy(), values.reshape(-1))
    assert found["flag"].to_pylist() == ["c" if one else "" for one in marks.reshape(-1)]


def test_what_stands_beside_tells_everything_but_the_numbers(tmp_path: Path) -> None:
    of = spec("area", "sex", universe="job != 'x'")
    flags = np.zeros(of.shape, dtype=np.uint8)
    flags[0, 0] = 2
    note = text("Use totals.", "Use los totales.")
    one = published(
        counts(of, flags=flags).with_notes(note),
        name="t",
        source=text("The office", "La oficina"),
        date="2031-05-01",
        signs=((Mark.BELOW_THRESHOLD, "*"),),
    )
    content = written(one, tmp_path)
    assert rows_of(content)[1][-2:] == ["", "*"]
    about = json.loads((tmp_path / "t.about.json").read_text(encoding="utf-8"))
    assert about["name"] == "t"
    assert about["units"] == "persons"
    assert about["measure"] == "count"
    assert about["unit"]["es"] == "Personas"
    assert about["values"] == "published"
    assert about["decimals"] == 0
    assert about["marks"] == {"below_threshold": "*"}
    assert about["signs"]["*"]["en"] == "too small to be published"
    assert about["notes"] == [{"en": "Use totals.", "es": "Use los totales."}]
    assert about["source"]["es"] == "La oficina"
    assert about["date"] == "2031-05-01"
    assert about["provenance"]["method"] == "cell-key"
    assert about["specification"]["universe"] is not None
    assert [one["column"] for one in about["axes"]] == ["area", "sex"]
    assert about["axes"][0]["geography"] is True
    assert about["axes"][0]["codes"][1] == {
        "code": "2",
        "label": {"en": "Shore", "es": "Shore"},
        "level": "area",
        "in": 2,
        "at": 1,
    }


def test_code_lists_that_tables_share_are_those_of_each_table(tmp_path: Path) -> None:
    specs = [spec("job+group"), spec("job"), spec("job@group", "sex"), spec("sex", "job+group")]
    specs += [spec("sex", universe="job == 'a'"), spec("job+group", universe="sex == '1'")]
    for at, of in enumerate(specs):
        write_delivered(published(counts(of), name=f"t{at}"), tmp_path, formats=["csv"])
    for at, of in enumerate(specs):
        about = json.loads((tmp_path / f"t{at}.about.json").read_text(encoding="utf-8"))
        assert about["specification"] == spec_to_json(of)


def test_the_same_table_gives_the_same_bytes(tmp_path: Path) -> None:
    made = []
    for name in ("one", "two"):
        folder = tmp_path / name
        folder.mkdir()
        files = write_delivered(
            published(counts(spec("job+group", "sex")), name="t"),
            folder,
            formats=["csv", "parquet"],
        )
        made.append([(path.name, path.read_bytes()) for path in files])
    assert made[0] == made[1]


def test_a_text_without_language_is_shown_in_every_language(tmp_path: Path) -> None:
    one = delivered(axis("A", ("1",), labels=("word",)), title=Text.of("T"))
    assert rows_of(written(one, tmp_path, languages=["nl"])) == [
        ["A", "A_label", "published"],
        ["1", "word", "0"],
    ]
