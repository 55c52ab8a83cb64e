"""The nosy neighbour: households by the multiset of their members."""

from __future__ import annotations

import itertools

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings, strategies as st

from sdcensus.errors import SpecError
from sdcensus.kernels.cells.tabulate import NO_ROW
from sdcensus.model.release.plan import MissingValues
from sdcensus.model.schema.variable import CodeKind
from sdcensus.risk.records import composition
from sdcensus.risk.records.composition import CompositionRisk, composition_risk
from sdcensus.risk.records.key_column import KeyColumn
from tests.risk.records.plain_uniques import Key, key_values, may_be, plain_uniques

V, MISSING, NA = CodeKind.VALID, CodeKind.NOT_STATED, CodeKind.NOT_APPLICABLE
Mask = npt.NDArray[np.bool_]


def _column(name: str, values: list[int], kinds: tuple[CodeKind, ...]) -> KeyColumn:
    return KeyColumn(name=name, values=np.array(values, dtype=np.int64), kinds=kinds)


def _counts(risk: CompositionRisk) -> tuple[int, ...]:
    return (
        risk.sample_uniques,
        risk.sample_uniques_confounded,
        risk.population_uniques,
        risk.population_uniques_confounded,
        risk.not_anonymous,
    )


def test_households_of_the_same_members_are_alike_in_any_order() -> None:
    """(30 M, 28 F) twice, written both ways; a third with a child; one that nobody lives in."""
    age = _column("age", [30, 28, 28, 30, 30, 28, 1, 70], (V,) * 90)
    sex = _column("sex", [0, 1, 1, 0, 0, 1, 1, 0], (V, V))
    households = np.array([0, 0, 1, 1, 4, 4, 4, NO_ROW], dtype=np.uint32)
    sampled = np.array([True, False, True, False, True])
    risk = composition_risk([age, sex], households, sampled, k=2)
    assert (risk.records, risk.population) == (2, 3)
    assert (risk.empty, risk.outside) == (1, 1)
    assert _counts(risk) == (2, 0, 1, 0, 1)
    assert risk.expected_matches == risk.global_risk == 1.5
    assert risk.members == ("age", "sex")


def test_an_area_that_the_file_keeps_makes_more_of_them_alone() -> None:
    age = _column("age", [30, 30, 30], (V,) * 90)
    area = _column("area", [0, 1, 1], (V, V))
    households, everybody = np.arange(3), np.ones(3, dtype=bool)
    assert composition_risk([age], households, everybody).population_uniques == 0
    risk = composition_risk([age], households, everybody, places=[area])
    assert (risk.population_uniques, risk.places) == (1, ("area",))


def test_size_alone_is_known_where_nothing_else_is() -> None:
    households = np.array([0, 0, 1, 2])
    risk = composition_risk([], households, np.ones(3, dtype=bool))
    assert (risk.population, risk.population_uniques) == (3, 1)


def test_a_member_without_an_age_may_be_any_member() -> None:
    """(30 M, ? F) may be (30 M, 28 F) and (30 M, 31 F), not (30 M, 28 M): half to each."""
    age = _column("age", [30, 28, 30, 31, 30, 28, 30, 90], (*(V,) * 90, MISSING))
    sex = _column("sex", [0, 1, 0, 1, 0, 0, 0, 1], (V, V))
    households = np.arange(8) // 2
    risk = composition_risk([age, sex], households, np.ones(4, dtype=bool))
    # Alone: three complete ones, two of them confounded; the open one may be three.
    assert _counts(risk)[:4] == (3, 2, 3, 2)
    assert risk.global_risk == pytest.approx(2 / 3 + 2 / 3 + 1 + 1 / 3)
    apart = composition_risk(
        [age, sex], households, np.ones(4, dtype=bool), missing=MissingValues.CATEGORY
    )
    assert (apart.sample_uniques, apart.global_risk) == (4, 4)


@st.composite
def _villages(draw: st.DrawFn) -> tuple[list[KeyColumn], list[KeyColumn], list[int], list[bool]]:
    sizes = draw(st.lists(st.integers(0, 4), max_size=12))
    persons = sum(sizes) + 1

    def columns(names: str, records: int, most: int) -> list[KeyColumn]:
        drawn: list[KeyColumn] = []
        for name in names[: draw(st.integers(0, most))]:
            codes = draw(st.lists(st.sampled_from([V, V, MISSING, NA]), min_size=1, max_size=4))
            values = st.lists(st.integers(0, len(codes) - 1), min_size=records, max_size=records)
            drawn.append(_column(name, draw(values), tuple(codes)))
        return drawn

    rows = [household for household, size in enumerate(sizes) for _ in range(size)] + [-1]
    rows = draw(st.permutations(rows))
    sampled = draw(st.lists(st.booleans(), min_size=len(sizes), max_size=len(sizes)))
    return columns("ab", persons, 2), columns("pq", len(sizes), 2), list(rows), sampled


