"""Answers are published values of declared cells, or sums of those, and nothing else."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, strategies as st

from sdcensus.errors import QuestionError
from sdcensus.model.spec.axis import make_axis
from sdcensus.model.spec.covers import terms_of
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.model.spec.universe import universe_of
from sdcensus.session.answer.cells import CountedCells, answer_cells
from sdcensus.session.answer.recipe import compile_question
from sdcensus.session.policy import Ruling, Verdict
from sdcensus.testing.island import island_schema
from tests.session.answer.services import METHOD, asked, published, service, values

SERVICE = service()
SCHEMA = island_schema()


@pytest.mark.parametrize(
    "by",
    [
        (),
        ("sex",),
        ("area@parish+district", "age@class+half"),
        ("sex-total", "area", "married"),
    ],
)
def test_a_plain_question_has_the_numbers_of_the_batch(by: tuple[str, ...]) -> None:
    answer = SERVICE.answer(asked(*by))
    np.testing.assert_array_equal(values(answer), published(SERVICE, *by).published)
    assert answer.parts is None


def test_a_condition_that_is_a_declared_code_has_the_numbers_of_the_batch() -> None:
    answer = SERVICE.answer(asked("area", "sex", where="age@class == 'c1' and married == 1"))
    same = published(SERVICE, "area", "sex", where="age@class == 'c1' and married == 1")
    np.testing.assert_array_equal(values(answer), same.published)
    assert answer.table is not None
    assert answer.table.spec == same.spec


def test_a_range_is_the_sum_of_the_fewest_published_values() -> None:
    answer = SERVICE.answer(asked("area", where="age >= 2 and age <= 6"))
    parts = published(SERVICE, "area", "age+class")
    age = parts.spec.axes[1]
    # 3 to 6 is the class c1, and 2 stands alone.
    places = [age.position("c1"), age.position("2")]
    np.testing.assert_array_equal(values(answer), parts.published[:, places].sum(axis=1))
    assert answer.parts is not None
    assert set(answer.parts.ravel().tolist()) == {2}


def test_the_same_range_asked_as_a_group_or_as_a_condition_has_one_answer() -> None:
    condition = SERVICE.answer(asked("sex", where="age in ('0', '4', '5', '9')"))
    group = SERVICE.answer(
        asked("sex", "age", groups={"age": [{"label": "mine", "codes": ["0", "4", "5", "9"]}]})
    )
    np.testing.assert_array_equal(values(condition), values(group)[:, 0])


def test_groups_of_areas_are_sums_and_a_group_that_is_a_district_is_its_published_value() -> None:
    answer = SERVICE.answer(
        asked(
            "area",
            "sex",
            groups={
                "area": [
                    {"label": "first", "codes": ["P0", "P1", "P2"]},
                    {"label": "mixed", "codes": ["P0", "P6"]},
                ]
            },
        )
    )
    tables = published(SERVICE, "area@parish+district", "sex")
    area = tables.spec.axes[0]
    rows = values(answer)
    np.testing.assert_array_equal(rows[0], tables.published[area.position("D0")])
    # P6 is all of the district D2: the same records have the same number at both levels.
    expected = tables.published[area.position("P0")] + tables.published[area.position("P6")]
    np.testing.assert_array_equal(rows[1], expected)
    np.testing.assert_array_equal(rows[2], tables.published[-1])
    assert answer.table is not None
    assert answer.table.axes[0].codes == ("own_1", "own_2", "_T")
    assert answer.table.axes[0].labels[0].show("nl") == "Eigen groep: first"


def test_codes_that_are_chosen_are_slices_of_the_whole_table() -> None:
    answer = SERVICE.answer(
        asked("area@parish+district", "age", codes={"area": ["P5", "district:D1"], "age": ["3"]})
    )
    whole = published(SERVICE, "area@parish+district", "age")
    area, age = whole.spec.axes
    rows = [area.position("P5"), area.position("D1"), len(area.codes) - 1]
    columns = [age.position("3"), len(age.codes) - 1]
    np.testing.assert_array_equal(values(answer), whole.published[np.ix_(rows, columns)])
    assert answer.table is not None
    # P5 lies in D1, which is shown.
    assert answer.table.axes[0].parents == (1, 2, -1)


def test_a_condition_on_an_axis_shows_what_is_left_of_its_codes() -> None:
    answer = SERVICE.answer(asked("age@class", where="age >= 2 and age <= 6"))
    ages = published(SERVICE, "age+class")
    axis = ages.spec.axes[0]
    assert answer.table is not None
    assert answer.table.axes[0].codes == ("c0", "c1", "_T")
    assert [label.show("en") for label in answer.table.axes[0].labels] == ["c 0 *", "c 1", "Total"]
    two, middle = (int(ages.published[axis.position(code)]) for code in ("2", "c1"))
    np.testing.assert_array_equal(values(answer), [two, middle, two + middle])
    assert any("*" in note.show("es") for note in answer.table.notes)


CONDITIONS = st.lists(
    st.tuples(
        st.sampled_from(["age", "sex", "married", "area", "age@class"]),
        st.sampled_from(["==", "!=", ">=", "<="]),
        st.integers(0, 6),
    ),
    min_size=1,
    max_size=3,
)


def _written(parts: list[tuple[str, str, int]], joint: str) -> str | None:
    made = []
    for name, operator, number in parts:
        prefix = {"age": "", "sex": "", "married": "", "area": "P", "age@class": "c"}[name]
        size = {"age": 10, "sex": 2, "married": 2, "area": 7, "age@class": 3}[name]
        if name != "age" and operator in (">=", "<="):
            operator = "=="
        made.append(f"{name} {operator} '{prefix}{number % size}'")
    return joint.join(made)


@given(CONDITIONS, st.sampled_from([" and ", " or "]), st.sampled_from([("sex",), ("area", "age")]))
def test_whatever_the_condition_an_answer_is_a_sum_of_declared_cells(
    parts: list[tuple[str, str, int]], joint: str, by: tuple[str, ...]
) -> None:
    """By hand: cells of all leaves that the condition holds for, covered by declared codes."""
    text = _written(parts, joint)
    universe = universe_of(text, SCHEMA)
    question = asked(*by, where=text)
    if not universe.truth.any():
        with pytest.raises(QuestionError, match="No record"):
            SERVICE.answer(question)
        return
    compiled = compile_question(question, SERVICE.policy)
    answer = SERVICE.answer(question)
    # Every declared code of every variable in one table: where all published values stand.
    names = [axis.asked.variable.name for axis in compiled.axes]
    names += [one.variable.name for one in compiled.filters]
    lattice = TableSpec(
        of=compiled.spec.of,
        axes=tuple(
            make_axis(one, list(one.levels()), total=True) for one in map(SCHEMA.variable, names)
        ),
    )
    everything = METHOD.protect(SERVICE.census.tabulate(lattice)).table.published
    total = np.zeros(compiled.shape, dtype=np.int64)
    seen: dict[tuple[int, ...], int] = {}
    for term in range(compiled.terms):
        for cell in itertools.product(*(range(size) for size in compiled.shape)):
            codes = [
                axis.codes[at].parts[term] for axis, at in zip(compiled.axes, cell, strict=True)
            ]
            codes += [one.parts[term] for one in compiled.filters]
            for chosen in itertools.product(*codes):
                places = tuple(
                    axis.position(
                        "_T" if part.total else axis.variable.level(part.level).codes[part.at].code,
                        part.level,
                    )
                    for axis, part in zip(lattice.axes, chosen, strict=True)
                )
                total[cell] += everything[places]
                seen[cell] = seen.get(cell, 0) + 1
    np.testing.assert_array_equal(values(answer), total)
    # Terms do not overlap and leave nothing out: without noise the sums are the counts.
    counts = SERVICE.census.tabulate(compiled.counted).values.count
    quiet = answer_cells(compiled, CountedCells(counts), Ruling(Verdict())).values
    exact = SERVICE.census.tabulate(replace(compiled.spec, universe=universe)).values.count
    assert int(quiet.reshape(-1)[-1]) == int(exact.reshape(-1)[-1])


@given(CONDITIONS, st.sampled_from([" and ", " or "]))
def test_the_terms_of_a_condition_are_the_condition(
    parts: list[tuple[str, str, int]], joint: str
) -> None:
    universe = universe_of(_written(parts, joint), SCHEMA)
    if not universe.truth.any():
        return
    variables = [variable for variable in SCHEMA.variables if variable.is_axis]
    sizes = [len(variable.codes) for variable in variables]
    held = np.zeros(sizes, dtype=np.int64)
    for term in terms_of(universe):
        inside = np.ones(sizes, dtype=bool)
        for at, variable in enumerate(variables):
            shape = [1] * len(sizes)
            shape[at] = -1
            if variable.name in term:
                inside &= term[variable.name].reshape(shape)
        held += inside
    wanted = np.zeros(sizes, dtype=bool)
    for cell in np.ndindex(*sizes):
        classes = tuple(
            int(mine[cell[[v.name for v in variables].index(variable.name)]])
            for variable, mine in zip(universe.variables, universe.classes, strict=True)
        )
        wanted[cell] = bool(universe.truth[classes])
    np.testing.assert_array_equal(held, wanted)
