"""Drawing perturbation tables on a console: rows, figures, and what look-ups give away."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from sdcensus.cli.perturbation.options import CONFIDENTIAL
from sdcensus.cli.shared.console import Output, plain_table

if TYPE_CHECKING:
    from sdcensus.report.perturbation.rows import RowSummary
    from sdcensus.report.perturbation.summary import Summary
    from sdcensus.session.perturbation.tables import Written

#: Signs between two columns.
_BETWEEN = 2


def rows_up_to(summary: Summary, counts: int) -> tuple[RowSummary, ...]:
    """The rows of counts up to a largest one, and the last row."""
    shown = tuple(row for row in summary.rows if row.count <= counts)
    return shown if shown[-1] is summary.rows[-1] else (*shown, summary.rows[-1])


def show_probabilities(output: Output, rows: Sequence[RowSummary]) -> None:
    """The probability of each change, in as many blocks as the width of the console asks for."""
    from sdcensus.report.perturbation.rows import shown_deviations
    from sdcensus.report.perturbation.words import probability, signed

    deviations = shown_deviations(rows)
    label = max(len("count"), *(len(row.counts) for row in rows))
    digits = 4 if _fits(output, label, len(deviations), 5) else 3
    output.say("\nProbability of each change", style="bold")
    for at, block in enumerate(_blocks(output, label, deviations, digits + 1)):
        if at:
            output.say()
        table = plain_table()
        table.add_column("count")
        for value in block:
            table.add_column(signed(value), justify="right")
        for row in rows:
            shares = (row.chances.get(value, 0.0) for value in block)
            table.add_row(row.counts, *(probability(share, digits) for share in shares))
        output.show(table)
    if any(0 < share < 0.5 * 10**-digits for row in rows for share in row.chances.values()):
        output.say("+0: possible, but too rare for these digits.")


def show_figures(output: Output, rows: Sequence[RowSummary]) -> None:
    """Each row in figures."""
    from sdcensus.report.perturbation.words import probability, small

    output.say("\nEach row in figures", style="bold")
    table = plain_table()
    table.add_column("count")
    for title in ("mean change", "variance", "bits", "stays", "becomes 0"):
        table.add_column(title, justify="right")
    for row in rows:
        table.add_row(
            row.counts,
            small(row.bias),
            f"{row.variance:.4f}",
            f"{row.entropy:.3f}",
            probability(row.stay),
            probability(row.becomes_zero),
        )
    output.show(table)


def show_relaxed(output: Output, summary: Summary) -> None:
    """What single rows could not meet, one line each."""
    if summary.relaxed:
        output.say("\nNot everything that was asked for could be met:", style="bold")
        for relaxation in summary.relaxed:
            output.say(f"  {relaxation}")


def show_lookups(output: Output, summary: Summary) -> None:
    """What the gap between a total and its parts gives away."""
    from sdcensus.report.perturbation.words import (
        distinction_sentence,
        lookup_sentence,
        probability,
        scrambled_sentence,
    )

    output.say("\nWhat a total and its two parts give away", style="bold")
    table = plain_table()
    table.add_column("look-up")
    for title in ("parts add up", "guesses a part", "guesses both", "bits left"):
        table.add_column(title, justify="right")
    for risk in summary.lookups:
        of = risk.coupling
        table.add_row(
            f"{risk.name} (default)" if risk.is_default else risk.name,
            *(probability(chance, 3) for chance in (of.gap_is_zero, of.guess_part, of.guess_both)),
            f"{of.uncertainty_bits:.2f}",
            style="bold" if risk.is_default else None,
        )
    output.show(table)
    output.say(f"{lookup_sentence()} {scrambled_sentence(summary)}")
    output.say(f"Default here: {summary.default_lookup}. {summary.why_default}")
    output.say(f"\n{distinction_sentence(summary)}")


def say_hidden(output: Output, summary: Summary, rows: Sequence[RowSummary], how: str) -> None:
    """Whether there are more rows, and how to see them."""
    hidden = len(summary.rows) - len(rows)
    if hidden > 0:
        output.say(f"{hidden} rows between the first and the last are not shown. {how}")


def say_written(output: Output, written: Written) -> None:
    """What stands in a new file, and how far it is from what was asked for."""
    from sdcensus.report.perturbation.words import key_space_text
    from sdcensus.session.perturbation.tables import ROUNDED

    moved = written.moved
    keys = f"{key_space_text(written.keys)} keys"
    layout = str(written.format) if written.format == "plain" else f"{written.format}, {keys}"
    output.say(f"Wrote {written.path} ({layout}). {CONFIDENTIAL}")
    if moved.largest > ROUNDED:
        output.say(
            f"Probabilities moved by up to {moved.largest:.2g} (for the count {moved.count}),"
            f" because there are only {keys}."
        )
    elif moved.largest > 0:
        output.say(f"Probabilities are the same to {moved.largest:.1g}.")
    else:
        output.say("Probabilities are exactly the same.")
    if written.bias > ROUNDED:
        output.say(
            f"Rows of the file change the expected count, by up to {written.bias:.2g}. Programs"
            " that do not expect that may refuse it; sdcensus reads it with --allow-bias."
        )
    if moved.same_keys is False:
        output.say(
            "Keys are assigned anew: with the same cell keys, other numbers would be published than"
            " with the old file. Do not mix them in one series."
        )
    elif moved.same_keys:
        output.say("Every key adds what it added before.")
    if written.repeat:
        output.say(
            f"The last {written.repeat} rows serve larger counts in turn. Programs that read the"
            f" file must be told; here with --repeat {written.repeat}."
        )


def _fits(output: Output, label: int, columns: int, width: int) -> bool:
    return label + 2 + columns * (width + _BETWEEN) <= output.width


def _blocks(
    output: Output, label: int, deviations: Sequence[int], width: int
) -> Iterator[Sequence[int]]:
    size = max(4, (output.width - label - 2) // (width + _BETWEEN))
    for begin in range(0, len(deviations), size):
        yield deviations[begin : begin + size]
