"""How large a module, a function and a folder may be, and that every folder says what it is for.

Each list holds what is still above its limit. It only becomes shorter: whatever does not offend any
more fails as well, until it is taken off.
"""

from __future__ import annotations

from scripts import house

LONG_MODULES: set[str] = set()
LONG_FUNCTIONS: set[str] = set()
FULL_FOLDERS: set[str] = set()
SILENT_ROOMS: set[str] = set()


def test_no_module_is_above_its_limit() -> None:
    assert set(house.long_modules()) == LONG_MODULES


def test_no_function_is_above_its_limit() -> None:
    long = {
        f"{body.path.as_posix()} {body.name}" for body in house.bodies(longest=house.BODY_LINES)
    }
    assert long == LONG_FUNCTIONS


def test_no_folder_is_above_its_limit() -> None:
    full = {name for name, count in house.folders().items() if count > house.FOLDER_MODULES}
    assert full == FULL_FOLDERS


def test_every_room_says_what_belongs_there() -> None:
    assert set(house.rooms_without_a_word()) == SILENT_ROOMS


def test_the_house_was_found() -> None:
    """Otherwise everything above would hold of nothing."""
    assert len(house.folders()) > 50
    assert sum(house.folders().values()) > 500
