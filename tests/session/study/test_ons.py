"""The study of the ONS on a census of one's own, and the order of its methods."""

from __future__ import annotations

import csv
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import pytest

from sdcensus.demo import make_country, write_country
from sdcensus.errors import SpecError
from sdcensus.report.study.figures import compared
from sdcensus.report.study.files import write_study
from sdcensus.report.study.ons_figures import ONS_LAYOUT, ons_rows
from sdcensus.report.study.order import agreement_of_all, agreements
from sdcensus.report.study.published import ONS, ONS_TABLES, published_for
from sdcensus.report.study.results import Candidate, Study, StudyTable
from sdcensus.report.study.words import sentences
from sdcensus.session.census.census import load, open_store
from sdcensus.session.study.ons import ons_candidates, ons_specs
from sdcensus.session.study.study import compare
from sdcensus.session.study.tables import listed_tables
from sdcensus.testing.island import SECRET, island_store

#: Measures that a small country has not everywhere.
LACKING = ("variance_ratio", "association")


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    folder = tmp_path_factory.mktemp("ons")
    country = write_country(folder / "country", country=make_country(3000))
    load(country.schema, folder / "c.store", secret=SECRET)
    census = open_store(folder / "c.store")
    specs = ons_specs(census, (), of="persons")
    candidates = ons_candidates(census, specs, of="persons", secret=SECRET)
    return compare(census, specs, candidates, secret=SECRET, preset=ONS)


def test_its_methods_stand_in_the_printed_order(study: Study) -> None:
    """Rounding leaves no record of a small cell untouched, and random swapping the most."""
    published = published_for(study)
    assert published is not None
    every = agreements(study, published)
    same, pairs = agreement_of_all(every)
    assert pairs == 71  # two different figures of one measure, in one of its two tables
    assert sum(len(agreement.turned) for agreement in every) == pairs - same
    assert pairs / 2 < same < pairs
    told = dict(sentences(study, published))["Beside the printed figures."]
    assert f"{same} of {pairs}" in told
    assert {agreement.table.spec.name for agreement in every} == {"A", "B"}
    untouched = [each for each in every if each.measure == "untouched_records"]
    assert agreement_of_all(untouched)[0] >= 9  # of 12


def test_the_figures_are_those_that_the_study_printed(study: Study) -> None:
    """ONS 2011, Tables 5, 6, 7, 9 and 10: 48 figures, and two mean distances of its text."""
    published = published_for(study)
    assert published is not None
    rounding, noise = "semi-controlled-rounding", "cell-key (truncated normal)"
    shown = {
        (letter, method, measure): value
        for (letter, method), figures in published.figures.items()
        for measure, value in figures.items()
    }
    assert len(shown) == 48 + 2
    assert shown["A", noise, "untouched_records"] == pytest.approx(18.8)  # Table 5: .188
    assert shown["A", rounding, "relative"] == 8.8507  # Table 6
    assert shown["B", "random-swap", "absolute"] == 3.6897  # Table 7
    assert shown["B", noise, "variance_ratio"] == 1.3389  # Table 9
    assert shown["A", "random-swap (targeted)", "ranks"] == 34  # Table 10
    beside = {(each.table, each.scheme, each.measure) for each in compared(study, published)}
    assert len(beside) == len(shown)


def test_other_tables_have_no_printed_figures(study: Study) -> None:
    """The ONS printed nothing about the tables that an office names."""
    own = replace(study, tables=study.tables[:1])
    assert published_for(own) is None
    assert "Beside the printed figures." not in dict(sentences(own, published_for(own)))


def test_a_turned_order_is_seen(study: Study) -> None:
    """With two methods under each other's names every pair between them is turned."""
    published = published_for(study)
    assert published is not None
    names = {"random-swap": "random-swap (targeted)", "random-swap (targeted)": "random-swap"}

    def renamed(candidate: Candidate) -> Candidate:
        return replace(candidate, name=names.get(candidate.name, candidate.name))

    def turned_table(table: StudyTable) -> StudyTable:
        results = [replace(result, candidate=renamed(result.candidate)) for result in table.results]
        return replace(table, results=tuple(results))

    turned = replace(
        study,
        tables=tuple(map(turned_table, study.tables)),
        candidates=tuple(map(renamed, study.candidates)),
    )
    before = agreement_of_all(agreements(study, published))
    after = agreement_of_all(agreements(turned, published))
    assert after[1] == before[1]
    assert after[0] < before[0]


def test_its_tables_have_their_letters_and_figures(study: Study, tmp_path: Path) -> None:
    assert [table.spec.name for table in study.tables] == [*ONS_TABLES]
    rows = list(ons_rows(study))
    assert len(rows) == sum(map(len, ONS_LAYOUT.values())) * 5 * 4
    assert all(row.value is not None for row in rows if row.measure not in LACKING)
    written = write_study(replace(study, language="nl"), tmp_path / "nl")
    names = {path.name for path in written}
    assert {"ons_tables.csv", "order.csv", "further_measures.csv"} <= names
    assert written[0].stat().st_size > 50_000
    with (tmp_path / "nl" / "ons_tables.csv").open(encoding="utf-8", newline="") as file:
        numbers = {row["measure"]: row["ons_table"] for row in csv.DictReader(file)}
    assert [*dict.fromkeys(numbers.values())] == ["5", "6, 7", "8", "9", "10", ""]


def test_every_printed_figure_names_its_source() -> None:
    text = (files("sdcensus.report.study") / "ons_2011.csv").read_text(encoding="utf-8")
    rows = list(csv.DictReader(text.splitlines()))
    assert rows
    assert all(row["source"].startswith("ONS 2011, ") for row in rows)
    assert {row["ons_table"] for row in rows} == {"5", "6", "7", "9", "10", ""}


def test_another_census_names_its_own_tables(tmp_path: Path) -> None:
    census = island_store(tmp_path / "i.store")
    with pytest.raises(SpecError, match="--table AXES"):
        ons_specs(census, (), of="persons")
    given = listed_tables(census, ["area,sex", "area,age"])
    assert [spec.name for spec in ons_specs(census, given, of="persons")] == ["A", "B"]
