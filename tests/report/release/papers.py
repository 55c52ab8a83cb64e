"""A file and an assessment with everything that papers have to stand: no record of any census."""

from __future__ import annotations

import numpy as np

from sdcensus.microdata.method import FactTable
from sdcensus.model.release.licence import LicenceClass
from sdcensus.model.release.plan import Survey
from sdcensus.model.release.release_file import (
    ColumnKind,
    ReleaseColumn,
    ReleaseFile,
    ReleaseTable,
)
from sdcensus.model.schema.variable import Code, CodeKind, Entity
from sdcensus.model.sentences import sentence
from sdcensus.model.text import Text
from sdcensus.report.release.results import (
    CompositionRisk,
    DesignResult,
    IntruderRow,
    LadderRow,
    MeasureVerdict,
    ReleaseAssessment,
    SpecialUniques,
)

KEYS = ("Age", "Sex", "Parish", "Marital status", "Occupation", "Ethnicity", "Citizenship")
PERSONS, HOUSEHOLDS = 100_000, 30_000


def label(english: str, spanish: str = "") -> Text:
    return Text.of({"en": english, "es": spanish})


def ladder(fraction: float, scale: float, skip: str = "", factor: float = 1.0) -> list[LadderRow]:
    records = int(PERSONS * fraction)
    keys = [key for key in KEYS if key != skip]
    rows = []
    for step, key in enumerate(keys, start=1):
        unique = int(min(records, scale * factor * 3.1**step))
        rows.append(
            LadderRow(
                step=step,
                key=label(key),
                records=records,
                sample_uniques=min(records, 2 * unique + 5),
                sample_uniques_confounded=unique // 9,
                expected_matches=unique * 0.7,
                population_uniques=unique,
                population_uniques_confounded=unique // 12,
                not_anonymous=min(records, unique * 2),
                global_risk=unique * 1.5,
                households=records // 3,
                households_at_risk=unique // 2,
                household_risk=0.021,
            )
        )
    return rows


def verdicts(value: float) -> tuple[MeasureVerdict, ...]:
    return (
        MeasureVerdict(
            measure="expected_matches",
            value=value * 0.7,
            accepted=0.01,
            change=sentence("derive.rules_kept"),
        ),
        MeasureVerdict(measure="population_uniques", value=value, accepted=0.005),
        MeasureVerdict(measure="not_anonymous", value=value * 2, accepted=0.02),
        MeasureVerdict(measure="household_risk", value=None, accepted=0.05),
    )


FACTS = FactTable(
    name="diversity",
    title=sentence("derive.table.rules"),
    headings=(sentence("derive.head.rule"), sentence("derive.head.share")),
    rows=(("=1+1", 0.125), ("<b>", None)),
    note=sentence("derive.about.plan"),
)


def design(name: str, fraction: float, scale: float, skip: str = "") -> DesignResult:
    rows = ladder(fraction, scale, skip)
    last = rows[-1]
    return DesignResult(
        name=name,
        fraction=f"1/{round(1 / fraction)}",
        persons=last.records,
        households=last.records // 3,
        geographies=() if skip else (label("Parish", "Parroquia"),),
        recodes=("Age: 75 and over is one code",),
        ladder=tuple(rows),
        ladder_otherwise=tuple(ladder(fraction, scale, skip, 1.6)),
        verdicts=verdicts(last.population_uniques / last.records),
        composition=CompositionRisk(
            known=(label("Age"), label("Sex")),
            households=last.records // 3,
            sample_uniques=900,
            population_uniques=410,
            not_anonymous=700,
            expected_matches=512.5,
        ),
        intruders=(
            IntruderRow(
                name="employer", keys=4, coverage=0.3, claims=120, correct=31, wrong=89, missed=400
            ),
            IntruderRow(
                name="everybody",
                keys=6,
                coverage=1.0,
                file_errors=0.02,
                outside_errors=0.05,
                years=2,
                claims=310,
                correct=200,
                wrong=110,
                missed=1000,
                uniques=700,
                expected=333.25,
            ),
        ),
        special=SpecialUniques(
            contributions=((label("Age"), 0.5), (label("Occupation"), 0.25)),
            scores=((0.0, 10.0, 812), (10.0, None, 31)),
        ),
        diversity=(FACTS,),
    )


ASSESSMENT = ReleaseAssessment(
    census="Census <2021>",
    title=label("Public use file", "Archivo de uso público"),
    licence=LicenceClass.PUBLIC_USE,
    persons=PERSONS,
    households=HOUSEHOLDS,
    designs=(
        design("A", 0.1, 0.01, "Parish"),
        design("B", 0.2, 0.02, "Parish"),
        design("C", 0.1, 0.35),
    ),
    surveys=(
        Survey(name="Labour force survey", households=1_250, persons=3_900),
        Survey(name="Living conditions", households=800),
    ),
    settings={"k": "3", "ladder": "age, sex, …"},
    date="2026-11-18",
)


