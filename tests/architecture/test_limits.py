"""How large a module, a function and a folder may be, and that every folder says what it is for."""

from __future__ import annotations

from scripts import house


def test_no_module_is_above_its_limit() -> None:
    assert house.long_modules() == {}


def test_no_function_is_above_its_limit() -> None:
    assert list(house.bodies(longest=house.BODY_LINES)) == []


def test_no_folder_is_above_its_limit() -> None:
    counts = house.folders()
    assert {name: count for name, count in counts.items() if count > house.FOLDER_MODULES} == {}


def test_every_room_says_what_belongs_there() -> None:
    assert list(house.rooms_without_a_word()) == []


def test_the_house_was_found() -> None:
    """Otherwise everything above would hold of nothing."""
    assert len(house.folders()) > 50
    assert sum(house.folders().values()) > 500
