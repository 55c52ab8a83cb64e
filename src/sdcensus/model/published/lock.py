"""What was used when numbers were published, so that a later run cannot change them by accident.

The lock lies in the folder of the office and only its owner can read it. It holds how the numbers
were made, the settings of the method among it, and a digest of the values of every table; never
the secret, a count or a key.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import date
from enum import StrEnum
from typing import Any

from sdcensus.errors import SpecError, StoreError
from sdcensus.model.method.registry import closing_of
from sdcensus.model.published.provenance import Provenance
from sdcensus.model.schema.schema import CensusInfo
from sdcensus.model.text import parse_json

FORMAT_NAME = "sdcensus-publication-lock"
FORMAT_VERSION = 2
LOCK_FILE = "publication.lock"


#: Reference dates so close are about much the same people.
CLOSE_DAYS = 366


class EventKind(StrEnum):
    """What happened to published numbers."""

    FIRST = "first publication"
    ADDITION = "further tables"
    REVISION = "revision"
    REKEYING = "re-keying"
    SMALLEST_GROUP = "smallest group"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Making:
    """How the numbers of some tables were made.

    Attributes:
        method, method_version, fingerprint, data_version, key_version, secret_id,
        package_version: As in the provenance of published files.
        settings: What decides the numbers, as the method tells it: look-up, exempt tables, a
            digest of the perturbation. Confidential.
        consistent: Whether the same records have the same number in every table.
        store: Where the store lay.
        census: Which census it was: its code, or its name where it has none.
        reference_date: The date to which its records refer.
        series: Which of the censuses of this lock; tables of other ones have other records.
        smallest_group: Groups that are published below this are not broken down; 0 for no rule,
            as in every lock from before there was one.
        people: The mark of its people; empty where an older version did not keep it.
        lineage: How its records were derived from an original store, as in the provenance. Part
            of the data version, and so of what decides the numbers.
    """

    method: str
    method_version: str
    fingerprint: str
    data_version: str
    key_version: int
    secret_id: str
    package_version: str
    settings: str = ""
    consistent: bool = False
    store: str = ""
    census: str = ""
    reference_date: str = ""
    series: str = ""
    smallest_group: int = 0
    people: str = ""
    lineage: str = ""

    @classmethod
    def of(
        cls,
        provenance: Provenance,
        *,
        settings: Mapping[str, object],
        consistent: bool,
        store: str = "",
        info: CensusInfo | None = None,
        series: str = "",
        people: str = "",
    ) -> Making:
        """From the provenance of a table and the settings of its method."""
        known = provenance.to_json()
        del known["spec_hash"]
        text = json.dumps(settings, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return cls(
            **known,  # type: ignore[arg-type]
            settings=text,
            consistent=consistent,
            store=store,
            census="" if info is None else census_name(info),
            reference_date="" if info is None else info.reference_date,
            series=series,
            people=people,
        )

    def __repr__(self) -> str:
        return f"<Making by {self.method}: confidential>"

    @property
    def decides(self) -> tuple[str | int | bool, ...]:
        """What decides the numbers; where the store lay and who counted do not."""
        return (
            *(self.method, self.method_version, self.settings, self.fingerprint),
            *(self.data_version, self.key_version, self.secret_id, self.series),
            self.smallest_group,
        )

    @property
    def lookup(self) -> str | None:
        """How keys were looked up; ``None`` for a method that looks none up."""
        settings = _flat(parse_json(self.settings or "{}"))
        chosen = (setting for name, setting in settings.items() if name.split(": ")[-1] == "lookup")
        named = next(chosen, None)
        return named if isinstance(named, str) else None

    def changed_settings(self, other: Making) -> tuple[str, ...]:
        """The names of the settings that another making has otherwise."""
        mine, theirs = _flat(parse_json(self.settings)), _flat(parse_json(other.settings))
        return tuple(name for name in {**mine, **theirs} if mine.get(name) != theirs.get(name))


@dataclass(frozen=True, slots=True, kw_only=True)
class LockedTable:
    """A published table.

    Attributes:
        name: What the plan calls it.
        title: What it shows, in the grammar of plans.
        plan: The plan that published it.
        series: The census, as in its making.
        spec_hash: Which table it is.
        cells: How many cells it has.
        digest: A digest of its published values.
        entry: The id of its values in the registry.
        making: Which of the makings of the lock.
        event: Which event published its present values.
    """

    name: str
    title: str
    plan: str
    series: str
    spec_hash: str
    cells: int
    digest: str
    entry: str
    making: int
    event: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LockEvent:
    """Something that happened to published numbers.

    Attributes:
        name: What the office calls it.
        kind: What it was.
        date: The date of the plan; empty where the plan has none.
        plan: The plan.
        tables: How many tables were published for the first time or changed.
        changed: How many published numbers changed.
        lineage, beside: Where the office has decided that tables of several lines of records are
            out: the line of this event, and the others.
    """

    name: str
    kind: EventKind
    date: str = ""
    plan: str = ""
    tables: int = 0
    changed: int = 0
    lineage: str = ""
    beside: tuple[str, ...] = ()

    def to_json(self) -> dict[str, object]:
        """As plain values; without lines where there is only one."""
        values = asdict(self)
        for name in () if self.beside else ("lineage", "beside"):
            del values[name]
        return values


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PublicationLock:
    """Everything that was published, and how.

    Attributes:
        makings: How numbers were made, each way once.
        tables: The published tables, each once.
        events: What happened, in its order.
    """

    makings: tuple[Making, ...] = ()
    tables: tuple[LockedTable, ...] = ()
    events: tuple[LockEvent, ...] = ()

    def __repr__(self) -> str:
        return f"<PublicationLock of {len(self.tables)} tables: confidential>"

    @property
    def looks(self) -> int:
        """How many times the numbers were drawn anew, the first time included."""
        # Several plans may take part in one re-keying.
        return 1 + len({event.name for event in self.events if event.kind is EventKind.REKEYING})

    def table(self, spec_hash: str, series: str = "") -> LockedTable | None:
        """The published table of that specification, of one census."""
        for table in self.tables:
            if (table.spec_hash, table.series) == (spec_hash, series):
                return table
        return None

    def series_of(self, info: CensusInfo) -> str:
        """The census of the lock whose records these are; a new name if there is none.

        The same code is the same census. Without codes, reference dates more than a year apart
        are different ones: a date that was corrected must not hide that numbers change.
        """
        for making in self.makings:
            apart = days_apart(making.reference_date, info.reference_date)
            if info.code and making.census == census_name(info):
                return making.series
            if not info.code and making.series.startswith("name:") and (apart or 0) <= CLOSE_DAYS:
                return making.series
        taken = {making.series for making in self.makings}
        series = f"code:{census_name(info)}" if info.code else f"name:{info.reference_date}"
        return series if series not in taken else f"{series} {len(taken)}"

    def making(self, table: LockedTable) -> Making:
        """How the numbers of a table were made."""
        return self.makings[table.making]

    def event(self, name: str, plan: str = "") -> LockEvent | None:
        """The event of that name: of one plan, or of any."""
        lock_events = (
            event for event in self.events if event.name == name and plan in ("", event.plan)
        )
        return next(lock_events, None)

    def key_version(self, series: str | None = None, plan: str = "") -> int | None:
        """The highest key version of what is out; ``None`` if there is nothing.

        Args:
            series: Of one census only.
            plan: Of one plan only.
        """
        return max(
            (
                self.making(table).key_version
                for table in self.tables
                if series in (None, table.series) and plan in ("", table.plan)
            ),
            default=None,
        )

    def lookup(self, series: str | None = None, plan: str = "") -> str | None:
        """How keys were looked up for what was published last; ``None`` if nothing was.

        Args:
            series: Of one census only.
            plan: Of one plan, if it has published anything; else of all.
        """
        tables = [table for table in self.tables if series in (None, table.series)]
        own = [table for table in tables if table.plan == plan]
        latest = sorted(own or tables, key=lambda table: table.event, reverse=True)
        lookups = (self.making(locked_table).lookup for locked_table in latest)
        return next((lookup for lookup in lookups if lookup is not None), None)

    def smallest_group(self, series: str) -> int:
        """The smallest group of what was published last of a census; 0 for no rule."""
        own = [
            table
            for table in self.tables
            # A method that closes cells has a rule of its own about small groups.
            if table.series == series and closing_of(self.making(table).method) != "sums"
        ]
        newest = max((locked_table.event for locked_table in own), default=0)
        sizes = [
            self.making(locked_table).smallest_group
            for locked_table in own
            if locked_table.event == newest
        ]
        return max(sizes, default=0)

    def lineage(self, series: str) -> str | None:
        """The lineage of what was published last of a census; ``None`` if nothing was."""
        own = [table for table in self.tables if table.series == series]
        latest = max(own, key=lambda table: table.event, default=None)
        return None if latest is None else self.making(latest).lineage

    def stands_beside(self, series: str, lineage: str, beside: Collection[str]) -> bool:
        """Whether the office has decided that tables of these lines stay out beside another one."""
        here = {table.event for table in self.tables if table.series == series}
        return bool(beside) and any(
            at in here and event.lineage == lineage and set(beside) <= set(event.beside)
            for at, event in enumerate(self.events)
        )

    def with_event(
        self,
        event: LockEvent,
        tables: Mapping[str, tuple[LockedTable, Making]],
    ) -> PublicationLock:
        """The lock after an event.

        Args:
            event: What happened.
            tables: The tables that were published for the first time or changed, by the hash of
                their specification, and how they were made.
        """
        makings = list(self.makings)
        kept = {(table.spec_hash, table.series): table for table in self.tables}
        for spec_hash, (table, making) in tables.items():
            at = next((at for at, one in enumerate(makings) if one.decides == making.decides), None)
            if at is None:
                at = len(makings)
                makings.append(making)
            kept[spec_hash, table.series] = replace(table, making=at, event=len(self.events))
        return PublicationLock(
            makings=tuple(makings), tables=tuple(kept.values()), events=(*self.events, event)
        )

    def to_json(self) -> str:
        """The lock as the text of its file."""
        content = {
            "format": FORMAT_NAME,
            "version": FORMAT_VERSION,
            "confidential": "For the office only. Never publish this file.",
            "makings": [
                {**asdict(making), "settings": parse_json(making.settings)}
                for making in self.makings
            ],
            "tables": [asdict(table) for table in self.tables],
            "events": [event.to_json() for event in self.events],
        }
        return json.dumps(content, indent=1, ensure_ascii=False, sort_keys=True) + "\n"

    @classmethod
    def from_json(cls, text: str, *, where: str = LOCK_FILE) -> PublicationLock:
        """Read what ``to_json`` made.

        Raises:
            StoreError: It is damaged, or a newer version wrote it.
        """
        try:
            content = parse_json(text)
            if content["format"] != FORMAT_NAME:
                raise ValueError("format")
            version = int(content["version"])
        except (ValueError, LookupError, TypeError, AttributeError):
            raise _damaged(where) from None
        if version > FORMAT_VERSION:
            raise StoreError(f"{where} was written by a newer sdcensus. Update sdcensus.")
        try:
            lock = cls(
                makings=tuple(_making(making) for making in content["makings"]),
                tables=tuple(LockedTable(**table) for table in content["tables"]),
                events=tuple(map(_event, content["events"])),
            )
            lock._check()
        except (ValueError, LookupError, TypeError, AttributeError, SpecError):
            raise _damaged(where) from None
        return lock

    def _check(self) -> None:
        hashes = [(table.spec_hash, table.series) for table in self.tables]
        fits = all(
            0 <= table.making < len(self.makings) and 0 <= table.event < len(self.events)
            for table in self.tables
        )
        if not fits or len(set(hashes)) != len(hashes):
            raise ValueError("tables")


def census_name(info: CensusInfo) -> str:
    """What tells a census from others: its code, or its name where it has none."""
    return "|".join(info.code) or info.name


def days_apart(first: str, second: str) -> int | None:
    """How many days lie between two dates; ``None`` where one is not known.

    Examples:
        >>> days_apart("2021-05-09", "2021-01-01")
        128
    """
    try:
        return abs((date.fromisoformat(first) - date.fromisoformat(second)).days)
    except ValueError:
        return None


def _event(value: Mapping[str, Any]) -> LockEvent:
    beside = tuple(map(str, value.get("beside", ())))
    return LockEvent(**{**value, "kind": EventKind(value["kind"]), "beside": beside})


def _making(one: Mapping[str, Any]) -> Making:
    text = json.dumps(one["settings"], sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    making = Making(**{**one, "settings": text})
    if type(making.key_version) is not int or type(making.smallest_group) is not int:
        raise TypeError("key version")
    return making


def _flat(settings: Any, before: str = "") -> dict[str, object]:
    """Settings by name; those of the parts of a pipeline under the name of the part."""
    if not isinstance(settings, dict):
        return {}
    flat: dict[str, object] = {}
    for name, value in settings.items():
        if name == "parts" and isinstance(value, list):
            for part in value:
                flat |= _flat(part, f"{part.get('name', '')}: " if isinstance(part, dict) else "")
        elif name != "name":
            flat[f"{before}{name}"] = value
    return flat


def _damaged(where: str) -> StoreError:
    return StoreError(
        f"{where} is damaged. Restore it from a backup: without it nobody can tell which published"
        " numbers a run would change."
    )
