"""How right an intruder is: claims of attacks beside the truth. For the office only.

The attacks themselves see published tables; here alone the truth is put beside what they say.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sdcensus.attack import GROUP_ATTACKS, AttackReport, AttackResult, CellClaims
from sdcensus.errors import SpecError
from sdcensus.model.confidential import Confidential
from sdcensus.model.cube.cube import Cube
from sdcensus.model.cube.layout import mixed_radix
from sdcensus.model.cube.pairs import true_values
from sdcensus.model.cube.sparse_cube import AnyCube
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.published.table import PublishedTable
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.session.attack.residents import (
    CountedCells,
    ResidentScore,
    check_line,
    score_residents,
)
from sdcensus.session.attack.score_groups import GroupScore, score_groups
from sdcensus.session.census.census import Census
from sdcensus.session.office.confidential_output import check_target, write_owner_only_table

Int64 = npt.NDArray[np.int64]

#: Sizes of true counts that are told apart: their smallest and largest count.
SIZES: tuple[tuple[str, int, int | None], ...] = (
    ("0", 0, 0),
    ("1", 1, 1),
    ("2", 2, 2),
    ("3 to 5", 3, 5),
    ("6 to 10", 6, 10),
    ("over 10", 11, None),
)


@dataclass(frozen=True, slots=True, repr=False)
class SizeScore(Confidential):
    """How one attack did on cells of one size.

    Attributes:
        size: The size of the true count, in words.
        cells: Cells of that size that the attack looked at; ``None`` where it lists none.
        claims: Counts that it claimed exactly.
        hits: Those that are true.
        false_claims: Those that are not.
        misses: Cells whose count it did not find; ``None`` where ``cells`` is.
        narrow: Claims that leave 0 and 1.
        narrow_hits: Those that hold.
    """

    size: str
    cells: int | None
    claims: int
    hits: int
    false_claims: int
    misses: int | None
    narrow: int
    narrow_hits: int

    def __repr__(self) -> str:
        return f"<SizeScore {self.size}: confidential>"


@dataclass(frozen=True, slots=True, repr=False)
class AttackScore(Confidential):
    """How right one attack is, by size of the true count.

    Attributes:
        attack: Its name.
        sizes: The scores for each size.
    """

    attack: str
    sizes: tuple[SizeScore, ...]

    def __repr__(self) -> str:
        return f"<AttackScore of {self.attack}: confidential>"

    @property
    def claims(self) -> int:
        """Counts that were claimed exactly."""
        return sum(size.claims for size in self.sizes)

    @property
    def hits(self) -> int:
        """Claims that are true."""
        return sum(size.hits for size in self.sizes)

    @property
    def false_claims(self) -> int:
        """Claims that are not."""
        return sum(size.false_claims for size in self.sizes)

    @property
    def cells(self) -> int | None:
        """Cells that were looked at; ``None`` where the attack lists none."""
        known = [size.cells for size in self.sizes if size.cells is not None]
        return sum(known) if known else None

    @property
    def share_right(self) -> float | None:
        """The share of claims that are true; ``None`` without claims."""
        return self.hits / self.claims if self.claims else None


@dataclass(frozen=True, slots=True, repr=False)
class Scores(Confidential):
    """How right all attacks are.

    Attributes:
        attacks: The scores of each that claims counts.
        left_out: Sentences about tables that could not be compared with the truth.
        groups: The scores of those that claim groups of few persons, for each size.
        residents: The same beside those who live there, by level of area, where the tables were
            made of a store that was derived from the census.
        of_derived: Whether they were.
    """

    attacks: tuple[AttackScore, ...]
    left_out: tuple[str, ...]
    groups: tuple[GroupScore, ...] = ()
    residents: tuple[ResidentScore, ...] = ()
    of_derived: bool = False

    def __repr__(self) -> str:
        return f"<Scores of {len(self.attacks)} attacks: confidential>"

    def attack(self, name: str) -> AttackScore:
        """The score of one attack."""
        for attack in self.attacks:
            if attack.attack == name:
                return attack
        raise SpecError(f"There is no score of {name!r}.")

    def group(self, name: str, size: int) -> GroupScore:
        """The score of one attack on groups of one size."""
        for group in self.groups:
            if (group.attack, group.size) == (name, size):
                return group
        raise SpecError(f"There is no score of {name!r} for groups of {size}.")


def score(
    report: AttackReport,
    tables: Sequence[PublishedTable],
    census: Census,
    *,
    derived: Census | None = None,
    progress: Progress = no_progress,
) -> Scores:
    """Compare what attacks claim with the truth.

    With ``derived``, what they claim is compared with its records, of which the tables were made,
    and claims about groups with the residents of ``census`` as well.

    Args:
        report: What the attacks found.
        tables: The published tables that they saw.
        census: The census of which the tables were made, or from which that was derived.
        derived: The census of which the tables were made, if it is not the first.
        progress: Told how far it is.

    Raises:
        SpecError: A table was made of other records, or its code lists are not the census's.
    """
    left_out: list[str] = []
    wanted = []
    for published_table in tables:
        if published_table.name not in report.tables:
            continue
        if published_table.provenance is None:
            left_out.append(
                f"{published_table.name} does not say what it was made of and was not scored."
            )
        else:
            wanted.append(published_table)
    counted = census if derived is None else derived
    there = counted_cells(wanted, counted, progress=progress)
    others = ("gaps", *GROUP_ATTACKS)
    scores = tuple(
        _score(result, there.counts) for result in report.results if result.attack not in others
    )
    about_groups = [result for result in report.results if result.attack in GROUP_ATTACKS]
    groups = score_groups(
        about_groups, wanted, there.counts, there.keys, counted, progress=progress
    )
    residents: tuple[ResidentScore, ...] = ()
    if derived is not None:
        if wanted:
            check_line(wanted[0].name, derived, census)
        before = counted_cells(wanted, census, same_data=False, progress=progress)
        residents = score_residents(about_groups, there, before)
    return Scores(scores, tuple(left_out), groups, residents, derived is not None)


def counted_cells(
    tables: Sequence[PublishedTable],
    census: Census,
    *,
    same_data: bool = True,
    tabulate: Callable[[TableSpec], AnyCube] | None = None,
    progress: Progress = no_progress,
) -> CountedCells:
    """What a census holds in every cell of some tables.

    Args:
        tables: The tables.
        census: The census.
        same_data: Whether the tables must have been made of its records.
        tabulate: Counts its tables, where they are counted already.
        progress: Told how far it is.

    Raises:
        SpecError: A table was made of other records, or its code lists are not the census's.
    """
    counts: dict[str, Int64] = {}
    keys: dict[str, Int64] = {}
    for at, published_table in enumerate(tables):
        progress("counting the truth", at / len(tables))
        spec = published_table.table.spec
        check_lists(published_table.name, spec, census)
        provenance = published_table.provenance
        wrong = provenance is not None and provenance.data_version != census.origin.data_version
        if same_data and wrong:
            raise SpecError(_other_records(published_table))
        cube = (tabulate or census.tabulate)(spec)
        counts[published_table.name] = true_values(cube).reshape(-1)
        keys[published_table.name] = _cell_keys(cube)
    return CountedCells(census, counts, keys)


def _cell_keys(cube: AnyCube) -> Int64:
    """The key of every cell; 0 of those that hold nobody."""
    if isinstance(cube, Cube):
        return cube.key.reshape(-1).astype(np.int64)
    dense = np.zeros(cube.spec.cells, dtype=np.int64)
    radix = np.array(mixed_radix(cube.spec.shape), dtype=np.int64)
    for block in cube.blocks():
        dense[block.positions.astype(np.int64) @ radix] = block.values.key
    return dense


def _other_records(published_table: PublishedTable) -> str:
    """Say that a table was made of other records, and what to do."""
    provenance = published_table.provenance
    if provenance is not None and provenance.lineage:
        return (
            f"{published_table.name} was made of a store that was derived from another one"
            f" ({provenance.lineage}). Name it as well: --score ORIGINAL --score-derived STORE."
        )
    return (
        f"{published_table.name} was made of another version of the data than this store holds."
        " Score it with the store that it was published from."
    )


def check_lists(name: str, spec: TableSpec, census: Census) -> None:
    """Refuse a table whose code lists are not those of a census."""
    variables = [*(axis.variable for axis in spec.axes), *spec.universe.variables]
    for variable in variables:
        known = census.schema.variable(variable.name)
        if [code.code for code in known.codes] != [code.code for code in variable.codes]:
            raise SpecError(
                f"{name}: the codes of {variable.name!r} are not those of this store. Score it"
                " with the store that it was published from."
            )


def _score(result: AttackResult, truth: Mapping[str, Int64]) -> AttackScore:
    empty = np.zeros(0, dtype=np.int64)
    claimed = [claim for claim in result.claims if _known(claim, truth)]
    true = np.concatenate([empty, *(_true_counts(claim, truth) for claim in claimed)])
    lower = np.concatenate([empty, *(claims.lower for claims in claimed)])
    upper = np.concatenate([empty, *(claims.upper for claims in claimed)])
    seen = [truth[name][cells] for name, cells in result.examined if name in truth]
    looked_at = np.concatenate([empty, *seen]) if result.examined else None
    exact = lower == upper
    right = (lower <= true) & (true <= upper)
    sizes = []
    for label, least, most in SIZES:
        here = _sized(true, least, most)
        cells = None if looked_at is None else int(_sized(looked_at, least, most).sum())
        hits = int((here & exact & right).sum())
        claims = int((here & exact).sum())
        sizes.append(
            SizeScore(
                label,
                cells,
                claims,
                hits,
                claims - hits,
                None if cells is None else cells - hits,
                int((here & ~exact).sum()),
                int((here & ~exact & right).sum()),
            )
        )
    return AttackScore(result.attack, tuple(sizes))


def _sized(counts: Int64, least: int, most: int | None) -> npt.NDArray[np.bool_]:
    fits: npt.NDArray[np.bool_] = counts >= least
    return fits if most is None else fits & (counts <= most)


def _known(claims: CellClaims, truth: Mapping[str, Int64]) -> bool:
    return claims.table in truth and (claims.less is None or claims.less.table in truth)


def _true_counts(claims: CellClaims, truth: Mapping[str, Int64]) -> Int64:
    counts = truth[claims.table][claims.cells]
    less = claims.less
    if less is None:
        return counts
    taken = np.concatenate([np.zeros(1, dtype=np.int64), truth[less.table][less.cells].cumsum()])
    return np.asarray(counts - (taken[less.starts[1:]] - taken[less.starts[:-1]]))


def write_scores(scores: Scores, path: str | Path, *, confidential: bool = False) -> Path:
    """Write scores to a new csv or Parquet file that only its owner can read.

    Args:
        scores: The scores.
        path: The file; must not exist.
        confidential: Must be true: the caller knows that the file holds figures of true counts.
    """
    target = check_target(path, confidential=confidential, what="A score")
    rows = [(attack.attack, size) for attack in scores.attacks for size in attack.sizes]
    names = ("cells", "claims", "hits", "false_claims", "misses", "narrow", "narrow_hits")
    columns = {
        "attack": pa.array([attack for attack, _ in rows], pa.string()),
        "true_count": pa.array([size.size for _, size in rows], pa.string()),
        **{name: pa.array([getattr(size, name) for _, size in rows], pa.int64()) for name in names},
    }
    pieces = [pa.table(columns), _group_rows(scores.groups), _resident_rows(scores.residents)]
    write_owner_only_table(iter([pa.concat_tables(pieces, promote_options="default")]), target)
    return target


def _group_rows(groups: Sequence[GroupScore]) -> pa.Table:
    """Scores of groups, under the names that scores of counts have as far as they are the same."""
    columns = {
        "attack": pa.array([group.attack for group in groups], pa.string()),
        "true_count": pa.array([f"group of {group.size}" for group in groups], pa.string()),
    }
    numbers: dict[str, list[int | None]] = {
        "cells": [group.visible for group in groups],
        "claims": [group.claims for group in groups],
        "hits": [group.right for group in groups],
        "false_claims": [group.wrong for group in groups],
        "found_of_visible": [group.found for group in groups],
        "attributes": [group.attributes for group in groups],
        "attributes_right": [group.attributes_right for group in groups],
        "guessed_right": [group.guessed_right for group in groups],
        "persons": [group.persons for group in groups],
    }
    return pa.table({**columns, **{name: pa.array(v, pa.int64()) for name, v in numbers.items()}})


def _resident_rows(residents: Sequence[ResidentScore]) -> pa.Table:
    """Scores beside those who live there: the same names, and the level of the area."""
    words = {
        "attack": [line.attack for line in residents],
        "true_count": [f"residents, group of {line.size}" for line in residents],
        "level": [line.level for line in residents],
    }
    numbers = {
        "claims": [line.claims for line in residents],
        "hits": [line.right_residents for line in residents],
        "false_claims": [line.claims - line.right_residents for line in residents],
        "right_counted": [line.right_counted for line in residents],
        "attributes": [line.codes for line in residents],
        "attributes_right": [line.codes_right for line in residents],
    }
    if not residents:  # a score without residents has the columns that it always had
        return pa.table({"attack": pa.array([], pa.string())})
    return pa.table(
        {name: pa.array(texts, pa.string()) for name, texts in words.items()}
        | {name: pa.array(values, pa.int64()) for name, values in numbers.items()}
    )
