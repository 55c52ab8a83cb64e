from __future__ import annotations

import itertools
import pickle

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, strategies as st

from sdcensus.errors import Refused, SpecError
from sdcensus.model.cube.cube import Cube
from sdcensus.model.published.table import Table
from sdcensus.model.schema.variable import Code, Entity, Hierarchy, Level, Role, Variable
from sdcensus.model.spec.axis import make_axis
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.model.spec.universe import EVERYTHING, restrict
from sdcensus.model.text import Text
from sdcensus.risk.detection.findings import ConfidentialFindings, Findings
from sdcensus.risk.differencing.differences import difference, differences_between
from sdcensus.risk.differencing.elimination import eliminate
from sdcensus.testing.island import island
from sdcensus.testing.printed_tables import (
    labels_of,
    printed_cube,
    printed_spec,
    printed_variable,
)

SEX = printed_variable("sex", ("M", "F"))
#: Four wards in two parishes and, in another way, in two constituencies.
WARD = Variable(
    name="ward",
    entity=Entity.PERSON,
    codes=tuple(Code(f"W{at}", Text.of(f"Ward {at}")) for at in range(4)),
    role=Role.GEOGRAPHY,
    label=Text.of("Ward"),
    hierarchies=(
        Hierarchy("p", (Level("parish", (Code("P0", Text.of("Kent")), Code("P1")), (0, 0, 1, 1)),)),
        Hierarchy(
            "c", (Level("constituency", (Code("C0", Text.of("East")), Code("C1")), (0, 0, 0, 1)),)
        ),
    ),
)
FINE = printed_spec(WARD, SEX)


def at_level(level: str) -> TableSpec:
    ward = make_axis(WARD, [WARD.level(level)], total=True)
    return TableSpec(of=Entity.PERSON, axes=(ward, FINE.axes[1]), name=level)


def counted(spec: TableSpec, counts: list[int]) -> Cube:
    """A table of wards at a coarser level, from counts by ward and sex."""
    fine = printed_cube(FINE, counts)
    by = [axis.name for axis in spec.axes]
    made = fine.rollup(*by)
    return Cube(spec, made.origin, made.values)


def test_constituencies_against_parishes_isolate_a_ward() -> None:
    counts = [40, 50, 60, 70, 1, 9, 80, 90]  # one man in ward 2
    parishes, constituencies = (
        counted(at_level("parish"), counts),
        counted(at_level("constituency"), counts),
    )
    found = differences_between(parishes, constituencies)
    # East less Kent is ward 2; so is P1 less C1.
    assert [one.spec.name for one in found] == ["parish", "constituency"]
    assert [one.values.tolist() for one in found] == [[1], [1]]
    assert found[1].sentences() == (
        "'constituency' and 'parish' together show that there is one person with Sex 'M' and Ward:"
        " Ward 2.",
    )
    assert found[1].scope.show("en").startswith("From the true counts of these tables together:")
    assert found[1].sentences(1, "es")[0].startswith("«constituency» y «parish» juntos muestran")
    assert all(isinstance(one, ConfidentialFindings) for one in found)
    # Both levels in one table do the same.
    ward = make_axis(WARD, [WARD.level("parish"), WARD.level("constituency")], total=True)
    both = TableSpec(of=Entity.PERSON, axes=(ward, FINE.axes[1]))
    together = counted(both, counts)
    (within,) = differences_between(together, together)
    assert set(within.values.tolist()) == {1}
    # With the wards themselves there is nothing left to work out.
    wards = counted(printed_spec(WARD, SEX), counts)
    assert not differences_between(wards, parishes)


def test_age_bands_that_differ_by_a_year() -> None:
    ages = tuple(Code(str(at), Text.of(str(at)), lower=at, upper=at) for at in range(60, 70))
    bands = [
        Level("to64", (Code("60-64"), Code("65+")), (0,) * 5 + (1,) * 5),
        Level("to65", (Code("60-65"), Code("66+")), (0,) * 6 + (1,) * 4),
    ]
    age = Variable(
        name="age",
        entity=Entity.PERSON,
        codes=ages,
        hierarchies=tuple(Hierarchy(band.name, (band,)) for band in bands),
        label=Text.of("Age"),
    )
    fine = printed_cube(printed_spec(age, SEX), [5, 6] * 5 + [2, 30] + [7, 8] * 4)
    first, second = fine.rollup("age@to64", "sex"), fine.rollup("age@to65", "sex")
    found = differences_between(first, second)
    texts = [text for one in found for text in one.sentences()]
    assert len(texts) == 2
    assert all("two persons with Sex 'M' and Age: 65." in text for text in texts)


