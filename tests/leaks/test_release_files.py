"""Writers of microdata take a public file only, and a public file reaches nothing confidential."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import typing
from pathlib import Path
from typing import Any

import pytest

import sdcensus.formats.microdata as room
from sdcensus.errors import SpecError
from sdcensus.formats.microdata.ddi import write_ddi
from sdcensus.formats.microdata.labelled import format_problems
from sdcensus.formats.microdata.nada import write_nada
from sdcensus.formats.microdata.write import write_microdata
from sdcensus.model.confidential import Confidential
from sdcensus.model.release.plan import MicrodataFormat
from sdcensus.model.release.release_file import ReleaseFile

#: Words that name what only the office has.
SECRET_WORDS = ("secret", "key", "digest", "seed", "store", "noise", "draw", "row_of", "true")


def reached(kind: Any, seen: set[Any]) -> set[Any]:
    """Every class that an object of a class can hold."""
    for part in typing.get_args(kind):
        reached(part, seen)
    if dataclasses.is_dataclass(kind) and kind not in seen:
        seen.add(kind)
        for hint in typing.get_type_hints(kind).values():
            reached(hint, seen)
    elif inspect.isclass(kind):
        seen.add(kind)
    return seen


def test_a_public_file_reaches_nothing_confidential() -> None:
    kinds = reached(ReleaseFile, set())
    assert not [kind for kind in kinds if inspect.isclass(kind) and issubclass(kind, Confidential)]
    ours = [kind for kind in kinds if getattr(kind, "__module__", "").startswith("sdcensus.")]
    assert all(kind.__module__.startswith("sdcensus.model.") for kind in ours)
    names = {
        field.name
        for kind in ours
        if dataclasses.is_dataclass(kind)
        for field in dataclasses.fields(kind)
    }
    assert names  # the walk went somewhere
    assert not {name for name in names for word in SECRET_WORDS if word in name.split("_")}


def test_writers_take_a_public_file_and_know_no_store() -> None:
    for writer in (write_microdata, write_ddi, write_nada, format_problems):
        hints = typing.get_type_hints(writer)
        assert next(iter(hints.items())) == ("file", ReleaseFile)
    for path in Path(next(iter(room.__path__))).glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module:
                assert not node.module.startswith(
                    ("sdcensus.store", "sdcensus.microdata", "sdcensus.risk", "sdcensus.session")
                ), path.name


def test_records_that_are_not_public_are_refused(tmp_path: Path) -> None:
    class Records(Confidential):
        pass

    records: Any = Records()
    with pytest.raises(SpecError, match="A Records is no file for researchers"):
        write_microdata(records, tmp_path, [MicrodataFormat.CSV])
    assert not list(tmp_path.iterdir())
