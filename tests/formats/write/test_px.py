"""PX files of delivered tables, as another reader and the grammar of the format see them."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from pyaxis import pyaxis

from sdcensus.formats.shared.arrow_columns import grid_positions
from sdcensus.formats.write import write_delivered
from sdcensus.formats.write.identifiers import at_least_one_axis, unique_codes
from sdcensus.formats.write.px import DOTS
from sdcensus.model.published.delivery import NO_PARENT, DeliveredAxis, DeliveredTable
from sdcensus.model.published.table import Mark
from sdcensus.model.text import Text
from sdcensus.testing.delivered import AWKWARD_LABELS, LABELS, delivered_tables

some = settings(suppress_health_check=[HealthCheck.too_slow])
NEVER = r"(?!)"


def written(factory: pytest.TempPathFactory, table: DeliveredTable, *languages: str) -> Path:
    (path,) = write_delivered(table, factory.mktemp("files"), formats=["px"], languages=languages)
    return path


def read_by_pyaxis(path: Path, language: str | None = None) -> dict[str, Any]:
    with contextlib.redirect_stdout(io.StringIO()):  # it tells that a file has several languages
        read: dict[str, Any] = pyaxis.parse(
            str(path), encoding="utf-8", null_values=NEVER, sd_values=NEVER, lang=language
        )
    return read


def expected_cells(table: DeliveredTable) -> list[str]:
    marks = np.zeros(table.shape, np.uint8) if table.marks is None else table.marks
    made = []
    for value, one in zip(table.values.reshape(-1).tolist(), marks.reshape(-1), strict=True):
        mark = Mark(int(one))
        if mark.has_number:
            digits = f"{abs(value):0{table.decimals + 1}d}"
            point = f"{digits[: len(digits) - table.decimals]}.{digits[-table.decimals :]}"
            made.append(("-" if value < 0 else "") + (point if table.decimals else digits))
        else:
            made.append('"' + "." * DOTS[mark] + '"')
    return made


def as_px(text: str) -> str:
    return " ".join(text.replace('"', "'").split())


def shown(axis: DeliveredAxis, at: int, language: str) -> str:
    return as_px(axis.labels[at].show(language)) or as_px(unique_codes(axis)[at])


@some
@given(table=delivered_tables(), languages=st.sampled_from([("en",), ("en", "es"), ("es", "en")]))
def test_another_reader_sees_every_number_code_label_and_mark(
    tmp_path_factory: pytest.TempPathFactory, table: DeliveredTable, languages: tuple[str, ...]
) -> None:
    path = written(tmp_path_factory, table, *languages)
    axes = at_least_one_axis(table)
    places = grid_positions(tuple(len(axis) for axis in axes), slice(0, table.cells))
    for language in languages:
        read = read_by_pyaxis(path, language if len(languages) > 1 else None)
        meta, frame = read["METADATA"], read["DATA"]
        assert list(frame["DATA"]) == expected_cells(table)
        names = [*meta.get("STUB", []), *meta.get("HEADING", [])]
        assert len(set(names)) == len(axes)
        rows = 1 if table.rows is None else table.rows
        assert len(meta.get("STUB", [])) == min(rows, len(axes))
        for name, axis, at in zip(names, axes, places, strict=True):
            heading = axis.label.show(language) or axis.column
            assert name == heading or name.startswith(f"{heading} (")
            assert meta[f"CODES({name})"] == [as_px(code) for code in unique_codes(axis)]
            values = meta[f"VALUES({name})"]
            assert len(set(values)) == len(axis)
            assert list(frame[name]) == [values[one] for one in at]
            for one, value in enumerate(values):
                label = shown(axis, one, language)
                assert value == label or value.startswith(f"{label} (")
            if axis.total is None:
                assert meta[f"ELIMINATION({name})"] == "NO"
            else:
                assert meta[f"ELIMINATION({name})"] == [values[axis.total]]
            assert (f"MAP({name})" in meta) == axis.geography
        assert meta["TITLE"] == [table.title.show(language) or table.name]
        assert meta["DECIMALS"] == meta["SHOWDECIMALS"] == str(table.decimals)
        if table.unit:
            assert meta["UNITS"] == [table.unit.show(language)]
        if table.source:
            assert meta["SOURCE"] == [table.source.show(language)]
        for mark in table.used_marks():
            if mark in DOTS:
                assert meta[f"DATASYMBOL{DOTS[mark]}"] == [table.sign(mark)]


@some
@given(table=delivered_tables())
def test_marks_beside_numbers_are_notes_of_cells(
    tmp_path_factory: pytest.TempPathFactory, table: DeliveredTable
) -> None:
    meta = read_by_pyaxis(written(tmp_path_factory, table))["METADATA"]
    axes = at_least_one_axis(table)
    shape = tuple(len(axis) for axis in axes)
    marks = np.zeros(shape, np.uint8) if table.marks is None else table.marks.reshape(shape)
    expected = {}
    for at in np.ndindex(shape):
        mark = Mark(int(marks[at]))
        if mark and mark.has_number:
            codes = [as_px(unique_codes(axis)[one]) for axis, one in zip(axes, at, strict=True)]
            expected[f"DATANOTECELL({','.join(codes)})"] = [table.sign(mark)]
    # The other reader takes away blanks behind parentheses, but only in keys.
    found = {key: value for key, value in meta.items() if key.startswith("DATANOTECELL")}
    assert found == expected


STATEMENT = re.compile(
    r'([A-Z0-9-]+)(?:\[(\w+)\])?(?:\(("[^"]*"(?:,"[^"]*")*)\))?=((?:"[^"]*"|[^";])*);\r\n'
)

Statements = dict[tuple[str, str, tuple[str, ...]], str]


def parsed(path: Path) -> tuple[Statements, list[str]]:
    """All statements by keyword, language and what stands in parentheses; then the cells."""
    text = path.read_bytes().decode("utf-8")
    found: Statements = {}
    at = 0
    while at < len(text):
        match = STATEMENT.match(text, at)
        assert match, text[at : at + 80]
        keys = tuple(re.findall(r'"([^"]*)"', match[3] or ""))
        key = (match[1], match[2] or "", keys)
        assert key not in found
        found[key] = match[4]
        at = match.end()
    *_, last = found
    assert last[0] == "DATA"
    return found, found[last].split()


def values_in(text: str) -> list[str]:
    """The values of a statement; pieces of a long one stand behind each other without a comma."""
    made = [""]
    for piece in re.findall(r'"([^"]*)"|(,)', text):
        if piece[1]:
            made.append("")
        else:
            made[-1] += piece[0]
    return made


@some
@given(
    table=delivered_tables(labels=(*LABELS, *AWKWARD_LABELS)),
    languages=st.sampled_from([(), ("es",), ("en", "es")]),
)
def test_the_grammar_holds_whatever_labels_contain(
    tmp_path_factory: pytest.TempPathFactory, table: DeliveredTable, languages: tuple[str, ...]
) -> None:
    path = written(tmp_path_factory, table, *languages)
    found, cells = parsed(path)
    assert cells == expected_cells(table)
    assert all(len(line) <= 256 for line in path.read_bytes().decode().split("\r\n"))
    spoken = [""] if len(languages) < 2 else ["", *languages[1:]]
    default = languages[0] if languages else (table.languages()[:1] or ("en",))[0]
    for short in spoken:
        language = short or default
        names = [
            name
            for keyword in ("STUB", "HEADING")
            for name in values_in(found.get((keyword, short, ()), ""))
            if name
        ]
        for name, axis in zip(names, at_least_one_axis(table), strict=True):
            values = values_in(found["VALUES", short, (name,)])
            codes = values_in(found["CODES", short, (name,)])
            assert len(set(values)) == len(set(codes)) == len(axis)
            assert codes == [as_px(code) for code in unique_codes(axis)]
            for at, value in enumerate(values):
                label = shown(axis, at, language)
                assert value.startswith(label[:200])
        title = as_px(table.title.show(language))
        assert values_in(found["TITLE", short, ()]) == [title or table.name]
        lines = values_in(found.get(("NOTE", short, ()), ""))[0].split("#")
        notes = [
            as_px(note.show(language).replace("#", "\N{FULLWIDTH NUMBER SIGN}"))
            for note in table.notes
        ]
        signs = [
            f"{table.sign(mark)}: {mark.meaning.show(language)}" for mark in table.used_marks()
        ]
        assert [line for line in lines if line] == [*notes, *signs]


@some
@given(table=delivered_tables(least_axes=1))
def test_a_tree_with_one_top_is_told_in_codes(
    tmp_path_factory: pytest.TempPathFactory, table: DeliveredTable
) -> None:
    found, _ = parsed(written(tmp_path_factory, table))
    names = [
        name
        for keyword in ("STUB", "HEADING")
        for name in values_in(found.get((keyword, "", ()), ""))
        if name
    ]
    for name, axis in zip(names, table.axes, strict=True):
        statement = found.get(("HIERARCHIES", "", (name,)))
        codes = [as_px(code) for code in unique_codes(axis)]
        tops = [at for at, above in enumerate(axis.parents) if above == NO_PARENT]
        deep = any(above not in (NO_PARENT, tops[0]) for above in axis.parents)
        if len(tops) > 1 or not deep:
            assert statement is None
            continue
        assert statement is not None
        top, *pairs = re.findall(r'"[^"]*"(?::"[^"]*")?', statement)
        assert top == f'"{codes[tops[0]]}"'
        assert set(pairs) == {
            f'"{codes[above]}":"{own}"'
            for own, above in zip(codes, axis.parents, strict=True)
            if above != NO_PARENT
        }


def grid(shape: tuple[int, ...], *, rows: int, date: str = "") -> DeliveredTable:
    axes = tuple(
        DeliveredAxis(
            column=f"x{at}",
            label=Text(),
            positions=np.arange(size, dtype=np.int64),
            codes=tuple(map(str, range(size))),
            labels=(Text(),) * size,
            levels=("low",) * size,
            parents=(NO_PARENT,) * size,
        )
        for at, size in enumerate(shape)
    )
    values = np.arange(np.prod(shape), dtype=np.int64).reshape(shape) * 1001
    return DeliveredTable(name="grid", title=Text(), axes=axes, values=values, rows=rows, date=date)


@pytest.mark.parametrize("rows", [0, 1, 2, 3])
def test_lines_are_short_and_none_holds_cells_of_two_rows(tmp_path: Path, rows: int) -> None:
    table = grid((3, 7, 90), rows=rows)
    (path,) = write_delivered(table, tmp_path, formats=["px"])
    _, _, data = path.read_bytes().decode().partition("DATA=\r\n")
    lines = data.removesuffix(";\r\n").split(" \r\n")
    assert max(map(len, lines)) <= 256
    width = int(np.prod(table.shape[rows:]))
    ends = np.cumsum([len(line.split(" ")) for line in lines])
    assert set(range(width, table.cells + 1, width)) <= set(ends.tolist())
    assert " ".join(lines).split(" ") == [str(one) for one in table.values.reshape(-1)]


def test_a_large_table_is_written_in_parts_without_a_seam(tmp_path: Path) -> None:
    table = grid((25_000, 3), rows=1)
    (path,) = write_delivered(table, tmp_path, formats=["px"])
    found, cells = parsed(path)
    assert cells == [str(one) for one in table.values.reshape(-1)]
    assert len(values_in(found["CODES", "", ("x0",)])) == 25_000


def test_the_date_is_that_of_the_plan_and_no_other(tmp_path: Path) -> None:
    (path,) = write_delivered(grid((2,), rows=1, date="2021-05-01"), tmp_path, formats=["px"])
    found, _ = parsed(path)
    assert found["CREATION-DATE", "", ()] == '"20210501 00:00"'
    path.unlink()
    (path,) = write_delivered(grid((2,), rows=1), tmp_path, formats=["px"])
    found, _ = parsed(path)
    assert ("CREATION-DATE", "", ()) not in found
    assert ("LAST-UPDATED", "", ()) not in found
    first, *_ = found
    assert first == ("CHARSET", "", ())


def test_a_long_name_is_a_short_matrix_that_still_tells_tables_apart(tmp_path: Path) -> None:
    made = set()
    for ending in ("men", "women"):
        name = f"population-of-the-country-{ending}"
        table = DeliveredTable(name=name, title=Text(), axes=(), values=np.array(3))
        (path,) = write_delivered(table, tmp_path, formats=["px"])
        (matrix,) = values_in(parsed(path)[0]["MATRIX", "", ()])
        assert len(matrix) <= 20
        made.add(matrix)
    assert len(made) == 2
