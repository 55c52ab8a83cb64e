"""Every method keeps what it claims on one and the same table, and names a test for each claim."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import sdcensus.methods as methods
from sdcensus.errors import SpecError
from sdcensus.methods.building_blocks import LargeAreasExact
from sdcensus.methods.cell_key import CellKey
from sdcensus.methods.controlled_rounding.random_rounding import ControlledRandomRounding
from sdcensus.methods.controlled_rounding.rounding import ControlledRounding
from sdcensus.methods.light_touch import LightTouch
from sdcensus.methods.method import Method
from sdcensus.methods.per_unit import PerUnitDeviations
from sdcensus.methods.perturbation.schemes import STRENGTHS, strength
from sdcensus.methods.rounding import ConventionalRounding, RandomRounding
from sdcensus.methods.semi_controlled import SemiControlledRounding
from sdcensus.methods.small_cells import SmallCellAdjustment
from sdcensus.methods.small_counts.small_count_rounding import SmallCountRounding
from sdcensus.methods.suppression.method import Suppression
from sdcensus.methods.tabular_adjustment.method import ControlledTabularAdjustment
from sdcensus.methods.threshold import ThresholdRounding
from sdcensus.model.cube.constraints import adds_up
from sdcensus.model.cube.cube import Cube
from sdcensus.model.cube.sparse_cube import SparseCube, assemble
from sdcensus.model.published.claims import SENTENCES, Claims
from sdcensus.model.published.table import SparseTable, Table
from sdcensus.testing.island import SECRET, island, island_cube

METHODS: dict[str, Method] = {
    **{f"cell key, {name}": CellKey(strength(name), SECRET) for name in STRENGTHS},
    "cell key, ascending": CellKey(strength("medium"), lookup="ascending"),
    "cell key, scrambled": CellKey(strength("medium"), SECRET, "scrambled"),
    "cell key, hashed": CellKey(strength("medium"), SECRET, "hashed"),
    "random rounding 3": RandomRounding(base=3),
    "random rounding 5, hashed": RandomRounding(base=5, lookup="hashed", secret=SECRET),
    "conventional rounding": ConventionalRounding(base=5),
    "semi-controlled rounding": SemiControlledRounding(base=3, secret=SECRET),
    "small cell adjustment": SmallCellAdjustment(base=3),
    "per-unit deviations, added": PerUnitDeviations(units=2, secret=SECRET, totals="added"),
    "per-unit deviations, own": PerUnitDeviations(units=2, secret=SECRET, totals="own"),
    "light touch": LightTouch(),
    "suppression": Suppression(3),
    "threshold and rounding": ThresholdRounding(),
    "small count rounding": SmallCountRounding(base=3, secret=SECRET),
    "tabular adjustment": ControlledTabularAdjustment(secret=SECRET),
    "controlled rounding": ControlledRounding(3),
    "controlled random rounding": ControlledRandomRounding(3, secret=SECRET, infeasible="widen"),
    "large areas exact": LargeAreasExact(CellKey(strength("medium"), SECRET), 40),
}
CASES = [pytest.param(method, id=name) for name, method in METHODS.items()]
FOLDER = Path(__file__).parent
#: Claims about a method, not about numbers.
NOT_NUMBERS = {"for_publication"}


def cube() -> Cube:
    return island_cube("area@parish+district", "sex", "age@class", people=150)


def published(method: Method, of: Cube) -> Table:
    table = method.protect(of).table
    assert isinstance(table, Table)
    return table


def claiming(name: str) -> list[Method]:
    found = [method for method in METHODS.values() if getattr(method.claims(), name)]
    assert found, name
    return found


@pytest.mark.parametrize("method", CASES)
def test_every_claim_has_a_test_of_its_name(method: Method) -> None:
    # Rooms of methods have rooms of tests.
    *rooms, module = type(method).__module__.split(".")[2:]
    # What holds of all look-ups by definition is tested at one place.
    files = (Path(*rooms, f"test_{module}.py"), Path("test_definition_keys.py"))
    text = "".join((FOLDER / name).read_text(encoding="utf-8") for name in files)
    tests = re.findall(r"def (test_\w+)", text)
    for claim in set(method.claims().names()) - NOT_NUMBERS:
        assert [name for name in tests if claim in name], f"{module} claims {claim}"


def test_claims_have_sentences() -> None:
    described = {
        "cautions",
        "codes_put_together",
        "grows_empty_cells",
        "shown_are_true",
        "shown_cells_add_up",
    }
    assert set(SENTENCES) == set(Claims.__dataclass_fields__) - described


def test_zeros_kept() -> None:
    of = cube()
    assert (of.count == 0).any()
    for method in claiming("zeros_kept"):
        assert not published(method, of).published[of.count == 0].any(), method


def test_never_negative() -> None:
    for method in claiming("never_negative"):
        assert published(method, cube()).published.min() >= 0, method


def test_blocked_counts_never_appear() -> None:
    of = cube()
    assert np.isin(of.count, [1, 2]).any()
    for method in claiming("blocked_counts_never_appear"):
        assert not np.isin(published(method, of).published, [1, 2]).any(), method


def test_additive_and_only_where_claimed() -> None:
    of = cube()
    for name, method in METHODS.items():
        table = published(method, of)
        if method.claims().additive:
            assert adds_up(table.spec, table.published), name
        elif name.startswith(("cell key", "random rounding")):
            assert not adds_up(table.spec, table.published), name


@pytest.mark.parametrize("method", CASES)
def test_the_order_of_axes_changes_nothing(method: Method) -> None:
    """Also where numbers differ between tables: the same table has one answer."""
    census = island(150)
    first = census.tabulate("area@parish+district", "sex", "age@class")
    second = census.tabulate("age@class", "area@parish+district", "sex")
    assert isinstance(first, Cube)
    assert isinstance(second, Cube)
    one, two = published(method, first), published(method, second)
    assert (one.published == two.published.transpose(1, 2, 0)).all()


def test_consistent_between_tables() -> None:
    census = island(150)
    large = census.tabulate("area@parish+district", "sex", "age@class")
    small = census.tabulate("area@district")
    filtered = census.tabulate("age@class", universe="sex == 1 and area@district == 'D2'")
    assert isinstance(large, Cube)
    assert isinstance(small, Cube)
    assert isinstance(filtered, Cube)
    for method in claiming("consistent"):
        whole = published(method, large)
        for district in ("D0", "D1", "D2", "_T"):
            assert whole.value(area=district) == published(method, small).value(area=district)
        part = published(method, filtered)
        for age in ("c0", "c1", "c2", "_T"):
            for area in ("D2", "P6"):
                assert part.value(age=age) == whole.value(area=area, sex="1", age=age)


@pytest.mark.parametrize("method", CASES)
def test_takes_sparse_or_says_that_it_does_not(method: Method) -> None:
    of = cube()
    base = island_cube("area-total", "sex-total", "age@class-total", people=150)
    filled = base.count.ravel() > 0
    sparse = assemble(
        of.spec,
        of.origin,
        np.flatnonzero(filled).astype(np.uint64),
        {
            "count": base.count.ravel()[filled],
            "key": base.key.ravel()[filled].astype(np.uint64),
        },
        largest_dense=1,
    )
    assert isinstance(sparse, SparseCube)
    if not method.claims().takes_sparse:
        with pytest.raises(SpecError, match="too large to be held whole"):
            method.protect(sparse)
        return
    table = method.protect(sparse).table
    assert isinstance(table, SparseTable)
    dense = np.zeros(of.shape, dtype=np.int64)
    dense[tuple(table.positions())] = table.published
    assert (dense == published(method, of).published).all()


@pytest.mark.parametrize("method", CASES)
def test_a_table_without_axes_and_an_empty_census(method: Method) -> None:
    if not isinstance(method, LargeAreasExact):
        assert published(method, island_cube(people=5)).shape == ()
    nobody = island_cube("area", "sex", people=0)
    values = published(method, nobody)
    assert not values.published.any()


@pytest.mark.parametrize("method", CASES)
def test_weighted_counts_only_by_methods_for_them(method: Method) -> None:
    weighted = island(100).tabulate("area", "sex", measure="weighted")
    assert isinstance(weighted, Cube)
    if method.takes_weights:
        assert published(method, weighted).published.any()
    else:
        with pytest.raises(SpecError, match="protected by the method 'cell-key'"):
            method.protect(weighted)


@pytest.mark.parametrize("method", CASES)
def test_repr_and_provenance_show_no_parameter(method: Method) -> None:
    protected = method.protect(cube())
    names: Callable[[], object] = protected.provenance.to_json
    shown = f"{protected.provenance!r} {names()}"
    assert "rows" not in shown
    assert "secret=" not in repr(method)
    assert len(repr(method)) < 100


def test_every_method_that_is_offered_is_tested_here() -> None:
    steps = {"Additivity", "BuildingBlocks", "Pipeline", "WithholdSparse"}
    steps |= {"Coarsening"}  # its tables have codes of their own: tested in its room
    # Methods for sums and for samples have tables of their own: tested in their rooms.
    for own in ("for_sums", "for_samples"):
        steps |= {name for name in methods.__all__ if getattr(getattr(methods, name), own, False)}
    tested = {type(method).__name__ for method in METHODS.values()}
    assert tested | steps == set(methods.__all__)
