"""The parts of an assessment about risk: what true counts tell, and what is left after protection.

Confidential.
"""

from __future__ import annotations

from collections.abc import Sequence

from sdcensus.model.cube.parts import TablePart
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
from sdcensus.report.assessment.counted import counted_rows, given_away_texts, part_heads
from sdcensus.report.assessment.results import Assessment
from sdcensus.report.assessment.words import (
    finding_line,
    groups_sentence,
    how_text,
    knows_text,
    part_text,
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
from sdcensus.risk.counted_parts import PartCounts
from sdcensus.risk.detection.findings import Findings
from sdcensus.risk.looks.budget import NOT_COVERED, LookBudget
from sdcensus.risk.posterior import Posterior

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
        *(_findings(finding, language, assessment.counted) for finding in assessment.findings),
    )


def _findings(findings: Findings, language: str | None, counted: Sequence[PartCounts] = ()) -> Html:
    """How many there are, the first as an example, some more folded away."""
    examples = findings.sentences(EXAMPLES, language)
    more = findings.count - len(examples)
    rest = [speak("assess.risk.and_more", language, n=more)] if more > 0 else []
    lines = [*examples[1:], *rest]
    first = ""
    if examples:
        first = f" {speak('assess.risk.example', language, sentence=examples[0])}"
    text = paragraph(together(strong(finding_line(findings, language, counted=counted)), first))
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
        given = given_away_texts(interval, language, small=False)
        few = given_away_texts(interval, language, small=True)
        rows.append(
            [
                knows_text(interval, language),
                how_text(interval, language),
                *(PageCell(_whole_words(text), tone) for text in given),
                *(_whole_words(text) for text in few),
            ]
        )
    heads = part_heads(assessment, language)
    bases = [
        ("", 2),
        (speak("assess.risk.of_nonempty", language), len(heads)),
        (speak("assess.risk.of_few", language), len(heads)),
    ]
    parts: list[str] = [
        speak("assess.risk.intervals", language),
        *(in_language(sentence, language) for sentence in assessment.assumed),
        table(
            speak("assess.risk.by_knowledge", language),
            [*_heads(("knows", "compares"), language), *heads, *heads],
            rows,
            groups=bases,
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
    parts += [
        cells_counted(assessment, language),
        measures(assessment, Side.RISK, speak("assess.risk.figures", language), language),
    ]
    return section(title, *parts)


def _whole_words(text: str) -> str:
    """A number and its base on one line; only its share may stand on the next."""
    number, bracket, share = text.partition(" (")
    return f"{number.replace(' ', _SPACE)}{bracket}{share.replace(' ', _SPACE)}"


def cells_counted(assessment: Assessment, language: str | None) -> Html:
    """The cells that figures are about, alike in interior cells and totals."""
    heads = [speak("assess.risk.measure", language), *part_heads(assessment, language)]
    rows = [
        [label, *(_whole_words(text) for text in texts)]
        for label, texts in counted_rows(assessment, language)
    ]
    shown = table(speak("assess.counted.title", language), heads, rows, wrapped=True)
    return together(paragraph(speak("assess.counted.text", language)), shown)


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
    """What small published values mean, in both directions, in each part of the table."""
    (first, shown), *others = assessment.posteriors
    parts: list[str] = [
        speak("assess.risk.meaning_text", language, part=part_text(first, language)),
        _meaning(first, shown, language),
    ]
    for part, posterior in others:
        title = speak("assess.risk.same_for", language, part=part_text(part, language))
        parts.append(details(title, _meaning(part, posterior, language)))
    return section(speak("assess.risk.meaning", language), *parts)


def _meaning(part: TablePart, posterior: Posterior, language: str | None) -> Html:
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
        seen_cells = number_text(posterior.published_as(value), language)
        behind.append([str(value), seen_cells, *cells, _chance(_cleaned(rest))])
    becomes: list[list[PageCell | str]] = []
    for true in values:
        chances = [posterior.given_true(value, true) for value in values]
        known = [chance for chance in chances if chance is not None]
        rest = max(0.0, 1 - sum(known)) if known else None
        cells = [
            _chance(chance, same=true == value)
            for value, chance in zip(values, chances, strict=True)
        ]
        true_cells = number_text(posterior.counted_as(true), language)
        becomes.append([str(true), true_cells, *cells, _chance(_cleaned(rest))])
    heads = [*(str(value) for value in values), f">{max(values)}"]
    of, name = speak("assess.loss.cells", language), part_text(part, language)
    return side_by_side(
        table(
            speak("assess.risk.behind", language, part=name),
            [speak("assess.risk.published", language), of, *heads],
            behind,
            groups=[("", 2), (speak("assess.risk.true_count", language), len(heads))],
        ),
        table(
            speak("assess.risk.becomes", language, part=name),
            [speak("assess.risk.true", language), of, *heads],
            becomes,
            groups=[("", 2), (speak("assess.risk.published_as", language), len(heads))],
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
