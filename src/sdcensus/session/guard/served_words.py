"""What the guard over served numbers tells the office: what is different, and what to do."""

from __future__ import annotations

from collections.abc import Sequence

from sdcensus.model.schema.variable import Entity
from sdcensus.session.guard.changed_menu import MenuChanges
from sdcensus.session.guard.words import PERMANENT, cost, shows_who

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
    listed = [(of, *table) for of, one in changes for table in one.short]
    listed.sort(key=lambda one: -one[2])
    lines += [f"  {of.plural} by {title}: {cells:,}" for of, title, cells in listed[:_LISTED]]
    lines += [
        _CLOSED,
        "What can be done:",
        "  wait until more corrections have come together;",
        "  offer less detail, so that more changed records stand behind every number;",
        f"  {_rekeying(looks)}",
    ]
    return "\n".join(lines)


def exposed(totals: int, minimum: int, uncounted: str) -> str:
    """The refusal of a re-keying beside which some totals are exact."""
    told = f"fewer than {minimum} records have changed behind {totals:,} of them"
    if uncounted:
        told = f"changed records could not be counted ({uncounted.rstrip('.')})"
    return (
        "New keys do not hide changes of totals that the policy publishes exactly ([exempt]):"
        f" {told}. {_CLOSED} Wait until more corrections have come together, or take the exemption"
        " out of the policy."
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
