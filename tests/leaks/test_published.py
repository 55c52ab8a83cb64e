"""Nothing confidential hangs on what is public: objects, files, errors, whatever the method.

True counts are seven-digit primes and keys are large; both are looked for in everything that can
be reached from a published table, in every file that is written of it, and in every error.
"""

from __future__ import annotations

import functools
import gc
import importlib
import itertools
import pkgutil
import re
import traceback
import types
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sdcensus
from sdcensus.errors import SdcensusError
from sdcensus.formats.write import write_table
from sdcensus.methods.additivity import Additivity
from sdcensus.methods.cell_key import CellKey
from sdcensus.methods.coarsening.method import Coarsening
from sdcensus.methods.controlled_rounding.random_rounding import ControlledRandomRounding
from sdcensus.methods.controlled_rounding.rounding import ControlledRounding
from sdcensus.methods.light_touch import LightTouch
from sdcensus.methods.magnitude.abs_top import AbsTopContributors
from sdcensus.methods.magnitude.cell_key_sums import CellKeySums
from sdcensus.methods.magnitude.layered import ExperimentalLayered
from sdcensus.methods.method import Method
from sdcensus.methods.notes import notes_for
from sdcensus.methods.per_unit import PerUnitDeviations
from sdcensus.methods.perturbation.schemes import scheme
from sdcensus.methods.pipeline import Pipeline
from sdcensus.methods.rounding import ConventionalRounding, RandomRounding
from sdcensus.methods.samples.sample_rounding import SampleRounding
from sdcensus.methods.semi_controlled import SemiControlledRounding
from sdcensus.methods.small_cells import SmallCellAdjustment
from sdcensus.methods.small_counts.small_count_rounding import SmallCountRounding
from sdcensus.methods.suppression.method import Suppression
from sdcensus.methods.tabular_adjustment.method import ControlledTabularAdjustment
from sdcensus.methods.threshold import ThresholdRounding
from sdcensus.methods.withhold_sparse import WithholdSparse
from sdcensus.model.confidential import Confidential
from sdcensus.model.cube.cube import Accumulators, Cube, Origin, finish
from sdcensus.model.cube.replicates import replicate_names
from sdcensus.model.cube.sparse_cube import AnyCube, SparseCube, assemble
from sdcensus.model.frames import Framed
from sdcensus.model.method.registry import Part, built_in
from sdcensus.model.published.protected import Protected
from sdcensus.model.published.table import SparseTable, Table
from sdcensus.model.schema.schema import KeySpace
from sdcensus.model.schema.variable import Variable
from sdcensus.model.secret import Secret
from sdcensus.model.vocabulary import Measure
from tests.leaks.test_canary import SPEC

SECRET = Secret(bytes(range(1, 33)))
ORIGIN = Origin(KeySpace(), SECRET.id, "canary")


@dataclass(frozen=True, slots=True)
class Case:
    """A method, and whether it changes counts that are not small."""

    method: Method
    changes: bool = True


CASES = {
    "cell-key": Case(CellKey(scheme("CP3"), secret=SECRET)),
    "cell-key ascending": Case(CellKey(scheme("CP2"))),
    "cell-key scrambled": Case(CellKey(scheme("CP4"), secret=SECRET, lookup="scrambled")),
    "random-rounding": Case(RandomRounding(3)),
    "random-rounding independent": Case(RandomRounding(5, draw="independent")),
    "semi-controlled-rounding": Case(SemiControlledRounding(3, secret=SECRET)),
    "conventional-rounding": Case(ConventionalRounding(5)),
    "small-cell-adjustment": Case(SmallCellAdjustment(3), changes=False),
    "per-unit-deviations": Case(PerUnitDeviations(4, secret=SECRET)),
    "per-unit-deviations own": Case(PerUnitDeviations(4, secret=SECRET, totals="own")),
    "light-touch": Case(LightTouch(secret=SECRET)),
    "cell-key, added up": Case(
        Pipeline(CellKey(scheme("CP3"), secret=SECRET), Additivity(mode="fast"))
    ),
    "random-rounding, areas withheld": Case(
        Pipeline(RandomRounding(5), WithholdSparse("area", mean_cell_size=1e7, below=10**7))
    ),
    "threshold-and-rounding": Case(ThresholdRounding(10, 5)),
    "small-count-rounding": Case(SmallCountRounding(5, secret=SECRET), changes=False),
    "controlled-rounding": Case(ControlledRounding(3)),
    "controlled-random-rounding": Case(
        ControlledRandomRounding(3, secret=SECRET, infeasible="widen")
    ),
    "suppression": Case(Suppression(3), changes=False),
    "tabular-adjustment": Case(ControlledTabularAdjustment(secret=SECRET), changes=False),
    "coarsening": Case(Coarsening(3), changes=False),
    "cell-key-sums": Case(CellKeySums(contribution_shares=(1, 0.5), secret=SECRET)),
    "abs-top-contributors": Case(AbsTopContributors(secret=SECRET)),
    "experimental-layered": Case(ExperimentalLayered(secret=SECRET)),
    "sample-rounding": Case(SampleRounding()),
}
NAMES = list(CASES)


