"""Somebody who has the file alone tries to find the areas that it does not tell, and fails.

Every attack is tried on two files. In the control records stand and are numbered as in the store,
with the weights of the census: there each attack succeeds, so that it is worth something. The other
is the file as it is published. The score of an attack is in standard deviations from what chance
gives; the areas are known to the test only.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from sdcensus.microdata.release.areas import sorted_areas
from sdcensus.microdata.release.publication import published
from sdcensus.microdata.release.records import FileRecords, records_of
from sdcensus.microdata.release.sample import drawn
from sdcensus.model.progress import no_progress
from sdcensus.model.release.file_variable import FileVariable
from sdcensus.model.release.release_file import ColumnKind, ReleaseFile, ReleaseTable
from sdcensus.model.schema.variable import Entity
from sdcensus.model.secret import Purpose
from sdcensus.store.census_store import CensusStore
from tests.microdata.release.designs import design_of, draws_of, plan_of
from tests.microdata.release.valley import H, P, valley

Integers = npt.NDArray[Any]
SECRETS = range(8)
PLAN = plan_of("1/2", large_above=8, institutions="kind == 2")


@dataclass(frozen=True)
class Target:
    """What an attacker has, and what only the test knows."""

    table: ReleaseTable
    area: Integers

    @property
    def weights(self) -> Integers:
        kinds = {column.kind: column for column in self.table.columns}
        return kinds[ColumnKind.WEIGHT].values

    def numbers(self, name: str) -> Integers:
        return self.table.column(name).values


def with_areas(records: FileRecords, level: str, entity: Entity) -> FileRecords:
    """The same records with their areas beside them, to know where each row of the file lies."""
    geography = records.store.schema.geography
    assert geography is not None
    area = FileVariable(name="truth", source=geography, entity=entity, level=geography.level(level))
    leaves = records.store.column(entity, geography)[records.sample.rows[entity]]
    design = replace(records.design, variables=(*records.design.variables, area))
    codes = {**records.codes, "truth": area.level.group_array[leaves]}
    return replace(records, design=design, codes=codes)


def target_of(file: ReleaseFile, entity: Entity) -> Target:
    table = file.table(entity)
    columns = tuple(column for column in table.columns if column.name != "truth")
    return Target(ReleaseTable(entity=entity, columns=columns), table.column("truth").values)


def records_under(store: CensusStore, secret: int) -> FileRecords:
    design = design_of(store.schema, PLAN)
    sample = drawn(store, design, PLAN, draws_of(secret), no_progress)
    return records_of(store, design, sample)


def published_target(store: CensusStore, secret: int, level: str, entity: Entity) -> Target:
    records = with_areas(records_under(store, secret), level, entity)
    return target_of(published(records, PLAN, draws_of(secret, Purpose.COPY)), entity)


def control_target(store: CensusStore, secret: int, level: str, entity: Entity) -> Target:
    """The file as somebody would write it who does not think of order and weights."""
    records = with_areas(records_under(store, secret), level, entity)
    rows = records.sample.rows[entity]
    holder = records.holders[P, H] if entity is P else np.arange(rows.size)
    order = np.lexsort((holder, sorted_areas(store, entity)[rows]))
    first = np.append(True, np.diff(holder[order]) != 0)
    starts = np.flatnonzero(first)
    weight = store.values(entity, store.schema.variable("correction"))
    plain: dict[str, Integers] = {
        "weight": weight[rows][order],
        "household_number": np.cumsum(first),
        "person_number": np.arange(rows.size) - starts[np.cumsum(first) - 1] + 1,
    }
    own = [variable.name for variable in records.design.of(entity) if not variable.amounts]
    plain |= {name: records.codes[name][order] for name in own}
    columns = tuple(
        replace(column, values=plain.get(column.name, column.values), absent=None)
        for column in published(records, PLAN, draws_of(secret, Purpose.COPY)).table(entity).columns
    )
    table = ReleaseTable(entity=entity, columns=columns)
    hidden = tuple(column for column in columns if column.name != "truth")
    return Target(replace(table, columns=hidden), table.column("truth").values)


# ---------------------------------------------------------------- attacks: a score each


def permuted(statistic: Callable[[Integers], float], area: Integers) -> float:
    """How far a statistic is from what it is when areas are dealt out at random."""
    draw = np.random.default_rng(1)
    chance = [statistic(draw.permutation(area)) for _ in range(100)]
    spread = max(float(np.std(chance)), 1e-9)
    return (statistic(area) - float(np.mean(chance))) / spread


def neighbours_are_alike(target: Target) -> float:
    """Rows that follow each other lie in the same area."""
    return permuted(lambda area: float((area[1:] == area[:-1]).mean()), target.area)


def nearest_rows_tell(target: Target) -> float:
    """The commonest area of the ten rows around a row is its own area."""

    def right(area: Integers) -> float:
        around = [np.roll(area, step) for step in (*range(-5, 0), *range(1, 6))]
        votes = np.stack([(np.stack(around) == each).sum(axis=0) for each in np.unique(area)])
        return float((np.unique(area)[votes.argmax(axis=0)] == area).mean())

    return permuted(right, target.area)


def numbers_ascend_with_areas(target: Target) -> float:
    """The place of a row, or its number, has a rank correlation with the area."""
    numbers = target.numbers("household_number").astype(float)
    return abs(permuted(lambda area: float(np.corrcoef(numbers, area)[0, 1]), target.area))


def numbers_have_a_pattern(target: Target) -> float:
    """Numbers that are alike after division lie in the same areas: blocks of numbers for areas."""
    numbers = target.numbers("household_number")
    block = numbers // max(int(numbers.max()) // 12, 1)

    def together(area: Integers) -> float:
        counts = np.zeros((int(block.max()) + 1, int(area.max()) + 1))
        np.add.at(counts, (block, area), 1)
        return float((counts**2).sum())

    return permuted(together, target.area)


def weights_tell(target: Target) -> float:
    """The commonest area among all rows of one weight is the row's own area."""
    _, place = np.unique(target.weights, return_inverse=True)

    def right(area: Integers) -> float:
        counts = np.zeros((int(place.max()) + 1, int(area.max()) + 1))
        np.add.at(counts, (place, area), 1)
        return float(counts.max(axis=1).sum() / area.size)

    return permuted(right, target.area)


