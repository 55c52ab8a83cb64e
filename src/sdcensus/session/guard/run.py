"""What the guard over published numbers knows of a run, and where the office keeps its lock."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.errors import OutputError, Refused, SpecError, StoreError
from sdcensus.methods.method import Method
from sdcensus.model.confidential import Confidential
from sdcensus.model.cube.layout import positions_on
from sdcensus.model.plan.plan import Plan, PlanOutput
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.published.lock import LOCK_FILE, EventKind, LockEvent, PublicationLock
from sdcensus.model.published.provenance import Provenance
from sdcensus.model.schema.schema import CensusInfo
from sdcensus.model.schema.variable import Entity
from sdcensus.model.spec.table_spec import TableSpec, geography_axes
from sdcensus.session.census.census import Census
from sdcensus.store.census_store import CensusStore
from sdcensus.store.registry import Registry

Int64 = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.uint64]

#: Areas that are kept for the report on a table; those with the fewest changed records first.
MOST_AREAS = 100
#: The area of tables that show none.
EVERYWHERE = "_T"


@dataclass(frozen=True, slots=True, repr=False)
class AreaChanges(Confidential):
    """Changed numbers of one area.

    Attributes:
        area: Its code, with its level in front.
        cells: How many numbers of the table change there.
        short: Behind how many of them too few records have changed.
        fewest: The smallest number of changed records behind one; ``None`` if not counted.
    """

    area: str
    cells: int
    short: int = 0
    fewest: int | None = None

    def __repr__(self) -> str:
        return f"<AreaChanges {self.area}: confidential>"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class TableChanges(Confidential):
    """What changes in one table against what was published before; small, for the journal.

    Attributes:
        name, title, spec_hash, cells, of: The table, and what it counts.
        provenance: How it was made.
        entry: The id of its values in the registry.
        digest: A digest of its values.
        known: Whether it was published before.
        compared: How many of its cells were.
        changed: How many of these have another number now.
        why: What is different from when they were published, as words for ``guard_words``.
        other_data: Whether the data are others than when it was published.
        other_line: Whether they are derived in another way from an original store.
        short: How many changed numbers have too few changed records behind them.
        uncounted: Why changed records could not be counted; empty if they were.
        exposed: Re-keying: changed numbers that new keys do not hide, with too few behind them.
        redrawn, drawn: Re-keying: numbers without changed records that are not 0, and how many of
            them changed.
        areas: Where numbers change; the areas with the fewest changed records.
        areas_changed, areas_short: In how many areas numbers change, and with too few records.
        contradicts: Tables that are not part of this run and have other numbers for the same
            records, with how many.
        imported: How many numbers were taken over from earlier publications.
        values_kept: Whether the registry keeps the values, or only a digest.
        hidden, opened: How many cells another smallest group hides or shows; no number changes.
    """

    name: str
    title: str
    spec_hash: str
    cells: int
    of: Entity
    provenance: Provenance
    digest: str
    entry: str = ""
    known: bool = False
    compared: int = 0
    changed: int = 0
    why: tuple[str, ...] = ()
    other_data: bool = False
    other_line: bool = False
    short: int = 0
    uncounted: str = ""
    exposed: int = 0
    redrawn: int = 0
    drawn: int = 0
    areas: tuple[AreaChanges, ...] = ()
    areas_changed: int = 0
    areas_short: int = 0
    contradicts: tuple[tuple[str, int], ...] = ()
    imported: int = 0
    values_kept: bool = True
    hidden: int = 0
    opened: int = 0

    @property
    def fresh(self) -> bool:
        """Whether anything in it was not published like this before."""
        return bool(self.changed or self.hidden or self.opened) or not self.known

    def __repr__(self) -> str:
        return f"<TableChanges of {self.name}: confidential>"

    def to_json(self) -> dict[str, Any]:
        """As plain values."""
        return asdict(self)

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> TableChanges:
        """Read what ``to_json`` made.

        Raises:
            StoreError: It is something else.
        """
        try:
            fields = {
                **content,
                "of": Entity(content["of"]),
                "provenance": Provenance(**content["provenance"]),
                "why": tuple(str(reason) for reason in content["why"]),
                "areas": tuple(AreaChanges(**area) for area in content["areas"]),
                "contradicts": tuple((str(a), int(b)) for a, b in content["contradicts"]),
            }
            return cls(**fields)
        except (LookupError, TypeError, ValueError):
            raise StoreError(
                "What an interrupted run has noted is damaged. Begin the run anew."
            ) from None


@dataclass(frozen=True, slots=True, repr=False)
class ByArea(Confidential):
    """Changed numbers of a table by area."""

    areas: tuple[AreaChanges, ...]
    changed: int
    short: int

    def __repr__(self) -> str:
        return "<ByArea: confidential>"


def by_area(
    spec: TableSpec, cells: Numbers, behind: Int64 | None = None, *, minimum: int = 0
) -> ByArea:
    """Sum up changed cells by the areas of a table; without areas, as one.

    Args:
        spec: The table.
        cells: The numbers of the changed cells.
        behind: How many changed records stand behind each, if they were counted.
        minimum: How many there have to be.
    """
    if not cells.size:
        return ByArea((), 0, 0)
    at = next(iter(geography_axes(spec)), None)
    names = [EVERYWHERE]
    place = np.zeros(cells.size, dtype=np.int64)
    if at is not None:
        axis = spec.axes[at]
        names = [code.code if code.is_total else f"{code.level} {code.code}" for code in axis.codes]
        place = positions_on(spec.shape, at, cells)
    changed = np.bincount(place, minlength=len(names))
    short = np.zeros(len(names), dtype=np.int64)
    fewest = np.full(len(names), np.iinfo(np.int64).max, dtype=np.int64)
    if behind is not None:
        short = np.bincount(place[behind < minimum], minlength=len(names))
        np.minimum.at(fewest, place, behind)
    held = np.flatnonzero(changed)
    worst = held[np.lexsort((held, -changed[held], fewest[held]))][:MOST_AREAS]
    areas = tuple(
        AreaChanges(
            names[at],
            int(changed[at]),
            int(short[at]),
            None if behind is None else int(fewest[at]),
        )
        for at in worst.tolist()
    )
    return ByArea(areas, int(held.size), int((short > 0).sum()))


#: How many changed records must stand behind every changed number of a revision. Who compares
#: both publications learns that somebody among so many was corrected; ten is the smallest group
#: that offices commonly publish a count of.
REVISION_MINIMUM = 10
#: A re-keying must change at least this share of the numbers that no correction touches, or the
#: changed ones would still stand out.
REDRAWN_SHARE = 0.1
REGISTRY_FOLDER = "registry"
CHECK_FILE = "revision-check.csv"
#: Where a plan publishes that does not say it.
DEFAULT_OUTPUT = PlanOutput(folder="published")


def folders_of_plan(plan: Plan, out: str | Path | None = None) -> tuple[Path, Path]:
    """Where a plan publishes, and where its office keeps what nobody else may see.

    Args:
        plan: The plan.
        out: The published folder, instead of the one that the plan names.
    """
    output = plan.output or DEFAULT_OUTPUT
    published = Path(out) if out is not None else plan.path(output.folder)
    # What a link leads to is replaced, not the link. A path such as ".." has no name to go by.
    if published.is_symlink() or not published.name or published.name == "..":
        published = published.resolve()
    if not published.name:
        raise OutputError(f"{published} cannot be published into. Name a folder in it.")
    office = plan.path(output.office_folder) if output.office_folder else None
    if office is None:
        office = published.with_name(f"{published.name}.office")
    inner, outer = office.resolve(), published.resolve()
    if inner == outer or outer in inner.parents:
        raise OutputError(
            f"{office} is for what nobody outside may see, so it cannot lie inside {published}."
            " Name another office folder in the plan."
        )
    if inner in outer.parents:
        raise OutputError(
            f"{published} is for everybody, so it cannot lie inside {office}. Name another folder."
        )
    store = plan.path(plan.store).resolve()
    for folder, resolved in ((published, outer), (office, inner)):
        if resolved == store or store in resolved.parents or resolved in store.parents:
            raise OutputError(
                f"{folder} and the store {plan.store} cannot lie in each other. Name a folder of"
                " its own."
            )
    return published, office


def publication_name(info: CensusInfo, file: Path) -> str:
    """What a plan is called in the lock."""
    return f"{' '.join(info.code)} {file.stem}".strip()


def read_lock(office: Path) -> PublicationLock:
    """The lock of an office folder; an empty one before the first publication."""
    path = office / LOCK_FILE
    try:
        text = path.read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return PublicationLock()
    except (OSError, ValueError):
        raise StoreError(f"{path} cannot be read. Restore it from a backup.") from None
    return PublicationLock.from_json(text, where=str(path))


def open_registry(office: Path) -> Registry:
    """The registry of an office folder, made if it is missing."""
    folder = office / REGISTRY_FOLDER
    return Registry.open(folder) if folder.exists() else Registry.create(folder)


def series_key_version(
    office: Path,
    asked: int | None,
    *,
    info: CensusInfo | None = None,
    plan: str = "",
    revision: str | None = None,
    rekey: bool = False,
) -> int | None:
    """The key version with which the method of a run is built; ``None`` for the method's own.

    It is that of what the plan has published, and one more for a re-keying. A plan that was not
    re-keyed when others of its office were follows them. Called before the method is built.

    Args:
        office: The folder of the office.
        asked: What the plan says, if it says anything.
        info: The census; without it, any in the folder.
        plan: The name of the plan; without it, any.
        revision: The name of the revision, if the run is one.
        rekey: Whether all numbers shall be drawn anew.
    """
    lock = read_lock(office)
    series = None if info is None else lock.series_of(info)
    newest = lock.key_version(series)
    if newest is None:
        return asked
    own = lock.key_version(series, plan)
    version = newest if own is None else own
    if rekey:
        done = lock.event(revision or "", plan)
        if done is None or done.kind is not EventKind.REKEYING:
            version = max(newest, version + 1)
        if asked not in (None, version):
            raise Refused(
                f"Re-keying makes the key version {version}, and the plan says {asked}. Leave"
                " key_version out of the plan: the lock keeps it. Or write the new one."
            )
        return version
    if asked is not None:
        return asked
    return None if version == 1 else version


def series_lookup(
    office: Path, *, info: CensusInfo | None = None, plan: str = "", rekey: bool = False
) -> str | None:
    """The look-up with which a series goes on where its plan names none; ``None`` for the default.

    What was published with one look-up is not changed by another default: numbers are permanent.
    Re-keying draws all of them anew, and so does it as it is done today.

    Args:
        office, info, plan, rekey: As in ``series_key_version``.
    """
    if rekey:
        return None
    lock = read_lock(office)
    return lock.lookup(None if info is None else lock.series_of(info), plan)


@dataclass(frozen=True, slots=True)
class Revision:
    """Under which name published numbers may change; without a name they may not.

    Attributes:
        name: The name of the event.
        rekey: Whether all numbers are drawn anew; only with a name.
        old_store: The store from which was published, if it is no longer where it was.
        minimum: How many changed records must stand behind every changed number.
        two_lines: Whether tables of another line of records may stay out; only with a name.
    """

    name: str | None = None
    rekey: bool = False
    old_store: Path | None = None
    minimum: int = REVISION_MINIMUM
    two_lines: bool = False

    def __post_init__(self) -> None:
        if self.two_lines and not self.name:
            raise SpecError("Two lines are decided by name: --two-lines needs --revision NAME.")
        if self.rekey and not self.name:
            raise SpecError("Re-keying is an event with a name: --rekey needs --revision NAME.")
        if self.name is not None and not self.name.strip():
            raise SpecError("A revision needs a name, such as --revision 2026-corrections.")
        if type(self.minimum) is not int or self.minimum < 2:
            raise SpecError(
                "The number of changed records behind a changed number (--revision-minimum) is at"
                " least 2; with 1 every correction would be shown."
            )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class GuardRun:
    """What a run is about.

    Attributes:
        census: From which is published.
        methods: How, by table.
        specs: All its tables.
        plan, date: The name of the plan, and its date.
        revision, rekey, old_store, minimum, two_lines: As a ``Revision`` has them.
        accepts: Whether somebody accepts by name that cells are closed which are out.
        progress: Told what is done.
    """

    census: Census
    methods: Callable[[TableSpec], Method]
    specs: tuple[TableSpec, ...]
    plan: str
    date: str
    revision: str | None
    rekey: bool
    old_store: Path | None
    minimum: int
    two_lines: bool = False
    accepts: bool = False
    progress: Progress = field(default=no_progress)

    def __repr__(self) -> str:
        return f"<GuardRun of {self.plan}>"

    def consistent(self, spec: TableSpec) -> bool:
        """Whether the method of a table gives the same records the same number everywhere."""
        return self.methods(spec).claims().consistent

    @property
    def store(self) -> CensusStore | None:
        """The store from which is published, if it lies on disk."""
        try:
            return self.census.store
        except StoreError:
            return None

    @property
    def kind(self) -> EventKind:
        """What the run is, if it changes numbers."""
        return EventKind.REKEYING if self.rekey else EventKind.REVISION

    def event(
        self, fresh: Sequence[TableChanges], lock: PublicationLock, beside: tuple[str, ...] = ()
    ) -> LockEvent:
        """What the lock is told about the run.

        Args:
            fresh: The tables that are published for the first time or change.
            lock: The lock before it.
            beside: The other lines of which tables stay out.
        """
        changed = sum(table_changes.changed for table_changes in fresh)
        if not lock.events:
            kind, name = EventKind.FIRST, EventKind.FIRST.value
        elif self.rekey:
            kind, name = EventKind.REKEYING, EventKind.REKEYING.value
        elif changed or not fresh:
            kind, name = EventKind.REVISION, EventKind.REVISION.value
        elif any(table_changes.hidden or table_changes.opened for table_changes in fresh):
            size = max(table_changes.provenance.smallest_group for table_changes in fresh)
            kind = EventKind.SMALLEST_GROUP
            name = f"{kind.value} {size or 'none'}, {len(lock.events)}"
        else:
            kind, name = EventKind.ADDITION, f"{EventKind.ADDITION.value} {len(lock.events)}"
        return LockEvent(
            name=self.revision or name,
            kind=kind,
            date=self.date,
            plan=self.plan,
            tables=len(fresh),
            changed=changed,
            lineage=self.census.origin.lineage if beside else "",
            beside=beside,
        )
