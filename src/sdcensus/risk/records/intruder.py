"""An intruder who links a file from elsewhere with a microdata file, and how often rightly.

A link is claimed where two records agree, and neither agrees with anybody else as well. First all
keys have to agree, then all but one, and so on: whoever has a candidate, one or several, is not
looked at again with fewer keys. "Not stated" is a value like others: it agrees with itself.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.kernels.uniques.numbering import group_sizes
from sdcensus.model.confidential import Confidential
from sdcensus.risk.records.cells import key_cells
from sdcensus.risk.records.key_column import Integers

Int64 = npt.NDArray[np.int64]
UInt64 = npt.NDArray[np.uint64]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class IntruderMatches(Confidential):
    """What an intruder claims, and what is right.

    Attributes:
        name: What the intruder is called.
        keys: What is compared.
        coverage: The share of the population that the external file was drawn with.
        file_error, external_error: The mean share of wrong keys in both files.
        years: How much older the external file is.
        records: The persons of the microdata file.
        external: The records of the external file.
        in_both: Persons who are in both.
        claims: Links that the intruder claims.
        correct: Claims that are about the same person.
        exact: Claims with all keys equal.
        correct_exact: Those of them that are right.
        sample_uniques: Records that are alone in the file with their keys, before errors.
        population_uniques: Those of them that are alone in the population.
        expected_matches: Expected correct matches on sample uniques, for somebody who has the
            whole population without errors.
    """

    name: str
    keys: tuple[str, ...]
    coverage: float
    file_error: float
    external_error: float
    years: int
    records: int
    external: int
    in_both: int
    claims: int
    correct: int
    exact: int
    correct_exact: int
    sample_uniques: int
    population_uniques: int
    expected_matches: float

    def __repr__(self) -> str:
        return f"<IntruderMatches of {self.name!r}: confidential>"

    @property
    def wrong(self) -> int:
        """Claims about somebody else."""
        return self.claims - self.correct

    @property
    def missed(self) -> int:
        """Persons in both files who were not found: no claim, or a wrong one."""
        return self.in_both - self.correct

    @property
    def share_right(self) -> float | None:
        """The share of claims that are right; nothing without claims."""
        return self.correct / self.claims if self.claims else None

    @property
    def share_found(self) -> float | None:
        """The share of persons in both files who were found; nothing if there are none."""
        return self.correct / self.in_both if self.in_both else None

    @property
    def overstated(self) -> float | None:
        """How many sample uniques there are for each correct match; nothing without any."""
        return self.sample_uniques / self.correct if self.correct else None

    @property
    def overstated_in_population(self) -> float | None:
        """How many population uniques of the file there are for each correct match."""
        return self.population_uniques / self.correct if self.correct else None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Links(Confidential):
    """Claimed links.

    Attributes:
        file: Records of the file.
        external: For each of them the record of the external file.
        disagreeing: On how many keys they disagree.
    """

    file: Int64
    external: Int64
    disagreeing: Int64

    def __repr__(self) -> str:
        return "<Links: confidential>"


def linked(
    file: Sequence[Integers], external: Sequence[Integers], *, disagreeing: int = 1
) -> Links:
    """Link the records of two files.

    Args:
        file: The keys of a microdata file.
        external: The same keys of the external file.
        disagreeing: On how many keys a link may disagree.

    Raises:
        SpecError: There are no keys.
    """
    if not file:
        raise SpecError("An intruder needs at least one key. Name keys that the file holds.")
    own, other = np.arange(file[0].size), np.arange(external[0].size)
    parts: list[tuple[Int64, Int64, int]] = []
    for apart in range(min(disagreeing, len(file) - 1) + 1):
        if not own.size or not other.size:
            break
        first, second, free_own, free_other = _stage(file, external, own, other, apart)
        parts.append((first, second, apart))
        own, other = free_own, free_other
    none = np.empty(0, dtype=np.int64)
    return Links(
        np.concatenate([none, *(first for first, _, _ in parts)]),
        np.concatenate([none, *(second for _, second, _ in parts)]),
        np.concatenate(
            [none, *(np.full(first.size, apart, dtype=np.int64) for first, _, apart in parts)]
        ),
    )


def _stage(
    file: Sequence[Integers],
    external: Sequence[Integers],
    own: Int64,
    other: Int64,
    apart: int,
) -> tuple[Int64, Int64, Int64, Int64]:
    """Links of records that disagree on so many keys, and the records without a candidate.

    None of the records has a candidate with fewer: each pair is met with one choice of keys only.
    """
    candidates_own = np.zeros(own.size, dtype=np.int64)
    candidates_other = np.zeros(other.size, dtype=np.int64)
    partner = np.zeros(other.size, dtype=np.int64)
    places = np.arange(own.size)
    for kept in itertools.combinations(range(len(file)), len(file) - apart):
        joined = [np.concatenate([file[key][own], external[key][other]]) for key in kept]
        cells = key_cells(joined, own.size + other.size)
        mine, theirs = cells.of_records[: own.size], cells.of_records[own.size :]
        in_file = np.bincount(mine, minlength=cells.number)
        in_external = np.bincount(theirs, minlength=cells.number)
        last = np.zeros(cells.number, dtype=np.int64)
        last[mine] = places
        candidates_own += in_external[mine]
        candidates_other += in_file[theirs]
        # Of one candidate alone the place is told.
        partner = np.where(in_file[theirs] > 0, last[theirs], partner)
    chosen = np.flatnonzero(candidates_other == 1)
    chosen = chosen[candidates_own[partner[chosen]] == 1]
    return (
        own[partner[chosen]],
        other[chosen],
        own[candidates_own == 0],
        other[candidates_other == 0],
    )


def with_errors(
    values: Integers, size: int, wrong: Mask, words: UInt64, frequencies: Int64
) -> Integers:
    """A key of which some records have another code, drawn as codes occur in the population.

    Args:
        values: The code of each record.
        size: How many codes there are.
        wrong: Which records are wrong.
        words: A random word of each record that is wrong.
        frequencies: How many of the population have each code.

    Returns:
        Codes; a record stays as it is where nobody has another code.
    """
    rows = np.flatnonzero(wrong)
    if not rows.size:
        return values
    bounds = np.concatenate([[0], np.cumsum(frequencies)]).astype(np.int64)
    codes = values[rows].astype(np.int64)
    known = codes < size
    own = np.where(known, frequencies[np.where(known, codes, 0)], 0)
    others = bounds[-1] - own
    possible = others > 0
    rows, codes, own = rows[possible], codes[possible], own[possible]
    place = (words[possible] % others[possible].astype(np.uint64)).astype(np.int64)
    # Whoever would fall on or behind the own code goes past it.
    start = bounds[np.minimum(codes, size)]
    place = np.where(place >= start, place + own, place)
    changed = values.copy()
    changed[rows] = np.searchsorted(bounds, place, side="right") - 1
    return changed


def uniques_of(file: Sequence[Integers], population: Sequence[Integers], rows: Int64) -> tuple[
    int, int, float
]:  # fmt: skip
    """Sample uniques, those that are alone in the population, expected matches on the first.

    Args:
        file: The keys of the file, without errors.
        population: The keys of the whole population.
        rows: The row of each record of the file in the population.
    """
    alone = group_sizes(file, rows.size) == 1
    like = group_sizes(population, population[0].size)[rows[alone]]
    return (
        int(np.count_nonzero(alone)),
        int(np.count_nonzero(like == 1)),
        float(np.sum(1 / like)) if like.size else 0.0,
    )
