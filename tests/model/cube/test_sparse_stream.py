"""The stream of a very large table: every non-empty cell of every margin, exactly once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, strategies as st

from sdcensus.errors import SpecError
from sdcensus.model.cube.cube import Cube, Origin
from sdcensus.model.cube.sparse_cube import SparseCube, assemble
from sdcensus.model.cube.sparse_stream import delivers_finest, map_cells
from sdcensus.model.cube.streamed_cells import PublishedCells, StreamedCells, delivered_numbers
from sdcensus.model.published.delivery import DeliveredAxis, delivered_axis
from sdcensus.model.schema.schema import CensusInfo, Combine, KeySpace, Schema
from sdcensus.model.schema.variable import Code, Entity, EntitySpec, Hierarchy, Level, Variable
from sdcensus.model.spec.axis import Axis
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.model.text import Text


def stream_cells(
    cube: SparseCube, axes: Sequence[DeliveredAxis], **options: Any
) -> Iterator[StreamedCells]:
    """The parts as they are."""
    return map_cells(cube, axes, lambda cells: cells, **options)


def _level(name: str, groups: list[int]) -> Level:
    codes = tuple(Code(f"{name}{at}") for at in range(max(groups) + 1))
    return Level(name, codes, tuple(groups))


def _variable(name: str, trees: dict[str, list[list[int]]], size: int) -> Variable:
    return Variable(
        name=name,
        entity=Entity.PERSON,
        codes=tuple(Code(f"{name}.{at}") for at in range(size)),
        hierarchies=tuple(
            Hierarchy(tree, tuple(_level(f"{tree}{at}", level) for at, level in enumerate(levels)))
            for tree, levels in trees.items()
        ),
    )


SCHEMA = Schema(
    census=CensusInfo(name="census"),
    entities=(EntitySpec(entity=Entity.PERSON, id=("no",)),),
    variables=(
        # Two levels of one tree, and a level that does not nest with them.
        _variable("a", {"t": [[0, 0, 1, 1, 2], [0, 0, 0, 0, 1]], "u": [[1, 0, 0, 1, 1]]}, 5),
        _variable("b", {"t": [[0, 0, 1, 1]]}, 4),
        _variable("c", {}, 3),
        _variable("d", {"t": [[0]]}, 1),
    ),
)
TABLES = [
    ("a", "b", "c"),
    ("a@a+t0+t1+u0", "b@b+t0", "c"),
    ("a@t0+u0", "b-total", "c", "d@d+t0"),
    ("c", "a@t1+u0-total", "b@t0-total"),
    ("d",),
    ("d-total", "c"),
    (),
]
SPACES = [KeySpace(), KeySpace(combine=Combine.XOR), KeySpace(65521), KeySpace(16, Combine.XOR)]


@st.composite
def _cubes(draw: st.DrawFn) -> tuple[Cube, SparseCube]:
    spec = TableSpec.build(SCHEMA, draw(st.sampled_from(TABLES)))
    space = draw(st.sampled_from(SPACES))
    records = draw(
        st.lists(
            st.tuples(st.integers(0, spec.base_cells - 1), st.integers(0, space.modulus - 1)),
            max_size=60,
        )
    )
    rows = len(records)
    sums: dict[str, npt.NDArray[Any]] = {
        "count": np.ones(rows, dtype=np.int64),
        "key": np.array([key for _, key in records], dtype=np.uint64),
    }
    if draw(st.booleans()):
        sums["weight"] = np.arange(rows, dtype=np.int64) * 7 - 50
        sums["first_household"] = np.arange(rows, dtype=np.uint32)
        sums["last_household"] = np.arange(rows, dtype=np.uint32) + np.uint32(0xFFFFFF00)
        sums["sum:income"] = np.arange(rows, dtype=np.int64) - 20
    numbers = np.array([number for number, _ in records], dtype=np.uint64)
    dense = assemble(spec, Origin(space), numbers, sums)
    sparse = assemble(spec, Origin(space), numbers, sums, largest_dense=0)
    assert isinstance(dense, Cube)
    assert isinstance(sparse, SparseCube)
    return dense, sparse


def _chosen(axis: Axis, positions: list[int]) -> DeliveredAxis:
    codes = [axis.codes[position] for position in positions]
    return DeliveredAxis(
        column=axis.variable.name,
        label=Text.of(axis.variable.name),
        positions=np.array(positions, dtype=np.int64),
        codes=tuple(code.code for code in codes),
        labels=tuple(code.label for code in codes),
        levels=tuple(code.level for code in codes),
        parents=(-1,) * len(codes),
    )


@st.composite
def _delivered(draw: st.DrawFn, spec: TableSpec) -> list[DeliveredAxis]:
    """Some positions of every axis, at least one, in any order."""
    made = []
    for axis in spec.axes:
        order = draw(st.permutations(range(len(axis.codes))))
        made.append(_chosen(axis, list(order[: draw(st.integers(1, len(order)))])))
    return made


def _all(parts: list[StreamedCells]) -> dict[str, list[Any]]:
    """All cells of a stream, as columns."""
    found: dict[str, list[Any]] = {"numbers": []}
    for part in parts:
        found["numbers"] += part.numbers.tolist()
        for name, array in part.values.items():
            found.setdefault(name, []).extend(array.tolist())
    return found


@given(st.data(), _cubes())
def test_the_stream_has_every_non_empty_delivered_cell_once_and_in_order(
    data: st.DataObject, cubes: tuple[Cube, SparseCube]
) -> None:
    dense, sparse = cubes
    axes = data.draw(_delivered(dense.spec))
    parts = list(
        stream_cells(
            sparse,
            axes,
            threads=data.draw(st.sampled_from([1, 2])),
            largest_part=data.draw(st.sampled_from([1, 3, 20, 10_000])),
        )
    )
    index = np.ix_(*(axis.positions for axis in axes)) if axes else ...
    truth = dense.values.map(lambda array: np.asarray(array[index]).reshape(-1))
    listed = np.flatnonzero(truth.count)
    found = _all(parts)
    assert found["numbers"] == listed.tolist()
    if listed.size:
        assert {name: found[name] for name, _ in truth.items()} == {
            name: array[listed].tolist() for name, array in truth.items()
        }
    shape = tuple(len(axis) for axis in axes)
    for part in parts:
        at = np.unravel_index(part.numbers.astype(np.int64), shape) if shape else ()
        assert [place.tolist() for place in part.places] == [one.tolist() for one in at]


@given(_cubes())
def test_the_stream_agrees_with_the_blocks_of_the_cube(cubes: tuple[Cube, SparseCube]) -> None:
    _, sparse = cubes
    axes = [delivered_axis(axis) for axis in sparse.spec.axes]
    expected = {
        number: (count, key)
        for block in sparse.blocks()
        for number, count, key in zip(
            block.numbers.tolist(),
            block.values.count.tolist(),
            block.values.key.tolist(),
            strict=True,
        )
    }
    found = _all(list(stream_cells(sparse, axes, largest_part=7)))
    pairs = zip(found.get("count", []), found.get("key", []), strict=True)
    assert dict(zip(found["numbers"], pairs, strict=True)) == expected


def _random_cube(rows: int = 4000) -> SparseCube:
    spec = TableSpec.build(SCHEMA, ["a@a+t0+t1", "b@b+t0", "c"])
    draws = np.random.default_rng(5)
    cube = assemble(
        spec,
        Origin(KeySpace()),
        draws.integers(0, spec.base_cells, rows).astype(np.uint64),
        {
            "count": np.ones(rows, dtype=np.int64),
            "key": draws.integers(0, 1 << 32, rows, dtype=np.uint64),
        },
        largest_dense=0,
    )
    assert isinstance(cube, SparseCube)
    return cube


@pytest.mark.parametrize("largest", [1, 2, 5, 40, 100])
def test_no_part_is_larger_than_asked(largest: int) -> None:
    cube = _random_cube()
    axes = [delivered_axis(axis) for axis in cube.spec.axes]
    parts = list(stream_cells(cube, axes, largest_part=largest))
    assert max(part.numbers.size for part in parts) <= largest
    whole = list(stream_cells(cube, axes, threads=1))
    assert len(whole) < len(parts)
    assert _all(parts) == _all(whole)


def test_less_memory_makes_smaller_parts_of_the_same_cells() -> None:
    cube = _random_cube()
    axes = [delivered_axis(axis) for axis in cube.spec.axes]
    small = list(stream_cells(cube, axes, memory=20_000, threads=2))
    assert len(small) > 1
    assert _all(small) == _all(list(stream_cells(cube, axes)))
    with pytest.raises(SpecError, match="room for one cell"):
        list(stream_cells(cube, axes, memory=10))


def test_results_come_in_order_although_the_first_take_longest() -> None:
    """A thread that is slow with the first part holds the others back, but they wait for it."""
    cube = _random_cube()
    axes = [delivered_axis(axis) for axis in cube.spec.axes]

    def work(cells: StreamedCells) -> int:
        if cells.numbers[0] == 0:
            np.sort(np.random.default_rng(1).random(300_000))
        return int(cells.numbers[0])

    firsts = list(map_cells(cube, axes, work, largest_part=40, threads=2))
    assert firsts == sorted(firsts)


def test_what_fails_in_a_thread_is_raised_where_results_are_taken() -> None:
    cube = _random_cube()
    axes = [delivered_axis(axis) for axis in cube.spec.axes]

    def work(cells: StreamedCells) -> int:
        if cells.numbers[0] > 100:
            raise SpecError("enough")
        return 1

    with pytest.raises(SpecError, match="enough"):
        list(map_cells(cube, axes, work, largest_part=40, threads=2))


def test_positions_are_delivered_once_and_for_every_axis() -> None:
    cube = _random_cube()
    axes = [delivered_axis(axis) for axis in cube.spec.axes]
    with pytest.raises(SpecError, match="every axis of the table"):
        stream_cells(cube, axes[:2])
    with pytest.raises(SpecError, match="can be delivered once"):
        stream_cells(cube, [_chosen(cube.spec.axes[0], [0, 0]), *axes[1:]])


def test_cells_of_a_table_get_their_numbers_among_delivered_ones() -> None:
    spec = TableSpec.build(SCHEMA, ["b@b+t0", "c"])  # 7 × 4 positions
    axes = [_chosen(spec.axes[0], [6, 0, 3]), _chosen(spec.axes[1], [3, 1])]
    numbers = np.array([6 * 4 + 1, 0 * 4 + 3, 1 * 4 + 3, 3 * 4 + 0], dtype=np.uint64)
    assert delivered_numbers(numbers, spec.shape, axes).tolist() == [0 * 2 + 1, 1 * 2 + 0]


def test_finest_codes_are_delivered_under_whatever_level_they_stand() -> None:
    """Group t0.2 of the tree is the leaf a.4 alone: delivered there, nothing finest is missing."""
    axis = TableSpec.build(SCHEMA, ["a@a+t0"]).axes[0]  # 5 leaves, 3 groups, total
    assert delivers_finest(axis, delivered_axis(axis))
    assert delivers_finest(axis, _chosen(axis, [8, 0, 1, 2, 3, 7]))
    assert not delivers_finest(axis, _chosen(axis, [8, 5, 6, 7]))
    crossing = TableSpec.build(SCHEMA, ["a@t0+u0"]).axes[0]
    assert not delivers_finest(crossing, delivered_axis(crossing))


def test_streamed_cells_do_not_show_or_give_away_what_they_hold() -> None:
    cube = _random_cube(30)
    part = next(stream_cells(cube, [delivered_axis(axis) for axis in cube.spec.axes]))
    assert repr(part) == "<StreamedCells 11×7×4: confidential>"
    assert str(part) == repr(part)


def test_published_cells_list_no_zeros() -> None:
    places = (np.array([0, 1], dtype=np.uint8),)
    assert len(PublishedCells(places, np.array([3, 1]))) == 2
    with pytest.raises(SpecError, match="not listed"):
        PublishedCells(places, np.array([3, 0]))
    with pytest.raises(SpecError, match="place on every axis"):
        PublishedCells(places, np.array([3]))
