"""The parts of an assessment about risk: what true counts tell, and what is left after protection.

Confidential.
"""

from __future__ import annotations

from collections.abc import Sequence

from sdcensus.model.measure import Side
from sdcensus.model.quantities import NOTHING, chance_text, number_text, share_text
from sdcensus.report.assessment.broken_down import broken_down_lines
from sdcensus.report.assessment.results import Assessment
from sdcensus.report.assessment.words import (
    finding_line,
    groups_sentence,
    how_text,
    knows_text,
    units,
)
from sdcensus.report.page import (
    Html,
    PageCell,
    Tone,
    bullets,
    details,
    paragraph,
    section,
    side_by_side,
    strong,
    table,
    together,
)
from sdcensus.report.study.results import CellFigures
from sdcensus.risk.detection.findings import Findings
from sdcensus.risk.looks.budget import NOT_COVERED, LookBudget

#: How many findings of a kind are told as sentences.
EXAMPLES = 4
#: Above this probability of guessing right, a published value tells much.
_TELLING = 0.8
#: Keeps what belongs together on one line.
_SPACE = "\N{NO-BREAK SPACE}"
_OF = f"{_SPACE}of{_SPACE}"


def without_protection(assessment: Assessment, language: str | None) -> Html:
    """What the true counts of the table would tell."""
    title = "What an intruder could learn without protection"
    if not assessment.findings:
        return section(
            title,
            "From the true counts of this table alone: nothing was found. No cell or line of it"
            " singles anyone out.",
        )
    return section(
        title,
        "From the true counts of this table alone. This is what protection is for; none of it is"
        " published.",
        *(_findings(finding, language) for finding in assessment.findings),
    )


def _findings(findings: Findings, language: str | None) -> Html:
    """How many there are, the first as an example, some more folded away."""
    examples = findings.sentences(EXAMPLES, language)
    more = findings.count - len(examples)
    lines = [*examples[1:], *([f"… and {number_text(more)} more."] if more > 0 else [])]
    first = f" For example: {examples[0]}" if examples else ""
    text = paragraph(together(strong(finding_line(findings)), first))
    return Html(f"{text}{details('More examples', bullets(lines)) if lines else ''}")


def remaining(assessment: Assessment, language: str | None) -> Html:
    """What is left after protection, from this table alone."""
    title = "What is left after protection, from this table alone"
    if not assessment.intervals:
        return section(title, "It could not be measured; the annex says why.")
    rows: list[list[PageCell | str]] = []
    for interval in assessment.intervals:
        tone = Tone.BAD if interval.disclosed else Tone.GOOD
        rows.append(
            [
                knows_text(interval),
                how_text(interval),
                PageCell(
                    f"{number_text(interval.disclosed)}{_OF}{number_text(interval.cells)}", tone
                ),
                share_text(interval.share, digits=2).replace(" ", _SPACE),
                share_text(interval.small_share, digits=2).replace(" ", _SPACE),
            ]
        )
    parts: list[str] = [
        "For every cell, the counts that still fit are worked out from the published values, their"
        " totals and what the intruder knows. A cell is given away if one count is left, or only 0"
        " and 1. Shares are of cells that hold anyone.",
        *assessment.assumed,
        table(
            "Cells that are given away, by what the intruder knows",
            ["the intruder knows", "and compares", "given away", "share", "of ones and twos"],
            rows,
            words=2,
            wrapped=True,
        ),
    ]
    if assessment.given_away:
        parts.append(_given_away(assessment.given_away))
    if assessment.withheld is not None:
        parts.append(_findings(assessment.withheld, language))
    groups = groups_sentence(assessment)
    if groups:
        parts.append(groups)
    parts.append(
        measures(
            assessment, Side.RISK, "Risk in figures, of the interior cells of this table alone"
        )
    )
    return section(title, *parts)


def _given_away(cells: Sequence[CellFigures]) -> Html:
    rows = [
        [
            cell.words,
            number_text(cell.published),
            str(cell.lower) if cell.lower == cell.upper else f"{cell.lower} to {cell.upper}",
            number_text(cell.true),
        ]
        for cell in cells
    ]
    return details(
        "Ones and twos that are given away, for example",
        table(
            "Small cells that the intruder who knows most can work out",
            ["cell", "published", "counts that fit", "true"],
            rows,
            wrapped=True,
        ),
    )


def measures(assessment: Assessment, side: Side, caption: str) -> Html:
    """The rows of all measures in this part of the report."""
    rows = [[row.label, row.value] for row in assessment.rows_of(side)]
    return table(caption, ["measure", "value"], rows, wrapped=True) if rows else Html("")


