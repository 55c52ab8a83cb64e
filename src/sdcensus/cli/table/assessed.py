"""An assessment on the console."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sdcensus.cli.shared.console import Output, plain_table
from sdcensus.model.quantities import number_text, share_text

if TYPE_CHECKING:
    from sdcensus.session.assess.assessment import Assessment


def say_assessment(
    output: Output, name: str, assessment: Assessment, language: str | None, *, examples: bool
) -> None:
    """Say what was found about one table, with examples of single cells if they are wanted."""
    from sdcensus.session.assess.words import conclusions, finding_line, lead

    title = assessment.public.title
    output.say(f"{name}: {title}" if name else title, style="bold")
    output.say(f"{lead(assessment)}\n")
    if assessment.findings:
        output.say("Without protection, an intruder could learn", style="bold")
        for findings in assessment.findings:
            output.say(f"  {finding_line(findings)}")
            for sentence in findings.sentences(1 if examples else 0, language):
                output.say(f"    for example: {sentence}")
        if not examples:
            output.say("  See an example of each with --confidential.")
    _say_remaining(output, assessment)
    _say_lost(output, assessment)
    _say_groups(output, assessment)
    for sentence in conclusions(assessment):
        output.say(f"\n{sentence}")
    if assessment.smallest_group is not None:
        output.say(f"\n{assessment.smallest_group.sentence}")
    for sentence in assessment.left_out:
        output.note(f"not measured: {sentence}")
    output.say("")


def _say_groups(output: Output, assessment: Assessment) -> None:
    from sdcensus.session.gate.words import broken_down_lines

    for found in assessment.groups:
        output.say("\nTogether with other tables: small groups", style="bold")
        for line in broken_down_lines(found):
            output.say(line)


def _say_remaining(output: Output, assessment: Assessment) -> None:
    from sdcensus.session.assess.words import how_text, knows_text

    if not assessment.intervals:
        return
    output.say("\nAfter protection, from this table alone", style="bold")
    table = plain_table()
    for head in ("the intruder knows", "and compares"):
        table.add_column(head, overflow="fold")
    for head in ("given away", "of cells", "share"):
        table.add_column(head, justify="right")
    for found in assessment.intervals:
        table.add_row(
            knows_text(found),
            how_text(found),
            number_text(found.disclosed),
            number_text(found.cells),
            share_text(found.share, digits=2),
        )
    output.show(table)
    for note in assessment.intruder.notes:
        output.say(note)


def _say_lost(output: Output, assessment: Assessment) -> None:
    from sdcensus.session.assess.words import part_text

    output.say("\nWhat readers lose", style="bold")
    table = plain_table()
    table.add_column("")
    for head in ("cells", "mean change", "Hellinger", "largest", "unchanged"):
        table.add_column(head, justify="right")
    for part, one in assessment.utility:
        table.add_row(
            part_text(part),
            number_text(one.cells),
            "–" if one.mean_absolute_distance is None else f"{one.mean_absolute_distance:.2f}",
            "–" if one.hellinger_normalised is None else f"{one.hellinger_normalised:.3f}",
            "–" if one.max_deviation is None else str(one.max_deviation),
            share_text(one.share_unchanged_nonzero, digits=0),
        )
    output.show(table)
