"""What is broken down, in sentences for the office. Confidential: figures come from true counts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sdcensus.model.quantities import decimal_text, number_text, share_text
from sdcensus.model.schema.variable import Entity
from sdcensus.model.sentences import speak
from sdcensus.model.spec.headings import entity_text, joined
from sdcensus.risk.groups.broken_down import BrokenDown, KindFigures

#: Kinds of cells that are listed, those with the most small groups first.
MOST_LISTED = 8


def broken_down_lines(
    found: BrokenDown, limit: float | None = None, language: str | None = None
) -> Iterator[str]:
    """What was counted, a sentence each.

    Args:
        found: The measure.
        limit: The largest share of small visible groups that is accepted, if that is known.
        language: The language of the sentences.
    """
    units = entity_text(found.of, language)
    if found.proven:
        yield speak(
            f"assess.groups.proven{'_homes' if found.of is Entity.PERSON else ''}",
            language,
            largest=found.largest,
            units=units,
            smallest=found.noise.smallest_group or 0,
        )
    elif not found.kinds_in_all:
        yield speak("assess.groups.nothing", language, units=units)
        return
    else:
        yield speak(
            "assess.groups.share" if limit is None else "assess.groups.share_limit",
            language,
            units=units,
            share=share_text(found.share, language),
            groups=round(found.claimed),
            limit=share_text(limit, language),
        )
        yield from _small_lines(found, language)
    yield from _twin_lines(found, language)
    if found.sampled and found.kinds:
        kinds = len(found.kinds)
        yield speak("assess.groups.sampled", language, n=kinds, all=found.kinds_in_all)


def refused_line(
    found: BrokenDown, limit: float, units: int | None, language: str | None = None
) -> str:
    """Why tables are refused, with the figures, in one sentence.

    Args:
        found: The measure of cells that tables break down by more than two variables.
        limit: The largest share of small visible groups that is accepted.
        units: How many units there are; ``None`` where that is not known.
        language: The language of the sentence.
    """
    groups = speak(
        "assess.groups.refused",
        language,
        share=share_text(found.share, language),
        groups=round(found.claimed),
        limit=share_text(limit, language),
    )
    assembled = found.assembled
    if assembled is None or not assembled.units or not units:
        return f"{groups}."
    least, one = "_least" * found.sampled, "_one" * (assembled.units == 1)
    alone = speak(
        f"assess.groups.refused_alone{least}{one}",
        language,
        unit=speak(f"findings.unit.{found.of.name.lower()}.single", language),
        units=entity_text(found.of, language),
        n=assembled.units,
        part=share_text(assembled.units / units, language),
        mean=decimal_text(assembled.mean, 1, language),
        variables=assembled.variables,
    )
    return f"{groups}{alone}"


def _small_lines(found: BrokenDown, language: str | None) -> Iterator[str]:
    units = entity_text(found.of, language)
    yield speak(
        "assess.groups.small",
        language,
        largest=found.largest,
        units=units,
        small=found.small,
        households=found.households,
    )
    assembled = found.assembled
    if assembled is not None and assembled.units:
        most = max(number for number, often in enumerate(assembled.alone) if often)
        enough = max(most - 2, 1)
        yield speak(
            f"assess.groups.alone{'' if found.of is Entity.PERSON else '_things'}",
            language,
            units=units.capitalize(),
            n=assembled.units,
            mean=decimal_text(assembled.mean, 1, language),
            variables=assembled.variables,
            many=assembled.at_least(enough),
            enough=enough,
        )


def _twin_lines(found: BrokenDown, language: str | None) -> Iterator[str]:
    twins = found.twins
    if twins is None:
        if found.noise.definition_keys and found.proven:
            yield speak("assess.groups.twins_hidden", language)
        return
    yield speak(
        "assess.groups.twins",
        language,
        above=twins.above,
        unit=speak(f"findings.unit.{found.of.name.lower()}.single", language),
        one=twins.one,
        household=twins.household,
        largest=twins.largest,
        nested=twins.nested,
    )
    if twins.one + twins.household and found.noise.definition_keys:
        yield speak("assess.groups.twins_own", language)
    nowhere = speak("assess.groups.no_area", language)
    by_level = [
        f"{area or nowhere} {number_text(number, language)}"
        for area, number in twins.by_level
        if number
    ]
    if by_level:
        yield speak("assess.groups.by_level", language, levels=", ".join(by_level))


def worst_kinds(found: BrokenDown, most: int = MOST_LISTED) -> Sequence[KindFigures]:
    """The kinds of cells with the most small groups that are broken down."""
    divided = [kind for kind in found.kinds if kind.small or kind.households or kind.twins]
    return sorted(divided, key=lambda title: (-sum(title.groups) * title.finer, title.title))[:most]


def help_line(measures: Sequence[BrokenDown], text: str, language: str | None = None) -> str:
    """What would help, if anything has to; empty if not.

    Args:
        measures: What was measured.
        text: The setting of the smallest group that would do.
        language: The language of the sentence.
    """
    remedies = []
    if any(not measure.noise.definition_keys and measure.kinds_in_all for measure in measures):
        remedies.append(speak("assess.groups.keys", language))
    if any(not measure.proven and measure.share > 0 for measure in measures):
        remedies.append(speak("assess.groups.smallest", language, text=text))
    if not remedies:
        return ""
    return speak("assess.groups.help", language, remedies=joined(remedies, language))
