"""What is true of a cell that a claim is about, for the office. Confidential."""

from __future__ import annotations

from dataclasses import dataclass

from sdcensus.model.confidential import Confidential
from sdcensus.model.quantities import number_text, share_text
from sdcensus.model.sentences import speak
from sdcensus.report.claim.answer import PublicAnswer, cell_words
from sdcensus.report.page import page, section, table


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ClaimFacts(Confidential):
    """What the office knows about the cell.

    Attributes:
        answer: What the claimant is told.
        lineage: How the records were derived; empty for records as they were loaded.
        counted: How many records are counted in the cell, of those that were published.
        deviation: Published less what was to be published; ``None`` where no number is shown.
        weighted: The weighted count; ``None`` for plain counts.
        original: How many live there by the original census; ``None`` if it is not at hand.
        stayed: How many of them are counted there still.
        arrived: How many are counted there who live elsewhere, or are otherwise.
        left: How many live there who are counted elsewhere, or not at all.
        imputed: How many of the counted records have an imputed value in the table's variables.
        chance: The chance of the public bracket, as it was computed.
        single: Whether one single person is meant, and rightly: one is published, one is counted
            and one lives there, and they are the same; ``None`` if the original is not at hand.
    """

    answer: PublicAnswer
    lineage: str
    counted: int
    deviation: int | None
    weighted: int | None
    original: int | None
    stayed: int | None
    arrived: int | None
    left: int | None
    imputed: int
    chance: float | None
    single: bool | None

    def __repr__(self) -> str:
        return "<ClaimFacts: confidential>"


def _rows(facts: ClaimFacts, language: str | None) -> list[tuple[str, str]]:
    def shown(number: int | None) -> str:
        return "–" if number is None else number_text(number, language)

    published = facts.answer.published
    value = published if isinstance(published, str) else shown(published)
    rows = [("published", value), ("counted", shown(facts.counted))]
    if facts.weighted is not None:
        rows.append(("weighted", shown(facts.weighted)))
    rows += [
        ("deviation", shown(facts.deviation)),
        ("original", shown(facts.original)),
        ("stayed", shown(facts.stayed)),
        ("arrived", shown(facts.arrived)),
        ("left", shown(facts.left)),
        ("imputed", shown(facts.imputed)),
    ]
    chance = "–" if facts.chance is None else share_text(facts.chance, language, digits=0)
    rows.append(("chance", chance))
    return [(speak(f"claim.office.{name}", language), value) for name, value in rows]


def verdict(facts: ClaimFacts, language: str | None = None) -> str:
    """Whether the claim that a single person is meant is right, in a sentence."""
    word = {True: "right", False: "wrong", None: "unknown"}[facts.single]
    return speak(f"claim.office.{word}", language)


def facts_text(facts: ClaimFacts, language: str | None = None) -> str:
    """The facts as plain text."""
    answer = facts.answer
    title = speak("claim.office.title", language)
    lineage = facts.lineage or speak("claim.office.loaded", language)
    rows = _rows(facts, language)
    width = max(len(name) for name, _ in rows)
    lines = [
        *(speak("assess.page.confidential", language), title, "=" * len(title), ""),
        speak("claim.about", language, table=answer.table, title=answer.title),
        speak("claim.cell", language, cell=cell_words(answer.cell, language)),
        speak("claim.office.lineage", language, lineage=lineage),
        "",
        *(f"{name.ljust(width)}  {value}" for name, value in rows),
        "",
        verdict(facts, language),
        speak("claim.office.told", language, bracket=_bracket(facts, language)),
        "",
    ]
    return "\n".join(lines)


def facts_page(facts: ClaimFacts, language: str | None = None) -> str:
    """The facts as a page for the office."""
    answer = facts.answer
    title = speak("claim.office.title", language)
    lineage = facts.lineage or speak("claim.office.loaded", language)
    heads = (speak("claim.office.what", language), speak("claim.office.number", language))
    return page(
        title,
        speak("claim.about", language, table=answer.table, title=answer.title),
        speak("claim.cell", language, cell=cell_words(answer.cell, language)),
        speak("claim.office.lineage", language, lineage=lineage),
        table(title, heads, _rows(facts, language)),
        section(
            speak("claim.office.verdict", language),
            verdict(facts, language),
            speak("claim.office.told", language, bracket=_bracket(facts, language)),
        ),
        stamp=speak("claim.office.stamp", language),
        language=language or "en",
    )


def _bracket(facts: ClaimFacts, language: str | None) -> str:
    return speak(f"claim.bracket.{facts.answer.bracket}", language)
