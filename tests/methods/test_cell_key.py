"""The cell key method: each claim, weights, exemptions, zeros, and what it refuses."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from sdcensus.errors import Refused, SecretError, SpecError
from sdcensus.methods.cell_key import CellKey, Zeros
from sdcensus.methods.listed_cells import ListedCells
from sdcensus.model.cube.cube import Accumulators, Cube, Origin, finish
from sdcensus.model.cube.sparse_cube import SparseCube, assemble
from sdcensus.model.perturbation.design import DesignRow, PerturbationDesign
from sdcensus.model.perturbation.table import DeviationRow, Lookup, PerturbationTable, Tail
from sdcensus.model.published.table import SparseTable, Table
from sdcensus.model.schema.schema import KeySpace
from sdcensus.model.secret import Purpose, Secret
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.testing.island import (
    SECRET,
    WEIGHT_DECIMALS,
    island,
    island_cube,
    island_schema,
    island_store,
)

Int64 = npt.NDArray[np.int64]

STAY = DesignRow((0,), (1.0,))
#: Up and down by at most two, unbiased from 1 on.
SMALL = PerturbationDesign(
    rows=(
        STAY,
        DesignRow((-1, 0, 1, 2), (0.36648551, 0.36648551, 0.16757247, 0.09945651)),
        DesignRow((-2, -1, 0, 1, 2), (1 / 15, 7 / 30, 0.4, 7 / 30, 1 / 15)),
    ),
    tail=Tail(2),
    biased=frozenset({1}),  # eight decimals
)
#: Never publishes one and two; deviations of three are looked up by definition by default.
NO_ONES = PerturbationDesign(
    rows=(
        STAY,
        DesignRow((-1, 2), (2 / 3, 1 / 3)),
        DesignRow((-2, 1), (1 / 3, 2 / 3)),
        DesignRow((-3, 0, 3), (0.2, 0.6, 0.2)),
        DesignRow((-1, 0, 1), (0.25, 0.5, 0.25)),
        DesignRow((-2, 0, 2), (0.25, 0.5, 0.25)),
        DesignRow((-3, -1, 0, 1, 3), (0.1, 0.2, 0.4, 0.2, 0.1)),
    ),
    tail=Tail(6),
    blocked_up_to=2,
)
LOOKUPS = list(Lookup)


def protect(cube: Cube, method: CellKey) -> Table:
    table = method.protect(cube).table
    assert isinstance(table, Table)
    return table


def published_of(
    count: int, method: CellKey, *, cells: int = 60_000, key_space: KeySpace | None = None
) -> Int64:
    """What is published for many cells of one count, with keys drawn at random."""
    space = key_space or KeySpace()
    keys = np.random.default_rng(count).integers(0, space.modulus, cells, dtype=np.uint64)
    values = Accumulators(np.full(cells, count, np.int64), keys.astype(np.uint32))
    spec = TableSpec.build(island_schema(), [])
    listed = ListedCells(np.zeros(cells, dtype=np.uint64))
    return method.publish(values, spec, Origin(space, SECRET.id), listed).published


# ------------------------------------------------------------------ published examples


def test_the_example_of_the_handbook() -> None:
    """Handbook on statistical disclosure control: keys .9, .3, .6 add to .8, and 3 becomes 4."""
    row = DeviationRow((-1, 0, 1), (3, 4, 3))
    table = PerturbationTable(10, (DeviationRow((0,), (10,)), *[row] * 3), Tail(3))
    spec = TableSpec.build(island_schema(), [])
    sums = {"count": np.array(3), "key": np.array(9 + 3 + 6, dtype=np.uint64)}
    cube = finish(spec, Origin(KeySpace(10)), sums)
    assert int(cube.key) == 8
    assert int(protect(cube, CellKey(table)).published) == 4


def test_the_hashed_look_up_uses_the_published_draws() -> None:
    """Secret 00..1f, version 1: the cell key 1888058353 draws 2909567951."""
    method = CellKey(SMALL, SECRET, Lookup.HASHED)
    audit = method.protect(island_cube("sex")).audit
    assert audit.effective_keys is not None
    keys = np.array([0, 1888058353, 4294967295], dtype=np.uint32)
    numbers = np.arange(3, dtype=np.uint64)
    assert audit.effective_keys(keys, numbers).tolist() == [3771097146, 2909567951, 3572026319]


# ------------------------------------------------------------------ claims


def test_unbiased_exactly_from_the_table() -> None:
    table = NO_ONES.table()
    assert CellKey(NO_ONES, SECRET).claims().unbiased
    for count in (3, 4, 5, 6, 1_000):
        assert table.bias(count) == 0
    for count in (1, 2):  # two deviations that 2**32 keys cannot balance
        assert abs(Fraction(table.bias(count))) < Fraction(3, 2**32)


def test_unbiased_is_not_claimed_for_a_biased_row() -> None:
    claims = CellKey(SMALL, SECRET).claims()
    assert not claims.unbiased
    assert claims.cautions


@pytest.mark.parametrize("lookup", LOOKUPS)
@pytest.mark.parametrize("design", [SMALL, NO_ONES], ids=["small", "no ones"])
def test_bounded_never_negative_and_zeros_kept(lookup: Lookup, design: PerturbationDesign) -> None:
    cube = island_cube("area@parish+district", "sex", "age", people=300)
    table = protect(cube, CellKey(design, SECRET, lookup))
    deviation = table.published - cube.count
    assert abs(deviation).max() == design.max_deviation
    assert table.published.min() >= 0
    assert not table.published[cube.count == 0].any()
    assert (cube.count == 0).any()


@pytest.mark.parametrize("lookup", LOOKUPS)
def test_blocked_counts_never_appear(lookup: Lookup) -> None:
    cube = island_cube("area@parish+district", "sex", "age", people=300)
    method = CellKey(NO_ONES, SECRET, lookup)
    assert method.claims().blocked_counts_never_appear
    published = protect(cube, method).published
    assert not np.isin(published, [1, 2]).any()
    assert np.isin(cube.count, [1, 2]).any()


@pytest.mark.parametrize("lookup", LOOKUPS)
@pytest.mark.parametrize("count", [1, 2, 3, 9])
@pytest.mark.parametrize("modulus", [2**32, 10**8, 65_521])
def test_distribution_is_the_design_and_not_a_near_miss(
    lookup: Lookup, count: int, modulus: int
) -> None:
    published = published_of(count, CellKey(NO_ONES, SECRET, lookup), key_space=KeySpace(modulus))
    values = NO_ONES.targets(count)
    expected = NO_ONES.probabilities(count) * published.size
    observed = np.array([(published == value).sum() for value in values])
    assert observed.sum() == published.size

    def distance(claimed: npt.NDArray[np.float64]) -> float:
        return float(((observed - claimed) ** 2 / claimed).sum())

    moved = np.zeros(values.size)
    moved[[0, -1]] = 0.02 * published.size, -0.02 * published.size
    assert distance(expected) < 30
    assert distance(expected + moved) > 60


@pytest.mark.parametrize("lookup", LOOKUPS)
def test_consistent_however_the_cell_is_reached(tmp_path: Path, lookup: Lookup) -> None:
    """Another axis order, another spelling of a filter, a subtotal with one child, an engine."""
    census = island_store(tmp_path / "island.store", 2_000)
    method = CellKey(NO_ONES, SECRET, lookup)

    def value(*by: str, where: str | None = None, engine: str = "memory", **codes: str) -> int:
        cube = census.tabulate(*by, universe=where, engine=engine)
        assert isinstance(cube, Cube)
        found = protect(cube, method).value(**codes)
        assert found is not None
        return found

    women = {
        value("area@parish+district", "sex", area="D2", sex="1"),
        value("sex", "area@parish", area="P6", sex="1"),
        value("area@district", where="sex == 1", area="D2"),
        value("area", "sex", where="not (sex == 0) and area@district in ('D2', 'D1')", area="P6"),
        value("age", "sex", where="area == 'P6'", sex="1"),
        value(where="area == 'P6' and sex != 0"),
        value("area@district", "sex", "age@class", engine="duckdb", area="D2", sex="1"),
    }
    assert len(women) == 1
    rolled = census.tabulate("area@parish", "sex", "age@class").rollup("sex", "area@district")
    assert isinstance(rolled, Cube)
    assert protect(rolled, method).value(area="D2", sex="1") in women


def test_consistent_over_a_sparse_cube_and_takes_sparse() -> None:
    dense = island_cube("area@parish+district", "sex", "age", people=300)
    base = island_cube("area-total", "sex-total", "age-total", people=300)
    sparse = assemble(
        dense.spec,
        dense.origin,
        np.arange(base.count.size, dtype=np.uint64)[base.count.ravel() > 0],
        {
            "count": base.count.ravel()[base.count.ravel() > 0],
            "key": base.key.ravel()[base.count.ravel() > 0].astype(np.uint64),
        },
        largest_dense=1,
    )
    assert isinstance(sparse, SparseCube)
    method = CellKey(NO_ONES, SECRET)
    whole = protect(dense, method)
    table = method.protect(sparse).table
    assert isinstance(table, SparseTable)
    filled = np.zeros(dense.shape, dtype=np.int64)
    filled[tuple(table.positions())] = table.published
    assert (filled == whole.published).all()
    assert table.value(sex="1", area="D1") == whole.value(sex="1", area="D1")


def test_another_version_or_secret_is_another_series() -> None:
    cube = island_cube("area", "sex", "age", people=3_000)
    other = Secret(bytes(range(1, 33)))
    keyless = Cube(cube.spec, Origin(KeySpace()), cube.values)
    first = protect(cube, CellKey(NO_ONES, SECRET)).published
    assert (first == protect(cube, CellKey(NO_ONES, SECRET)).published).all()
    assert (first != protect(keyless, CellKey(NO_ONES, other)).published).any()


@pytest.mark.parametrize("modulus", [2**32, 10**8, 4096])
@pytest.mark.parametrize("lookup", LOOKUPS)
def test_every_look_up_draws_all_numbers_anew_with_another_version(
    lookup: Lookup, modulus: int
) -> None:
    """Deviations of two versions are as unrelated as those of two cells."""
    of = island(6_000, key_space=KeySpace(modulus)).tabulate("area", "sex", "age", "married")
    assert isinstance(of, Cube)
    first, second, again = (
        (protect(of, CellKey(NO_ONES, SECRET, lookup, key_version=version)).published - of.count)
        for version in (1, 2, 2)
    )
    assert (second == again).all()
    large = of.count > 20
    together = np.corrcoef(first[large], second[large])[0, 1]
    assert abs(together) < 4.5 / np.sqrt(large.sum())


def test_the_part_of_the_secret_for_look_ups_is_enough() -> None:
    """A web server holds no more than that."""
    cube = island_cube("area", "sex")
    part = SECRET.sub_secret(Purpose.LOOKUP, 1)
    whole = CellKey(NO_ONES, SECRET).protect(cube)
    served = CellKey(NO_ONES, part).protect(cube)
    assert served.table == whole.table
    assert served.provenance == whole.provenance


# ------------------------------------------------------------------ weights, exemptions, zeros


def test_weighted_counts_are_whole_numbers_of_the_perturbed_count() -> None:
    census = island(600)
    weighted = census.tabulate("area", "sex", measure="weighted")
    counted = census.tabulate("area", "sex")
    assert isinstance(weighted, Cube)
    assert isinstance(counted, Cube)
    assert weighted.weight is not None
    method = CellKey(NO_ONES, SECRET)
    perturbed = protect(counted, method).published
    published = protect(weighted, method).published
    for count, noisy, weight, value in zip(
        counted.count.flat, perturbed.flat, weighted.weight.flat, published.flat, strict=True
    ):
        exact = Fraction(int(noisy) * int(weight), int(count)) if count else Fraction(0)
        assert value == round(exact / 10**WEIGHT_DECIMALS)


def test_exempt_cells_are_exact_in_every_table() -> None:
    census = island(3_000)
    districts = census.spec("area@district-total")
    method = CellKey(NO_ONES, SECRET, exempt=[districts])
    plain = CellKey(NO_ONES, SECRET)
    for by, where in [
        (("area@parish+district", "sex"), None),
        (("sex", "area@district"), None),
        (("sex", "age@class"), "area@district == 'D1'"),
    ]:
        cube = census.tabulate(*by, universe=where)
        assert isinstance(cube, Cube)
        table, other = protect(cube, method), protect(cube, plain)
        for cell, mine, theirs in zip(
            cube.cells(), table.published.flat, other.published.flat, strict=True
        ):
            codes = dict(
                zip([axis.variable.name for axis in cube.spec.axes], cell.codes, strict=True)
            )
            area, rest = codes.pop("area", "D1" if where else ""), set(codes.values())
            exempt = rest <= {"_T"} and area in ("D0", "D1", "D2", "P6")
            assert mine == (cell.count if exempt else theirs)
    assert not method.claims().blocked_counts_never_appear


def test_an_exempt_cell_may_be_all_there_is() -> None:
    census = island(3_000)
    method = CellKey(NO_ONES, SECRET, exempt=census.spec("area@district"))
    cube = census.tabulate(universe="area@district == 'D1'")
    assert isinstance(cube, Cube)
    assert protect(cube, method).value() == int(cube.count)


def test_an_indicator_counts_the_records_that_have_it() -> None:
    """Counting married people by a condition or by an axis is one number."""
    census = island(900)
    method = CellKey(NO_ONES, SECRET)
    by_axis = census.tabulate("area", "married")
    by_condition = census.tabulate("area", universe="married == 1")
    assert isinstance(by_axis, Cube)
    assert isinstance(by_condition, Cube)
    assert (
        protect(by_axis, method).published[:, 1] == protect(by_condition, method).published
    ).all()


PERTURBED_ZEROS = NO_ONES.with_perturbed_zeros({3: 0.3})


def test_zeros_are_perturbed_on_demand_but_not_structural_ones() -> None:
    census = island(200)
    method = CellKey(PERTURBED_ZEROS, SECRET, zeros="perturb", schema=census.schema)
    cube = census.tabulate("area", "age", "married", "sex")
    assert isinstance(cube, Cube)
    published = protect(cube, method).published
    empty = cube.count == 0
    assert set(np.unique(published[empty])) == {0, 3}
    grown = (published[empty] == 3).mean()
    assert 0.1 < grown < 0.35
    assert not published[:, :3, 1].any()
    claims = method.claims()
    assert (claims.zeros_kept, claims.unbiased, claims.takes_sparse) == (False, False, False)
    kept = protect(cube, CellKey(PERTURBED_ZEROS, SECRET)).published
    assert not kept[empty].any()


@pytest.mark.parametrize("lookup", ["hashed", "definition"])
def test_an_empty_cell_has_one_number_however_it_is_reached(lookup: str) -> None:
    census = island(40)
    method = CellKey(PERTURBED_ZEROS, SECRET, lookup, zeros=Zeros.PERTURB, schema=census.schema)

    def table(*by: str, where: str | None = None) -> Table:
        cube = census.tabulate(*by, universe=where)
        assert isinstance(cube, Cube)
        return protect(cube, method)

    by_axes = table("area@parish+district", "age", "sex")
    by_filter = table("age", "area@district", where="sex == 1")
    turned = table("sex", "age", "area@parish")
    for age in map(str, range(10)):
        assert by_axes.value(area="D2", age=age, sex="1") == by_filter.value(area="D2", age=age)
        assert by_axes.value(area="P6", age=age, sex="0") == turned.value(
            area="P6", age=age, sex="0"
        )
        assert by_axes.value(area="D2", age=age, sex="0") == turned.value(
            area="P6", age=age, sex="0"
        )


# ------------------------------------------------------------------ what is refused


def test_sums_of_continuous_variables_are_refused() -> None:
    cube = island_cube("sex")
    sums = (("income", np.zeros(cube.shape, np.int64)),)
    values = type(cube.values)(cube.count, cube.key, sums=sums)
    with pytest.raises(Refused, match="sums of 'income' stand beside what the table shows"):
        CellKey(SMALL).protect(Cube(cube.spec, cube.origin, values))


def test_a_table_of_another_key_space_is_refused() -> None:
    table = SMALL.table(256)
    with pytest.raises(SpecError, match=r"keys below 256.*'definition'.*--to plain"):
        CellKey(table).protect(island_cube("sex"))
    for lookup in ("hashed", "definition"):
        assert protect(island_cube("sex"), CellKey(table, SECRET, lookup)).shape == (3,)


def test_a_secret_that_changed_since_the_store_was_loaded_is_refused() -> None:
    other = Secret(bytes(range(1, 33)))
    with pytest.raises(SecretError, match=f"secret {SECRET.id}.*at hand is {other.id}"):
        CellKey(NO_ONES, other).protect(island_cube("sex"))


def test_a_look_up_without_its_secret_is_refused_at_once() -> None:
    for perturbation in (NO_ONES, NO_ONES.table()):
        with pytest.raises(SecretError, match="'definition' needs the office secret"):
            CellKey(perturbation)
    with pytest.raises(SecretError, match="Version 2 of the keys needs the office secret"):
        CellKey(SMALL, key_version=2)
    with pytest.raises(SecretError, match="'scrambled' needs the office secret"):
        CellKey(SMALL, lookup="scrambled")


def test_wrong_arguments_are_refused_in_words() -> None:
    with pytest.raises(SpecError, match=r"There is no look-up 'hash'\. Did you mean 'hashed'"):
        CellKey(SMALL, SECRET, "hash")
    with pytest.raises(SpecError, match="treatment of zeros"):
        CellKey(SMALL, zeros="drop")
    with pytest.raises(SpecError, match=r"perturbation\.design"):
        CellKey("ptable.csv")  # type: ignore[arg-type]
    with pytest.raises(SecretError, match="not its file"):
        CellKey(SMALL, "office.secret")  # type: ignore[arg-type]
    with pytest.raises(SpecError, match="leaves 0 as it is"):
        CellKey(SMALL, SECRET, zeros="perturb", schema=island_schema())
    with pytest.raises(SpecError, match="impossible"):
        CellKey(PERTURBED_ZEROS, SECRET, zeros="perturb")
    with pytest.raises(SpecError, match="version"):
        CellKey(SMALL, key_version=-1)
    for exempt in ("area", ["area"], 3):
        with pytest.raises(SpecError, match="given as tables"):
            CellKey(SMALL, exempt=exempt)  # type: ignore[arg-type]
    with pytest.raises(SpecError, match="protects a cube"):
        CellKey(SMALL).protect(island(10))  # type: ignore[arg-type]
    weighted = island(10).tabulate("sex", measure="weighted")
    perturbs = CellKey(PERTURBED_ZEROS, SECRET, zeros="perturb", schema=island_schema())
    with pytest.raises(SpecError, match="weighted table"):
        perturbs.protect(weighted)


def test_default_look_ups() -> None:
    """By definition for deviations of three and more, files included; ascending below."""
    cube = island_cube("area", "sex", "age", people=3_000)

    def published(method: CellKey) -> list[int]:
        return protect(cube, method).published.ravel().tolist()

    named = published(CellKey(NO_ONES, SECRET, "definition"))
    assert published(CellKey(NO_ONES, SECRET)) == named
    assert published(CellKey(NO_ONES.table(), SECRET)) == named
    assert published(CellKey(SMALL)) == published(CellKey(SMALL, SECRET, "ascending"))
    assert len({tuple(published(CellKey(NO_ONES, SECRET, one))) for one in LOOKUPS}) == len(LOOKUPS)


def test_it_shows_no_parameter() -> None:
    method = CellKey(NO_ONES, SECRET)
    protected = method.protect(island_cube("sex"))
    assert repr(method) == "<CellKey: confidential parameters>"
    assert repr(protected.table) == "<Table persons by sex: 3>"
    shown = str(protected.provenance.to_json())
    assert "cell-key" in shown
    assert "max_deviation" not in shown
    assert len(protected.provenance.fingerprint) == 32
    assert CellKey(SMALL).protect(island_cube("sex")).provenance.fingerprint == ""
