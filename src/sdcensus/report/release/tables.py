"""What was measured about designs as tables of facts: for the page, the workbook and csv alike."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from sdcensus.errors import Sentence
from sdcensus.microdata.method import Fact, FactTable
from sdcensus.model.release.plan import MissingValues
from sdcensus.model.sentences import Value, in_language, sentence, speak
from sdcensus.model.spec.headings import joined
from sdcensus.model.text import Text
from sdcensus.report.release.results import (
    CompositionRisk,
    DesignResult,
    LadderRow,
    ReleaseAssessment,
)

#: The area of the catalogues that holds the words of all papers about files.
AREA = "release_papers"


def say(key: str, language: str | None, /, **values: Value) -> str:
    """A text of these papers in one language."""
    return speak(f"{AREA}.{key}", language, **values)


def fact_table(
    name: str,
    heads: Sequence[str],
    rows: Iterable[Sequence[Fact]],
    *,
    note: Sentence | None = None,
    **values: Value,
) -> FactTable:
    """A table whose title and headings stand in the catalogue of these papers."""
    return FactTable(
        name=name,
        title=sentence(f"{AREA}.table.{name}", **values),
        headings=tuple(sentence(f"{AREA}.head.{head}") for head in heads),
        rows=tuple(tuple(row) for row in rows),
        note=note,
    )


def share(part: float | None, whole: float | None) -> float | None:
    """A share, or nothing where there is no whole."""
    return None if part is None or not whole else part / whole


def measure_text(measure: str, language: str | None, k: int = 3) -> str:
    """What a measure of acceptance is called."""
    return say(f"measure.{measure}", language, k=k)


def listed(labels: Sequence[Text], language: str | None) -> str:
    """Labels in a sentence."""
    return joined([label.show(language) for label in labels], language)


def design_name(design: DesignResult, language: str | None) -> str:
    """A design as headings call it."""
    return say("design", language, name=design.name)


def geography_text(design: DesignResult, language: str | None) -> str:
    """The areas that a design keeps, in words."""
    return listed(design.geographies, language) or say("no_geography", language)


def recodes_text(design: DesignResult, language: str | None) -> str:
    """What a design recodes, in words."""
    spoken = [in_language(recode, language) for recode in design.recodes]
    return "; ".join(spoken) or say("no_recode", language)


# ------------------------------------------------------------------------------ designs, verdicts


def result_text(design: DesignResult, language: str | None) -> str:
    """Accepted, not accepted, or not judged."""
    key = "accepted" if design.accepted else "refused" if design.judged else "not_judged"
    return say(f"result.{key}", language)


def designs_table(assessment: ReleaseAssessment, language: str | None) -> FactTable:
    """The designs beside each other, in the order of the plan."""
    rows: list[list[Fact]] = [
        [
            design.name,
            result_text(design, language),
            in_language(design.fraction, language),
            geography_text(design, language),
            recodes_text(design, language),
            design.households,
            design.persons,
            share(design.persons, assessment.persons),
        ]
        for design in assessment.designs
    ]
    heads = (
        *("design", "result", "fraction", "geography", "recodes", "households", "persons"),
        "share_persons",
    )
    return fact_table("designs", heads, rows)


def verdicts_table(assessment: ReleaseAssessment, language: str | None) -> FactTable:
    """Each measure of each design against what is accepted."""
    rows: list[list[Fact]] = []
    for design in assessment.designs:
        for verdict in design.verdicts:
            key = "passes" if verdict.passes else "fails"
            rows.append(
                [
                    design.name,
                    measure_text(verdict.measure, language, assessment.k),
                    say(f"result.{key}", language),
                    verdict.value,
                    verdict.accepted,
                    in_language(verdict.change, language) if verdict.change else "",
                ]
            )
    heads = ("design", "measure", "result", "share_measured", "share_accepted", "change")
    return fact_table("verdicts", heads, rows)


# ------------------------------------------------------------------------------ the ladder


def missing_text(missing: MissingValues, language: str | None) -> str:
    """How missing keys are counted, in words."""
    return say(f"missing.{missing.value}", language)


def other_way(missing: MissingValues) -> MissingValues:
    """The other of the two ways."""
    adjust = missing is MissingValues.ADJUST
    return MissingValues.CATEGORY if adjust else MissingValues.ADJUST


_LADDER = (
    *("step", "key", "sample_uniques", "confounded", "share_sample_uniques"),
    *("expected_matches", "share_matches", "population_uniques", "population_confounded"),
    *("share_population_uniques", "share_population", "not_anonymous", "global_risk"),
)
_HOUSEHOLDS = ("households", "households_at_risk", "share_households", "share_household_risk")


def ladder_table(
    assessment: ReleaseAssessment, design: DesignResult, language: str | None, *, otherwise: bool
) -> FactTable:
    """The risk of a design at each step of the ladder: the columns of the study's tables."""
    ladder = design.ladder_otherwise if otherwise else design.ladder
    missing = other_way(assessment.missing) if otherwise else assessment.missing
    rows = [_ladder_facts(assessment, row, language) for row in ladder]
    note = sentence(f"{AREA}.about.ladder_table", k=assessment.k)
    way = sentence(f"{AREA}.missing.{missing.value}")
    name = "ladder-otherwise" if otherwise else "ladder"
    return fact_table(name, _LADDER, rows, note=note, design=design.name, missing=way)


