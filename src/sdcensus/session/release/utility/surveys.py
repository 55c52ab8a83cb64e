"""How precise a file is beside the household surveys of the country."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import median

from sdcensus.model.release.plan import Survey
from sdcensus.model.schema.variable import Entity
from sdcensus.session.release.utility.results import EstimateCheck, SurveyVerdict


def survey_verdicts(
    surveys: Sequence[Survey],
    estimates: Sequence[EstimateCheck],
    population: int,
    household_size: float,
) -> tuple[SurveyVerdict, ...]:
    """Compare the standard errors of a file with those that surveys would have.

    A survey of ``n`` of ``N`` persons has the error ``sqrt(deff · p (1 - p) / n · (1 - n / N))`` of
    a share ``p``; its design effect is the one of the plan, else the median one of the file, as
    both draw whole households.

    Args:
        surveys: The surveys.
        estimates: What was measured; shares of persons are compared.
        population: Persons of the census.
        household_size: Persons in a household on average.
    """
    checks = [
        check
        for check in estimates
        if check.code is not None
        and check.entity is Entity.PERSON
        and 0 < check.truth < 1
        and check.estimate.error is not None
    ]
    effects = [
        check.estimate.design_effect for check in checks if check.estimate.design_effect is not None
    ]
    own_effect = median(effects) if effects else 1.0
    verdicts = []
    for survey in surveys:
        persons = min(survey.persons or round(survey.households * household_size), population)
        effect = own_effect if survey.design_effect is None else survey.design_effect
        finite = max(0.0, 1 - persons / population) if population else 0.0
        errors = [
            (
                check.estimate.error or 0.0,
                math.sqrt(effect * check.truth * (1 - check.truth) / persons * finite),
            )
            for check in checks
            if persons
        ]
        ratios = [_ratio(file, other) for file, other in errors]
        verdicts.append(
            SurveyVerdict(
                survey=survey,
                persons=persons,
                design_effect=effect,
                error=median(other for _, other in errors) if errors else None,
                file_error=median(file for file, _ in errors) if errors else None,
                ratio=median(ratios) if ratios else None,
            )
        )
    return tuple(verdicts)


def _ratio(error: float, other: float) -> float:
    """One error divided by another; who asks everybody has none."""
    if other > 0:
        return error / other
    return math.inf if error > 0 else 1.0
