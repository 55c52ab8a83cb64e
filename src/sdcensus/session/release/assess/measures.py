"""What else is measured about a design: sensitive variables, SUDA, models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sdcensus.errors import SdcensusError
from sdcensus.microdata.method import Draws, Fact, FactTable
from sdcensus.microdata.release.records import FileRecords
from sdcensus.microdata.release.sample import release_counter
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.release.file_variable import FileDesign, FileVariable
from sdcensus.model.release.plan import ReleasePlan, RiskRules
from sdcensus.model.schema.variable import Entity, Role
from sdcensus.model.sentences import sentence
from sdcensus.model.text import Text
from sdcensus.report.release.results import SpecialUniques
from sdcensus.risk.records.diversity import SensitiveColumn, diversity
from sdcensus.risk.records.key_column import KeyColumn
from sdcensus.risk.records.sample_only import (
    error_by_draws,
    estimated_uniques,
)
from sdcensus.risk.records.special_uniques import special_uniques
from sdcensus.session.release.assess.ladders import Ladders, variable_text
from sdcensus.session.release.columns import codes_of

#: SUDA looks at all sets of keys: with more keys than this, at the first of the ladder.
MOST_SPECIAL = 8
#: Models of more records than this are fitted to so many of them.
_MOST_MODEL = 200_000


def sensitive_variables(design: FileDesign, rules: RiskRules) -> tuple[FileVariable, ...]:
    """Variables that nobody should learn: by their role, and those that the plan names."""
    named = {name.partition("@")[0] for name in rules.sensitive}
    return tuple(
        each
        for each in design.variables
        if each.level.codes
        and not each.amounts
        and (each.role is Role.SENSITIVE or each.source.name in named or each.name in named)
    )


def diversity_facts(records: FileRecords, ladders: Ladders, rules: RiskRules) -> FactTable | None:
    """How much a class of equal keys still gives away of sensitive variables."""
    variables = sensitive_variables(records.design, rules)
    if not variables:
        return None
    rows = records.sample.rows[Entity.PERSON]
    keys = [replace(column, values=column.values[rows]) for column in ladders.columns]
    sensitive = [
        SensitiveColumn.of(each.name, codes_of(records, each, Entity.PERSON), each.level.codes)
        for each in variables
    ]
    measured = diversity(
        keys,
        sensitive,
        least=rules.diversity,
        furthest=rules.closeness,
        missing=rules.missing,
    )
    lines: list[tuple[Fact, ...]] = [
        (
            variable_text(variable).show(),
            each.classes,
            each.few_values.records,
            each.low_entropy.records,
            each.not_recursive.records,
            each.too_far.records,
            round(each.largest_distance, 3),
        )
        for variable, each in zip(variables, measured, strict=True)
    ]
    heads = ("variable", "classes", "few", "entropy", "recursive", "far", "furthest")
    return FactTable(
        name="diversity",
        title=sentence("release.diversity.title", l=rules.diversity, t=rules.closeness),
        headings=tuple(sentence(f"release.diversity.{head}") for head in heads),
        rows=tuple(lines),
        note=sentence("release.diversity.note"),
    )


def special_of(
    ladders: Ladders,
    rows: np.ndarray,
    names: Sequence[Text],
    rules: RiskRules,
    progress: Progress = no_progress,
) -> SpecialUniques | None:
    """Which keys make records special (SUDA), with the first keys of the ladder."""
    columns = _of_rows(ladders.columns[:MOST_SPECIAL], rows)
    if len(columns) < 2:
        return None
    measured = special_uniques(columns, missing=rules.missing, progress=progress)
    scored = measured.scores > 0
    bounds = [1.0, 2.0, 6.0, 24.0, 120.0, 720.0]
    ends: list[float | None] = [*bounds[1:], None]
    scores = [
        (
            low,
            high,
            int(
                np.count_nonzero(scored & (measured.scores >= low) & _below(measured.scores, high))
            ),
        )
        for low, high in zip(bounds, ends, strict=True)
    ]
    disclosure = measured.disclosure[scored]
    return SpecialUniques(
        contributions=tuple(
            (name, float(share)) for name, share in zip(names, measured.contributions, strict=False)
        ),
        scores=tuple(score for score in scores if score[2]),
        records=measured.uniques,
        disclosure=float(disclosure.mean()) if disclosure.size else None,
    )


def _below(scores: np.ndarray, high: float | None) -> np.ndarray:
    below: np.ndarray = np.ones(scores.size, dtype=bool) if high is None else scores < high
    return below


def sample_only_facts(
    records: FileRecords,
    ladders: Ladders,
    plan: ReleasePlan,
    draws: Draws,
    truth: tuple[int, float],
    progress: Progress = no_progress,
) -> FactTable | None:
    """What a model would say who has the file only, beside the truth, and how far it is off.

    Args:
        records: The file.
        ladders: Its keys.
        plan: The fraction and the number of keys that are known.
        draws: Random numbers for samples.
        truth: Population uniques and expected matches as the census tells them.
        progress: Told how far it is.
    """
    rows = records.sample.rows[Entity.PERSON]
    known = ladders.columns[: plan.risk.known_keys or len(ladders.columns)]
    population = ladders.sampled.size
    fraction = rows.size / population
    if not known or not rows.size or fraction >= 1:
        return None
    try:
        estimate = estimated_uniques(_of_rows(known, rows), fraction)
        digests = records.store.digests(Entity.PERSON)
        few = slice(0, _MOST_MODEL)
        error = error_by_draws(
            [replace(column, values=column.values[few]) for column in known],
            fraction,
            lambda draw: draws.words(digests[few], release_counter("model"), draw),
            number=50 if population <= _MOST_MODEL else 10,
            progress=progress,
        )
    except SdcensusError:
        return None
    return FactTable(
        name="sample-only",
        title=sentence("release.sample_only.title"),
        headings=tuple(
            sentence(f"release.sample_only.{head}")
            for head in ("measure", "estimate", "truth", "error", "bias")
        ),
        rows=(
            (
                str(sentence("release.sample_only.uniques")),
                round(estimate.population_uniques, 1),
                truth[0],
                round(error.population_uniques, 3),
                round(error.bias_uniques, 3),
            ),
            (
                str(sentence("release.sample_only.matches")),
                round(estimate.expected_matches, 1),
                round(truth[1], 1),
                round(error.expected_matches, 3),
                round(error.bias_matches, 3),
            ),
        ),
        note=sentence("release.sample_only.note", n=error.draws),
    )


def _of_rows(columns: Sequence[KeyColumn], rows: np.ndarray) -> list[KeyColumn]:
    return [replace(column, values=column.values[rows]) for column in columns]
