"""How right claims about groups of few persons are, and what was read off. For the office only.

Beside every share of right attributes stands what anybody gets who guesses the code that most
people have, from the published table of everybody.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from sdcensus.attack import AttackResult
from sdcensus.attack.claims import MOST_MEMBERS, GroupClaims, Traits
from sdcensus.model.confidential import Confidential
from sdcensus.model.cube.pairs import true_values
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.published.table import PublishedTable
from sdcensus.model.schema.schema import LARGEST_MODULUS
from sdcensus.model.spec.record_sets import is_product, leaves_in, universe_of_cell
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.model.spec.universe import Universe, restrict
from sdcensus.session.census.census import Census

Int64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, repr=False)
class GroupScore(Confidential):
    """How one attack did on groups of one size.

    Attributes:
        attack: The name of the attack.
        size: How many persons it says they are.
        claims: Groups that it claimed.
        right: Those that are so many persons.
        wrong: Those that are not.
        visible: Groups of that size among the cells that it looked at that are published above 0;
            ``None`` where it looks at no cells as such.
        found: How many of those it claimed rightly; ``None`` where ``visible`` is.
        attributes: Codes that it read off.
        attributes_right: Those that are true, of groups that are right.
        guessed_right: How many would be true of the code that most people have.
        persons: How many different persons the right claims of one person are about, told apart by
            their record keys; ``None`` for larger groups, and where claims name no single cell.
    """

    attack: str
    size: int
    claims: int
    right: int
    wrong: int
    visible: int | None
    found: int | None
    attributes: int
    attributes_right: int
    guessed_right: int
    persons: int | None = None

    def __repr__(self) -> str:
        return "<GroupScore: confidential>"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Judged(Confidential):
    """Claims beside the truth: which are right, which codes are, which guesses would be."""

    right: Mask
    owners: Int64
    codes_right: Mask
    guesses_right: Mask


def score_groups(
    results: Sequence[AttackResult],
    tables: Sequence[PublishedTable],
    truth: Mapping[str, Int64],
    keys: Mapping[str, Int64],
    census: Census,
    *,
    progress: Progress = no_progress,
) -> tuple[GroupScore, ...]:
    """Compare claims about groups with the truth.

    Args:
        results: What attacks on groups found.
        tables: The published tables that they saw.
        truth: True counts of every cell, by the name of the table.
        keys: The keys of all cells likewise: that of one person is the key of the record.
        census: The census of which the tables were made.
        progress: Told how far it is.
    """
    published = {
        table.name: table.table.published.reshape(-1)
        for table in tables
        if table.name in truth and table.table.published.size == truth[table.name].size
    }
    truths = Truth(truth, census)
    scores: list[GroupScore] = []
    for result in results:
        claims = [group for group in result.groups if truths.knows(group)]
        judged = []
        for at, claim in enumerate(claims):
            progress(f"scoring {result.attack}", at / len(claims))
            judged.append(truths.judge(claim))
        for size in range(1, MOST_MEMBERS + 1):
            scores.append(_score(result, size, claims, judged, truth, published))
        single = len(scores) - MOST_MEMBERS
        if census.origin.key_space.modulus == LARGEST_MODULUS:  # else persons share their keys
            scores[single] = replace(scores[single], persons=_persons(claims, judged, keys))
    return tuple(scores)


def _persons(
    claims: Sequence[GroupClaims], judged: Sequence[Judged], keys: Mapping[str, Int64]
) -> int | None:
    """How many different persons were found, by the keys of their records."""
    if any(claim.other_cells is not None for claim in claims):
        return None
    found: set[tuple[str, int]] = set()
    for claim, seen in zip(claims, judged, strict=True):
        cells = claim.cells[seen.right & (claim.sizes == 1)]
        found.update((claim.spec.of.value, key) for key in keys[claim.table][cells].tolist())
    return len(found)


def _score(
    result: AttackResult,
    size: int,
    claims: Sequence[GroupClaims],
    judged: Sequence[Judged],
    truth: Mapping[str, Int64],
    published: Mapping[str, Int64],
) -> GroupScore:
    number = right = attributes = codes = guesses = 0
    found: int | None = None
    visible: int | None = None
    if result.examined:
        found, visible = 0, 0
        for name, cells in result.examined:
            if name in published:
                shown = published[name][cells] > 0
                visible += int(np.count_nonzero((truth[name][cells] == size) & shown))
    for claim, seen in zip(claims, judged, strict=True):
        own = claim.sizes == size
        number += int(np.count_nonzero(own))
        right += int(np.count_nonzero(own & seen.right))
        if found is not None and claim.table in published:
            shown = published[claim.table][claim.cells] > 0
            found += int(np.count_nonzero(own & seen.right & shown))
        about = own[seen.owners]
        attributes += int(np.count_nonzero(about))
        codes += int(np.count_nonzero(about & seen.codes_right))
        guesses += int(np.count_nonzero(about & seen.guesses_right))
    return GroupScore(
        result.attack,
        size,
        number,
        right,
        number - right,
        visible,
        found,
        attributes,
        codes,
        guesses,
    )


class Truth(Confidential):
    """True counts of cells, and of what cells of different tables have in common."""

    def __init__(self, truth: Mapping[str, Int64], census: Census) -> None:
        self._truth = truth
        self._census = census
        self._common: dict[tuple[TableSpec, int, TableSpec, int], int] = {}

    def __repr__(self) -> str:
        return "<Truth: confidential>"

    def knows(self, claims: GroupClaims) -> bool:
        """Whether every table of some claims was counted."""
        names = {claims.table, claims.other_table, *(trait.table for trait in claims.traits)}
        names |= {trait.other_table for trait in claims.traits}
        return all(name in self._truth for name in names if name)

    def judge(self, claims: GroupClaims) -> Judged:
        """Put the truth beside claims."""
        true = self._truth[claims.table][claims.cells]
        if claims.other_spec is not None and claims.other_cells is not None:
            other = self._truth[claims.other_table][claims.other_cells]
            common = self._in_common(
                claims.spec, claims.cells, claims.other_spec, claims.other_cells
            )
            true = true + other - 2 * common
        right = true == claims.sizes
        owners, codes, guesses = [np.zeros(0, dtype=np.int64)], [right[:0]], [right[:0]]
        for traits in claims.traits:
            owners.append(traits.owner)
            codes.append(self._holds(claims, traits, traits.cells, traits.other_cells))
            guesses.append(self._holds(claims, traits, traits.guess, traits.other_guess))
        owner = np.concatenate(owners)
        return Judged(
            right,
            owner,
            np.concatenate(codes) & right[owner],
            np.concatenate(guesses) & right[owner],
        )

    def _holds(
        self, claims: GroupClaims, traits: Traits, cells: Int64, other: Int64 | None
    ) -> Mask:
        """Whether so many of each group are in the finer cells."""
        if not traits.inside:
            own = claims.cells[traits.owner]
            counts = self._in_common(claims.spec, own, traits.spec, cells)
        else:
            counts = self._truth[traits.table][cells]
            if other is not None:
                counts = np.abs(counts - self._truth[traits.other_table][other])
        if other is not None:  # an inequality shows that somebody is there
            return np.asarray(counts >= traits.members)
        return np.asarray(counts == traits.members)

    def _in_common(
        self, spec: TableSpec, cells: Int64, other_spec: TableSpec, other_cells: Int64
    ) -> Int64:
        """How many are in both of two cells."""
        counts = np.zeros(cells.size, dtype=np.int64)
        for at, (cell, other) in enumerate(zip(cells.tolist(), other_cells.tolist(), strict=True)):
            key = (spec, cell, other_spec, other)
            if key not in self._common:
                both = _both(_universe(spec, cell), _universe(other_spec, other))
                cube = self._census.tabulate(TableSpec(of=spec.of, axes=(), universe=both))
                self._common[key] = int(true_values(cube).reshape(-1)[0])
            counts[at] = self._common[key]
        return counts


def _universe(spec: TableSpec, cell: int) -> Universe:
    positions = tuple(int(at) for at in np.unravel_index(cell, spec.shape)) if spec.axes else ()
    return universe_of_cell(spec, positions)


def _both(one: Universe, other: Universe) -> Universe:
    """The records of both universes; where one is no product of codes, its records alone."""
    if not is_product(other):
        one, other = other, one
    for variable in other.variables:
        one = restrict(one, variable, leaves_in(other, variable))
    return one
