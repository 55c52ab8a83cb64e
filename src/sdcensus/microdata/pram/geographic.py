"""Geographic PRAM: households move whole to other areas, with probabilities that keep totals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from sdcensus.errors import Sentence, SpecError
from sdcensus.microdata.method import Changes, Draws, Fact, FactTable, NewValues, OfficeFile
from sdcensus.microdata.pram.areas import (
    Move,
    MoveTable,
    MovingUnits,
    draw_move,
    moves_of,
    moving_units,
)
from sdcensus.microdata.pram.expectation_ratios import LIMIT
from sdcensus.microdata.pram.kept_values import ChangeSet, kept_by_rules
from sdcensus.microdata.pram.method import EDIT_RULES, KEEP, RATIO_LIMIT, REFUSE
from sdcensus.microdata.swapping.second_geographies import (
    REDERIVE,
    check_second_geographies,
    follow_places,
)
from sdcensus.model.confidential import Confidential
from sdcensus.model.method.parameter import Parameter, ValueKind
from sdcensus.model.progress import Progress
from sdcensus.model.schema.variable import Level, Variable
from sdcensus.model.secret import Purpose
from sdcensus.model.sentences import sentence
from sdcensus.model.spec.headings import entity_words
from sdcensus.store.census_store import CensusStore

Int64 = npt.NDArray[np.int64]

#: Areas of a level that are told one by one; of more they are in the file only.
_MOST_AREAS = 60


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _Situation(Confidential):
    """The geography of a store with the units that can move, and the moves."""

    geography: Variable
    units: MovingUnits
    leaf_sizes: Int64
    tables: tuple[MoveTable, ...]

    def __repr__(self) -> str:
        return "<Situation: confidential>"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class GeographicPram(Confidential):
    """Moves whole households to other areas, by the matrices of the ABS at one or more levels.

    Attributes:
        move: Levels with their shares: ``LEVEL=SHARE`` or ``LEVEL/WITHIN=SHARE``.
        rederive: Second geographies that follow.
        edit_rules: What happens where a move would break an edit rule.
        ratio_limit: What expectation ratios are held against.
    """

    move: tuple[str, ...]
    rederive: tuple[str, ...] = ()
    edit_rules: str = KEEP
    ratio_limit: float = LIMIT

    name: ClassVar[str] = "geographic-pram"
    version: ClassVar[int] = 1
    summary: ClassVar[str] = "Households move whole to other areas, with known probabilities."
    purpose: ClassVar[Purpose | None] = Purpose.PRAM
    takes: ClassVar[tuple[Parameter, ...]] = (
        Parameter(
            "move",
            ValueKind.LISTS,
            "Between the areas of which level, and how often: ed=0.06 within the next larger level,"
            " or ed/region=0.06. The share is that of the smallest area. Confidential.",
            required=True,
        ),
        REDERIVE,
        EDIT_RULES,
        RATIO_LIMIT,
    )

    def __repr__(self) -> str:
        return "<GeographicPram: confidential>"

    def foresee(
        self, records: CensusStore, draws: Draws | None, progress: Progress
    ) -> tuple[FactTable, ...]:
        """The expected moves by level, and expectation ratios."""
        situation = self._situation(records, progress)
        return (_expected(situation, self.ratio_limit),)

    def derive(self, records: CensusStore, draws: Draws | None, progress: Progress) -> Changes:
        """New areas for the units that move."""
        assert draws is not None
        situation = self._situation(records, progress)
        units, geography = situation.units, situation.geography
        places = units.places
        moved_by_level = []
        for at, table in enumerate(situation.tables):
            progress("drawing", at / len(situation.tables))
            after = draw_move(
                table, situation.leaf_sizes, units.digests, places, draws, geography.name
            )
            moved_by_level.append(int((after != places).sum()))
            places = after
        asked = self._new_areas(records, situation, places)
        change = ChangeSet({geography.name: asked}, units.unit_of[asked.rows])
        kept = np.zeros(asked.rows.size, dtype=bool)
        if self.edit_rules != REFUSE:
            (kept,) = kept_by_rules(records, [change], progress)
        moved = change.without(kept)[geography.name]
        stayed = np.unique(units.unit_of[asked.rows[kept]])
        places = places.copy()
        places[stayed] = units.places[stayed]
        followed = follow_places(records, moved, rederive=self.rederive)
        figures = {
            f"{units.entity.plural} moved": int((places != units.places).sum()),
            **({f"{units.entity.plural} kept by edit rules": stayed.size} if stayed.size else {}),
            **followed.figures,
        }
        levels = [table.move.level for table in situation.tables]
        return Changes(
            codes={geography.name: moved, **followed.codes},
            figures=figures,
            facts=(
                _happened(situation, moved_by_level, places, int(stayed.size)),
                *_by_area(situation, levels, places),
                _expected(situation, self.ratio_limit),
                *followed.facts,
            ),
            files=(_area_file(situation, levels, places),),
            notes=(
                *_notes(situation),
                *followed.notes,
                *(() if moved.rows.size else (_unchanged(geography),)),
            ),
        )

    def _situation(self, records: CensusStore, progress: Progress) -> _Situation:
        geography = records.schema.geography
        if geography is None:
            raise SpecError(
                "The census has no geography, so nobody can move. Change values instead, by pram."
            )
        moves = moves_of(geography, self.move)
        check_second_geographies(records.schema, rederive=self.rederive)
        progress("looking for the units that move", 0.0)
        units = moving_units(records, geography)
        missing = np.array([code.is_missing for code in geography.codes])
        sizes = np.bincount(units.places, minlength=len(geography.codes)).astype(np.int64)
        sizes[missing] = 0
        tables = tuple(MoveTable.of(move, sizes) for move in moves)
        if not any(table.open.any() for table in tables):
            raise SpecError(_one_area(geography, moves, sizes))
        return _Situation(geography, units, sizes, tables)

    def _new_areas(self, records: CensusStore, situation: _Situation, places: Int64) -> NewValues:
        before = records.raw(situation.geography.entity, situation.geography.name)
        after = places[situation.units.unit_of]
        rows = np.flatnonzero(after != before)
        return NewValues(rows, after[rows].astype(before.dtype))


def _one_area(geography: Variable, moves: Sequence[Move], sizes: Int64) -> str:
    """Why nobody can move, and what can be done."""
    if int((sizes > 0).sum()) < 2:
        return (
            "All units are in one area, so nobody can move to another. Change values of other"
            " variables instead (sdcensus pram --variables), or exchange them (sdcensus swap"
            " --how attributes)."
        )
    names = ", ".join(
        f"{move.level.name} within {move.within_name or 'the country'}" for move in moves
    )
    return (
        f"Nobody can move ({names}): no larger area has two areas with units. Move between larger"
        f" areas as well, such as --move {geography.leaf_level}/LARGER=SHARE or --move LARGER=SHARE"
        " with one of the levels"
        f" {', '.join(level.name for level in geography.plain_levels[1:]) or 'of the schema'}; or"
        " change values of other variables, by pram."
    )


def _within(move: Move) -> str:
    return sentence("pram.areas.country") if move.within is None else move.within.name


def _expected(situation: _Situation, limit: float) -> FactTable:
    rows: list[tuple[Fact, ...]] = []
    for table in situation.tables:
        leaving = table.leaving()
        expected = sum(share * int(size) for share, size in zip(leaving, table.sizes, strict=True))
        ratios = table.ratios()
        rows.append(
            (
                *(table.move.level.name, _within(table.move)),
                int((table.sizes > 0).sum()),
                int(((table.sizes > 0) & ~table.open).sum()),
                round(float(expected), 1),
                int(table.sizes[table.open].min()) if table.open.any() else None,
                round(min(ratios), 2) if ratios else None,
                round(max(ratios), 2) if ratios else None,
            )
        )
    headings = ("level", "within", "places", "alone", "moving", "smallest", "ratio_from")
    return FactTable(
        name="geographic-pram-expected",
        title=sentence(
            "pram.areas.expected_title",
            units=int(situation.leaf_sizes.sum()),
            kind=entity_words(situation.units.entity),
        ),
        headings=_headings((*headings, "ratio_to")),
        rows=tuple(rows),
        note=sentence("pram.areas.ratio_note", limit=float(limit)),
    )


def _happened(situation: _Situation, moved: Sequence[int], places: Int64, stayed: int) -> FactTable:
    rows: list[tuple[Fact, ...]] = []
    for table, number in zip(situation.tables, moved, strict=True):
        shares = zip(table.leaving(), table.sizes, strict=True)
        expected = sum(share * int(size) for share, size in shares)
        rows.append((table.move.level.name, _within(table.move), round(float(expected), 1), number))
    return FactTable(
        name="geographic-pram-drawn",
        title=sentence(
            "pram.areas.drawn_title",
            moved=int((places != situation.units.places).sum()),
            units=int(situation.leaf_sizes.sum()),
            kind=entity_words(situation.units.entity),
        ),
        headings=_headings(("level", "within", "moving", "moved")),
        rows=tuple(rows),
        note=sentence("pram.areas.kept_note", n=stayed) if stayed else None,
    )


def _sizes(level: Level, places: Int64) -> Int64:
    return np.bincount(level.group_array[places], minlength=len(level.codes))


def _by_area(
    situation: _Situation, levels: Sequence[Level], places: Int64
) -> tuple[FactTable, ...]:
    tables = []
    for level in levels:
        before, after = _sizes(level, situation.units.places), _sizes(level, places)
        if level.codes and len(level.codes) <= _MOST_AREAS:
            rows = tuple(
                (code.code, int(before[at]), int(after[at]))
                for at, code in enumerate(level.codes)
                if before[at] or after[at]
            )
            tables.append(
                FactTable(
                    name=f"geographic-pram-{level.name}",
                    title=sentence("pram.areas.areas_title", level=level.name),
                    headings=_headings(("area", "before", "after")),
                    rows=rows,
                )
            )
    return tuple(tables)


def _area_file(situation: _Situation, levels: Sequence[Level], places: Int64) -> OfficeFile:
    columns: dict[str, list[object]] = {"level": [], "area": [], "before": [], "after": []}
    for level in levels:
        before, after = _sizes(level, situation.units.places), _sizes(level, places)
        for at, code in enumerate(level.codes):
            line = (level.name, code.code, int(before[at]), int(after[at]))
            for values, value in zip(columns.values(), line, strict=True):
                values.append(value)
    arrays = {name: np.array(values, dtype=object) for name, values in columns.items()}
    return OfficeFile(name="geographic-pram-areas.csv", columns=arrays)


def _notes(situation: _Situation) -> list[Sentence]:
    notes = []
    for table in situation.tables:
        if ((table.sizes > 0) & ~table.open).any():
            notes.append(
                sentence(
                    "pram.areas.alone_note",
                    level=table.move.level.name,
                    within=_within(table.move),
                )
            )
    for fine, coarse in zip(situation.tables, situation.tables[1:], strict=False):
        if coarse.move.share >= fine.move.share:
            notes.append(sentence("pram.areas.larger", level=coarse.move.level.name))
    return notes


def _unchanged(geography: Variable) -> Sentence:
    return sentence("pram.notes.nothing", name=geography.name)


def _headings(names: Sequence[str]) -> tuple[Sentence, ...]:
    return tuple(sentence(f"pram.areas.{name}") for name in names)
