"""The verdict on designs in plain words."""

from __future__ import annotations

from collections.abc import Iterator

from sdcensus.model.quantities import limit_text, number_text, share_text
from sdcensus.model.sentences import in_language
from sdcensus.model.spec.headings import joined
from sdcensus.report.release.results import DesignResult, ReleaseAssessment
from sdcensus.report.release.tables import measure_text, say


def licence_text(assessment: ReleaseAssessment, language: str | None) -> str:
    """The licence class in words."""
    return say(f"class.{assessment.licence.value}", language)


def lead(assessment: ReleaseAssessment, language: str | None) -> str:
    """Which designs are acceptable, in a sentence."""
    accepted = [design.name for design in assessment.designs if design.accepted]
    count, whole = len(accepted), len(assessment.designs)
    if not any(design.judged for design in assessment.designs):
        return say("lead.not_judged", language)
    if not whole or not count:
        key = "none_one" if whole == 1 else "none"
    elif whole == 1:
        key = "only"
    else:
        key = "all" if count == whole else "one" if count == 1 else "several"
    return say(
        f"lead.{key}",
        language,
        n=whole,
        names=joined(accepted, language),
        licence=licence_text(assessment, language),
    )


def size_text(assessment: ReleaseAssessment, design: DesignResult, language: str | None) -> str:
    """How large the file of a design is."""
    part = share_text(design.persons / assessment.persons if assessment.persons else None, language)
    if design.households is None:
        return say("size_persons", language, persons=design.persons, share=part)
    return say("size", language, households=design.households, persons=design.persons, share=part)


def verdict_lines(
    assessment: ReleaseAssessment, design: DesignResult, language: str | None
) -> Iterator[str]:
    """Why a design is accepted or not, and what would change that."""
    for refusal in design.refusals:
        yield in_language(refusal, language)
    for verdict in design.failing:
        yield say(
            "fails",
            language,
            measure=measure_text(verdict.measure, language, assessment.k),
            value=share_text(verdict.value, language, digits=2),
            accepted=limit_text(verdict.accepted, language),
        )
    for measures, change in advice(design, language):
        named = [measure_text(measure, language, assessment.k) for measure in measures]
        yield say("would_change", language, measures=joined(named, language), change=change)
    if not design.judged:
        yield say("result.why_not_judged", language)
    elif design.accepted:
        yield _nearest(assessment, design, language)


def advice(design: DesignResult, language: str | None) -> tuple[tuple[tuple[str, ...], str], ...]:
    """What would change the verdict: each advice once, with the measures that it is for."""
    measures: dict[str, list[str]] = {}
    for verdict in design.failing:
        if verdict.change:
            measures.setdefault(in_language(verdict.change, language), []).append(verdict.measure)
    return tuple((tuple(names), change) for change, names in measures.items())


def note_lines(assessment: ReleaseAssessment, language: str | None) -> Iterator[str]:
    """What to know before deciding; what holds for all designs is told once."""
    for note in assessment.notes:
        yield in_language(note, language)
    spoken = [
        [in_language(note, language) for note in design.notes] for design in assessment.designs
    ]
    first = spoken[0] if spoken else []
    shared = [words for words in dict.fromkeys(first) if all(words in own for own in spoken)]
    yield from shared
    for design, own in zip(assessment.designs, spoken, strict=True):
        for words in dict.fromkeys(own):
            if words not in shared:
                yield f"{say('design', language, name=design.name)}: {words}"


def _nearest(assessment: ReleaseAssessment, design: DesignResult, language: str | None) -> str:
    """The measure that comes nearest to what is accepted: it fails first."""
    measured = [each for each in design.verdicts if each.value is not None]
    if not measured:
        return say("all_pass", language)
    closest = max(
        measured,
        key=lambda each: (each.value or 0.0) / each.accepted if each.accepted else float("inf"),
    )
    words = say(
        "nearest",
        language,
        measure=measure_text(closest.measure, language, assessment.k),
        value=share_text(closest.value, language, digits=2),
        accepted=limit_text(closest.accepted, language),
    )
    change = in_language(closest.change, language) if closest.change else ""
    return f"{words} {change}".rstrip()


def facts_line(assessment: ReleaseAssessment, language: str | None) -> str:
    """What the page is about, in short."""
    facts = [
        assessment.census,
        licence_text(assessment, language),
        say("persons", language, n=number_text(assessment.persons, language)),
    ]
    if assessment.households is not None:
        households = number_text(assessment.households, language)
        facts.append(say("households", language, n=households))
    if assessment.preset:
        facts.append(say("preset", language, name=assessment.preset))
    return " · ".join([*facts, *([assessment.date] if assessment.date else [])])
