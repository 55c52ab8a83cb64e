"""What was measured about the use of a file, as tables for the office and in plain words."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from sdcensus.errors import Sentence
from sdcensus.microdata.method import Fact, FactTable
from sdcensus.model.quantities import decimal_text, share_text
from sdcensus.model.schema.variable import Entity
from sdcensus.model.sentences import in_every_language, sentence
from sdcensus.model.text import Text
from sdcensus.session.release.utility.results import (
    ReleaseUtility,
    SurveyVerdict,
    VariableUtility,
)
from sdcensus.utility.records.amounts import QUANTILES

#: Digits of measures.
_DIGITS = 4
#: Estimates that a table shows, those farthest from the census first.
MOST_ESTIMATES = 60
_UNITS = {
    Entity.PERSON: sentence("release_utility.unit.persons"),
    Entity.HOUSEHOLD: sentence("release_utility.unit.households"),
}


def utility_facts(utility: ReleaseUtility, most_pairs: int) -> tuple[FactTable, ...]:
    """The tables of facts; those without any line are left out."""
    tables = (
        _losses(utility),
        _variables(utility),
        _pairs(utility, most_pairs),
        _amounts(utility),
        _estimates(utility),
        _surveys(utility),
        _models(utility),
    )
    return tuple(table for table in tables if table.rows)


def utility_verdict(utility: ReleaseUtility) -> tuple[Sentence, ...]:
    """What the office should know, in plain words."""
    return tuple(_verdict(utility))


def _verdict(utility: ReleaseUtility) -> Iterator[Sentence]:
    judged = [check.inside for check in utility.estimates if check.inside is not None]
    if judged:
        yield sentence(
            "release_utility.verdict.covered",
            inside=sum(judged),
            n=len(judged),
            share=_percent(sum(judged) / len(judged)),
        )
    worst = max(utility.variables, key=lambda each: each.together.total_variation, default=None)
    if worst is not None:
        yield sentence(
            "release_utility.verdict.worst",
            variable=worst.variable.name,
            points=_figure(worst.together.largest, 2),
            code=_code(worst),
        )
    changed = [each for each in utility.variables if each.changes.total_variation > 1e-9]
    yield (
        sentence("release_utility.verdict.changes", n=len(changed), of=len(utility.variables))
        if changed
        else sentence("release_utility.verdict.no_changes")
    )
    for verdict in utility.surveys:
        yield survey_sentence(verdict)
    for model in utility.models:
        if model.problem:
            yield sentence("release_utility.verdict.no_model", problem=model.problem)
            continue
        overlaps = [overlap for _, _, overlap in model.side_by_side() if overlap is not None]
        yield sentence(
            "release_utility.verdict.model",
            model=model.question.name,
            overlap=_percent(sum(overlaps) / len(overlaps)) if overlaps else "-",
            low=_percent(min(overlaps)) if overlaps else "-",
        )


def survey_sentence(verdict: SurveyVerdict) -> Sentence:
    """The file beside one survey, with numbers."""
    if verdict.ratio is None or verdict.file_error is None or verdict.error is None:
        return sentence("release_utility.survey.unknown", survey=verdict.survey.name)
    return sentence(
        f"release_utility.survey.{verdict.precision.value}",
        survey=verdict.survey.name,
        persons=verdict.persons,
        file_error=_figure(100 * verdict.file_error, 2),
        error=_figure(100 * verdict.error, 2),
        effect=_figure(verdict.design_effect, 2),
    )


def _percent(share: float) -> Text:
    return in_every_language(lambda language: share_text(share, language))


def _figure(value: float, digits: int) -> Text:
    return in_every_language(lambda language: decimal_text(value, digits, language))


def _round(value: float | None, digits: int = _DIGITS) -> float | None:
    return None if value is None or not math.isfinite(value) else round(value, digits)


def _table(name: str, headings: str, rows: list[tuple[Fact, ...]], note: str = "") -> FactTable:
    words = [sentence(f"release_utility.heading.{key}") for key in headings.split()]
    return FactTable(
        name=f"utility-{name}",
        title=sentence(f"release_utility.title.{name}"),
        headings=tuple(words),
        rows=tuple(rows),
        note=sentence(f"release_utility.note.{note}") if note else None,
    )


def _code(variable: VariableUtility) -> str:
    codes = variable.variable.level.codes
    return codes[variable.together.place].code if codes else ""


def _losses(utility: ReleaseUtility) -> FactTable:
    """Means over variables and pairs of what each step costs."""
    variables, pairs = utility.variables, utility.pairs
    kept = [each.detail for each in variables if each.detail is not None]
    rows: list[tuple[Fact, ...]] = []
    if variables:
        steps = (
            (
                "recodes",
                None if not kept else 1 - sum(kept) / len(kept),
                None,
                [pair.by_recodes for pair in pairs],
            ),
            (
                "sampling",
                None,
                sum(each.sampling.total_variation for each in variables) / len(variables),
                [pair.by_sampling for pair in pairs],
            ),
            (
                "changes",
                None,
                sum(each.changes.total_variation for each in variables) / len(variables),
                [pair.by_changes for pair in pairs],
            ),
        )
        for key, detail, moved, differences in steps:
            sizes = [abs(difference) for difference in differences if difference is not None]
            mean = sum(sizes) / len(sizes) if sizes else None
            label = sentence(f"release_utility.step.{key}")
            rows.append((label, _round(detail), _round(moved), _round(mean)))
    return _table("losses", "step detail_lost moved association", rows, "losses")


def _variables(utility: ReleaseUtility) -> FactTable:
    rows: list[tuple[Fact, ...]] = [
        (
            each.variable.name,
            _UNITS[each.variable.entity],
            len(each.variable.level.codes),
            _round(each.detail),
            _round(each.sampling.total_variation),
            _round(each.changes.total_variation),
            _round(each.together.total_variation),
            _round(each.together.hellinger),
            _round(each.together.largest, 2),
            _code(each),
        )
        for each in utility.variables
    ]
    headings = "variable units codes detail sampling changes together hellinger largest code"
    return _table("variables", headings, rows, "variables")


def _pairs(utility: ReleaseUtility, most: int) -> FactTable:
    rows: list[tuple[Fact, ...]] = [
        (
            *pair.names,
            _round(pair.census),
            _round(pair.recoded),
            _round(pair.sample),
            _round(pair.file),
            _round(pair.by_recodes),
            _round(pair.by_sampling),
            _round(pair.by_changes),
            _round(pair.total_variation),
        )
        for pair in utility.pairs[:most]
    ]
    headings = (
        "variable second v_census v_recoded v_sample v_file recodes sampling changes together"
    )
    table = _table("pairs", headings, rows, "pairs")
    if utility.left_out:
        note = sentence("release_utility.note.some_pairs", n=utility.left_out)
        table = replace(table, note=note)
    return table


def _amounts(utility: ReleaseUtility) -> FactTable:
    rows: list[tuple[Fact, ...]] = []
    for amount in utility.amounts:
        sides = (amount.census, amount.sample, amount.file)
        figures: list[tuple[Sentence, list[float | None]]] = [
            (sentence("release_utility.figure.mean"), [side.mean for side in sides]),
            (sentence("release_utility.figure.variance"), [side.variance for side in sides]),
            (sentence("release_utility.figure.absent"), [side.absent for side in sides]),
        ]
        for at, share in enumerate(QUANTILES):
            values = [side.quantiles[at] if side.quantiles else None for side in sides]
            label = sentence("release_utility.figure.quantile", share=round(100 * share))
            figures.append((label, values))
        rows += [
            (amount.variable.name, label, *(_round(value) for value in values))
            for label, values in figures
        ]
    label = sentence("release_utility.figure.correlation")
    for each in utility.correlations:
        values = [each.census, each.sample, each.file]
        rows.append((" × ".join(each.names), label, *(_round(value) for value in values)))
    return _table("amounts", "variable figure census sample file", rows)


def _estimates(utility: ReleaseUtility) -> FactTable:
    farthest = sorted(
        utility.estimates,
        key=lambda check: (-(check.errors or 0.0), check.variable, check.code and check.code.code),
    )
    rows: list[tuple[Fact, ...]] = []
    for check in farthest[:MOST_ESTIMATES]:
        scale = 1 if check.code is None else 100
        error = check.estimate.error
        rows.append(
            (
                check.variable,
                sentence("release_utility.figure.mean") if check.code is None else check.code.code,
                _round(scale * check.truth),
                _round(scale * check.estimate.value),
                None if error is None else _round(scale * error),
                _round(check.errors, 2),
                _round(check.estimate.design_effect, 2),
            )
        )
    headings = "variable code census file error errors effect"
    return _table("estimates", headings, rows, "estimates")


def _surveys(utility: ReleaseUtility) -> FactTable:
    rows: list[tuple[Fact, ...]] = [
        (
            verdict.survey.name,
            verdict.survey.households or None,
            verdict.persons or None,
            _round(verdict.design_effect, 2),
            None if verdict.error is None else _round(100 * verdict.error, 3),
            None if verdict.file_error is None else _round(100 * verdict.file_error, 3),
            _round(verdict.ratio, 2),
        )
        for verdict in utility.surveys
    ]
    headings = "survey households persons effect survey_error file_error ratio"
    return _table("surveys", headings, rows, "surveys")


def _models(utility: ReleaseUtility) -> FactTable:
    rows: list[tuple[Fact, ...]] = []
    for model in utility.models:
        if model.problem:
            rows.append((model.question.name, model.problem, None, None, None, None, None))
        for census, file, overlap in model.side_by_side():
            rows.append(
                (
                    model.question.name,
                    census.name,
                    _round(census.value, 6),
                    _round(census.error, 6),
                    None if file is None else _round(file.value, 6),
                    None if file is None else _round(file.error, 6),
                    _round(overlap, 3),
                )
            )
    headings = "model coefficient census census_error file error overlap"
    return _table("models", headings, rows, "models")
