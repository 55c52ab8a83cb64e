from __future__ import annotations

import itertools
import pickle

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from sdcensus.errors import Refused, SpecError
from sdcensus.model.confidential import Confidential
from sdcensus.model.cube.constraints import constraints
from sdcensus.model.cube.cube import Cube
from sdcensus.model.cube.sparse_cube import SparseCube, assemble
from sdcensus.model.published.table import SparseTable, Table
from sdcensus.model.schema.structural import structural_zeros
from sdcensus.model.schema.variable import Role
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.risk.detection.detectors import detect
from sdcensus.risk.detection.findings import ConfidentialFindings, FindingKind, Findings
from sdcensus.risk.detection.held_cells import Source
from sdcensus.testing.island import island, island_cube, island_schema
from sdcensus.testing.printed_tables import (
    labels_of,
    printed_cube,
    printed_spec,
    printed_table,
    printed_variable,
)
from tests.examples import at_least

SEX = printed_variable("sex", ("M", "F"))
AGE = printed_variable("age", ("young", "middle", "old"))
HEALTH = printed_variable("health", ("No", "Yes", "Not stated"), missing=("Not stated",))
AREA = printed_variable("area", ("North", "South"), role=Role.GEOGRAPHY)
SPEC = printed_spec(SEX, AGE, HEALTH)
COUNTS = st.lists(st.sampled_from((0, 0, 0, 1, 1, 2, 3, 7)), min_size=18, max_size=18)


def cells(found: tuple[Findings, ...], kind: FindingKind) -> list[tuple[int, int, int]]:
    """Cell, axis and size of findings, in order."""
    made = next(one for one in found if one.kind is kind)
    return sorted(zip(made.cells.tolist(), made.axes.tolist(), made.values.tolist(), strict=True))


def expected(cube: Cube, coalition: int) -> dict[FindingKind, list[tuple[int, int, int]]]:
    """By the definitions, one cell after the other."""
    made: dict[FindingKind, list[tuple[int, int, int]]] = {kind: [] for kind in FindingKind}
    shape = cube.shape
    for at in itertools.product(*map(range, shape)):
        count = int(cube.count[at])
        number = int(np.ravel_multi_index(at, shape))
        if count in (1, 2):
            kind = FindingKind.IDENTIFICATION if count == 1 else FindingKind.PAIR
            made[kind].append((number, -1, count))
        for axis in range(3):
            if at[axis] == shape[axis] - 1 or count == 0:
                continue
            margin = int(cube.count[(*at[:axis], shape[axis] - 1, *at[axis + 1 :])])
            others = margin - count
            missing = axis == 2 and at[axis] == 2
            if others > coalition or (others and margin < 2):
                continue
            if missing:
                kind = FindingKind.NO_VALUE
            elif others:
                kind = FindingKind.COALITION
            elif margin == 1:
                kind = FindingKind.INDIVIDUAL_ATTRIBUTE
            else:
                kind = FindingKind.GROUP_ATTRIBUTE
            made[kind].append((number, axis, margin))
    return {kind: sorted(one) for kind, one in made.items()}


@given(COUNTS, st.integers(0, 2))
def test_findings_are_those_of_the_definitions(counts: list[int], coalition: int) -> None:
    cube = printed_cube(SPEC, counts)
    found = detect(cube, coalition=coalition)
    wanted = expected(cube, coalition)
    for one in found:
        assert cells(found, one.kind) == wanted[one.kind]
    # A table of the true counts is what a reader would think rightly.
    seen = detect(Table(SPEC, cube.count.copy()), coalition=coalition)
    for mine, theirs in zip(found, seen, strict=True):
        assert mine.cells.tolist() == theirs.cells.tolist()
        assert mine.values.tolist() == theirs.values.tolist()


@pytest.mark.parametrize("people", [15, 60])
def test_lines_run_between_levels_as_they_add_up(people: int) -> None:
    """Nested and other levels: every total with its parts directly below is a line."""
    cube = island_cube("area@parish+district", "age@age+class+half", people=people)
    found = detect(cube)
    told = {
        (cell, size)
        for kind in (FindingKind.INDIVIDUAL_ATTRIBUTE, FindingKind.GROUP_ATTRIBUTE)
        for cell, _, size in cells(found, kind)
    }
    matrix = constraints(cube.spec)
    count = cube.count.reshape(-1)
    wanted = set()
    for row in range(matrix.shape[0]):
        part = slice(matrix.starts[row], matrix.starts[row + 1])
        children = matrix.columns[part][matrix.values[part] == 1]
        held = children[count[children] > 0]
        if held.size == 1 and children.size > 1:
            wanted.add((int(held[0]), int(count[held[0]])))
    assert told == wanted


