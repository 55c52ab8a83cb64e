"""Several files of one census, against a slow reading of what they show together."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from sdcensus.model.release.plan import MissingValues
from sdcensus.model.schema.variable import Code, CodeKind, Level
from sdcensus.risk.records.union import ShownFile, UnionRisk, coarsest_common, union_risk

NOBODY = 0.0
Keys = tuple[object, ...]
SINGLE = Level("single", tuple(Code(str(at)) for at in range(4)), (0, 1, 2, 3))
PAIRS = Level("pairs", (Code("a"), Code("b")), (0, 0, 1, 1))
OVERLAPPING = Level("overlapping", (Code("x"), Code("y"), Code("z")), (0, 1, 1, 2))
ONE = Level("one", (Code("all"),), (0, 0, 0, 0))
LEVELS = (SINGLE, PAIRS, OVERLAPPING, ONE)
KNOWN = {"age": SINGLE, "work": PAIRS}


def shown(
    leaves: dict[str, list[int]],
    rows: Sequence[int],
    levels: dict[str, Level],
    *,
    name: str = "file",
    accepted: float = 0.1,
    amounts: dict[str, list[int]] | None = None,
    values: dict[str, list[int]] | None = None,
) -> ShownFile:
    """A file that tells the truth about some persons, but for the values that are given."""
    place, changed = np.array(sorted(rows), dtype=np.int64), values or {}
    told = {
        name: np.array(
            changed.get(name, [level.group[leaves[name][row]] for row in place]), dtype=np.int64
        )
        for name, level in levels.items()
    }
    numbers = {name: np.array(amount)[place] for name, amount in (amounts or {}).items()}
    return ShownFile(
        name=name, accepted=accepted, rows=place, levels=levels, values=told, amounts=numbers
    )


def together(
    leaves: dict[str, list[int]],
    files: Sequence[ShownFile],
    missing: MissingValues = MissingValues.CATEGORY,
    known: dict[str, Level] | None = None,
) -> UnionRisk:
    arrays = {name: np.array(codes) for name, codes in leaves.items()}
    size = len(next(iter(leaves.values())))
    return union_risk(arrays, files, known or KNOWN, size=size, missing=missing)


# ---------------------------------------------------------------- the slow reading


def block(*levels: Level) -> list[int]:
    """For each leaf the smallest leaf that cannot be told from it where levels are shared."""
    parts = list(range(4))
    for _ in range(4):
        for one, other in combinations(range(4), 2):
            if any(level.group[one] == level.group[other] for level in levels):
                parts[one] = parts[other] = min(parts[one], parts[other])
    return parts


def told(file: ShownFile, person: int, name: str, *levels: Level) -> object:
    """What a file tells of a person, as coarsely as levels share it."""
    code = int(file.values[name][file.rows.tolist().index(person)])
    leaf = file.levels[name].group.index(code)
    return block(file.levels[name], *levels)[leaf]


def slow_links(one: ShownFile, other: ShownFile) -> set[int]:
    both = set(one.rows.tolist()) & set(other.rows.tolist())
    names = [name for name in one.levels if name in other.levels]

    def record(file: ShownFile, against: ShownFile, person: int, used: Sequence[str]) -> Keys:
        return tuple(told(file, person, name, against.levels[name]) for name in used)

    alike = [
        name
        for name in names
        if all(record(one, other, p, [name]) == record(other, one, p, [name]) for p in both)
    ]
    linked = set()
    for used in (names, alike):
        mine = [record(one, other, person, used) for person in one.rows.tolist()]
        theirs = [record(other, one, person, used) for person in other.rows.tolist()]
        for person in both if names else ():
            own, their = (
                record(one, other, person, used),
                record(other, one, person, used),
            )
            if own == their and mine.count(own) == 1 and theirs.count(own) == 1:
                linked.add(person)
    return linked


def slow_chance(
    leaves: dict[str, list[int]], files: Sequence[ShownFile], members: tuple[int, ...], person: int
) -> float:
    """The chance of a match for somebody whose records of some files are put together."""

    def keys(other: int) -> Keys:
        versions: dict[object, object] = {}
        for place in members:
            file = files[place]
            for name in (name for name in KNOWN if name in file.levels):
                parts = block(file.levels[name], KNOWN[name])
                truth = parts[leaves[name][other]]
                said: object = truth
                if other in file.rows:
                    said = told(file, other, name, KNOWN[name])
                versions.setdefault((name, tuple(parts)), said)
        return tuple(versions.items())

    inside = {row for place in members for row in files[place].rows.tolist()}
    own = keys(person)
    if person not in inside or sum(keys(row) == own for row in inside) != 1:
        return 0.0
    everybody = range(len(next(iter(leaves.values()))))
    return 1.0 / sum(keys(row) == own for row in everybody)


def slow_expected(leaves: dict[str, list[int]], files: Sequence[ShownFile]) -> float:
    expected = 0.0
    pairs = {
        (one, other): slow_links(files[one], files[other])
        for one, other in combinations(range(len(files)), 2)
    }
    for person in range(len(next(iter(leaves.values())))):
        group = {place: {place} for place in range(len(files))}
        for _ in files:
            for (one, other), linked in pairs.items():
                if person in linked:
                    whole = group[one] | group[other]
                    for place in whole:
                        group[place] = whole
        members = {(place,) for place in group} | {tuple(sorted(each)) for each in group.values()}
        expected += max((slow_chance(leaves, files, each, person) for each in members), default=0)
    return expected


@st.composite
def censuses(draw: st.DrawFn) -> tuple[dict[str, list[int]], list[ShownFile]]:
    size = draw(st.integers(1, 7))
    codes = st.lists(st.integers(0, 3), min_size=size, max_size=size)
    leaves = {"age": draw(codes), "work": draw(codes), "hidden": draw(codes)}
    files = []
    for place in range(draw(st.integers(1, 3))):
        rows = draw(st.lists(st.integers(0, size - 1), unique=True, max_size=size))
        names: list[str] = draw(st.lists(st.sampled_from(list(leaves)), unique=True, max_size=3))
        levels = {name: draw(st.sampled_from(LEVELS)) for name in names}
        changed: dict[str, list[int]] = {}
        if draw(st.booleans()) and names:
            level = levels[names[0]]
            codes_of = st.integers(0, len(level.codes) - 1)
            changed[names[0]] = [draw(codes_of) for _ in rows]
        files.append(shown(leaves, rows, levels, name=f"file {place}", values=changed))
    return leaves, files


@settings(max_examples=200, deadline=None)
@given(censuses())
def test_the_union_is_what_a_slow_reading_gives(
    drawn: tuple[dict[str, list[int]], list[ShownFile]],
) -> None:
    leaves, files = drawn
    risk = together(leaves, files)
    assert risk.expected == pytest.approx(slow_expected(leaves, files))
    assert risk.expected_before == pytest.approx(slow_expected(leaves, files[:-1]))
    for pair, (one, other) in zip(risk.pairs, combinations(files, 2), strict=True):
        assert pair.both == len(set(one.rows.tolist()) & set(other.rows.tolist()))
        assert pair.linked == len(slow_links(one, other))
    assert risk.persons == len({row for file in files for row in file.rows.tolist()})


@settings(max_examples=100, deadline=None)
@given(censuses())
def test_more_files_never_give_less_away_and_the_same_again_adds_nothing(
    drawn: tuple[dict[str, list[int]], list[ShownFile]],
) -> None:
    leaves, files = drawn
    for missing in MissingValues:
        risk = together(leaves, files, missing)
        assert risk.adds >= -1e-9
        again = together(leaves, [*files, files[-1]], missing)
        assert not again.exceeded
        assert again.expected == pytest.approx(risk.expected)


@settings(max_examples=100, deadline=None)
@given(censuses(), st.data())
def test_an_extract_of_fewer_variables_adds_nothing(
    drawn: tuple[dict[str, list[int]], list[ShownFile]], data: st.DataObject
) -> None:
    leaves, files = drawn
    whole = files[-1]
    kept = data.draw(st.lists(st.sampled_from([*whole.levels, ""]), unique=True))
    levels = {name: level for name, level in whole.levels.items() if name in kept}
    values = {name: whole.values[name].tolist() for name in levels}
    extract = shown(leaves, whole.rows.tolist(), levels, name="extract", values=values)
    risk = together(leaves, [*files, extract])
    assert risk.adds == pytest.approx(0.0, abs=1e-9)
    assert not risk.exceeded


# ---------------------------------------------------------------- single facts


def test_two_harmless_files_find_somebody_together() -> None:
    # Everybody shares the year with somebody and the work with somebody; both together nobody.
    leaves = {"age": [0, 0, 1, 1], "work": [0, 2, 0, 2], "hidden": [0, 1, 2, 3]}
    years = shown(leaves, range(4), {"age": SINGLE, "hidden": SINGLE})
    works = shown(leaves, range(4), {"work": PAIRS, "hidden": SINGLE})
    risk = together(leaves, [years, works])
    assert [file.expected_alone for file in risk.files] == [NOBODY, NOBODY]
    assert (risk.expected, risk.pairs[0].linked) == (4.0, 4)
    assert risk.exceeded
    # Without something in common nothing can be put together.
    apart = shown(leaves, range(4), {"work": PAIRS})
    assert together(leaves, [years, apart]).expected == NOBODY


def test_the_strictest_class_decides() -> None:
    leaves = {"age": [0, 1, 2, 3], "work": [0, 0, 0, 0]}
    lenient = shown(leaves, [0, 1], {"age": SINGLE}, accepted=1.0)
    strict = shown(leaves, [2], {"age": SINGLE}, accepted=0.25)
    for files in ([lenient, strict], [strict, lenient]):
        risk = together(leaves, files)
        assert (risk.expected, risk.accepted) == (3.0, 1.0)
        assert risk.exceeded
    assert not together(leaves, [lenient]).exceeded  # alone it is judged by its own measures


def test_amounts_link_records() -> None:
    leaves = {"age": [0, 0, 1, 1], "work": [0, 2, 0, 2]}
    income = {"income": [10, 20, 30, 40]}
    years = shown(leaves, range(4), {"age": SINGLE}, amounts=income)
    works = shown(leaves, range(4), {"work": PAIRS}, amounts=income)
    assert together(leaves, [years, works]).expected == 4.0
    alike = shown(leaves, range(4), {"work": PAIRS}, amounts={"income": [10, 10, 30, 30]})
    # Changed amounts do not link, and nothing else is in common.
    assert together(leaves, [years, alike]).expected == NOBODY


def test_what_an_intruder_does_not_know_so_finely_is_not_counted() -> None:
    leaves = {"age": [0, 1, 2, 3], "work": [0, 0, 0, 0]}
    file = shown(leaves, range(4), {"age": SINGLE})
    assert together(leaves, [file]).expected == 4.0
    assert together(leaves, [file], known={"age": PAIRS}).expected == NOBODY


def test_three_files_are_put_together_over_the_one_between() -> None:
    leaves = {"age": [0, 0, 1, 1], "work": [0, 2, 0, 2], "hidden": [0, 1, 2, 3]}
    numbers = {"rent": [1, 2, 3, 4]}
    years = shown(leaves, range(4), {"age": SINGLE}, amounts=numbers)
    between = shown(leaves, range(4), {"hidden": SINGLE}, amounts=numbers)
    works = shown(leaves, range(4), {"work": PAIRS, "hidden": SINGLE})
    assert together(leaves, [years, works]).expected == NOBODY
    risk = together(leaves, [years, works, between])
    assert (risk.expected, risk.adds) == (4.0, 4.0)


def test_what_one_file_blanks_another_one_tells() -> None:
    blank = Level("blank", (*SINGLE.codes, Code("?", kind=CodeKind.NOT_STATED)), SINGLE.group)
    leaves = {"age": [0, 1, 1, 2], "work": [0, 0, 2, 2], "hidden": [0, 1, 2, 3]}
    # The age of person 0 is blanked; by the hidden variable alone both records still meet.
    hiding = shown(leaves, range(4), {"age": blank, "hidden": SINGLE}, values={"age": [4, 1, 1, 2]})
    telling = shown(leaves, range(4), {"age": SINGLE, "hidden": SINGLE})
    risk = together(leaves, [hiding, telling], MissingValues.ADJUST)
    assert risk.pairs[0].linked == 4
    assert risk.expected == pytest.approx(risk.files[1].expected_alone)
    assert risk.files[0].expected_alone < risk.files[1].expected_alone


def test_more_files_than_bits_of_a_number() -> None:
    leaves = {"age": [0, 1, 2, 3], "work": [0, 0, 0, 0]}
    files = [shown(leaves, [place % 4], {"age": SINGLE}) for place in range(70)]
    assert together(leaves, files).expected == 4.0


def test_bands_that_overlap_are_joined() -> None:
    parts, years, bands = coarsest_common(SINGLE, PAIRS)
    assert (parts, years.tolist(), bands.tolist()) == (3, [0, 0, 1, 1], [0, 1])
    _, first, second = coarsest_common(PAIRS, OVERLAPPING)
    assert len({*first.tolist(), *second.tolist()}) == 1


def test_nothing_is_shown_by_accident() -> None:
    leaves = {"age": [0, 1], "work": [0, 0]}
    file = shown(leaves, [0, 1], {"age": SINGLE})
    risk = together(leaves, [file, file])
    for secret in (file, risk, risk.files[0], risk.pairs[0]):
        assert "confidential" in repr(secret)
