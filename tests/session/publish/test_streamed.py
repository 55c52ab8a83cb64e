"""Large tables, protected and written part by part: the same numbers as a table that is held."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from sdcensus.errors import SecretError, SpecError
from sdcensus.formats.read.tables import read_published
from sdcensus.methods.additivity import Additivity
from sdcensus.methods.cell_key import CellKey
from sdcensus.methods.method import Method
from sdcensus.methods.per_unit import PerUnitDeviations
from sdcensus.methods.perturbation.design import design_perturbation
from sdcensus.methods.pipeline import Pipeline
from sdcensus.methods.rounding import ConventionalRounding, RandomRounding
from sdcensus.methods.small_cells import SmallCellAdjustment
from sdcensus.model.cube.cube import Cube, Origin
from sdcensus.model.cube.sparse_cube import SparseCube, assemble
from sdcensus.model.published.delivery import DeliveredAxis, delivered_axis
from sdcensus.model.published.table import SparseTable, Table
from sdcensus.model.schema.schema import CensusInfo, Combine, KeySpace, Schema
from sdcensus.model.schema.variable import Code, Entity, EntitySpec, Hierarchy, Level, Variable
from sdcensus.model.secret import Secret
from sdcensus.model.spec.table_spec import Measure, TableSpec
from sdcensus.model.text import Text
from sdcensus.session.publish.last_files import evaluated, row_from_json
from sdcensus.session.publish.products import PublishableTable
from sdcensus.session.publish.streamed import StreamOptions, stream_table

SECRET = Secret(bytes(range(32)))


def _variable(name: str, groups: tuple[int, ...] = ()) -> Variable:
    size = len(groups) or 3
    broad = Level(
        "broad", tuple(Code(f"{name}{one}") for one in range(max(groups, default=0) + 1)), groups
    )
    return Variable(
        name=name,
        entity=Entity.PERSON,
        codes=tuple(Code(f"{name}.{at}") for at in range(size)),
        hierarchies=(Hierarchy("tree", (broad,)),) if groups else (),
    )


SCHEMA = Schema(
    census=CensusInfo(name="census"),
    entities=(EntitySpec(entity=Entity.PERSON, id=("no",)),),
    variables=(_variable("a", (0, 0, 1, 1, 1, 2)), _variable("b", (0, 1, 1, 1)), _variable("c")),
)
BY = ("a@a+broad", "b@b+broad", "c")


def _cubes(
    *by: str,
    rows: int = 600,
    space: KeySpace | None = None,
    weights: bool = False,
) -> tuple[Cube, SparseCube]:
    spec = TableSpec.build(SCHEMA, by or BY)
    if weights:
        spec = TableSpec(of=spec.of, axes=spec.axes, measure=Measure.WEIGHTED, weight_decimals=2)
    draws = np.random.default_rng(11)
    chosen = space or KeySpace()
    sums = {
        "count": np.ones(rows, dtype=np.int64),
        "key": draws.integers(0, chosen.modulus, rows, dtype=np.uint64),
    }
    if weights:
        sums["weight"] = draws.integers(50, 400, rows)
    # Skewed, so that some cells are large and many are empty.
    numbers = (spec.base_cells * draws.random(rows) ** 4).astype(np.uint64)
    dense = assemble(spec, Origin(chosen), numbers, sums)
    sparse = assemble(spec, Origin(chosen), numbers, sums, largest_dense=0)
    assert isinstance(dense, Cube)
    assert isinstance(sparse, SparseCube)
    return dense, sparse


def _once(spec: TableSpec) -> tuple[DeliveredAxis, ...]:
    """Each code once, total and broad codes first; a broad code with one part is left out."""
    made = []
    for axis in spec.axes:
        all_of_it = delivered_axis(axis)
        kept = [
            at
            for at, code in enumerate(axis.codes)
            if code.level != "broad" or all_of_it.parents.count(at) > 1
        ][::-1]
        parents = [all_of_it.parents[at] for at in kept]
        above = [
            all_of_it.parents[parent] if parent not in [*kept, -1] else parent for parent in parents
        ]
        made.append(
            DeliveredAxis(
                column=axis.variable.name.upper(),
                label=Text.of(axis.variable.name),
                positions=np.array(kept),
                codes=tuple(axis.codes[at].code for at in kept),
                labels=tuple(axis.codes[at].label for at in kept),
                levels=tuple(axis.codes[at].level for at in kept),
                parents=tuple(-1 if one == -1 else kept.index(one) for one in above),
                total=0,
            )
        )
    return tuple(made)


def _publishable(spec: TableSpec) -> PublishableTable:
    return PublishableTable(name="large", spec=spec, axes=_once(spec))


METHODS: dict[str, Callable[[], Method]] = {
    "cell-key": lambda: CellKey(design_perturbation(5, 3.0, 2), secret=SECRET),
    "cell-key ascending": lambda: CellKey(design_perturbation(2, 1.0), lookup="ascending"),
    "pipeline": lambda: Pipeline(CellKey(design_perturbation(3, 1.5), secret=SECRET)),
    "exempt": lambda: CellKey(
        design_perturbation(5, 3.0, 2),
        secret=SECRET,
        exempt=[TableSpec.build(SCHEMA, ["a@broad-total"]), TableSpec.build(SCHEMA, ["b-total"])],
    ),
    "conventional": lambda: ConventionalRounding(5),
    "random": lambda: RandomRounding(3),
    "own totals": lambda: PerUnitDeviations(secret=SECRET, totals="own"),
}


@pytest.mark.parametrize("name", METHODS)
def test_what_is_streamed_is_what_a_held_table_publishes(tmp_path: Path, name: str) -> None:
    dense, sparse = _cubes()
    method = METHODS[name]()
    result = stream_table(
        sparse,
        method,
        _publishable(sparse.spec),
        tmp_path,
        StreamOptions(formats=["parquet", "csv"]),
    )
    expected = method.protect(dense)
    assert isinstance(expected.table, Table)
    for path in result.files[:2]:
        found = read_published(path)
        assert isinstance(found.table, SparseTable)
        assert np.array_equal(found.table.whole().published, expected.table.published)
        assert found.provenance == expected.provenance == result.provenance
    assert result.listed == pq.read_metadata(result.files[0]).num_rows
    assert result.cells == 9 * 6 * 4  # 3 + 6 - 1, 2 + 4 - 1 and 3 codes, and totals


@pytest.mark.parametrize("name", ["cell-key", "exempt", "conventional"])
def test_the_evaluation_on_the_way_is_that_of_the_held_table(tmp_path: Path, name: str) -> None:
    dense, sparse = _cubes(rows=40_000)  # some cells beyond the bins of the tally
    assert dense.count.max() > 1 << 15
    method = METHODS[name]()
    axes = _once(sparse.spec)
    result = stream_table(sparse, method, _publishable(sparse.spec), tmp_path)
    table = method.protect(dense).table
    assert isinstance(table, Table)
    assert result.evaluation == evaluated("large", dense, table, axes)
    assert row_from_json(3, result.evaluation).columns()["number"] == 3


def test_weighted_tables_and_other_key_spaces(tmp_path: Path) -> None:
    for at, space in enumerate([KeySpace(65521), KeySpace(256, Combine.XOR)]):
        dense, sparse = _cubes(space=space, weights=True)
        method = CellKey(design_perturbation(5, 3.0), secret=SECRET)
        folder = tmp_path / str(at)
        folder.mkdir()
        result = stream_table(sparse, method, _publishable(sparse.spec), folder)
        found = read_published(result.files[0]).table
        expected = method.protect(dense).table
        assert isinstance(found, SparseTable)
        assert np.array_equal(found.whole().published, expected.published)


def test_neither_threads_nor_memory_change_a_byte(tmp_path: Path) -> None:
    _, sparse = _cubes(rows=3000)
    method = METHODS["exempt"]()
    made = []
    for at, (threads, memory) in enumerate([(1, 1 << 30), (2, 1 << 30), (2, 40_000), (1, 3000)]):
        folder = tmp_path / str(at)
        folder.mkdir()
        result = stream_table(
            sparse,
            method,
            _publishable(sparse.spec),
            folder,
            StreamOptions(formats=["parquet", "csv"], threads=threads, memory=memory),
        )
        content = [file.read_bytes() for file in result.files]
        made.append((content, result.digest, result.evaluation))
    assert all(one == made[0] for one in made)


def test_the_digest_is_that_of_codes_and_published_numbers(tmp_path: Path) -> None:
    _, sparse = _cubes()
    _, fewer = _cubes(rows=599)
    digests = []
    for at, (cube, method) in enumerate(
        [
            (sparse, METHODS["cell-key"]()),
            (sparse, METHODS["pipeline"]()),
            (fewer, METHODS["cell-key"]()),
            (sparse, METHODS["cell-key"]()),
        ]
    ):
        folder = tmp_path / str(at)
        folder.mkdir()
        result = stream_table(
            cube, method, _publishable(cube.spec), folder, StreamOptions(evaluation=False)
        )
        digests.append(result.digest)
        assert result.evaluation is None
    assert digests[0] == digests[3]
    assert len(set(digests)) == 3


def test_tables_without_axes_and_without_records(tmp_path: Path) -> None:
    for at, (by, rows) in enumerate([((), 5), (BY, 0), ((), 0), (("c-total",), 7)]):
        spec = TableSpec.build(SCHEMA, by)
        cube = assemble(
            spec,
            Origin(KeySpace()),
            np.zeros(rows, dtype=np.uint64),
            {"count": np.ones(rows, dtype=np.int64), "key": np.ones(rows, dtype=np.uint64)},
            largest_dense=0,
        )
        if not isinstance(cube, SparseCube):  # what is empty or small may be held whatever is asked
            continue
        folder = tmp_path / str(at)
        folder.mkdir()
        result = stream_table(
            cube,
            ConventionalRounding(5),
            PublishableTable(name="small", spec=spec),
            folder,
            StreamOptions(formats=["csv"]),
        )
        assert result.listed == (1 if rows else 0)
        assert result.evaluation is not None
        stages = result.evaluation["stages"]
        assert [stage["total"] for stage in stages[:1]] == [rows]
        assert stages[-1]["zeros"] == stages[-1]["cells"] - (1 if rows else 0)


@pytest.mark.parametrize(
    "method",
    [
        SmallCellAdjustment(),
        Pipeline(CellKey(design_perturbation(2, 1.0)), Additivity()),
        PerUnitDeviations(secret=SECRET),
    ],
)
def test_methods_that_need_a_whole_table_are_refused_with_a_remedy(
    tmp_path: Path, method: Method
) -> None:
    _, sparse = _cubes()
    with pytest.raises(SpecError, match="too large to be held whole") as refused:
        stream_table(sparse, method, _publishable(sparse.spec), tmp_path)
    assert "'cell-key' alone" in str(refused.value)
    assert list(tmp_path.iterdir()) == []


def test_a_wrong_secret_and_a_wrong_format_are_refused_before_any_work(tmp_path: Path) -> None:
    _, sparse = _cubes()
    other = SparseCube(
        sparse.spec, Origin(KeySpace(), secret_id="0" * 16), sparse.numbers, sparse.values
    )
    with pytest.raises(SecretError):
        stream_table(other, METHODS["cell-key"](), _publishable(sparse.spec), tmp_path)
    with pytest.raises(SpecError, match="'px'"):
        stream_table(
            sparse,
            METHODS["cell-key"](),
            _publishable(sparse.spec),
            tmp_path,
            StreamOptions(formats=["px"]),
        )
    assert list(tmp_path.iterdir()) == []


def test_progress_goes_from_nothing_to_everything(tmp_path: Path) -> None:
    _, sparse = _cubes()
    told: list[float] = []
    result = stream_table(
        sparse,
        METHODS["cell-key"](),
        _publishable(sparse.spec),
        tmp_path,
        StreamOptions(memory=20_000),
        progress=lambda _, done: told.append(done),
    )
    assert told[0] == 0.0
    assert told[-1] == 1.0
    assert told == sorted(told)
    assert len(told) > 4
    assert repr(result) == "<StreamedResult of 216 cells: confidential>"