def sparse_cube(cube: Cube) -> SparseCube:
    inner = cube.count[tuple(slice(0, size) for size in cube.spec.base_shape)]
    numbers = np.arange(inner.size, dtype=np.uint64)
    sums = {"count": inner.reshape(-1), "key": np.zeros(inner.size, dtype=np.uint64)}
    held = inner.reshape(-1) > 0
    made = assemble(
        cube.spec,
        cube.origin,
        numbers[held],
        {name: one[held] for name, one in sums.items()},
        largest_dense=0,
    )
    assert isinstance(made, SparseCube)
    return made


@given(COUNTS)
def test_sparse_sources_give_the_same_findings(counts: list[int]) -> None:
    cube = printed_cube(SPEC, counts)
    flat = cube.count.reshape(-1)
    held = np.flatnonzero(flat)
    sources: list[tuple[Source, Source]] = [
        (cube, sparse_cube(cube)),
        (Table(SPEC, cube.count.copy()), SparseTable(SPEC, held.astype(np.uint64), flat[held])),
    ]
    for dense, sparse in sources:
        for mine, theirs in zip(
            detect(dense, coalition=1), detect(sparse, coalition=1), strict=True
        ):
            assert mine.sentences() == theirs.sentences()


def test_findings_from_true_counts_are_confidential_and_silent() -> None:
    cube = printed_cube(SPEC, [1, 1234567, *[0] * 16])
    for one in detect(cube):
        assert isinstance(one, ConfidentialFindings)
        assert isinstance(one, Confidential)
        assert "1234567" not in f"{one!r} {one} {one:>20}"
        with pytest.raises(Refused):
            pickle.dumps(one)
    for one in detect(printed_table(SPEC, np.zeros(48, dtype=np.int64))):
        assert not isinstance(one, Confidential)
        assert one.count == 0
        assert one.units is None
        assert one.sentences() == ()


def test_sentences_are_made_only_as_far_as_asked() -> None:
    cube = island_cube("area@parish", "sex", "age", "married", people=400)
    found = detect(cube)[0]
    assert found.count > 100
    assert len(found.sentences(5)) == 5
    assert found.sentences(0) == ()
    asked: list[int] = []

    class Counting:
        def sentence(self, at: int, language: str | None) -> str:
            asked.append(at)
            return ""

    copy = Findings(
        found.kind, found.spec, found.cells, found.values, found.axes, found.scope, Counting()
    )
    copy.sentences(3)
    assert asked == [0, 1, 2]
    with pytest.raises(SpecError):
        found.sentences(-1)


def test_findings_that_need_least_knowledge_come_first() -> None:
    found = detect(island_cube("area@parish", "sex", "age", people=60))[0]
    positions = np.unravel_index(found.cells.astype(int), found.spec.shape)
    known = sum(
        (at != size - 1).astype(int) for at, size in zip(positions, found.spec.shape, strict=True)
    )
    assert (np.diff(known) >= 0).all()


def test_thresholds_widen_identification() -> None:
    cube = printed_cube(printed_spec(AGE), [1, 2, 4])
    kinds = {one.kind: one.values.tolist() for one in detect(cube)}
    assert kinds[FindingKind.IDENTIFICATION] == [1]
    assert kinds[FindingKind.PAIR] == [2]
    wider = detect(cube, threshold=4)
    assert sorted(wider[0].values.tolist()) == [1, 2, 4]
    assert FindingKind.PAIR not in {one.kind for one in wider}


def test_roles_say_what_is_known_and_what_is_told() -> None:
    spec = printed_spec(SEX, AGE, HEALTH)
    counts = [[[3, 0, 0], [0, 0, 0], [2, 2, 0]], [[0, 1, 0], [4, 0, 0], [0, 0, 0]]]
    cube = printed_cube(spec, counts)
    found = detect(cube, identifying=["sex"], sensitive=["health"])
    # Nobody knows ages, so only lines of all ages count.
    assert [one.count for one in found] == [0, 0, 0, 0, 0]
    found = detect(cube, identifying=["age"], sensitive=["health"])
    assert labels_of(spec, found[3].cells) == {("Total", "middle", "No")}
    both = detect(cube, sensitive="health")
    assert labels_of(spec, both[2].cells) == {("F", "young", "Yes")}
    with pytest.raises(SpecError, match="no axis 'religion'"):
        detect(cube, sensitive=["religion"])


