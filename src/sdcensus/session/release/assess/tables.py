"""What a file and the tables that are out give away together.

The office knows how much its tables were changed; an intruder is taken to know the largest change.
It is measured on the tables themselves, since neither the registry nor the lock keeps the noise.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.errors import Sentence
from sdcensus.microdata.method import Fact, FactTable
from sdcensus.microdata.release.records import FileRecords
from sdcensus.model.confidential import Confidential
from sdcensus.model.inference.knowledge import Knowledge
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.published.provenance import lineage_text
from sdcensus.model.published.table import Table
from sdcensus.model.schema.variable import Entity, Role, Variable
from sdcensus.model.sentences import sentence
from sdcensus.model.spec.axis import TOTAL
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.model.vocabulary import Measure
from sdcensus.risk.records.with_tables import (
    NOT_TOLD,
    NarrowedTable,
    PossibleAreas,
    area_cells,
    counted_cells,
    narrowed_table,
    told_places,
)
from sdcensus.session.guard.run import REGISTRY_FOLDER, read_lock
from sdcensus.session.release.assess.told_units import ToldUnits
from sdcensus.store.census_store import CensusStore, all_rows_of
from sdcensus.store.registry import Registry, RegistryEntry

Integers = npt.NDArray[Any]
Int64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

#: Tables with more cells are not looked at.
MOST_CELLS = 5_000_000
#: So many cells are kept in memory.
MOST_KEPT = 40_000_000
#: Areas are not looked for where they take more bits: half a gigabyte.
MOST_BITS = 1 << 32
#: So many tables are listed, those with most cells that become exact first.
MOST_LISTED = 20


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class WithTables(Confidential):
    """What a file and the published tables give away together.

    Attributes:
        facts: As tables.
        notes: What the office should know.
        lines: From which lines of records the tables were made.
        by_amounts: Whether one of them counts by the classes of an amount.
    """

    facts: tuple[FactTable, ...] = ()
    notes: tuple[Sentence, ...] = ()
    lines: tuple[str, ...] = ()
    by_amounts: bool = False

    def __repr__(self) -> str:
        return "<WithTables: confidential>"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class HiddenAreas(Confidential):
    """How many persons of a file have their area given away by tables.

    Attributes:
        level: What the areas are, such as ``ed@parish``.
        areas, tables: How many areas there are, and how many tables tell something about them.
        persons: The persons of the file.
        certain: Those who can live in one area only, whatever the noise was.
        pointing: Those who point to one area if published zeros are taken at their word.
        right: Those of them who live there.
    """

    level: str
    areas: int
    tables: int
    persons: int
    certain: int
    pointing: int
    right: int

    def __repr__(self) -> str:
        return "<HiddenAreas: confidential>"


def with_tables(
    office: Path, store: CensusStore, records: FileRecords, progress: Progress = no_progress
) -> WithTables:
    """Hold a file against the tables in the registry of an office.

    Args:
        office: The office folder.
        store: The census as it was counted.
        records: What the file tells.
        progress: Told how far it is.

    Raises:
        StoreError: The registry is damaged.
    """
    if not (office / REGISTRY_FOLDER).exists():
        return WithTables()
    registry = Registry.open(office / REGISTRY_FOLDER)
    series = read_lock(office).series_of(store.schema.census)
    out = [entry for entry in registry.latest() if entry.series in ("", series)]
    lines = tuple(dict.fromkeys(_line(entry) for entry in out))
    by_amounts = any(_counts_amounts(entry.spec) for entry in out)
    own = lineage_text(store.manifest.lineage)
    entries = [entry for entry in out if _line(entry) == own and _is_usable(entry, store, records)]
    if not entries:
        return WithTables(lines=lines, by_amounts=by_amounts)
    tables = _Tables(registry, entries, store, records, progress)
    narrowed = list(tables.narrowed())
    areas = list(tables.hidden_areas())
    facts = [_tables_table(narrowed, len(out) - len(entries))]
    if areas:
        facts.append(_areas_table(areas))
    notes = [
        sentence("release.together.area_known", level=each.level, n=each.certain)
        for each in areas
        if each.certain
    ]
    notes += [
        sentence(
            "release.together.area_guessed", level=each.level, n=each.pointing, right=each.right
        )
        for each in areas
        if each.right
    ]
    return WithTables(facts=tuple(facts), notes=tuple(notes), lines=lines, by_amounts=by_amounts)


def _counts_amounts(spec: TableSpec) -> bool:
    variables = (*(axis.variable for axis in spec.axes), *spec.universe.variables)
    return any(variable.continuous for variable in variables)


def _line(entry: RegistryEntry) -> str:
    return "" if entry.provenance is None else entry.provenance.lineage


def _is_usable(entry: RegistryEntry, store: CensusStore, records: FileRecords) -> bool:
    """Whether a table counts persons or households of the file by what the census has."""
    spec = entry.spec
    if not entry.has_values or entry.sparse or not 0 < spec.cells <= MOST_CELLS:
        return False
    if math.prod(size + 1 for size in spec.base_shape) > 4 * MOST_CELLS:
        return False
    if spec.measure is not Measure.COUNT or spec.of not in records.sample.rows or not spec.axes:
        return False
    known = {variable.name: variable for variable in store.schema.usable(spec.of)}
    return all(
        variable.name in known
        and {code.code for code in known[variable.name].codes}
        <= {code.code for code in variable.codes}
        for variable in _variables(spec)
    )


def _variables(spec: TableSpec) -> tuple[Variable, ...]:
    return (*(axis.variable for axis in spec.axes), *spec.universe.variables)


class _Tables(Confidential):
    """Published tables of a census, with a file of it."""

    def __init__(
        self,
        registry: Registry,
        entries: Sequence[RegistryEntry],
        store: CensusStore,
        records: FileRecords,
        progress: Progress,
    ) -> None:
        self._registry, self._entries, self._store = registry, entries, store
        self._progress = progress
        self._units = {
            entity: ToldUnits(records, store, entity)
            for entity in (Entity.PERSON, Entity.HOUSEHOLD)
            if entity in records.sample.rows
        }
        self._leaves: dict[tuple[Entity, str], Integers] = {}
        self._kept: dict[str, Table] = {}
        self._knowledge = dict(self._known())

    def __repr__(self) -> str:
        return "<_Tables: confidential>"

    def _table(self, entry: RegistryEntry) -> Table:
        """The values of a table, which are read once as long as all of them fit in memory."""
        if entry.id in self._kept:
            return self._kept[entry.id]
        table = self._registry.table(entry).dense
        assert table is not None  # sparse ones are not usable
        if sum(kept.spec.cells for kept in self._kept.values()) + table.spec.cells <= MOST_KEPT:
            self._kept[entry.id] = table
        return table

    # ------------------------------------------------------------------ how much was changed

    def _known(self) -> Iterator[tuple[tuple[str, ...], Knowledge]]:
        """For each way in which tables were made, the largest change and whether zeros stay."""
        largest: dict[tuple[str, ...], int] = {}
        zeros: dict[tuple[str, ...], bool] = {}
        for place, entry in enumerate(self._entries):
            self._progress("counting published tables", place / len(self._entries))
            table, counts, making = self._table(entry), self._counts(entry.spec), _making(entry)
            shown = np.ones(counts.shape, dtype=bool) if table.flags is None else table.flags == 0
            change = np.abs(table.published - counts)[shown]
            largest[making] = max(largest.get(making, 0), int(change.max(initial=0)))
            kept = not (table.published[shown & (counts == 0)] > 0).any()
            zeros[making] = zeros.get(making, True) and kept
        for making, deviation in largest.items():
            yield making, Knowledge(max_deviation=deviation, zeros_known=zeros[making])

    def _counts(self, spec: TableSpec) -> Int64:
        """The true counts of a table."""
        columns = [self._leaf(spec.of, axis.variable) for axis in spec.axes]
        if not spec.universe.everything:
            rows = all_rows_of(spec.universe, self._store, spec.of)
            columns = [column[rows] for column in columns]
        places = [
            told_places(
                axis,
                self._positions(axis.variable),
                len(self._store.schema.variable(axis.variable.name).codes),
            )
            for axis in spec.axes
        ]
        return counted_cells(spec, columns, places)

    def _leaf(self, of: Entity, variable: Variable) -> Integers:
        key = (of, variable.name)
        if key not in self._leaves:
            own = self._store.schema.variable(variable.name)
            self._leaves[key] = self._store.column(of, own)[slice(None)]
        return self._leaves[key]

    def _positions(self, variable: Variable) -> Int64:
        """For each leaf of a published variable its place in the census of today."""
        own = self._store.schema.variable(variable.name)
        place = {code.code: at for at, code in enumerate(own.codes)}
        places = [place.get(code.code, NOT_TOLD) for code in variable.codes]
        return np.array(places, dtype=np.int64)

    # ------------------------------------------------------------------ cells

    def narrowed(self) -> Iterator[NarrowedTable]:
        """What the file adds to each table, as far as its records reach."""
        for place, entry in enumerate(self._entries):
            self._progress("holding the file against tables", place / len(self._entries))
            spec, units = entry.spec, self._units[entry.spec.of]
            inside = units.inside(spec.universe)
            if inside is None:
                continue
            # A record counts where it tells the truth: the intruder does not know which do.
            inside = inside & units.true_of(_variables(spec))
            columns = [units.column(axis.variable).values[inside] for axis in spec.axes]
            counts = counted_cells(spec, columns, [units.places(axis) for axis in spec.axes])
            lower, upper = self._knowledge[_making(entry)].bounds(self._table(entry))
            yield narrowed_table(entry.name or spec.title, spec, lower, upper, counts)

    # ------------------------------------------------------------------ areas

    def hidden_areas(self) -> Iterator[HiddenAreas]:
        """Of each kind of area that the file leaves out, who has it given away."""
        if Entity.PERSON not in self._units:
            return
        by_level: dict[tuple[str, str], list[RegistryEntry]] = {}
        for entry in self._entries:
            for axis in entry.spec.axes:
                if self._is_area(axis.variable):
                    for block in axis.blocks:
                        if block.level != TOTAL:
                            key = (axis.variable.name, block.level)
                            by_level.setdefault(key, []).append(entry)
        for (name, level), entries in by_level.items():
            self._progress("looking for areas", 0.0)
            areas = self._areas(name, level, entries)
            if areas is not None:
                yield areas

    def _is_area(self, variable: Variable) -> bool:
        return self._store.schema.variable(variable.name).role is Role.GEOGRAPHY

    def _areas(self, name: str, level: str, entries: Sequence[RegistryEntry]) -> HiddenAreas | None:
        """Who has the area given away at a level; ``None`` where the file tells it anyway."""
        persons = self._units[Entity.PERSON]
        axis = entries[0].spec.axis(name)
        number = next(at for at, block in enumerate(axis.blocks) if block.level == level)
        block, column = axis.blocks[number], persons.column(axis.variable)
        position = persons.places(axis)[number]
        leaf = column.groups >= 0
        if (position[np.unique(column.groups[leaf])] >= 0).all() and block.size > 1:
            return None
        if block.size < 2 or persons.rows.size * block.size > MOST_BITS:
            return None
        # A coarser area that the file tells leaves only the areas inside it.
        own = np.zeros((column.codes, block.size), dtype=bool)
        own[column.groups[leaf], block.group[axis.base[leaf]]] = True
        own[~own.any(axis=1)] = True
        chosen = []
        for certain in (True, False):
            possible = PossibleAreas(persons.rows.size, block.size)
            possible.leave(own, column.values.astype(np.int64))
            for entry in entries:
                self._leave(possible, entry, name, level, certain=certain)
            possible.share(persons.households)
            chosen.append(possible.only())
        certain_area, pointed = chosen
        leaves = self._leaf(Entity.PERSON, axis.variable)[persons.rows]
        place_of = {code.code: at for at, code in enumerate(axis.variable.codes)}
        census = self._store.schema.variable(name).codes
        area_of = np.array([block.group[axis.base[place_of[code.code]]] for code in census])
        return HiddenAreas(
            level=f"{name}@{level}",
            areas=block.size,
            tables=len(entries),
            persons=persons.rows.size,
            certain=int((certain_area >= 0).sum()),
            pointing=int((pointed >= 0).sum()),
            right=int((pointed == area_of[leaves]).sum()),
        )

    def _leave(
        self, possible: PossibleAreas, entry: RegistryEntry, name: str, level: str, *, certain: bool
    ) -> None:
        """Take the areas away in which a table leaves no room for a record."""
        spec, persons = entry.spec, self._units[Entity.PERSON]
        at = spec.position(name)
        block = next(block for block in spec.axes[at].blocks if block.level == level)
        others = [axis for place, axis in enumerate(spec.axes) if place != at]
        shape = [len(axis.codes) for axis in others]
        inside = persons.inside(spec.universe)
        if inside is None:
            return
        if spec.of is Entity.HOUSEHOLD:
            inside = inside & (persons.households >= 0)
        columns = [persons.column(axis.variable).values for axis in others]
        cells = np.zeros(persons.rows.size, dtype=np.int64)
        if others:
            cells = area_cells([persons.places(axis) for axis in others], columns, shape)
        cells = np.where(inside, cells, NOT_TOLD)
        table = self._table(entry)
        if certain:
            room = self._knowledge[_making(entry)].bounds(table)[1] > 0
        else:
            room = table.published > 0
            if table.flags is not None:
                room |= table.flags != 0
        areas = np.arange(block.start, block.start + block.size)
        by_area = np.moveaxis(room, at, -1)[..., areas].reshape(-1, block.size)
        # Only the kinds that occur: most cells of a large table have no record of the file.
        kinds, which = np.unique(cells, return_inverse=True)
        lines = np.where((kinds >= 0)[:, None], by_area[np.maximum(kinds, 0)], True)
        possible.leave(lines, which.reshape(-1))


def _making(entry: RegistryEntry) -> tuple[str, ...]:
    """Tables of one making were changed in one way."""
    made = entry.provenance
    return (entry.id,) if made is None else (made.method, made.method_version, made.fingerprint)


def _tables_table(narrowed: Sequence[NarrowedTable], left_out: int) -> FactTable:
    """The tables of which a file tells most, and all of them together."""
    order = sorted(narrowed, key=lambda table: (-table.exact, -table.narrowed, table.name))
    lines: list[tuple[Fact, ...]] = [
        (table.name, table.reached, table.narrowed, table.exact_before, table.exact)
        for table in order[:MOST_LISTED]
    ]
    sums = [
        sum(getattr(table, name) for table in narrowed)
        for name in ("reached", "narrowed", "exact_before", "exact")
    ]
    lines.append((str(sentence("release.together.all")), *sums))
    heads = ("table", "reached", "narrowed", "exact_before", "exact")
    return FactTable(
        name="together-tables",
        title=sentence("release.together.tables", n=len(narrowed)),
        headings=tuple(sentence(f"release.together.{head}") for head in heads),
        rows=tuple(lines),
        note=sentence("release.together.tables_note", n=left_out),
    )


def _areas_table(areas: Sequence[HiddenAreas]) -> FactTable:
    heads = ("level", "areas", "tables_of", "persons", "certain", "pointing", "right")
    return FactTable(
        name="together-areas",
        title=sentence("release.together.areas_title"),
        headings=tuple(sentence(f"release.together.{head}") for head in heads),
        rows=tuple(
            (
                each.level,
                each.areas,
                each.tables,
                each.persons,
                each.certain,
                each.pointing,
                each.right,
            )
            for each in areas
        ),
        note=sentence("release.together.areas_note"),
    )
