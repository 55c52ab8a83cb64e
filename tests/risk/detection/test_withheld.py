from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from sdcensus.errors import SpecError
from sdcensus.model.cube.constraints import with_totals
from sdcensus.model.published.table import SparseTable, Table
from sdcensus.model.spec.universe import EVERYTHING, restrict
from sdcensus.risk.detection.withheld import withheld_that_follow
from sdcensus.testing.printed_tables import labels_of, printed_spec, printed_variable

SPEC = printed_spec(
    printed_variable("sex", ("M", "F")), printed_variable("age", ("young", "middle", "old"))
)


def table(inner: list[list[int]], withheld: list[tuple[int, int]]) -> Table:
    values = with_totals(SPEC, np.array(inner)).copy()
    flags = np.zeros(SPEC.shape, dtype=np.uint8)
    for at in withheld:
        flags[at], values[at] = 1, 0
    return Table(SPEC, values, flags)


def test_the_only_withheld_part_of_a_total_follows() -> None:
    found = withheld_that_follow(table([[3, 4, 5], [6, 7, 8]], [(0, 1)]))
    assert labels_of(SPEC, found.cells) == {("M", "middle")}
    assert found.values.tolist() == [4]
    assert found.sentences() == (
        "The withheld cell 'M × middle' would be 4, by its total and the other parts.",
    )
    assert found.sentences(1, "es")[0].startswith("La celda reservada «M × middle» sería 4")


def test_a_withheld_total_is_the_sum_of_its_parts() -> None:
    found = withheld_that_follow(table([[3, 4, 5], [6, 7, 8]], [(0, 3), (2, 3)]))
    assert dict(zip(found.cells.tolist(), found.values.tolist(), strict=True)) == {3: 12, 11: 33}


def test_one_finding_leads_to_the_next() -> None:
    withheld = [(0, 0), (0, 1), (1, 1)]
    found = withheld_that_follow(table([[3, 4, 5], [6, 7, 8]], withheld))
    assert found.values.tolist() == [3, 4, 7]


def test_a_rectangle_of_withheld_cells_holds_line_by_line() -> None:
    withheld = [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert withheld_that_follow(table([[3, 4, 5], [6, 7, 8]], withheld)).count == 0
    assert withheld_that_follow(table([[3, 4, 5], [6, 7, 8]], [])).count == 0


@given(
    st.lists(st.integers(0, 9), min_size=6, max_size=6),
    st.sets(st.tuples(st.integers(0, 2), st.integers(0, 3)), max_size=8),
)
def test_what_follows_is_true_where_tables_add_up(
    inner: list[int], withheld: set[tuple[int, int]]
) -> None:
    counts = np.array(inner).reshape(2, 3)
    truth = with_totals(SPEC, counts).reshape(-1)
    found = withheld_that_follow(table(counts.tolist(), sorted(withheld)))
    assert (truth[found.cells.astype(int)] == found.values).all()
    hidden = {at[0] * 4 + at[1] for at in withheld}
    assert set(found.cells.tolist()) <= hidden


def test_other_tables_tell_more() -> None:
    """A rectangle that holds in its own table falls with one total from another."""
    inner = [[3, 4, 5], [6, 7, 8]]
    guarded = table(inner, [(0, 0), (0, 1), (1, 0), (1, 1)])
    sex, age = (axis.variable for axis in SPEC.axes)
    young = restrict(EVERYTHING, age, np.array([True, False, False]))
    # Men who are young, told by a table of the young by sex.
    other = Table(
        printed_spec(sex, universe=young), np.array([3, 0, 0]), np.array([0, 1, 1], np.uint8)
    )
    found = withheld_that_follow(guarded, [other])
    assert found.values.tolist() == [3, 4, 6, 7]
    assert "together" in found.scope.show("en")
    # A union of which one part is withheld: all who are not old.
    not_old = restrict(EVERYTHING, age, np.array([True, True, False]))
    hidden = table(inner, [(0, 1), (0, 3), (2, 1), (2, 3)])
    both = Table(
        printed_spec(sex, universe=not_old), np.array([7, 0, 0]), np.array([0, 1, 1], np.uint8)
    )
    assert withheld_that_follow(hidden).count == 0
    assert 4 in withheld_that_follow(hidden, [both]).values.tolist()


def test_tables_that_are_not_held_whole_are_refused() -> None:
    sparse = SparseTable(SPEC, np.array([0], dtype=np.uint64), np.array([3]))
    for one, others in ((sparse, []), (table([[3, 4, 5], [6, 7, 8]], [(0, 1)]), [sparse])):
        with pytest.raises(SpecError, match="held whole"):
            withheld_that_follow(one, others)  # type: ignore[arg-type]
