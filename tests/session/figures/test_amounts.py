"""Figures of amounts come from published sums and counts of the hamlet, never from true ones."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from sdcensus.documents.schema.document import read_schema
from sdcensus.errors import SpecError
from sdcensus.methods.cell_key import CellKey
from sdcensus.methods.magnitude.cell_key_sums import CellKeySums
from sdcensus.methods.perturbation.schemes import scheme
from sdcensus.model.cube.cube import Cube
from sdcensus.model.plan.plan import PlannedIndicator
from sdcensus.model.plan.vocabulary import ComparedFigure
from sdcensus.model.published.delivery import DeliveredTable
from sdcensus.model.published.table import Mark, Table
from sdcensus.model.schema.variable import Entity, Variable
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.model.vocabulary import Measure
from sdcensus.session.census.census import Census
from sdcensus.session.figures.amounts import AmountTables, stated_parts
from sdcensus.session.figures.indicators import indicator_product
from sdcensus.session.protect.table import protect_table
from sdcensus.session.publish.products import Heading, PublishedPart
from sdcensus.testing.island import SECRET
from tests.hamlet import SCHEMA, write_hamlet
from tests.methods.magnitude.incomes import income_census

COUNTS, SUMS = CellKey(scheme("CP3"), secret=SECRET), CellKeySums(secret=SECRET)


@pytest.fixture(scope="module")
def census(tmp_path_factory: pytest.TempPathFactory) -> Census:
    return write_hamlet(tmp_path_factory.mktemp("hamlet")).load()


def published(census: Census, spec: TableSpec) -> PublishedPart:
    protected = protect_table(census, spec, SUMS if spec.measure.is_sum else COUNTS)
    assert isinstance(protected.table, Table)
    return PublishedPart(protected.table, protected.provenance)


def numbers(census: Census, *by: str, **options: str) -> list[int]:
    """Published numbers of a table, in a row."""
    part = published(census, census.spec(*by, **options))
    return np.asarray(part.table.published).ravel().tolist()


def made(census: Census, measure: Measure | None = None, /, **settings: object) -> DeliveredTable:
    planned = PlannedIndicator(name="figure", **settings)  # type: ignore[arg-type]
    product = indicator_product(planned, census.schema, measure)
    return product.delivered([published(census, spec) for spec in product.specs], Heading())


def values(table: DeliveredTable) -> list[int]:
    return np.asarray(table.values).ravel().tolist()


def marks(table: DeliveredTable) -> list[int]:
    flags = np.zeros(table.shape) if table.marks is None else table.marks
    return np.asarray(flags).ravel().tolist()


def stated(census: Census, by: str, amount: str, of: str = "persons") -> list[int]:
    """Published counts of those whose amount is known: added up over its classes."""
    table = published(census, census.spec(by, f"{amount}-total", of=of)).table
    known = [not code.is_missing for code in table.spec.axes[1].levels[0].codes]
    counts: list[int] = table.published[:, known].sum(axis=1).tolist()
    return counts


def test_a_mean_divides_a_published_sum_by_published_counts_of_known_amounts(
    census: Census,
) -> None:
    table = made(census, kind="mean", variable="income", by=("ed@parish",), decimals=2)
    sums = numbers(census, "ed@parish", measure="sum(income)")
    counts = stated(census, "ed@parish", "income")
    assert values(table) == [
        round(Fraction(total, count)) for total, count in zip(sums, counts, strict=True)
    ]
    true = census.tabulate("ed@parish", measure="sum(income)")
    known = census.tabulate("ed@parish", "income-total")
    assert isinstance(true, Cube)
    assert isinstance(known, Cube)
    exact = true.values.sum_of("income") / known.count[:, :3].sum(axis=1) / 100
    shown = table.values / 100
    assert (shown != np.round(exact, 2)).all()
    assert (abs(shown / exact - 1) < 0.2).all()
    assert table.title.show("en") == "Mean of Income by Area (parish)"
    assert "fewer than 10" in table.notes[-1].show("en")


def test_who_has_no_amount_is_in_no_mean(census: Census) -> None:
    """Rent is paid in 100 of 260 households; an own count of those would be a fresh look."""
    rent = census.schema.variable("rent")
    parts = stated_parts(rent)
    assert parts is not None
    assert [rent.level(part.level).codes[part.at].code for part in parts] == [rent.codes[0].code]
    table = made(census, kind="mean", variable="rent", of=Entity.HOUSEHOLD, by=("tenure",))
    assert marks(table)[0] == Mark.NOT_AVAILABLE  # owners pay none
    assert 100 < values(table)[1] / 100 < 900


def test_an_amount_that_everybody_has_is_divided_by_plain_counts(census: Census) -> None:
    groups = TableSpec.build(census.schema, ["ed@parish"], of="households")
    rent = census.schema.variable("rent")
    everybody = AmountTables.of(groups, _without_missing(rent), census.schema)
    assert everybody.counts is groups
    assert everybody.stated is None


def _without_missing(variable: Variable) -> Variable:
    return replace(variable, codes=tuple(code for code in variable.codes if not code.is_missing))


def test_a_universe_of_known_amounts_is_one_published_value(tmp_path: Path) -> None:
    universe = (
        "\n[universe.known]\ncondition = \"income@bracket in ('0-999', '1000-2499', '2500+')\"\n"
    )
    schema = read_schema(write_hamlet(tmp_path, schema=SCHEMA + universe).schema)
    parts = stated_parts(schema.variable("income"))
    assert parts is not None
    assert len(parts) == 1
    tables = AmountTables.of(TableSpec.build(schema, ["sex"]), schema.variable("income"), schema)
    assert tables.stated is not None
    assert len(tables.stated.places) == 1


def test_one_contributor_has_no_mean_and_equal_ones_do_not_show_their_amount(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Everybody has 1,000: a true mean would say it exactly."""
    monkeypatch.setattr(
        "tests.methods.magnitude.incomes.incomes", lambda people, **_: np.full(people, 100_000)
    )
    equal = income_census(people=800)
    table = made(equal, kind="mean", variable="income", by=("area", "sex", "age"), decimals=2)
    cube = equal.tabulate("area", "sex", "age")
    assert isinstance(cube, Cube)
    counts = cube.count
    flags = np.asarray(table.marks)
    assert (counts == 1).any()
    assert (flags[counts == 1] == Mark.NOT_AVAILABLE).all()
    shown = table.values[flags != Mark.NOT_AVAILABLE]
    assert shown.size > 20
    assert (shown == 100_000).mean() < 0.1


