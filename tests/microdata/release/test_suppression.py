"""Local suppression: everybody has companions, no blank too many, and hardly more than needed."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import coo_matrix

from sdcensus.errors import SpecError
from sdcensus.kernels.suppression.matches import match_counts
from sdcensus.kernels.suppression.stated import stated_counts
from sdcensus.microdata.release.records import FileRecords
from sdcensus.microdata.release.suppression import level_with_blank, suppressed
from sdcensus.model.release.plan import Blanks, Suppression
from sdcensus.model.schema.variable import Code, CodeKind, Level
from tests.microdata.release.exact_blanks import stated_blanks_can_cost
from tests.microdata.release.small_files import (
    NOT_APPLICABLE,
    NOT_STATED,
    H,
    P,
    keys_of_persons,
    plain_counts,
    small_file,
    stated_plainly,
)

COUNTED = {Blanks.ANY: plain_counts, Blanks.OWN: stated_plainly}
#: The definition by which a missing key matches any value.
ANY = Blanks.ANY


def drawn_file(
    path: Path, seed: int, size: int, keys: int, *, households: bool = False
) -> FileRecords:
    draw = np.random.default_rng(seed)

    def column(number: int) -> list[int]:
        codes = (draw.random(number) ** 2 * draw.integers(1, 6)).astype(int)
        codes[draw.random(number) < 0.05] = NOT_STATED
        codes[draw.random(number) < 0.05] = NOT_APPLICABLE
        return [int(code) for code in codes]

    persons = {f"key{at}": column(size) for at in range(keys)}
    if not households:
        return small_file(path, persons)
    number = max(size // 3, 1)
    household_of = draw.integers(-1, number, size).tolist()
    return small_file(path, persons, {"tenure": column(number)}, household_of)


def blanks_of(before: FileRecords, after: FileRecords) -> list[tuple[str, int]]:
    """Each blanked value: its variable and the row of its table."""
    return [
        (name, int(row))
        for name in before.codes
        for row in np.flatnonzero(before.codes[name] != after.codes[name])
    ]


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    size=st.integers(1, 40),
    keys=st.integers(1, 5),
    k=st.integers(1, 6),
    households=st.booleans(),
    blanks=st.sampled_from(Blanks),
)
def test_everybody_has_companions_and_no_blank_can_be_taken_back(
    seed: int, size: int, keys: int, k: int, households: bool, blanks: Blanks
) -> None:
    counts = COUNTED[blanks]
    with tempfile.TemporaryDirectory() as folder:
        records = drawn_file(Path(folder) / "s", seed, size, keys, households=households)
        homeless = households and min(records.holders[P, H]) < 0
        if size < k or homeless:
            # Persons in no household have a tenure that stands nowhere: it may not be possible.
            with suppress(SpecError):
                after = suppressed(records, Suppression(k=k, blanks=blanks))
                assert size >= k
                assert min(counts(*keys_of_persons(after))) >= k
            return
        after = suppressed(records, Suppression(k=k, blanks=blanks))
        codes, missing = keys_of_persons(after)
        assert min(counts(codes, missing)) >= k
        # Who is safe where others have to state the same is safe where a blank may be anything.
        assert min(plain_counts(codes, missing)) >= k
        if min(counts(*keys_of_persons(records))) >= k:
            assert not blanks_of(records, after)
        for name, row in blanks_of(records, after):
            back = after.codes[name].copy()
            back[row] = records.codes[name][row]
            codes, missing = keys_of_persons(after.told(codes={name: back}))
            assert min(counts(codes, missing)) < k, (name, row)
        # What was not stated before stays so, and nothing else changes.
        for name, codes in after.codes.items():
            changed = codes != records.codes[name]
            assert (codes[changed] == NOT_STATED).all()


def is_cheaper_possible(
    records: FileRecords, k: int, costs: Sequence[int], below: float
) -> bool | None:
    """Whether an integer program finds blanks that cost at most ``below``; none if it gives up."""
    codes, missing = keys_of_persons(records)
    size, width = codes.shape
    objective: list[float] = []
    blank: dict[tuple[int, int], int] = {}
    for record in range(size):
        for key in range(width):
            if not missing[record, key]:
                blank[record, key] = len(objective)
                objective.append(float(costs[key]))
    counts = [1] * size
    pairs: list[list[int]] = [[] for _ in range(size)]
    entries: list[tuple[int, int, float]] = []
    least: list[float] = []
    for first in range(size):
        for second in range(first):
            apart = [
                key
                for key in range(width)
                if not missing[first, key]
                and not missing[second, key]
                and codes[first, key] != codes[second, key]
            ]
            if not apart:
                counts[first] += 1
                counts[second] += 1
                continue
            pair = len(objective)
            objective.append(0.0)
            pairs[first].append(pair)
            pairs[second].append(pair)
            for key in apart:
                line = len(least)
                entries += [(line, blank[first, key], 1), (line, blank[second, key], 1)]
                entries.append((line, pair, -1))
                least.append(0)
    for record in range(size):
        if counts[record] < k:
            entries += [(len(least), pair, 1) for pair in pairs[record]]
            least.append(k - counts[record])
    entries += [(len(least), at, -cost) for at, cost in enumerate(objective) if cost]
    least.append(-below)
    lines, columns, values = zip(*entries, strict=True)
    matrix = coo_matrix((values, (lines, columns)), shape=(len(least), len(objective)))
    program: Any = milp(
        objective,
        constraints=LinearConstraint(matrix, least, np.inf),
        integrality=np.ones(len(objective)),
        bounds=Bounds(0, 1),
        options={"time_limit": 20},
    )
    return {0: True, 2: False}.get(program.status)


@pytest.mark.parametrize(
    ("seed", "size", "keys", "k", "importance"),
    [
        (1, 24, 3, 2, (1, 1, 1)),
        (2, 18, 3, 3, (1, 2, 3)),
        (4, 60, 2, 3, (1, 3)),
        (5, 60, 3, 2, (1, 1, 2)),
        (6, 14, 3, 4, (2, 1, 1)),
        (7, 40, 2, 5, (1, 1)),
        (9, 30, 3, 2, (4, 2, 1)),
    ],
)
def test_at_most_a_tenth_above_the_exact_optimum(
    tmp_path: Path, seed: int, size: int, keys: int, k: int, importance: tuple[int, ...]
) -> None:
    records = drawn_file(tmp_path / "s", seed, size, keys)
    wanted = {f"key{at}": float(weight) for at, weight in enumerate(importance)}
    after = suppressed(records, Suppression(k=k, importance=wanted, blanks=ANY))
    cost = sum(wanted[name] for name, _ in blanks_of(records, after))
    assert cost, "a file that needs no blank shows nothing"
    # Nothing is cheaper by more than a tenth: the program proves it.
    assert is_cheaper_possible(records, k, importance, math.ceil(cost / 1.1) - 1) is False


@pytest.mark.parametrize(
    ("seed", "size", "keys", "k", "importance", "households", "strata"),
    [
        (1, 24, 3, 2, (1, 1, 1), False, False),
        (2, 18, 3, 3, (1, 2, 3), False, False),
        (4, 60, 2, 3, (1, 3), False, False),
        (5, 60, 3, 2, (1, 1, 2), False, False),
        (7, 40, 3, 5, (1, 2, 1), False, True),
        (351102, 57, 3, 2, (1, 2, 3, 1), True, False),
        (669297, 58, 2, 2, (3, 5, 5), True, False),
    ],
)
def test_a_tenth_above_the_optimum_where_others_state_the_same(
    tmp_path: Path,
    seed: int,
    size: int,
    keys: int,
    k: int,
    importance: tuple[int, ...],
    households: bool,
    strata: bool,
) -> None:
    records = drawn_file(tmp_path / "s", seed, size, keys, households=households)
    if households:
        codes = {name: records.codes[name].tolist() for name in records.codes}
        tenure = {"tenure": codes.pop("tenure")}
        homes = np.maximum(records.holders[P, H], 0).tolist()
        records = small_file(tmp_path / "t", codes, tenure, homes)
    if strata:
        codes = {name: records.codes[name].tolist() for name in records.codes}
        codes[f"key{keys - 1}"] = [row % 3 for row in range(size)]
        records = small_file(tmp_path / "t", codes)
    ladder = records.design.ladder[: -1 if strata else None]
    wanted = {each.name: float(cost) for each, cost in zip(ladder, importance, strict=False)}
    stratum = records.design.ladder[-1].name if strata else ""
    suppression = Suppression(k=k, importance=wanted, keys=tuple(wanted), strata=stratum)
    after = suppressed(records, suppression)
    cost = sum(wanted[name] for name, _ in blanks_of(records, after))
    assert cost, "a file that needs no blank shows nothing"
    told = replace(records, design=replace(records.design, ladder=ladder))
    groups = records.codes[stratum].tolist() if strata else ()
    below = math.ceil(cost / 1.1) - 1
    assert stated_blanks_can_cost(told, k, wanted, below, groups) is False
    assert stated_blanks_can_cost(told, k, wanted, cost, groups) is True


def test_blanks_of_others_help_only_where_the_office_says_so(tmp_path: Path) -> None:
    records = small_file(tmp_path / "s", {"a": [0, 1, 2, 3], "b": [0, 0, 0, 0]})
    # One blank is a companion of everybody; or everybody has to have it.
    loose = suppressed(records, Suppression(k=2, blanks=ANY))
    strict = suppressed(records, Suppression(k=2))
    assert len(blanks_of(records, loose)) == 1
    assert blanks_of(records, strict) == [("a", row) for row in range(4)]
    leaning = {row[0]: row[1] for table in strict.facts[1:] for row in table.rows}
    assert list(leaning.values()) == [4, 4, 0, 4, 0]
    assert any("only because values of others" in note for note in loose.notes)
    assert not any("only because values of others" in note for note in strict.notes)


def test_the_program_of_the_test_finds_what_is_there(tmp_path: Path) -> None:
    records = small_file(tmp_path / "s", {"a": [0, 1, 2, 3], "b": [0, 0, 0, 0]})
    after = suppressed(records, Suppression(k=2, blanks=ANY))
    # One blank is a companion of everybody.
    assert len(blanks_of(records, after)) == 1
    assert is_cheaper_possible(records, 2, (1, 1), 1) is True
    assert is_cheaper_possible(records, 2, (1, 1), 0) is False


@pytest.mark.parametrize("blanks", Blanks)
def test_the_order_of_rows_changes_nothing(tmp_path: Path, blanks: Blanks) -> None:
    draw = np.random.default_rng(3)
    size = 50
    keys = {name: draw.integers(0, 5, size).tolist() for name in ("a", "b", "c")}
    digests = draw.permutation(size).tolist()
    order = draw.permutation(size)
    shuffled = {name: np.array(codes)[order].tolist() for name, codes in keys.items()}
    suppression = Suppression(k=3, blanks=blanks)
    one = suppressed(small_file(tmp_path / "1", keys, digests=digests), suppression)
    two = suppressed(
        small_file(tmp_path / "2", shuffled, digests=np.array(digests)[order].tolist()),
        suppression,
    )
    for name in keys:
        assert (one.codes[name][order] == two.codes[name]).all()
    for mine, theirs in zip(one.files, two.files, strict=True):
        assert {name: values.tolist() for name, values in mine.columns.items()} == {
            name: values.tolist() for name, values in theirs.columns.items()
        }


def test_importance_decides_and_never_is_never(tmp_path: Path) -> None:
    records = small_file(tmp_path / "s", {"a": [0, 0, 1, 1], "b": [0, 1, 2, 3]})
    dear = suppressed(records, Suppression(k=2, importance={"b": 100}, blanks=ANY))
    assert {name for name, _ in blanks_of(records, dear)} == {"a", "b"} or (
        sum(name == "b" for name, _ in blanks_of(records, dear)) <= 2
    )
    never = suppressed(records, Suppression(k=2, importance={"a": math.inf}))
    assert {name for name, _ in blanks_of(records, never)} == {"b"}
    with pytest.raises(SpecError, match=r"share b, which importance never blanks"):
        suppressed(records, Suppression(k=2, importance={"b": math.inf}))
    with pytest.raises(SpecError, match="keeps every key"):
        suppressed(records, Suppression(k=2, importance={"a": math.inf, "b": math.inf}))
    for wrong in (0.0, -1.0, math.nan):
        with pytest.raises(SpecError, match=r"importance of 'a' .* above 0"):
            suppressed(records, Suppression(k=2, importance={"a": wrong}))


def test_strata_are_counted_by_themselves(tmp_path: Path) -> None:
    records = small_file(tmp_path / "s", {"a": [0, 1, 0, 1], "b": [0, 0, 1, 1]})
    suppression = Suppression(k=2, keys=("a",), strata="b", blanks=ANY)
    after = suppressed(records, suppression)
    assert [name for name, _ in blanks_of(records, after)] == ["a", "a"]
    blanked = np.flatnonzero(after.codes["a"] == NOT_STATED)
    assert set(records.codes["b"][blanked].tolist()) == {0, 1}
    with pytest.raises(SpecError, match=r"share their 'b' \(strata\), with fewer than 3"):
        suppressed(records, Suppression(k=3, keys=("a",), strata="b"))


def test_what_is_asked_for_has_to_be_there(tmp_path: Path) -> None:
    records = small_file(tmp_path / "s", {"a": [0, 1, 2], "b": [0, 0, 0]})
    with pytest.raises(SpecError, match="fewer than 4 records"):
        suppressed(records, Suppression(k=4))
    with pytest.raises(SpecError, match=r"keys: .*'c'"):
        suppressed(records, Suppression(keys=("c",)))
    with pytest.raises(SpecError, match=r"importance: .*'c'"):
        suppressed(records, Suppression(importance={"c": 2}))
    with pytest.raises(SpecError, match="not among the keys"):
        suppressed(records, Suppression(keys=("a",), importance={"b": 2}))
    with pytest.raises(SpecError, match="twice"):
        suppressed(records, Suppression(keys=("a", "a")))
    with pytest.raises(SpecError, match="at least 1"):
        suppressed(records, Suppression(k=0))
    assert suppressed(records, Suppression(k=3, designs=("B",))) is records


def test_one_companion_and_missing_keys_need_nothing(tmp_path: Path) -> None:
    alone = small_file(tmp_path / "a", {"a": [0, 1, 2], "b": [0, 0, 0]})
    assert not blanks_of(alone, suppressed(alone, Suppression(k=1)))
    nothing = small_file(tmp_path / "b", {"a": [NOT_STATED] * 4, "b": [NOT_STATED] * 4})
    assert not blanks_of(nothing, suppressed(nothing, Suppression(k=4)))


def test_a_household_is_blanked_for_all_of_its_members(tmp_path: Path) -> None:
    # Two tenants who live together and two owners: tenure is one value of each household.
    records = small_file(tmp_path / "s", {"sex": [0, 0, 0, 0]}, {"tenure": [0, 1]}, [0, 0, 1, 1])
    after = suppressed(records, Suppression(k=4, blanks=ANY))
    assert blanks_of(records, after) in ([("tenure", 0)], [("tenure", 1)])
    assert min(plain_counts(*keys_of_persons(after))) == 4


def test_a_variable_without_the_code_gets_one_and_the_office_is_told(tmp_path: Path) -> None:
    records = small_file(tmp_path / "s", {"a": [0, 1, 2], "b": [0] * 3}, without_code=("a",))
    after = suppressed(records, Suppression(k=2, blanks=ANY))
    variable = after.design.variables[0]
    assert variable.level.codes[-1].kind is CodeKind.NOT_STATED
    assert variable.level.codes[-1].code == "NS"
    assert variable.level.codes[-1].label.show("fr") != variable.level.codes[-1].label.show("en")
    assert after.design.ladder[0] is variable
    assert (after.codes["a"] == len(variable.level.codes) - 1).sum() == 1
    assert any("blanked in the file" in note for note in after.notes)
    facts = {table.name: table for table in after.facts}
    assert facts["suppressed-values"].rows[0][:4] == ("a", 3, 0, 1)
    assert [row[1] for row in facts["suppressed-records"].rows] == [3, 3, 0, 1, 2]
    (file,) = after.files
    assert file.columns["variable"].tolist() == ["a"]
    assert file.columns["record"].dtype == np.uint64
    assert "confidential" in repr(file)


@pytest.mark.parametrize(
    ("codes", "blank"),
    [
        (("1", "2"), "9"),
        (("1", "9"), "99"),
        (("09", "1"), "99"),
        (("", "a"), "NS"),
        (("ns",), "NS2"),
    ],
)
def test_the_new_code_is_no_other_ones(codes: tuple[str, ...], blank: str) -> None:
    level = Level("v", tuple(map(Code, codes)), tuple(range(len(codes))))
    assert level_with_blank(level).codes[-1].code == blank
    assert level_with_blank(level_with_blank(level)) == level_with_blank(level)


def test_patterns_are_joined_as_records_are_compared() -> None:
    draw = np.random.default_rng(1)
    size = 5_000
    codes = draw.integers(0, 4, (size, 4)).astype(np.int32)
    masks = (draw.integers(0, 16, size) * (draw.random(size) < 0.3)).astype(np.uint32)
    counts = match_counts(codes, masks)
    missing = (masks[:, None] >> np.arange(4)) & 1 == 1
    for record in range(0, size, 500):
        same = (codes == codes[record]) | missing | missing[record]
        assert counts[record] == same.all(axis=1).sum()


def test_a_large_file_of_uniques_gets_companions(tmp_path: Path) -> None:
    draw = np.random.default_rng(2)
    codes = {name: draw.integers(0, 8, 20_000).tolist() for name in "abcdef"}
    records = small_file(tmp_path / "s", codes)
    blanked = {}
    for blanks, counts in ((Blanks.ANY, match_counts), (Blanks.OWN, stated_counts)):
        after = suppressed(records, Suppression(k=3, blanks=blanks))
        columns, missing = keys_of_persons(after)
        masks = (missing * (1 << np.arange(6))).sum(axis=1).astype(np.uint32)
        assert counts(columns.astype(np.int32), masks).min() >= 3
        blanked[blanks] = len(blanks_of(records, after))
    assert 0 < blanked[Blanks.ANY] <= 12
    # Nearly everybody is alone, and nobody is helped by the blanks of others.
    assert 19_000 < blanked[Blanks.OWN] < 40_000


def test_many_keys_and_shared_values_of_a_large_file(tmp_path: Path) -> None:
    draw = np.random.default_rng(4)
    size = 3_000
    keys = {f"key{at}": draw.integers(0, 4, size).tolist() for at in range(10)}
    homes = np.sort(draw.integers(0, size // 3, size)).tolist()
    tenure = {"tenure": draw.integers(0, 8, size // 3).tolist()}
    records = small_file(tmp_path / "s", keys, tenure, homes)
    after = suppressed(records, Suppression(k=3))
    columns, missing = keys_of_persons(after)
    masks = (missing * (1 << np.arange(11))).sum(axis=1).astype(np.uint32)
    assert stated_counts(columns.astype(np.int32), masks).min() >= 3
    assert (masks > 0).mean() > 0.9
    assert not missing.all(axis=1).any()
