"""Squares that hold too few are put together: a further level of a grid, made from true counts.

No record changes. What is published is a geography, which an office decides on once: groups that
are made again from other counts would tell, by the difference, what the first ones hid.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from sdcensus.errors import Sentence, SpecError, UnknownName
from sdcensus.kernels.grids.multilevel import SquareGroups, square_groups
from sdcensus.microdata.method import Changes, Draws, FactTable, PublicPaper
from sdcensus.model.confidential import Confidential
from sdcensus.model.method.parameter import Parameter, ValueKind
from sdcensus.model.progress import Progress
from sdcensus.model.quantities import number_text
from sdcensus.model.schema.grids import GridSpec, size_label, size_name
from sdcensus.model.schema.variable import Entity, Hierarchy, Level, Variable
from sdcensus.model.secret import Purpose
from sdcensus.model.sentences import sentence
from sdcensus.model.spec.headings import entity_text, entity_words
from sdcensus.model.spec.square_groups import group_code
from sdcensus.model.text import LANGUAGES, Text
from sdcensus.store.census_store import CensusStore

Int64 = npt.NDArray[np.int64]

#: How the level of groups is called where nothing else is said.
LEVEL = "groups"
#: The file that says in which group every square is.
SQUARES_FILE = "squares-and-groups.csv"
_RULES = ("merge", "quadtree")
_NAME = re.compile(r"[^\W\d]\w*")
_ROWS = 1 << 22
#: Places for squares of the largest size, of which most may be empty.
_MOST_PLACES = 20_000_000


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class MultilevelGrid(Confidential):
    """Adds a level to a grid whose groups of squares hold at least so many units each, or none.

    Attributes:
        variable: The grid.
        at_least: How many units a group holds at least.
        counted: What is counted.
        rule: ``merge`` children of a square that are too small, or keep a square whole as soon as
            one of its children would be (``quadtree``).
        level: What the level is called.
    """

    variable: str
    at_least: int
    counted: str = "households"
    rule: str = "merge"
    level: str = LEVEL

    name: ClassVar[str] = "multilevel-grid"
    version: ClassVar[int] = 1
    summary: ClassVar[str] = "Put squares of a grid together until each group holds enough units."
    purpose: ClassVar[Purpose | None] = None
    takes: ClassVar[tuple[Parameter, ...]] = (
        Parameter("variable", ValueKind.VARIABLE, "The grid, such as ed_grid.", required=True),
        Parameter(
            "at_least",
            ValueKind.WHOLE,
            "How many units a group holds at least, by true counts.",
            required=True,
            least=2,
            most=1_000_000,
        ),
        Parameter("counted", ValueKind.UNITS, "What is counted.", default="households"),
        Parameter(
            "rule",
            ValueKind.WORD,
            "merge: children that hold too few are merged. quadtree: their square stays whole.",
            words=_RULES,
            default="merge",
        ),
        Parameter("level", ValueKind.TEXT, "What the level is called.", default=LEVEL),
    )

    def __repr__(self) -> str:
        return "<MultilevelGrid: confidential>"

    def derive(self, records: CensusStore, draws: Draws | None, progress: Progress) -> Changes:
        """The grid with one more level, and what the office is told about it."""
        grid, variable, unit = self._checked(records)
        counts = _counted(records, unit, variable, progress)
        groups = self._groups(grid, variable, unit, counts)
        level = _level(self.level, grid, variable, groups)
        # Nested in coarser squares as far as they nest; levels of several trees share the leaves.
        further = replace(
            variable,
            hierarchies=(*variable.hierarchies, Hierarchy(self.level, (level,))),
            level_labels=(*variable.level_labels, (self.level, self._label(unit))),
        )
        return Changes(
            variables=(further,),
            facts=(self._facts(grid, unit, groups, counts),),
            notes=self._notes(grid, variable, unit, groups),
            public=(PublicPaper(name=SQUARES_FILE, content=_paper(variable, level)),),
        )

    def _label(self, unit: Entity) -> Text:
        """The rule, as readers find it wherever a value of a group stands."""
        return _LABEL.filled(
            n={each: number_text(self.at_least, each) for each in LANGUAGES},
            units={each: entity_text(unit, each) for each in LANGUAGES},
        )

    def foresee(
        self, records: CensusStore, draws: Draws | None, progress: Progress
    ) -> tuple[FactTable, ...]:
        """How many squares of each size would stand alone, be merged, or be empty."""
        grid, variable, unit = self._checked(records)
        counts = _counted(records, unit, variable, progress)
        return (self._facts(grid, unit, self._groups(grid, variable, unit, counts), counts),)

    def _checked(self, records: CensusStore) -> tuple[GridSpec, Variable, Entity]:
        schema = records.schema
        grids = {grid.variable: grid for grid in schema.grids}
        variable = schema.variable(self.variable)
        if self.variable not in grids:
            raise UnknownName("grid", self.variable, known=grids)
        unit = Entity.parse(self.counted)
        schema.entity(unit)
        if variable.entity not in schema.lineage(unit):
            raise SpecError(
                f"{variable.name!r} describes {variable.entity.plural}, of which one of the"
                f" {unit.plural} may have several. Count others: --counted"
                f" {variable.entity.plural}."
            )
        if _NAME.fullmatch(self.level) is None:
            raise SpecError(
                f"{self.level!r} cannot be the name of a level: use letters, digits and"
                " underscores, and no digit in front."
            )
        if self.level in {variable.name, *(level.name for level in variable.levels())}:
            raise SpecError(
                f"{variable.name!r} has a level {self.level!r} already. Begin with the store"
                " without it, or name the new level: --level NAME."
            )
        return grids[self.variable], variable, unit

    def _groups(
        self, grid: GridSpec, variable: Variable, unit: Entity, counts: Int64
    ) -> SquareGroups:
        if int(counts.sum()) < self.at_least:
            raise SpecError(
                f"Fewer than {self.at_least} {unit.plural} lie in squares of {variable.name!r}: no"
                " group could hold so many. Take a smaller number."
            )
        levels = _levels(grid, variable)
        east, north = grid.corners(grid.squares_of(variable.codes))
        parents = []
        for fine, coarse in pairwise(levels):
            above = np.empty(len(fine.codes), dtype=np.int64)
            above[fine.group_array] = coarse.group_array
            parents.append(above[:-1])
        size = grid.sizes[-1]
        tops = levels[-1]
        _, first = np.unique(tops.group_array[:-1], return_index=True)
        places = north[first] // size, east[first] // size
        spread = math.prod(int(np.ptp(line)) + 1 for line in places)
        if spread > _MOST_PLACES:
            raise SpecError(
                f"The squares of {size_label(size)}, the largest of {variable.name!r}, are spread"
                f" over {spread:,} places; neighbours are looked for among at most"
                f" {_MOST_PLACES:,}. Add a larger size to the cells in the schema."
            )
        return square_groups(
            counts, parents, places, self.at_least, quadtree=self.rule == "quadtree"
        )

    def _facts(
        self, grid: GridSpec, unit: Entity, groups: SquareGroups, counts: Int64
    ) -> FactTable:
        sums = np.zeros(groups.level.size, dtype=np.int64)
        np.add.at(sums, groups.group, counts)
        rows = []
        for at, size in enumerate(grid.sizes):
            own = groups.level == at
            alone = int((own & (sums > 0) & (groups.members == 1)).sum())
            merged = int((own & (sums > 0) & (groups.members > 1)).sum())
            rows.append((size_label(size), alone, merged, int((own & (sums == 0)).sum())))
        title = sentence(
            "grids.title", variable=self.variable, n=self.at_least, units=entity_words(unit)
        )
        headings = tuple(sentence(f"grids.{name}") for name in ("size", "alone", "merged", "empty"))
        return FactTable(
            name="groups-of-squares",
            title=title,
            headings=headings,
            rows=tuple(rows),
            note=sentence("grids.note"),
        )

    def _notes(
        self, grid: GridSpec, variable: Variable, unit: Entity, groups: SquareGroups
    ) -> tuple[Sentence, ...]:
        words = entity_words(unit)
        notes = [
            sentence("grids.decision", variable=variable.name, units=words),
            sentence("grids.published", n=self.at_least, units=words),
        ]
        tops = _levels(grid, variable)[-1].group_array[:-1]
        pairs = np.unique(np.stack([groups.group, tops]), axis=1)
        several = np.bincount(pairs[0]) > 1
        joined = np.unique(pairs[1][several[pairs[0]]]).size
        if joined:
            notes.append(sentence("grids.joined", n=int(joined)))
        return tuple(notes)


_LABEL = Text.named("labels.square_groups")


def _counted(records: CensusStore, unit: Entity, variable: Variable, progress: Progress) -> Int64:
    """The units in each square; those in none are left out."""
    counts = np.zeros(len(variable.codes), dtype=np.int64)
    column = records.column(unit, variable)
    size = records.rows(unit)
    for start in range(0, size, _ROWS):
        progress("counting units in squares", start / size)
        rows = column[slice(start, min(start + _ROWS, size))]
        counts += np.bincount(rows, minlength=counts.size)
    progress("counting units in squares", 1.0)
    return counts[:-1]


def _levels(grid: GridSpec, variable: Variable) -> list[Level]:
    """The levels of the sizes of a grid, the finest first."""
    coarser = [variable.level(size_name(size)) for size in grid.coarser]
    return [variable.level(), *coarser]


def _level(name: str, grid: GridSpec, variable: Variable, groups: SquareGroups) -> Level:
    """The groups as a level: a square by itself keeps its code, several have that of the lowest."""
    levels = _levels(grid, variable)
    codes = []
    for at, first, members in zip(*(line.tolist() for line in groups[1:]), strict=True):
        codes.append(group_code(levels[at].codes[first], members))
    codes.append(variable.codes[-1])
    return Level(name, tuple(codes), (*groups.group.tolist(), len(codes) - 1))


def _paper(variable: Variable, level: Level) -> str:
    """For each finest square its group, and whether the group is more than this square."""
    squares = np.bincount(level.group_array, minlength=len(level.codes))
    lines = ["square,group,shared"]
    for code, group in zip(variable.codes[:-1], level.group[:-1], strict=True):
        lines.append(f"{code.code},{level.codes[group].code},{int(squares[group] > 1)}")
    return "\n".join([*lines, ""])
