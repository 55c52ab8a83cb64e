"""The files of a registry: descriptions of tables, code lists that they share, publications."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sdcensus.errors import StoreError
from sdcensus.model.schema.variable import Variable
from sdcensus.model.spec.document import (
    code_list_to_json,
    code_lists_of,
    spec_to_json,
    variable_from_json,
)
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.model.text import parse_json
from sdcensus.store.owner_only import make_owner_only_folder, write_owner_only

FORMAT_NAME = "sdcensus-registry"
#: Raised when older programs could not read the folder rightly.
FORMAT_VERSION = 2
ABOUT_FILE = "registry.json"
#: Descriptions and values of tables; code lists; what was published when.
FOLDER, LISTS, EVENTS = "published", "lists", "publications"

#: A variable by its identity, and the levels of it that a table shows.
ListKey = tuple[int, tuple[str, ...]]

ENTRY_ID = re.compile(r"[0-9a-f]{32}")
_EVENT = re.compile(r"([0-9]{6,})\.json")


def as_bytes(content: Mapping[str, Any]) -> bytes:
    """A small document as the bytes of its file."""
    return (json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode()


def read_json(path: Path, *, missing: str) -> dict[str, Any]:
    """A document of the registry.

    Raises:
        StoreError: It is missing or damaged.
    """
    try:
        content = parse_json(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        raise StoreError(
            f"{missing} Name the folder of a registry; protect --registry and Registry.create make"
            " a new one."
        ) from None
    except (OSError, ValueError):
        raise damaged(path) from None
    if not isinstance(content, dict):
        raise damaged(path)
    return content


def damaged(path: Path) -> StoreError:
    """What is said of a file that is not as it was written."""
    return StoreError(f"{path} is damaged. Restore the registry from a backup.")


def make_folders(folder: Path) -> None:
    """The folders of a registry."""
    for name in ("", FOLDER, LISTS, EVENTS):
        make_owner_only_folder(folder / name)


def event_file(order: int) -> str:
    """What the file of a publication is called, in the folder of the registry."""
    return f"{EVENTS}/{order:06d}.json"


def event_files(folder: Path) -> list[tuple[int, Path]]:
    """The publications of a registry, in their order."""
    try:
        names = [path.name for path in (folder / EVENTS).iterdir()]
    except OSError:
        raise StoreError(f"{folder} has lost its publications. Restore it from a backup.") from None
    found = [match for match in map(_EVENT.fullmatch, names) if match]
    return sorted((int(match[1]), folder / EVENTS / match[0]) for match in found)


def put_spec(
    folder: Path, spec: TableSpec, known: dict[ListKey, tuple[str, Variable]]
) -> dict[str, Any]:
    """A specification whose code lists lie in files of their own, since many tables share them.

    Args:
        folder: The registry.
        spec: The specification.
        known: The lists that were written before; these are not looked at again.
    """
    names = []
    for variable, levels in code_lists_of(spec):
        key = (id(variable), tuple(level.name for level in levels))
        if key not in known:
            made = code_list_to_json(variable, levels)
            data = json.dumps(made, ensure_ascii=False, separators=(",", ":")).encode()
            name = _list_name(data)
            path = folder / LISTS / f"{name}.json"
            if not path.exists():
                write_owner_only(path, data)
            known[key] = (name, variable)  # the variable itself, so that its id stays its own
        names.append(known[key][0])
    return {**spec_to_json(spec, code_lists=False), "code_lists": names}


def get_spec(
    folder: Path, document: Mapping[str, Any], known: dict[str, Variable]
) -> dict[str, Any]:
    """A specification with its code lists in it again; ``known`` are those read before."""
    lists: list[Any] = []
    for one in document["code_lists"]:
        if not isinstance(one, str):
            lists.append(one)
            continue
        if one not in known:
            path = folder / LISTS / f"{one}.json"
            try:
                data = path.read_bytes()
            except OSError:
                raise damaged(path) from None
            if _list_name(data) != one:
                raise damaged(path)
            known[one] = variable_from_json(parse_json(data))
        lists.append(known[one])
    return {**document, "code_lists": lists}


def checksum(document: Mapping[str, Any]) -> str:
    """Whether a specification is as it was written; its code lists have names that say so."""
    text = json.dumps(document, ensure_ascii=False, sort_keys=True)
    return hashlib.blake2b(text.encode(), digest_size=16, person=b"description").hexdigest()


def _list_name(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=16, person=b"code-list").hexdigest()


def upgrade(folder: Path) -> None:
    """Bring a registry of the first version into this one: each table was a publication there."""
    make_folders(folder)
    found = []
    for path in (folder / FOLDER).glob("*.json"):
        if ENTRY_ID.fullmatch(path.stem):
            content = read_json(path, missing=f"{path} cannot be read.")
            try:
                found.append((int(content["order"]), str(content["id"]), str(content["name"])))
            except (LookupError, TypeError, ValueError):
                raise damaged(path) from None
    for at, (_, identity, name) in enumerate(sorted(found)):
        content = {"version": FORMAT_VERSION, "name": name, "entries": [identity]}
        write_owner_only(folder / event_file(at), as_bytes(content))
    about = {"format": FORMAT_NAME, "version": FORMAT_VERSION}
    write_owner_only(folder / ABOUT_FILE, as_bytes(about))