def household_table(
    assessment: ReleaseAssessment, design: DesignResult, language: str | None
) -> FactTable:
    """The risk of households at each step."""
    rows = [
        [row.step, row.key.show(language), *_household_facts(row)]
        for row in design.ladder
        if row.households is not None
    ]
    return fact_table("households", ("step", "key", *_HOUSEHOLDS), rows, design=design.name)


def _ladder_facts(
    assessment: ReleaseAssessment, row: LadderRow, language: str | None
) -> list[Fact]:
    return [
        row.step,
        row.key.show(language),
        row.sample_uniques,
        row.sample_uniques_confounded,
        share(row.sample_uniques, row.records),
        float(row.expected_matches),
        share(float(row.expected_matches), row.sample_uniques),
        row.population_uniques,
        row.population_uniques_confounded,
        share(row.population_uniques, row.records),
        share(row.population_uniques, assessment.persons),
        row.not_anonymous,
        float(row.global_risk),
    ]


def _household_facts(row: LadderRow) -> list[Fact]:
    return [
        row.households,
        row.households_at_risk,
        share(row.households_at_risk, row.households),
        row.household_risk,
    ]


def whole_ladder_table(assessment: ReleaseAssessment, language: str | None) -> FactTable:
    """Every step of every design, counted both ways, in one table for programs."""
    households = any(
        row.households is not None
        for design in assessment.designs
        for row in (*design.ladder, *design.ladder_otherwise)
    )
    rows: list[list[Fact]] = []
    for design in assessment.designs:
        ways = (assessment.missing, other_way(assessment.missing))
        for missing, ladder in zip(ways, (design.ladder, design.ladder_otherwise), strict=True):
            rows += [
                [
                    design.name,
                    missing_text(missing, language),
                    row.records,
                    *_ladder_facts(assessment, row, language),
                    *(_household_facts(row) if households else ()),
                ]
                for row in ladder
            ]
    heads = ("design", "missing", "records", *_LADDER, *(_HOUSEHOLDS if households else ()))
    note = sentence(f"{AREA}.about.ladder_table", k=assessment.k)
    return fact_table("ladders", heads, rows, note=note)


# ------------------------------------------------------------------------------ other risks


def composition_table(assessment: ReleaseAssessment, language: str | None) -> FactTable:
    """The neighbour who knows the members of a household."""
    rows: list[list[Fact]] = [
        [
            design.name,
            listed(risk.known, language),
            risk.households,
            risk.sample_uniques,
            share(risk.sample_uniques, risk.households),
            risk.population_uniques,
            share(risk.population_uniques, risk.households),
            risk.not_anonymous,
            None if risk.expected_matches is None else float(risk.expected_matches),
        ]
        for design in assessment.designs
        if (risk := design.composition) is not None
    ]
    heads = (
        *("design", "known", "households", "alone_in_file", "share_alone_in_file"),
        *("alone_in_population", "share_alone_in_population", "not_anonymous", "expected_matches"),
    )
    return fact_table("composition", heads, rows)


