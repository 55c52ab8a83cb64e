"""``sdcensus recommend --swap-for``: changes of records tried against attacks on a plan."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sdcensus.cli.shared.console import Output, Stages, plain_table
from sdcensus.cli.shared.options import check_language
from sdcensus.cli.shared.run import all_or_nothing
from sdcensus.errors import SpecError
from sdcensus.model.quantities import decimal_text, number_text, share_text
from sdcensus.model.sentences import Value, speak

if TYPE_CHECKING:
    from sdcensus.session.attack.swapped import SwappedAttacks


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
    secret: Path | None,
    language: str | None,
) -> None:
    """Try steps, and show what each leaves of the claims and what it costs."""
    from sdcensus.session.attack.swapped import swapped_attacks
    from sdcensus.session.census.census import open_store
    from sdcensus.session.publish.resolution import resolve
    from sdcensus.session.recommend.swapping import steps_at, usual_step

    census = open_store(store)
    check_language(census, language)
    try:
        chosen = [float(rate) for rate in rates]
    except ValueError:
        raise SpecError("--rates are numbers from 0 to 1, such as 0.05,0.1.") from None
    with all_or_nothing(), Stages(output, "looking at the plan") as stages:
        asked = list(steps)
        if not asked:
            asked = [usual_step(census, resolve(plan, census=census, secret=secret).specs())]
        lab = swapped_attacks(
            plan,
            [text for step in asked for text in steps_at(step, chosen)],
            secret=secret,
            census=census,
            attacks=attacks,
            tables=tables,
            limit=limit,
            until_found=True,
            progress=stages,
        )
    show_lab(output, lab, language)


def show_lab(output: Output, lab: SwappedAttacks, language: str | None) -> None:
    """The trials as a table, the mildest that is enough, what it costs, and where none helps."""
    from sdcensus.session.attack.swapped import FEWEST_CLAIMS

    def word(key: str, **values: Value) -> str:
        return speak(f"combined.lab.{key}", language, **values)

    output.say(word("title", n=lab.trials[0].tables), style="bold")
    table = plain_table()
    names = ("step", "level", "persons", "claims", "right", "share", "distance", "hellinger")
    for name in names:
        table.add_column(word(name), justify="left" if name in names[:2] else "right")
    for trial in lab.trials:
        step = trial.step or word("none")
        cost = [
            decimal_text(trial.mean_absolute_distance, 3, language),
            decimal_text(trial.hellinger, 3, language),
        ]
        for level in trial.levels:
            for size in (1, 2, 3):
                claims, right = trial.of(level, size)
                if not claims:
                    continue
                numbers = (number_text(number, language) for number in (size, claims, right))
                table.add_row(step, level, *numbers, share_text(right / claims, language), *cost)
                step, cost = "", ["", ""]
        table.add_section()
    output.show(table)
    limit = share_text(lab.limit, language, digits=0)
    first, smallest = lab.trials[0], lab.smallest
    if smallest is None:
        output.say(word("not_enough", limit=limit))
    elif smallest is first:
        output.say(word("as_it_is", limit=limit))
    else:
        output.say(word("smallest", limit=limit, step=smallest.step))
        output.say(
            word(
                "cost",
                distance=decimal_text(smallest.mean_absolute_distance, 3, language),
                before=decimal_text(first.mean_absolute_distance, 3, language),
                hellinger=decimal_text(smallest.hellinger, 3, language),
                hellinger_before=decimal_text(first.hellinger, 3, language),
            )
        )
    if lab.out_of_reach:
        output.say(word("cannot", levels=", ".join(lab.out_of_reach)))
    output.note(word("few", n=FEWEST_CLAIMS))
