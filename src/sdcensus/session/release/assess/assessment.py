"""Assessing designs: risk, neighbours, intruders, what cumulates, what users lose, a verdict."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from sdcensus.errors import Sentence
from sdcensus.microdata.method import FactTable
from sdcensus.microdata.release.give_aways import GIVE_AWAYS
from sdcensus.microdata.release.groupings import small_categories
from sdcensus.microdata.release.records import FileRecords
from sdcensus.microdata.release.words import short_recode
from sdcensus.model.confidential import Confidential
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.quantities import share_text
from sdcensus.model.release.file_variable import FileDesign
from sdcensus.model.release.plan import IntruderRules, MissingValues
from sdcensus.model.schema.variable import Entity
from sdcensus.model.secret import Purpose
from sdcensus.model.sentences import in_every_language, sentence
from sdcensus.model.text import Text
from sdcensus.report.new_folder import check_new_folder
from sdcensus.report.release.files import require_assessment_libraries, write_assessment
from sdcensus.report.release.results import (
    DesignResult,
    IntruderRow,
    LadderRow,
    MeasureVerdict,
    ReleaseAssessment,
    judged_step,
)
from sdcensus.session.release.assess.amounts import amount_findings
from sdcensus.session.release.assess.cumulation import Cumulation, cumulation
from sdcensus.session.release.assess.intruder import finds_keys, intruder_row, simulate_intruder
from sdcensus.session.release.assess.ladders import Ladders, variable_text
from sdcensus.session.release.assess.measures import (
    diversity_facts,
    sample_only_facts,
    special_of,
)
from sdcensus.session.release.assess.neighbours import Neighbours
from sdcensus.session.release.assess.proposal import write_proposal
from sdcensus.session.release.assess.sample_only import (
    sample_risk,
    sample_risk_table,
    sampled_share,
)
from sdcensus.session.release.assess.verdict import (
    BY_MEMBERS,
    Alternative,
    until_accepted,
    verdicts,
)
from sdcensus.session.release.designed import DesignedRecords, designed
from sdcensus.session.release.opened import OpenRelease
from sdcensus.session.release.swaps import moved_facts
from sdcensus.session.release.utility.measurement import measured_utility
from sdcensus.session.release.utility.stations import CensusStation

#: SUDA and models look at every record several times: of larger files they are left out.
MOST_SEARCHED = 2_000_000


@dataclass(frozen=True, slots=True, eq=False, kw_only=True, repr=False)
class AssessedDesign(Confidential):
    """A design with what was measured, and what others need of it."""

    told: DesignedRecords
    result: DesignResult
    together: Cumulation

    def __repr__(self) -> str:
        return "<AssessedDesign: confidential>"


def assess(
    opened: OpenRelease,
    out: Path | None = None,
    *,
    language: str | None = None,
    progress: Progress = no_progress,
) -> ReleaseAssessment:
    """Assess every design of a plan.

    Args:
        opened: The plan, the census and the secret.
        out: A new folder for the page, the workbook and the tables; ``None`` for none.
        language: Of the page.
        progress: Told how far it is.
    """
    if out is not None:
        check_new_folder(out)
        require_assessment_libraries()
    opened.store.verify_once(progress)
    results = []
    census = CensusStation(opened.store, opened.plan)
    for design in opened.designs():
        # Only what was measured is kept: the records of one design at a time.
        told = designed(opened, design, progress)
        results.append(assessed_design(opened, told, census=census, progress=progress).result)
        del told
    assessment = assessment_of(opened, results)
    if out is not None:
        write_assessment(assessment, out, language, progress=progress)
        write_proposal(opened, out)
    return assessment


def assessment_of(opened: OpenRelease, results: Sequence[DesignResult]) -> ReleaseAssessment:
    """Designs that were assessed, with what the page says about all of them."""
    plan, store = opened.plan, opened.store
    census = store.schema.census
    share = sampled_share(store, plan.risk.sampled)
    sizes = population_of(opened, share)
    return ReleaseAssessment(
        census=census.name,
        title=plan.title or Text.of(plan.name),
        licence=plan.licence,
        persons=sizes[Entity.PERSON],
        households=sizes.get(Entity.HOUSEHOLD),
        designs=tuple(results),
        k=plan.risk.k,
        known_keys=plan.risk.known_keys,
        missing=plan.risk.missing if share is None else MissingValues.CATEGORY,
        surveys=plan.surveys,
        preset=plan.preset,
        notes=(*map(Sentence, plan.cautions), *_sample_notes(share)),
    )


def population_of(opened: OpenRelease, share: float | None) -> dict[Entity, int]:
    """How many units there are in the population; of a sample about how many."""
    store = opened.store
    return {
        spec.entity: round(store.rows(spec.entity) / (share or 1.0))
        for spec in store.schema.entities
    }


def _sample_notes(share: float | None) -> Iterator[Sentence]:
    if share is not None:
        words = in_every_language(lambda language: share_text(share, language, digits=2))
        yield sentence("release.sample_only.store", share=words)


def assessed_design(
    opened: OpenRelease,
    told: DesignedRecords,
    *,
    census: CensusStation | None = None,
    progress: Progress = no_progress,
) -> AssessedDesign:
    """Measure everything about one design.

    Args:
        opened: The plan, the census and the secret.
        told: The records of the design.
        census: The columns of the census where they serve several designs.
        progress: Told how far it is.
    """
    plan, records = opened.plan, told.records
    rules, rows = plan.risk, records.sample.rows[Entity.PERSON]
    share = sampled_share(opened.store, rules.sampled)
    ladders = Ladders(records, rules, share)
    ladder = ladders.rows(rules.missing, progress)
    other = next(each for each in MissingValues if each is not rules.missing)
    judged = judged_step(ladder, rules.known_keys)
    neighbours = Neighbours(records, plan, share)
    measures = _verdicts(opened, ladders, ladder, neighbours, share, progress)
    together = cumulation(plan, opened.store, records, progress)
    searched = rows.size <= MOST_SEARCHED
    names = [variable_text(variable) for variable in records.design.ladder]
    diverse = diversity_facts(records, ladders, rules)
    model = _model(opened, ladders, records, judged, share, progress) if searched else None
    amounts = amount_findings(opened, told)
    known_keys = 0 if judged is None or share is not None else judged.step
    exchanged, said = moved_facts(opened.store, records, rules, known_keys)
    utility = measured_utility(opened.store, records, plan, census=census, progress=progress)
    given = tuple(facts for facts in records.facts if facts.name == GIVE_AWAYS)
    others = (facts for facts in records.facts if facts.name != GIVE_AWAYS)
    design = records.design.design
    households = records.sample.rows.get(Entity.HOUSEHOLD)
    result = DesignResult(
        name=design.name,
        fraction=str(design.fraction),
        persons=rows.size,
        households=None if households is None else households.size,
        geographies=tuple(map(variable_text, records.design.geographies)),
        recodes=tuple(_recodes(told)),
        ladder=ladder,
        ladder_otherwise=() if share is not None else ladders.rows(other, progress),
        verdicts=measures,
        composition=neighbours.risk,
        intruders=() if share is not None else tuple(_intruders(opened, told, progress)),
        special=special_of(ladders, rows, names, rules, progress) if searched else None,
        diversity=() if diverse is None else (diverse,),
        sample_only=() if model is None else (model,),
        cumulation=together.facts,
        groupings=tuple(_groupings(opened, told)),
        giveaways=given,
        utility=utility.facts,
        further=(*amounts.facts, *exchanged, *records.sample.facts, *others),
        refusals=(*amounts.refusals, *together.refusals),
        notes=tuple(
            dict.fromkeys(
                (*neighbours.notes(), *said, *_notes(records, given, together), *amounts.notes)
            )
        ),
    )
    return AssessedDesign(told=told, result=result, together=together)


def _verdicts(
    opened: OpenRelease,
    ladders: Ladders,
    ladder: tuple[LadderRow, ...],
    neighbours: Neighbours,
    share: float | None,
    progress: Progress,
) -> tuple[MeasureVerdict, ...]:
    """Every measure of a design; what would help is looked for where one fails."""
    rules, acceptance = opened.plan.risk, opened.plan.acceptance
    judged, population = judged_step(ladder, rules.known_keys), population_of(opened, share)
    judge = partial(
        verdicts,
        judged,
        neighbours.risk,
        acceptance,
        population,
        fraction=ladders.fraction,
        ladder=ladder,
    )
    failing = {each.measure for each in judge() if not each.passes}
    tried = partial(until_accepted, acceptance=acceptance, population=population)
    alternatives: tuple[Alternative, ...] = ()
    if judged is not None and failing - BY_MEMBERS:
        alternatives = tuple(tried(ladders.alternatives(judged.step, rules.missing, progress)))
    others = tuple(tried(neighbours.alternatives(progress))) if failing & BY_MEMBERS else ()
    return judge(alternatives=alternatives, neighbours=others)


def _notes(
    records: FileRecords, given: Sequence[FactTable], together: Cumulation
) -> Iterator[Sentence]:
    """What the office should know; a treatment that is used twice says the same twice."""
    yield from _left_aside(records.design)
    for table in given:
        yield from _given(table)
    yield from (*together.notes, *records.sample.notes, *records.notes)


def _given(table: FactTable) -> Iterator[Sentence]:
    """That categories of the file tell areas that it does not."""
    variables = ", ".join(dict.fromkeys(str(row[0]) for row in table.rows))
    yield sentence("release_sample.give_aways.found", n=len(table.rows), variables=variables)


def _model(
    opened: OpenRelease,
    ladders: Ladders,
    records: FileRecords,
    judged: LadderRow | None,
    share: float | None,
    progress: Progress,
) -> FactTable | None:
    """What a model says: beside the truth of a census, or with its error for a sample."""
    if judged is None:
        return None
    draws = opened.draws(Purpose.SAMPLE)
    if share is None:
        truth = (judged.population_uniques, judged.expected_matches)
        return sample_only_facts(records, ladders, opened.plan, draws, truth, progress)
    keys, sampled = ladders.columns[: judged.step], ladders.sampled
    return sample_risk_table(
        sample_risk(opened.store, keys, sampled, draws, share=share, progress=progress)
    )


def _left_aside(design: FileDesign) -> Iterator[Sentence]:
    """Keys that the file does not hold, and recodes of a preset that the census cannot have."""
    if design.not_in_file:
        yield sentence("release.aside.keys", keys=", ".join(design.not_in_file))
    for reason in design.not_applied:
        yield sentence("release.aside.recode", reason=reason)


def _recodes(told: DesignedRecords) -> Iterator[str]:
    """What a design recodes, in words; small categories that were merged are counted only."""
    merged = 0
    for variable in told.design.variables:
        recode = variable.recode
        if recode is None:
            continue
        merged += bool(recode.groups)
        how = short_recode(variable)
        if how.by_language:
            yield sentence("release.recoded", variable=variable_text(variable), how=how)
    if merged:
        yield sentence("release.merged", n=merged)


def _intruders(
    opened: OpenRelease, told: DesignedRecords, progress: Progress
) -> Iterator[IntruderRow]:
    """Every intruder of the plan who tries this design; one who knows the ladder if none does."""
    draws = opened.draws(Purpose.SAMPLE)
    named = opened.plan.intruder or (IntruderRules(),)
    for rules in named:
        if rules.designs and told.design.design.name not in rules.designs:
            continue
        if not finds_keys(told.design, rules):
            continue
        matches = simulate_intruder(opened.store, told.records, rules, draws, progress=progress)
        yield intruder_row(matches)


def _groupings(opened: OpenRelease, told: DesignedRecords) -> Iterator[FactTable]:
    """Categories that are too small, with what is proposed."""
    proposal = small_categories(opened.store, told.design, opened.plan.thresholds)
    rows = [row for row in proposal.rows() if row.group is not None or row.drop]
    if not rows:
        return
    sizes = proposal.sizes()
    heads = ("variable", "code", "label", "size", "into")
    yield FactTable(
        name="groupings",
        title=sentence("release.groupings.title"),
        headings=tuple(sentence(f"release.groupings.{head}") for head in heads),
        rows=tuple(
            (row.variable, row.code, row.label.show(), sizes[row.variable, row.code], row.into)
            for row in rows
        ),
        note=sentence("release.groupings.note"),
    )
