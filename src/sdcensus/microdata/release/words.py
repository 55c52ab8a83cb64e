"""What a file says of itself, for everybody: the rate of its sample and no other figure."""

from __future__ import annotations

import numpy as np

from sdcensus.microdata.release.records import FileRecords
from sdcensus.model.quantities import limit_text
from sdcensus.model.release.changes import reason_text
from sdcensus.model.release.file_variable import FileDesign, FileVariable
from sdcensus.model.release.plan import LargeHouseholds, ReleasePlan
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.variable import Entity
from sdcensus.model.sentences import in_every_language
from sdcensus.model.text import LANGUAGES, Text


def sampling_words(design: FileDesign) -> Text:
    """How records were drawn."""
    unit, fraction = design.unit.plural, design.design.fraction
    drawn = Text.named(f"release_sample.sampling.all_{unit}")
    if fraction != 1:
        share = in_every_language(lambda language: limit_text(float(fraction), language))
        drawn = Text.named(f"release_sample.sampling.part_{unit}").filled(share=share)
    if not design.population:
        return drawn
    extract = Text.named(f"release_sample.sampling.extract_{unit}").filled(where=design.population)
    return in_every_language(lambda language: f"{drawn.show(language)} {extract.show(language)}")


def public_notes(records: FileRecords, plan: ReleasePlan) -> tuple[Text, ...]:
    """What readers have to know: that values were changed, not which, and not by how much."""
    notes = [Text.named("release_sample.notes.order"), Text.named("release_sample.notes.weights")]
    if records.design.unit is Entity.HOUSEHOLD and _several(records):
        notes.append(Text.named("release_sample.notes.two_weights"))
    if _changed(records, plan):
        notes.append(Text.named("release_sample.notes.changed"))
    if plan.large is LargeHouseholds.APART and plan.large_above is not None:
        above = Text.named("release_sample.notes.apart").filled(above=str(plan.large_above))
        notes.append(above)
    return tuple(notes)


def _several(records: FileRecords) -> bool:
    """Whether units of the file differ in their weights."""
    weights = np.concatenate([*records.sample.weights.values()])
    return np.unique(weights).size > 1


def _changed(records: FileRecords, plan: ReleasePlan) -> bool:
    name = records.design.design.name
    steps = [treatment.designs for treatment in plan.treatments]
    steps += [plan.suppression.designs] if plan.suppression is not None else []
    ages = plan.large_above is not None and plan.large is LargeHouseholds.PERTURB_AGES
    named = any(not designs or name in designs for designs in steps)
    return named or ages or bool(records.store.manifest.lineage)


def removed_words(design: FileDesign) -> tuple[tuple[str, Text, Text], ...]:
    """Variables that the file leaves out, with the reason."""
    return tuple(
        (
            removed.variable.name,
            removed.variable.label,
            reason_text(removed.reason),
        )
        for removed in design.removed
    )


def recode_words(variable: FileVariable) -> Text:
    """What was done to the codes of a variable; empty for nothing."""
    recode = variable.recode
    if recode is None:
        return Text()
    parts: list[Text] = []
    if recode.level:
        label = variable.source.level_label(recode.level) or recode.level
        parts.append(Text.named("release_sample.recoded.level").filled(level=label))
    if recode.intervals:
        parts.append(
            Text.named("release_sample.recoded.intervals").filled(intervals=recode.intervals)
        )
    for word, number in (("bottom", recode.bottom), ("top", recode.top)):
        if number is not None:
            parts.append(Text.named(f"release_sample.recoded.{word}").filled(number=str(number)))
    if recode.groups:
        parts.append(Text.named("release_sample.recoded.groups"))
    return Text.of(
        {language: " ".join(part.show(language) for part in parts) for language in LANGUAGES}
    )


def short_recode(variable: FileVariable) -> Text:
    """The same in a cell of a table, without merged categories; empty for nothing."""
    recode = variable.recode
    if recode is None:
        return Text()
    limits = [] if recode.bottom is None else [f"≤ {recode.bottom}"]
    limits += [] if recode.top is None else [f"≥ {recode.top}"]
    numbers = ", ".join([*([recode.intervals] if recode.intervals else []), *limits])
    level = variable.source.level_label(recode.level) if recode.level else None
    if not recode.level:
        return Text.of(dict.fromkeys(LANGUAGES, numbers)) if numbers else Text()
    return Text.of(
        {
            language: ", ".join(filter(None, (_shown(level, recode.level, language), numbers)))
            for language in LANGUAGES
        }
    )


def _shown(label: Text | None, name: str, language: str) -> str:
    return (label.show(language) if label is not None else "") or name


def census_texts(schema: Schema) -> tuple[Text, Text]:
    """The names of the census and of the country."""
    info = schema.census
    language = info.languages[0] if info.languages else "en"
    census = info.names or Text.of(info.name, language=language)
    return census, info.countries or Text.of(info.country, language=language)


def languages_of(plan: ReleasePlan, schema: Schema) -> tuple[str, ...]:
    """The languages of labels and papers."""
    return plan.making.languages or schema.census.languages


def citation(producer: Text, title: Text, census: Text, version: str) -> Text:
    """How to cite the file, without what is not known."""
    edition = Text.named("release_sample.version").filled(version=version)
    parts = (producer, title, Text() if title == census else census, edition)

    def cited(language: str) -> str:
        shown = [part.show(language).rstrip(". ") for part in parts]
        return ". ".join(part for part in shown if part) + "."

    return in_every_language(cited)
