"""What an intruder is taken to know is true of every method, and as much as the method says."""

from __future__ import annotations

import numpy as np
import pytest

from sdcensus.methods.perturbation.schemes import scheme
from sdcensus.methods.rounding import RandomRounding
from sdcensus.methods.small_cells import SmallCellAdjustment
from sdcensus.methods.suppression.method import Suppression
from sdcensus.model.cube.constraints import interior, is_interior
from sdcensus.model.cube.cube import Cube
from sdcensus.model.inference.knowledge import Knowledge
from sdcensus.model.published.table import Table
from sdcensus.risk.feasibility import feasibility
from sdcensus.session.assess.knowledge import (
    Intruder,
    intervals_of,
    intruder_of,
    noise_of,
    variance_of,
)
from sdcensus.testing.island import island_cube
from tests.session.assess.assessed_methods import METHODS, cell_key, method_of, protected_by


def made(name: str) -> tuple[Cube, Table, Intruder]:
    protected = protected_by(name)
    cube, table = protected.audit.cube, protected.table
    assert isinstance(cube, Cube)
    assert isinstance(table, Table)
    return cube, table, intruder_of(cube, table, method_of(name))


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("exact", [False, True], ids=["shuttle", "linear"])
def test_the_truth_fits_what_an_intruder_is_taken_to_know(name: str, exact: bool) -> None:
    cube, _, intruder = made(name)
    left_out: list[str] = []
    found = intervals_of(cube, intruder, exact=exact, left_out=left_out)
    assert left_out == []
    assert found
    for one in found:
        assert one.intervals.holds(cube.count)
    # Whoever knows more narrows more down.
    shares = [one.disclosed for one in found]
    assert shares == sorted(shares)


@pytest.mark.parametrize(
    ("name", "bound", "zeros", "withheld"),
    [
        ("cell key", 3, True, None),
        ("cell key CP1", 1, True, None),
        ("cell key, zeros grow", 3, False, None),
        ("random rounding", 2, True, None),
        ("random rounding to 7", 6, True, None),
        ("semi-controlled", 2, True, None),
        ("conventional", 2, True, None),
        ("conventional even", 2, True, None),
        ("small cells", 2, True, None),
        ("threshold", 2, False, 8),
        ("threshold, zeros shown", 1, True, 5),
        ("light touch", 1, True, None),
        ("withheld", 3, False, 6),
        ("rounded and withheld", 2, False, 6),
    ],
)
def test_the_bound_is_that_of_the_method(
    name: str, bound: int, zeros: bool, withheld: int | None
) -> None:
    known = made(name)[2].known
    if name == "cell key":
        bound = scheme("CP3(EU)").max_deviation
    elif name in ("cell key, zeros grow", "withheld"):
        bound = scheme("CP3").max_deviation
    assert known == Knowledge(max_deviation=bound, zeros_known=zeros, withheld_below=withheld)


@pytest.mark.parametrize("name", ["per unit", "per unit, own totals", "added up"])
def test_without_a_bound_the_largest_change_is_taken(name: str) -> None:
    cube, table, intruder = made(name)
    inside = np.ones(cube.shape, dtype=bool)
    if name == "per unit":  # its totals are sums, and tell nothing more
        inside = is_interior(cube.spec)
    largest = int(np.abs(table.published - cube.count)[inside].max())
    assert intruder.known.max_deviation >= largest
    if name != "added up":
        assert intruder.known.max_deviation == largest
        assert any("names no largest change" in note for note in intruder.notes)


@pytest.mark.parametrize(
    ("name", "most"), [("threshold", 9), ("threshold, zeros shown", 5), ("withheld", 8)]
)
def test_what_is_known_of_withheld_counts_is_said(name: str, most: int) -> None:
    """Below the threshold of 10 or 6; published values below 6, changed by 3 at most."""
    cube, table, intruder = made(name)
    assert f"Withheld counts are known to be {most} at most." in intruder.notes
    assert table.flags is not None
    assert int(cube.count[table.flags != 0].max()) <= most


def test_totals_that_are_sums_tell_nothing_more() -> None:
    """With the whole table, the bound of totals would have to be larger, and hide more."""
    cube, table, intruder = made("light touch")
    assert intruder.table.flags is not None
    assert not intruder.table.flags[interior(cube.spec)].any()
    assert intruder.table.flags[~is_interior(cube.spec)].all()
    found = intervals_of(cube, intruder, exact=False, left_out=[])[1]
    largest = int(np.abs(table.published - cube.count).max())
    assert largest > 1
    weaker = feasibility(cube, table, Knowledge(max_deviation=largest), margins=False)
    assert found.disclosed > weaker.disclosed


