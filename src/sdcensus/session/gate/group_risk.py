"""What a plan would give away, asked before it is published: for ``publish`` and ``plan check``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from sdcensus.model.confidential import Confidential
from sdcensus.model.linked.products import Closing
from sdcensus.model.method.registry import Part, declared
from sdcensus.model.plan.plan import Protection
from sdcensus.model.policy.policy import BROKEN_DOWN
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.quantities import decimal_text, share_text
from sdcensus.model.schema.variable import Entity
from sdcensus.model.sentences import in_every_language, in_language, sentence, speak
from sdcensus.model.spec.headings import entity_text, entity_words
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.report.assessment.broken_down import broken_down_lines, help_line, refused_line
from sdcensus.risk.groups.broken_down import MOST_WORK, BrokenDown, GroupNoise
from sdcensus.risk.groups.shown_cells import kinds_of_tables
from sdcensus.risk.looks.budget import Looks, look_budget_of_tables
from sdcensus.session.answer.budgets import open_budgets
from sdcensus.session.assess.knowledge import noise_of, variance_of
from sdcensus.session.gate.amount_ties import amount_facts
from sdcensus.session.gate.broken_down import (
    broken_down_in_tables,
    divided_further,
    group_noise,
    measured,
    smallest_group_text,
)
from sdcensus.session.gate.gate import GateReport, risks_of_tables
from sdcensus.session.gate.sum_looks import PlanSumLooks, looks_at_sums
from sdcensus.session.guard.run import read_lock
from sdcensus.session.looks.budget import LIMIT
from sdcensus.session.publish.resolution import Resolved

#: How many units are put into cells at most, for the evaluation of a publication.
EVALUATION_WORK = 200_000_000
#: Menus of larger tables are not measured here: it takes long, and no noise carries them.
MOST_DIMENSIONS = 5
#: Told cautions, and what nobody has decided, before a first publication.
Foretelling = Callable[[tuple[str, ...], str], object]


@dataclass(frozen=True, slots=True, repr=False)
class PlanLooks(Confidential):
    """The noise of a plan against the look budget of its tables, for one kind of unit.

    Attributes:
        of: What is counted.
        looks: The worst cell of all tables together.
        chance: With which averaging finds its count; ``None`` where cells have no noise of their
            own.
        limit: The chance that the office accepts.
    """

    of: Entity
    looks: Looks
    chance: float | None
    limit: float

    def __repr__(self) -> str:
        return f"<PlanLooks of {self.of.plural}: confidential>"

    @property
    def short(self) -> bool:
        """Whether the noise falls short of the budget."""
        return self.chance is not None and self.chance > self.limit

    @property
    def sentence(self) -> str:
        """The figure in words."""
        head = sentence(
            "recommend.plan_looks.head",
            units=entity_words(self.of),
            looks=in_every_language(partial(decimal_text, self.looks.looks, 1)),
            title=in_every_language(self.looks.title_in),
        )
        if self.chance is None:
            return sentence("recommend.plan_looks.unknown", head=head)
        return sentence(
            f"recommend.plan_looks.{'short' if self.short else 'chance'}",
            head=head,
            chance=in_every_language(partial(share_text, self.chance, digits=0)),
            limit=in_every_language(partial(share_text, self.limit, digits=0)),
        )


def gate_of(resolved: Resolved, progress: Progress = no_progress) -> GateReport:
    """Ask the gate about everything that a plan publishes, programmes included."""
    policy = resolved.policy
    limit = BROKEN_DOWN if policy is None else policy.broken_down
    reports = [
        risks_of_tables(
            resolved.census,
            tables,
            partial(resolved.methods.of_protection, protection),
            smallest_group=resolved.smallest_group_of(tables[0]),
            limit=limit,
            where="[protect] of the plan" if policy is None else "[online] of the policy",
            progress=progress,
        )
        for protection, tables in _judged(resolved)
    ]
    return GateReport(
        limit,
        tuple(share for report in reports for share in report.shares),
        tuple(risk for report in reports for risk in report.risks),
    )


def figures_of(resolved: Resolved, progress: Progress = no_progress) -> dict[Entity, str]:
    """What the gate refuses, in figures: a sentence for each kind of unit. For the office only.

    The same for every setting of the plan that changes neither its tables nor their noise. Where a
    kind of unit is protected in several ways, the one that gives most away is told.
    """
    worst: dict[Entity, BrokenDown] = {}
    for protection, tables in _judged(resolved):
        for of in dict.fromkeys(spec.of for spec in tables):
            method = resolved.methods.of_protection(protection, of)
            noise = group_noise(method, resolved.smallest_group_of(tables[0]))
            kinds = divided_further(kinds_of_tables(TableSpec.of_records(tables, of)))
            if not kinds:
                continue
            measure = measured(resolved.census, kinds, of, noise, twins=False, progress=progress)
            if of not in worst or measure.claimed > worst[of].claimed:
                worst[of] = measure
    limit = BROKEN_DOWN if resolved.policy is None else resolved.policy.broken_down
    return {
        of: refused_line(measure, limit, resolved.census.rows(of)) for of, measure in worst.items()
    }


def _judged(resolved: Resolved) -> Iterator[tuple[Protection, list[TableSpec]]]:
    """Tables by how they are protected, without those whose small groups are closed.

    A method that closes cells has rules of its own about small groups.
    """
    for protection, tables in resolved.methods.by_protection(resolved.specs()):
        if declared(Part.METHOD, protection.method).closes != Closing.SUMS:
            yield protection, tables


def measures_of(
    resolved: Resolved, *, most_work: int = MOST_WORK, progress: Progress = no_progress
) -> tuple[BrokenDown, ...]:
    """Everything that the tables of a plan together break down, by what they count."""

    measures: list[BrokenDown] = []
    for protection, tables in _judged(resolved):
        smallest = resolved.smallest_group_of(tables[0])

        def noise(
            of: Entity, protection: Protection = protection, smallest: int | None = smallest
        ) -> GroupNoise:
            return group_noise(resolved.methods.of_protection(protection, of), smallest)

        measures += broken_down_in_tables(
            resolved.census, tables, noise, most_work=most_work, progress=progress
        )
    return tuple(measures)


def builder_cautions(resolved: Resolved) -> tuple[str, ...]:
    """That the policy of a plan opens more than its noise carries, before anything is out.

    Noise is for good: whoever opens a table builder later with stronger noise changes every
    published number. Once something is out, nothing is said: it is too late to choose.
    """
    policy = resolved.policy
    if policy is None or not 0 < (policy.limits.dimensions or 0) <= MOST_DIMENSIONS:
        return ()
    if not _is_first(resolved):
        return ()
    main = resolved.methods.main
    methods = {spec.entity: main(spec.entity) for spec in policy.schema.entities}
    noisy = {of: method for of, method in methods.items() if method.has_own_noise}
    if not noisy or all(budget.met for budget in open_budgets(policy, noisy)):
        return ()
    return (sentence("recommend.later.closed", policy=repr(policy.name)),)


def foretold(resolved: Resolved, before: Foretelling | None) -> tuple[str, ...]:
    """The cautions of a first publication, told before anything is written."""
    cautions = builder_cautions(resolved)
    if before is not None:
        before(cautions, _undecided_builder(resolved))
    return cautions


def _undecided_builder(resolved: Resolved) -> str:
    """What a first publication with noise decides about a builder where no policy does."""
    if resolved.policy is not None or not _is_first(resolved):
        return ""
    noisy = any(method.has_own_noise for method in resolved.methods.used(resolved.specs()))
    return sentence("recommend.later.undecided") if noisy else ""


def _is_first(resolved: Resolved) -> bool:
    """Whether nothing of the series of the census is out yet."""
    lock = read_lock(resolved.office)
    series = lock.series_of(resolved.census.schema.census)
    return not any(table.series == series for table in lock.tables)


def small_group_lines(resolved: Resolved, language: str | None = None) -> Iterator[str]:
    """What all tables of a plan together give away, in sentences for the office."""
    # The figures of the evaluation: a sample will do where tables are very many.
    measures = measures_of(resolved, most_work=EVALUATION_WORK)
    limit = BROKEN_DOWN if resolved.policy is None else resolved.policy.broken_down
    for plan_looks in looks_of(resolved):
        yield in_language(plan_looks.sentence, language)
    for measure in measures:
        for line in broken_down_lines(measure, limit, language):
            units = entity_text(measure.of, language)
            yield speak("assess.left_out.why", language, what=units, why=line)
    if measures:
        helps = help_line(
            measures, smallest_group_text(resolved.census, measures[0].noise), language
        )
        yield from [helps] if helps else []


def looks_of(resolved: Resolved) -> tuple[PlanLooks | PlanSumLooks, ...]:
    """The noise of a plan against its look budget, by what is counted; then by amount."""
    looks: list[PlanLooks | PlanSumLooks] = []
    sums: list[PlanSumLooks] = []
    amounts = [spec.amount.name for spec in resolved.specs() if spec.amount is not None]
    facts = amount_facts(resolved.census, amounts)
    for protection, tables in _judged(resolved):
        if declared(Part.METHOD, protection.method).for_sums:
            for of in dict.fromkeys(spec.of for spec in tables):
                method = resolved.methods.of_protection(protection, of)
                own = [spec for spec in tables if spec.of is of]
                sums += looks_at_sums(own, method, resolved.policy, facts)
            continue
        counted = TableSpec.of_records(tables)
        looks += _looks(resolved, protection, counted) if counted else ()
    return (*looks, *sums)


def _looks(
    resolved: Resolved, protection: Protection, specs: list[TableSpec]
) -> Iterator[PlanLooks]:
    policy = resolved.policy
    limit = LIMIT if policy is None else policy.online.recovery or LIMIT
    for budget in look_budget_of_tables(specs):
        method = resolved.methods.of_protection(protection, budget.of)
        chance = budget.asked.chance(variance_of(method, None), noise_of(method))
        yield PlanLooks(budget.of, budget.asked, chance, limit)
