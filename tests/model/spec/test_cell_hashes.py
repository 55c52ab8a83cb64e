from __future__ import annotations

import numpy as np
from hypothesis import given, strategies as st

from sdcensus.model.spec.cell_definitions import cell_hashes
from sdcensus.model.spec.record_sets import universe_of_cell
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.model.spec.universe import Universe
from sdcensus.testing.island import island_schema
from sdcensus.testing.printed_tables import printed_spec, printed_variable

SCHEMA = island_schema()
BY = st.sampled_from(
    [
        ("area@parish+district", "sex"),
        ("sex", "age@class+half"),
        ("married",),
        ("age", "married"),
        (),
    ]
)
WHERE = st.sampled_from(
    [
        None,
        "sex == '1'",
        "age >= 3 and sex == '0'",
        "age >= 3 or sex == '0'",
        "not (age >= 3 or sex == '0')",
        "age == 1 and married == '0' or age == 2",
        "area@district == 'D2'",
    ]
)


def canonical(spec: TableSpec) -> list[str | None]:
    """Each cell as the canonical form of its records; None where there can be none."""
    made = []
    for at in np.ndindex(spec.shape):
        universe = universe_of_cell(spec, at)
        made.append(str(universe.canonical()) if universe.truth.any() else None)
    return made


@given(BY, WHERE, BY, WHERE)
def test_hashes_agree_exactly_where_the_records_do(
    by: tuple[str, ...], where: str | None, other: tuple[str, ...], also: str | None
) -> None:
    first = TableSpec.build(SCHEMA, by, universe=where)
    second = TableSpec.build(SCHEMA, other, universe=also)
    texts = [*canonical(first), *canonical(second)]
    hashes = np.concatenate([cell_hashes(first), cell_hashes(second)])
    seen: dict[str, tuple[int, ...]] = {}
    for text, row in zip(texts, hashes.tolist(), strict=True):
        if text is None:
            assert row == [0, 0]
        else:
            assert seen.setdefault(text, tuple(row)) == tuple(row)
    assert len(set(seen.values())) == len(seen)


def test_some_cells_can_be_asked_for() -> None:
    spec = TableSpec.build(SCHEMA, ["area@parish", "sex", "age"])
    chosen = np.array([0, 17, spec.cells - 1])
    assert (cell_hashes(spec, cells=chosen) == cell_hashes(spec)[chosen]).all()


def test_units_and_measures_are_part_of_the_cell() -> None:
    spec = TableSpec.build(SCHEMA, ["sex"])
    weighted = TableSpec.build(SCHEMA, ["sex"], measure="weighted")
    assert not (cell_hashes(spec) == cell_hashes(weighted)).all(axis=1).any()


def test_the_hash_of_a_cell_never_changes() -> None:
    # A registry of today has to be understood in later years.
    spec = printed_spec(printed_variable("sex", ("M", "F")))
    assert cell_hashes(spec).tolist() == [
        [3952077451053676537, 13331391206695910200],
        [5198562932226354943, 26384535999922452],
        [8945244616921285199, 13820018396401134122],
    ]


def test_conditions_that_combine_long_code_lists_are_resolved() -> None:
    long = [printed_variable(name, [str(at) for at in range(300)]) for name in ("a", "b")]
    joint = np.zeros((2, 2), dtype=bool)
    joint[0, 1] = joint[1, 0] = True
    classes = (np.arange(300) % 2,) * 2
    universe = Universe(tuple(long), classes, joint)
    hashes = cell_hashes(printed_spec(*long, universe=universe)).reshape(301, 301, 2)
    plain = cell_hashes(printed_spec(*long)).reshape(301, 301, 2)
    odd = (np.arange(300)[:, None] + np.arange(300)[None, :]) % 2 == 1
    assert (hashes[:300, :300][odd] == plain[:300, :300][odd]).all()
    assert not hashes[:300, :300][~odd].any()
