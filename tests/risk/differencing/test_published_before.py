from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sdcensus.errors import SpecError
from sdcensus.model.cube.cube import Cube
from sdcensus.model.cube.sparse_cube import SparseCube
from sdcensus.model.published.table import PublishedTable, SparseTable, Table
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.risk.detection.findings import ConfidentialFindings
from sdcensus.risk.differencing.published_before import differences_with, exempt_differences
from sdcensus.store.registry import Registry
from sdcensus.testing.island import island

CENSUS = island(people=500)


def cube(*by: str, universe: str | None = None) -> Cube:
    made = CENSUS.tabulate(*by, universe=universe)
    assert isinstance(made, Cube)
    return made


def published(*by: str, universe: str | None = None) -> Table:
    made = cube(*by, universe=universe)
    return Table(made.spec, made.count.copy())


def small(counts: Cube, threshold: int) -> list[int]:
    return np.flatnonzero((counts.count >= 1) & (counts.count <= threshold)).tolist()


def test_a_new_table_against_a_registry(tmp_path: Path) -> None:
    registry = Registry.create(tmp_path / "registry")
    registry.add(published("area@parish", "sex", universe="age >= 3"), name="adults")
    registry.add(published("married"), name="status")
    new = cube("area@parish", "sex", universe="age >= 4")
    expected = small(cube("area@parish", "sex", universe="age == 3"), 3)
    told: list[float] = []
    found = differences_with(
        new,
        registry,
        threshold=3,
        tabulate=CENSUS.tabulate,
        progress=lambda stage, done: told.append(done),
    )
    (one,) = found
    assert isinstance(one, ConfidentialFindings)
    assert sorted(one.cells.tolist()) == expected
    assert told == [0.0, 0.5, 1.0]
    # The public sees the same, with published values in place of true counts.
    seen = differences_with(Table(new.spec, new.count.copy()), registry, threshold=3)
    assert [sorted(each.cells.tolist()) for each in seen] == [expected]
    assert not isinstance(seen[0], ConfidentialFindings)
    assert seen[0].sentences(1)[0].startswith("A reader would think: ")


def test_the_cube_itself_counts_earlier_tables_where_it_can() -> None:
    new = cube("area@parish", "age", "sex")
    earlier = [CENSUS.spec("age@class", "sex"), CENSUS.spec("age@half")]
    # The new table shows every age: nothing is left to work out.
    assert differences_with(new, earlier) == ()
    coarse = cube("age@class")
    with pytest.raises(SpecError, match="cannot be counted from"):
        differences_with(coarse, earlier)
    found = differences_with(coarse, earlier, tabulate=CENSUS.tabulate, threshold=10**6)
    halves = cube("age")
    assert {int(value) for each in found for value in each.values} == {
        int(halves.count[3:5].sum()),
        int(halves.count[5:7].sum()),
    }


def test_a_table_is_also_compared_with_itself() -> None:
    both = cube("age@class+half")
    found = differences_with(both, [], threshold=10**6)
    assert len(found) == 1
    assert (
        differences_with(both, [both], threshold=10**6)[0].cells.tolist() == found[0].cells.tolist()
    )


def test_kinds_of_numbers_are_not_mixed() -> None:
    table = published("age@class")
    with pytest.raises(SpecError, match="published values of earlier tables are needed"):
        differences_with(table, [CENSUS.spec("age@half")])
    sparse = SparseTable(CENSUS.spec("age@half"), np.array([0], dtype=np.uint64), np.array([4]))
    with pytest.raises(SpecError, match="too large to be compared"):
        differences_with(table, [PublishedTable("half", sparse)])
    assert differences_with(table, [PublishedTable("half", published("age@half"))]) == (
        differences_with(table, [published("age@half")])
    )

    def huge(spec: TableSpec) -> SparseCube:
        return SparseCube.__new__(SparseCube)

    with pytest.raises(SpecError, match="too large to be compared"):
        differences_with(cube("age@class"), [CENSUS.spec("age@half")], tabulate=huge)


def test_exempt_totals_must_not_differ_by_few_persons() -> None:
    fine = cube("area", "age")
    exempt = [
        CENSUS.spec("area@district", universe="age >= 3"),
        CENSUS.spec("area@parish+district"),
    ]
    rest = cube("area@district", universe="age < 3")
    largest = int(rest.count.max())
    found = exempt_differences(exempt, fine, threshold=largest)
    values = {int(value) for each in found for value in each.values}
    assert values == {int(one) for one in rest.count if one}
    assert exempt_differences(exempt, CENSUS.tabulate, threshold=largest)[0].count == found[0].count
    # Nested areas alone leave nothing that they do not show.
    assert (
        exempt_differences([CENSUS.spec("area@parish"), CENSUS.spec("area@district")], fine) == ()
    )
    with pytest.raises(SpecError, match="cannot be counted from"):
        exempt_differences([CENSUS.spec("sex")], fine)
