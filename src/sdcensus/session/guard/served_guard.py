"""The guard over what is served: the numbers of a table builder change on purpose and safely.

A server that is restarted with corrected records shows who was corrected just as a second
publication does, and one that is restarted with other keys is one more look. What is served
therefore passes the guard of what is published, over every table of its menu.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from sdcensus._version import __version__
from sdcensus.errors import Refused, SdcensusError, StoreError
from sdcensus.methods.method import Method
from sdcensus.model.perturbation.table import Lookup
from sdcensus.model.policy.menu import Menu
from sdcensus.model.policy.policy import Policy
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.published.lock import EventKind, Making, PublicationLock, census_name
from sdcensus.model.published.provenance import fingerprint, line_text
from sdcensus.model.published.served_numbers import Opening, ServedEvent, ServedNumbers
from sdcensus.model.schema.variable import Entity
from sdcensus.session.answer.budgets import open_menu
from sdcensus.session.census.census import Census
from sdcensus.session.guard import served_words as serving_words, words as guard_words
from sdcensus.session.guard.changed_records import ChangedRecords
from sdcensus.session.guard.run import Revision
from sdcensus.session.guard.served_menus import menu_of_text, menu_text
from sdcensus.session.guard.served_words import changes_in_menu
from sdcensus.store.census_store import CensusStore
from sdcensus.store.people import PeopleMark, renamed_from

#: Under what the settings of a method for sums stand beside those for counts.
SUMS_OF = "sums of "


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ServingGuard:
    """Compares what a server would give out with what was given out before.

    Attributes:
        census, policy, methods, sums: What would be served.
        smallest_group: Groups of fewer are not broken down; ``None`` without that rule.
        known: What was served so far from the same database.
        events: What happened to it.
        revision: Under which name numbers may change, as whoever starts the server says.
        progress: Told how far it is.
    """

    census: Census
    policy: Policy
    methods: Mapping[Entity, Method]
    known: Sequence[ServedNumbers]
    sums: Mapping[Entity, Method] = field(default_factory=dict)
    smallest_group: int | None = None
    events: Sequence[ServedEvent] = ()
    revision: Revision = field(default_factory=Revision)
    progress: Progress = field(default=no_progress)

    def __repr__(self) -> str:
        return "<ServingGuard: confidential>"

    def decide(self) -> Opening:
        """Refuse to open, or say what is opened and what happens by that.

        Raises:
            Refused: Other numbers would be given out without a name for it, or in a way that
                shows who was corrected.
        """
        info = self.census.schema.census
        lock = PublicationLock(
            makings=tuple(served_numbers.making for served_numbers in self.known)
        )
        series = lock.series_of(info)
        now = ServedNumbers(
            making=self._making(series),
            smallest_group=self.smallest_group,
            menus=tuple(menu_text(menu) for menu in self._menus()),
        )
        before = next(
            (served_numbers for served_numbers in self.known if served_numbers.series == series),
            None,
        )
        if before is None:
            return self._first(now, lock)
        return self._again(before, now)

    def _first(self, now: ServedNumbers, lock: PublicationLock) -> Opening:
        """A census that was not served before, at least not under this name."""
        info = self.census.schema.census
        people = self._people()
        renamed = renamed_from(lock.makings, info, now.series, lambda: people)
        now = replace(now, making=self._with_people(now.making, people))
        if renamed is None:
            return self._opening(now, EventKind.FIRST, EventKind.FIRST.value)
        looks = max(
            served_numbers.looks
            for served_numbers in self.known
            if served_numbers.making == renamed
        )
        if not self.revision.rekey:
            raise Refused(guard_words.renamed(renamed.census, info, looks=looks))
        return self._redrawn(now, looks)

    def _again(self, before: ServedNumbers, now: ServedNumbers) -> Opening:
        revision = self.revision
        now = replace(
            now,
            looks=before.looks,
            making=replace(now.making, people=before.making.people),
            menus=tuple(dict.fromkeys((*before.menus, *now.menus))),
        )
        before, now = _both_with_sums(before, now)
        why = _differences(before.making, now.making)
        if why:
            if revision.rekey:
                self._check_redrawn(before.making, now.making)
            elif revision.name is None:
                line = self.census.origin.lineage
                reasons = (*why, f"they come from {line_text(line)}") if line else why
                raise Refused(serving_words.would_change(reasons, looks=before.looks))
            elif set(why) - {guard_words.DATA}:
                more = tuple(reason for reason in why if reason != guard_words.DATA)
                raise Refused(serving_words.only_rekeying(more, looks=before.looks))
            elif _sums_in(now.making):
                raise Refused(serving_words.sums_revised(looks=before.looks))
            else:
                self._check_revised(before, now.menus)
            if before.making.data_version != now.making.data_version:
                now = replace(now, making=self._with_people(now.making, self._people()))
            if revision.rekey:
                return self._redrawn(now, before.looks)
            return self._opening(now, EventKind.REVISION)
        if before.smallest_group == now.smallest_group:
            # Where the store lies and which version counts do not decide the numbers.
            return Opening(numbers=replace(before, menus=now.menus))
        lower = before.smallest_group is not None and (
            now.smallest_group is None or now.smallest_group < before.smallest_group
        )
        if lower and revision.name is None and before.smallest_group is not None:
            raise Refused(serving_words.lower_group(before.smallest_group, now.smallest_group))
        own = "" if revision.name else f"smallest group {now.smallest_group}"
        return self._opening(now, EventKind.REVISION, own)

    def _redrawn(self, now: ServedNumbers, looks: int) -> Opening:
        opening = self._opening(replace(now, looks=looks + 1), EventKind.REKEYING)
        return replace(opening, notes=guard_words.drawn_again(looks))

    def _opening(self, now: ServedNumbers, kind: EventKind, own: str = "") -> Opening:
        """What is opened by an event: with a name of its own, or with that of the revision."""
        name = own or self.revision.name or ""
        if not own and any(event.name == name for event in self.events):
            raise Refused(serving_words.name_taken(name))
        return Opening(numbers=now, event=ServedEvent(name=name, kind=kind, series=now.series))

    # -------------------------------------------------------------------------- what is served

    def _making(self, series: str) -> Making:
        origin, info = self.census.origin, self.census.schema.census
        store = self.census.kept_store
        first = next(iter(self.methods.values()))
        prints = {
            of.plural: fingerprint(
                {"method": method.name, **method.parameters()}, method.secret, method.key_version
            )
            for of, method in self.methods.items()
        }
        prints |= {
            f"{SUMS_OF}{of.plural}": fingerprint(
                {"method": method.name, **method.parameters()}, method.secret, method.key_version
            )
            for of, method in self.sums.items()
        }
        return Making(
            method=first.name,
            method_version=str(first.version),
            fingerprint="",
            data_version=origin.data_version,
            key_version=first.key_version,
            secret_id=origin.secret_id,
            package_version=__version__,
            settings=json.dumps(prints, sort_keys=True, separators=(",", ":")),
            consistent=True,
            store="" if store is None else str(store.path.resolve()),
            census=census_name(info),
            reference_date=info.reference_date,
            series=series,
        )

    def _people(self) -> PeopleMark | None:
        self.progress("marking whose records these are", 0.0)
        return self.census.people

    def _with_people(self, making: Making, people: PeopleMark | None) -> Making:
        return replace(making, people="" if people is None else str(people))

    # ------------------------------------------------------------------------------- counting

    def _menus(self) -> list[Menu]:
        """The tables that anybody may ask for, by what is counted."""
        menus = (open_menu(self.policy, of) for of in self.methods)
        return [menu for menu in menus if menu is not None]

    def _check_revised(self, before: ServedNumbers, menus: Sequence[str]) -> None:
        """Every number of a menu that a correction changes needs enough of them behind it."""
        minimum, looks = self.revision.minimum, before.looks
        try:
            changed = self._changed_since(before.making)
            changed_menus = []
            for text in menus:
                menu = menu_of_text(text, self.census.schema)
                if menu is not None:
                    changes = changes_in_menu(
                        changed, menu, minimum=minimum, progress=self.progress
                    )
                    changed_menus.append((menu.of, changes))
        except StoreError as error:
            raise Refused(serving_words.not_counted(str(error), looks=looks)) from None
        short = [changed for changed in changed_menus if changed[1].short]
        if short:
            raise Refused(serving_words.too_few(short, minimum, looks=looks))

    def _check_redrawn(self, before: Making, now: Making) -> None:
        """New keys must change the numbers, and hide what has changed."""
        if before.secret_id == now.secret_id:
            if now.key_version <= before.key_version:
                raise Refused(serving_words.same_key_version(before.key_version))
            lookups = {method.parameters().get("lookup") for method in self.methods.values()}
            if Lookup.ASCENDING.value in lookups:
                raise Refused(guard_words.nothing_redrawn())
        if before.data_version != now.data_version:
            self._check_exempt(before)

    def _check_exempt(self, before: Making) -> None:
        specs = self.policy.exempt_specs()
        if not specs:
            return
        exposed, uncounted = 0, ""
        try:
            changed = self._changed_since(before)
            for spec in specs:
                cells = np.arange(spec.cells, dtype=np.uint64)
                counts = changed.behind(spec, cells)
                exposed += int(((counts > 0) & (counts < self.revision.minimum)).sum())
        except SdcensusError as error:
            uncounted = str(error)
        if exposed or uncounted:
            raise Refused(serving_words.exposed(exposed, self.revision.minimum, uncounted))

    def _changed_since(self, before: Making) -> ChangedRecords:
        new = self.census.kept_store
        if new is None:
            raise StoreError("the census that would be served has no store on this machine")
        tried = []
        for path in (self.revision.old_store, Path(before.store) if before.store else None):
            if path is None:
                continue
            try:
                old = CensusStore.open(path, verify=True)
            except StoreError as error:
                tried.append(str(error).rstrip("."))
                continue
            if old.manifest.data_version == before.data_version:
                return ChangedRecords(old, new)
            tried.append(f"{path} holds other data than were served")
        reasons = "; ".join(tried) or "its place is not known"
        raise StoreError(f"the store that was served is not there ({reasons})")


def _sums_in(making: Making) -> dict[str, str]:
    """The fingerprints of the methods for sums."""
    prints: dict[str, str] = json.loads(making.settings or "{}")
    return {name: mark for name, mark in prints.items() if name.startswith(SUMS_OF)}


def _both_with_sums(
    before: ServedNumbers, now: ServedNumbers
) -> tuple[ServedNumbers, ServedNumbers]:
    """Both with the sums of either: to offer sums, or none any more, changes no number.

    Sums that are offered again later must be those that were given out before.
    """
    old, new = _sums_in(before.making), _sums_in(now.making)
    drawn = [(each.making.secret_id, each.making.key_version) for each in (before, now)]
    if old == new or drawn[0] != drawn[1]:  # other keys are other numbers altogether
        return before, now
    return _with_sums(before, new | old), _with_sums(now, old | new)


def _with_sums(numbers: ServedNumbers, sums: Mapping[str, str]) -> ServedNumbers:
    prints: dict[str, str] = json.loads(numbers.making.settings or "{}")
    settings = json.dumps({**prints, **sums}, sort_keys=True, separators=(",", ":"))
    return replace(numbers, making=replace(numbers.making, settings=settings))


def _differences(before: Making, now: Making) -> tuple[str, ...]:
    """What decides the numbers and is not as it was, a few words each."""
    if before.key_version != now.key_version or before.secret_id != now.secret_id:
        # Fingerprints are keyed: under other keys they say nothing about the settings.
        now = replace(now, settings=before.settings)
    if before.decides == now.decides:
        return ()
    return guard_words.differences(before, now)
