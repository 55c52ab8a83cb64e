"""Advice that is followed to the letter: the next assessment gives what the first one promised."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from sdcensus.documents.release.preset_files import presets
from sdcensus.documents.toml.text import toml
from sdcensus.model.quantities import share_text
from sdcensus.report.release.results import DesignResult, MeasureVerdict
from sdcensus.session.release.presets import write_preset
from sdcensus.session.release.release import Release
from sdcensus.testing.island import SECRET
from tests.hamlet import SCHEMA, Hamlet, write_hamlet

ACCEPTED = {
    "expected_matches": 1.0,
    "population_uniques": 1.0,
    "not_anonymous": 1.0,
    "household_risk": 1.0,
    "composition_uniques": 1.0,
    "expected_matches_of_file": 1.0,
    "population_uniques_of_file": 1.0,
    "not_anonymous_of_file": 1.0,
    "composition_uniques_of_file": 1.0,
}
TAKEN = re.compile(r"take (\S+) out of ([\w., ]+?)(?=\)|;)")
ADDED = re.compile(r"(recode|top_code|bottom_code|drop|keep) = (\{[^}]*\}|\[[^]]*\])")


@pytest.fixture(scope="module")
def hamlet(tmp_path_factory: pytest.TempPathFactory) -> Hamlet:
    place = write_hamlet(tmp_path_factory.mktemp("hamlet"))
    place.load()
    return place


def assessed(
    hamlet: Hamlet,
    design: dict[str, Any],
    accepted: float,
    ladder: list[str],
    measure: str = "population_uniques",
    more: str = "",
) -> Any:
    lines = [f"store = {toml(hamlet.store.as_posix())}", "[risk]", f"ladder = {toml(ladder)}"]
    lines += ["[acceptance]"]
    levels = {**ACCEPTED, measure: accepted}
    lines += [f"{name} = {toml(value)}" for name, value in levels.items()]
    lines += ["[[design]]", *(f"{name} = {toml(value)}" for name, value in design.items())]
    path = hamlet.write("advised.toml", "\n".join([*lines, more]) + "\n")
    return Release(path, secret=SECRET).assess().designs[0]


def verdict_of(result: DesignResult, measure: str = "population_uniques") -> MeasureVerdict:
    return next(each for each in result.verdicts if each.measure == measure)


def failing(result: DesignResult, measure: str = "population_uniques") -> str:
    verdict = verdict_of(result, measure)
    assert not verdict.passes
    return str(verdict.change)


def followed(design: dict[str, Any], advice: str) -> dict[str, Any]:
    """A design after somebody has written what the advice says, and nothing else."""
    edited = {
        name: dict(value) if isinstance(value, dict) else value for name, value in design.items()
    }
    changes = advice.partition(" Or ")[0]
    for name, places in TAKEN.findall(changes):
        for place in places.split(", "):
            held = edited[place]
            assert name in held, (place, name)
            if isinstance(held, dict):
                del held[name]
            else:
                edited[place] = [each for each in held if each != name]
            if not edited[place]:
                del edited[place]
    for setting, text in ADDED.findall(changes):
        value = tomllib.loads(f"value = {text}")["value"]
        if isinstance(value, dict):
            edited[setting] = {**edited.get(setting, {}), **value}
        else:
            edited[setting] = [*edited.get(setting, []), *value]
    return edited


KEYS = ["age", "sex", "tenure"]
PAID = ["sex", "income", "only", "tenure"]
DESIGNS: dict[str, tuple[dict[str, Any], float, list[str]]] = {
    "a top that the level does not have": ({"top_code": {"age": 75}}, 0.01, KEYS),
    "a top that the level has": ({"top_code": {"age": 80}}, 0.1, [*KEYS, "married", "only"]),
    "both ends": ({"top_code": {"age": 75}, "bottom_code": {"age": 4}}, 0.01, KEYS),
    "intervals": ({"recode": {"age": "0,5,...,95+"}}, 0.001, ["age", "sex", "married"]),
    "groups": ({"merge": {"age": {"young": ["3", "4"]}}}, 0.01, KEYS),
    "an area": ({"keep": ["ed"]}, 0.0, ["ed", "sex", "married", "tenure"]),
    "an area that has to go": (
        {"keep": ["ed@parish"]},
        0.0,
        ["ed@parish", *KEYS[1:], "only"],
    ),
    "a key that has to go": (
        {"recode": {"income": "bracket"}},
        0.0,
        PAID,
    ),
    "an amount": ({}, 0.0, PAID),
}


@pytest.mark.parametrize("case", DESIGNS)
def test_advice_that_is_followed_gives_what_it_promises(hamlet: Hamlet, case: str) -> None:
    more, accepted, ladder = DESIGNS[case]
    design = {"name": "A", "households": 1, **more}
    advice = failing(assessed(hamlet, design, accepted, ladder))
    promised = re.match(r"It would be ([\d.]+.%)", advice)
    edited = followed(design, advice)
    assert edited != design, advice
    result = assessed(hamlet, edited, accepted, ladder)
    verdict = verdict_of(result)
    if promised is not None:
        assert share_text(verdict.value, digits=2) == promised[1], advice
    assert verdict.passes == ("passes" in advice.partition(" Or ")[0]), advice


SHARES_OF_FILES: dict[str, tuple[str, dict[str, Any], float]] = {
    "persons": ("population_uniques_of_file", {}, 0.01),
    "matches": ("expected_matches_of_file", {}, 0.01),
    "records below k": ("not_anonymous_of_file", {}, 0.02),
    "households, coarser ages": ("composition_uniques_of_file", {}, 0.12),
    "households, two groups of age": ("composition_uniques_of_file", {}, 0.05),
    "households, none": ("composition_uniques_of_file", {}, 0.0),
    "households with ages to 75": (
        "composition_uniques_of_file",
        {"top_code": {"age": 75}},
        0.05,
    ),
    "households in intervals": (
        "composition_uniques_of_file",
        {"recode": {"age": "0,5,...,95+"}},
        0.05,
    ),
    "households with areas": ("composition_uniques_of_file", {"keep": ["ed@parish"]}, 0.05),
    "households of the country": ("composition_uniques", {}, 0.01),
}
LARGE = re.compile(r"\[large_households\] (above = \d+), (treatment = \"apart\")")


@pytest.mark.parametrize("case", SHARES_OF_FILES)
def test_advice_about_shares_of_the_file_works(hamlet: Hamlet, case: str) -> None:
    measure, more, accepted = SHARES_OF_FILES[case]
    design = {"name": "A", "households": "1/2", **more}
    advice = failing(assessed(hamlet, design, accepted, KEYS, measure), measure)
    promised = re.match(r"It would be ([\d.]+.%)", advice)
    tables = LARGE.search(advice.partition(" Or ")[0])
    large = "" if tables is None else f"[large_households]\n{tables[1]}\n{tables[2]}\n"
    edited = followed(design, advice)
    assert edited != design or large, advice
    verdict = verdict_of(assessed(hamlet, edited, accepted, KEYS, measure, large), measure)
    if promised is not None:
        assert share_text(verdict.value, digits=2) == promised[1], advice
    assert verdict.passes == ("passes" in advice.partition(" Or ")[0]), advice
    if measure.endswith("_of_file"):
        assert "sample" not in advice


def test_presets_are_documents_that_work_beside_a_store(hamlet: Hamlet) -> None:
    for name in presets():
        path = hamlet.folder / f"{name}.toml"
        write_preset(name, path)
        assert Release(path, secret=SECRET).assess().designs


def test_areas_that_persons_have_themselves_can_be_kept(tmp_path: Path) -> None:
    schema = SCHEMA.replace('[variable.ed]\nfile = "household"', '[variable.ed]\nfile = "person"')
    place = write_hamlet(tmp_path, schema=schema)
    place.load()
    alone = []
    for keep in ([], ["ed"]):
        result = assessed(place, {"name": "A", "households": 1, "keep": keep}, 1.0, KEYS)
        alone.append(result.composition.population_uniques)
    assert alone[0] < alone[1]
