"""What the guard over published numbers tells the office: what would change, why, what to do."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sdcensus.model.linked.products import Closing
from sdcensus.model.method.registry import closing_of
from sdcensus.model.published.lock import LockedTable, Making, census_name
from sdcensus.model.schema.schema import CensusInfo
from sdcensus.model.text import plain_cell
from sdcensus.session.guard.run import EVERYWHERE, TableChanges

#: Why numbers change, when it is the records.
DATA = "the data have changed"
_MOST = 10
_AREAS = 8
UNTOUCHED = "Nothing was published, and what is out stays as it is."
#: Why numbers that are out stay.
PERMANENT = (
    "Published numbers are permanent: with permanent keys, the numbers that change after a"
    " correction are those around the corrected person."
)


def differences(before: Making, now: Making) -> tuple[str, ...]:
    """What is different from when numbers were published, a few words each."""
    reasons = []
    if before.data_version != now.data_version:
        reasons.append(DATA)
    if before.secret_id != now.secret_id:
        reasons.append("the secret is another one")
    if before.key_version != now.key_version:
        reasons.append(f"the key version is {now.key_version} instead of {before.key_version}")
    if before.method != now.method:
        reasons.append(f"the method is {now.method!r} instead of {before.method!r}")
    elif before.method_version != now.method_version:
        reasons.append(
            f"version {now.method_version} of the method {now.method!r} in this sdcensus"
            f" ({now.package_version}) publishes other numbers than version"
            f" {before.method_version} did ({before.package_version})"
        )
    else:
        settings = before.changed_settings(now)
        if settings:
            reasons.append(f"settings of the method have changed ({', '.join(settings)})")
    if not reasons:
        reasons.append(
            "rules on what is withheld have changed (policy, or what the plan withholds), or the"
            " impossible combinations of the schema"
        )
    return tuple(reasons)


def would_change(changed: Sequence[TableChanges]) -> str:
    """The refusal of a run that is no revision."""
    why = dict.fromkeys(w for table in changed for w in table.why)
    lines = [
        f"This run would change {_numbers(changed)} that {_were(changed)} published before, in"
        f" {_tables(changed)}:",
        *_listed(changed),
        f"Why: {'; '.join(why)}.",
        UNTOUCHED,
        PERMANENT,
    ]
    if DATA in why:
        lines.append(
            "Publish from the store from which was published before; or, if corrections shall be"
            " published, give them a name: --revision NAME."
        )
    if set(why) - {DATA}:
        lines.append(
            "Publish with the method, settings, key version and secret of the lock; or take over"
            " what was published (import_published = true in [protect]); or draw all"
            " numbers anew under a name: --revision NAME --rekey."
        )
    return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class SmallestGroupWords:
    """What is to be said where the smallest group is another one than before.

    Attributes:
        lowered: Whether it was lowered.
        refusal: Why that needs a name.
        notes: What the office should know.
    """

    lowered: bool
    refusal: str = ""
    notes: tuple[str, ...] = ()


def smallest_group(changes: Sequence[TableChanges], before: int) -> SmallestGroupWords:
    """What is to be said about the smallest group of a run, and that of what is out.

    Args:
        changes: What was found about every table.
        before: The smallest group of what was published last; 0 for none.
    """
    # A method that closes cells has a rule of its own about small groups.
    fresh = [
        change
        for change in changes
        if change.fresh and closing_of(change.provenance.method) != Closing.SUMS
    ]
    now = max((table_changes.provenance.smallest_group for table_changes in fresh), default=before)
    if not fresh or now == before:
        return SmallestGroupWords(False)
    was, is_now = before or "none", now or "none"
    if now < before:
        opened = sum(table_changes.opened for table_changes in fresh)
        rule = f"The smallest group is {is_now} instead of {was}"
        refusal = (
            f"{rule}: {opened:,} cells would be shown that were not, and groups that readers were"
            f" told are not broken down would be. {UNTOUCHED} Publish with smallest_group ="
            f" {before}; or, if it is meant, give it a name: --revision NAME."
        )
        note = f"{rule}: {opened:,} cells are shown that were not."
        return SmallestGroupWords(True, refusal, (note,))
    tables = [table_changes for table_changes in fresh if table_changes.hidden]
    hidden = sum(table.hidden for table in tables)
    lines = [f"{table.name}: {table.hidden:,} of {table.compared:,}" for table in tables[:_MOST]]
    more = f" and {len(tables) - _MOST:,} more tables" if len(tables) > _MOST else ""
    if not hidden:
        return SmallestGroupWords(False)
    note = (
        f"The smallest group is {is_now} instead of {was}: {hidden:,} numbers are no longer shown"
        f" ({'; '.join(lines)}{more}). Whoever has the earlier files still has them."
    )
    return SmallestGroupWords(False, notes=(note,))


def too_few(changed: Sequence[TableChanges], minimum: int, report: Path, *, looks: int) -> str:
    """The refusal of a revision that would show who was corrected."""
    short = sum(table_changes.short for table_changes in changed)
    lines = [
        f"{shows_who(short, minimum)}, in {_tables(changed)}:",
        *_listed(changed, short=True),
        f"Areas with too few changed records: {_areas(changed)}.",
        f"{UNTOUCHED} How many records changed where is in {report}, for the office only.",
        "What can be done:",
        "  wait until more corrections have come together in these areas, and publish them"
        " together;",
        "  publish less detail, so that more changed records stand behind every number;",
        f"  draw all numbers anew as a named event: --revision NAME --rekey. {cost(looks)}",
    ]
    return "\n".join(lines)


def shows_who(short: int, minimum: int) -> str:
    """The beginning of a refusal: so many numbers have too few changed records behind them."""
    return (
        f"The revision would show who was corrected: behind {short:,} changed"
        f" {'number' if short == 1 else 'numbers'} fewer than {minimum} records have changed"
    )


def exposed(changed: Sequence[TableChanges], minimum: int, report: Path) -> str:
    """The refusal of a re-keying beside which some numbers are exact."""
    cells = sum(table_changes.exposed for table_changes in changed)
    uncounted = next(
        (table_changes.uncounted for table_changes in changed if table_changes.uncounted), ""
    )
    reason = f"fewer than {minimum} records have changed"
    if uncounted:
        reason = f"changed records could not be counted ({uncounted})"
    return "\n".join(
        [
            f"New keys do not hide {cells:,} changed {'number' if cells == 1 else 'numbers'}:"
            " exempt totals are published exactly, and so is whether a cell is empty where the"
            f" method promises it. Behind them {reason}, in {_tables(changed)}:",
            *_listed(changed),
            f"Areas: {_areas(changed)}.",
            f"{UNTOUCHED} The areas are also in {report}, for the office only.",
            "Wait until more corrections have come together in these areas, or take the exemption"
            " out of the plan.",
        ]
    )


def nothing_redrawn() -> str:
    """The refusal of a re-keying that changes next to nothing."""
    return (
        "Re-keying has changed next to no numbers besides those of corrected records, so the"
        f" corrections would stand out. {UNTOUCHED} The method does not draw by the key version:"
        " methods without the office secret or without random draws do not. Take the method"
        " 'cell-key', or load the census with a new secret."
    )


def only_rekeying(changed: Sequence[TableChanges], other: Sequence[str], *, looks: int) -> str:
    """The refusal of a revision that changes more than records."""
    return "\n".join(
        [
            f"This revision would change {_numbers(changed)} in {_tables(changed)}, and not only"
            f" because of corrected records: {'; '.join(other)}.",
            *_listed(changed),
            UNTOUCHED,
            "Publish corrections with the method, settings, key version and secret of the lock; or"
            f" draw all numbers anew: --revision NAME --rekey. {cost(looks)}",
        ]
    )


def not_counted(changed: Sequence[TableChanges], *, looks: int) -> str:
    """The refusal of a revision whose changed records nobody can count."""
    reasons = dict.fromkeys(table_changes.uncounted for table_changes in changed)
    return "\n".join(
        [
            "The revision cannot be checked, because changed records cannot be counted for"
            f" {_tables(changed)}:",
            *(f"  {reason.rstrip('.')}." for reason in reasons),
            f"{UNTOUCHED} Where changed records cannot be counted, only re-keying is possible:"
            f" --revision NAME --rekey. {cost(looks)}",
        ]
    )


def passed(
    changed: Sequence[TableChanges], revision: str, rekey: bool, *, looks: int
) -> tuple[str, ...]:
    """What a revision that is allowed has changed."""
    sentences = [
        f"{'Re-keying' if rekey else 'Revision'} {revision!r}: {_numbers(changed)} in"
        f" {_tables(changed)} {'changes' if _total(changed) == 1 else 'change'}."
    ]
    return (*sentences, *(drawn_again(looks) if rekey else ()))


def drawn_again(looks: int) -> tuple[str, ...]:
    """What a re-keying costs."""
    return (
        f"Every number has now been drawn {looks + 1} times. Who keeps all publications can"
        " average them: count this in the look budget (sdcensus looks).",
    )


def renamed(before: str, info: CensusInfo, *, looks: int) -> str:
    """The refusal of a census that has another name than when its numbers were published."""
    return "\n".join(
        [
            f"The records of {census_name(info)!r} are those that were published as {before!r}."
            " Record keys come from identities, and these from the code of the census ([census]"
            " code): under another code every number is drawn anew, and whoever keeps both"
            " averages them.",
            UNTOUCHED,
            "Load the census with the code under which it was published; or, if all numbers shall"
            f" be drawn anew, give that a name: --revision NAME --rekey. {cost(looks)}",
        ]
    )


def name_used(name: str | None) -> str:
    """The refusal of a name that an earlier event has."""
    return f"There was an event {name!r} before. Give this revision another name."


def notes(
    changes: Sequence[TableChanges], left_out: Sequence[LockedTable], *, plan: str
) -> tuple[str, ...]:
    """What the office should know besides."""
    sentences = []
    same = [
        change for change in changes if change.known and not change.changed and change.other_data
    ]
    if same:
        sentences.append(
            f"The data are others than when {_tables(same)} {'was' if len(same) == 1 else 'were'}"
            " published; the published numbers are the same."
        )
    taken = sum(change.imported for change in changes)
    if taken:
        sentences.append(
            f"{taken:,} numbers were taken over from earlier publications, because they are about"
            " the same records. Tables whose totals add up by their method may not add up there."
        )
    here = {change.name for change in changes}
    own = [locked_table.name for locked_table in left_out if locked_table.plan == plan]
    altered = [name for name in own if name in here]
    if altered:
        sentences.append(
            f"{_names(altered)} {'has' if len(altered) == 1 else 'have'} other codes, groups or"
            " conditions than in earlier runs. The cells that both have are compared; what was"
            " published stays published."
        )
    gone = [name for name in own if name not in here]
    if gone:
        sentences.append(
            f"{_names(gone)} of earlier runs of {plan} {_are(len(gone))} no longer part of it. What"
            " was published stays published; later runs are still compared with it."
        )
    contradicted = dict.fromkeys(name for change in changes for name, _ in change.contradicts)
    others = [name for name in contradicted if name not in here]
    if others:
        sentences.append(
            f"{_names(others)} {_are(len(others))} not part of this run and"
            f" {'shows' if len(others) == 1 else 'show'} other numbers for some of the same"
            f" records. Publish {'it' if len(others) == 1 else 'them'} anew in the same revision,"
            " or readers will find both."
        )
    streamed = [change for change in changes if not change.values_kept]
    if streamed:
        sentences.append(
            f"{_names([changes.name for changes in streamed])}: too large for the registry to keep"
            " the"
            " values. It keeps a digest: that numbers changed will be seen, which ones will not,"
            " and cells shared with other tables are not compared."
        )
    return tuple(sentences)


def report(changed: Sequence[TableChanges], minimum: int) -> str:
    """Changed numbers and records by table and area, as csv; confidential."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(
        [
            *("table", "area", "changed_numbers", f"with_fewer_than_{minimum}_changed_records"),
            "fewest_changed_records",
        ]
    )
    for table_changes in changed:
        for area in table_changes.areas:
            fewest = "" if area.fewest is None else area.fewest
            words = (plain_cell(table_changes.name), plain_cell(area.area))
            writer.writerow([*words, area.cells, area.short, fewest])
    return text.getvalue()


