"""From the files of a census to a store: read, check, encode, key, sort, write. Once.

The map of a census is checked against the code list of its geography before it is kept.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from sdcensus.errors import InputError
from sdcensus.ingest.areas.inhabited import inhabited_notes, with_inhabited_squares
from sdcensus.ingest.arrange import ArrangedRecords, link_records, order_records, write_records
from sdcensus.ingest.coordinates import check_system
from sdcensus.ingest.id_parts import LinkMatches
from sdcensus.ingest.identities import ProposedIdentity, undeclared_identities
from sdcensus.ingest.load_facts import LoadFacts, look_at
from sdcensus.ingest.owners import unit_notes
from sdcensus.ingest.reading import read_files
from sdcensus.kernels.cells.tabulate import NO_ROW
from sdcensus.model.confidential import Confidential
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.schema.area_outlines import MOST_POINTS, all_levels, for_screen
from sdcensus.model.schema.area_shapes import Shapes, read_shapes
from sdcensus.model.schema.file_problems import (
    OnProblem,
    Problem,
    ProblemKind,
    ProblemLog,
    refuse_if,
)
from sdcensus.model.schema.schema import HouseholdKey, Schema
from sdcensus.model.schema.variable import Entity
from sdcensus.model.secret import Secret
from sdcensus.model.spec.declared_universes import with_missing_codes
from sdcensus.model.spec.universe import universe_of
from sdcensus.model.text import Text, parse_json
from sdcensus.store.census_store import CensusStore, all_rows_of
from sdcensus.store.edit_rules import impossible_rows
from sdcensus.store.manifest import KEY_COLUMN, column_file, link_column
from sdcensus.store.writer import StoreWriter, writing

#: A larger file is not a map for tables; draw it coarser.
MOST_BYTES = 128 << 20
#: Areas that a message names.
_MOST_NAMED = 5


@dataclass(frozen=True, slots=True, eq=False)
class CensusMap:
    """A map that fits its geography. Public.

    Attributes:
        variable: The geography.
        content: The file as it was given, or without details that no screen shows.
        missing: The codes of areas that it does not show.
        file: Where it came from.
    """

    variable: str
    content: bytes
    missing: tuple[str, ...]
    file: str

    @property
    def note(self) -> Text:
        """What to know about it; empty if it shows every area."""
        if not self.missing:
            return Text()
        named = ", ".join(self.missing[:_MOST_NAMED])
        more = len(self.missing) - _MOST_NAMED
        return Text.named("load.report.map_note").filled(
            file=self.file,
            variable=self.variable,
            areas=f"{named}, … (+{more})" if more > 0 else named,
        )


def read_maps(schema: Schema, folder: Path) -> tuple[CensusMap, ...]:
    """The maps that a schema names.

    Args:
        schema: The census.
        folder: The folder of the schema document, to which the names are relative.

    Raises:
        InputError: A file is no map of its geography.
    """
    census_maps = []
    for variable in schema.variables:
        if not variable.map:
            continue
        path = folder / variable.map
        try:
            size = path.stat().st_size
            if size > MOST_BYTES:
                raise InputError(
                    f"{path} has {size >> 20:,} MB; a map has at most {MOST_BYTES >> 20} MB. Draw"
                    " it with fewer points."
                )
            content = path.read_bytes()
        except OSError as error:
            raise InputError(f"{path} cannot be read: {error.strerror}.") from None
        shapes = read_shapes(content, variable, str(path))
        leaves = shapes.get(variable.leaf_level)
        shown = set() if leaves is None else set(leaves.codes)
        valid = [code.code for code in variable.codes if not code.is_missing]
        missing = tuple(code for code in valid if code not in shown)
        if any(len(shape.points) > MOST_POINTS for shape in shapes.values()):
            content = _for_screens(shapes, content)
        census_maps.append(CensusMap(variable.name, content, missing, path.name))
    return tuple(census_maps)


def _for_screens(shapes: Mapping[str, Shapes], content: bytes) -> bytes:
    """A map without details that no screen shows: what is kept is read at every start.

    The system of its coordinates stays named: without it nobody could place the areas.
    """
    drawn = all_levels({name: for_screen(shape) for name, shape in shapes.items()})
    system = parse_json(content).get("crs")
    if system is not None:
        drawn["crs"] = system
    return json.dumps(drawn, ensure_ascii=False, separators=(",", ":")).encode("utf-8")


@dataclass(frozen=True, slots=True, repr=False)
class LoadReport(Confidential):
    """What a load did. Holds sizes: for the office, not for the public.

    Attributes:
        store: Where the store stands.
        schema: The census as the store holds it.
        facts: What the records look like.
        problems: Values that do not fit the schema, with what was made of them.
        notes: What else to know, such as areas that the map does not show.
        identities: Identities between units that the records show and the schema does not declare,
            as lines for it; ``None`` where nobody looked for them.
        links: How the links between records match, for each kind that names another.
        removed: What killed loads had left at the place of the store, which was removed.
    """

    store: Path
    schema: Schema
    facts: LoadFacts
    problems: tuple[Problem, ...]
    notes: tuple[Text, ...] = ()
    identities: tuple[ProposedIdentity, ...] | None = None
    links: tuple[LinkMatches, ...] = ()
    removed: tuple[Path, ...] = ()

    def __repr__(self) -> str:
        return f"<LoadReport of {self.store.name}: confidential>"

    @property
    def rows(self) -> Mapping[Entity, int]:
        """How many records of each kind the store holds."""
        return self.facts.rows


def load_census(
    schema: Schema,
    out: Path,
    *,
    secret: Secret,
    on_problem: OnProblem = OnProblem.REFUSE,
    replace: bool = False,
    maps: Sequence[CensusMap] = (),
    propose: bool = False,
    finish: Callable[[LoadReport, CensusStore], None] = lambda *_: None,
    progress: Progress = no_progress,
) -> LoadReport:
    """Load the files of a schema into a new store.

    Args:
        schema: The census, with its files.
        out: The folder of the store; must not exist, unless ``replace``.
        secret: The office secret; record keys come from it and it is not kept.
        on_problem: Refuse records that do not fit the schema, or count them as "not stated".
        replace: Put the new store in the place of an older one.
        maps: The maps of its geographies, which the store keeps.
        propose: Look for identities between units that the schema does not declare.
        finish: Called with the report and the store before the store gets its name: whoever is
            killed there has no store yet, and the same call makes all of it.
        progress: Called with the stage and how much of it is done.
    """
    for grid in schema.grids:
        check_system(grid)
    if on_problem is OnProblem.MISSING:
        schema = with_missing_codes(schema)
    log = ProblemLog()
    with writing(out, replace=replace) as writer:
        for census_map in maps:
            writer.write_map(census_map.variable, census_map.content)
        links, unit_differences = _build(schema, writer, secret, on_problem, log, progress)
        # Only now is no file of the folder mapped any more: Windows removes and renames no others.
        for folder in writer.folder.glob("*.parts"):
            shutil.rmtree(folder)

        def look(store: CensusStore) -> LoadReport:
            lost = {kinds: link.unmatched for kinds, link in links.items()}
            shown = (census_map.note for census_map in maps if census_map.note)
            report = LoadReport(
                out,
                store.schema,
                look_at(store, lost, progress),
                log.problems(),
                (*shown, *inhabited_notes(store.schema), *unit_differences),
                undeclared_identities(store, progress) if propose else None,
                tuple(links.values()),
                writer.removed,
            )
            finish(report, store)
            return report

        # No name of a store here: its columns are not mapped any more when it gets its own.
        return look(CensusStore.open(writer.folder, unfinished=True))


def _build(
    schema: Schema,
    writer: StoreWriter,
    secret: Secret,
    on_problem: OnProblem,
    log: ProblemLog,
    progress: Progress,
) -> tuple[dict[tuple[Entity, Entity], LinkMatches], tuple[Text, ...]]:
    """Fill the store; how the links of each kind match, and what is told of units of files."""
    material = secret.reveal_for_record_keys()
    parts = read_files(schema, writer.folder, material, log, progress)
    notes = unit_notes(schema, parts)
    schema = with_inhabited_squares(schema, parts)
    records = link_records(schema, parts, material, log, progress)
    _refuse_if(log, on_problem)
    order_records(schema, records)
    write_records(schema, records, writer, progress)
    _finish(schema, records, writer, secret, on_problem, log, progress)
    _refuse_if(log, on_problem)
    links = {
        (entity, parent): matches
        for entity, own in records.items()
        for parent, matches in own.matches.items()
    }
    return links, notes


def _refuse_if(log: ProblemLog, on_problem: OnProblem) -> None:
    refuse_if(
        log.problems(),
        on_problem,
        afterwards="No store was written.",
        otherwise="load with --on-problem missing to let them pass (values that do not fit become"
        " 'not stated')",
    )


def _finish(
    schema: Schema,
    records: Mapping[Entity, ArrangedRecords],
    writer: StoreWriter,
    secret: Secret,
    on_problem: OnProblem,
    log: ProblemLog,
    progress: Progress,
) -> None:
    """Checks that need the encoded records, and keys that come from other records."""
    writer.describe(schema, secret_id=secret.id, on_problem=on_problem)
    store = CensusStore.open(writer.folder, unfinished=True)
    for rule, rows in impossible_rows(store, progress):
        _report(log, ProblemKind.IMPOSSIBLE, records[rule.entity], rows, rule.text)
    if schema.keys.household is HouseholdKey.REFERENCE_PERSON:
        _take_reference_keys(schema, store, records, writer, log)
        writer.describe(schema, secret_id=secret.id, on_problem=on_problem)


def _report(
    log: ProblemLog,
    kind: ProblemKind,
    records: ArrangedRecords,
    rows: npt.NDArray[np.int64],
    column: str,
) -> None:
    by_file: dict[str, list[int]] = {}
    for row in rows.tolist():
        name, number = records.parts.place(records.part_row(int(records.order[row])))
        by_file.setdefault(name, []).append(number)
    for name, numbers in by_file.items():
        log.add(kind, name, column, np.array(numbers))


def _take_reference_keys(
    schema: Schema,
    store: CensusStore,
    records: Mapping[Entity, ArrangedRecords],
    writer: StoreWriter,
    log: ProblemLog,
) -> None:
    """Give each household the key of its reference person: one number for both."""
    universe = universe_of(schema.keys.reference_person, schema)
    persons = all_rows_of(universe, store, Entity.PERSON)
    household = store.raw(Entity.PERSON, link_column(Entity.HOUSEHOLD))[persons]
    persons, household = persons[household != NO_ROW], household[household != NO_ROW]
    # Read, not mapped: the same file is written again below.
    file = column_file(writer.folder, Entity.HOUSEHOLD, KEY_COLUMN)
    keys = np.fromfile(file, dtype=np.uint32)
    found = np.bincount(household, minlength=keys.size)
    _report(
        log,
        ProblemKind.REFERENCE_PERSON,
        records[Entity.HOUSEHOLD],
        np.flatnonzero(found != 1),
        schema.keys.reference_person,
    )
    single = found[household] == 1
    keys[household[single]] = store.record_keys(Entity.PERSON)[persons[single]]
    writer.write(Entity.HOUSEHOLD, KEY_COLUMN, [keys])
