"""The assessment of designs: a verdict in plain words, the study's figures, every file of it."""

from __future__ import annotations

import csv
import io
import os
import re
import stat
from dataclasses import replace
from pathlib import Path

import pytest
from python_calamine import CalamineWorkbook

from sdcensus.errors import OutputError, Refused
from sdcensus.model.catalogue import LANGUAGES
from sdcensus.model.release.plan import Survey
from sdcensus.model.sentences import sentence, speak
from sdcensus.model.text import Text
from sdcensus.report.page import running_stamp
from sdcensus.report.release.assessment import assessment_page
from sdcensus.report.release.files import PAGE, WORKBOOK, write_assessment
from sdcensus.report.release.plots import key_names, ladder_plot, missing_plot, sizes_plot
from sdcensus.report.release.results import DesignResult, LadderRow, MeasureVerdict
from sdcensus.report.release.tables import whole_ladder_table
from sdcensus.report.release.words import lead, verdict_lines
from tests.report.reading import read_page
from tests.report.release.papers import ASSESSMENT, PERSONS, label, ladder

BARE = replace(
    ASSESSMENT,
    designs=(DesignResult(name="only", fraction="1/3", persons=7),),
    households=None,
    surveys=(),
    settings={},
)
MISSING = re.compile(r"\b(nan|inf|None|NaN|Infinity)\b")


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_page_tells_verdicts_first_in_every_language(language: str) -> None:
    page = assessment_page(ASSESSMENT, language)
    text = read_page(page).text
    assert not MISSING.search(text)
    places = [
        text.index(words)
        for words in (
            lead(ASSESSMENT, language),
            speak("release_papers.result.refused", language),
            speak("release_papers.chart.ladder", language),
            speak("release_papers.chart.missing", language),
            speak("release_papers.chart.sizes_households", language),
            speak("release_papers.table.intruders", language),
            speak("assess.page.signature", language),
        )
    ]
    assert places == sorted(places)
    assert speak("release_papers.stamp", language) in text
    assert running_stamp(language) in page


def test_a_verdict_names_the_measure_its_limit_and_what_would_change_it() -> None:
    accepted, _, refused = ASSESSMENT.designs
    assert [design.accepted for design in ASSESSMENT.designs] == [True, True, False]
    first, *_, last = verdict_lines(ASSESSMENT, refused, "en")
    assert (
        "expected correct matches on sample uniques (country), 6.73 % where 1 % is accepted"
        in first
    )
    assert last.startswith("What would change expected correct matches")
    assert last.endswith(f": {sentence('derive.rules_kept')}")
    nearest = "Nearest to its limit: records unique in the population (country), 0.08 % where 0.5 %"
    assert nearest in next(verdict_lines(ASSESSMENT, accepted, "en"))
    # What else stands against a design outweighs measures that pass.
    union = replace(accepted, refusals=(sentence("derive.rules_none"),))
    assert not union.accepted
    assert next(verdict_lines(ASSESSMENT, union, "en")) == sentence("derive.rules_none")
    assert lead(replace(ASSESSMENT, designs=(union,)), "en").startswith("The design is not")


def test_limits_themselves_are_accepted_and_nothing_measured_is_not() -> None:
    assert MeasureVerdict(measure="not_anonymous", value=0.02, accepted=0.02).passes
    assert not MeasureVerdict(measure="not_anonymous", value=0.0200001, accepted=0.02).passes
    assert not BARE.designs[0].accepted
    assert "not judged" in read_page(assessment_page(BARE)).text


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_page_with_parts_missing_reads_well(language: str) -> None:
    text = read_page(assessment_page(BARE, language)).text
    assert not MISSING.search(text)
    for part in ("ladder", "missing", "intruders", "composition", "special", "settings"):
        assert speak(f"release_papers.section.{part}", language) not in text
    read_page(assessment_page(replace(BARE, designs=(), persons=0), language))


def test_the_figure_has_a_line_for_each_design_and_percent_of_the_population() -> None:
    plot = ladder_plot(ASSESSMENT, "en")
    assert plot is not None
    drawn = plot.chart.to_dict()
    values = drawn["data"]["values"]
    assert {value["design"] for value in values} == {"Design A", "Design B", "Design C"}
    last = ASSESSMENT.designs[2].ladder[-1]
    assert max(value["uniques"] for value in values) == last.population_uniques == 962
    percent = drawn["layer"][1]
    assert percent["encoding"]["y"]["axis"]["orient"] == "right"
    top = percent["encoding"]["y"]["scale"]["domain"][1]
    left = drawn["layer"][0]["layer"][0]["encoding"]["y"]["scale"]["domain"][1]
    # Both axes tell the same heights.
    assert top == pytest.approx(100 * left / PERSONS)
    assert drawn["resolve"] == {"scale": {"y": "independent"}}
    assert "design C: 962 (0.96 % of the population)" in plot.alternative


