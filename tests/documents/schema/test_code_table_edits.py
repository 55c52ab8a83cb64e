"""Rows of a code list change, and the others stay as they are, to the byte."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Literal

from hypothesis import given, strategies as st

from sdcensus.documents.schema.code_table_edits import (
    CodeTableChange,
    edited_code_table,
    new_code_table,
)
from sdcensus.documents.schema.code_tables import read_code_table

TEXTS = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), max_size=5)
CODES = st.lists(TEXTS.filter(bool), min_size=1, max_size=6, unique=True)


@given(CODES, st.data())
def test_only_what_was_changed_changes(codes: list[str], data: st.DataObject) -> None:
    delimiter = data.draw(st.sampled_from([",", ";", "\t"]))
    ending = data.draw(st.sampled_from(["\n", "\r\n"]))
    mark = data.draw(st.sampled_from([b"", b"\xef\xbb\xbf"]))
    last = data.draw(st.booleans())
    labels = [data.draw(st.one_of(TEXTS, st.just("two\nlines"))) for _ in codes]
    stream = io.StringIO(newline="")
    quoting: Literal[0, 1] = data.draw(st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL]))
    writer = csv.writer(stream, delimiter=delimiter, lineterminator=ending, quoting=quoting)
    writer.writerow(["code", "label", "parent"])
    writer.writerows([code, label, ""] for code, label in zip(codes, labels, strict=True))
    text = stream.getvalue()
    content = mark + (text if last else text.removesuffix(ending)).encode()
    table = read_code_table(Path("codes.csv"), content=content)
    at = data.draw(st.integers(0, len(codes) - 1))
    line = table.lines[at]
    new = data.draw(TEXTS)
    change = CodeTableChange({line: {"label": new, "label_es": "Sí"}}, added=[{"code": "added 1"}])
    changed = edited_code_table(content, change)
    again = read_code_table(Path("codes.csv"), content=changed)
    assert [node.code for node in again.nodes] == [*codes, "added 1"]
    assert again.nodes[at].label.show("es") == "Sí"
    assert again.nodes[at].label.show("en") == (new or "Sí")
    assert changed.startswith(mark)
    kept = [row for number, row in enumerate(table.nodes) if number != at]
    assert [row for number, row in enumerate(again.nodes[:-1]) if number != at] == kept
    without = edited_code_table(changed, CodeTableChange(removed=[again.lines[-1]]))
    assert [
        node.code for node in read_code_table(Path("codes.csv"), content=without).nodes
    ] == codes


@given(CODES)
def test_no_change_changes_nothing(codes: list[str]) -> None:
    content = new_code_table({"code": code, "label": code, "parent": ""} for code in codes)
    assert edited_code_table(content, CodeTableChange()) == content
    lines = content.splitlines()
    changed = edited_code_table(content, CodeTableChange({2: {"label": "another label"}}))
    assert [line for at, line in enumerate(changed.splitlines()) if at != 1] == [
        line for at, line in enumerate(lines) if at != 1
    ]
