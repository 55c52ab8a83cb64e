"""Uniques along a ladder: the worked example, the definitions, published figures."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings, strategies as st

from sdcensus.errors import SpecError
from sdcensus.model.release.plan import MissingValues
from sdcensus.model.schema.variable import CodeKind
from sdcensus.risk.records.combinations import without_each
from sdcensus.risk.records.key_column import KeyColumn
from sdcensus.risk.records.ladder import (
    StepMeasure,
    StepRisk,
    ladder_risk,
    record_risk,
    whole_risk,
)
from tests.risk.records.plain_uniques import Plain, key_values, plain_uniques, taken

V, MISSING, NA = CodeKind.VALID, CodeKind.NOT_STATED, CodeKind.NOT_APPLICABLE
Mask = npt.NDArray[np.bool_]

_TOY = "M20a M20a M20b F20a F20b F20b F60c M60c M60c M60? F20? M05n F05n F05n M??b M20?"
_TOY_SAMPLE = (0, 2, 3, 4, 6, 7, 9, 10, 11, 14)


def _column(name: str, values: list[str], codes: list[str]) -> KeyColumn:
    kinds = {"?": MISSING, "??": MISSING, "n": NA}
    return KeyColumn(
        name=name,
        values=np.array([codes.index(value) for value in values], dtype=np.uint8),
        kinds=tuple(kinds.get(code, V) for code in codes),
    )


def _toy() -> tuple[list[KeyColumn], Mask]:
    keys = _TOY.split()
    columns = [
        _column("sex", [key[0] for key in keys], ["M", "F"]),
        _column("age", [key[1:3] for key in keys], ["05", "20", "60", "??"]),
        _column("occupation", [key[3] for key in keys], ["a", "b", "c", "n", "?"]),
    ]
    sampled = np.zeros(len(keys), dtype=bool)
    sampled[list(_TOY_SAMPLE)] = True
    return columns, sampled


def _fraction(number: float) -> Fraction:
    return Fraction(number).limit_denominator(10_000)


def _counts(step: StepRisk) -> tuple[int, int, int, int, int]:
    return (
        step.sample_uniques,
        step.sample_uniques_confounded,
        step.population_uniques,
        step.population_uniques_confounded,
        step.not_anonymous,
    )


def _plain_counts(plain: Plain) -> tuple[int, int, int, int, int]:
    return (
        plain.sample_uniques,
        plain.sample_uniques_confounded,
        plain.population_uniques,
        plain.population_uniques_confounded,
        plain.not_anonymous,
    )


def test_the_worked_example_comes_out_to_the_last_fraction() -> None:
    columns, sampled = _toy()
    last = ladder_risk(columns, sampled).steps[-1]
    assert last.keys == ("sex", "age", "occupation")
    assert (last.records, last.population) == (10, 16)
    assert _counts(last) == (7, 4, 4, 2, 7)
    assert _fraction(last.expected_matches) == Fraction(22, 5)
    assert _fraction(last.global_risk) == Fraction(329, 60)
    assert _fraction(last.expected_share) == Fraction(22, 35)
    assert _fraction(last.population_share_of_uniques) == Fraction(4, 7)


def test_the_worked_example_with_missing_as_a_category() -> None:
    columns, sampled = _toy()
    last = ladder_risk(columns, sampled, missing=MissingValues.CATEGORY).steps[-1]
    assert _counts(last) == (10, 0, 7, 0, 10)
    assert last.global_risk == 8.5


def test_each_record_of_the_worked_example() -> None:
    columns, sampled = _toy()
    risk = record_risk(columns, sampled)
    keys = _TOY.split()
    table = {
        keys[row]: (_fraction(small), _fraction(big))
        for row, small, big in zip(
            risk.rows.tolist(),
            risk.sample_matches.tolist(),
            risk.population_matches.tolist(),
            strict=True,
        )
    }
    half = Fraction(1, 2)
    assert table == {
        "M20a": (1, 2),
        "M20b": (2, 2),
        "F20a": (3 * half, 3 * half),
        "F20b": (3 * half, 5 * half),
        "F60c": (1, 1),
        "M60c": (2, 3),
        "M60?": (2, 3),
        "F20?": (3, 4),
        "M05n": (1, 1),
        "M??b": (2, 2),
    }


@st.composite
def _censuses(draw: st.DrawFn) -> tuple[list[KeyColumn], Mask, int]:
    records = draw(st.integers(0, 40))
    columns = []
    for key in range(draw(st.integers(1, 5))):
        kinds = draw(st.lists(st.sampled_from([V, V, V, MISSING, NA]), min_size=1, max_size=5))
        codes = st.integers(0, len(kinds) - 1)
        values = draw(st.lists(codes, min_size=records, max_size=records))
        columns.append(
            KeyColumn(name=f"k{key}", values=np.array(values, dtype=np.uint8), kinds=tuple(kinds))
        )
    sampled = np.array(draw(st.lists(st.booleans(), min_size=records, max_size=records)), bool)
    return columns, sampled, draw(st.sampled_from([1, 2, 3, 5, 1000]))


@given(_censuses(), st.integers(0, 99))
@settings(max_examples=300, deadline=None)
def test_the_definitions_hold_at_every_step(
    census: tuple[list[KeyColumn], Mask, int], seed: int
) -> None:
    """Against a slow count in fractions, with and without missing values, rows in any order."""
    columns, sampled, k = census
    for missing in MissingValues:
        ladder = ladder_risk(columns, sampled, k=k, missing=missing)
        for size, step in enumerate(ladder.steps, start=1):
            keys = key_values(columns[:size], category=missing is MissingValues.CATEGORY)
            plain = plain_uniques(keys, taken(keys, sampled), k)
            assert _counts(step) == _plain_counts(plain)
            assert step.expected_matches == pytest.approx(float(plain.expected_matches), rel=1e-13)
            assert step.global_risk == pytest.approx(float(plain.global_risk), rel=1e-13)
        assert whole_risk(columns, sampled, k=k, missing=missing) == ladder.steps[-1]
        measure = StepMeasure(sampled, None, k)
        for place, others in enumerate(without_each(columns, sampled, missing)):
            left = [*columns[:place], *columns[place + 1 :]]
            alone = measure.step(others, ())
            assert _counts(alone) == _counts(whole_risk(left, sampled, k=k, missing=missing))
            finer = measure.step(others.with_key(columns[place], sampled, missing), ())
            assert _counts(finer) == _counts(ladder.steps[-1])
        risk = record_risk(columns, sampled, missing=missing)
        stars = [plain.cells[key] for key in taken(keys, sampled)]
        assert risk.sample_matches.tolist() == pytest.approx([float(cell[2]) for cell in stars])
        assert risk.population_matches.tolist() == pytest.approx([float(cell[3]) for cell in stars])
    order = np.random.default_rng(seed).permutation(sampled.size)
    shuffled = [
        KeyColumn(name=each.name, values=each.values[order], kinds=each.kinds) for each in columns
    ]
    again = ladder_risk(shuffled, sampled[order], k=k, missing=missing)
    assert again == ladder


@given(_censuses())
@settings(max_examples=100, deadline=None)
def test_risk_never_falls_along_a_ladder_without_missing_values(
    census: tuple[list[KeyColumn], Mask, int],
) -> None:
    columns, sampled, k = census
    steps = ladder_risk(columns, sampled, k=k, missing=MissingValues.CATEGORY).steps
    for earlier, later in itertools.pairwise(steps):
        assert later.sample_uniques >= earlier.sample_uniques
        assert later.population_uniques >= earlier.population_uniques
        assert later.not_anonymous >= earlier.not_anonymous
        assert later.global_risk >= earlier.global_risk - 1e-9


@pytest.mark.parametrize(
    ("ages", "one_in", "global_risk"),
    [
        (76, 10, "15.2"),
        (76, 5, "30.4"),
        (19, 5, "7.6"),
        (91, 10, "18.2"),
        (91, 20, "9.1"),
        (20, 10, "4"),
    ],
)
def test_the_study_s_global_risks_of_age_and_sex(ages: int, one_in: int, global_risk: str) -> None:
    """Samples in proportion: the fraction times the number of cells (methods 9.2)."""
    age, sex = (each.ravel() for each in np.meshgrid(np.arange(ages), np.arange(2), indexing="ij"))
    sizes = one_in * (1 + np.arange(age.size) % 4)
    columns = [
        KeyColumn(name="age", values=np.repeat(age, sizes), kinds=(V,) * ages),
        KeyColumn(name="sex", values=np.repeat(sex, sizes), kinds=(V,) * 2),
    ]
    sampled = np.arange(sizes.sum()) % one_in == 0
    last = ladder_risk(columns, sampled).steps[-1]
    assert _fraction(last.global_risk) == Fraction(global_risk)


def test_keys_that_nobody_states_tell_nothing() -> None:
    """Everybody may be anybody with whom nothing is complete: nobody is shared out."""
    none = KeyColumn(name="age", values=np.zeros(6, dtype=np.uint8), kinds=(MISSING,))
    sampled = np.array([1, 1, 0, 0, 0, 0], dtype=bool)
    step = ladder_risk([none, none], sampled, k=7).steps[-1]
    assert _counts(step) == (0, 0, 0, 0, 2)
    assert _fraction(step.global_risk) == Fraction(1, 3)


def test_long_keys_take_several_words() -> None:
    """Fifteen keys of a thousand codes: 150 bits."""
    draw = np.random.default_rng(3)
    pool = draw.integers(0, 999, (6, 15))
    values = pool[draw.integers(0, 6, 60)]
    values[draw.random(values.shape) < 0.05] = 999
    kinds = (*(V,) * 999, MISSING)
    columns = [KeyColumn(name=f"k{key}", values=values[:, key], kinds=kinds) for key in range(15)]
    sampled = draw.random(60) < 0.4
    keys = key_values(columns)
    plain = plain_uniques(keys, taken(keys, sampled), 5)
    step = ladder_risk(columns, sampled, k=5).steps[-1]
    assert plain.sample_uniques_confounded > 0
    assert _counts(step) == _plain_counts(plain)
    assert step.expected_matches == pytest.approx(float(plain.expected_matches))


def test_a_file_or_a_census_without_records() -> None:
    columns, sampled = _toy()
    empty = ladder_risk(columns, np.zeros_like(sampled), households=np.zeros(16)).steps[-1]
    assert _counts(empty) == (0, 0, 0, 0, 0)
    assert (empty.expected_share, empty.global_risk, empty.sample_unique_share) == (0, 0, 0)
    assert empty.households is not None
    assert (empty.households.households, empty.households.mean) == (0, 0)
    nobody = KeyColumn(name="sex", values=np.zeros(0, dtype=np.uint8), kinds=(V,))
    assert ladder_risk([nobody], np.zeros(0, dtype=bool)).steps[0].population == 0


def test_nothing_known_makes_everybody_anybody() -> None:
    _, sampled = _toy()
    assert ladder_risk([], sampled).steps == ()
    assert set(record_risk([], sampled).population_matches.tolist()) == {16.0}


def test_codes_outside_a_list_and_a_k_below_one_are_refused() -> None:
    columns, sampled = _toy()
    with pytest.raises(SpecError, match="1 or more"):
        ladder_risk(columns, sampled, k=0)
    strange = KeyColumn(name="strange", values=np.full(16, 7, dtype=np.uint8), kinds=(V,))
    with pytest.raises(SpecError, match="'strange' has codes that are not in its code list"):
        ladder_risk([strange], sampled)
    with pytest.raises(SpecError, match="one code for each record"):
        ladder_risk(columns, sampled[:5])
    with pytest.raises(SpecError, match="65 keys"):
        ladder_risk(columns[:1] * 65, sampled)


def test_results_show_nothing() -> None:
    columns, sampled = _toy()
    ladder = ladder_risk(columns, sampled, households=np.arange(16))
    shown = f"{ladder} {ladder.steps[-1]!r} {ladder.steps[-1].households} "
    shown += f"{record_risk(columns, sampled)}"
    assert not any(figure in shown for figure in ("7", "4", "10", "16"))


def test_progress_is_told_at_every_step() -> None:
    columns, sampled = _toy()
    stages: list[tuple[str, float]] = []
    ladder_risk(columns, sampled, progress=lambda stage, done: stages.append((stage, done)))
    assert stages == [("uniques", 1 / 3), ("uniques", 2 / 3), ("uniques", 1.0)]
