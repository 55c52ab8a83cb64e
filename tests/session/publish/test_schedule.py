"""Which tables are counted together, what that takes, and what comes of the cells."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from sdcensus.errors import SpecError
from sdcensus.model.quantities import bytes_text, parse_bytes
from sdcensus.model.schema.variable import Code, Entity, Hierarchy, Level, Role, Variable
from sdcensus.model.spec.axis import make_axis, parse_axis
from sdcensus.model.spec.table_spec import Measure, TableSpec
from sdcensus.model.spec.universe import EVERYTHING, restrict
from sdcensus.session.publish.schedule import PROCESS_BYTES, Schedule, schedule

P = Entity.PERSON
GB = 10**9


def variable(name: str, size: int, *groups: int, role: Role | None = None) -> Variable:
    """A variable whose levels put so many neighbouring leaves together."""
    levels = []
    for width in groups:
        codes = tuple(Code(f"g{width}_{at}") for at in range(-(-size // width)))
        levels.append(Level(f"by{width}", codes, tuple(at // width for at in range(size))))
    codes = tuple(Code(f"c{at}") for at in range(size))
    trees = tuple(Hierarchy(level.name, (level,)) for level in levels)
    return Variable(name=name, entity=P, codes=codes, hierarchies=trees, role=role)


VARIABLES = {
    one.name: one
    for one in (
        variable("area", 400, 10, 100, role=Role.GEOGRAPHY),
        variable("sex", 2),
        variable("age", 100, 5, 7, 20),
        variable("a", 12),
        variable("b", 12),
        variable("c", 200),
        variable("d", 200),
    )
}


def spec(*by: str, **options: object) -> TableSpec:
    axes = tuple(parse_axis(text, VARIABLES.__getitem__) for text in by)
    return TableSpec(of=P, axes=axes, **options)  # type: ignore[arg-type]


def made(
    *specs: TableSpec, rows: int = 17_500_000, memory: int = 4 * GB, threads: int = 2
) -> Schedule:
    return schedule(specs, rows=lambda of: rows, memory=memory, threads=threads)


def test_every_table_comes_of_exactly_one_scan_that_has_its_leaves() -> None:
    tables = [
        spec("area@by10", "sex", "age@by5"),
        spec("area@by100", "age@by7+by20"),
        spec("sex", "a", "b"),
        spec("area", "sex"),
        spec("age", "a"),
        spec(),
    ]
    plan = made(*tables)
    assert sorted(at for scan in plan.scans for at in scan.tables) == list(range(len(tables)))
    assert len(plan.scans) < len(tables)
    for scan in plan.scans:
        for at in scan.tables:
            for axis in tables[at].axes:
                fine = scan.spec.axis(axis.variable.name).base
                pairs = set(zip(fine.tolist(), axis.base.tolist(), strict=True))
                assert len(pairs) == len(set(fine.tolist()))


def test_a_coarser_table_needs_no_scan() -> None:
    plan = made(
        spec("area@by100", "sex"),
        spec("area@by10", "sex", "age@by5", "a"),
        spec("age@by20"),
        spec("sex", "a-total"),
    )
    (scan,) = plan.scans
    assert scan.tables == (0, 1, 2, 3)
    assert scan.spec.base_cells == 40 * 2 * 20 * 12


def test_levels_that_do_not_nest_share_their_common_refinement() -> None:
    plan = made(spec("age@by5"), spec("age@by7"))
    (scan,) = plan.scans
    by_five, by_seven = (np.arange(100) // width for width in (5, 7))
    cuts = {tuple(one) for one in np.stack([by_five, by_seven]).T.tolist()}
    assert scan.spec.base_shape == (len(cuts),)


def test_few_records_are_gone_through_again_rather_than_many_cells() -> None:
    apart = [spec("area@by10", "a", "b"), spec("area@by10", "c")]
    assert len(made(*apart, rows=100_000).scans) == 2
    assert len(made(*apart, rows=17_500_000).scans) == 1


def test_a_slow_engine_makes_more_tables_share_a_scan() -> None:
    tables = [spec("area@by10", "a", "age@by5"), spec("c", "sex")]
    fast = schedule(tables, rows=lambda of: 50_000, memory=4 * GB, threads=2)
    slow = schedule(tables, rows=lambda of: 50_000, memory=4 * GB, threads=2, slower=500)
    assert len(slow.scans) < len(fast.scans)


def test_other_units_universes_and_measures_never_share() -> None:
    inside = restrict(EVERYTHING, VARIABLES["age"], np.arange(100) >= 15)
    household = variable("sex", 2)
    other = TableSpec(
        of=Entity.HOUSEHOLD, axes=(make_axis(household, [household.level()], total=True),)
    )
    plan = made(
        spec("sex"),
        spec("sex", universe=inside),
        spec("sex", measure=Measure.WEIGHTED, weight_decimals=2),
        other,
    )
    assert sorted(scan.tables for scan in plan.scans) == [(0,), (1,), (2,), (3,)]


def test_variables_with_the_same_leaves_and_other_hierarchies_share_a_scan() -> None:
    again = variable("age", 100, 25)
    axis = make_axis(again, [again.level("by25")], total=True)
    plan = made(spec("age@by5"), TableSpec(of=P, axes=(axis,)))
    assert len(plan.scans) == 1
    assert plan.scans[0].spec.base_shape == (20,)


def test_other_code_lists_under_the_same_name_are_refused() -> None:
    other = variable("age", 99)
    axis = make_axis(other, [other.level()], total=True)
    with pytest.raises(SpecError, match="different code lists for 'age'"):
        made(spec("age"), TableSpec(of=P, axes=(axis,)))


def test_memory_bounds_workers_and_shared_scans() -> None:
    tables = [spec("area", "age", "a", "b"), spec("area", "age", "a"), spec("c", "d", "a", "b")]
    roomy = made(*tables, memory=20 * GB)
    tight = made(*tables, memory=GB * 3 // 2)
    assert roomy.workers == 2
    assert tight.workers == 1
    assert tight.peak_bytes < roomy.peak_bytes <= 20 * GB
    for plan in (roomy, tight):
        assert plan.needed_bytes >= PROCESS_BYTES
        for scan in plan.scans:
            if not scan.direct:
                assert scan.bytes <= plan.memory / (2 * plan.threads)


def test_too_little_memory_is_refused_with_what_it_takes() -> None:
    plan = made(spec("area", "age", "a", "b", name="large"), memory=GB // 2)
    with pytest.raises(SpecError, match=r"500.0 MB\) is too small.*'large'.*Allow more memory"):
        plan.check_memory()
    made(spec("sex"), memory=GB // 2).check_memory()
    with pytest.raises(SpecError, match="at least one processor"):
        made(spec("sex"), threads=0)


def test_a_grid_too_large_to_hold_has_a_scan_of_its_own() -> None:
    plan = made(spec("area", "age", "c", "d"), spec("area", "sex"), rows=1_000_000)
    assert sorted(scan.tables for scan in plan.scans) == [(0,), (1,)]
    assert plan.peak_bytes < GB


def test_estimates_grow_with_records_and_with_cells() -> None:
    few, many = (made(spec("area", "age"), rows=rows) for rows in (10**6, 10**7))
    assert few.seconds < many.seconds < 20 * few.seconds
    assert made(spec("area", "age", "a")).seconds > made(spec("area", "age")).seconds
    assert made(spec("area", "age")).cells == 401 * 101


def test_unknown_numbers_of_records_and_no_tables_at_all() -> None:
    plan = schedule([spec("sex")], rows=lambda of: None, memory=GB, threads=1)
    assert plan.columns_bytes == 0
    empty = schedule([], rows=lambda of: 5, memory=GB, threads=4)
    assert (empty.scans, empty.cells, empty.seconds) == ((), 0, 0)


@given(
    st.lists(
        st.tuples(st.permutations(sorted(VARIABLES)), st.integers(0, 3)), min_size=1, max_size=6
    ),
    st.sampled_from((0, 100, 10**6, 10**8)),
)
def test_schedules_of_any_tables_are_whole_and_repeatable(
    drawn: list[tuple[list[str], int]], rows: int
) -> None:
    tables = [spec(*names[:size]) for names, size in drawn]
    plan, again = made(*tables, rows=rows), made(*tables, rows=rows)
    assert sorted(at for scan in plan.scans for at in scan.tables) == list(range(len(tables)))
    assert [scan.tables for scan in plan.scans] == [scan.tables for scan in again.scans]
    assert all(scan.direct == (len(scan.tables) == 1) for scan in plan.scans)


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        ("4GB", 4 * GB),
        ("512 MB", 512 * 10**6),
        ("1.5gib", 3 << 29),
        ("2g", 2 * GB),
        ("700", 700),
        (700, 700),
        (" 0.5 kB ", 500),
    ],
)
def test_amounts_of_memory_are_read_as_they_are_written(text: str | int, amount: int) -> None:
    assert parse_bytes(text) == amount


@pytest.mark.parametrize("text", ["", "GB", "4 XB", "-1GB", "4,5GB", "1e3", "٤GB", "0", "0.0001kB"])
def test_other_texts_are_refused_with_an_example(text: str) -> None:
    with pytest.raises(SpecError, match=r"--memory.*4GB"):
        parse_bytes(text, what="--memory")
    with pytest.raises(SpecError, match="text such as '4GB'"):
        parse_bytes(True)


def test_amounts_are_shown_in_the_unit_that_fits() -> None:
    shown = [bytes_text(size) for size in (0, 999, 1500, 25_000_000, 3_240_000_000, 5 * 10**12)]
    assert shown == ["0 bytes", "999 bytes", "2 kB", "25.0 MB", "3.2 GB", "5.0 TB"]