def _household_may_be(gap: Key, cell: Key) -> bool:
    own, others = gap[1], cell[1]
    assert isinstance(own, tuple)
    assert isinstance(others, tuple)
    assert isinstance(gap[0], tuple)
    assert isinstance(cell[0], tuple)
    return (
        len(own) == len(others)
        and may_be(gap[0], cell[0])
        and any(
            all(may_be(first, second) for first, second in zip(own, order, strict=True))
            for order in itertools.permutations(others)
        )
    )


@given(_villages(), st.sampled_from([1, 2, 3, 50]))
@settings(max_examples=300, deadline=None)
def test_the_definitions_hold_for_households(
    village: tuple[list[KeyColumn], list[KeyColumn], list[int], list[bool]], k: int
) -> None:
    """Against all assignments of members, and counts in fractions."""
    members, places, rows, sampled = village
    for missing in MissingValues:
        category = missing is MissingValues.CATEGORY
        risk = composition_risk(
            members,
            np.array(rows),
            np.array(sampled, dtype=bool),
            places=places,
            k=k,
            missing=missing,
        )
        persons = key_values(members, category=category) if members else [()] * len(rows)
        homes = key_values(places, category=category) if places else [()] * len(sampled)
        keys: list[Key] = []
        small: list[Key] = []
        for household, home in enumerate(homes):
            own = [person for person, row in zip(persons, rows, strict=True) if row == household]
            if own:
                keys.append((home, tuple(sorted(own, key=repr))))
                small += keys[-1:] if sampled[household] else []
        plain = plain_uniques(keys, small, k, _household_may_be)
        assert _counts(risk) == (
            plain.sample_uniques,
            plain.sample_uniques_confounded,
            plain.population_uniques,
            plain.population_uniques_confounded,
            plain.not_anonymous,
        )
        assert risk.expected_matches == pytest.approx(float(plain.expected_matches))
        assert risk.global_risk == pytest.approx(float(plain.global_risk))
        assert risk.empty == sum(sampled) - len(small)


def test_members_are_assigned_to_each_other_and_not_taken_twice() -> None:
    """Ten who state nothing, one, or the other thing: greedy assignments would fail."""
    first = _column("a", [0, 2, 0, 0, 1, 2, 1, 0], (V, V, MISSING))
    second = _column("b", [2, 0, 1, 0, 0, 1, 2, 1], (V, V, MISSING))
    # Household 0: (0,?), (?,0). Household 1: (0,1), (0,0): fits as (0,?)=(0,1), (?,0)=(0,0).
    households = np.array([0, 0, 1, 1, 2, 2, 3, 3])
    risk = composition_risk([first, second], households, np.ones(4, dtype=bool))
    # The only complete household is number 1; 0 fits it, 2 and 3 do not.
    assert risk.sample_uniques == 3
    assert risk.sample_uniques_confounded == 1


def test_very_large_households_take_missing_as_a_value_and_are_told() -> None:
    size = composition.MOST_MEMBERS + 1
    age = _column("age", ([0] * size + [1] + [0] * (size - 1)), (V, MISSING))
    households = np.repeat([0, 1], size)
    risk = composition_risk([age], households, np.ones(2, dtype=bool))
    assert (risk.as_category, risk.sample_uniques, risk.sample_uniques_confounded) == (1, 2, 0)


def test_what_cannot_be_is_refused_and_nothing_is_shown() -> None:
    age = _column("age", [0, 0], (V,))
    with pytest.raises(SpecError, match="household that the census does not have"):
        composition_risk([age], np.array([0, 5]), np.ones(2, dtype=bool))
    with pytest.raises(SpecError, match="1 or more"):
        composition_risk([age], np.array([0, 1]), np.ones(2, dtype=bool), k=0)
    risk = composition_risk([age], np.array([0, 1]), np.ones(2, dtype=bool))
    assert repr(risk) == "<CompositionRisk: confidential>"