def worst_table(
    designs: Sequence[DesignResult], known_keys: int | None, language: str | None
) -> FactTable:
    """The worst person and the worst household of each design: how sure an intruder may be."""
    rows: list[list[Fact]] = []
    for design in designs:
        measured: list[tuple[str, LadderRow | CompositionRisk, int]] = []
        row = design.judged_row(known_keys)
        if row is not None:
            measured.append(("persons", row, row.records))
        if design.composition is not None:
            risk = design.composition
            measured.append(("households", risk, risk.households))
        for units, risk_of, size in measured:
            mean = share(risk_of.global_risk, size)
            risks = (risk_of.prosecutor_risk, risk_of.journalist_risk)
            rows.append([design.name, say(f"head.{units}", language), *risks, mean])
    heads = ("design", "kind_of_unit", "share_prosecutor", "share_journalist", "share_marketer")
    return fact_table("worst", heads, rows, note=sentence(f"{AREA}.about.worst"))


def intruders_table(assessment: ReleaseAssessment) -> FactTable:
    """What simulated intruders claim, and how often rightly."""
    rows: list[list[Fact]] = [
        [
            design.name,
            row.name,
            row.keys,
            row.coverage,
            row.file_errors,
            row.outside_errors,
            row.years,
            row.claims,
            row.correct,
            row.wrong,
            row.missed,
            share(row.correct, row.claims),
            row.uniques,
            None if row.expected is None else float(row.expected),
        ]
        for design in assessment.designs
        for row in design.intruders
    ]
    heads = (
        *("design", "intruder", "keys", "share_coverage", "share_file_errors"),
        *("share_outside_errors", "years", "claims", "correct", "wrong", "missed"),
        *("share_correct", "sample_uniques", "expected_matches"),
    )
    return fact_table("intruders", heads, rows)


def contributions_table(assessment: ReleaseAssessment, language: str | None) -> FactTable:
    """Which keys make records special."""
    rows: list[list[Fact]] = [
        [design.name, label.show(language), float(part)]
        for design in assessment.designs
        if design.special is not None
        for label, part in design.special.contributions
    ]
    return fact_table("contributions", ("design", "key", "share_contribution"), rows)


def _score(score: float) -> int | float:
    """A score: those that are sums of factorials are whole."""
    return int(score) if float(score).is_integer() else float(score)


def scores_table(assessment: ReleaseAssessment) -> FactTable:
    """How many records have which score."""
    rows: list[list[Fact]] = [
        [design.name, _score(lower), None if upper is None else _score(upper), records]
        for design in assessment.designs
        if design.special is not None
        for lower, upper, records in design.special.scores
    ]
    return fact_table("scores", ("design", "score_from", "score_to", "records"), rows)


def sizes_table(assessment: ReleaseAssessment, language: str | None) -> FactTable:
    """The sizes of the files beside those of surveys."""
    file, survey = say("kind.file", language), say("kind.survey", language)
    rows: list[list[Fact]] = [
        [design_name(design, language), file, design.households, design.persons]
        for design in assessment.designs
    ]
    rows += [
        [each.name, survey, each.households or None, each.persons or None]
        for each in assessment.surveys
    ]
    return fact_table("sizes", ("name", "kind", "households", "persons"), rows)


#: Further tables of a design by the section in which they stand.
FURTHER = (
    *("diversity", "sample_only", "cumulation", "groupings", "giveaways", "utility", "further"),
)


def further_tables(design: DesignResult, part: str) -> tuple[FactTable, ...]:
    """The tables of one part of a design."""
    tables: tuple[FactTable, ...] = getattr(design, part)
    return tables


def every_table(assessment: ReleaseAssessment, language: str | None) -> Iterator[FactTable]:
    """The tables about all designs that have lines: one sheet and one csv file each."""
    tables = (
        designs_table(assessment, language),
        verdicts_table(assessment, language),
        worst_table(assessment.designs, assessment.known_keys, language),
        whole_ladder_table(assessment, language),
        composition_table(assessment, language),
        intruders_table(assessment),
        contributions_table(assessment, language),
        scores_table(assessment),
        sizes_table(assessment, language),
        *assessment.tables,
    )
    return (table for table in tables if table.rows)
