from __future__ import annotations

from collections.abc import Callable
from dataclasses import FrozenInstanceError
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, strategies as st

from sdcensus.errors import SpecError
from sdcensus.methods.rounding import RandomRounding
from sdcensus.methods.small_cells import SmallCellAdjustment
from sdcensus.methods.threshold import ThresholdRounding
from sdcensus.methods.withhold_sparse import WithholdSparse
from sdcensus.model.published.claims import Claims
from sdcensus.model.published.table import Mark, Table
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.model.text import Text
from tests.methods.rounding_tables import FULL, SCHEMA, cube


def table(*by: str, values: Any = None, people: int = 300) -> Table:
    """A published table: rounded by key, or with the given values."""
    if values is not None:
        return Table(TableSpec.build(SCHEMA, by), np.array(values, dtype=np.int64))
    made = RandomRounding(3).protect(cube(*by, people=people)).table
    assert isinstance(made, Table)
    return made


def signs(made: Table) -> list[str]:
    return [cell.text for cell in made.cells()]


def withheld(made: Table) -> npt.NDArray[np.bool_]:
    if made.flags is None:
        return np.zeros(made.shape, dtype=bool)
    return np.asarray(made.flags == Mark.WITHHELD)


def test_small_values_of_sparse_areas_become_c() -> None:
    """With random rounding to base 3 those are 0 and 3."""
    values = [
        *[[0, 3, 6], [3, 0, 3], [6, 3, 9], [0, 0, 0], [12, 15, 27], [3, 3, 3]],
        [24, 24, 48],
    ]
    made = WithholdSparse().apply(table("area", "sex", values=values))
    assert signs(made) == [
        *["0", "3", "6"],  # 6 persons in 2 cells: 3 on average
        *["c", "c", "c"],  # 3 in 2 cells
        *["6", "3", "9"],
        *["c", "c", "c"],
        *["12", "15", "27"],
        *["c", "c", "c"],  # its published total counts, not the sum of its cells
        *["24", "24", "48"],  # the total over areas is no area
    ]


def test_larger_values_of_sparse_areas_stay() -> None:
    values = [[0] * 9 for _ in range(7)]
    values[2] = [6, 0, 3, 0, 0, 3, 0, 0, 12]
    made = WithholdSparse().apply(table("area", "age", values=values))
    assert signs(made)[18:27] == ["6", *["c"] * 7, "12"]


@pytest.mark.parametrize(("size", "sparse"), [(2, False), (2.01, True), (Fraction(17, 8), True)])
def test_the_mean_must_be_below_the_limit(size: float | Fraction, sparse: bool) -> None:
    """16 persons in 8 cells are 2 on average."""
    values = [[0] * 8 + [16]] * 6 + [[0] * 8 + [96]]
    made = WithholdSparse(mean_cell_size=size).apply(table("area", "age", values=values))
    assert bool(withheld(made)[0, 0]) is sparse


def test_subtotals_of_areas_are_areas_themselves() -> None:
    made = WithholdSparse(mean_cell_size=3).apply(table(*FULL))
    before = table(*FULL)
    for position in range(9):
        population = int(before.published[position, -1, -1])
        small = before.published[position] < 6
        expected = small if population < 3 * 16 else np.zeros_like(small)
        assert (withheld(made)[position] == expected).all()
    assert withheld(made)[6:9].any()
    assert not withheld(made)[9].any()


def test_without_totals_the_population_is_the_sum_of_interior_cells() -> None:
    with_total, without = table("area", "sex"), table("area", "sex-total")
    limit = int(with_total.published[1, :2].sum())
    for size, sparse in ((Fraction(limit, 2), False), (Fraction(limit + 1, 2), True)):
        step = WithholdSparse(mean_cell_size=size, below=10**6)
        assert bool(withheld(step.apply(without))[1].all()) is sparse


def test_interior_cells_are_those_of_the_finest_levels() -> None:
    """Subtotals of other axes make no area less sparse."""
    plain = withheld(WithholdSparse(mean_cell_size=3).apply(table("area", "age")))
    broad = withheld(WithholdSparse(mean_cell_size=3).apply(table("area", "age@age+broad")))
    assert plain.any()
    assert (plain[:, :8] == broad[:, :8]).all()
    assert (plain[:, 8] == broad[:, 10]).all()


def test_the_order_of_axes_does_not_matter() -> None:
    step = WithholdSparse(mean_cell_size=3)
    straight = withheld(step.apply(table("area", "sex", "age")))
    turned = withheld(step.apply(table("sex", "age", "area")))
    assert straight.any()
    assert (straight == turned.transpose(2, 0, 1)).all()