@given(
    st.lists(st.integers(0, 4), min_size=20, max_size=20),
    st.sampled_from(["parish", "constituency"]),
)
def test_differences_are_true_counts_of_sets_that_no_cell_shows(
    counts: list[int], level: str
) -> None:
    first, second = (
        counted(at_level("parish"), counts[:8]),
        counted(at_level("constituency"), counts[:8]),
    )
    by_ward = np.array(counts[:8]).reshape(4, 2)
    by_sex = np.concatenate([by_ward, by_ward.sum(axis=1, keepdims=True)], axis=1)[2]
    expected = sorted(int(one) for one in by_sex if 1 <= one <= 2)  # ward 2 alone is isolated
    for one in differences_between(first, second):
        assert sorted(one.values.tolist()) == expected
    assert bool(differences_between(first, second)) == bool(expected)


def test_nested_conditions_isolate_who_is_in_one_only() -> None:
    census = island(people=500)
    first = census.tabulate("area@parish", "sex", universe="age >= 3")
    second = census.tabulate("area@parish", "sex", universe="age >= 4")
    rest = census.tabulate("area@parish", "sex", universe="age == 3")
    assert isinstance(first, Cube)
    assert isinstance(second, Cube)
    found = difference(first, second, threshold=3)
    expected = np.flatnonzero((rest.count >= 1) & (rest.count <= 3))  # type: ignore[union-attr]
    assert sorted(found.cells.tolist()) == expected.tolist()
    assert found.count > 0
    # The smaller table first, or the general way, makes no difference.
    assert difference(second, first, threshold=3).cells.tolist() == found.cells.tolist()
    (general,) = differences_between(first, second, threshold=3)
    assert sorted(general.cells.tolist()) == expected.tolist()
    assert "Age: 3" in general.sentences(1)[0]


def test_tables_on_other_axes_with_a_condition() -> None:
    census = island(people=500)
    first = census.tabulate("area@district", "sex")
    second = census.tabulate("area@parish", "sex", "married", universe="age < 9")
    rest = census.tabulate("area@district", "sex", universe="age == 9")
    assert isinstance(first, Cube)
    assert isinstance(second, Cube)
    (found,) = differences_between(first, second, threshold=5)
    expected = np.flatnonzero((rest.count >= 1) & (rest.count <= 5))  # type: ignore[union-attr]
    assert sorted(found.cells.tolist()) == expected.tolist()


def test_two_editions_of_one_table() -> None:
    spec = printed_spec(SEX, name="2021")
    before, after = printed_cube(spec, [10, 20]), printed_cube(spec, [11, 20])
    found = difference(after, before)
    assert labels_of(spec, found.cells) == {("M",), ("Total",)}
    assert not difference(before, after)


def test_the_order_of_axes_and_codes_is_no_matter() -> None:
    age = printed_variable("age", ("young", "old"))
    turned = printed_variable("age", ("old", "young"))
    first = printed_cube(printed_spec(SEX, age), [[5, 6], [7, 8]])
    second = printed_cube(printed_spec(turned, SEX), [[6, 8], [4, 7]])
    found = difference(first, second)
    assert labels_of(first.spec, found.cells) == {
        ("M", "young"),
        ("M", "Total"),
        ("Total", "young"),
        ("Total", "Total"),
    }


def test_withheld_cells_are_not_subtracted() -> None:
    spec = printed_spec(SEX)
    flags = np.array([1, 0, 0], dtype=np.uint8)
    whole = Table(spec, np.array([6, 8, 14]))
    part = Table(spec, np.array([0, 7, 12]), flags)
    assert labels_of(spec, difference(whole, part).cells) == {("F",), ("Total",)}
    assert labels_of(spec, difference(Table(spec, np.array([0, 8, 14]), flags), part).cells) == {
        ("F",),
        ("Total",),
    }


def test_what_cannot_be_compared_is_refused() -> None:
    census = island(people=50)
    cube = census.tabulate("sex", universe="age >= 3")
    other = census.tabulate("sex", universe="age < 3")
    assert isinstance(cube, Cube)
    table = Table(cube.spec, cube.count.copy())
    with pytest.raises(SpecError, match="Neither of"):
        difference(cube, other)
    with pytest.raises(SpecError, match="two cubes or between two published"):
        difference(cube, table)
    with pytest.raises(SpecError, match="two cubes or two published"):
        differences_between(cube, table)
    with pytest.raises(SpecError, match="do not show the same codes"):
        difference(census.tabulate("sex"), census.tabulate("age"))
    with pytest.raises(SpecError, match="do not show the same codes"):
        difference(census.tabulate("age@class"), census.tabulate("age@half"))
    with pytest.raises(SpecError, match="whole number"):
        difference(cube, cube, threshold=0)


