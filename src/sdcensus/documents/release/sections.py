"""The tables of a release document as they are written: types, allowed words, unknown settings."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from sdcensus.documents.plan.sections import Name as FileName
from sdcensus.documents.release.recodes import (
    Merge,
    Recoding,
    merges_of,
    numbers_of,
    recodings_of,
)
from sdcensus.documents.schema.sections import Section
from sdcensus.documents.toml.lines import KeyPath
from sdcensus.documents.toml.values import (
    Label,
    LanguageCodes,
    Word,
    WrongValueError,
    one_of,
)
from sdcensus.errors import unknown
from sdcensus.model.release.licence import LicenceClass
from sdcensus.model.release.plan import (
    Blanks,
    Documentation,
    LargeHouseholds,
    Layout,
    MicrodataFormat,
    MissingValues,
    SmallOther,
)

#: Of whom households that exchange places have equally many, and the age at which they begin.
MATCHED = {"size": None, "children_by_sex": 15, "adults_by_sex": None, "older_by_sex": 65}
#: Denominators of more digits than this are no share that anybody means.
_LONGEST = 18


def _share(value: object) -> Fraction:
    """A share as it is meant: 0.1 is a tenth, and "1/3" a third."""
    example = 'should be a share above 0 and at most 1, such as 0.1 or "1/3"'
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise WrongValueError(((), example))
    if isinstance(value, float) and not math.isfinite(value):
        raise WrongValueError(((), example))
    try:
        share = Fraction(str(value).strip())
    except (ValueError, ZeroDivisionError):
        raise WrongValueError(((), example)) from None
    if not 0 < share <= 1:
        raise WrongValueError(((), f"{example}; {value} is not"))
    if len(str(share.denominator)) > _LONGEST:
        raise WrongValueError(((), f"{example}; {value} has too many digits"))
    return share


def _level(value: object) -> float:
    """An accepted share, from 0 to 1."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not math.isfinite(value) or not 0 <= value <= 1:  # type: ignore[arg-type, operator]
        raise WrongValueError(((), "should be a share between 0 and 1, such as 0.01"))
    return float(value)  # type: ignore[arg-type]


def _names(value: object) -> list[str]:
    """Names, each once; an empty list says nothing."""
    if not isinstance(value, list):
        raise WrongValueError(((), 'should be a list such as ["age", "ed@parish"]'))
    wrong: list[tuple[KeyPath, str]] = []
    names: list[str] = []
    for at, name in enumerate(value):
        if not isinstance(name, str) or not name.strip():
            wrong.append(((at,), "should be a text in double quotes"))
        elif name.strip() in names:
            wrong.append(((at,), f"{name.strip()!r} stands twice. Leave it once."))
        else:
            names.append(name.strip())
    if wrong:
        raise WrongValueError(*wrong)
    return names


def _words(kind: type[Any], called: str) -> BeforeValidator:
    """Words of an enumeration, each once."""

    def check(value: object) -> list[Any]:
        names = _names(value)
        known = [word.value for word in kind]
        wrong: list[tuple[KeyPath, str]] = [
            ((at,), unknown(called, name, known))
            for at, name in enumerate(names)
            if name not in known
        ]
        if wrong:
            raise WrongValueError(*wrong)
        if not names:
            raise WrongValueError(((), f"should name at least one, of: {', '.join(known)}"))
        return [kind(name) for name in names]

    return BeforeValidator(check)


def _exempt(value: object) -> dict[str, str]:
    """Variables with reasons, or a list of them."""
    if isinstance(value, list):
        return dict.fromkeys(_names(value), "")
    if not isinstance(value, dict):
        raise WrongValueError(
            ((), 'should be a list of variables, or a table such as { hours_worked = "known to" }')
        )
    wrong: list[tuple[KeyPath, str]] = [
        ((name,), "should be the reason, as a text in double quotes")
        for name, reason in value.items()
        if not isinstance(reason, str)
    ]
    if wrong:
        raise WrongValueError(*wrong)
    return {name.strip(): reason.strip() for name, reason in value.items()}


