"""A schema with what is not saved yet, and its file beside the schema.

After every change the copy is written to ``schema.toml.editing``, so that a session that was
interrupted goes on where it was. It holds what will stand in the schema and its code lists, and
which variables were looked at; nothing of the census.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any, Self

from sdcensus.documents.toml.edits import (
    Comment,
    comments_by_table,
    has_setting,
    with_setting,
    without_setting,
)
from sdcensus.documents.toml.lines import (
    KeyPath,
    TomlDocument,
    parse_toml,
    plain_text,
    read_small_file,
)
from sdcensus.errors import OutputError
from sdcensus.store.owner_only import open_owner_only

ENDING = ".editing"
_MARK = b"\xef\xbb\xbf"
_FORM = 1


@dataclass(frozen=True)
class WorkingCopy:
    """The text of a schema as it stands now. A change makes another copy.

    Attributes:
        path: The file of the schema.
        text: What will stand in it.
        lists: Code lists that are new or changed, with their content.
        looked_at: The variables that somebody has accepted.
    """

    path: Path
    text: str
    lists: Mapping[Path, bytes] = field(default_factory=dict)
    looked_at: frozenset[str] = frozenset()

    @classmethod
    def read(cls, path: Path) -> Self:
        """The schema as it is on disk.

        Raises:
            InputError: It is not there.
            DocumentError: It is no TOML, so that it must be mended by hand.
        """
        content = read_small_file(path, what="schema")
        copy = cls(path, plain_text(path, content, save_as="UTF-8 text"))
        _ = copy.document
        return copy

    @cached_property
    def document(self) -> TomlDocument:
        """Its values with their lines."""
        return parse_toml(self.path, self.text, what="schema", unsaved=self.lists)

    @cached_property
    def comments(self) -> Mapping[KeyPath, tuple[Comment, ...]]:
        """The comments of each of its tables."""
        return comments_by_table(self.text)

    @property
    def variables(self) -> Mapping[str, Any]:
        """The tables of the variables, as they are written."""
        tables = self.document.data.get("variable", {})
        return tables if isinstance(tables, dict) else {}

    def with_setting(self, path: KeyPath, value: object) -> Self:
        """The copy with a setting; ``None`` takes it out."""
        if value is None:
            known = has_setting(self.document.data, path)
            return replace(self, text=without_setting(self.text, path)) if known else self
        return replace(self, text=with_setting(self.text, path, value))

    def with_list(self, path: Path, content: bytes) -> Self:
        """The copy with a new or changed code list."""
        return replace(self, lists={**self.lists, path: content})

    def content_of(self, path: Path) -> bytes:
        """What stands in a code list now, saved or not."""
        known = self.lists.get(path)
        return read_small_file(path, what="code list") if known is None else known

    def content(self, mark: bool) -> bytes:
        """The bytes of the schema; with the mark at their beginning that some editors write."""
        return (_MARK if mark else b"") + self.text.encode("utf-8")


def digest(path: Path) -> str:
    """The digest of a file; empty where there is none."""
    try:
        return sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""


def draft_path(path: Path) -> Path:
    """Where the copy of a schema is kept."""
    return path.with_name(path.name + ENDING)


def keep(copy: WorkingCopy, bases: Mapping[Path, str], *, unsaved: bool) -> None:
    """Write the copy beside the schema, for whoever goes on later.

    Args:
        copy: The copy.
        bases: The digests of the files that it was made from.
        unsaved: Whether it has changes that are not in those files.
    """
    folder = copy.path.parent
    document = {
        "form": _FORM,
        "unsaved": unsaved,
        "bases": {_relative(path, folder): known for path, known in bases.items()},
        "text": copy.text,
        "lists": {
            _relative(path, folder): b64encode(content).decode("ascii")
            for path, content in copy.lists.items()
        },
        "looked_at": sorted(copy.looked_at),
    }
    try:
        with open_owner_only(draft_path(copy.path)) as file:
            file.write(json.dumps(document, ensure_ascii=False, indent=1).encode("utf-8"))
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise OutputError(
            f"{draft_path(copy.path)} cannot be written, so that changes would be lost if the"
            f" session broke off: {reason}."
        ) from None


@dataclass(frozen=True, slots=True)
class KeptCopy:
    """What an earlier session left: its copy, and the digests of what that was made from."""

    copy: WorkingCopy
    bases: Mapping[Path, str]
    unsaved: bool


def kept_copy(path: Path) -> KeptCopy | None:
    """The copy of an earlier session; ``None`` if there is none that can be read."""
    folder = path.parent
    try:
        document = json.loads(draft_path(path).read_bytes())
        if document["form"] != _FORM:
            return None
        lists = {folder / name: b64decode(content) for name, content in document["lists"].items()}
        looked_at = frozenset(map(str, document["looked_at"]))
        copy = WorkingCopy(path, str(document["text"]), lists, looked_at)
        bases = {folder / name: str(known) for name, known in document["bases"].items()}
        _ = copy.document
    except Exception:  # whatever it is, it was not written by an earlier session
        return None
    return KeptCopy(copy, bases, document["unsaved"] is True)


def forget(path: Path) -> None:
    """Remove the copy of an earlier session."""
    draft_path(path).unlink(missing_ok=True)


def _relative(path: Path, folder: Path) -> str:
    return path.relative_to(folder).as_posix() if path.is_relative_to(folder) else str(path)
