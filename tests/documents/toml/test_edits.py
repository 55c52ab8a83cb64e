"""One setting changes, and every other line of a document stays as it is."""

from __future__ import annotations

import tomllib
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given, strategies as st

from sdcensus.documents.toml.edits import (
    comments_of,
    with_setting,
    with_table,
    without_comments,
    without_setting,
)
from sdcensus.documents.toml.lines import toml_places
from sdcensus.documents.toml.text import toml, toml_key

NAMES = st.sampled_from(["age", "sex", "label", "é x", "a.b", "1", "-", "codes"])
SCALARS = st.one_of(
    st.text(max_size=6),
    st.integers(-99, 99),
    st.booleans(),
    st.lists(st.integers(0, 9), max_size=3),
    st.sampled_from(["# no comment", "x = 1", '"', "'''", "[a]", "a\nb", "é"]),
)
TABLES = st.dictionaries(NAMES, SCALARS, max_size=3)
VALUES = st.one_of(SCALARS, TABLES)
COMMENTS = st.sampled_from(["", "# a comment", "# guessed: it", "", '# with "quotes" and [x]'])


@st.composite
def documents(draw: st.DrawFn) -> str:
    """Tables in every way in which they can be written, with comments all over."""
    lines: list[str] = []

    def note() -> None:
        comment = draw(COMMENTS)
        if comment or draw(st.booleans()):
            lines.append(draw(st.sampled_from(["", "  "])) + comment)

    def setting(name: str, value: Any) -> None:
        note()
        text = toml(value)
        if isinstance(value, str) and draw(st.booleans()) and "'" not in value and value:
            plain = all(sign.isprintable() or sign == "\n" for sign in value)
            text = f"'''\n{value}'''" if plain else text
        if isinstance(value, list) and draw(st.booleans()):
            text = "[  # open\n" + "".join(f"  {toml(item)}, # x\n" for item in value) + "]"
        if isinstance(value, dict) and value and draw(st.booleans()):
            for key, inner in value.items():
                lines.append(f"{name} . {toml_key(key)} = {toml(inner)}")
            return
        comment = draw(COMMENTS)
        lines.append(f"{name}={text}" + (f"  {comment}" if comment else ""))

    for name in draw(st.lists(NAMES, unique=True, max_size=3)):
        settings = draw(st.dictionaries(NAMES, VALUES, max_size=4))
        note()
        lines.append(f"[top.{toml_key(name)}]" + draw(COMMENTS))
        later = []
        for key, value in settings.items():
            if isinstance(value, dict) and draw(st.booleans()):
                later.append((key, value))
            else:
                setting(toml_key(key), value)
        for key, value in later:
            note()
            lines.append(f"[top.{toml_key(name)}.{toml_key(key)}]")
            for inner, scalar in value.items():
                setting(toml_key(inner), scalar)
        for number in range(draw(st.integers(0, 2))):
            lines += ["", f"[[top.{toml_key(name)}.many]]", f"name = {number}"]
    note()
    text = "\n".join(lines) + draw(st.sampled_from(["", "\n"]))
    # A text of several lines has the ends of lines that it has.
    return text.replace("\n", "\r\n") if draw(st.booleans()) else text


PATHS = st.tuples(st.just("top"), NAMES, NAMES)


def expected(data: dict[str, Any], path: tuple[str, ...], value: Any) -> dict[str, Any]:
    whole = deepcopy(data)
    holder = whole
    for step in path[:-1]:
        holder = holder.setdefault(step, {})
    holder[path[-1]] = value
    return whole


def kept_lines(text: str, path: tuple[str, ...]) -> list[str]:
    """The lines on which nothing of a setting stands."""
    plain = text.replace("\r\n", "\n")
    places = toml_places(plain)
    spans = [
        (setting.start, setting.end)
        for place, setting in places.settings.items()
        if place[: len(path)] == path
    ]
    spans += [
        (table.start, table.end) for table in places.tables if table.path[: len(path)] == path
    ]
    touched = {
        line
        for start, end in spans
        for line in range(plain.count("\n", 0, start), plain.count("\n", 0, end) + 1)
    }
    lines = text.splitlines()
    return [
        line
        for number, line in enumerate(plain.split("\n"))
        if number not in touched and line.strip() and lines
    ]


