"""Suppression of amounts that belong to owners, of whom some agreed to be shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from sdcensus.methods.suppression.method import Suppression
from sdcensus.model.cube.primary_rules import PrimaryRules
from sdcensus.risk.magnitude.primary_rules import sensitive_cells
from sdcensus.session.protect.table import protect_table

owners = pytest.importorskip("tests.engine.test_owners")

#: In A two parcels of one owner, 40 each, are more than half of 150; taken alone neither is.
PARCELS = [
    *[("1", "A", "1", "7", "40"), ("2", "A", "1", "7", "40"), ("3", "A", "2", "8", "30")],
    *[("4", "A", "2", "9", "20"), ("5", "A", "2", "10", "20"), ("6", "B", "2", "11", "30")],
    *[("7", "B", "2", "12", "30"), ("8", "B", "2", "13", "30"), ("9", "B", "2", "14", "30")],
]
WAIVED = f'{owners.OWNED}\nwaiver = "consent == 1"'


@pytest.mark.parametrize(
    ("settings", "closed"),
    [(owners.OWNED, [True, True, False]), ("", [False] * 3), (WAIVED, [False] * 3)],
)
def test_parcels_of_one_owner_count_as_one_unless_she_agreed(
    settings: str, closed: list[bool], tmp_path: Path
) -> None:
    census = owners.loaded(tmp_path, settings, PARCELS)
    rules = PrimaryRules(fewest=3, dominance=(1, 50), percent=60)
    cube = census.tabulate("area", measure="sum(land)")
    assert sensitive_cells(cube, rules).mask.tolist() == [closed[0], False, False]
    method = Suppression(3, dominance="1, 50", percent_rule=60)
    table = protect_table(census, cube.spec, method).table.whole()
    flags = [0] * 3 if table.flags is None else table.flags.tolist()
    assert [flag != 0 for flag in flags] == closed