def test_ladders_with_different_and_with_equal_keys_are_drawn_in_order() -> None:
    order, own = key_names([ladder(0.1, 1, "Parish"), ladder(0.1, 1)], "en")
    assert order[:4] == ["Age", "Sex", "Parish", "Marital status"]
    assert "Parish" not in own[0]
    same = [replace(row, key=label("Age")) for row in ladder(0.1, 1)]
    names = key_names([same], "en")[0]
    assert len(set(names)) == len(same)
    long = [replace(row, key=label(f"{'é' * 300} {row.step}")) for row in ladder(0.1, 1)]
    fifteen = tuple((long * 3)[:15])
    wide = replace(ASSESSMENT, designs=(replace(ASSESSMENT.designs[0], ladder=fifteen),))
    assert len(key_names([fifteen], "en")[0]) == 15
    read_page(assessment_page(wide))


def test_one_step_nobody_and_no_population_are_drawn() -> None:
    nobody = LadderRow(
        step=1,
        key=Text(),
        records=0,
        sample_uniques=0,
        expected_matches=0.0,
        population_uniques=0,
        not_anonymous=0,
        global_risk=0.0,
    )
    design = DesignResult(
        name="0", fraction="1", persons=0, ladder=(nobody,), ladder_otherwise=(nobody,)
    )
    for persons in (0, 1):
        empty = replace(BARE, persons=persons, designs=(design,))
        assert ladder_plot(empty, "nl") is not None
        assert missing_plot(empty, "nl") is not None
        assert not MISSING.search(read_page(assessment_page(empty, "nl")).text)


def test_sizes_stand_beside_surveys_that_tell_them() -> None:
    assert sizes_plot(BARE, "en") is None
    plot = sizes_plot(ASSESSMENT, "en")
    assert plot is not None
    assert "Labour force survey: 1,250; Living conditions: 800" in plot.alternative
    persons = replace(BARE, surveys=(Survey(name="Panel", persons=12), Survey(name="None")))
    plot = sizes_plot(persons, "en")
    assert plot is not None
    assert "Panel: 12." in plot.alternative


def test_every_file_tells_the_same_numbers(tmp_path: Path) -> None:
    paths = write_assessment(ASSESSMENT, tmp_path / "out", "es")
    names = {path.name for path in paths}
    assert {PAGE, WORKBOOK, "ladder.csv", "sizes.csv", "intruders.csv", "verdicts.csv"} <= names
    if os.name != "nt":
        assert all(not stat.S_IMODE(path.stat().st_mode) & 0o077 for path in paths)
    rows = list(csv.DictReader(io.StringIO((tmp_path / "out/ladder.csv").read_text("utf-8"))))
    assert len(rows) == sum(
        len(design.ladder) + len(design.ladder_otherwise) for design in ASSESSMENT.designs
    )
    last = ASSESSMENT.designs[2].ladder[-1]
    [row] = [
        row
        for row in rows
        if (row["design"], row["step"]) == ("C", str(last.step)) and "cualquier" in row["missing"]
    ]
    assert row["population_uniques"] == "962"
    assert float(row["share_population"]) == 962 / PERSONS
    assert float(row["expected_matches"]) == pytest.approx(last.expected_matches)
    book = CalamineWorkbook.from_path(tmp_path / "out" / WORKBOOK)
    assert "Escalera" in book.sheet_names
    assert len(set(book.sheet_names)) == len(book.sheet_names)
    cells = [
        value
        for name in ("Escalera", "Figura")
        for line in book.get_sheet_by_name(name).to_python()
        for value in line
    ]
    assert cells.count(962.0) >= 2
    for name in book.sheet_names:
        first = book.get_sheet_by_name(name).to_python(skip_empty_area=False)[0][0]
        assert first == running_stamp("es")
    # A text that looks like a formula is one in no program.
    assert "'=1+1" in (tmp_path / "out/design-1-diversity.csv").read_text("utf-8")
    with pytest.raises(OutputError, match="already exists"):
        write_assessment(ASSESSMENT, tmp_path / "out")


def test_results_show_nothing_when_printed() -> None:
    row = ASSESSMENT.designs[2].ladder[-1]
    for each in (ASSESSMENT, ASSESSMENT.designs[2], row, whole_ladder_table(ASSESSMENT, "en")):
        assert "962" not in repr(each) + str(each) + f"{each}"
        with pytest.raises(Refused):
            each.__reduce_ex__(4)