def cost(looks: int) -> str:
    """What drawing all numbers anew costs."""
    return (
        f"All numbers then change and have been drawn {looks + 1} times, which costs one more look"
        " (sdcensus looks)."
    )


def _total(changed: Sequence[TableChanges]) -> int:
    return sum(table_changes.changed for table_changes in changed)


def _numbers(changed: Sequence[TableChanges]) -> str:
    total = _total(changed)
    return "1 number" if total == 1 else f"{total:,} numbers"


def _were(changed: Sequence[TableChanges]) -> str:
    return "was" if _total(changed) == 1 else "were"


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


def _tables(changed: Sequence[TableChanges]) -> str:
    return "1 table" if len(changed) == 1 else f"{len(changed):,} tables"


def _names(names: Sequence[str]) -> str:
    shown = ", ".join(names[:_AREAS])
    return shown if len(names) <= _AREAS else f"{shown} and {len(names) - _AREAS:,} more tables"


def _listed(changed: Sequence[TableChanges], *, short: bool = False) -> list[str]:
    """A line for each of the tables with the most changed numbers."""
    ordered = sorted(changed, key=lambda table: -(table.short if short else table.changed))
    lines = []
    for table_changes in ordered[:_MOST]:
        line = (
            f"  {table_changes.name}: {table_changes.changed:,} of"
            f" {table_changes.compared or table_changes.cells:,} numbers"
        )
        if short:
            line += f" change, {table_changes.short:,} of them with too few changed records"
        if table_changes.contradicts:
            line += f" (published in {_names([name for name, _ in table_changes.contradicts])})"
        lines.append(line)
    if len(ordered) > _MOST:
        lines.append(f"  and {len(ordered) - _MOST:,} more tables")
    return lines


def _areas(changed: Sequence[TableChanges]) -> str:
    """The areas with too few changed records, a few of them by name."""
    named = dict.fromkeys(
        area.area
        for table_changes in changed
        for area in table_changes.areas
        if area.short or (table_changes.exposed and area.cells)
    )
    inner = [area for area in named if area != EVERYWHERE]
    shown = ", ".join(inner[:_AREAS]) or "the whole country"
    most = max((table_changes.areas_short for table_changes in changed), default=0)
    return f"{shown} and others" if most > _AREAS else shown
