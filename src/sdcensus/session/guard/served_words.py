"""What the guard over served numbers tells the office: what is different, and what to do."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sdcensus.model.confidential import Confidential
from sdcensus.model.policy.menu import Menu
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.schema.variable import Entity, Level
from sdcensus.session.guard.changed_records import ChangedRecords, ChangedUnits
from sdcensus.session.guard.words import PERMANENT, cost, shows_who

Int64 = npt.NDArray[np.int64]

#: So many tables with too few changed records are enough to refuse a revision.
ENOUGH_SHORT = 1_000


@dataclass(frozen=True, slots=True, repr=False)
class MenuChanges(Confidential):
    """What the changed records of a census do to the tables of a menu.

    Whoever asks the table builder before and after a correction sees every table of its menu twice.
    Only the records that changed are counted, in all of these tables: every other number stays.

    Attributes:
        tables: How many tables have numbers that change.
        short: Those of them with numbers that have too few changed records behind them, and how
            many such numbers; the first ones only, if they are many.
        complete: Whether all tables were looked at.
    """

    tables: int
    short: tuple[tuple[str, int], ...]
    complete: bool

    def __repr__(self) -> str:
        return "<MenuChanges: confidential>"

    @property
    def numbers(self) -> int:
        """How many numbers have too few changed records behind them."""
        return sum(cells for _, cells in self.short)


def changes_in_menu(
    changed: ChangedRecords, menu: Menu, *, minimum: int, progress: Progress = no_progress
) -> MenuChanges:
    """Count changed records behind every number of a menu that they enter or leave.

    Args:
        changed: The difference of the two stores.
        menu: The tables that may be asked for.
        minimum: How many there must be.
        progress: Told how far it is.
    """
    variables = menu.variables
    units = changed.units_by(menu.of, [variable.variable for variable in variables])
    groups = {
        (at, level.name): (_codes(level, units.before[at]), _codes(level, units.after[at]))
        for at, variable in enumerate(variables)
        for level in variable.levels
    }
    tables, short = 0, list[tuple[str, int]]()
    for chosen in _tables(menu, progress):
        counts = _behind(units, [(groups[at, level.name], level) for at, level in chosen])
        if not counts.size:
            continue
        tables += 1
        few = int((counts < minimum).sum())
        if few:
            title = ", ".join(f"{variables[at].variable.name}@{level.name}" for at, level in chosen)
            short.append((title or f"all {menu.of.plural}", few))
            if len(short) >= ENOUGH_SHORT:
                return MenuChanges(tables, tuple(short), complete=False)
    return MenuChanges(tables, tuple(short), complete=True)


_Chosen = tuple[tuple[int, Level], ...]


def _tables(menu: Menu, progress: Progress) -> Iterator[_Chosen]:
    """Every table of a menu, those with few variables first."""
    size = len(menu.variables)
    most = min(menu.dimensions, size)
    total = sum(math.comb(size, number) for number in range(most + 1))
    done = 0
    for number in range(most + 1):
        for places in itertools.combinations(range(size), number):
            if done % 64 == 0:
                progress("counting changed records in every table", done / total)
            done += 1
            levels = [menu.variables[at].levels for at in places]
            for chosen in itertools.product(*levels):
                table = tuple(zip(places, chosen, strict=True))
                named = {menu.variables[at].variable.name: level for at, level in table}
                if menu.allows(named):
                    yield table


def _codes(level: Level, leaves: Int64) -> Int64:
    """The code of each unit at a level; -1 for leaves that are no longer in the list."""
    groups = np.append(level.group_array.astype(np.int64), -1)
    return groups[leaves]


def _behind(units: ChangedUnits, axes: list[tuple[tuple[Int64, Int64], Level]]) -> Int64:
    """For each cell that any unit enters or leaves, how many do."""
    before, was = np.zeros(len(units), dtype=np.int64), units.was
    after, now = np.zeros(len(units), dtype=np.int64), units.is_now
    for (old, new), level in axes:
        before = before * len(level.codes) + np.maximum(old, 0)
        was = was & (old >= 0)
        after = after * len(level.codes) + np.maximum(new, 0)
        now = now & (new >= 0)
    moved = (was != now) | (before != after)
    crossed = np.concatenate([before[was & moved], after[now & moved]])
    return np.unique(crossed, return_counts=True)[1]


_CLOSED = "The table builder stays closed, and what it has given out stays as it is."
_LISTED = 10


def would_change(why: Sequence[str], *, looks: int) -> str:
    """The refusal of other numbers that nobody has named."""
    lines = [
        "This server would give out other numbers than were published before by the table builder"
        " of this database.",
        f"Why: {'; '.join(why)}.",
        _CLOSED,
        PERMANENT,
        "Serve the store, with the method, settings, key version and secret, that were served"
        " before; or, if only records were corrected, give that a name: --revision NAME --old-store"
        f" PATH; or {_rekeying(looks)}",
    ]
    return "\n".join(lines)


def only_rekeying(why: Sequence[str], *, looks: int) -> str:
    """The refusal of a revision that changes more than records."""
    return "\n".join(
        [
            "This revision would change numbers that were given out, and not only because of"
            f" corrected records: {'; '.join(why)}.",
            _CLOSED,
            "Serve corrections with the method, settings, key version and secret that were served"
            f" before; or {_rekeying(looks)}",
        ]
    )


def too_few(changes: Sequence[tuple[Entity, MenuChanges]], minimum: int, *, looks: int) -> str:
    """The refusal of a revision that would show who was corrected."""
    numbers = sum(menu_changes.numbers for _, menu_changes in changes)
    tables = sum(len(menu_changes.short) for _, menu_changes in changes)
    least = (
        ""
        if all(menu_changes.complete for _, menu_changes in changes)
        else " (and further ones, not counted)"
    )
    lines = [
        f"{shows_who(numbers, minimum)}, in {tables:,} of the tables that can be asked for{least}:"
    ]
    listed = [(of, *table) for of, menu_changes in changes for table in menu_changes.short]
    listed.sort(key=lambda row: -row[2])
    lines += [f"  {of.plural} by {title}: {cells:,}" for of, title, cells in listed[:_LISTED]]
    lines += [
        _CLOSED,
        "What can be done:",
        "  wait until more corrections have come together;",
        "  offer less detail, so that more changed records stand behind every number;",
        f"  {_rekeying(looks)}",
    ]
    return "\n".join(lines)


def sums_revised(*, looks: int) -> str:
    """The refusal of a revision where sums are given out, which show every corrected amount."""
    return "\n".join(
        [
            "The records have changed, and sums of amounts were given out or are offered. A sum has"
            " the same noise before and after, so that both together tell by how much the amount of"
            " somebody was corrected, whoever else was corrected beside.",
            _CLOSED,
            "What can be done:",
            "  serve the store that was served before;",
            f"  {_rekeying(looks)}",
        ]
    )


def exposed(totals: int, minimum: int, uncounted: str) -> str:
    """The refusal of a re-keying beside which some totals are exact."""
    reason = f"fewer than {minimum} records have changed behind {totals:,} of them"
    if uncounted:
        reason = f"changed records could not be counted ({uncounted.rstrip('.')})"
    return (
        "New keys do not hide changes of totals that the policy publishes exactly ([exempt]):"
        f" {reason}. {_CLOSED} Wait until more corrections have come together, or take the"
        " exemption out of the policy."
    )


def not_counted(reason: str, *, looks: int) -> str:
    """The refusal of a revision whose changed records nobody can count."""
    return "\n".join(
        [
            "The revision cannot be checked, because changed records cannot be counted:"
            f" {reason.rstrip('.')}.",
            f"{_CLOSED} Name the store that was served before with --old-store PATH; or"
            f" {_rekeying(looks)}",
        ]
    )


def same_key_version(version: int) -> str:
    """The refusal of a re-keying under old keys."""
    return (
        f"Numbers were given out under the key version {version}, so drawing them anew needs a"
        f" higher one. {_CLOSED} Make the look-up secret of the next version (sdcensus secret"
        f" lookup OFFICE_SECRET FILE --key-version {version + 1}), and publish with it too."
    )


def lower_group(before: int, now: int | None) -> str:
    """The refusal of smaller groups than were shown before."""
    asked = "no smallest group" if now is None else f"a smallest group of {now:,}"
    return (
        f"Groups of fewer than {before:,} were not broken down so far, and this policy has {asked}:"
        " cells that were held back would be shown, which cannot be taken back."
        f" {_CLOSED} Keep smallest_group = {before}, or raise it; or give the change a name:"
        " --revision NAME."
    )


def name_taken(name: str) -> str:
    """The refusal of a name that stands for something else."""
    return f"There was an event {name!r} before. Give this revision another name."


def _rekeying(looks: int) -> str:
    return (
        "draw all numbers anew as a named event, under a new key version: --revision NAME --rekey."
        f" {cost(looks)}"
    )
