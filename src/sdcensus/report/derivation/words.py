"""The findings of a report on a derived store, in words."""

from __future__ import annotations

from collections.abc import Iterator

from sdcensus.model.quantities import number_text, share_text
from sdcensus.model.sentences import in_language, speak
from sdcensus.model.spec.headings import entity_text, joined
from sdcensus.report.derivation.results import Effects, LevelChange
from sdcensus.report.derivation.tables import called, level_label


def lead(effects: Effects) -> str:
    """What happened, in a sentence or two."""
    language = effects.language
    said = []
    seen = set()
    for change in effects.levels:
        if change.variable not in seen:
            seen.add(change.variable)
            said.append(_changed(change, effects))
    for entity, number in effects.dropped.items():
        units = entity_text(entity, language)
        said.append(speak("derive.lead_dropped", language, n=number, entity=units))
    return " ".join(said) or speak("derive.lead_none", language)


def _changed(change: LevelChange, effects: Effects) -> str:
    """The finest level of a variable: how many units have another code."""
    language = effects.language
    key = "lead_changed"
    if change.area:
        key = "lead_moved_alone" if change.persons_changed is None else "lead_moved"
    elif change.level == change.variable and _is_weight(change, effects):
        key = "lead_weighted"
    return speak(
        f"derive.{key}",
        language,
        changed=change.changed,
        units=change.units,
        entity=entity_text(change.entity, language),
        share=share_text(change.share, language),
        persons=number_text(change.persons_changed or 0, language),
        variable=level_label(change, language),
    )


def _is_weight(change: LevelChange, effects: Effects) -> bool:
    return change.variable in effects.weights


def findings(effects: Effects) -> Iterator[str]:
    """What to know before deciding: above all where there is no protection."""
    language = effects.language
    yield from _untouched(effects)
    for label, changed in effects.other_areas:
        if effects.area_levels and not changed:
            yield speak("derive.other_area", language, label=label.show(language))
    for table in effects.tables:
        for small in table.small:
            if small.level and small.cells and not small.changed:
                yield speak(
                    "derive.small_none", language, table=called(table, language), level=small.level
                )
                break  # coarser levels are not protected either
    broken = sum(rule.new for rule in effects.rules)
    if broken:
        yield speak("derive.rules_broken", language, n=broken)
    for note in effects.notes:
        yield in_language(note, language)


def _untouched(effects: Effects) -> Iterator[str]:
    """Where a table shows what the original shows."""
    language = effects.language
    if effects.dropped or effects.weights:
        return  # every table may have other numbers
    areas = effects.area_levels
    others = [change for change in effects.levels if not change.area]
    carried = list(dict.fromkeys(level_label(change, language) for change in others))
    if areas and not carried:
        yield speak("derive.country", language)
    elif areas:
        yield speak("derive.country_but", language, variables=joined(carried, language))
    untouched = [change.level for change in areas if change.level and not change.changed]
    if untouched:
        yield speak("derive.untouched_level", language, level=joined(untouched, language))
    for change in others:
        if not change.changed:
            name = level_label(change, language)
            key = "derive.untouched_group"
            yield speak(key, language, level=change.level, variable=name)
    if carried and not areas:
        yield speak("derive.only_variables", language, variables=joined(carried, language))
