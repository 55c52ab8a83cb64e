"""Figures of programs are computed from published values and from nothing else."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest

from sdcensus.errors import SpecError
from sdcensus.methods.cell_key import CellKey
from sdcensus.methods.perturbation.design import design_perturbation
from sdcensus.model.plan.plan import PlannedIndicator
from sdcensus.model.policy.policy import Limits, OnlineRules, Policy
from sdcensus.model.published.delivery import DeliveredTable
from sdcensus.model.published.table import Mark, Table
from sdcensus.model.schema.variable import Entity
from sdcensus.model.secret import Purpose
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.session.answer import TableService
from sdcensus.session.commands import CommandTable, compile_program, finish
from sdcensus.session.figures.indicators import indicator_product
from sdcensus.session.publish.products import Heading, PublishedPart
from sdcensus.testing.island import SECRET, island

#: Strong noise, so that a number from the wrong cell is seen.
METHOD = CellKey(design_perturbation(8, 12.0), secret=SECRET.sub_secret(Purpose.LOOKUP, 1))


@pytest.fixture(scope="module")
def service() -> TableService:
    census = island(3_000)
    policy = Policy(
        name="test",
        schema=census.schema,
        limits=Limits(dimensions=5, cells=100_000),
        online=OnlineRules(),
    )
    return TableService(census, policy, {Entity.PERSON: METHOD})


def published(service: TableService, *by: str) -> npt.NDArray[np.int64]:
    spec = TableSpec.build(service.census.schema, by)
    table = METHOD.protect(service.census.tabulate(spec)).table
    assert isinstance(table, Table)
    return table.published


def asked(service: TableService, text: str) -> tuple[CommandTable, DeliveredTable]:
    (table,) = compile_program(f"TABLE t {text}", service.census.schema).tables
    answer = service.answer(table.question)
    assert answer.table is not None, answer.verdict
    return table, answer.table


def shown(service: TableService, text: str) -> DeliveredTable:
    return finish(*asked(service, text))


def nearest(above: npt.ArrayLike, below: npt.ArrayLike, scale: int) -> list[int]:
    pairs = zip(np.ravel(above).tolist(), np.ravel(below).tolist(), strict=True)
    return [round(Fraction(a * scale, b)) for a, b in pairs]


def values(table: DeliveredTable) -> list[int]:
    return np.ravel(table.values).tolist()


def test_counts_are_the_published_ones(service: TableService) -> None:
    table = shown(service, "AS CROSSTABS OF age@class BY sex")
    assert values(table) == published(service, "age@class", "sex").ravel().tolist()
    assert (table.name, table.decimals) == ("t", 0)


def test_a_title_of_a_user_is_shown_as_one(service: TableService) -> None:
    table = shown(service, 'TITLE "=SUM(A1)" AS COUNT OF person')
    assert table.title.show("en") == "Own table: =SUM(A1)"
    assert table.title.show("nl") == "Eigen tabel: =SUM(A1)"


def test_a_share_divides_published_by_published(service: TableService) -> None:
    table = shown(service, "AS SHARE OF married = 1 OF person BY area@district")
    counts = published(service, "area@district", "married")
    assert values(table) == nearest(counts[:, 1], counts[:, 2], 1000)
    assert table.unit.show("en") == "Percent"
    assert [axis.column for axis in table.axes] == ["area"]
    assert table.title.show("en").startswith("Percentage (")


def test_a_share_of_a_part_divides_two_sums(service: TableService) -> None:
    table = shown(service, "AS SHARE OF sex = 1 AND age < 3 OF age < 5 BY area DECIMALS 2")
    above = published(service, "area", "age@class", "sex")[:, 0, 1]
    below = published(service, "area", "age@half")[:, 0]
    assert values(table) == nearest(above, below, 10_000)


@pytest.mark.parametrize(
    ("program", "planned"),
    [
        (
            "AS RATIO OF age in (0, 3, 8) TO age in (1, 2, 5) BY area, sex",
            {"kind": "ratio", "numerator": "age in (0, 3, 8)", "denominator": "age in (1, 2, 5)"},
        ),
        (
            "AS SHARE OF age in (0, 3, 8) AND married = 0 OF person BY area, sex",
            {"kind": "share", "numerator": "age in (0, 3, 8) and married == 0"},
        ),
        ("AS MEAN OF age BY area, sex, married", {"kind": "mean", "variable": "age"}),
        ("AS MEDIAN OF age BY area, sex, married", {"kind": "median", "variable": "age"}),
    ],
)
def test_brackets_are_those_of_a_plan(
    service: TableService, program: str, planned: dict[str, str]
) -> None:
    """Groups of the program are sums of the same published parts, and as reliable."""
    table = shown(service, program)
    by = tuple(program.split(" BY ")[1].split(", "))
    indicator = PlannedIndicator(name="figure", by=by, **planned)  # type: ignore[arg-type]
    product = indicator_product(indicator, service.census.schema)
    protected = METHOD.protect(service.census.tabulate(product.specs[0]))
    assert isinstance(protected.table, Table)
    part = PublishedPart(protected.table, protected.provenance)
    wanted = product.delivered([part], Heading())
    assert np.array_equal(table.values, wanted.values)
    assert table.marks is not None
    assert wanted.marks is not None
    assert np.array_equal(table.marks, wanted.marks)
    assert {Mark.NONE, Mark.LOW_RELIABILITY} <= set(np.unique(table.marks).tolist())


def test_a_figure_from_counts_in_brackets_has_them_too() -> None:
    """The office says that counts below 400 are unreliable: so are figures that rest on them."""
    census = island(3_000)
    policy = Policy(
        name="test",
        schema=census.schema,
        limits=Limits(dimensions=5, cells=100_000),
        online=OnlineRules(brackets=400),
    )
    strict = TableService(census, policy, {Entity.PERSON: METHOD})
    table, answer = asked(strict, "AS SHARE OF sex = 1 OF person BY area")
    figures = finish(table, answer)
    assert answer.marks is not None
    assert figures.marks is not None
    low = (answer.marks == Mark.LOW_RELIABILITY).any(axis=-1)
    assert low.any()
    assert np.array_equal(figures.marks == Mark.LOW_RELIABILITY, low)


def test_a_ratio_without_groups_is_one_figure(service: TableService) -> None:
    table = shown(service, "AS RATIO OF sex = 0 TO sex = 1 PER 1000 DECIMALS 0")
    counts = published(service, "sex")
    assert table.shape == ()
    assert values(table) == nearest(counts[0], counts[1], 1000)
    assert table.unit.show("es") == "Por cada 1.000"


def test_a_sex_ratio_is_the_ratio_of_the_two_codes(service: TableService) -> None:
    table = shown(service, "AS SEX-RATIO BY area")
    counts = published(service, "area", "sex")
    assert values(table) == nearest(counts[:, 0], counts[:, 1], 1000)


def test_a_condition_holds_for_both_sides(service: TableService) -> None:
    """Women among the married: the total of sex is the published count of all married."""
    table = shown(service, "AS SHARE OF sex = 1 OF person BY area@district FOR married = 1")
    counts = published(service, "area@district", "married", "sex")[:, 1]
    assert values(table) == nearest(counts[:, 1], counts[:, 2], 1000)
    assert ". Married:" in table.title.show("en")


@pytest.mark.parametrize(
    ("word", "below"),
    [
        ("ROW", lambda counts: counts[:, -1:]),
        ("COLUMN", lambda counts: counts[-1:, :]),
        ("TOTAL", lambda counts: counts[-1:, -1:]),
    ],
)
def test_percentages_divide_by_published_totals(  # type: ignore[no-untyped-def]
    service: TableService, word: str, below
) -> None:
    table = shown(service, f"AS CROSSTABS OF age@class BY sex PERCENT {word}")
    counts = published(service, "age@class", "sex")
    expected = nearest(counts, np.broadcast_to(below(counts), counts.shape), 1000)
    assert values(table) == [min(one, 1000) for one in expected]
    assert [axis.column for axis in table.axes] == ["age", "sex"]


def test_percentages_of_an_area_are_of_that_area(service: TableService) -> None:
    table = shown(service, "AS FREQUENCY OF age@class AREABREAK area@district PERCENT TOTAL")
    counts = published(service, "area@district", "age@class")
    below = np.broadcast_to(counts[:, -1:], counts.shape)
    assert values(table) == [min(one, 1000) for one in nearest(counts, below, 1000)]
    distribution = shown(service, "AS DISTRIBUTION OF age@class BY area@district")
    assert values(distribution) == values(table)


def test_a_mean_weighs_numbers_with_published_counts(service: TableService) -> None:
    table = shown(service, "AS MEAN OF age BY sex DECIMALS 3")
    counts = published(service, "sex", "age-total")
    assert values(table) == nearest(counts @ np.arange(10), counts.sum(axis=1), 1000)


def test_a_mean_of_a_part_takes_the_classes_of_the_part(service: TableService) -> None:
    table = shown(service, "AS MEAN OF age BY sex FOR age >= 4 AND age < 8 DECIMALS 3")
    counts = published(service, "sex", "age-total")[:, 4:8]
    assert values(table) == nearest(counts @ np.arange(4, 8), counts.sum(axis=1), 1000)


def test_a_median_lies_in_the_class_of_the_middle(service: TableService) -> None:
    table = shown(service, "AS MEDIAN OF age")
    counts = published(service, "age-total")
    at = int(np.argmax(2 * np.cumsum(counts) >= counts.sum()))
    before = int(counts[:at].sum())
    middle = at + (Fraction(int(counts.sum()), 2) - before) / int(counts[at])
    assert values(table) == [round(middle * 10)]
    assert table.title.show("fr") == "Médiane\u202f: age"


def test_a_recode_is_the_sum_of_published_values(service: TableService) -> None:
    program = compile_program(
        "DEFINE g AS RECODE age (0-4, 9 = 1 'Some') (5-8 = 2 'Others') TABLE t AS FREQUENCY OF g",
        service.census.schema,
    )
    answer = service.answer(program.tables[0].question)
    assert answer.table is not None
    halves, ages = published(service, "age@half"), published(service, "age")
    made = finish(program.tables[0], answer.table)
    assert values(made) == [halves[0] + ages[9], ages[5:9].sum(), ages[-1]]
    assert made.axes[0].label_of(0, "en") == "Own group: Some"


@pytest.mark.parametrize("mark", [Mark.WITHHELD, Mark.REFUSED, Mark.BELOW_THRESHOLD])
@pytest.mark.parametrize(
    "text",
    [
        "AS SHARE OF married = 1 OF person BY area@district",
        "AS DISTRIBUTION OF married BY area@district",
        "AS MEAN OF age BY area@district",
        "AS MEDIAN OF age BY area@district",
    ],
)
def test_what_is_made_of_withheld_numbers_is_withheld(
    service: TableService, text: str, mark: Mark
) -> None:
    table, answer = asked(service, text)
    marks = np.zeros(answer.shape, dtype=np.uint8)
    marks[1] = mark
    blank = replace(answer, values=np.where(marks, 0, answer.values), marks=marks)
    made, whole = finish(table, blank), finish(table, answer)
    assert made.marks is not None
    assert (made.marks[1] == mark).all()
    assert not made.values[1].any()
    assert (np.delete(made.values, 1, 0) == np.delete(whole.values, 1, 0)).all()


def test_one_withheld_part_withholds_the_mean_and_a_mark_beside_a_number_does_not(
    service: TableService,
) -> None:
    table, answer = asked(service, "AS MEAN OF age BY area@district")
    marks = np.zeros(answer.shape, dtype=np.uint8)
    marks[0, 3], marks[1, 3] = Mark.WITHHELD, Mark.LOW_RELIABILITY
    blank = replace(answer, values=np.where(marks == Mark.WITHHELD, 0, answer.values), marks=marks)
    made = finish(table, blank)
    assert made.marks is not None
    assert made.marks[0] == Mark.WITHHELD
    assert made.marks[1] != Mark.WITHHELD
    assert made.values[1] == finish(table, answer).values[1]


def test_figures_of_small_counts_stand_in_brackets_or_are_not_given(service: TableService) -> None:
    table, answer = asked(service, "AS SHARE OF married = 1 OF person BY area@district")
    counts = np.array([[5, 20], [1, 2], [30, 60], [36, 82]], dtype=np.int64)
    made = finish(table, replace(answer, values=counts))
    assert made.marks is not None
    assert made.marks.tolist() == [Mark.LOW_RELIABILITY, Mark.NOT_AVAILABLE, 0, 0]
    assert values(made) == [250, 0, 500, 439]


def test_the_answer_to_another_question_is_refused(service: TableService) -> None:
    table, _ = asked(service, "AS SHARE OF married = 1 OF person BY area@district")
    _, other = asked(service, "AS FREQUENCY OF sex")
    with pytest.raises(SpecError, match="answers another question"):
        finish(table, other)
    _, ungrouped = asked(service, "AS CROSSTABS OF area@district BY married")
    with pytest.raises(SpecError, match="groups that the program asked for"):
        finish(table, ungrouped)


def test_figures_say_what_they_are_made_of(service: TableService) -> None:
    _, answer = asked(service, "AS COUNT OF person")
    made = shown(service, "AS SEX-RATIO")
    notes = " ".join(note.show("en") for note in made.notes)
    assert "computed from published counts" in notes
    assert made.spec is None
    assert len(made.notes) > len(answer.notes)
