"""Columns of Arrow as csv, read back by a program that is not ours."""

from __future__ import annotations

import csv
import io

import pyarrow as pa
from hypothesis import given, strategies as st

from sdcensus.formats.shared.arrow_columns import write_csv
from sdcensus.model.text import plain_cell


@given(
    st.lists(
        st.tuples(st.text(st.characters(exclude_categories=["Cs"])), st.none() | st.integers(-9)),
        min_size=1,
    )
)
def test_whatever_is_written_as_csv_is_read_back(cells: list[tuple[str, int | None]]) -> None:
    words, numbers = zip(*cells, strict=True)
    # A csv reader of Python cannot tell apart what is empty, and it takes NUL for the end.
    words = tuple(word.replace("\0", "") for word in words)
    numbers = tuple(None if number is None else min(number, 2**62) for number in numbers)
    piece = pa.table({"a,b": pa.array(words), "n": pa.array(numbers, pa.int64())})
    file = io.BytesIO()
    write_csv(iter([piece, piece]), file)
    lines = list(csv.reader(io.StringIO(file.getvalue().decode(), newline="")))
    expected = [
        [plain_cell(word), "" if number is None else str(number)]
        for word, number in zip(words, numbers, strict=True)
    ]
    assert lines == [["a,b", "n"], *expected, *expected]