def codes(*names: str) -> tuple[Code, ...]:
    return tuple(Code(str(at + 1), label(name)) for at, name in enumerate(names))


def release_file(
    persons: int = 300, licence: LicenceClass = LicenceClass.PUBLIC_USE
) -> ReleaseFile:
    """A file with long labels, empty codes, missing kinds, negative and missing amounts."""
    households = persons // 3
    at = np.arange(persons)
    of = np.minimum(at // 3, max(households - 1, 0))
    sexes = (*codes("Male", "Female"), Code("9", label("Not stated"), CodeKind.NOT_STATED))
    long_label = "Persons who worked for pay, profit or family gain, été " * 6
    work = (
        Code("", label(long_label[:300], "Trabajó " * 30)),
        Code("01", label("x" * 300)),
        Code("=1+1", label("<script>alert(1)</script>")),
        Code("98", label("Not applicable", "No aplica"), CodeKind.NOT_APPLICABLE),
    )
    ages = tuple(Code(f"{age:03}", label(f"{age} years", f"{age} años")) for age in range(101))
    weights = np.where(at % 2 == 0, 9_500_000, 10_500_000)
    household = ReleaseTable(
        entity=Entity.HOUSEHOLD,
        columns=(
            ReleaseColumn(
                name="household",
                kind=ColumnKind.NUMBER_OF_UNIT,
                label=label("Number of the household"),
                values=np.arange(1, households + 1),
            ),
            ReleaseColumn(
                name="tenure",
                kind=ColumnKind.CODES,
                label=label("Tenure", "Tenencia"),
                values=np.arange(households) % 2,
                codes=codes("Owned", "Rented"),
                universe=label("Households in private dwellings"),
            ),
            ReleaseColumn(
                name="weight",
                kind=ColumnKind.WEIGHT,
                label=label("Weight", "Peso"),
                values=np.full(households, 10_000_000),
                decimals=6,
            ),
        ),
    )
    person = ReleaseTable(
        entity=Entity.PERSON,
        columns=(
            ReleaseColumn(
                name="person",
                kind=ColumnKind.NUMBER_OF_UNIT,
                label=label("Number of the person"),
                values=at + 1,
            ),
            ReleaseColumn(
                name="household",
                kind=ColumnKind.NUMBER_OF_UNIT,
                label=label("Number of the household"),
                values=of + 1,
            ),
            ReleaseColumn(
                name="sex",
                kind=ColumnKind.CODES,
                label=label("Sex", "Sexo"),
                values=at % 3,
                codes=sexes,
            ),
            ReleaseColumn(
                name="age",
                kind=ColumnKind.CODES,
                label=label("Age", "Edad"),
                values=(7 * at) % 101,
                codes=ages,
                description=label("Completed years at the date of the census"),
                recoded=label("100 years and over is one code", "100 años y más es un código"),
            ),
            ReleaseColumn(
                name="work",
                kind=ColumnKind.CODES,
                label=label("Worked last week"),
                values=at % 4,
                codes=work,
            ),
            ReleaseColumn(
                name="income",
                kind=ColumnKind.AMOUNT,
                label=label("Income"),
                values=(at - 20) * 125,
                decimals=2,
                absent=at % 10 == 0,
                unit="EC$",
            ),
            ReleaseColumn(
                name="sex_flag",
                kind=ColumnKind.IMPUTATION_FLAG,
                label=label("Sex was imputed"),
                values=(at % 50 == 0).astype(np.int64),
                codes=codes("No", "Yes"),
            ),
            ReleaseColumn(
                name="weight",
                kind=ColumnKind.WEIGHT,
                label=label("Weight", "Peso"),
                values=weights,
                decimals=6,
            ),
        ),
    )
    return ReleaseFile(
        name="puf-2021",
        title=label("Public use file of the census 2021", "Archivo de uso público del censo 2021"),
        tables=(household, person),
        licence=licence,
        languages=("en", "es"),
        census=label("Census of Population and Housing 2021"),
        country=label("Isla"),
        reference_date="2021-05-12",
        abstract=label("One household in ten, with all its members."),
        producer=label("Office of Statistics & Sons", "Oficina de Estadística"),
        contact="data@stats.example",
        sampling=label("A systematic sample of one household in ten."),
        notes=(label("Some values were changed so that nobody can be recognised."),),
        removed=(
            ("name", label("Name", "Nombre"), label("identifies persons", "identifica")),
            ("ed", label("Enumeration district"), label("geography is not released")),
        ),
        citation=label("Office of Statistics: Public use file of the census 2021, version 1."),
        data_version="abc",
    )
