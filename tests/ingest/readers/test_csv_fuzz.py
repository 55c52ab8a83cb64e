"""Random csv files: either what Python's own csv module reads, or an InputError; never else."""

from __future__ import annotations

import csv
import io
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import assume, given, strategies as st

from sdcensus.errors import InputError
from sdcensus.ingest.readers import csvfile
from tests.ingest.readers.helpers import opened, whole

ENCODINGS = ["utf-8", "utf-8-sig", "utf-16", "latin-1"]
#: Characters that mean something to csv, to encodings or to terminals, and ordinary ones.
LETTERS = "aZ09.,;|\t\"' \n\r\\é€\ufeff\x1a\x1c\x85\u2028𝄞"
TEXTS = st.text(LETTERS, max_size=6)
BYTES = st.lists(
    st.sampled_from(
        [
            *(b"a", b"0", b",", b";", b'"', b'""', b"\n", b"\r\n", b"\r", b" ", b"\0"),
            *(b"\xff", b"\xc3", b"\xc3\xa9", b"\xef\xbb\xbf", b"\x1a", b"\xfe\xff"),
            *(b"a,b\n", b"1,2\n", b'"x\ny",'),
        ]
    ),
    max_size=40,
).map(b"".join)


@contextmanager
def _file(content: bytes) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "fuzz.csv"
        path.write_bytes(content)
        yield path


def _null_if_blank(text: str) -> str | None:
    return text if text.strip() else None


@st.composite
def tables(draw: st.DrawFn) -> list[list[str]]:
    """A header of different names and rows of any text."""
    names = draw(
        st.lists(
            TEXTS.map(str.strip).filter(lambda name: name and "\ufeff" not in name),
            min_size=1,
            max_size=5,
            unique=True,
        )
    )
    rows = draw(st.lists(st.lists(TEXTS, min_size=len(names), max_size=len(names)), max_size=12))
    return [names, *rows]


@given(
    table=tables(),
    delimiter=st.sampled_from(csvfile.DELIMITERS),
    end=st.sampled_from(["\n", "\r\n"]),
    quote_all=st.booleans(),
    encoding=st.sampled_from(ENCODINGS),
    block=st.sampled_from([1 << 22, 512]),
)
def test_what_is_written_is_read(
    table: list[list[str]],
    delimiter: str,
    end: str,
    quote_all: bool,
    encoding: str,
    block: int,
) -> None:
    text = io.StringIO()
    csv.writer(
        text,
        delimiter=delimiter,
        lineterminator=end,
        quoting=csv.QUOTE_ALL if quote_all else csv.QUOTE_MINIMAL,
    ).writerows(table)
    if encoding == "latin-1":
        text = io.StringIO(text.getvalue().encode("latin-1", "replace").decode("latin-1"))
    expected = list(csv.reader(io.StringIO(text.getvalue(), newline=""), delimiter=delimiter))
    # A row of one empty field without quotation marks is an empty line.
    expected = [row for row in expected if row]
    names, rows = [name.strip() for name in expected[0]], expected[1:]
    # Characters that the encoding lacks, or a carriage return that the writer did not quote.
    mistaken = len({*names, ""}) <= len(names) or any(len(row) != len(names) for row in rows)
    with _file(text.getvalue().encode(encoding)) as path, pytest.MonkeyPatch.context() as patch:
        patch.setattr(csvfile, "_BLOCK", block)
        if mistaken:
            with pytest.raises(InputError):
                whole(opened(path, encoding=encoding, delimiter=delimiter))
            return
        found = whole(opened(path, encoding=encoding, delimiter=delimiter))
    assert found == {
        name: [_null_if_blank(row[place]) for row in rows] for place, name in enumerate(names)
    }


@given(content=BYTES | st.binary(max_size=60), encoding=st.sampled_from(ENCODINGS))
def test_any_bytes_are_read_as_python_reads_them_or_refused(content: bytes, encoding: str) -> None:
    with _file(content) as path:
        try:
            found = whole(opened(path, encoding=encoding, delimiter=","))
        except InputError:
            return
    decoded = content.decode("utf-8-sig" if encoding == "utf-8" else encoding)
    rows = [row for row in csv.reader(io.StringIO(decoded, newline="")) if row]
    names = [name.strip() for name in rows[0]]
    assert list(found) == [name for name in names if name]
    for name, values in found.items():
        place = names.index(name)
        assert values == [_null_if_blank(row[place]) for row in rows[1:]]


@given(table=tables(), cut=st.floats(0, 1))
def test_a_file_cut_anywhere_gives_rows_of_the_whole_file_or_is_refused(
    table: list[list[str]], cut: float
) -> None:
    text = io.StringIO()
    # Between the two marks of a doubled quotation mark a cut cannot be seen.
    plain = [[one.replace('"', "") for one in row] for row in table]
    names = {name.strip() for name in plain[0]}
    assume("" not in names and len(names) == len(plain[0]))
    csv.writer(text, quoting=csv.QUOTE_ALL).writerows(plain)
    content = text.getvalue().encode()
    with _file(content) as path:
        complete = whole(opened(path))
        path.write_bytes(content[: int(len(content) * cut)])
        try:
            found = whole(opened(path))
        except InputError:
            return
    if not any(found.values()):
        assert list(found) == list(complete)[: len(found)]
        return
    # With every field quoted, a cut shows unless it falls between rows, or behind the last
    # delimiter of a row, which leaves its last field empty.
    assert list(found) == list(complete)
    last = list(found)[-1]
    for name, values in found.items():
        kept = len(values) - (1 if name == last else 0)
        assert values[:kept] == complete[name][:kept]
        assert values[kept:] in ([], [None], complete[name][kept : len(values)])
