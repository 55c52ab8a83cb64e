from __future__ import annotations

from math import prod

import numpy as np
import pytest

from sdcensus.demo import PRESETS, Country, make_country, study_axes, study_shape
from sdcensus.demo.census import DemoCensus
from sdcensus.errors import SpecError, UnknownName

#: Interior cells and persons of the founding study, two- to five-way (E20, Table 9).
STUDY_CELLS = {
    "small-island": (194, 1_940, 27_160, 162_960),
    "mid-country": (194, 2_910, 49_470, 346_290),
    "large-island": (194, 1_164, 16_296, 228_144),
}
#: Of those cells, percent of zeros and percent of ones and twos: three-, four- and five-way.
STUDY_SMALL_CELLS = {
    "small-island": ((45.4, 17.1), (81.1, 8.9), (95.0, 3.1)),
    "mid-country": ((10.0, 11.4), (57.4, 19.5), (87.5, 8.1)),
    "large-island": ((1.8, 3.3), (33.6, 20.5), (75.5, 10.0)),
}


@pytest.mark.parametrize("preset", PRESETS)
def test_presets_have_the_interior_cells_of_the_study(preset: str) -> None:
    shape = study_shape(PRESETS[preset])
    assert tuple(prod(shape[:ways]) for ways in (2, 3, 4, 5)) == STUDY_CELLS[preset]


def test_presets_have_the_sizes_of_the_study() -> None:
    sizes = {name: country.persons for name, country in PRESETS.items()}
    assert sizes == {"small-island": 47_142, "mid-country": 303_222, "large-island": 2_200_000}


def _study_cube(census: DemoCensus) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    """Persons by the axes of the study, counted from the records themselves."""
    country = census.country
    tree = next(tree for tree in census.questionnaire["birthplace"].trees if tree.name == "study")
    parent = {code.code: code.parent or code.code for code in tree.codes}
    texts = census.questionnaire["birthplace"].texts
    groups = sorted({parent[text] for text in texts})
    group = np.array([groups.index(parent[text]) for text in texts])
    shape = study_shape(country)
    assert len(groups) == shape[4]
    assert len(census.questionnaire["ethnicity"].codes) == shape[2]
    cells = np.zeros(prod(shape), dtype=np.int64)
    for piece in census.pieces():
        records = census.records(piece)
        columns = (
            np.minimum(records.columns["age"], 96),
            records.columns["sex"],
            records.columns["ethnicity"],
            census.geography.parish[records.people.units.ed],
            group[records.columns["birthplace"]],
        )
        cells += np.bincount(np.ravel_multi_index(columns, shape), minlength=cells.size)
    return cells.reshape(shape)


@pytest.mark.parametrize(
    "preset",
    [
        "small-island",
        pytest.param("mid-country", marks=pytest.mark.slow),
        pytest.param("large-island", marks=pytest.mark.soak),
    ],
)
def test_presets_are_about_as_sparse_as_the_countries_of_the_study(preset: str) -> None:
    country = PRESETS[preset]
    cube = _study_cube(DemoCensus(country, seed=2021))
    assert cube.sum() == country.persons
    three_way, four_way = cube.sum(axis=(3, 4)), cube.sum(axis=4)
    for cells, (zeros, small) in zip(
        (three_way, four_way, cube), STUDY_SMALL_CELLS[preset], strict=True
    ):
        assert abs(100 * (cells == 0).mean() - zeros) < 12
        assert abs(100 * ((cells == 1) | (cells == 2)).mean() - small) < 9
    # The tables that matter most are the sparse ones.
    assert abs(100 * (cube == 0).mean() - STUDY_SMALL_CELLS[preset][2][0]) < 4


def test_study_axes_name_the_five_variables_of_the_study() -> None:
    axes = study_axes(PRESETS["mid-country"])
    assert axes == ("age@study", "sex", "ethnicity", "ed@parish", "birthplace@study")


def test_twenty_million_people_live_in_about_four_hundred_municipalities() -> None:
    country = make_country(20_000_000)
    assert 380 <= country.parishes <= 420
    assert country.regions < country.districts < country.parishes < country.eds


@pytest.mark.parametrize("persons", [100, 101, 999, 5_000, 46_999, 300_000, 5_000_000])
def test_a_country_of_any_size_has_areas_that_fit(persons: int) -> None:
    country = make_country(persons)
    assert country.persons == persons
    assert 1 <= country.regions <= country.districts <= country.parishes <= country.eds


def test_presets_can_be_changed() -> None:
    country = make_country("mid-country", persons=5_000, name="Cayo")
    assert (country.persons, country.name, country.parishes) == (5_000, "Cayo", 17)
    assert country.eds == 17


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"persons": 99}, "100 to 20,000,000 persons"),
        ({"persons": 20_000_001}, "100 to 20,000,000 persons"),
        ({"regions": 3, "districts": 2}, "no more regions than districts"),
        ({"parishes": 1000}, "1 to 999 parishes"),
        ({"districts": 100, "parishes": 200}, "at most 99 districts"),
        ({"eds": 3}, "enumeration districts"),
        ({"persons": 1_000_000, "eds": 20}, "at least 200 enumeration districts"),
        ({"persons": 120, "parishes": 30}, "fewer parishes"),
        ({"constituencies": 1000}, "constituencies"),
        ({"foreign_groups": 4}, "number of foreign groups"),
        ({"birth_level": "village"}, "level of birth"),
    ],
)
def test_countries_that_cannot_be_are_refused_with_what_is_allowed(
    changes: dict[str, object], said: str
) -> None:
    with pytest.raises(SpecError, match=said):
        make_country("small-island", **changes)


def test_unknown_names_are_answered_with_the_known_ones() -> None:
    with pytest.raises(UnknownName, match="small-island"):
        make_country("small-iland")
    with pytest.raises(UnknownName, match="fifteen"):
        Country(persons=1000, parishes=5, ethnic_profile="fiften")
