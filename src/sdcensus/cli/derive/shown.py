"""What a derivation did, or would meet, on the console."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sdcensus.cli.shared.console import Output, note_removed, plain_table
from sdcensus.model.sentences import in_language, speak

if TYPE_CHECKING:
    from sdcensus.session.derive import DerivationReport, FactTable

#: Longer tables are shown by their first lines; the rest is in the report.
_MOST_LINES = 25


def show_report(output: Output, report: DerivationReport, language: str | None) -> None:
    """Sizes, what was changed, and what the method tells about its work."""
    sizes = plain_table()
    for heading in ("", "records", "dropped", "with what holds them", "now without any"):
        sizes.add_column(heading, justify="right" if heading else "left")
    for entity, rows in report.rows.items():
        dropped, along = report.dropped.get(entity, (0, 0))
        numbers = (rows, dropped, along, report.left_empty.get(entity, 0))
        sizes.add_row(entity.plural, *(f"{number:,}" for number in numbers))
    output.show(sizes)
    for name, count in (*report.changed.items(), *report.figures.items()):
        output.say(f"{name}: {count:,} changed" if name in report.changed else f"{name}: {count:,}")
    for table in report.facts:
        show_facts(output, table, language)
    note_removed(output, report.removed, language)
    if report.left:
        paths = ", ".join(map(str, report.left))
        output.note(speak("derive.said.left", language, paths=paths))
    for note in report.notes:
        output.note(f"Note: {in_language(note, language)}")


def show_facts(output: Output, table: FactTable, language: str | None) -> None:
    """A table that a method tells."""
    from sdcensus.report.derivation.tables import fact_text, word_columns

    output.say()
    output.say(in_language(table.title, language), style="bold")
    shown = plain_table()
    words = word_columns(table)
    for at, heading in enumerate(table.headings):
        shown.add_column(in_language(heading, language), justify="left" if at < words else "right")
    for row in table.rows[:_MOST_LINES]:
        cells = zip(table.headings, row, strict=True)
        shown.add_row(*(fact_text(heading, fact, language) for heading, fact in cells))
    output.show(shown)
    left = len(table.rows) - _MOST_LINES
    if left > 0:
        output.say(speak("derive.said.more_lines", language, n=left))
    if table.note is not None:
        output.say(in_language(table.note, language))
