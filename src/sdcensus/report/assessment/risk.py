"""The parts of an assessment about risk: what true counts tell, and what is left after protection.

Confidential.
"""

from __future__ import annotations

from collections.abc import Sequence

from sdcensus.model.measure import Side
from sdcensus.model.quantities import (
    NOTHING,
    chance_text,
    number_text,
    share_text,
    written_as,
)
from sdcensus.model.sentences import in_language, speak
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


def without_protection(assessment: Assessment, language: str | None) -> Html:
    """What the true counts of the table would tell."""
    title = speak("assess.risk.without", language)
    if not assessment.findings:
        return section(title, speak("assess.risk.nothing", language))
    return section(
        title,
        speak("assess.risk.purpose", language),
        *(_findings(finding, language) for finding in assessment.findings),
    )


def _findings(findings: Findings, language: str | None) -> Html:
    """How many there are, the first as an example, some more folded away."""
    examples = findings.sentences(EXAMPLES, language)
    more = findings.count - len(examples)
    rest = [speak("assess.risk.and_more", language, n=more)] if more > 0 else []
    lines = [*examples[1:], *rest]
    first = ""
    if examples:
        first = f" {speak('assess.risk.example', language, sentence=examples[0])}"
    text = paragraph(together(strong(finding_line(findings, language)), first))
    title = speak("assess.risk.more_examples", language)
    return Html(f"{text}{details(title, bullets(lines)) if lines else ''}")


def remaining(assessment: Assessment, language: str | None) -> Html:
    """What is left after protection, from this table alone."""
    title = speak("assess.risk.left", language)
    if not assessment.intervals:
        return section(title, speak("assess.risk.unmeasured", language))
    rows: list[list[PageCell | str]] = []
    for interval in assessment.intervals:
        tone = Tone.BAD if interval.disclosed else Tone.GOOD
        given = speak("assess.risk.of", language, n=interval.disclosed, cells=interval.cells)
        rows.append(
            [
                knows_text(interval, language),
                how_text(interval, language),
                PageCell(given.replace(" ", _SPACE), tone),
                share_text(interval.share, language, digits=2).replace(" ", _SPACE),
                share_text(interval.small_share, language, digits=2).replace(" ", _SPACE),
            ]
        )
    parts: list[str] = [
        speak("assess.risk.intervals", language),
        *(in_language(sentence, language) for sentence in assessment.assumed),
        table(
            speak("assess.risk.by_knowledge", language),
            _heads(("knows", "compares", "given_away", "share", "of_small"), language),
            rows,
            words=2,
            wrapped=True,
        ),
    ]
    if assessment.given_away:
        parts.append(_given_away(assessment.given_away, language))
    if assessment.withheld is not None:
        parts.append(_findings(assessment.withheld, language))
    groups = groups_sentence(assessment, language)
    if groups:
        parts.append(groups)
    parts.append(
        measures(assessment, Side.RISK, speak("assess.risk.figures_interior", language), language)
    )
    return section(title, *parts)


def _heads(names: Sequence[str], language: str | None) -> list[str]:
    return [speak(f"assess.risk.{name}", language) for name in names]


def _given_away(cells: Sequence[CellFigures], language: str | None) -> Html:
    rows = [
        [
            cell.words,
            number_text(cell.published, language),
            str(cell.lower)
            if cell.lower == cell.upper
            else speak("assess.risk.from_to", language, low=str(cell.lower), high=str(cell.upper)),
            number_text(cell.true, language),
        ]
        for cell in cells
    ]
    return details(
        speak("assess.risk.small_given", language),
        table(
            speak("assess.risk.small_cells", language),
            _heads(("cell", "published", "fit", "true"), language),
            rows,
            wrapped=True,
        ),
    )


def measures(assessment: Assessment, side: Side, caption: str, language: str | None) -> Html:
    """The rows of all measures in this part of the report."""
    rows = [
        [in_language(row.label, language), in_language(row.value, language)]
        for row in assessment.rows_of(side)
    ]
    heads = _heads(("measure", "value"), language)
    return table(caption, heads, rows, wrapped=True) if rows else Html("")


def seen(assessment: Assessment, language: str | None) -> Html:
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
    which = "interior" if assessment.interior_cells is not None else "cells"
    return section(
        speak("assess.risk.meaning", language),
        speak(f"assess.risk.meaning_{which}", language),
        side_by_side(
            table(
                speak("assess.risk.behind", language),
                [speak("assess.risk.published", language), *heads],
                behind,
                groups=[("", 1), (speak("assess.risk.true_count", language), len(heads))],
            ),
            table(
                speak("assess.risk.becomes", language),
                [speak("assess.risk.true", language), *heads],
                becomes,
                groups=[("", 1), (speak("assess.risk.published_as", language), len(heads))],
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
        parts += [in_language(budget.scope, language), _looks(assessment, budget, language)]
    if assessment.budgets:
        rest = in_language(NOT_COVERED, language)
        parts.append(speak("assess.risk.looks", language, not_covered=rest))
    for groups in assessment.groups:
        lines = list(broken_down_lines(groups, language=language))
        heading = paragraph(strong(speak("assess.risk.small_groups", language)))
        parts.append(Html(f"{heading}{bullets(lines)}"))
    for findings in assessment.differences:
        scope = findings.scope.show(language)
        parts.append(Html(f"{paragraph(scope, soft=True)}{_findings(findings, language)}"))
    if assessment.others and not assessment.differences:
        key = "no_difference_one" if assessment.others == 1 else "no_difference"
        counted = units(assessment, language)
        parts.append(speak(f"assess.risk.{key}", language, units=counted))
    if not assessment.budgets and not assessment.others:
        parts.append(speak("assess.risk.not_measured", language))
    return section(speak("assess.risk.others", language), *parts)


def _looks(assessment: Assessment, budget: LookBudget, language: str | None) -> Html:
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
        looks = written_as(f"{level.looks:,.2f}", language)
        cell = PageCell(chance_text(chance, language), tone)
        rows.append([level.title_in(language), looks if level.exact else f"≤ {looks}", cell])
    return table(
        speak("assess.risk.looks_table", language),
        _heads(("looks_cells", "looks_head", "recovery"), language),
        rows,
        picked=picked,
    )
