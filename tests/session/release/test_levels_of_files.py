"""Levels per file and per country, on the demo country: what is refused, and what passes."""

from __future__ import annotations

from pathlib import Path

import pytest

from sdcensus.demo import release_document
from sdcensus.demo.write import write_country
from sdcensus.documents.release.preset_files import presets
from sdcensus.model.release.licence import ACCEPTANCE, OF_FILE, LicenceClass
from sdcensus.report.release.results import DesignResult
from sdcensus.session.census.census import load
from sdcensus.session.demo.country import choose_country
from sdcensus.session.release.presets import write_preset
from sdcensus.session.release.release import Release
from sdcensus.testing.island import SECRET

KEYS = (
    'ladder = ["age", "sex", "marital_status", "education", "birthplace", "occupation",'
    ' "religion", "ethnicity"]'
)
EVERYTHING = f"""\
store = "census.store"
[risk]
{KEYS}
[[design]]
name = "A"
households = 0.001
"""


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the store of the demo country."""
    folder = tmp_path_factory.mktemp("demo")
    files = write_country(folder / "country", country=choose_country(None, None), seed=2021)
    load(files.schema, folder / "census.store", secret=SECRET)
    return folder


def assessed(demo: Path, text: str, name: str = "try.toml") -> tuple[DesignResult, ...]:
    path = demo / name
    path.write_text(text, encoding="utf-8")
    return Release(path, secret=SECRET).assess().designs


def share(result: DesignResult, measure: str) -> float:
    value = next(each.value for each in result.verdicts if each.measure == measure)
    assert value is not None
    return value


def test_a_tiny_sample_that_tells_everything_is_refused_by_the_shares_of_the_file(
    demo: Path,
) -> None:
    (result,) = assessed(demo, EVERYTHING)
    country = [each for each in result.verdicts if not each.measure.endswith(OF_FILE)]
    # Shares of the country alone accept it: there are hardly any people in it.
    assert all(each.passes for each in country)
    assert not result.accepted
    assert {each.measure for each in result.failing} == {
        f"{stem}{OF_FILE}"
        for stem in (
            *("expected_matches", "population_uniques"),
            *("not_anonymous", "composition_uniques"),
        )
    }
    assert share(result, "population_uniques_of_file") > 0.5
    assert result.composition is not None
    alone = result.composition.population_uniques / result.composition.households
    assert share(result, "composition_uniques_of_file") == alone > 0.2
    # An even smaller sample is no remedy, and nobody is told that it is one.
    assert not any("sample" in str(each.change) for each in result.failing)
    last = result.ladder[-1]
    assert last.journalist_risk == result.composition.journalist_risk == 1.0


@pytest.mark.parametrize("draw", ["one", "two", "three"])
def test_the_file_of_the_demo_passes_whoever_is_drawn(demo: Path, draw: str) -> None:
    text = release_document("census.store", "office", formats=("csv",))
    text = text.replace('groupings = "groupings.csv"\n', "").replace("approved_by", "# ")
    named = text.replace('name = "census-2021-puf"', f'name = "{draw}"')
    _, tens, made = assessed(demo, named)
    assert [each.measure for each in tens.failing][-1] == "composition_uniques_of_file"
    assert share(tens, "composition_uniques_of_file") > 0.05
    assert made.accepted, made.failing
    # By chance there are more or fewer; half of what is accepted leaves room for that.
    assert share(made, "composition_uniques_of_file") < 0.006


@pytest.mark.parametrize("name", presets())
def test_a_preset_says_that_it_is_refused_and_what_passes(demo: Path, name: str) -> None:
    path = demo / f"{name}.toml"
    write_preset(name, path)
    text = path.read_text(encoding="utf-8")
    about = " ".join(line.removeprefix("#").strip() for line in text.splitlines())
    assert "verdict were not at hand" not in about
    results = Release(path, secret=SECRET).assess().designs
    assert not any(result.accepted for result in results)
    assert "sdcensus refuses" in about
    followed = "\n".join(line.removeprefix("#>").lstrip() for line in text.splitlines())
    *others, today = assessed(demo, followed, f"{name}-followed.toml")
    assert today.name == "today"
    assert today.accepted, today.failing
    assert not any(result.accepted for result in others)


def test_levels_of_files_are_those_of_the_files_that_the_study_accepts() -> None:
    public, licensed = (
        ACCEPTANCE[each] for each in (LicenceClass.PUBLIC_USE, LicenceClass.LICENSED_USE)
    )
    for accepted, (alone, of_file, right, unique, few) in (
        # ECLAC, Studies and Perspectives 49 (2016), Table 2, Grenada without parish, single years,
        # eight keys: sample uniques, their share of the sample, the share of them that is matched
        # correctly, population uniques, records that are not 3-anonymous.
        (public, (3293, 0.335, 0.590, 1416, 2020)),
        (licensed, (5211, 0.271, 0.684, 2816, 3983)),
    ):
        size = alone / of_file
        assert accepted.population_uniques_of_file == round(unique / size, 3)
        assert accepted.expected_matches_of_file >= alone * right / size - 0.0005
        assert accepted.not_anonymous_of_file == round(few / size, 3)
    assert public.expected_matches_of_file == round(3293 * 0.590 / (3293 / 0.335), 3)
    assert public.composition_uniques_of_file == 0.01
    for stem in ("expected_matches", "population_uniques", "not_anonymous", "composition_uniques"):
        levels = [getattr(each, stem + OF_FILE) for each in ACCEPTANCE.values()]
        assert levels == sorted(levels), stem