def seen(assessment: Assessment) -> Html:
    """What small published values mean, in both directions."""
    posterior = assessment.posterior
    values = posterior.published.tolist()
    behind: list[list[PageCell | str]] = []
    for value in values:
        chances = [posterior.given_published(true, value) for true in values]
        known = [chance for chance in chances if chance is not None]
        rest = max(0.0, 1 - sum(known)) if known else None
        cells = [
            _chance(chance, same=true == value, telling=bool(value))
            for true, chance in zip(values, chances, strict=True)
        ]
        behind.append([str(value), *cells, _chance(_cleaned(rest))])
    becomes: list[list[PageCell | str]] = []
    for true in values:
        chances = [posterior.given_true(value, true) for value in values]
        known = [chance for chance in chances if chance is not None]
        rest = max(0.0, 1 - sum(known)) if known else None
        cells = [
            _chance(chance, same=true == value)
            for value, chance in zip(values, chances, strict=True)
        ]
        becomes.append([str(true), *cells, _chance(_cleaned(rest))])
    heads = [*(str(value) for value in values), f">{max(values)}"]
    which = "interior cells" if assessment.interior_cells is not None else "cells"
    return section(
        "What small published values mean",
        f"Of the {which} of this table that have a number. A reader sees the published value and"
        " not which of the true ones stands behind it. A dash: there is no such cell.",
        side_by_side(
            table(
                "True count behind a published value, %",
                ["published", *heads],
                behind,
                groups=[("", 1), ("true count", len(heads))],
            ),
            table(
                "What a true count is published as, %",
                ["true", *heads],
                becomes,
                groups=[("", 1), ("published as", len(heads))],
            ),
        ),
    )


def _cleaned(rest: float | None) -> float | None:
    """What is left of 1; nothing where only rounding left it."""
    return 0.0 if rest is not None and rest < 1e-9 else rest


def _chance(chance: float | None, *, same: bool = False, telling: bool = False) -> PageCell:
    if chance is None:
        return PageCell(NOTHING, Tone.SOFT)
    tone = Tone.MARKED if same else Tone.PLAIN
    if same and telling and chance > _TELLING:
        tone = Tone.WARN
    return PageCell(share_text(chance, digits=0).removesuffix(" %"), tone)


def with_others(assessment: Assessment, language: str | None) -> Html:
    """What the table gives away together with others."""
    parts: list[str] = []
    for budget in assessment.budgets:
        parts += [budget.scope, _looks(assessment, budget)]
    if assessment.budgets:
        parts.append(
            "For an intruder who collects all of these tables and knows how they were made, but"
            " not their keys. The chance is that the best estimate of a count that adds up and"
            " subtracts published values, rounded, is the count. Looks are worked out from code"
            " lists, without the people in the cells. The marked row counts: the cell with the most"
            f" looks, areas as a whole included. {NOT_COVERED}"
        )
    for groups in assessment.groups:
        lines = list(broken_down_lines(groups))
        parts.append(Html(f"{paragraph(strong('Small groups'))}{bullets(lines)}"))
    for findings in assessment.differences:
        scope = findings.scope.show(language)
        parts.append(Html(f"{paragraph(scope, soft=True)}{_findings(findings, language)}"))
    if assessment.others and not assessment.differences:
        other = "the one other table" if assessment.others == 1 else "any of the other tables"
        parts.append(
            f"From the true counts of this table and of {other}: no difference of one or two"
            f" {units(assessment)} was found. Three or more tables together were not subtracted."
        )
    if not assessment.budgets and not assessment.others:
        parts.append(
            "Not measured: no plan, policy or registry was named. Every further table that shows"
            " the same people is one more look at them."
        )
    return section("Together with other tables", *parts)


def _looks(assessment: Assessment, budget: LookBudget) -> Html:
    rows: list[list[PageCell | str]] = []
    limit = assessment.recovery_limit
    worst = budget.asked
    picked = []
    for at, level in enumerate(budget.levels):
        chance = assessment.chance_at(level)
        tone = Tone.PLAIN
        if chance is not None and limit is not None and level is worst:
            tone = Tone.BAD if chance > limit else Tone.GOOD
        if level is worst:
            picked.append(at)
        looks = f"{level.looks:.2f}" if level.exact else f"≤ {level.looks:.2f}"
        rows.append([level.title, looks, PageCell(chance_text(chance), tone)])
    return table(
        "Looks at a cell, and the chance that all tables together give its count away",
        ["the cells with the most looks, by level", "looks", "chance of recovery"],
        rows,
        picked=picked,
    )