def test_every_method_is_looked_at() -> None:
    assert {case.method.name for case in CASES.values()} >= set(built_in(Part.METHOD))


# ---------------------------------------------------------------- canaries


def _primes() -> list[int]:
    sieve = np.ones(1_400_000, dtype=bool)
    for number in range(2, 1200):
        sieve[number * number :: number] = False
    return [int(one) for one in np.flatnonzero(sieve) if one > 1_200_000]


PRIMES = _primes()


def cube_with(counts: list[int], keys: list[int]) -> Cube:
    sums = {
        "count": np.array(counts, dtype=np.int64).reshape(2, 3),
        "key": np.array(keys, dtype=np.uint64).reshape(2, 3),
    }
    return finish(SPEC, ORIGIN, sums)


def cube_of_sums(amounts: list[int], keys: list[int]) -> Cube:
    """Two contributions to every cell, one half as large as the other."""
    largest = np.array(amounts, dtype=np.int64).reshape(2, 3)
    own = np.array(keys, dtype=np.uint64).reshape(2, 3)
    entries = [largest, own.astype(np.int64), largest // 2, own.astype(np.int64) - 1]
    entries += [np.zeros_like(largest)] * 8  # methods know up to six
    sums = {
        "count": np.full((2, 3), 2),
        "key": own,
        "sum:income": largest + largest // 2,
        "contributors": np.full((2, 3), 2),
        "contributor_key": own,
        "absolute": largest + largest // 2,
        "largest:amount+key": np.stack(entries, axis=-1),
    }
    income = Variable(name="income", entity=SPEC.of, continuous=True)
    return finish(replace(SPEC, measure=Measure.SUM, amount=income), ORIGIN, sums)


def cube_of_sample(counts: list[int], keys: list[int]) -> Cube:
    """Records that stand for about seven each, spread over all groups of households."""
    count = np.array(counts, dtype=np.int64).reshape(2, 3)
    weight = 700 * count + np.arange(6).reshape(2, 3)
    sums = {"count": count, "key": np.array(keys, dtype=np.uint64).reshape(2, 3), "weight": weight}
    sums |= dict.fromkeys(replicate_names(), weight // len(replicate_names()))
    return finish(replace(SPEC, measure=Measure.WEIGHTED, weight_decimals=2), ORIGIN, sums)


def made_for(method: Method) -> Callable[[list[int], list[int]], Cube]:
    """What makes a cube that a method protects."""
    if method.for_samples:
        return cube_of_sample
    return cube_of_sums if method.for_sums else cube_with


def truth(cube: AnyCube) -> set[int]:
    """True counts; true sums with their contributions, where it is a table of sums."""
    known = cube.values.contributions
    if known is None:
        return set(cube.values.count.ravel().tolist())
    sums = cube.values.sum_of("income").ravel().tolist()
    return {
        *sums,
        *known.amount.ravel().tolist(),
        *(known.key.ravel().tolist() if known.key is not None else ()),
    } - {0}


def adds_up_to_truth(protected: Protected, cube: Cube) -> bool:
    """Whether published parts happen to add up to a true total, which readers may then be told."""
    inner = protected.table.published[:-1, :-1]
    sums = {*inner.sum(axis=0).tolist(), *inner.sum(axis=1).tolist()}
    for at in (0, 1):
        sums |= set(protected.table.published.take(range(cube.shape[at] - 1), axis=at).sum(axis=at))
    return bool(sums & truth(cube))


@functools.cache
def protected_by(name: str) -> Protected:
    """A protected canary cube of which, if the method can, no count is published as it is."""
    case = CASES[name]
    for seed in itertools.count():
        draws = np.random.default_rng(seed)
        counts = draws.choice(PRIMES, 6, replace=False).tolist()
        keys = draws.integers(3_000_000_000, 1 << 32, 6).tolist()
        cube = made_for(case.method)(counts, keys)
        protected = case.method.protect(cube)
        changed = ~np.isin(protected.table.published, list(truth(cube)))
        if not case.changes or (changed.all() and not adds_up_to_truth(protected, cube)):
            table = protected.table.with_notes(*notes_for(protected.table, case.method.claims()))
            return Protected(table, protected.provenance, protected.audit)
    raise AssertionError


def canaries(name: str) -> set[int]:
    """Keys always; true counts where the method changes all of them."""
    cube = protected_by(name).audit.cube
    counts = truth(cube) if CASES[name].changes else ()
    effective = protected_by(name).audit.effective_keys
    every = np.arange(cube.spec.cells, dtype=np.uint64)
    looked_up = [] if effective is None else effective(cube.values.key.reshape(-1), every).tolist()
    return {*counts, *cube.values.key.reshape(-1).tolist(), *looked_up}


def reachable(root: object) -> Iterator[object]:
    """Everything that hangs on an object, arrays behind arrays and closures of functions too."""
    seen: set[int] = set()
    stack = [root]
    keep = []  # what is looked at must live, or its id would be used again
    while stack:
        one = stack.pop()
        if id(one) in seen or isinstance(one, type | types.ModuleType):
            continue
        seen.add(id(one))
        keep.append(one)
        yield one
        if isinstance(one, types.FunctionType):
            stack += [one.__closure__, one.__defaults__, one.__kwdefaults__]
        elif isinstance(one, np.ndarray):
            stack += [one.base, *(one.tolist() if one.dtype == object else ())]
        else:
            stack += gc.get_referents(one)


def leaks(root: object, name: str) -> list[str]:
    """What can be reached from an object and should not."""
    hidden = canaries(name)
    numbers = np.array(sorted(hidden), dtype=np.uint64)
    arrays = [array for _, array in protected_by(name).audit.cube.values.items()]
    found = []
    for one in reachable(root):
        if isinstance(one, Confidential):
            found.append(type(one).__name__)
        elif isinstance(one, np.ndarray) and one.dtype.kind in "iu":
            if np.isin(one.astype(np.uint64), numbers).any():
                found.append("array with a canary")
            if any(np.shares_memory(one, array) for array in arrays):
                found.append("memory of the cube")
        elif isinstance(one, np.ndarray) and one.dtype.kind == "f":
            found.append("array of decimals")
        elif isinstance(one, int | np.integer) and int(one) in hidden:
            found.append("canary")
        elif isinstance(one, str | bytes) and _in_text(one, hidden):
            found.append("text with a canary")
    return found


def _in_text(text: str | bytes, hidden: set[int]) -> bool:
    if isinstance(text, bytes):
        binary = [
            one.to_bytes(size, "little") for one in hidden for size in (4, 8) if one < 1 << 32
        ]
        return any(one in text for one in binary) or _in_text(text.decode("latin-1"), hidden)
    plain = re.sub(r"(?<=\d)[,._\u00a0\u202f](?=\d)", "", text)
    return any(str(one) in plain for one in hidden)


# ---------------------------------------------------------------- objects


@pytest.mark.parametrize("name", NAMES)
def test_nothing_confidential_hangs_on_what_is_public(name: str) -> None:
    protected = protected_by(name)
    assert leaks(protected.table, name) == []
    assert leaks(protected.provenance, name) == []
    # and the search would find it
    assert "Cube" in leaks(protected, name)
    assert "memory of the cube" in leaks(protected, name)


@pytest.mark.parametrize("name", NAMES)
def test_data_frames_and_notebooks_get_what_is_published_and_no_more(name: str) -> None:
    hidden = canaries(name)
    table = protected_by(name).table
    arrow = pa.table(table)
    shown = f"{arrow.to_pydict()} {arrow.schema.metadata} {table.to_pandas().attrs}"
    assert not _in_text(shown, hidden)
    assert not _in_text(table._repr_html_(), hidden)
    published = [value for value in arrow["published"].to_pylist() if value is not None]
    assert len(published) == table.published.size - np.count_nonzero(arrow["published"].is_null())


def test_nothing_confidential_enters_a_data_frame_or_a_notebook() -> None:
    doors = {"__arrow_c_stream__", "__arrow_c_array__", "__arrow_c_schema__", "_repr_html_"}
    for module in pkgutil.walk_packages(sdcensus.__path__, "sdcensus."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    kinds = list(_below(Confidential))
    assert {Cube, SparseCube, Protected} <= set(kinds)
    for kind in kinds:
        assert not issubclass(kind, Framed), kind
        assert not doors & set(dir(kind)), kind
    # nor does a public frame hold anything confidential by its type
    assert {Table, SparseTable} <= set(_below(Framed))


def _below(kind: type) -> Iterator[type]:
    subclasses: list[type] = kind.__subclasses__()
    for subclass in subclasses:
        yield subclass
        yield from _below(subclass)


@pytest.mark.parametrize("name", NAMES)
def test_what_is_confidential_shows_nothing(name: str) -> None:
    hidden = canaries(name)
    protected = protected_by(name)
    for one in (protected, protected.audit, CASES[name].method, protected.table):
        for text in (repr(one), str(one), f"{one}"):
            assert not _in_text(text, hidden)
    for one in (protected, protected.audit):
        with pytest.raises(SdcensusError, match="confidential"):
            one.__reduce_ex__(4)


def test_notes_and_provenance_name_no_parameter() -> None:
    for name in NAMES:
        protected = protected_by(name)
        said = " ".join(text for note in protected.table.notes for _, text in note.by_language)
        made = protected.provenance.to_json()
        assert not _in_text(said + str(made), canaries(name))
        assert set(made) == {
            *("method", "method_version", "fingerprint", "data_version", "key_version"),
            *("secret_id", "package_version", "spec_hash"),
        }


# ---------------------------------------------------------------- files


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".xlsx"])
@pytest.mark.parametrize("name", NAMES)
def test_files_hold_nothing_confidential(tmp_path: Path, name: str, ending: str) -> None:
    protected = protected_by(name)
    path = write_table(
        protected.table, tmp_path / f"table{ending}", provenance=protected.provenance
    )
    hidden = canaries(name)
    parts = list(_content(path))
    assert any(str(protected.table.published.max()) in str(part) for part in parts)
    for part in parts:
        assert not _in_text(part, hidden)


def _content(path: Path) -> Iterator[str | bytes]:
    """What is in a file, without its compression."""
    yield path.read_bytes()
    if path.suffix == ".xlsx":
        with zipfile.ZipFile(path) as archive:
            for member in archive.namelist():
                yield archive.read(member)
    elif path.suffix == ".parquet":
        table = pq.read_table(path)
        yield str(table.to_pydict())
        yield str(table.schema.metadata)
        yield str(pq.read_metadata(path).to_dict())
    else:
        yield path.with_suffix(".about.json").read_bytes()


# ---------------------------------------------------------------- errors


def sparse_cube() -> SparseCube:
    cube = protected_by("random-rounding").audit.cube
    inner = {name: array[:2, :3].reshape(-1) for name, array in cube.values.items()}
    sums = {"count": inner["count"], "key": inner["key"].astype(np.uint64)}
    made = assemble(SPEC, ORIGIN, np.arange(6, dtype=np.uint64), sums, largest_dense=1)
    assert isinstance(made, SparseCube)
    return made


def of_another_secret() -> Cube:
    cube = protected_by("random-rounding").audit.cube
    assert isinstance(cube, Cube)
    return Cube(cube.spec, Origin(KeySpace(), Secret(bytes(32)).id), cube.values)


def of_few_keys() -> Cube:
    cube = protected_by("random-rounding").audit.cube
    assert isinstance(cube, Cube)
    values = Accumulators(cube.count, cube.key % np.uint32(2))
    return Cube(cube.spec, Origin(KeySpace(2), SECRET.id), values)


def with_sums() -> Cube:
    cube = protected_by("random-rounding").audit.cube
    assert isinstance(cube, Cube)
    values = Accumulators(cube.count, cube.key, sums=(("income", cube.count),))
    return Cube(cube.spec, cube.origin, values)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("cube", [sparse_cube, of_another_secret, of_few_keys, with_sums])
def test_errors_and_their_tracebacks_show_no_count(name: str, cube: Callable[[], AnyCube]) -> None:
    given = cube()
    hidden = {number for _, array in given.values.items() for number in array.reshape(-1).tolist()}
    hidden -= {0, 1}  # keys of a cube that has but two
    error: SdcensusError | None = None
    try:
        CASES[name].method.protect(given)
    except SdcensusError as refused:
        error = refused
    assert error is not None or cube is not with_sums
    if error is not None:
        shown = "".join(traceback.format_exception(error))
        assert not _in_text(str(error) + repr(error) + shown, hidden)