ORDER_ATTACKS = (
    neighbours_are_alike,
    nearest_rows_tell,
    numbers_ascend_with_areas,
    numbers_have_a_pattern,
)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> CensusStore:
    return valley(tmp_path_factory.mktemp("valley") / "store", households=500)


@pytest.mark.parametrize("level", ["district", "parish"])
def test_order_numbers_and_weights_of_households_tell_no_area(
    store: CensusStore, level: str
) -> None:
    control = control_target(store, 1, level, H)
    targets = [published_target(store, secret, level, H) for secret in SECRETS]
    for attack in (*ORDER_ATTACKS, weights_tell):
        assert attack(control) > 6, attack.__name__
        scores = [attack(target) for target in targets]
        assert max(scores) < 4.5, attack.__name__
        assert abs(np.mean(scores)) < 1.6, attack.__name__


def test_rows_of_persons_tell_no_area_beyond_their_household(store: CensusStore) -> None:
    control = heads(control_target(store, 1, "parish", P))
    targets = [heads(published_target(store, secret, "parish", P)) for secret in SECRETS]
    for attack in (*ORDER_ATTACKS, weights_tell):
        assert attack(control) > 6, attack.__name__
        scores = [attack(target) for target in targets]
        assert max(scores) < 4.5, attack.__name__
        assert abs(np.mean(scores)) < 1.6, attack.__name__


def heads(target: Target) -> Target:
    """One row of each household: its members lie in one area, which is no news."""
    first = target.numbers("person_number") == 1
    columns = tuple(replace(each, values=each.values[first]) for each in target.table.columns)
    return Target(ReleaseTable(entity=P, columns=columns), target.area[first])


def test_without_the_truth_the_order_shows_no_stretches_either(store: CensusStore) -> None:
    # Rooms differ by parish: in the order of areas, rows that follow each other are alike.
    def alike(target: Target) -> float:
        rooms = target.table.column("rooms").values
        return permuted(lambda values: float((values[1:] == values[:-1]).mean()), rooms)

    assert alike(control_target(store, 1, "parish", H)) > 6
    scores = [alike(published_target(store, secret, "parish", H)) for secret in SECRETS]
    assert max(scores) < 4.5


def test_numbers_have_no_gaps_and_lists_are_those_of_the_schema(store: CensusStore) -> None:
    for secret in SECRETS:
        records = records_under(store, secret)
        file = published(records, PLAN, draws_of(secret, Purpose.COPY))
        households, persons = file.table(H), file.table(P)
        numbers = households.column("household_number").values
        assert numbers.tolist() == [*range(1, households.rows + 1)]
        named = persons.column("household_number").values
        assert (np.diff(named[named > 0]) >= 0).all()
        for table in file.tables:
            for column in table.columns:
                if column.kind is ColumnKind.CODES:
                    # Whatever occurs in the sample, and however often: the list of the schema.
                    assert column.codes == store.schema.variable(column.name).codes
            own = [c.name for c in table.columns if c.kind in {ColumnKind.CODES, ColumnKind.AMOUNT}]
            listed = [each.name for each in store.schema.variables if each.name in own]
            assert own == listed


def test_the_size_of_the_file_is_the_same_wherever_people_live(tmp_path: Path) -> None:
    # The number of households is the fraction of all of them, rounded: no area decides it.
    store = valley(tmp_path / "valley", households=300)
    plan = plan_of("1/4")
    design = design_of(store.schema, plan)
    sizes = {
        drawn(store, design, plan, draws_of(secret), no_progress).rows[H].size
        for secret in range(20)
    }
    assert sizes == {75}
