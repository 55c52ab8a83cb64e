"""An assessment on the console."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sdcensus.cli.shared.console import Output, plain_table
from sdcensus.model.quantities import NOTHING, decimal_text, number_text, share_text
from sdcensus.model.sentences import in_language, speak

if TYPE_CHECKING:
    from sdcensus.model.measure import Side
    from sdcensus.report.assessment.results import Assessment
    from sdcensus.report.magnitude.blocks import Block
    from sdcensus.report.magnitude.results import AnyAssessment, SumAssessment


#: So many signs are for the names of rows, and for the figures of a column of sums.
_NAMES_WIDTH, _FIGURES_WIDTH = 22, 11


def say_assessment(
    output: Output, name: str, assessment: AnyAssessment, language: str | None, *, examples: bool
) -> None:
    """Say what was found about one table, with examples of single cells if they are wanted."""
    from sdcensus.report.magnitude.results import SumAssessment

    if isinstance(assessment, SumAssessment):
        _say_sums(output, name, assessment, language)
    else:
        _say_counts(output, name, assessment, language, examples=examples)


def _say_sums(output: Output, name: str, assessment: SumAssessment, language: str | None) -> None:
    from sdcensus.report.magnitude.blocks import further_block, loss_block, risk_blocks
    from sdcensus.report.magnitude.words import sum_conclusions, sum_lead

    title, figures = assessment.public.title, assessment.figures
    output.say(f"{name}: {title}" if name else title, style="bold")
    output.say(f"{sum_lead(assessment, language)}\n")
    blocks = [*risk_blocks(figures, language), loss_block(figures, language)]
    for block in (*blocks, further_block(figures, language)):
        output.say(f"\n{block.title(language)}", style="bold")
        output.show(block_table(block, language))
    for sentence in sum_conclusions(assessment, language):
        output.say(f"\n{sentence}")
    for reason in assessment.left_out:
        why = in_language(reason, language)
        output.note(speak("assess.console.not_measured", language, why=why))
    output.say("")


def block_table(block: Block, language: str | None) -> Any:
    """A table of figures for the console."""
    from sdcensus.report.magnitude.blocks import in_brief

    brief = in_brief(block)
    table = plain_table()
    for at, heading in enumerate(brief.headings(language)):
        if at == 0:
            table.add_column(heading, overflow="fold", min_width=_NAMES_WIDTH)
        else:
            table.add_column(heading, justify="right", overflow="fold", max_width=_FIGURES_WIDTH)
    for texts in brief.texts(language):
        table.add_row(*texts)
    return table


def _say_counts(
    output: Output, name: str, assessment: Assessment, language: str | None, *, examples: bool
) -> None:
    from sdcensus.model.measure import Side
    from sdcensus.report.assessment.words import conclusions, finding_line, lead

    title = assessment.public.title
    output.say(f"{name}: {title}" if name else title, style="bold")
    output.say(f"{lead(assessment, language)}\n")
    if assessment.findings:
        output.say(speak("assess.console.could_learn", language), style="bold")
        for findings in assessment.findings:
            output.say(f"  {finding_line(findings, language, counted=assessment.counted)}")
            for sentence in findings.sentences(1 if examples else 0, language):
                output.say(f"    {speak('assess.console.example', language, sentence=sentence)}")
        if not examples:
            output.say(f"  {speak('assess.console.see', language)}")
    _say_remaining(output, assessment, language)
    _say_counted(output, assessment, language)
    _say_measures(output, assessment, Side.RISK, "assess.risk.figures", language)
    _say_lost(output, assessment, language)
    _say_measures(output, assessment, Side.LOSS, "assess.loss.figures", language)
    _say_groups(output, assessment, language)
    for sentence in conclusions(assessment, language):
        output.say(f"\n{sentence}")
    if assessment.smallest_group:
        output.say(f"\n{in_language(assessment.smallest_group, language)}")
    for reason in assessment.left_out:
        output.note(speak("assess.console.not_measured", language, why=reason))
    output.say("")


def _say_groups(output: Output, assessment: Assessment, language: str | None) -> None:
    from sdcensus.report.assessment.broken_down import broken_down_lines

    for groups in assessment.groups:
        output.say(f"\n{speak('assess.console.together', language)}", style="bold")
        for line in broken_down_lines(groups, language=language):
            output.say(line)


def _say_remaining(output: Output, assessment: Assessment, language: str | None) -> None:
    from sdcensus.report.assessment.counted import given_away_texts, part_heads
    from sdcensus.report.assessment.words import how_text, knows_text

    if not assessment.intervals:
        return
    output.say(f"\n{speak('assess.console.after', language)}", style="bold")
    table = plain_table()
    for head in ("knows", "compares"):
        table.add_column(speak(f"assess.risk.{head}", language), overflow="fold")
    for head in part_heads(assessment, language):
        table.add_column(head, justify="right", overflow="fold")
    for fitting in assessment.intervals:
        table.add_row(
            knows_text(fitting, language),
            how_text(fitting, language),
            *map(_in_lines, given_away_texts(fitting, language, small=False)),
        )
    output.say(speak("assess.risk.of_nonempty", language))
    output.show(table)
    for note in assessment.assumed:
        output.say(in_language(note, language))


def _in_lines(text: str) -> str:
    """A share below its number: three columns of both are too wide for a screen."""
    return text.replace(" (", "\n(")


def _say_counted(output: Output, assessment: Assessment, language: str | None) -> None:
    """The cells that figures are about, alike in interior cells and totals."""
    from sdcensus.report.assessment.counted import counted_rows, part_heads

    output.say(f"\n{speak('assess.counted.title', language)}", style="bold")
    table = plain_table()
    table.add_column("", overflow="fold")
    for head in part_heads(assessment, language):
        table.add_column(head, justify="right", overflow="fold")
    for label, texts in counted_rows(assessment, language):
        table.add_row(label, *map(_in_lines, texts))
    output.show(table)


def _say_measures(
    output: Output, assessment: Assessment, side: Side, title: str, language: str | None
) -> None:
    """The rows of all measures in this part of the report."""
    rows = assessment.rows_of(side)
    if not rows:
        return
    output.say(f"\n{speak(title, language)}", style="bold")
    table = plain_table(header=False)
    table.add_column(overflow="fold")
    table.add_column(justify="right")
    for row in rows:
        table.add_row(in_language(row.label, language), in_language(row.value, language))
    output.show(table)


def _say_lost(output: Output, assessment: Assessment, language: str | None) -> None:
    from sdcensus.report.assessment.words import part_text, units

    output.say(f"\n{speak('assess.loss.readers', language)}", style="bold")
    output.say(speak("assess.loss.means", language, units=units(assessment, language)))
    table = plain_table()
    table.add_column("")
    for head in ("numbers", "nonempty", "mean_change", "hellinger", "largest", "unchanged"):
        table.add_column(speak(f"assess.loss.{head}", language), justify="right")
    for part, utility in assessment.utility:
        table.add_row(
            part_text(part, language),
            number_text(utility.cells, language),
            number_text(utility.nonzero, language),
            decimal_text(utility.mean_absolute_distance, 2, language),
            decimal_text(utility.hellinger_normalised, 3, language),
            NOTHING
            if utility.max_deviation is None
            else number_text(utility.max_deviation, language),
            share_text(utility.share_unchanged_nonzero, language, digits=0),
        )
    output.show(table)
