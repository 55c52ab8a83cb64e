"""Attacks count persons: who is found in many cells is one person."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from sdcensus.attack import Assumptions, AttackResult, GroupClaims, run_attacks
from sdcensus.attack.groups.persons import different_persons
from sdcensus.model.published.table import PublishedTable
from sdcensus.session.attack.score import score
from sdcensus.session.census.census import Census
from tests.attack.made import cell_key, combined, exactly, people_with, publish

PEOPLE, AREAS, ANSWERS = 240, 12, 5


@pytest.fixture(scope="module")
def columns() -> dict[str, npt.NDArray[np.int64]]:
    draw = np.random.default_rng(11)
    answers = {f"q{at}": draw.integers(0, 4, PEOPLE) for at in range(ANSWERS)}
    return {"area": draw.integers(0, AREAS, PEOPLE), "sex": draw.integers(0, 2, PEOPLE)} | answers


@pytest.fixture(scope="module")
def census(columns: dict[str, npt.NDArray[np.int64]]) -> Census:
    keys = np.random.default_rng(3).integers(0, 1 << 32, PEOPLE, dtype=np.uint64)
    sizes = {"area": AREAS, "sex": 2, **{f"q{at}": 4 for at in range(ANSWERS)}}
    return people_with(columns, keys.astype(np.uint32), sizes)


def claims_of(tables: list[PublishedTable], name: str) -> AttackResult:
    (result,) = run_attacks(tables, Assumptions(group_limit=0.5), attacks=[name]).results
    return result


def behind(columns: dict[str, npt.NDArray[np.int64]], claim: GroupClaims) -> list[list[int]]:
    """For each group of some claims who is in its cell, by going through the records."""
    places = np.unravel_index(claim.cells, claim.spec.shape)
    found = []
    for at in range(claim.count):
        here = np.ones(PEOPLE, dtype=bool)
        for axis, positions in zip(claim.spec.axes, places, strict=True):
            code = axis.codes[int(positions[at])]
            if not code.is_total:
                leaf = [one.code for one in axis.variable.codes].index(code.code)
                here &= columns[axis.variable.name] == leaf
        found.append(np.flatnonzero(here).tolist())
    return found


def test_persons_are_counted_and_not_the_cells_that_find_them(
    columns: dict[str, npt.NDArray[np.int64]], census: Census
) -> None:
    tables = exactly(census, *combined(census, 4, "area"))
    result = claims_of(tables, "patterns")
    groups = [(claim, behind(columns, claim)) for claim in result.groups]
    singles = [
        (persons, size)
        for claim, found in groups
        for persons, size in zip(found, claim.sizes.tolist(), strict=True)
        if size == 1
    ]
    assert all(len(persons) == 1 for persons, _ in singles)
    right = {persons[0] for persons, _ in singles}
    assert len(singles) > 3 * len(right) > 300  # each is found in many cells
    counted = different_persons(result.groups)
    assert counted.least == counted.most == len(right) == result.figures["single persons"]
    assert f"{len(right):,} different persons, with" in result.sentences[0]


def test_claims_that_extend_each_other_are_one_person(
    columns: dict[str, npt.NDArray[np.int64]], census: Census
) -> None:
    """A cell of one person of a table, and every finer cell of the same person."""
    alone = next(
        at
        for at in range(PEOPLE)
        if ((columns["area"] == columns["area"][at]) & (columns["q0"] == columns["q0"][at])).sum()
        == 1
    )
    claims = []
    for by in (("area", "q0"), ("area", "q0", "q1"), ("area", "q0", "q1", "q2")):
        (table,) = exactly(census, by)
        spec = table.table.spec
        cell = np.ravel_multi_index([int(columns[name][alone]) for name in by], spec.shape)
        one = np.ones(1, dtype=np.int64)
        claims.append(GroupClaims("made", table.name, spec, one * cell, one, np.ones(1)))
    counted = different_persons(claims)
    assert (counted.least, counted.most, counted.attributes) == (1, 1, 4.0)
    # Two cells that do not lie in one another: nothing tells that it is the same person.
    (other,) = exactly(census, ("q3", "q4"))
    spec = other.table.spec
    cell = np.ravel_multi_index([int(columns[name][alone]) for name in ("q3", "q4")], spec.shape)
    one = np.ones(1, dtype=np.int64)
    claims.append(GroupClaims("made", other.name, spec, one * cell, one, np.ones(1)))
    assert different_persons(claims).most == 2
    assert different_persons(()).most == 0


def test_the_scorer_counts_persons_by_the_records(
    columns: dict[str, npt.NDArray[np.int64]], census: Census
) -> None:
    tables = publish(census, cell_key("CP3(EU)", "definition"), *combined(census, 4, "area"))
    report = run_attacks(tables, Assumptions(group_limit=0.5), attacks=["zero-patterns"])
    (result,) = report.results
    # Sets of codes are more than there are people: they were told as so many persons once.
    persons_told, least = (
        result.figures[name] for name in ("single persons", "single persons at least")
    )
    assert isinstance(persons_told, int)
    assert isinstance(least, int)
    assert 100 < least <= persons_told <= PEOPLE
    right: set[int] = set()
    claimed = 0
    for claim in result.groups:
        for persons, size in zip(behind(columns, claim), claim.sizes.tolist(), strict=True):
            claimed += size == 1
            if size == len(persons) == 1:
                right.add(persons[0])
    found = score(report, tables, census)
    assert found.group("zero-patterns", 1).claims == claimed > 20
    assert found.group("zero-patterns", 1).persons == len(right) > 5
    assert found.group("zero-patterns", 2).persons is None
