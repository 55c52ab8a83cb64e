"""A table of sums assessed and compared: every figure is measured, the public page is public."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from python_calamine import CalamineWorkbook

import sdcensus as sc
from sdcensus.errors import SpecError
from sdcensus.methods.magnitude.abs_top import AbsTopContributors
from sdcensus.methods.magnitude.cell_key_sums import CellKeySums
from sdcensus.methods.method import Method
from sdcensus.model.cube.cube import Cube
from sdcensus.model.cube.primary_rules import PrimaryRule, PrimaryRules
from sdcensus.model.published.table import Table
from sdcensus.report.assessment.files import (
    SUM_SHEET,
    AssessmentReport,
    write_evaluation,
    write_reports,
)
from sdcensus.report.magnitude.files import write_sum_study
from sdcensus.report.magnitude.results import SumAssessment, SumStudy
from sdcensus.report.study.results import Candidate
from sdcensus.risk.magnitude.attackers import Attacker
from sdcensus.risk.magnitude.estimation import largest_risk
from sdcensus.risk.magnitude.primary_rules import sensitive_cells
from sdcensus.session.assess.assessment import assess_table
from sdcensus.session.assess.options import AssessOptions
from sdcensus.session.study.sums import compare_sum_cubes
from sdcensus.testing.island import SECRET, island_cube
from tests.methods.magnitude.incomes import by_hand, income_census, income_cube

BY = ("area@parish+district", "sex", "age@class")
METHOD = CellKeySums(secret=SECRET)


@cache
def incomes() -> Cube:
    return income_cube(*BY, people=120)


def assessed(method: Method = METHOD, cube: Cube | None = None, **options: Any) -> SumAssessment:
    cube = incomes() if cube is None else cube
    options = {"compare": False, **options}
    assessment = assess_table(cube, method.protect(cube), AssessOptions(method=method, **options))
    assert isinstance(assessment, SumAssessment)
    return assessment


def test_figures_are_those_of_the_measures() -> None:
    assessment = assessed()
    cube, table = incomes(), assessment.table
    expected = largest_risk(
        cube, table, chances=lambda low, high: METHOD.chances_between(cube, low, high)
    )
    for attacker in Attacker:
        mine, theirs = assessment.figures.risk.of(attacker).whole, expected.of(attacker).whole
        assert (mine.cells, mine.before, mine.after, mine.expected) == (
            *(theirs.cells, theirs.before, theirs.after),
            theirs.expected,
        )
    rules = PrimaryRules(fewest=3, dominance=(2, 85), percent=10)
    counts = sensitive_cells(cube, rules).counts
    shown = {each.rule: each.cells for each in assessment.figures.rules}
    known = cube.values.contributions
    assert known is not None
    # A cell to which nobody contributes is nobody's.
    empty = int((known.contributors == 0).sum())
    assert shown[PrimaryRule.FEW] in (counts[PrimaryRule.FEW], counts[PrimaryRule.FEW] - empty)
    assert shown[PrimaryRule.PERCENT] > 0
    named = [number for rule, number in shown.items() if rule is not None]
    assert max(named) <= shown[None] <= sum(named)


def test_within_and_coalition_change_the_result() -> None:
    narrow, usual, wide = (assessed(within=within) for within in (1, 10, 50))
    found = [each.figures.second.expected for each in (narrow, usual, wide)]
    assert found == sorted(found, key=lambda number: number or 0)
    assert len(set(found)) == 3
    sums = [
        assessed(coalition=members).figures.risk.of(Attacker.COALITION).whole.before
        for members in (1, 2, 5)
    ]
    # One alone is the second largest, who stands by himself; two is the smallest coalition.
    assert sums[0] == sums[1] < sums[2]
    with pytest.raises(SpecError, match="1 to 5 can put together"):
        assessed(coalition=6)
    with pytest.raises(SpecError, match="within"):
        AssessOptions(within=0)


def test_measures_of_counts_are_named_with_the_reason() -> None:
    said = " ".join(assessed().left_out)
    for what in ("Composite risk", "Exempt cells", "measures of counts", "the table of counts"):
        assert what in said
    # Top contributors say nothing about chances over all keys.
    top = assessed(AbsTopContributors(secret=SECRET))
    assert top.figures.second.expected is None
    assert any("over all keys" in reason for reason in top.left_out)


def test_chances_of_a_large_table_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sdcensus.session.assess.sums.CHANCES_UP_TO", 10)
    assessment = assessed()
    assert assessment.figures.second.expected is None
    assert any("more than 10 cells" in reason for reason in assessment.left_out)


def test_other_methods_stand_beside_it() -> None:
    study = assessed(compare=True).compared
    assert study is not None
    own, *others = study.tables[0].results
    assert str(own.candidate.name) == "this table"
    # The default is noise of a tenth: the same figures.
    same = next(each for each in others if each.candidate.name.endswith("noise_share=0.1"))
    assert same.figures.second.expected == own.figures.second.expected
    by_share = [
        result.height
        for share in ("0.05", "0.1", "0.2")
        for result in others
        if result.candidate.name == f"cell-key-sums noise_share={share}"
    ]
    assert by_share == sorted(by_share, key=lambda height: -(height or 0))
    unknown = assess_table(incomes(), METHOD.protect(incomes()).table)
    assert isinstance(unknown, SumAssessment)
    assert unknown.compared is None
    assert any("without the secret" in reason for reason in unknown.left_out)


@pytest.mark.parametrize("language", [None, "es", "fr", "nl", "pt"])
def test_pages_in_every_language(language: str | None) -> None:
    report = AssessmentReport(assessed(compare=True), language=language)
    page = report.html()
    assert report.lead in page.replace("&#x27;", "'")
    assert page.count("<table") >= 8
    assert "{" not in report.lead
    public = report.public_html()
    assert "stamp" not in public.split("</style>")[1]


def test_the_public_page_is_a_function_of_what_is_published() -> None:
    # Other true sums, another method with other parameters: the same page.
    cube, table = incomes(), METHOD.protect(incomes()).table
    assert isinstance(table, Table)
    other = Cube(
        cube.spec,
        cube.origin,
        cube.values.map(lambda array: array * 3 if array.dtype == np.int64 else array),
    )
    stronger = replace(METHOD, noise_share=0.4)
    pages = {
        sc.assess(true, table, method=method, compare=False).public_html()
        for true, method in ((cube, METHOD), (other, METHOD), (cube, stronger))
    }
    assert len(pages) == 1
    page = pages.pop()
    assert "A sum to which nobody contributes is published as 0." in page
    assert "published as 1 or 2" not in page
    assert "noise_share" not in page


def test_files_of_both_kinds(tmp_path: Path) -> None:
    sums = sc.assess(incomes(), METHOD.protect(incomes()), method=METHOD, compare=False)
    counts_cube = island_cube("area", "sex")
    counts = sc.assess(counts_cube, Table(counts_cube.spec, counts_cube.count), compare=False)
    written = write_reports([("sums", sums), ("counts", counts)], tmp_path / "check")
    names = {path.name for path in written}
    assert {SUM_SHEET, "evaluation.xlsx", "sums.assessment.html"} <= names
    book = CalamineWorkbook.from_path(str(tmp_path / "check" / SUM_SHEET))
    assert book.sheet_names[:3] == ["Attackers", "By contributors", "Rules"]
    rows = book.get_sheet_by_name("Attackers").to_python()
    assert "Confidential" in str(rows[0][0])
    second = rows[4]
    figures = sums.assessment.figures  # type: ignore[union-attr]
    assert second[2] == figures.second.cells
    assert second[4] == pytest.approx(figures.second.after / figures.second.cells)
    alone = CalamineWorkbook.from_path(str(sums.to_xlsx(tmp_path / "alone.xlsx")))
    assert alone.sheet_names == book.sheet_names
    with pytest.raises(SpecError, match="sheets of their own"):
        write_evaluation([sums, counts], tmp_path / "both.xlsx")


@pytest.mark.parametrize(
    "cells",
    [[[7]], [[5, 5, 5, 5]], [[-5, -5]], [[9, -4]], [], [[3, -3]]],
    ids=["one contributor", "all equal", "negative", "both signs", "nobody", "a sum of 0"],
)
def test_bad_tables_are_assessed_without_a_crash(cells: list[list[int]]) -> None:
    cube = by_hand(cells, [1] * len(cells))
    assessment = assessed(cube=cube, compare=True)
    report = AssessmentReport(assessment)
    assert report.html()
    assert report.public_html()
    assert "nan" not in report.lead


def test_sums_of_one_contributor_are_told() -> None:
    assessment = assessed(cube=by_hand([[1000], [1000]], [1, 2]))
    assert "2 cells have one contributor" in AssessmentReport(assessment).lead
    assert "No cell of this table has two contributors" in AssessmentReport(assessment).lead


def test_weighted_sums_are_assessed() -> None:
    census = income_census(120)
    if census.schema.weight(census.spec("sex").of) is None:
        pytest.skip("no weights on the island")
    cube = census.tabulate("area", measure="weighted-sum(income)")
    assert isinstance(cube, Cube)
    assert assessed(cube=cube).figures.second.cells


def study(*methods: Method, **options: Any) -> SumStudy:
    candidates = [
        Candidate(name=f"{method.name} {at}", method=method) for at, method in enumerate(methods)
    ]
    return compare_sum_cubes([incomes()], candidates, census="Island", **options)


def test_a_study_is_written(tmp_path: Path) -> None:
    compared = study(METHOD, replace(METHOD, noise_share=0.3), AbsTopContributors(secret=SECRET))
    page, *others = write_sum_study(compared, tmp_path / "study")
    assert page.name == "study.html"
    assert {path.name for path in others} >= {"study.xlsx", "methods.csv", "losses.csv", "who.csv"}
    text = page.read_text(encoding="utf-8")
    assert "<svg" in text
    assert "Least risk" in text
    rows = (tmp_path / "study" / "methods.csv").read_text(encoding="utf-8").splitlines()
    assert rows[0].startswith("table,method,second_after,second_expected")
    assert len(rows) == 4


def test_more_noise_is_less_risk_and_more_loss() -> None:
    weak, strong = study(METHOD, replace(METHOD, noise_share=0.4)).tables[0].results
    assert (weak.height or 0) > (strong.height or 0)
    assert (weak.figures.whole.mean or 0) < (strong.figures.whole.mean or 0)


def test_mistakes_of_studies_are_explained() -> None:
    with pytest.raises(SpecError, match="needs a method"):
        study()
    with pytest.raises(SpecError, match="is a table of counts"):
        compare_sum_cubes([island_cube("area")], [Candidate(name="a", method=METHOD)])
    with pytest.raises(SpecError, match="needs a table"):
        compare_sum_cubes([], [Candidate(name="a", method=METHOD)])
    twice = [Candidate(name="a", method=METHOD)] * 2
    with pytest.raises(SpecError, match="Two methods of the study are called 'a'"):
        compare_sum_cubes([incomes()], twice)
    changed = Candidate(name="a", method=METHOD, before=("random-swap",))
    with pytest.raises(SpecError, match="not changes of records"):
        compare_sum_cubes([incomes()], [changed])
    left = compare_sum_cubes(
        [incomes()], [replace(changed, optional=True), Candidate(name="b", method=METHOD)]
    )
    assert [name for name, _ in left.left_out] == ["a"]