def test_sensitive_variables_of_the_schema_are_what_is_told() -> None:
    secret = printed_variable("illness", ("No", "Yes"), role=Role.SENSITIVE)
    spec = printed_spec(SEX, secret)
    found = detect(printed_cube(spec, [[5, 0], [3, 4]]))
    assert labels_of(spec, found[3].cells) == {("M", "No")}  # and not that all with Yes are F
    everything = detect(printed_cube(spec, [[5, 0], [3, 4]]), sensitive=["sex", "illness"])
    assert labels_of(spec, everything[3].cells) == {("M", "No"), ("F", "Yes")}


def test_an_axis_of_which_nothing_is_known_needs_its_total() -> None:
    cube = island_cube("area@parish", "sex-total")
    with pytest.raises(SpecError, match="shows no total"):
        detect(cube, identifying=["area"])
    # Lines along an axis without a total are its codes.
    spec = cube.spec
    count = np.array([[0, 4], *[[0, 0]] * 6, [0, 4]])
    found = detect(Table(spec, count))
    assert found[3].sentences()[:2] == (
        "A reader would think: All 4 persons have sex ' 1'.",
        "A reader would think: All 4 persons with sex ' 1' are in 'P 0'.",
    )


def test_missing_codes_are_reported_apart() -> None:
    spec = printed_spec(SEX, HEALTH)
    found = detect(printed_cube(spec, [[0, 0, 4], [3, 3, 0]]), sensitive=["health"])
    assert [one.kind for one in found if one] == [FindingKind.NO_VALUE]
    assert found[-1].sentences() == (
        "All 4 persons with Sex 'M' have Health 'Not stated' (no value).",
    )


def test_a_variable_with_one_value_tells_nothing() -> None:
    income = printed_variable("income", ("Stated", "Not stated"), missing=("Not stated",))
    one_child = printed_variable("whole", ("all",))
    for spec in (printed_spec(SEX, income), printed_spec(SEX, one_child)):
        counts = np.zeros(spec.base_shape, dtype=np.int64)
        counts[:, 0] = 4
        found = detect(printed_cube(spec, counts), sensitive=[spec.axes[1].variable.name])
        assert not any(found)


@settings(max_examples=at_least(30))
@given(st.lists(st.sampled_from((0, 0, 1, 2, 5)), min_size=6, max_size=6), st.integers(0, 2))
def test_one_value_beside_missing_codes_still_counts(counts: list[int], coalition: int) -> None:
    """Of four persons two stated a value: it is false that all have none."""
    asked = printed_variable(
        "asked", ("Yes", "Not stated", "Not asked"), missing=("Not stated", "Not asked")
    )
    spec = printed_spec(SEX, asked)
    true = np.array(counts).reshape(2, 3)
    for source in (printed_cube(spec, true), Table(spec, printed_cube(spec, true).count.copy())):
        found = detect(source, sensitive=["asked"], coalition=coalition)
        wanted = []
        for sex, line in enumerate([*true.tolist(), true.sum(axis=0).tolist()]):
            for code in (1, 2):
                others = sum(line) - line[code]
                if line[code] and others <= coalition and (others == 0 or sum(line) > 1):
                    wanted.append((sex * 4 + code, 1, sum(line)))
        assert cells(found, FindingKind.NO_VALUE) == sorted(wanted)
        assert not any(one for one in found[2:] if one.kind is not FindingKind.NO_VALUE)


def test_a_subtotal_with_one_child_tells_nothing_but_others_do() -> None:
    census = island(people=0)
    spec = census.spec("area@parish+district")
    count = np.zeros(spec.shape, dtype=np.int64)
    count[[0, 6, 7, 9, 10]] = [3, 4, 3, 4, 7]  # three in P0 of D0, four in P6, all of D2
    found = detect(Table(spec, count))
    assert found[3].sentences() == ("A reader would think: In D 0 all 3 persons are in 'P 0'.",)


