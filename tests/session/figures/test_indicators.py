"""Shares, ratios and indicators are functions of published counts and of nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from sdcensus.documents.schema.document import read_schema
from sdcensus.errors import SpecError
from sdcensus.methods.cell_key import CellKey
from sdcensus.methods.perturbation.schemes import scheme
from sdcensus.model.cube.cube import Cube
from sdcensus.model.plan.plan import PlannedIndicator, PlannedTable
from sdcensus.model.published.delivery import DeliveredTable
from sdcensus.model.published.figures import Counted
from sdcensus.model.published.table import Mark, Table
from sdcensus.model.schema.number_codes import LARGEST_NUMBER
from sdcensus.model.schema.variable import Entity
from sdcensus.model.vocabulary import Measure
from sdcensus.session.census.census import Census
from sdcensus.session.commands import compile_program
from sdcensus.session.figures.indicators import (
    FiguresProduct,
    indicator_product,
    share_product,
)
from sdcensus.session.publish.products import Heading, PublishedPart
from sdcensus.session.publish.run import publish
from sdcensus.testing.island import SECRET, island
from tests.hamlet import write_hamlet

METHOD = CellKey(scheme("CP3"), secret=SECRET)


@pytest.fixture(scope="module")
def census() -> Census:
    return island(3_000)


def published(census: Census, *by: str, **options: str) -> Table:
    cube = census.tabulate(*by, **options)  # type: ignore[arg-type]
    table = METHOD.protect(cube).table
    assert isinstance(table, Table)
    return table


def delivered(census: Census, product: FiguresProduct) -> DeliveredTable:
    parts = []
    for spec in product.specs:
        cube = census.tabulate(spec)
        assert isinstance(cube, Cube)
        protected = METHOD.protect(cube)
        assert isinstance(protected.table, Table)
        parts.append(PublishedPart(protected.table, protected.provenance))
    return product.delivered(parts, Heading())


def made(census: Census, **settings: object) -> DeliveredTable:
    planned = PlannedIndicator(name="figure", **settings)  # type: ignore[arg-type]
    return delivered(census, indicator_product(planned, census.schema))


def values(table: DeliveredTable) -> list[int]:
    return np.asarray(table.values).reshape(-1).tolist()


def nearest(pairs: Sequence[tuple[int, int]], scale: int) -> list[int]:
    return [round(Fraction(a * scale, b)) for a, b in pairs]


def test_a_share_divides_published_by_published(census: Census) -> None:
    table = made(census, kind="share", by=("area@district",), numerator="married == 1")
    counts = published(census, "area@district", "married")
    pairs = list(zip(counts.published[:, 1].tolist(), counts.published[:, 2].tolist(), strict=True))
    assert values(table) == nearest(pairs, 1000)
    assert table.decimals == 1
    assert table.unit.show("en") == "Percent"


def test_a_condition_of_several_codes_is_a_sum_of_the_fewest_published_values(
    census: Census,
) -> None:
    """Ages 0 to 6 are the classes c0 and c1: two published values, not seven, and no new count."""
    table = made(census, kind="share", by=("sex",), numerator="age < 7")
    counts = published(census, "sex", "age@class").published
    pairs = [(int(row[0] + row[1]), int(row[3])) for row in counts]
    assert values(table) == nearest(pairs, 1000)


def test_a_share_of_a_part_takes_both_conditions(census: Census) -> None:
    table = made(
        census,
        kind="share",
        by=("area@district",),
        numerator="married == 1",
        denominator="age >= 7",
    )
    counts = published(census, "area@district", "married", "age@class").published
    pairs = [(int(row[1, 2]), int(row[2, 2])) for row in counts]
    assert values(table) == nearest(pairs, 1000)


def test_figures_without_brackets_are_near_the_truth() -> None:
    """Ages that no level puts together are many small counts: their sum is not a large one."""
    census = island(1_200)
    planned = PlannedIndicator(
        name="ratio",
        kind="ratio",
        by=("area", "married", "sex"),
        numerator="age in (0, 2, 4, 6, 8)",
        denominator="age in (1, 3, 5, 7, 9)",
    )
    product = indicator_product(planned, census.schema)
    table = delivered(census, product)
    cube = census.tabulate(product.specs[0])
    assert isinstance(cube, Cube)
    truth = product.compute([Counted(cube.count)]).values
    assert table.marks is not None
    plain = (table.marks == Mark.NONE) & (truth > 0)
    off = np.abs(table.values - truth) / np.maximum(truth, 1)
    assert 10 < plain.sum() < plain.size
    assert off[plain].max() < 0.35
    # Without them: sums of 10 or more with an error of half of what is shown.
    bracketed = (table.marks == Mark.LOW_RELIABILITY) & (truth > 0)
    assert off[bracketed].max() > 0.5


def test_shares_of_a_table_have_its_rows(census: Census) -> None:
    planned = PlannedTable(
        name="wed", rows=("area@district",), columns=("sex",), share="married == 1"
    )
    table = delivered(census, share_product(planned, census.schema))
    assert table.rows == 1
    assert [axis.column for axis in table.axes] == ["area", "sex"]
    assert 0 < table.values[0, 0] < 1000


def test_the_sex_ratio_and_the_median_age(census: Census) -> None:
    ratio = made(census, kind="sex-ratio", by=("area@district",))
    counts = published(census, "area@district", "sex").published
    assert values(ratio) == nearest([(int(a), int(b)) for a, b, _ in counts], 1000)
    middle = made(census, kind="median-age", decimals=2)
    ages = published(census, "age-total").published
    half = Fraction(int(ages.sum()), 2)
    before = 0
    for age, count in enumerate(ages.tolist()):
        if before + count >= half:
            assert values(middle) == [round(100 * (age + (half - before) / count))]
            break
        before += count


def test_a_distribution_is_not_made_to_add_up(census: Census) -> None:
    table = made(census, kind="distribution", by=("area@district",), variable="age@class")
    counts = published(census, "area@district", "age@class").published
    expected = [[round(Fraction(1000 * int(one), int(row[-1]))) for one in row] for row in counts]
    assert table.values.tolist() == [[min(one, 1000) for one in row] for row in expected]
    assert (table.values[:, -1] == 1000).all()


def test_areas_that_the_policy_refuses_stay_refused(census: Census) -> None:
    product = indicator_product(
        PlannedIndicator(name="s", kind="share", by=("area@district",), numerator="sex == '1'"),
        census.schema,
    )
    cube = census.tabulate(product.specs[0])
    assert isinstance(cube, Cube)
    protected = METHOD.protect(cube)
    assert isinstance(protected.table, Table)
    refused = np.zeros(cube.shape, dtype=bool)
    refused[1] = True
    hidden = np.where(refused, 0, protected.table.published)
    part = PublishedPart(Table(cube.spec, hidden), protected.provenance, refused)
    table = product.delivered([part], Heading())
    assert table.marks is not None
    assert table.marks[1] == Mark.REFUSED
    assert table.values[1] == 0


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"kind": "sahre"}, "no kind 'sahre'"),
        ({"kind": "share"}, "numerator"),
        ({"kind": "ratio", "numerator": "sex == '0'"}, "denominator"),
        ({"kind": "share", "numerator": "sexx == 1"}, "Did you mean 'sex'"),
        ({"kind": "share", "numerator": "sex == '0' or age < 3"}, "OR between two variables"),
        ({"kind": "share", "by": ("sex",), "numerator": "sex == '0'"}, "both a group and part"),
        ({"kind": "median", "variable": "sex"}, "do not stand for numbers"),
        ({"kind": "median", "variable": ""}, "name the variable"),
        ({"kind": "average-household-size"}, "household"),
        ({"kind": "share", "numerator": "sex == '0'", "by": ("aera",)}, "Did you mean 'area'"),
    ],
)
def test_what_cannot_be_computed_is_refused_with_the_reason(
    census: Census, settings: dict[str, object], message: str
) -> None:
    with pytest.raises(SpecError, match=message) as caught:
        made(census, **settings)
    assert str(caught.value).startswith("Indicator 'figure': ")


def test_titles_say_what_is_computed_and_for_whom(census: Census) -> None:
    def title(**settings: object) -> str:
        return made(census, by=("area@district",), **settings).title.show("en")

    groups = "by area (district)"
    # Nothing says which code of the island stands for men.
    assert title(kind="sex-ratio") == f"Ratio (Sex:  0, per 100 of: Sex:  1) {groups}"
    assert title(kind="median-age") == f"Median age {groups}"
    assert title(kind="share", numerator="age < 3") == f"Percentage (Age: c 0) {groups}"
    # Conditions of one's own are no dependency ratio.
    own = title(kind="dependency-ratio", numerator="age < 3", denominator="age >= 3")
    assert own == f"Ratio (Age: c 0, per 100 of: Age: 3 to 9) {groups}"
    assert made(census, kind="median-age").title.show("es") == "Edad mediana"


def test_means_of_amounts_never_come_from_classes(tmp_path: Path) -> None:
    """The class "any amount at all" begins far below 0; its mean was published."""
    schema = read_schema(write_hamlet(tmp_path).schema)
    for kind, variable, of, why in (
        ("mean", "income", Entity.PERSON, ""),
        ("mean", "rent", Entity.HOUSEHOLD, ""),
        ("median", "rent", Entity.HOUSEHOLD, "without levels"),
        ("median", "sex", Entity.PERSON, "do not stand for numbers"),
        ("mean", "sex", Entity.PERSON, "do not stand for numbers"),
    ):
        planned = PlannedIndicator(name="figure", kind=kind, variable=variable, of=of)
        if kind == "mean" and variable != "sex":
            sums, _ = indicator_product(planned, schema).specs
            assert sums.measure is Measure.SUM
        else:
            with pytest.raises(SpecError, match=why):
                indicator_product(planned, schema)
        program = f"TABLE t AS {kind} OF {of.value}.{variable}"
        if variable != "sex":  # whether an amount is offered is asked of the policy
            (asked,) = compile_program(program, schema).tables
            assert asked.question.measure == f"{kind}({variable})"
            continue
        with pytest.raises(SpecError, match=why):
            compile_program(program, schema)
    for kind in ("sum", "variance", "maximum"):
        with pytest.raises(SpecError, match="no kind"):
            indicator_product(PlannedIndicator(name="figure", kind=kind, variable="income"), schema)
    indicator_product(PlannedIndicator(name="figure", kind="median", variable="income"), schema)


def test_what_stands_for_any_amount_is_in_no_published_file(tmp_path: Path) -> None:
    hamlet = write_hamlet(tmp_path)
    hamlet.load()
    plan = hamlet.write(
        "plan.toml",
        """
store = "census.store"

[[table]]
name = "rent"
of = "households"
rows = ["ed@parish"]
columns = ["rent"]

[[indicator]]
name = "stated"
kind = "distribution"
of = "households"
variable = "rent"
by = ["ed@parish"]

[[indicator]]
name = "income"
kind = "median"
variable = "income"

[protect]
method = "cell-key"
strength = "medium"

[output]
folder = "published"
formats = ["csv", "json-stat", "sdmx-csv", "px"]
""",
    )
    publish(plan, secret=hamlet.secret)
    files = [path for path in (tmp_path / "published").rglob("*") if path.is_file()]
    assert len(files) > 10
    for path in files:
        assert str(LARGEST_NUMBER).encode() not in path.read_bytes(), path.name
