"""What tables break down, as commands show it: for the office."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sdcensus.cli.shared.console import Output, plain_table

if TYPE_CHECKING:
    from sdcensus.session.census.census import Census
    from sdcensus.session.gate.broken_down import BrokenDown


def show_broken_down(
    output: Output,
    census: Census,
    measures: Sequence[BrokenDown],
    limit: float | None = None,
    *,
    assumed: str = "",
) -> None:
    """Say what was counted, list the worst kinds of cells, and say what would help.

    Args:
        output: Where to.
        census: The census, for what would help.
        measures: What was measured, by what is counted.
        limit: The largest share of small visible groups that is accepted, if that is known.
        assumed: The noise that it was taken with, where no plan says it.
    """
    from sdcensus.report.assessment.broken_down import broken_down_lines, help_line, worst_kinds
    from sdcensus.session.gate.broken_down import smallest_group_text

    for found in measures:
        output.say(f"\nGroups that are broken down: {found.of.plural}", style="bold")
        if assumed:
            output.say(f"With the noise {assumed}. plan check and serve take the plan's own.")
        for line in broken_down_lines(found, limit):
            output.say(line)
        worst = worst_kinds(found)
        if worst:
            table = plain_table()
            table.add_column("cells by", overflow="fold")
            for title in ("further\nvariables", "of 1, 2, 3", f"up to {found.largest:,}"):
                table.add_column(title, justify="right", no_wrap=True)
            table.add_column("one\nhousehold", justify="right")
            table.add_column("with a\ntwin", justify="right")
            for kind_figures in worst:
                table.add_row(
                    kind_figures.title,
                    f"{kind_figures.finer}",
                    ", ".join(f"{number:,}" for number in kind_figures.groups),
                    f"{kind_figures.small:,}",
                    f"{kind_figures.households:,}",
                    f"{kind_figures.twins:,}",
                )
            output.show(table)
    if measures:
        text = smallest_group_text(census, measures[0].noise)
        helps = help_line(measures, text)
        if helps:
            output.say(helps)
        output.say("These figures come from true counts: they are for the office.")