def test_weighted_means_divide_weighted_sums_by_weighted_counts(census: Census) -> None:
    settings = {"kind": "mean", "variable": "rent", "of": Entity.HOUSEHOLD, "by": ("ed@parish",)}
    planned = PlannedIndicator(name="figure", **settings)  # type: ignore[arg-type]
    product = indicator_product(planned, census.schema, Measure.WEIGHTED)
    assert [spec.measure for spec in product.specs] == [Measure.WEIGHTED_SUM, Measure.WEIGHTED]
    plain, weighted = made(census, **settings), made(census, Measure.WEIGHTED, **settings)
    shown = (plain.values > 0) & (weighted.values > 0)
    assert shown.sum() >= 3
    assert (plain.values != weighted.values)[shown].all()
    assert abs(weighted.values / np.maximum(plain.values, 1) - 1)[shown].max() < 0.3


def test_a_ratio_of_sums_and_of_a_sum_and_units(census: Census) -> None:
    common = {"kind": "ratio", "by": ("ed@parish",), "per": 1, "decimals": 3}
    both = made(census, numerator="sum(income)", denominator="sum( income )", **common)
    assert set(values(both)) == {1000}
    each = made(census, numerator="sum(income)", denominator="count", **common)
    sums, counts = numbers(census, "ed@parish", measure="sum(income)"), numbers(census, "ed@parish")
    assert values(each) == [
        round(Fraction(total * 10, count)) for total, count in zip(sums, counts, strict=True)
    ]
    assert each.title.show("en") == "Ratio (Income, per: persons) by Area (parish)"
    hundred = made(census, numerator="sum(income)", denominator="count", **{**common, "per": 100})
    assert values(hundred)[0] == pytest.approx(100 * values(each)[0], rel=1e-4)


def test_a_difference_is_of_published_figures(census: Census) -> None:
    settings = {"kind": "difference", "variable": "income", "decimals": 2, "by": ("ed@parish",)}
    women, men = "sex == 2", "sex == 1"
    means = made(census, first=women, second=men, **settings)
    single = made(census, kind="mean", variable="income", by=("ed@parish", "sex"), decimals=2)
    expected = single.values[:, 1] - single.values[:, 0]
    assert values(means) == np.where(means.marks == Mark.NOT_AVAILABLE, 0, expected).tolist()
    sums = made(census, first=women, second=men, figure=ComparedFigure.SUM, **settings)
    table = published(census, census.spec("ed@parish", "sex", measure="sum(income)")).table
    apart = table.published[:, 1] - table.published[:, 0]
    assert values(sums) == np.where(sums.marks == Mark.NOT_AVAILABLE, 0, apart).tolist()
    assert len(set(marks(sums))) > 1
    back = made(census, first=men, second=women, **settings)
    assert values(back) == (-means.values).tolist()
    # Drawn without regard to sex: most differences are within the error of their two figures.
    assert Mark.LOW_RELIABILITY in marks(means)