def test_what_the_universe_leaves_no_choice_of_is_not_told() -> None:
    census = island(people=300)
    men = census.tabulate("sex", "married", universe="sex == '0'")
    found = detect(men, sensitive=["sex"])
    assert not any(found[2:])


def test_structural_zeros_take_away_what_must_be_so() -> None:
    schema = island_schema()
    cube = island_cube("age", "married", people=300)
    children = ("0", "0")
    told = detect(cube, sensitive=["married"])[3]
    assert any(children[1] in sentence for sentence in told.sentences())
    assert {cell // 3 for cell in told.cells.tolist()} == {0, 1, 2}
    zeros = structural_zeros(cube.spec, schema)
    assert not any(detect(cube, sensitive=["married"], structural=zeros)[2:])
    with pytest.raises(SpecError, match="mask of the shape"):
        detect(cube, structural=zeros[:2])


def test_withheld_cells_hide_and_totals_may_still_tell() -> None:
    spec = printed_spec(SEX, HEALTH)
    #           No Yes n/s total
    published = [[0, 5, 0, 5], [3, 0, 0, 9], [3, 5, 0, 14]]
    flags = np.zeros((3, 4), dtype=np.uint8)
    flags[0, 0] = flags[0, 2] = 1  # five of five are Yes: what is withheld must be 0
    flags[1, 1] = flags[1, 2] = 1  # three of nine: nothing is told
    table = Table(spec, np.array(published), flags)
    found = detect(table, sensitive=["health"])
    assert labels_of(spec, found[3].cells) == {("M", "Yes")}


def test_published_totals_count_where_they_disagree_with_their_parts() -> None:
    spec = printed_spec(SEX, HEALTH)
    published = [[0, 2, 0, 1], [3, 4, 0, 6], [3, 5, 0, 8]]
    found = detect(Table(spec, np.array(published)), sensitive=["health"])
    assert found[2].sentences() == (
        "A reader would think: There is one person with Sex 'M', and that person has Health 'Yes'.",
    )


def test_sentences_in_spanish_agree_in_gender_and_number() -> None:
    spec = printed_spec(AREA, SEX, AGE)
    cube = printed_cube(spec, [[[1, 0, 0], [0, 2, 0]], [[0, 4, 1], [0, 0, 3]]])
    found = detect(cube, sensitive=["age"], coalition=1)
    assert [one.sentences(1, "es") for one in found[:5]] == [
        ("Hay una persona con Age «young».",),
        ("En North hay dos personas con Sex «F»; cada una puede reconocer a la otra.",),
        ("En North hay una persona con Sex «M», y esa persona tiene Age «young».",),
        ("En North las dos personas con Sex «F» tienen Age «middle».",),
        ("En North dos de las 3 personas tienen Age «middle»; la otra puede saberlo de ellas.",),
    ]
    household = TableSpec(of=type(spec.of).HOUSEHOLD, axes=spec.axes)
    homes = Table(household, cube.count.copy())
    assert detect(homes)[1].sentences(1, "es") == (
        "Un lector creería: En North hay dos hogares con Sex «F»; cada uno puede reconocer al"
        " otro.",
    )
    assert detect(homes)[1].sentences(1, "en") == (
        "A reader would think: In North there are two households with Sex 'F'; each of them can"
        " recognise the other.",
    )


def test_tables_without_axes_and_without_anybody() -> None:
    empty = printed_spec()
    assert detect(printed_cube(empty, [1]))[0].sentences() == ("There is one person.",)
    assert not any(detect(printed_cube(empty, [0])))
    assert not any(detect(printed_cube(SPEC, [0] * 18), coalition=3))


@pytest.mark.parametrize(
    "options", [{"threshold": 0}, {"threshold": 1.5}, {"coalition": -1}, {"coalition": True}]
)
def test_other_options_are_refused(options: dict[str, int]) -> None:
    with pytest.raises(SpecError, match="whole number"):
        detect(printed_cube(SPEC, [0] * 18), **options)  # type: ignore[arg-type]


def test_other_sources_are_refused() -> None:
    with pytest.raises(SpecError, match="Cube or in a published Table"):
        detect(np.zeros(3))  # type: ignore[arg-type]
    with pytest.raises(SpecError, match="0 or more"):
        detect(printed_cube(SPEC, [-1, *[0] * 17]))
    with pytest.raises(SpecError, match="published count is 0 or more"):
        detect(Table(SPEC, np.full(SPEC.shape, -1)))
