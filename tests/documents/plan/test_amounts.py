"""Figures of amounts in plans: what is read, what is refused at its line, what is written again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from sdcensus.documents.plan.document import plan_text, read_plan
from sdcensus.documents.plan.workbook_form import plan_workbook
from sdcensus.documents.schema.document import read_schema
from sdcensus.errors import DocumentError
from sdcensus.model.plan.plan import Plan, PlannedIndicator
from sdcensus.model.plan.vocabulary import INDICATOR_KINDS, INDICATOR_SETTINGS, ComparedFigure
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.variable import Entity
from tests.hamlet import write_hamlet

MEAN = 'kind = "mean"\nvariable = "income"'
RATIO = 'kind = "ratio"\nnumerator = "sum(income)"\ndenominator = "count"'
DIFFERENCE = 'kind = "difference"\nvariable = "income"\nfirst = "sex == 2"\nsecond = "sex == 1"'


@pytest.fixture(scope="module")
def schema(tmp_path_factory: pytest.TempPathFactory) -> Schema:
    return read_schema(write_hamlet(tmp_path_factory.mktemp("hamlet")).schema)


def read(folder: Path, schema: Schema | None, indicator: str, more: str = "") -> Plan:
    file = folder / "plan.toml"
    text = f'store = "census.store"\n\n[[indicator]]\nname = "figure"\n{indicator}\n{more}'
    file.write_text(text, encoding="utf-8")
    return read_plan(file, None if schema is None else lambda _: schema)


def figure(folder: Path, schema: Schema, indicator: str) -> PlannedIndicator:
    return read(folder, schema, indicator).indicators[0]


def test_units_are_those_that_have_the_amount(tmp_path: Path, schema: Schema) -> None:
    for kind in ('kind = "mean"', 'kind = "median"'):
        assert figure(tmp_path, schema, f'{kind}\nvariable = "rent"').of is Entity.HOUSEHOLD
        assert figure(tmp_path, schema, f'{kind}\nvariable = "income"').of is Entity.PERSON
    ratio = 'kind = "ratio"\nnumerator = "sum(rent)"\ndenominator = "count"'
    assert figure(tmp_path, schema, ratio).of is Entity.HOUSEHOLD
    # Variables of codes can be of whoever lives there, as before.
    assert figure(tmp_path, schema, 'kind = "median"\nvariable = "age"').of is Entity.PERSON


def test_an_amount_without_classes_has_means(tmp_path: Path, schema: Schema) -> None:
    rent = replace(schema.variable("rent"), codes=())
    others = [each for each in schema.variables if each.name != "rent"]
    bare = replace(schema, variables=(*others, rent))
    for indicator in (MEAN, DIFFERENCE.replace("sex", "tenure")):
        assert figure(tmp_path, bare, indicator.replace("income", "rent")).variable == "rent"
    with pytest.raises(DocumentError, match="give it levels"):
        figure(tmp_path, bare, 'kind = "median"\nvariable = "rent"')


@pytest.mark.parametrize(
    ("indicator", "line", "why"),
    [
        ('kind = "mean"\nvariable = "incom"', 6, "Did you mean 'income'"),
        ('kind = "mean"\nvariable = "rent"\nof = "persons"', 6, "one person may have|households"),
        ('kind = "mean"\nvariable = "sex"', 6, "needs numbers"),
        (MEAN.replace("income", "income@bracket"), 6, "Name it without a level"),
        (DIFFERENCE.replace("income", "income@bracket"), 6, "Name it without a level"),
        (f'{MEAN}\nby = ["income@bracket"]', 6, "stands in 'by' already"),
        ('kind = "mean"\nvariable = "weight"\nof = "households"', 6, "it is a weight"),
        (f"{MEAN}\nfewest = 2", 7, "greater than or equal to 3|at least 3"),
        (f"{MEAN}\npercent = 20", 7, "'percent' is no setting of the kind 'mean'"),
        ('kind = "mean"\nvariable = "age"\nfewest = 20', 7, "this one is of counts"),
        ('kind = "percentile"\nvariable = "income"', 3, "the setting 'percent' is missing"),
        ('kind = "percentile"\nvariable = "income"\npercent = 0', 7, "somebody's own"),
        ('kind = "percentile"\nvariable = "income"\npercent = 100', 7, "somebody's own"),
        ('kind = "percentile"\nvariable = "income"\npercent = -3', 7, "from 1 to 99"),
        ('kind = "percentile"\nvariable = "income"\npercent = 2.5', 7, "whole number"),
        ('kind = "percentile"\nvariable = "income"\npercent = "90"', 7, "whole number"),
        (RATIO.replace("sum(income)", "sum(sex)"), 6, "cannot be summed"),
        (RATIO.replace("sum(income)", "sum(nothing)"), 6, "no variable"),
        (RATIO.replace('"count"', '"sum(rent)"'), 7, "describes households"),
        (RATIO.replace('"count"', '"sex == 1"'), 7, "divided by another one"),
        (RATIO.replace('numerator = "sum(income)"', 'numerator = "sex == 1"'), 7, "count"),
        (f'{RATIO}\nfewest = "many"', 8, "whole number|integer"),
        (RATIO.replace("sum(income)", "income"), 6, r"sum\(income\)"),
        (RATIO.replace('"count"', '"sum(income)"'), 7, "same as 'numerator'"),
        (DIFFERENCE.replace("sex == 1", "sex  == 2"), 8, "same as 'first'"),
        (DIFFERENCE.replace("sex == 2", "sexx == 2"), 7, "Did you mean 'sex'"),
        (DIFFERENCE.replace('second = "sex == 1"', ""), 3, "the setting 'second' is missing"),
        (f'{DIFFERENCE}\nfigure = "median"', 9, "no figure 'median'"),
        (f'{DIFFERENCE}\nfigure = "sum"\ndecimals = 1', 10, "decimals of the amount"),
        (f'{DIFFERENCE}\ndenominator = "sex == 1"', 9, "no setting of the kind 'difference'"),
    ],
)
def test_mistakes_are_told_at_their_line(
    tmp_path: Path, schema: Schema, indicator: str, line: int, why: str
) -> None:
    with pytest.raises(DocumentError, match=why) as caught:
        read(tmp_path, schema, indicator)
    assert f"line {line}:" in str(caught.value)


def test_a_section_for_sums_needs_sums(tmp_path: Path, schema: Schema) -> None:
    section = '[protect]\nmethod = "cell-key"\n\n[protect.sums]\nmethod = "cell-key-sums"\n'
    for indicator in (MEAN, RATIO, DIFFERENCE):
        assert read(tmp_path, schema, indicator, section).protections[0][0] == "sums"
    for indicator in ('kind = "median"\nvariable = "income"', 'kind = "mean"\nvariable = "age"'):
        with pytest.raises(DocumentError, match="the plan publishes none"):
            read(tmp_path, schema, indicator, section)
    table = f'[[table]]\nname = "t"\nrows = ["sex"]\nmeasure = "sum(income)"\n\n{section}'
    assert read(tmp_path, schema, 'kind = "median"\nvariable = "income"', table).protections


def test_what_is_written_reads_back_equal(tmp_path: Path, schema: Schema) -> None:
    wanted = (
        f"{MEAN}\nfewest = 25\ndecimals = 0",
        'kind = "percentile"\nvariable = "income"\npercent = 50',
        'kind = "quartiles"\nvariable = "income@bracket"',
        f"{RATIO}\nper = 100",
        f'{DIFFERENCE}\nfigure = "sum"',
    )
    protect = '[protect]\nmethod = "cell-key"\n\n[protect.sums]\nmethod = "cell-key-sums"\n'
    for indicator in wanted:
        sums = "" if "income@" in indicator or "percent" in indicator else protect
        plan = read(tmp_path, schema, indicator, f'{sums}\n[output]\nfolder = "published"\n')
        again = tmp_path / "again.toml"
        again.write_text(plan_text(plan), encoding="utf-8")
        assert read_plan(again, lambda _: schema) == plan
        book = tmp_path / "plan.xlsx"
        book.write_bytes(plan_workbook(plan))
        assert read_plan(book, lambda _: schema) == plan
    assert plan.indicators[0].figure is ComparedFigure.SUM


def test_every_setting_of_a_kind_is_one_of_indicators() -> None:
    for kind in INDICATOR_KINDS.values():
        assert set(kind.settings) <= set(INDICATOR_SETTINGS)


@pytest.mark.parametrize("word", ["mean", "median"])
def test_a_table_of_means_is_sent_to_the_indicators(
    tmp_path: Path, schema: Schema, word: str
) -> None:
    table = f'[[table]]\nname = "t"\nrows = ["sex"]\nmeasure = "{word}(income)"\n'
    with pytest.raises(DocumentError, match=f'line 10: .* indicator of a plan, kind = "{word}"'):
        read(tmp_path, schema, MEAN, table)
