from __future__ import annotations

import pytest

from sdcensus.model.published.claims import Claims
from sdcensus.model.published.table import Table
from sdcensus.utility.adding_up import AddingUpMeasure
from tests.utility.made import two_way


@pytest.mark.parametrize(
    ("change", "share", "sentence"),
    [
        (0, "100 %", ""),
        # The first line and the first column of the six lines have another total.
        (
            1,
            "67 %",
            "In 33 % of its 6 lines, each a total with its parts, the total is not the sum",
        ),
    ],
)
def test_readers_are_told_where_totals_are_not_sums(change: int, share: str, sentence: str) -> None:
    cube = two_way([[4, 5], [6, 7]])
    published = cube.count.copy()
    published[0, 0] += change
    (row,) = AddingUpMeasure().rows(Table(cube.spec, published), Claims(for_publication=True))
    assert row.value == share
    assert row.label.startswith("of 6 lines, each a total with its parts: the total equals")
    assert row.sentence.startswith(sentence)
    assert bool(row.sentence) is bool(change)
