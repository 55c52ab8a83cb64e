"""The risk of households: one member who is found gives the others away."""

from __future__ import annotations

import numpy as np
import pytest

from sdcensus.kernels.cells.tabulate import NO_ROW
from sdcensus.model.schema.variable import CodeKind
from sdcensus.risk.records.household import Members, household_risk
from sdcensus.risk.records.key_column import KeyColumn
from sdcensus.risk.records.ladder import ladder_risk


def test_the_vectors_of_the_specification() -> None:
    matches = np.array([2.0, 4.0, 10.0, 50.0, 1.0, 7.0])
    risks = Members.of(np.array([4, 4, 4, 9, 9, 9])).risks(matches)
    assert risks.tolist() == pytest.approx([0.6625, 1.0], abs=1e-15)


def test_who_has_no_household_is_told_and_left_out() -> None:
    rows = np.array([0, NO_ROW, 3, 3, NO_ROW], dtype=np.uint32)
    risk = household_risk(np.array([2.0, 1.0, 4.0, 3.0, 1.0]), rows)
    assert (risk.households, risk.likely, risk.outside) == (2, 2, 2)
    assert risk.expected == pytest.approx(0.5 + 1 - 3 / 4 * 2 / 3)
    signed = household_risk(np.array([2.0, 1.0, 4.0, 3.0, 1.0]), np.array([0, -1, 3, 3, -1]))
    assert signed == risk


def test_one_half_is_likely_in_every_order_of_members() -> None:
    """5/6 · 9/10 · 2/3 is one half exactly, and products of rounded numbers are not."""
    for order in ([6, 10, 3], [3, 6, 10], [10, 3, 6]):
        matches = np.array(order, dtype=float)
        risk = household_risk(matches, np.zeros(3, dtype=np.int64))
        assert risk.likely == 1
        assert risk.expected == household_risk(matches[::-1].copy(), np.zeros(3)).expected


def test_only_members_in_the_file_count() -> None:
    """At every step of a ladder, with the matches of that step."""
    valid = (CodeKind.VALID,)
    sex = KeyColumn(name="sex", values=np.array([0, 1, 0, 1, 0, 0]), kinds=valid * 2)
    age = KeyColumn(name="age", values=np.array([0, 1, 2, 1, 2, 2]), kinds=valid * 3)
    households = np.array([0, 0, 1, 1, 2, -1])
    sampled = np.array([1, 1, 0, 1, 0, 1], dtype=bool)
    first, second = (
        step.households for step in ladder_risk([sex, age], sampled, households=households).steps
    )
    assert first is not None
    assert second is not None
    assert (first.households, first.outside) == (2, 1)
    assert first.expected == pytest.approx((1 - 3 / 4 * 1 / 2) + 1 / 2)
    assert second.expected == pytest.approx(1 + 1 / 2)
    assert (first.likely_share, second.mean) == (1.0, 0.75)
