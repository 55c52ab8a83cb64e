from __future__ import annotations

import importlib.util
import threading
from pathlib import Path
from types import ModuleType

import pytest

from scripts import house

MODULE = '''\
"""What it is."""

import os  # why


def short(name: str) -> str:
    """Says
    something."""

    # a reason
    text = """two
lines"""
    return os.path.join(name, text)


class Room:
    """A room."""

    size = short("a")

    async def long(
        self,
    ) -> None:
        def inner() -> int:
            return 1

        inner()
'''


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A package with two rooms, one of which says what it is for."""
    folder = tmp_path / "package"
    (folder / "kitchen").mkdir(parents=True)
    (folder / "__init__.py").write_text('"""One line."""\n', encoding="utf-8")
    words = '"""The kitchen.\n\nCooks are here; guests are next door.\n"""\n'
    (folder / "kitchen" / "__init__.py").write_text(words, encoding="utf-8")
    for name in ("stove", "sink"):
        (folder / "kitchen" / f"{name}.py").write_text(MODULE, encoding="utf-8")
    return folder


def test_lines_of_code_are_neither_blank_nor_comments_nor_docstrings() -> None:
    lines = MODULE.splitlines()
    assert [lines[number - 1].strip() for number in sorted(house.code_lines(MODULE))] == [
        "import os  # why",
        "def short(name: str) -> str:",
        'text = """two',
        'lines"""',
        "return os.path.join(name, text)",
        "class Room:",
        'size = short("a")',
        "async def long(",
        "self,",
        ") -> None:",
        "def inner() -> int:",
        "return 1",
        "inner()",
    ]


def test_modules_have_their_lines(package: Path) -> None:
    measured = {module.path.as_posix(): module for module in house.modules(package)}
    assert measured.keys() == {
        *("__init__.py", "kitchen/__init__.py", "kitchen/sink.py", "kitchen/stove.py")
    }
    stove = measured["kitchen/stove.py"]
    assert (stove.lines, stove.code) == (len(MODULE.splitlines()), 13)
    assert measured["kitchen/__init__.py"].code == 0


def test_bodies_are_without_signature_and_docstring(package: Path) -> None:
    sizes = {body.name: body.code for body in house.bodies(package) if body.path.name == "sink.py"}
    assert sizes == {"short": 3, "long": 3, "inner": 1}
    assert {body.name for body in house.bodies(package, longest=2)} == {"short", "long"}
    assert list(house.bodies(package, longest=3)) == []


def test_long_modules_are_above_the_limit(package: Path) -> None:
    for name, lines in (("full", house.MODULE_LINES), ("long", house.MODULE_LINES + 1)):
        (package / f"{name}.py").write_text("x = 1\n" * lines, encoding="utf-8")
    assert house.long_modules(package) == {"long.py": house.MODULE_LINES + 1}


def test_folders_count_their_modules_and_say_what_they_are_for(package: Path) -> None:
    assert house.folders(package) == {"kitchen": 2}
    assert list(house.rooms_without_a_word(package)) == ["."]


def imported(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_module_is_on_the_road_if_it_is_called_and_not_if_it_is_imported(package: Path) -> None:
    """``short`` is called by the import as well, which does not count; a new thread does."""
    names: set[str] = set()
    with house.walked(names, package):
        stove = imported(package / "kitchen" / "stove.py")
        assert names == set()
        stove.short("a")
        assert names == {"kitchen/stove.py"}
        sink = imported(package / "kitchen" / "sink.py")
        thread = threading.Thread(target=sink.short, args=("a",))
        thread.start()
        thread.join()
    assert names == {"kitchen/stove.py", "kitchen/sink.py"}
    names.clear()
    stove.short("a")
    assert names == set()
