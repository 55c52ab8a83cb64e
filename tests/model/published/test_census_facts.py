"""Files name country and census in the language in which they are written."""

from __future__ import annotations

from pathlib import Path

import pytest

from sdcensus.formats.write import write_delivered
from sdcensus.model.published.census_facts import CensusFacts
from sdcensus.model.schema.schema import CensusInfo
from sdcensus.model.text import Text
from tests.formats.write.delivered_made import axis, delivered

NAMES = {"en": "Census 2024", "es": "Censo de Población 2024"}
COUNTRIES = {"en": "Chile Island", "es": "Isla de Chile"}
INFO = CensusInfo(
    name=NAMES["en"],
    country=COUNTRIES["en"],
    reference_date="2024-06-01",
    languages=("en", "es"),
    names=Text.of(NAMES),
    countries=Text.of(COUNTRIES),
)


@pytest.mark.parametrize("language", ["en", "es"])
def test_each_language_has_its_own_names(language: str) -> None:
    facts = dict(CensusFacts.of(INFO).lines(language))
    assert facts["census"] == NAMES[language]
    assert facts["country"] == COUNTRIES[language]


def test_a_sidecar_holds_all_of_them_and_one_name_stays_as_it_was() -> None:
    several = CensusFacts.of(INFO).to_json()
    assert (several["name"], several["countries"]) == (NAMES, COUNTRIES)
    alone = CensusFacts.of(CensusInfo(name="Census", country="Island")).to_json()
    assert alone == {"country": "Island", "name": {"en": "Census"}}


@pytest.mark.parametrize("language", ["en", "es"])
@pytest.mark.parametrize("format", ["json-stat", "px"])
def test_files_name_the_census_in_their_language(
    format: str, language: str, tmp_path: Path
) -> None:
    table = delivered(axis("sex", ["1", "2"]), census=CensusFacts.of(INFO))
    for path in write_delivered(table, tmp_path, formats=(format,), languages=(language,)):
        if path.suffix in (".json", ".px"):
            assert NAMES[language] in path.read_text(encoding="utf-8")
