"""Sparse cubes: the non-empty cells of grids that no machine can hold."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, strategies as st

from sdcensus.model.cube.cube import Cube, Origin
from sdcensus.model.cube.sparse_cube import SparseCube, assemble
from sdcensus.model.schema.schema import CensusInfo, Combine, KeySpace, Schema
from sdcensus.model.schema.variable import Code, Entity, EntitySpec, Hierarchy, Level, Variable
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.testing.conformance import same_cubes

SOURCE = Path(__file__).resolve().parents[2] / "src"


def _variable(name: str, size: int) -> Variable:
    half = Level("half", (Code("low"), Code("high")), tuple(at * 2 // size for at in range(size)))
    return Variable(
        name=name,
        entity=Entity.PERSON,
        codes=tuple(Code(str(at)) for at in range(size)),
        hierarchies=(Hierarchy("halves", (half,)),),
    )


SCHEMA = Schema(
    census=CensusInfo(name="census"),
    entities=(EntitySpec(entity=Entity.PERSON, id=("no",)),),
    variables=(_variable("a", 5), _variable("b", 4), _variable("c", 3)),
)
SPACES = st.sampled_from([KeySpace(), KeySpace(combine=Combine.XOR), KeySpace(65521)])


@given(
    st.lists(st.tuples(st.integers(0, 59), st.integers(0, 65520)), max_size=80),
    SPACES,
    st.sampled_from([("a", "b", "c"), ("a@half+a", "b-total", "c"), ("c", "a@a+half", "b")]),
)
def test_cells_in_any_order_and_repeated_are_combined_alike(
    records: list[tuple[int, int]], space: KeySpace, by: tuple[str, ...]
) -> None:
    """Dense and sparse are two ways to hold the same cells, however they come in."""
    table = TableSpec.build(SCHEMA, by)
    numbers = np.array([number for number, _ in records], dtype=np.uint64)
    sums: dict[str, npt.NDArray[Any]] = {
        "count": np.ones(len(records), dtype=np.int64),
        "key": np.array([key for _, key in records], dtype=np.uint64),
        "weight": np.arange(len(records), dtype=np.int64),
        "first_household": np.arange(len(records), dtype=np.uint32),
        "last_household": np.arange(len(records), dtype=np.uint32),
    }
    dense = assemble(table, Origin(space), numbers, sums)
    sparse = assemble(table, Origin(space), numbers, sums, largest_dense=0)
    assert isinstance(dense, Cube)
    assert isinstance(sparse, SparseCube)
    assert same_cubes(dense, sparse)
    assert sparse.numbers.tolist() == sorted({number for number, _ in records})
    assert same_cubes(dense.rollup("a@half"), sparse.rollup("a@half"))
    assert same_cubes(dense.select(c="1"), sparse.select(c="1"))


def test_blocks_go_from_the_finest_cells_to_the_grand_total() -> None:
    table = TableSpec.build(SCHEMA, ["a@half+a", "b"])
    sums = {"count": np.array([2, 3]), "key": np.array([10, 20], dtype=np.uint64)}
    cube = assemble(
        table, Origin(KeySpace()), np.array([0, 19], dtype=np.uint64), sums, largest_dense=0
    )
    assert isinstance(cube, SparseCube)
    blocks = list(cube.blocks())
    assert [block.levels for block in blocks] == [
        ("a", "b"),
        ("a", "_T"),
        ("half", "b"),
        ("half", "_T"),
        ("_T", "b"),
        ("_T", "_T"),
    ]
    assert blocks[0].positions.tolist() == [[0, 0], [4, 3]]
    assert blocks[-1].positions.tolist() == [[7, 4]]
    assert blocks[-1].values.count.tolist() == [5]
    assert blocks[-1].values.key.tolist() == [30]


def test_an_empty_census_has_no_cells() -> None:
    nothing = {"count": np.zeros(0, np.int64), "key": np.zeros(0, np.uint64)}
    cube = assemble(
        TableSpec.build(SCHEMA, ["a"]),
        Origin(KeySpace()),
        np.zeros(0, np.uint64),
        nothing,
        largest_dense=0,
    )
    assert isinstance(cube, SparseCube)
    assert list(cube.cells()) == []
    assert len(list(cube.blocks())) == 2


@pytest.mark.soak
@pytest.mark.slow
def test_a_milliard_cells_with_a_million_people_fit_two_gigabytes(tmp_path: Path) -> None:
    """Finest cells and every margin, in a process of its own whose peak the system remembers."""
    script = textwrap.dedent(
        """
        import sys
        from pathlib import Path

        import numpy as np

        from sdcensus.engine.memory import MemoryEngine
        from sdcensus.engine.requests import Tabulate
        from sdcensus.model.schema.variable import Entity, EntitySpec
        from sdcensus.model.schema.schema import CensusInfo, Schema
        from sdcensus.model.cube.sparse_cube import SparseCube
        from sdcensus.model.spec.table_spec import TableSpec
        from sdcensus.model.schema.variable import Code, Hierarchy, Level, Variable
        from sdcensus.testing.stores import Units, write_store

        SIZES = {"area": 1000, "age": 100, "occupation": 100, "industry": 100}
        ROWS = 1_000_000
        variables = []
        for name, size in SIZES.items():
            tens = Level("tens", tuple(Code(f"t{at}") for at in range(size // 10)),
                         tuple(at // 10 for at in range(size)))
            variables.append(Variable(name=name, entity=Entity.PERSON,
                                      codes=tuple(Code(str(at)) for at in range(size)),
                                      hierarchies=(Hierarchy("tens", (tens,)),)))
        schema = Schema(census=CensusInfo(name="large"), variables=tuple(variables),
                        entities=(EntitySpec(entity=Entity.PERSON, id=("no",)),))
        draws = np.random.default_rng(1)
        units = Units(keys=draws.integers(0, 1 << 32, ROWS),
                      leaves={name: draws.integers(0, size, ROWS) for name, size in SIZES.items()})
        store = write_store(Path(sys.argv[1]), schema, {Entity.PERSON: units})
        spec = TableSpec.build(schema, [f"{name}@{name}+tens" for name in SIZES])
        assert spec.base_cells == 10**9
        cube = MemoryEngine(store).tabulate(Tabulate(spec=spec))
        assert isinstance(cube, SparseCube)
        keys = set()
        for block in cube.blocks():
            assert int(block.values.count.sum()) == ROWS
            keys.add(int(block.values.key.astype(np.uint64).sum()) % 2**32)
        assert len(keys) == 1
        for line in Path("/proc/self/status").read_text(encoding="utf-8").splitlines():
            if line.startswith("VmHWM:"):
                print(line.split()[1])
        """
    )
    if not Path("/proc/self/status").exists():
        pytest.skip("this system does not tell how much memory a process used")
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "s")],
        capture_output=True,
        text=True,
        check=False,
        env={"PYTHONPATH": str(SOURCE), "HOME": str(Path.home())},
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert int(done.stdout) < 2_000_000  # kilobytes