def is_part(lines: list[str], of: str) -> bool:
    """Whether lines stand in a text in their order."""
    rest = iter(of.replace("\r\n", "\n").split("\n"))
    return all(any(line == other for other in rest) for line in lines)


@given(documents(), PATHS, VALUES)
def test_a_setting_is_changed_and_nothing_else(
    text: str, path: tuple[str, ...], value: Any
) -> None:
    changed = with_setting(text, path, value)
    if value == {}:  # a table without settings need not be written
        return
    assert tomllib.loads(changed) == expected(tomllib.loads(text), path, value)
    assert is_part(kept_lines(text, path), changed)
    if "\r\n" in text and "\n" not in str(value):
        assert changed.count("\n") == changed.count("\r\n")
    assert with_setting(changed, path, value) == changed


@given(documents(), PATHS)
def test_a_setting_is_taken_out_and_nothing_else(text: str, path: tuple[str, ...]) -> None:
    data = tomllib.loads(text)
    changed = without_setting(text, path)
    holder = data.get("top", {}).get(path[1], {})
    if path[2] not in holder:
        assert changed == text
        return
    del holder[path[2]]
    assert tomllib.loads(changed) == data or tomllib.loads(changed) == _without_empty(data)
    assert is_part(kept_lines(text, path), changed)


def _without_empty(data: dict[str, Any]) -> dict[str, Any]:
    """A table that only dotted keys made goes with the last of them."""
    inner = {
        name: _without_empty(value) if isinstance(value, dict) else value
        for name, value in data.items()
    }
    return {name: value for name, value in inner.items() if value != {}}


@given(documents(), NAMES, st.dictionaries(NAMES, SCALARS, max_size=3))
def test_a_table_is_added_behind_the_others(text: str, name: str, values: dict[str, Any]) -> None:
    data = tomllib.loads(text)
    if name not in data.get("top", {}):
        return
    changed = with_table(text, ("top", name, "many"), values)
    data["top"][name].setdefault("many", []).append(values)
    assert tomllib.loads(changed) == data
    assert is_part([line for line in text.replace("\r\n", "\n").split("\n") if line], changed)


@given(documents(), NAMES)
def test_comments_go_without_a_trace_in_the_values(text: str, name: str) -> None:
    changed = without_comments(text, ("top", name), lambda comment: "guessed" in comment)
    assert tomllib.loads(changed) == tomllib.loads(text)
    left = [comment.text for comment in comments_of(changed, ("top", name))]
    assert left == [
        comment.text
        for comment in comments_of(text, ("top", name))
        if "guessed" not in comment.text
    ]


def test_the_element_of_an_array_of_tables_is_taken_out() -> None:
    text = "[a]\nb = 1\n\n[[a.many]]\nx = 1\n\n[[a.many]]\nx = 2\n"
    assert tomllib.loads(without_setting(text, ("a", "many", 0))) == {
        "a": {"b": 1, "many": [{"x": 2}]}
    }


@pytest.mark.parametrize(
    ("text", "path", "value", "changed"),
    [
        ("a = { b = 1, c = 2 }  # x\n", ("a", "b"), 3, "a = { b = 3, c = 2 }  # x\n"),
        ("a = { b = 1 }\n", ("a", "c"), 3, "a = { b = 1, c = 3 }\n"),
        ("[a.b.c]\nx = 1\n", ("a", "b", "y"), 2, "[a.b]\ny = 2\n\n[a.b.c]\nx = 1\n"),
        ("[a]\nb.c = 1\n", ("a", "b", "d"), 2, "[a]\nb.c = 1\nb.d = 2\n"),
        ("", ("a", "b"), 2, "\n[a]\nb = 2\n"),
        ("# top\n", ("a",), 2, "a = 2\n# top\n"),
    ],
)
def test_each_way_to_write_a_table(
    text: str, path: tuple[str, ...], value: object, changed: str
) -> None:
    assert with_setting(text, path, value) == changed
