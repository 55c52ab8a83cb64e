"""The table of methods counts what it says, and leaves no method out."""

from __future__ import annotations

import numpy as np
import pytest

from scripts import claims
from scripts.guideline_claims import JUDGEMENTS, Measured, guidelines, measured
from sdcensus.model.method.registry import Part, built_in, methods_for_counts
from sdcensus.model.published.table import Mark, Table
from sdcensus.session.study.every_method import BEFORE
from sdcensus.testing.island import island

ISLAND = island(80)
CUBES = [
    ISLAND.tabulate("area@district", "sex").held_for("a test"),
    ISLAND.tabulate("area@district", "married").held_for("a test"),
]


def test_every_method_is_judged_and_stands_on_the_page() -> None:
    names = {
        *methods_for_counts(),
        *(name for name in BEFORE if name in built_in(Part.PRE_TABULAR)),
    }
    assert names <= set(JUDGEMENTS)
    page = (claims.DOCS / "methods" / "choosing.md").read_text(encoding="utf-8")
    for name in names:
        assert f"| [{name}](" in page


def test_the_truth_perturbs_nothing_and_adds_up() -> None:
    counts = [cube.count for cube in CUBES]
    result = measured(counts, [Table(cube.spec, cube.count.copy()) for cube in CUBES], 0.1)
    assert (result.changed, result.mean_change, result.withheld) == (0, 0, 0)
    assert (result.same, result.adds_up) == (1, 1)
    assert (result.largest, result.largest_gap) == (0, 0)


def test_one_changed_and_one_withheld_cell_are_counted() -> None:
    counts = [cube.count for cube in CUBES]
    changed = counts[0].copy()
    changed[0, 2] += 7  # a district, both sexes: it stands in the other table too
    flags = np.zeros(changed.shape, dtype=np.uint8)
    flags[1, 0] = Mark.WITHHELD
    changed[1, 0] = 0
    tables = [Table(CUBES[0].spec, changed, flags), Table(CUBES[1].spec, counts[1].copy())]
    result = measured(counts, tables, 0.1)
    cells = sum(int((count > 0).sum()) for count in counts)
    assert result.withheld == pytest.approx(1 / cells)
    assert result.changed == pytest.approx(1 / (cells - 1))
    assert result.same == pytest.approx(3 / 4)  # three districts and all of them
    assert (result.largest, result.largest_gap) == (7, 7)
    assert result.adds_up < 1


def test_ranges_and_judgements_are_written_in_one_table() -> None:
    low = Measured(
        changed=0.1,
        mean_change=0.5,
        withheld=0.0,
        same=1.0,
        adds_up=0.2,
        largest=3,
        largest_gap=8,
        small=0.1,
        small_true=0.5,
        seconds=0.1,
    )
    text = guidelines([{"cell-key": low}, {"cell-key": low, "safe": "It cannot."}])
    (page,) = text.values()
    assert "[cell-key](cell-key.md)" in page
    assert "10 % of cells, 0.50 on average" in page
    assert "cannot do these tables" in page
