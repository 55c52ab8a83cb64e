"""How right claims are about the persons who live there, where records were changed first.

Tables of a derived store count other records than those of the census. A claim can be right about
the records that were counted, and wrong about the residents: that is what swapping is for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sdcensus.attack import AttackResult
from sdcensus.attack.claims import MOST_MEMBERS, GroupClaims
from sdcensus.errors import SpecError
from sdcensus.model.confidential import Confidential
from sdcensus.model.schema.schema import Combine, Schema
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.session.attack.score_groups import Truth
from sdcensus.session.census.census import Census

Int64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

#: The level of what is about no area at all.
COUNTRY = "country"


@dataclass(frozen=True, slots=True, repr=False)
class ResidentScore(Confidential):
    """How right one attack is about groups of one size, at one level of areas.

    Attributes:
        attack: The name of the attack.
        level: The level of the area that the claims are about; ``country`` for the whole of it.
        size: How many persons it says they are.
        claims: Groups that it claimed.
        right_counted: Those that are so many records of the derived store.
        right_residents: Those that are so many persons who live there, and the same ones whose
            records were counted.
        codes: Codes that it read off.
        codes_right: Those that are true of the residents, of groups that are.
    """

    attack: str
    level: str
    size: int
    claims: int
    right_counted: int
    right_residents: int
    codes: int
    codes_right: int

    def __repr__(self) -> str:
        return "<ResidentScore: confidential>"

    @property
    def share(self) -> float | None:
        """The share of claims that are right about residents; ``None`` without claims."""
        return self.right_residents / self.claims if self.claims else None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CountedCells(Confidential):
    """What one census holds in every cell of the tables that were attacked.

    Attributes:
        census: The census.
        counts: Counts, by the name of the table.
        keys: Cell keys, which tell one set of records from another.
    """

    census: Census
    counts: Mapping[str, Int64]
    keys: Mapping[str, Int64]

    def __repr__(self) -> str:
        return "<CountedCells: confidential>"


def score_residents(
    results: Sequence[AttackResult], counted: CountedCells, original: CountedCells
) -> tuple[ResidentScore, ...]:
    """Compare claims about groups with the records that were counted, and with the residents.

    Args:
        results: What attacks on groups found.
        counted: The derived census of which the tables were made.
        original: The census from which it was derived.
    """
    before = Truth(original.counts, original.census)
    after = Truth(counted.counts, counted.census)
    scores: list[ResidentScore] = []
    for result in results:
        lines: dict[tuple[str, int], list[int]] = {}
        for claims in result.groups:
            if not (before.knows(claims) and after.knows(claims)):
                continue
            truth, there = before.judge(claims), after.judge(claims)
            residents = truth.right & there.right & _same_records(claims, counted, original)
            levels = _levels(claims, counted.census.schema)
            owners = truth.owners
            codes_right = truth.codes_right & residents[owners]
            for level in np.unique(levels).tolist():
                for size in range(1, MOST_MEMBERS + 1):
                    own = (levels == level) & (claims.sizes == size)
                    if not own.any():
                        continue
                    line = lines.setdefault((level, size), [0] * 5)
                    masks = (own, own & there.right, own & residents, own[owners])
                    numbers = [int(np.count_nonzero(mask)) for mask in masks]
                    numbers.append(int(np.count_nonzero(own[owners] & codes_right)))
                    for at, number in enumerate(numbers):
                        line[at] += number
        order = {level: at for at, level in enumerate(area_levels(counted.census.schema))}
        for level, size in sorted(lines, key=lambda key: (order.get(key[0], len(order)), key[1])):
            scores.append(ResidentScore(result.attack, level, size, *lines[level, size]))
    return tuple(scores)


def area_levels(schema: Schema) -> tuple[str, ...]:
    """The whole country, and the levels of its areas from the coarsest to the finest."""
    geography = schema.geography
    if geography is None:
        return (COUNTRY,)
    levels = sorted(geography.levels(), key=lambda level: len(level.codes))
    return (COUNTRY, *(level.name for level in levels))


def _same_records(claims: GroupClaims, counted: CountedCells, original: CountedCells) -> Mask:
    """Whether the same records are in each group in both censuses, by their keys."""
    space = counted.census.origin.key_space

    def group_keys(cells: CountedCells) -> Int64:
        own = cells.keys[claims.table][claims.cells]
        if claims.other_cells is None:
            return own
        other = cells.keys[claims.other_table][claims.other_cells]
        # Who is in both cells, and moves, changes both keys by the same.
        if space.combine is Combine.XOR:
            return np.asarray(own ^ other)
        return np.asarray((own - other) % space.modulus)

    return np.asarray(group_keys(counted) == group_keys(original))


def _levels(claims: GroupClaims, schema: Schema) -> npt.NDArray[np.str_]:
    """The level of the area of each claim; of two cells the finer one."""
    levels = levels_of_cells(claims.spec, claims.cells, schema)
    if claims.other_spec is None or claims.other_cells is None:
        return levels
    others = levels_of_cells(claims.other_spec, claims.other_cells, schema)
    rank = {level: at for at, level in enumerate(area_levels(schema))}
    pairs = zip(levels.tolist(), others.tolist(), strict=True)
    return np.array([max(pair, key=lambda level: rank.get(level, 0)) for pair in pairs])


def levels_of_cells(spec: TableSpec, cells: Int64, schema: Schema) -> npt.NDArray[np.str_]:
    """The level of the area of each cell; ``country`` where it is about no area."""
    geographies = {variable.name for variable in schema.geographies}
    conditioned = [name.name for name in spec.universe.variables if name.name in geographies]
    levels = np.full(cells.size, conditioned[0] if conditioned else COUNTRY, dtype=object)
    places = np.unravel_index(cells, spec.shape) if spec.axes else ()
    main = schema.geography
    for axis, at in zip(spec.axes, places, strict=True):
        if axis.variable.name not in geographies:
            continue
        own = main is not None and axis.variable.name == main.name
        # Programmes have levels of their own, such as one for the nation.
        whole = {block.level for block in axis.blocks if block.size == 1}
        whole -= set(area_levels(schema))
        names = np.array(
            [
                COUNTRY
                if code.is_total or code.level in whole
                else code.level
                if own
                else axis.variable.name
                for code in axis.codes
            ],
            dtype=object,
        )[at]
        levels = np.where(names == COUNTRY, levels, names)
    return levels.astype(np.str_)


# ---------------------------------------------------------------------------------------------
# Which store tables were made of.


def check_line(name: str, derived: Census, original: Census) -> None:
    """Refuse a store that was not derived from another one, in one step or in several.

    Raises:
        SpecError: It was not.
    """
    wanted = original.store.manifest.data_version
    if wanted not in {step.parent for step in derived.store.manifest.lineage}:
        raise SpecError(
            f"{name} was made of a store that was not derived from the one to score with. Name the"
            " store with which its line begins."
        )