def test_quartiles_stand_side_by_side_and_percentiles_alone(census: Census) -> None:
    common = {"variable": "income", "by": ("ed@parish",)}
    quartiles = made(census, kind="quartiles", **common)
    assert quartiles.axes[-1].codes == ("25", "50", "75")
    assert quartiles.axes[-1].label_of(0, "es") == "Primer cuartil"
    assert 0 < quartiles.values[0, 0] < quartiles.values[0, 1] < 25_000
    # A quarter of the incomes is above 2500, in the class without an end.
    assert marks(quartiles)[2] == Mark.NOT_AVAILABLE
    for at, percent in enumerate((25, 50, 75)):
        alone = made(census, kind="percentile", percent=percent, **common)
        assert values(alone) == quartiles.values[:, at].tolist()
    assert values(made(census, kind="median", **common)) == quartiles.values[:, 1].tolist()
    assert "interpolated" in quartiles.notes[-1].show("en")
    assert set(marks(made(census, kind="percentile", percent=90, **common))) == {Mark.NOT_AVAILABLE}


def test_percentiles_of_codes_keep_the_limits_of_counts(census: Census) -> None:
    few = made(census, kind="percentile", variable="age", percent=50, by=("ed", "sex"))
    assert few.notes[-1].show("en").startswith("The figures of this table were computed")
    assert values(few) == values(made(census, kind="median", variable="age", by=("ed", "sex")))


def test_fewer_than_so_many_have_no_figure(census: Census) -> None:
    def missing(**settings: object) -> int:
        table = made(census, by=("ed", "sex", "age@ten_year"), **settings)
        return marks(table).count(Mark.NOT_AVAILABLE)

    for settings in (
        {"kind": "mean", "variable": "income"},
        {"kind": "median", "variable": "income"},
        {"kind": "ratio", "numerator": "sum(income)", "denominator": "count", "per": 1},
    ):
        assert missing(**settings, fewest=3) < missing(**settings) < missing(**settings, fewest=30)


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"kind": "mean", "variable": "incom"}, "Did you mean 'income'"),
        ({"kind": "mean", "variable": "rent"}, "describes households"),
        ({"kind": "mean", "variable": "weight", "of": Entity.HOUSEHOLD}, "no amount that they"),
        ({"kind": "mean", "variable": "income", "by": ("income",)}, "both a group and part"),
        ({"kind": "mean", "variable": "income", "fewest": 2}, "at least 3 published units"),
        ({"kind": "percentile", "variable": "income", "percent": 0}, "somebody's own"),
        ({"kind": "percentile", "variable": "income", "percent": 100}, "somebody's own"),
        ({"kind": "percentile", "variable": "income", "percent": 120}, "from 1 to 99"),
        ({"kind": "quartiles", "variable": "rent", "of": Entity.HOUSEHOLD}, "without levels"),
        ({"kind": "percentile", "variable": "sex", "percent": 9}, "do not stand for numbers"),
        ({"kind": "ratio", "numerator": "sum(income)", "denominator": "sum(rent)"}, "households"),
        ({"kind": "ratio", "numerator": "sum(sex)", "denominator": "count"}, "cannot be summed"),
        ({"kind": "ratio", "numerator": "sum(income)", "denominator": "sex == 1"}, "another one"),
        ({"kind": "ratio", "numerator": "sum()", "denominator": "count"}, "no variable"),
        ({"kind": "difference", "variable": "income", "first": "sex == 1"}, "both groups"),
        (
            {"kind": "difference", "variable": "sex", "first": "age == 1", "second": "age == 2"},
            "cannot be summed",
        ),
        (
            {
                "kind": "difference",
                "variable": "income",
                "first": "income == '0-999'",
                "second": "sex == 2",
            },
            "both a group and part",
        ),
        (
            {
                "kind": "difference",
                "variable": "income",
                "first": "sex == 1 or age == 3",
                "second": "sex == 2",
            },
            "OR between two variables",
        ),
    ],
)
def test_what_cannot_be_computed_is_refused_with_the_reason(
    census: Census, settings: dict[str, object], why: str
) -> None:
    with pytest.raises(SpecError, match=why) as caught:
        made(census, **settings)
    assert str(caught.value).startswith("Indicator 'figure': ")
