"""Every key of a TOML document is found on the line where it stands."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from sdcensus.documents.toml.lines import KeyPath, parse_toml, read_small_file, read_toml
from sdcensus.errors import DocumentError, InputError, SdcensusError

HERE = Path("document.toml")


def paths_of(value: Any, path: KeyPath = ()) -> Iterator[KeyPath]:
    """All key paths of a value, its own first."""
    if path:
        yield path
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from paths_of(inner, (*path, key))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from paths_of(inner, (*path, number))


# Keys that need quotes, keys that could be taken for something else, ordinary keys.
KEYS = st.sampled_from(["a", "b-c", "1", "true", "x y", "a.b", 'q"', "ñ", "#", "[x]", "", "'"])
SCALARS = st.one_of(
    st.integers(-10, 10),
    st.booleans(),
    st.text("ab\"'#=[]{},\\\n é", max_size=8),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(KEYS, inner, max_size=3)),
    max_leaves=6,
)
TABLES = st.dictionaries(KEYS, VALUES, max_size=3)
DOCUMENTS = st.dictionaries(
    KEYS, st.one_of(TABLES, st.lists(TABLES, min_size=1, max_size=3)), max_size=4
)


@dataclass
class Writer:
    """Writes TOML in many layouts, and remembers on which line it wrote each key."""

    draw: st.DrawFn
    text: str = ""
    lines: dict[KeyPath, int] = field(default_factory=dict)

    def note(self, path: KeyPath) -> None:
        self.lines.setdefault(path, self.text.count("\n") + 1)

    def maybe(self) -> bool:
        return self.draw(st.booleans())

    def filler(self) -> None:
        self.text += self.draw(st.sampled_from(["", "", "\n", "# key = [1] \"'\n", "  \t\n"]))

    def key(self, key: str) -> None:
        bare = key.isascii() and key.replace("-", "").replace("_", "").isalnum()
        if bare and self.maybe():
            self.text += key
        elif "'" not in key and self.maybe():
            self.text += f"'{key}'"
        else:
            self.text += json.dumps(key, ensure_ascii=False)

    def value(self, value: Any, path: KeyPath) -> None:
        if isinstance(value, bool):
            self.text += str(value).lower()
        elif isinstance(value, int):
            self.text += str(value)
        elif isinstance(value, str):
            self.string(value)
        elif isinstance(value, list):
            self.array(value, path)
        else:
            self.inline(value, path)

    def string(self, value: str) -> None:
        if "'" not in value and "\n" not in value and self.maybe():
            self.text += f"'{value}'"
        elif "''" not in value and value[-1:] != "'" and self.maybe():
            self.text += f"'''\n{value}'''"
        elif self.maybe():
            body = value.replace("\\", "\\\\").replace('"""', '""\\"')
            self.text += f'"""\n{body}"""' if body[-1:] != '"' else json.dumps(value)
        else:
            self.text += json.dumps(value, ensure_ascii=False)

    def array(self, value: list[Any], path: KeyPath) -> None:
        self.text += "["
        for number, one in enumerate(value):
            if self.maybe():
                self.text += "\n  # a comment ] , {\n"
            self.note((*path, number))
            self.value(one, (*path, number))
            if number < len(value) - 1 or self.maybe():
                self.text += ", "
        self.text += "\n]" if self.maybe() else "]"

    def inline(self, value: dict[str, Any], path: KeyPath) -> None:
        self.text += "{ "
        for number, (key, one) in enumerate(value.items()):
            self.text += ", " if number else ""
            self.setting(key, one, path)
        self.text += " }"

    def setting(self, key: str, value: Any, table: KeyPath) -> None:
        path = (*table, key)
        self.note(path)
        self.key(key)
        if isinstance(value, dict) and len(value) == 1 and self.maybe():  # a dotted key
            (inner, last), *_ = value.items()
            self.note((*path, inner))
            self.text += " . " if self.maybe() else "."
            self.key(inner)
            path, value = (*path, inner), last
        self.text += " = " if self.maybe() else "="
        self.value(value, path)

    def table(self, table: dict[str, Any], path: KeyPath) -> None:
        for key, value in table.items():
            self.filler()
            self.setting(key, value, path)
            self.text += "\n" if self.maybe() else "  # a comment = 1\n"

    def document(self, document: dict[str, Any]) -> None:
        for name, value in document.items():
            self.filler()
            if isinstance(value, dict):
                self.note((name,))
                self.text += "[ "
                self.key(name)
                self.text += " ]\n"
                self.table(value, (name,))
            else:
                for number, one in enumerate(value):
                    self.filler()
                    self.note((name,))
                    self.note((name, number))
                    self.text += "[["
                    self.key(name)
                    self.text += "]]\n"
                    self.table(one, (name, number))


