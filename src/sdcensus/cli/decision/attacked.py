"""What attacks found, on the console: sentences, some claims, and how right they are."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sdcensus.cli.shared.console import Output, plain_table

if TYPE_CHECKING:
    from sdcensus.session.attack.attack import FolderAttack
    from sdcensus.session.attack.score import Scores

#: Claims of each attack that are shown.
SHOWN = 5


def say_found(output: Output, found: FolderAttack) -> None:
    """What an intruder learns, in words and with some of his claims."""
    from sdcensus.session.attack.attack import GROUP_ATTACKS, claim_lines

    report = found.report
    if not report.tables:
        output.say(f"Nothing in {found.folder} was attacked: these attacks read counts of records.")
        for text in (*found.notes, *report.left_out, *_passed_over(found)):
            output.note(f"note: {text}")
        return
    tables = len(report.tables)
    output.say(
        f"Attacks on {tables} published table{'s' if tables != 1 else ''} in {found.folder},"
        f" {report.cells:,} cell{'s' if report.cells != 1 else ''}",
        style="bold",
    )
    summary = plain_table()
    columns = ("attack", "counts claimed", "as 0 or 1", "groups of 1 to 3", "codes read off")
    for name in columns:
        summary.add_column(name, justify="left" if name == "attack" else "right")
    for result in report.results:
        numbers = (result.exact, result.narrow, result.groups_claimed, result.codes_read_off)
        of_groups = result.attack in GROUP_ATTACKS
        shown = ["-" if (at >= 2) != of_groups else f"{n:,}" for at, n in enumerate(numbers)]
        summary.add_row(result.attack, *shown)
    output.show(summary)
    for result in report.results:
        output.say(f"\n{result.attack}", style="bold")
        for sentence in result.sentences:
            output.say(f"  {sentence}")
        lines = claim_lines(result, most=SHOWN)
        if not lines:
            continue
        table = plain_table()
        for name in ("table", "cell", "claimed", "how sure"):
            table.add_column(name, overflow="fold")
        for line in lines:
            table.add_row(*line)
        output.show(table)
        if any(line[-1].endswith("*") for line in lines):
            output.say("  * if what the intruder takes to be known is true")
    output.say(
        "\nThis is what these attacks find in these tables. Others, and other tables, may find"
        " more."
    )
    for text in (*found.notes, *report.left_out, *_passed_over(found)):
        output.note(f"note: {text}")


def _passed_over(found: FolderAttack) -> list[str]:
    """Files that were not read, those with the same reason together."""
    reasons: dict[str, list[str]] = {}
    for skipped_file in found.skipped:
        reason = skipped_file.reason.removeprefix(
            f"{Path(found.folder) / skipped_file.name} "
        ).rstrip(".")
        reasons.setdefault(reason, []).append(skipped_file.name)
    return [
        f"{names[0]}: {reason}."
        if len(names) == 1
        else f"{len(names):,} files ({names[0]} to {names[-1]}): {reason}."
        for reason, names in reasons.items()
    ]


def say_scores(output: Output, scores: Scores) -> None:
    """How right he is, for the office."""
    output.say("\nBeside the truth (confidential)", style="bold")
    if scores.of_derived:
        output.say(
            "The tables were made of changed records. Counts and groups stand beside the records of"
            " the derived store; below them, groups stand beside the persons who live there."
        )
    if scores.attacks:
        _say_counts(output, scores)
    _say_groups(output, scores)
    _say_residents(output, scores)
    for text in scores.left_out:
        output.note(f"note: {text}")


def _say_counts(output: Output, scores: Scores) -> None:
    """How right claims about counts are."""
    table = plain_table()
    names = ("attack", "true count", "cells", "claimed", "right", "wrong", "missed", "0 or 1")
    for name in names:
        table.add_column(name, justify="left" if name in names[:2] else "right")
    for attack in scores.attacks:
        if not any(size.claims or size.narrow for size in attack.sizes):
            cells = "-" if attack.cells is None else f"{attack.cells:,}"
            table.add_row(attack.attack, "all", cells, "0", "0", "0", cells, "-")
            table.add_section()
            continue
        for size in attack.sizes:
            known = (size.cells, size.claims, size.hits, size.false_claims, size.misses)
            numbers = ["-" if number is None else f"{number:,}" for number in known]
            narrow = f"{size.narrow_hits:,} of {size.narrow:,}" if size.narrow else "-"
            table.add_row(attack.attack, size.size, *numbers, narrow)
        table.add_section()
    output.show(table)


def _say_groups(output: Output, scores: Scores) -> None:
    """How right claims about groups of few persons are."""
    if not scores.groups:
        return
    output.say(
        "\nGroups of few persons. Visible are groups of that size that are published above 0 and"
        " broken down; guessed is what the most frequent code of everybody gets right."
    )
    table = plain_table()
    names = ("attack", "persons", "claimed", "right", "wrong", "found of visible")
    for name in (*names, "codes read", "right", "guessed"):
        table.add_column(name, justify="left" if name == "attack" else "right")
    claimed = {group.attack for group in scores.groups if group.claims or group.visible}
    for group in scores.groups:
        if group.attack not in claimed:
            if group.size == 1:
                table.add_row(group.attack, "all", "0", "0", "0", "-", "0", "0", "0")
            continue
        visible = "-" if group.visible is None else f"{group.found:,} of {group.visible:,}"
        numbers = (group.attributes, group.attributes_right, group.guessed_right)
        table.add_row(
            *(
                group.attack,
                f"{group.size}",
                f"{group.claims:,}",
                f"{group.right:,}",
                f"{group.wrong:,}",
            ),
            *(visible, *(f"{number:,}" for number in numbers)),
        )
    output.show(table)
    for group in scores.groups:
        if group.persons:
            output.say(
                f"{group.attack}: the right claims of one are about {group.persons:,} different"
                f" person{'s' if group.persons != 1 else ''}."
            )


def _say_residents(output: Output, scores: Scores) -> None:
    """How right claims are about those who live there, by level of the area."""
    if not scores.of_derived:
        return
    if not scores.residents:
        output.say("\nNo group was claimed, so no claim can be right about residents.")
        return
    output.say(
        "\nCounted: right about the records of the derived store. Residents: right about the"
        " persons who live there."
    )
    table = plain_table()
    for name in ("attack", "level", "persons", "claimed", "counted", "residents", "codes", "right"):
        table.add_column(name, justify="left" if name in ("attack", "level") else "right")
    for line in scores.residents:
        numbers = (
            *(line.size, line.claims, line.right_counted, line.right_residents),
            *(line.codes, line.codes_right),
        )
        table.add_row(line.attack, line.level, *(f"{number:,}" for number in numbers))
    output.show(table)
