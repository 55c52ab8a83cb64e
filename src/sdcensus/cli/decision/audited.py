"""What an audit found, on the console."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sdcensus.cli.shared.console import Output, plain_table

if TYPE_CHECKING:
    from sdcensus.report.audit.results import AuditFindings


def say_audited(
    output: Output, findings: AuditFindings, *, most: int, language: str | None
) -> None:
    """How many cells are disclosed, and the worst of them with what discloses them."""
    from sdcensus.model.sentences import speak
    from sdcensus.report.audit import words
    from sdcensus.session.audit import CellStatus

    output.say(words.lead(findings, language), style="bold")
    summary = plain_table()
    names = ("table", "cells", "shown", "withheld", "absent")
    for name in names:
        head = speak(f"audit.head.{name}", language)
        summary.add_column(head, justify="left" if name == "table" else "right")
    for table in findings.tables:
        numbers = (table.cells, table.shown, table.withheld, table.absent)
        summary.add_row(table.name, *(f"{number:,}" for number in numbers))
    output.show(summary)
    found = {
        "withheld": len(findings.cells),
        "disclosed": findings.count(CellStatus.DISCLOSED),
        "near": findings.count(CellStatus.APPROXIMATE),
        "unbounded": findings.unbounded,
    }
    output.say()
    for name, number in found.items():
        output.say(f"{number:>8,}  {speak(f'audit.tile.{name}', language)}")
    near = words.near_text(findings, language)
    output.say(f"\n{speak('audit.page.near', language, what=near)}")
    _say_cells(output, findings, most, language)
    output.say()
    for sentence in words.scope(findings, language):
        output.note(f"note: {sentence}")


def _say_cells(output: Output, findings: AuditFindings, most: int, language: str | None) -> None:
    from sdcensus.model.sentences import speak
    from sdcensus.report.audit import words
    from sdcensus.session.audit import CellStatus

    worst = [cell for cell in findings.cells if cell.status is not CellStatus.PROTECTED]
    if not worst or not most:
        return
    output.say(f"\n{speak('audit.section.cells', language)}", style="bold")
    for cell in worst[:most]:
        status = words.status_text(cell.status, language)
        interval = words.interval_text(cell, findings.decimals, language)
        output.say(f"  {cell.table}: {cell.cell}: {interval}, {status}")
        for proof in cell.proofs:
            output.say(f"      {words.proof_text(proof, findings.decimals, language)}")
    if len(worst) > most:
        output.say(f"  … {speak('audit.proof.more', language, n=len(worst) - most)}")