@st.composite
def written(draw: st.DrawFn) -> tuple[dict[str, Any], Writer]:
    document = draw(DOCUMENTS)
    writer = Writer(draw)
    writer.document(document)
    return document, writer


@given(written())
def test_every_key_has_the_line_on_which_it_was_written(
    case: tuple[dict[str, Any], Writer],
) -> None:
    document, writer = case
    read = parse_toml(HERE, writer.text + "\n#")
    assert read.data == document
    assert {path: read.lines[path] for path in writer.lines} == writer.lines
    assert set(paths_of(document)) == set(read.lines)


@given(written())
def test_line_ends_of_windows_change_nothing(case: tuple[dict[str, Any], Writer]) -> None:
    text = case[1].text + "\n#"
    unix, windows = parse_toml(HERE, text), parse_toml(HERE, text.replace("\n", "\r\n"))
    assert (unix.data, unix.lines) == (windows.data, windows.lines)


def test_tables_inside_arrays_of_tables_belong_to_the_last_one() -> None:
    text = "[[a]]\nx = 1\n[a.b]\ny = 2\n[[a]]\n[a.b]\ny = 3\n[[a.c]]\nz = 1\n[[a.c]]\nz = 2\n"
    document = parse_toml(HERE, text)
    assert document.line_of("a", 0, "b", "y") == 4
    assert document.line_of("a", 1, "b", "y") == 7
    assert document.line_of("a", 1, "c", 1, "z") == 11


def test_a_key_that_is_not_there_has_the_line_of_its_table() -> None:
    document = parse_toml(HERE, "\n[variable.age]\nrange = [0, 1]\n")
    assert document.line_of("variable", "age", "role") == 2
    assert document.line_of("nothing") == 0


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("a = 1\nb\n", 2, "expected '='"),
        ("a = 1\nb = 2 c\n", 2, "end of the line"),
        ("a = 1\n\na = 2\n", 3, "given before"),
        ("[a]\nx = 1\n[a]\n", 3, "given before"),
        ("a = 'b\n", 1, "quote is missing"),
        ('a = """b\n\n', 1, "not closed"),
        ("a = [1,\n2\n", 2, "']' is missing"),
        ("a = maybe\n", 1, "double quotes"),
        ('path = "C:\\new.csv"\nb = "\\q"\n', 2, "instead of a single"),
        ("[a\n", 1, "']' is missing"),
        ("a = 2021-13-45\n", 1, "TOML"),
    ],
)
def test_syntax_errors_are_plain_and_have_their_line(text: str, line: int, words: str) -> None:
    with pytest.raises(DocumentError) as caught:
        parse_toml(HERE, text)
    (mistake,) = caught.value.mistakes
    assert mistake.line == line
    assert words in mistake.text


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "empty"),
        (b" \n\n", "empty"),
        (b"a = 1\nb = '\xe9'\n", "line 2: There is a character here that is not UTF-8"),
        (b"a = 1\n\nb\0 = 2\n", "line 3: There is a NUL byte"),
        ("a = 1".encode("utf-16"), "UTF-16"),
        (b"a = " + b"[" * 100_000, "nested too deep"),
        (b"a = " + b"9" * 10_000, "too long"),
    ],
)
def test_files_that_are_no_documents_are_refused_in_plain_words(
    tmp_path: Path, content: bytes, words: str
) -> None:
    path = tmp_path / "schema.toml"
    path.write_bytes(content)
    with pytest.raises(DocumentError, match=words):
        read_toml(path)


def test_a_byte_order_mark_is_no_mistake(tmp_path: Path) -> None:
    path = tmp_path / "schema.toml"
    path.write_bytes(b"\xef\xbb\xbfa = 1\r\n")
    assert read_toml(path).data == {"a": 1}


def test_what_is_no_file_is_an_input_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is a folder"):
        read_toml(tmp_path)
    with pytest.raises(InputError, match="does not exist"):
        read_toml(tmp_path / "no.toml")
    with pytest.raises(InputError):
        read_toml(tmp_path / "a\0b.toml")
    large = tmp_path / "large.toml"
    large.write_bytes(b"#" * 2**20)
    with pytest.raises(InputError, match="larger than 0 MB"):
        read_small_file(large, what="schema", largest=1000)


@given(st.binary(max_size=300))
def test_random_bytes_give_a_document_or_a_clear_error(content: bytes) -> None:
    try:
        text = content.decode()
        document = parse_toml(HERE, text)
    except (UnicodeDecodeError, SdcensusError):
        return
    assert set(paths_of(document.data)) <= set(document.lines)