def test_exempt_cells_are_known_and_not_given_away() -> None:
    cube, table, intruder = made("cell key, exempt")
    assert intruder.exact is not None
    assert intruder.exempt is not None
    assert (table.published == cube.count)[intruder.exempt].all()
    # Seven parishes in three districts; one district is its only parish.
    assert int(intruder.exempt.sum()) == 3 + 1 + 1
    [*_, found] = intervals_of(cube, intruder, exact=False, left_out=[])
    assert found.cells == int(((cube.count > 0) & ~intruder.exempt).sum())
    without = feasibility(cube, table, intruder.known)
    width = found.intervals.upper - found.intervals.lower
    assert (width <= without.intervals.upper - without.intervals.lower).all()
    assert (width[intruder.exempt] == 0).all()


def test_cells_that_must_be_empty_are_known_where_others_grow() -> None:
    cube = island_cube("age", "married")
    table = method_of("cell key, zeros grow").protect(cube).table
    assert isinstance(table, Table)
    intruder = intruder_of(cube, table, method_of("cell key, zeros grow"))
    assert intruder.exempt is None
    assert intruder.exact is not None
    ages = {code.code for code in cube.spec.axis("age").codes if code.code in "012"}
    assert ages == {"0", "1", "2"}
    assert int(intruder.exact.sum()) == 3
    assert not cube.count[intruder.exact].any()


def test_large_areas_are_known_to_be_exact_and_counted_as_given_away() -> None:
    cube, table, intruder = made("large areas exact")
    assert intruder.exempt is None
    assert intruder.exact is not None
    assert (table.published == cube.count)[intruder.exact].all()
    [*_, found] = intervals_of(cube, intruder, exact=False, left_out=[])
    assert found.disclosed >= int((intruder.exact & (cube.count > 0)).sum()) > 0


@pytest.mark.parametrize("base", [2, 3, 5])
@pytest.mark.parametrize("more", [0, 1, 4])
def test_small_cells_that_were_adjusted_are_traced_back_exactly(base: int, more: int) -> None:
    """By trying every count: which of them can lead to which value."""
    method = SmallCellAdjustment(base, threshold=base + more)
    cube = island_cube("area", "age")
    table = method.protect(cube).table
    assert isinstance(table, Table)
    intruder = intruder_of(cube, table, method)
    assert intruder.whole is not None
    behind: dict[int, set[int]] = {}
    for count in range(40):
        stays = count % base == 0 or count >= base + more
        down = count // base * base
        for value in {count} if stays else {down, down + base}:
            behind.setdefault(value, set()).add(count)
    values = np.array([one for one in sorted(behind) if one < 30], dtype=np.int64)
    lower, upper = intruder.whole.bounds_of_values(values)
    for value, low, high in zip(values.tolist(), lower.tolist(), upper.tolist(), strict=True):
        expected = behind[value] - ({0} if value else set())
        assert (low, high) == (min(expected), max(expected))


def test_the_variance_of_averages() -> None:
    """Of random rounding, the mean of r (base - r): 4/3 for 3, 4 for 5."""
    assert variance_of(RandomRounding(3), None) == pytest.approx(4 / 3)
    assert variance_of(RandomRounding(5), None) == pytest.approx(4)
    assert variance_of(cell_key("CP3"), None) == pytest.approx(scheme("CP3").variance(50), rel=1e-6)
    assert variance_of(None, scheme("CP3")) == variance_of(cell_key("CP3"), None)
    for name in ("light touch", "per unit", "added up", "threshold", "small cells"):
        assert variance_of(method_of(name), None) is None
    assert variance_of(None, None) is None


def test_the_noise_behind_a_method() -> None:
    assert noise_of(method_of("withheld")) is cell_key("CP3").perturbation
    assert noise_of(method_of("large areas exact")) is cell_key("CP3").perturbation
    assert noise_of(method_of("random rounding")) is None
    assert noise_of(None, scheme("CP1")) is scheme("CP1")


def test_what_is_shown_on_purpose_is_not_given_away() -> None:
    """Suppression shows true counts: an intruder looks for what it closes, and finds none of it."""
    cube = island_cube("area", "age@class", people=60)
    method = Suppression(3)
    table = method.protect(cube).table.held_for("a test")
    assert table.flags is not None
    intruder = intruder_of(cube, table, method)
    assert intruder.exempt is None
    assert intruder.shown is not None
    assert (intruder.shown == (table.flags == 0)).all()
    closed = int(((table.flags != 0) & (cube.count > 0)).sum())
    measured = intervals_of(cube, intruder, exact=True, left_out=[])
    assert {each.cells for each in measured} == {closed}
    assert {each.disclosed for each in measured} == {0}


def test_a_closed_cell_that_can_be_computed_is_given_away() -> None:
    """The same method, with one closed cell opened again by mistake: others follow from it."""
    cube = island_cube("area", "age@class", people=60)
    method = Suppression(3)
    table = method.protect(cube).table.held_for("a test")
    assert table.flags is not None
    small = (cube.count > 0) & (cube.count < 3)
    flags = np.where(small, table.flags, 0).astype(np.uint8)
    opened = Table(table.spec, np.where(flags, 0, cube.count), flags)
    measured = intervals_of(cube, intruder_of(cube, opened, method), exact=True, left_out=[])
    assert measured[-1].disclosed > 0