def _importance(value: object) -> dict[str, float]:
    if not isinstance(value, dict):
        raise WrongValueError(((), "should be a table such as { age = 2, sex = 1 }"))
    wrong: list[tuple[KeyPath, str]] = [
        ((name,), 'should be a number above 0, such as 2, or "never" for a key that is not blanked')
        for name, weight in value.items()
        if weight != "never"
        and (
            isinstance(weight, bool)
            or not isinstance(weight, int | float)
            or not math.isfinite(weight)
            or weight <= 0
        )
    ]
    if wrong:
        raise WrongValueError(*wrong)
    return {
        name: math.inf if weight == "never" else float(weight) for name, weight in value.items()
    }


def _shares(value: object) -> dict[str, float]:
    if not isinstance(value, dict):
        raise WrongValueError(((), "should be a table such as { age = 0.05 }"))
    wrong: list[tuple[KeyPath, str]] = []
    shares: dict[str, float] = {}
    for name, share in value.items():
        try:
            shares[name] = _level(share)
        except WrongValueError as error:
            wrong.append(((name,), str(error)))
    if wrong:
        raise WrongValueError(*wrong)
    return shares


def _effect(value: object) -> float:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not math.isfinite(value) or value <= 0:  # type: ignore[arg-type, operator]
        raise WrongValueError(((), "should be a number above 0, such as 1.5"))
    return float(value)  # type: ignore[arg-type]


Share = Annotated[Fraction, BeforeValidator(_share)]
AcceptedShare = Annotated[float, BeforeValidator(_level)]
Recodings = Annotated[dict[str, Recoding], BeforeValidator(recodings_of)]
Numbers = Annotated[dict[str, int], BeforeValidator(numbers_of)]
Merges = Annotated[dict[str, list[Merge]], BeforeValidator(merges_of)]
Exempt = Annotated[dict[str, str], BeforeValidator(_exempt)]
Shares = Annotated[dict[str, float], BeforeValidator(_shares)]
Importance = Annotated[dict[str, float], BeforeValidator(_importance)]
Names = Annotated[list[str], BeforeValidator(_names)]


class HeadSection(Section):
    """What stands above all tables."""

    name: FileName = ""
    title: Label = ""
    abstract: Label = ""
    producer: Label = ""
    contact: Word = ""
    store: Word
    office: Word = "office"
    licence: Annotated[LicenceClass, one_of(LicenceClass, "licence class")] = (
        LicenceClass.PUBLIC_USE
    )
    preset: Word = ""


class RiskSection(Section):
    """``[risk]``."""

    ladder: Names = Field(default_factory=list)
    k: int = Field(default=3, ge=1)
    missing: Annotated[MissingValues, one_of(MissingValues, "way to count missing values")] = (
        MissingValues.ADJUST
    )
    known_keys: int | None = Field(default=None, ge=1)
    composition: Names = Field(default_factory=list)
    sensitive: Names = Field(default_factory=list)
    closeness: AcceptedShare = 0.5
    diversity: int = Field(default=2, ge=1)
    sampled: Share | None = None


class DesignSection(Section):
    """``[[design]]``."""

    name: FileName
    households: Share | None = None
    persons: Share | None = None
    keep: Names = Field(default_factory=list)
    drop: Names = Field(default_factory=list)
    recode: Recodings = Field(default_factory=dict)
    top_code: Numbers = Field(default_factory=dict)
    bottom_code: Numbers = Field(default_factory=dict)
    merge: Merges = Field(default_factory=dict)
    optional: Names = Field(default_factory=list)


class ThresholdsSection(Section):
    """``[thresholds]``."""

    persons: int = Field(default=250, ge=0)
    households: int = Field(default=60, ge=0)
    exempt: Exempt = Field(default_factory=dict)
    small_other: Annotated[SmallOther, one_of(SmallOther, "rule for a small rest")] = (
        SmallOther.MERGE_NEXT
    )
    groupings: Word | None = None
    approved_by: Word = ""


class InstitutionsSection(Section):
    """``[institutions]``."""

    where: Word


