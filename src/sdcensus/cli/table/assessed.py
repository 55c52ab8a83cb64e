"""An assessment on the console."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sdcensus.cli.shared.console import Output, plain_table
from sdcensus.model.quantities import NOTHING, decimal_text, number_text, share_text

if TYPE_CHECKING:
    from sdcensus.model.measure import Side
    from sdcensus.report.assessment.results import Assessment


def say_assessment(
    output: Output, name: str, assessment: Assessment, language: str | None, *, examples: bool
) -> None:
    """Say what was found about one table, with examples of single cells if they are wanted."""
    from sdcensus.model.measure import Side
    from sdcensus.report.assessment.words import conclusions, finding_line, lead

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
    _say_measures(output, assessment, Side.RISK, "Risk in figures, of this table alone")
    _say_lost(output, assessment)
    _say_measures(output, assessment, Side.LOSS, "Loss in figures, of this table alone")
    _say_groups(output, assessment)
    for sentence in conclusions(assessment):
        output.say(f"\n{sentence}")
    if assessment.smallest_group:
        output.say(f"\n{assessment.smallest_group}")
    for sentence in assessment.left_out:
        output.note(f"not measured: {sentence}")
    output.say("")


def _say_groups(output: Output, assessment: Assessment) -> None:
    from sdcensus.report.assessment.broken_down import broken_down_lines

    for groups in assessment.groups:
        output.say("\nTogether with other tables: small groups", style="bold")
        for line in broken_down_lines(groups):
            output.say(line)


def _say_remaining(output: Output, assessment: Assessment) -> None:
    from sdcensus.report.assessment.words import how_text, knows_text

    if not assessment.intervals:
        return
    output.say("\nAfter protection, from this table alone", style="bold")
    table = plain_table()
    for head in ("the intruder knows", "and compares"):
        table.add_column(head, overflow="fold")
    for head in ("given away", "of cells", "share"):
        table.add_column(head, justify="right")
    for fitting in assessment.intervals:
        table.add_row(
            knows_text(fitting),
            how_text(fitting),
            number_text(fitting.disclosed),
            number_text(fitting.cells),
            share_text(fitting.share, digits=2),
        )
    output.show(table)
    for note in assessment.assumed:
        output.say(note)


def _say_measures(output: Output, assessment: Assessment, side: Side, title: str) -> None:
    """The rows of all measures in this part of the report."""
    rows = assessment.rows_of(side)
    if not rows:
        return
    output.say(f"\n{title}", style="bold")
    table = plain_table(header=False)
    table.add_column(overflow="fold")
    table.add_column(justify="right")
    for row in rows:
        table.add_row(row.label, row.value)
    output.show(table)


def _say_lost(output: Output, assessment: Assessment) -> None:
    from sdcensus.report.assessment.words import part_text

    output.say("\nWhat readers lose", style="bold")
    table = plain_table()
    table.add_column("")
    for head in ("cells", "mean change", "Hellinger", "largest", "unchanged"):
        table.add_column(head, justify="right")
    for part, utility in assessment.utility:
        table.add_row(
            part_text(part),
            number_text(utility.cells),
            decimal_text(utility.mean_absolute_distance, 2),
            decimal_text(utility.hellinger_normalised, 3),
            NOTHING if utility.max_deviation is None else str(utility.max_deviation),
            share_text(utility.share_unchanged_nonzero, digits=0),
        )
    output.show(table)
