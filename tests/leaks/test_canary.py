"""A canary: true counts and keys that occur nowhere else are looked for in everything that shows.

The counts are seven-digit primes. Whatever a person, a log or a crash report could see of a cube,
a store or an error is searched for them.
"""

from __future__ import annotations

import copy
import json
import logging
import pickle
import re
import traceback
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from sdcensus.errors import Refused, SdcensusError
from sdcensus.kernels.cells.tabulate import BLOCK_ROWS
from sdcensus.model.cube.cube import Accumulators, Cube, Origin, finish
from sdcensus.model.cube.sparse_cube import SparseCube, assemble
from sdcensus.model.schema.schema import CensusInfo, KeySpace, Schema
from sdcensus.model.schema.variable import Code, Entity, EntitySpec, Variable
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.model.text import Text
from sdcensus.session.census.census import Census
from sdcensus.session.office.confidential_output import write_confidential
from sdcensus.store.in_memory import InMemoryRecords

COUNTS = (1299709, 1299721, 1299743, 1299763, 1299791, 1299811)
KEYS = (3999971273, 3999971287, 3999971299, 3999971317, 3999971329, 3999971339)
CANARIES = {str(number) for number in (*COUNTS, *KEYS, sum(COUNTS))}


def schema() -> Schema:
    def variable(name: str, size: int) -> Variable:
        codes = tuple(Code(str(at), Text.of(f"{name} {at}")) for at in range(size))
        return Variable(name=name, entity=Entity.PERSON, codes=codes)

    return Schema(
        census=CensusInfo(name="Canary"),
        entities=(EntitySpec(entity=Entity.PERSON, id=("id",)),),
        variables=(variable("sex", 2), variable("area", 3)),
    )


SPEC = TableSpec.build(schema(), ["sex", "area"])
ORIGIN = Origin(KeySpace())


def cube() -> Cube:
    sums = {
        "count": np.array(COUNTS, dtype=np.int64).reshape(2, 3),
        "key": np.array(KEYS, dtype=np.uint64).reshape(2, 3),
    }
    return finish(SPEC, ORIGIN, sums)


def sparse() -> SparseCube:
    sums = {
        "count": np.array(COUNTS, dtype=np.int64),
        "key": np.array(KEYS, dtype=np.uint64),
    }
    made = assemble(SPEC, ORIGIN, np.arange(6, dtype=np.uint64), sums, largest_dense=1)
    assert isinstance(made, SparseCube)
    return made


def records() -> InMemoryRecords:
    rows = BLOCK_ROWS // 64
    return InMemoryRecords(
        schema(),
        Entity.PERSON,
        codes={"sex": np.zeros(rows, np.uint8), "area": np.zeros(rows, np.uint8)},
        keys=np.full(rows, KEYS[0], dtype=np.uint32),
        origin=ORIGIN,
    )


def census() -> Census:
    made = records()
    return Census(made.schema, made)


def confidential_objects() -> Iterator[tuple[str, Any]]:
    yield "cube", cube()
    yield "accumulators", cube().values
    yield "cell", next(cube().cells())
    yield "sparse cube", sparse()
    yield "sparse block", next(sparse().blocks())
    yield "sparse cell", next(sparse().cells())
    yield "records", records()
    yield "census", census()


OBJECTS = [pytest.param(one, id=name) for name, one in confidential_objects()]


def assert_no_canary(text: str) -> None:
    plain = re.sub(r"(?<=\d)[,._\u00a0\u202f](?=\d)", "", text)
    found = [canary for canary in CANARIES if canary in plain]
    assert not found


def test_the_canary_can_be_found_at_all() -> None:
    """The search itself must work, or the tests below say nothing."""
    assert sorted(COUNTS) == sorted(set(cube().count.ravel().tolist()) & set(COUNTS))
    with pytest.raises(AssertionError):
        assert_no_canary(f"{COUNTS[0]:,} people")


@pytest.mark.parametrize("confidential", OBJECTS)
def test_nothing_that_is_printed_or_logged_shows_a_count(
    confidential: object, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        logging.getLogger("test").warning("%s %r", confidential, confidential)
    shown = [
        repr(confidential),
        str(confidential),
        f"{confidential}",
        f"{confidential!r:>80}",
        repr([confidential]),
        repr({"cube": confidential}),
        caplog.text,
    ]
    for text in shown:
        assert_no_canary(text)
        assert "confidential" in text


@pytest.mark.parametrize("confidential", OBJECTS)
@pytest.mark.parametrize(
    "way", [pickle.dumps, copy.copy, copy.deepcopy], ids=lambda way: way.__name__
)
def test_pickling_and_copying_are_refused(
    confidential: object, way: Callable[[object], object]
) -> None:
    with pytest.raises(Refused) as caught:
        way(confidential)
    assert_no_canary(str(caught.value))


@pytest.mark.parametrize("confidential", OBJECTS)
def test_json_does_not_know_them(confidential: object) -> None:
    with pytest.raises(TypeError) as caught:
        json.dumps(confidential)
    assert_no_canary(str(caught.value))


MISTAKES: list[Callable[[], object]] = [
    lambda: cube().rollup("age"),
    lambda: cube().rollup("sex", "sex"),
    lambda: cube().rollup("sex@nothing"),
    lambda: cube().select(sex="7"),
    lambda: cube().select(age="7"),
    lambda: sparse().rollup("age"),
    lambda: write_confidential(cube(), "cube.csv"),
    lambda: write_confidential(sparse(), "cube.csv"),
    lambda: Cube(SPEC, ORIGIN, Accumulators(count=cube().count[:1], key=cube().key[:1])),
    lambda: census().tabulate("sexx"),
    lambda: census().tabulate("sex", universe="area > 'x'"),
    lambda: census().tabulate("sex", of="households"),
    lambda: census().store,
]


@pytest.mark.parametrize("mistake", MISTAKES, ids=range(len(MISTAKES)))
def test_errors_and_their_tracebacks_show_no_count(mistake: Callable[[], object]) -> None:
    with pytest.raises(SdcensusError) as caught:
        mistake()
    assert_no_canary(str(caught.value))
    assert_no_canary(repr(caught.value))
    assert_no_canary("".join(traceback.format_exception(caught.value)))


def test_arrays_of_a_cube_cannot_be_changed() -> None:
    one = cube()
    with pytest.raises(ValueError, match="read-only"):
        one.count[0, 0] = 1
    with pytest.raises(ValueError, match="read-only"):
        one.key[0, 0] = 1
