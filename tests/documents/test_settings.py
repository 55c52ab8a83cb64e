"""Every setting of every document changes the result; one that does nothing is an error."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import pytest

from sdcensus.model.plan_words import METHOD_SETTINGS, STEP_SETTINGS
from tests.documents import effects_of_plans, effects_of_schemas
from tests.documents.effects import Effect, Files, Way, declared

#: Where settings of each document are declared, and what each changes.
DOCUMENTS: dict[tuple[str, ...], dict[str, Effect]] = {
    ("sections",): effects_of_schemas.EFFECTS,
    ("plan_sections",): effects_of_plans.EFFECTS,
}
#: What is said about methods and steps, each for itself.
OF_METHODS = effects_of_plans.OF_METHODS
EVERY = {
    name: effect for table in DOCUMENTS.values() for name, effect in table.items()
} | OF_METHODS


@pytest.mark.parametrize("modules", DOCUMENTS)
def test_every_setting_has_an_effect_and_every_effect_a_setting(modules: tuple[str, ...]) -> None:
    """A new setting: see ``tests/documents/effects.py`` for what to write for it."""
    settings, shown = set(declared(*modules)), set(DOCUMENTS[modules])
    settings -= {f"ProtectSection.{name.split('.')[1]}" for name in OF_METHODS}
    assert not settings - shown, f"settings without an effect: {sorted(settings - shown)}"
    assert not shown - settings, f"effects without a setting: {sorted(shown - settings)}"


def test_every_setting_of_every_method_and_step_has_an_effect() -> None:
    every = {**METHOD_SETTINGS, **STEP_SETTINGS}
    settings = {f"{method}.{name}" for method, names in every.items() for name in names}
    assert set(OF_METHODS) == settings
    said = {name.split(".")[1] for name in settings} | {"method", "then", "import_published"}
    assert {f"ProtectSection.{name}" for name in said} == {
        one for one in declared("plan_sections") if one.startswith("ProtectSection.")
    }


@pytest.fixture(scope="module")
def see(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Way, Files], object]:
    """What is seen of documents; of the same ones once. All folders have names of one length."""
    seen: dict[object, object] = {}
    number = itertools.count()

    def look(way: Way, files: Files) -> object:
        key = (way, tuple(sorted(files.items())))
        if key not in seen:
            folder = tmp_path_factory.getbasetemp() / f"settings-{next(number):04}"
            folder.mkdir()
            seen[key] = way(files, folder)
        return seen[key]

    return look


@pytest.mark.parametrize("setting", EVERY)
def test_a_setting_changes_the_result(setting: str, see: Callable[[Way, Files], object]) -> None:
    effect = EVERY[setting]
    without, given = see(effect.way, effect.without), see(effect.way, effect.given)
    for version, seen in (("without", without), ("given", given)):
        assert isinstance(seen, str) == (effect.refused in (version, "both")), f"{version}: {seen}"[
            :2000
        ]
    assert without != given, f"{setting} changes nothing: {without}"[:2000]
