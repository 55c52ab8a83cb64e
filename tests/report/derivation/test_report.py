"""The report on a derived store: every language, every part, numbers as numbers."""

from __future__ import annotations

import io
import os
import stat
from dataclasses import replace
from pathlib import Path

import pytest
from python_calamine import CalamineWorkbook

from sdcensus.microdata.method import FactTable
from sdcensus.model.catalogue import LANGUAGES
from sdcensus.model.schema.variable import Entity
from sdcensus.model.sentences import sentence, speak
from sdcensus.model.text import Text
from sdcensus.report.derivation.files import PAGE, PLAN_PAGE, WORKBOOK, write_effects, write_plan
from sdcensus.report.derivation.page import effects_page
from sdcensus.report.derivation.results import Effects, LevelChange, RuleCheck
from sdcensus.report.derivation.tables import fact_text, is_share
from sdcensus.report.derivation.words import findings, lead
from sdcensus.report.derivation.workbook import effects_workbook
from sdcensus.session.derive import EffectQuestions, measured_effects
from sdcensus.store.census_store import CensusStore
from sdcensus.testing.island import SECRET, island_store
from tests.report.reading import read_page
from tests.session.derive.toy_swap import toy_step

FACTS = FactTable(
    name="left-out",
    title=sentence("derive.table.rules"),
    headings=(sentence("derive.head.rule"), sentence("derive.head.share")),
    rows=(("=1+1", 0.125), ("<b>", None)),
    note=sentence("derive.about.plan"),
)


@pytest.fixture(scope="module")
def effects(tmp_path_factory: pytest.TempPathFactory) -> Effects:
    store = island_store(tmp_path_factory.mktemp("island") / "a", 150).store
    assert isinstance(store, CensusStore)
    step = toy_step(store, 0.3)
    questions = EffectQuestions(tables=("area,sex,age", "sex,age"), associations=("area,age",))
    measured = measured_effects(step, step.run(), questions, SECRET)
    return replace(measured, facts=(FACTS,), notes=(sentence("derive.rules_kept"),))


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_page_says_everything_in_every_language(effects: Effects, language: str) -> None:
    own = replace(effects, language=language)
    page = read_page(effects_page(own))
    for part in ("did", "levels", "small", "tables", "associations", "rules", "line", "decision"):
        assert speak(f"derive.section.{part}", language) in page.text
    said = (
        *("stamp", "country", "about.levels", "rules_kept", "decision.refused", "closing"),
        *("level_country", "head.half_width", "table.repeated"),
    )
    for key in said:
        assert speak(f"derive.{key}", language) in page.text, key
    assert speak("assess.page.signature", language) in page.text
    assert "toy-swap" in page.text
    assert len(page.of("svg")) == 3
    assert "{" not in page.text.replace("{,", "")


def test_the_workbook_has_both_evaluations_and_every_table_as_numbers(effects: Effects) -> None:
    book = io.BytesIO(effects_workbook(effects))
    opened = CalamineWorkbook.from_filelike(book)
    names = opened.sheet_names
    sheets = {name: opened.get_sheet_by_name(name).to_python() for name in names}
    assert names[:3] == ["Summary", "With margins", "Without margins"]
    expected = {"Levels", "Small cells", "Tables", "Areas", "Other keys", "Associations", "Line"}
    assert expected <= set(names)
    assert "left-out" in names
    for name, sheet in sheets.items():
        assert "onfidential" in str(sheet[0][0]), name
    stages = {value for value in sheets["With margins"][2] if value}
    assert stages == {"original", "records changed", "cells perturbed besides"}
    text = "\n".join(str(row) for row in sheets["Summary"])
    assert "A table of the whole country is untouched by swapping inside it" in text
    assert effects_workbook(effects) == effects_workbook(effects)


def test_files_are_for_their_owner_only(effects: Effects, tmp_path: Path) -> None:
    write_effects(effects, tmp_path)
    plan = write_plan("Island", "toy-swap", [FACTS], tmp_path / "plan", "es")
    assert plan[0] == tmp_path / "plan" / PLAN_PAGE
    if os.name == "posix":
        for path in (tmp_path / PAGE, tmp_path / WORKBOOK, *plan):
            assert stat.S_IMODE(path.stat().st_mode) == 0o600
    page = read_page(plan[0].read_text(encoding="utf-8"))
    assert "=1+1" in page.text
    assert "12,5" in page.text


def change(level: str, changed: int, *, area: bool = True, variable: str = "ed") -> LevelChange:
    return LevelChange(
        variable=variable,
        label=Text.of(variable.capitalize()),
        level=level,
        area=area,
        entity=Entity.HOUSEHOLD,
        units=50,
        changed=changed,
        persons=120,
        persons_changed=2 * changed,
    )


def test_where_there_is_no_protection_the_report_says_so_in_words(effects: Effects) -> None:
    levels = (change("ed", 5), change("parish", 0), change("region", 0), change("", 0))
    swapped = replace(effects, levels=levels, tables=(), notes=())
    said = list(findings(swapped))
    assert said == [
        speak("derive.country"),
        "By parish and region, nobody has another area: such tables show what the original shows.",
    ]
    assert lead(swapped).startswith("5 of 50 households (10.0 %) have another area than before")
    assert "10 persons" in lead(swapped)
    carried = replace(swapped, levels=(*levels, change("grid", 5, area=False, variable="grid")))
    assert next(findings(carried)).startswith("A table of the whole country is untouched by swap")
    assert "unless it shows Grid" in next(findings(carried))
    attributes = (
        change("tenure", 4, area=False, variable="tenure"),
        change("kind", 0, area=False, variable="tenure"),
    )
    exchanged = replace(effects, levels=attributes, tables=(), notes=())
    said = list(findings(exchanged))
    assert said[0].startswith("At the level kind of Tenure nobody has another value")
    assert said[1].startswith("Only Tenure were changed. A table that shows none of them")
    assert speak("derive.country") not in said
    dropped = replace(effects, levels=(), tables=(), notes=(), dropped={Entity.PERSON: 3})
    assert list(findings(dropped)) == []
    assert lead(dropped) == "3 persons were left out."
    nothing = replace(effects, levels=(), dropped={}, tables=())
    assert lead(nothing) == "No record was changed."
    read_page(effects_page(nothing))
    broken = (RuleCheck(rule="age < 3", entity=Entity.PERSON, new=2),)
    assert "2 records break an edit rule" in " ".join(findings(replace(effects, rules=broken)))


def test_facts_are_written_as_what_they_are() -> None:
    share, other = sentence("derive.head.share"), sentence("derive.head.mean")
    assert is_share(share)
    assert not is_share(other)
    assert fact_text(share, 0.25, "nl") == "25,0%"
    assert fact_text(share, -0.136, None) == "−13.6 %"
    assert fact_text(other, 0.25, None) == "0.250"
    assert fact_text(other, 1234.5678, None) == "1,234.6"
    assert fact_text(other, 12, None) == "12"
    assert fact_text(other, None, None) == "–"
    assert fact_text(other, sentence("derive.yes"), "fr") == "oui"