class LargeHouseholdsSection(Section):
    """``[large_households]``."""

    above: int = Field(ge=1)
    treatment: Annotated[LargeHouseholds, one_of(LargeHouseholds, "treatment")] = (
        LargeHouseholds.DRAW_AGAIN
    )
    age_shift: int = Field(default=2, ge=1)


class AcceptanceSection(Section):
    """``[acceptance]``."""

    expected_matches: AcceptedShare | None = None
    population_uniques: AcceptedShare | None = None
    not_anonymous: AcceptedShare | None = None
    household_risk: AcceptedShare | None = None
    composition_uniques: AcceptedShare | None = None
    expected_matches_of_file: AcceptedShare | None = None
    population_uniques_of_file: AcceptedShare | None = None
    not_anonymous_of_file: AcceptedShare | None = None
    composition_uniques_of_file: AcceptedShare | None = None
    unchanged_amounts: AcceptedShare | None = None


class SwapSection(Section):
    """``[swap]``."""

    rate_by: Word = "household-risk"
    share: AcceptedShare
    match: Names = Field(default_factory=lambda: list(MATCHED))
    within: Word = ""
    age: Word = ""
    sex: Word = ""


class TreatmentSection(Section):
    """``[[treatment]]``."""

    method: Word
    designs: Names = Field(default_factory=list)


class SuppressSection(Section):
    """``[suppress]``."""

    k: int = Field(default=3, ge=1)
    keys: Names = Field(default_factory=list)
    importance: Importance = Field(default_factory=dict)
    strata: Word = ""
    designs: Names = Field(default_factory=list)
    blanks: Annotated[Blanks, one_of(Blanks, "way to count companions")] = Blanks.OWN


class SurveySection(Section):
    """``[[survey]]``."""

    name: Word
    households: int = Field(default=0, ge=0)
    persons: int = Field(default=0, ge=0)
    design_effect: float | None = Field(default=None, gt=0)


class IntruderSection(Section):
    """``[[intruder]]``."""

    name: Word = "intruder"
    keys: Names = Field(default_factory=list)
    coverage: AcceptedShare = 1.0
    file_errors: Shares = Field(default_factory=dict)
    external_errors: Shares = Field(default_factory=dict)
    file_error: AcceptedShare = 0.0
    external_error: AcceptedShare = 0.0
    years: int = Field(default=0, ge=-120, le=120)
    moves: AcceptedShare = 0.0
    disagreeing: int = Field(default=1, ge=0)
    designs: Names = Field(default_factory=list)


class ModelSection(Section):
    """``[[model]]``."""

    name: Word
    formula: Word
    where: Word = ""


class ExtractSection(Section):
    """``[[extract]]``."""

    name: FileName
    variables: Names = Field(default_factory=list)
    where: Word = ""


class MakeSection(Section):
    """``[make]``."""

    design: Word = ""
    formats: Annotated[list[MicrodataFormat], _words(MicrodataFormat, "format")] = Field(
        default_factory=lambda: [MicrodataFormat.CSV]
    )
    documentation: Annotated[list[Documentation], _words(Documentation, "documentation")] = Field(
        default_factory=lambda: [Documentation.DDI, Documentation.HTML]
    )
    layout: Annotated[Layout, one_of(Layout, "layout")] = Layout.LINKED
    imputation_flags: Names = Field(default_factory=list)
    members_by: Word = ""
    nonresponse_weight: Word = ""
    weight_classes: int = Field(default=10, ge=1)
    delete: Word | None = None
    harmonisation: Word | None = None
    languages: LanguageCodes = Field(default_factory=list)


#: Names of the one table each, and of the lists of tables.
TABLES: dict[str, type[Section]] = {
    "risk": RiskSection,
    "thresholds": ThresholdsSection,
    "acceptance": AcceptanceSection,
    "institutions": InstitutionsSection,
    "large_households": LargeHouseholdsSection,
    "swap": SwapSection,
    "suppress": SuppressSection,
    "make": MakeSection,
}
LISTS: dict[str, type[Section]] = {
    "design": DesignSection,
    "treatment": TreatmentSection,
    "survey": SurveySection,
    "intruder": IntruderSection,
    "model": ModelSection,
    "extract": ExtractSection,
}
