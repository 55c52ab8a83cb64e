"""Linking two files: claims by the definition, errors as often as they are said to happen."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from sdcensus.errors import SpecError
from sdcensus.risk.records.intruder import IntruderMatches, linked, uniques_of, with_errors

Record = tuple[int, ...]
RECORDS = st.lists(st.tuples(*[st.integers(0, 2)] * 3), max_size=9)


def columns(records: list[Record]) -> list[np.ndarray[tuple[int], np.dtype[np.int64]]]:
    return [np.array([record[key] for record in records], dtype=np.int64) for key in range(3)]


def claims(file: list[Record], external: list[Record], most: int) -> set[tuple[int, int, int]]:
    """Mutual nearest records, round by round; whoever had a candidate is out."""
    own, other = set(range(len(file))), set(range(len(external)))
    claimed = set()
    for apart in range(most + 1):
        pairs = {
            (mine, theirs)
            for mine in own
            for theirs in other
            if sum(a != b for a, b in zip(file[mine], external[theirs], strict=True)) == apart
        }
        for mine, theirs in pairs:
            alone = sum(pair[0] == mine for pair in pairs) == 1
            if alone and sum(pair[1] == theirs for pair in pairs) == 1:
                claimed.add((mine, theirs, apart))
        own -= {mine for mine, _ in pairs}
        other -= {theirs for _, theirs in pairs}
    return claimed


@settings(max_examples=200, deadline=None)
@given(RECORDS, RECORDS, st.integers(0, 2))
def test_links_are_mutual_and_nearest(
    file: list[Record], external: list[Record], most: int
) -> None:
    links = linked(columns(file), columns(external), disagreeing=most)
    triples = zip(
        links.file.tolist(), links.external.tolist(), links.disagreeing.tolist(), strict=True
    )
    assert set(triples) == claims(file, external, most)


def test_errors_happen_to_whom_they_are_said_and_follow_the_population() -> None:
    """A wrong code is never the own one, and as frequent as others are."""
    generator = np.random.default_rng(1)
    size = 30_000
    values = generator.integers(0, 3, size)
    wrong = np.arange(size) % 2 == 0
    words = generator.integers(0, 2**63, size).astype(np.uint64)
    changed = with_errors(values, 4, wrong, words[wrong], np.array([100, 200, 700, 0]))
    assert (changed[wrong] != values[wrong]).all()
    assert (changed[~wrong] == values[~wrong]).all()
    of_first = changed[wrong & (values == 0)]
    assert np.bincount(of_first, minlength=4) / of_first.size == pytest.approx(
        [0, 2 / 9, 7 / 9, 0], abs=0.02
    )


def test_where_nobody_has_another_code_nothing_changes() -> None:
    values = np.zeros(3, dtype=np.int64)
    words = np.arange(3, dtype=np.uint64)
    assert (with_errors(values, 1, np.ones(3, dtype=bool), words, np.array([3])) == 0).all()


def test_uniques_of_a_file() -> None:
    """By hand: of three records two are alone in the file, of these one in the population."""
    population = [np.array([0, 0, 1, 1, 2])]
    file = [np.array([0, 0, 1])]
    assert uniques_of([np.array([0, 1, 2])], population, np.array([0, 2, 4])) == (3, 1, 2.0)
    assert uniques_of(file, population, np.array([0, 1, 2])) == (1, 0, 0.5)


def test_shares_of_an_intruder_who_claims_nothing() -> None:
    matches = IntruderMatches(
        name="nobody", keys=("age",), coverage=0.1, file_error=0, external_error=0, years=0,
        records=5, external=2, in_both=0, claims=0, correct=0, exact=0, correct_exact=0,
        sample_uniques=3, population_uniques=1, expected_matches=2.0,
    )  # fmt: skip
    assert matches.share_right is matches.share_found is matches.overstated is None
    assert (matches.wrong, matches.missed) == (0, 0)
    assert "3" not in repr(matches)


def test_no_keys_are_said() -> None:
    with pytest.raises(SpecError, match="at least one key"):
        linked([], [])
