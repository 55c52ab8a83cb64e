"""``sdcensus recommend --swap-for``: changes of records tried against attacks on a plan."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from sdcensus.cli.shared.console import Output, Stages, plain_table
from sdcensus.cli.shared.options import check_language
from sdcensus.cli.shared.run import all_or_nothing
from sdcensus.errors import SpecError
from sdcensus.model.quantities import decimal_text, number_text, share_text
from sdcensus.model.sentences import Value, speak

if TYPE_CHECKING:
    from sdcensus.report.lab.results import LabReport


def try_swapping(
    store: Path,
    plan: Path,
    output: Output,
    *,
    steps: Sequence[str],
    rates: Sequence[str],
    limit: float,
    tables: Sequence[str],
    attacks: Sequence[str],
    out: Path | None,
    secret: Path | None,
    language: str | None,
) -> None:
    """Try steps, or search the smallest, and show what each leaves of the claims and costs."""
    from sdcensus.report.new_folder import check_new_folder
    from sdcensus.session.attack.ladder import smallest_swap
    from sdcensus.session.attack.swapped import SwapLaboratory, check_limit, swapped_attacks
    from sdcensus.session.census.census import open_store
    from sdcensus.session.recommend.swap_report import lab_report, write_lab
    from sdcensus.session.recommend.swapping import steps_at

    check_limit(limit)
    census = open_store(store)
    check_language(census, language)
    if out is not None:
        check_new_folder(out)
    try:
        chosen = [float(rate) for rate in rates]
    except ValueError:
        raise SpecError("--rates are numbers from 0 to 1, such as 0.05,0.1.") from None
    with all_or_nothing(), Stages(output, "looking at the plan") as stages:
        if steps:
            lab = swapped_attacks(
                plan,
                [text for step in steps for text in steps_at(step, chosen)],
                secret=secret,
                census=census,
                attacks=attacks,
                tables=tables,
                limit=limit,
                until_enough=True,
                progress=stages,
            )
        else:
            laboratory = SwapLaboratory(
                plan,
                secret=secret,
                census=census,
                attacks=attacks,
                tables=tables,
                progress=stages,
            )
            lab = smallest_swap(laboratory, limit, stages)
        report = lab_report(lab, census, language)
        written = () if out is None else write_lab(report, out)
    show_lab(output, report)
    for path in written:
        output.say(speak("recommend.show.wrote", language, path=str(path)))


def show_lab(output: Output, report: LabReport) -> None:
    """The trials as a table, the smallest that is enough, what it costs, and where none helps."""
    from sdcensus.session.attack.swapped import FEWEST_CLAIMS

    language = report.language

    def word(key: str, **values: Value) -> str:
        return speak(f"combined.lab.{key}", language, **values)

    output.say(word("title", n=report.tables), style="bold")
    measured = (line for line in report.lines if line.measured)
    for change, lines in groupby(measured, key=lambda line: line.change):
        own = list(lines)
        output.say(f"\n{change or word('none')}", style="bold")
        figures = {
            "touched": share_text(own[0].touched_share, language) if change else None,
            "distance": decimal_text(own[0].mean_distance, 3, language),
            "hellinger": decimal_text(own[0].hellinger, 3, language),
            "combined": share_text(own[0].combined, language),
        }
        output.say("; ".join(f"{word(name)}: {text}" for name, text in figures.items() if text))
        table = plain_table()
        for name in ("level", "persons", "claims", "right", "share"):
            table.add_column(word(name), justify="left" if name == "level" else "right")
        for line in own:
            numbers = (number_text(number, language) for number in (line.size, line.claims))
            right = number_text(line.right, language)
            table.add_row(line.level, *numbers, right, share_text(line.share, language))
        output.show(table)
    for sentence in report.findings:
        output.say(sentence)
    output.note(word("few", n=FEWEST_CLAIMS))