@given(st.integers(0, 30), st.integers(1, 20))
def test_exactly_small_values_of_sparse_areas_are_withheld(size: int, below: int) -> None:
    before = table(*FULL)
    made = WithholdSparse(mean_cell_size=size, below=below).apply(before)
    sparse = before.published[:9, -1, -1] < size * 16
    expected = np.zeros(before.shape, dtype=bool)
    expected[:9] = sparse[:, None, None] & (before.published[:9] < below)
    assert (withheld(made) == expected).all()
    assert (made.published[~expected] == before.published[~expected]).all()
    assert not made.published[expected].any()


def test_a_table_by_area_alone_has_one_cell_for_each_area() -> None:
    made = WithholdSparse(mean_cell_size=10).apply(table("area", values=[9, 3, 0, 12, 6, 30, 60]))
    assert signs(made) == ["9", "c", "c", "12", "6", "30", "60"]


def test_flags_and_notes_of_before_stay() -> None:
    made = ThresholdRounding().protect(cube("area", "age")).table
    assert isinstance(made, Table)
    noted = made.with_notes(Text.of("a note"))
    after = WithholdSparse(mean_cell_size=100, below=100).apply(noted)
    assert after.notes == noted.notes
    assert noted.flags is not None
    assert after.flags is not None
    before = noted.flags != 0
    assert (after.flags[before] == Mark.BELOW_THRESHOLD).all()
    assert (after.flags[:6][~before[:6]] == Mark.WITHHELD).any()


def test_nothing_is_withheld_where_no_area_is_sparse() -> None:
    before = table("area", "sex")
    assert WithholdSparse(mean_cell_size=0).apply(before) == before


def test_the_table_before_is_not_changed() -> None:
    before = table("area", "age")
    numbers = before.published.copy()
    WithholdSparse(mean_cell_size=100).apply(before)
    assert before.flags is None
    assert (before.published == numbers).all()


def test_claims_after_it_keep_what_holds_of_single_numbers() -> None:
    claims = RandomRounding(3).claims()
    after = WithholdSparse().claims_after(claims)
    assert after.names() == (
        "bounded",
        "never_negative",
        "blocked_counts_never_appear",
        "consistent",
        "for_publication",
    )
    assert set(claims.cautions) < set(after.cautions)


def test_for_publication_alone_promises_nothing_else() -> None:
    assert WithholdSparse().claims().names() == ("for_publication",)


def test_after_additivity_there_is_a_caution() -> None:
    before = SmallCellAdjustment().claims()
    assert before.additive
    after = WithholdSparse().claims_after(before)
    assert not after.additive
    assert any("recomputed" in caution for caution in after.cautions)
    assert not any(
        "recomputed" in caution for caution in WithholdSparse().claims_after(Claims()).cautions
    )


def test_another_axis_can_be_named_as_the_area() -> None:
    by_sex = WithholdSparse("sex", mean_cell_size=1000).apply(table("area", "sex"))
    assert withheld(by_sex)[-1, 0] == (table("area", "sex").published[-1, 0] < 6)
    assert withheld(by_sex).any() or (table("area", "sex").published >= 6).all()


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (
            lambda: WithholdSparse().apply(table("sex", "age")),
            "no axis of the table is a geography",
        ),
        (lambda: WithholdSparse("parish").apply(table("sex")), "no axis 'parish'"),
        (lambda: WithholdSparse(mean_cell_size=-1), "0 or more"),
        (lambda: WithholdSparse(mean_cell_size=float("nan")), "0 or more"),
        (lambda: WithholdSparse(mean_cell_size=float("inf")), "0 or more"),
        (lambda: WithholdSparse(mean_cell_size="2"), "is a number"),  # type: ignore[arg-type]
        (lambda: WithholdSparse(below=0), "1 or more"),
        (lambda: WithholdSparse(below=2.5), "whole number"),  # type: ignore[arg-type]
    ],
)
def test_wrong_parameters_and_tables_are_refused(make: Callable[[], object], says: str) -> None:
    with pytest.raises(SpecError, match=says):
        make()


def test_it_is_frozen_and_says_what_it_does() -> None:
    step = WithholdSparse()
    with pytest.raises(FrozenInstanceError):
        step.below = 3  # type: ignore[misc]
    assert repr(step) == "<WithholdSparse: values below 6 where the mean cell size is below 2>"
    assert step.parameters() == {"area": None, "mean_cell_size": "2", "below": 6}