def only(a: tuple[int, ...], b: tuple[int, ...], name: str) -> TableSpec:
    """A table of one number: who has one of these codes of both variables."""
    universe = EVERYTHING
    for variable, codes in ((A, a), (B, b)):
        universe = restrict(universe, variable, np.isin(np.arange(3), codes))
    return printed_spec(name=name, universe=universe)


A, B = printed_variable("a", ("0", "1", "2")), printed_variable("b", ("0", "1", "2"))


def test_elimination_finds_what_pairs_of_tables_do_not() -> None:
    """Whoever has the second code of both: a square less two sides, and the corner again."""
    everything = printed_cube(printed_spec(A, B), [[40, 50, 9], [60, 1, 9], [9, 9, 9]])
    specs = [
        only((0, 1), (0, 1), "square"),
        only((0,), (0, 1), "left"),
        only((0, 1), (0,), "low"),
        only((0,), (0,), "corner"),
    ]
    cubes = [
        printed_cube(spec, [count]) for spec, count in zip(specs, (151, 90, 100, 40), strict=True)
    ]
    for left, right in itertools.combinations(cubes, 2):
        assert not differences_between(left, right)
    found = eliminate(specs, everything)
    assert found.values.tolist() == [1]
    assert found.coefficients.tolist() == [[1, -1, -1, 1]]
    assert found.sentences() == (
        "4 cells of 'square', 'left', 'low' and 'corner' isolate one person with A: 1 and B: 1.",
    )
    assert found.sentences(language="es")[0].startswith("4 celdas de «square»")
    assert repr(found) == "<Isolated by 4 tables: confidential>"
    with pytest.raises(Refused):
        pickle.dumps(found)
    assert eliminate(specs[:3], everything).count == 0  # nothing without the corner


@given(st.lists(st.integers(0, 3), min_size=12, max_size=12), st.integers(0, 2))
def test_elimination_reports_true_sets_only(counts: list[int], which: int) -> None:
    a = printed_variable("a", ("0", "1", "2"))
    b = printed_variable("b", ("0", "1"))
    c = printed_variable("c", ("0", "1"))
    cube = printed_cube(printed_spec(a, b, c), counts)
    some = restrict(EVERYTHING, a, np.array([True, True, False]))
    sets = [
        [printed_spec(a, b), printed_spec(b, c), printed_spec(a, universe=some)],
        [printed_spec(a, b), printed_spec(c, universe=some)],
        [printed_spec(b, c), printed_spec(b, c, universe=some)],
    ][which]
    found = eliminate(sets, cube, threshold=3)
    inner = np.array(counts).reshape(3, 2, 2)
    for at in range(found.count):
        words = found.atoms.words(found.sets[at])
        assert words is not None
        index = {variable.name: leaves for variable, leaves in words}
        chosen = inner
        for axis, name in enumerate(("a", "b", "c")):
            if name in index:
                chosen = np.compress(index[name], chosen, axis=axis)
        assert chosen.sum() == found.values[at]
    if which == 2:  # who has the third code of a, by b and c, and at the totals of these
        rest = with_totals(inner[2])
        assert found.count <= ((rest >= 1) & (rest <= 3)).sum()
        if (rest[:2, :2] == 1).any():
            assert found.count


def with_totals(inner: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    rows = np.concatenate([inner, inner.sum(axis=0, keepdims=True)])
    return np.concatenate([rows, rows.sum(axis=1, keepdims=True)], axis=1)


def test_elimination_of_large_systems_is_refused() -> None:
    census = island(people=50)
    long = printed_variable("long", [str(at) for at in range(1600)])
    with pytest.raises(SpecError, match="at most 1,500"):
        eliminate([printed_spec(long)], printed_cube(printed_spec(long), [1] * 1600))
    with pytest.raises(SpecError, match="no table to take apart"):
        eliminate([], printed_cube(printed_spec(long), [1] * 1600))
    with pytest.raises(SpecError, match="too coarse"):
        eliminate([census.spec("age")], census.tabulate("age@half"))  # type: ignore[arg-type]
    with pytest.raises(SpecError, match="a table of all records is needed"):
        eliminate([census.spec("age")], census.tabulate("sex"))  # type: ignore[arg-type]


def test_findings_hold_what_they_say() -> None:
    counts = [40, 50, 60, 70, 1, 9, 80, 90]
    (first, _) = differences_between(
        counted(at_level("parish"), counts), counted(at_level("constituency"), counts)
    )
    assert isinstance(first, Findings)
    assert first.axes.tolist() == [0]
    assert first.mask().sum() == 1
