"""Answers for the public: every one from the closed lattice, under the policy, protected.

The one road of the product: counted cells of declared codes, the office's method, the policy's
rules on published numbers, sums of published values. What leaves this module is public.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from sdcensus._version import __version__
from sdcensus.errors import SpecError
from sdcensus.methods.method import Method
from sdcensus.model.confidential import Confidential
from sdcensus.model.policy.policy import Policy, UserRole
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.published.area_outlines import square_of
from sdcensus.model.published.census_facts import CensusFacts
from sdcensus.model.published.figures import FigureLimits
from sdcensus.model.published.record_changes import RecordChange, record_changes
from sdcensus.model.schema.variable import Entity
from sdcensus.model.sentences import sentence
from sdcensus.model.spec.levels_told_apart import unfiltered
from sdcensus.model.spec.question import Question
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.model.text import Text
from sdcensus.model.vocabulary import AmountFigure
from sdcensus.risk.looks.sums import SumBudget
from sdcensus.session.answer.answers import (
    Answer as Answer,
    Checked as Checked,
    DataVersions as DataVersions,
)
from sdcensus.session.answer.asked_figures import refused_figure
from sdcensus.session.answer.budgets import OpenedBudget, refuse_online
from sdcensus.session.answer.catalogue import Catalogue, make_catalogue
from sdcensus.session.answer.cells import (
    answer_cells,
    low_reliability,
    worked_example,
)
from sdcensus.session.answer.delivery import delivered
from sdcensus.session.answer.numbers import PublishedNumbers
from sdcensus.session.answer.reading import ReadingFacts, reading_facts
from sdcensus.session.answer.recipe import Compiled, compile_offered, verdict_of_shown
from sdcensus.session.census.census import Census
from sdcensus.session.gate.gate import GateReport
from sdcensus.session.policy import (
    Outcome,
    ReasonCode,
    Ruling,
    Verdict,
    VerdictReason,
    amount_policy,
    ask,
    decide,
    told_of_amount,
)
from sdcensus.session.protect.few_contributors import contributors_needed, least_behind
from sdcensus.session.protect.smallest_group import (
    GroupRule,
    in_force,
    judging_method,
)

#: How much memory published tables may take that are kept for the next question.
KEPT_BYTES = 128 << 20
#: More cells than this are not counted for one answer, however few of them are shown.
MOST_COUNTED = 5_000_000


class TableService(Confidential):
    """Answers questions about one census under one policy. Thread-safe.

    Args:
        census: The census.
        policy: What may be asked.
        methods: How tables are protected, by what they count.
        sums: How sums of amounts are protected, by whose amounts they are.
        source, date: Whose numbers these are and when they were published, as files say it.
        budgets, sum_budgets: The look budgets of what is open; confidential.
        gate: What the gate found before it was opened; confidential.
        smallest_group: Groups that are published below this are not broken down further; that of
            the policy if it is not said, and never less.
        planned: Whether a plan of the office publishes with the same numbers.
        kept_bytes: How much memory tables may take that are kept for the next question.
    """

    __slots__ = (
        "_catalogue",
        "_methods",
        "_numbers",
        "_of_amounts",
        "_planned",
        "_rule",
        "_sums",
        "budgets",
        "census",
        "date",
        "office",
        "policy",
        "risks",
        "source",
        "sum_budgets",
    )

    def __init__(
        self,
        census: Census,
        policy: Policy,
        methods: Mapping[Entity, Method],
        *,
        sums: Mapping[Entity, Method] | None = None,
        source: Text = Text(),
        date: str = "",
        budgets: tuple[OpenedBudget, ...] = (),
        sum_budgets: tuple[SumBudget, ...] = (),
        gate: GateReport | None = None,
        smallest_group: int | None = None,
        planned: bool = False,
        kept_bytes: int = KEPT_BYTES,
    ) -> None:
        refuse_online(policy, census, methods, smallest_group)
        self.census = census
        self.policy = policy
        self.budgets = budgets
        self.sum_budgets = sum_budgets
        self.risks = gate
        self.source, self.date = source, date
        #: The folder of the office whose plan publishes with the same numbers, if there is one.
        self.office: Path | None = None
        self._catalogue: Catalogue | None = None
        self._methods = dict(methods)
        self._planned = planned
        self._rule = GroupRule(in_force(policy, UserRole.PUBLIC, smallest_group))
        for method in self._methods.values() if self._rule else ():
            judging_method(method)
        self._sums = dict(sums or {})
        _check_sums(policy, self._methods, self._sums)
        self._of_amounts = {
            (rule.variable, counts): amount_policy(policy, rule, counts=counts)
            for rule in policy.amounts
            for counts in (False, True)
        }
        self._numbers = PublishedNumbers(
            census, policy, self._methods, self._sums, self._rule, kept_bytes
        )

    def __repr__(self) -> str:
        return f"<TableService of {self.census.schema.census.name!r}: confidential>"

    @property
    def catalogue(self) -> Catalogue:
        """What can be asked for; found out once."""
        if self._catalogue is None:
            self._catalogue = make_catalogue(self.policy, self.verdict)
        return self._catalogue

    @property
    def methods(self) -> Mapping[Entity, Method]:
        """How tables are protected, by what they count; confidential."""
        return self._methods

    @property
    def sums(self) -> Mapping[Entity, Method]:
        """How sums are protected, by whose amounts they are; confidential."""
        return self._sums

    def map(self, variable: str, level: str, *, degrees: bool = False) -> dict[str, Any] | None:
        """The areas of a level as GeoJSON; ``None`` where the census has no map of them.

        Args:
            variable: The geography.
            level: One of its levels.
            degrees: In longitude and latitude; else in the coordinates in which it is drawn.

        Raises:
            SpecError: Degrees are wanted, and nobody knows the system of the coordinates.
            MissingExtra: It needs the projection library, which is not installed.
        """
        from sdcensus.session.census.maps import area_map, area_map_in_degrees

        draw = area_map_in_degrees if degrees else area_map
        return draw(self.census, variable, level)

    def mapped_levels(self, variable: str) -> frozenset[str]:
        """The levels of a geography that there is a map of."""
        from sdcensus.session.census.maps import mapped_levels

        return mapped_levels(self.census, variable)

    @property
    def has_maps(self) -> bool:
        """Whether any area that is offered lies somewhere: on a map, or as a square by its code."""
        return any(
            bool(self.mapped_levels(offered.variable.name))
            or any(square_of(code.code) is not None for code in offered.variable.codes[:3])
            for population in self.catalogue.populations
            for offered in population.areas
        )

    @property
    def cautions(self) -> tuple[str, ...]:
        """What the office should know about its methods, each sentence once."""
        sentences: list[str] = []
        if RecordChange.SMALL_COUNTS in record_changes(self.census.origin.lineage):
            sentences.append(sentence("small_counts.store.served"))
        for method in (*self._methods.values(), *self._sums.values()):
            sentences += method.claims().cautions
        return tuple(dict.fromkeys(sentences))

    @property
    def versions(self) -> DataVersions:
        """Which numbers it gives."""
        origin = self.census.origin
        method = next(iter(self._methods.values()))
        return DataVersions(
            data=origin.data_version,
            keys=method.key_version,
            method=method.described_name,
            package=__version__,
            policy=self.policy.name,
            secret_id=origin.secret_id,
            smallest_group=self.smallest_group,
        )

    @property
    def smallest_group(self) -> int:
        """Groups that are published below this are not broken down; 0 for no rule. Public."""
        return self._rule.smallest or 0

    def least_behind(self, amount: str) -> int:
        """How many are published at least behind a figure of an amount. Public."""
        return least_behind(self.policy, amount, self._rule.smallest)

    @property
    def reading(self) -> ReadingFacts:
        """What readers are told about all its figures. Public."""
        return reading_facts(
            list(self._methods.values()),
            self.policy.online_for(UserRole.PUBLIC),
            measure=self.policy.answers,
            smallest_group=self.smallest_group,
            planned=self._planned,
            lineage=self.census.origin.lineage,
        )

    def verdict(self, spec: TableSpec, role: str | UserRole = UserRole.PUBLIC) -> Verdict:
        """What the policy says of a table, by code lists and by published numbers."""
        return decide(self.policy, spec, published=self._numbers.judging, role=role).verdict

    def check(self, question: Question, role: str | UserRole = UserRole.PUBLIC) -> Checked:
        """What code lists say about a question; nothing is counted.

        Raises:
            QuestionError: The question names something that does not exist.
        """
        parts = self._parts(question)
        checks = [self._checked(part, question, role) for part in parts]
        reasons = tuple(dict.fromkeys(each for check in checks for each in check.verdict.reasons))
        return replace(checks[0], verdict=replace(checks[0].verdict, reasons=reasons))

    def _checked(self, part: Question, asked: Question, role: str | UserRole) -> Checked:
        """What code lists say about a question that is asked, or one of which it is computed."""
        policy = self._policy(part, asked)
        compiled = compile_offered(part, policy, self._methods)
        limits = policy.role(role)
        verdict = refused_figure(self.policy, asked, compiled.spec.of)
        if verdict is None:
            verdict = ask(policy, compiled.spec, role=role, cells=compiled.cells)
            if verdict.outcome is not Outcome.REFUSED:
                verdict = verdict_of_shown(policy, compiled, verdict)
        return Checked(
            question=asked,
            spec=compiled.watched,
            cells=compiled.cells,
            limit=limits.cells,
            dimensions=compiled.dimensions,
            most_dimensions=limits.dimensions,
            verdict=told_of_amount(self.policy, asked.figure, verdict),
        )

    def watched(self, question: Question) -> TableSpec:
        """The table of a question in the sense of the watch; nothing is judged or counted.

        Raises:
            QuestionError: The question names something that does not exist.
        """
        part = self._parts(question)[0]
        return compile_offered(part, self._policy(part, question), self._methods).watched

    def answer(
        self,
        question: Question,
        role: str | UserRole = UserRole.PUBLIC,
        *,
        progress: Progress = no_progress,
    ) -> Answer:
        """Answer a question. A refusal is an answer too: it has reasons and no table.

        Args:
            question: What is asked for.
            role: Who asks. Roles differ in how large their tables may be, and in nothing else.
            progress: Told how far it is.

        Raises:
            QuestionError: The question names something that does not exist.
        """
        answers = []
        for part in self._parts(question):
            answers.append(self._answered(part, question, role, progress))
            if answers[-1].table is None:
                return answers[-1]
        return self._computed(question, answers)

    def _computed(self, question: Question, answers: Sequence[Answer]) -> Answer:
        """The answer to a question, from those to the questions that it is computed of."""
        figure = question.figure
        if figure is None or figure.figure is AmountFigure.SUM:
            return answers[0]
        from sdcensus.session.figures.answers import computed_table

        tables = [answer.table for answer in answers if answer.table is not None]
        table = computed_table(question, tables, self.policy, self.least_behind(figure.amount))
        cells = table.values.size
        return replace(answers[0], table=table, parts=None, cells=cells, example=None)

    def _answered(
        self, part: Question, asked: Question, role: str | UserRole, progress: Progress
    ) -> Answer:
        """The answer to a question that is asked, or to one of which it is computed."""
        policy = self._policy(part, asked)
        compiled = compile_offered(part, policy, self._methods)
        refused = refused_figure(self.policy, asked, compiled.spec.of)
        ruling = self._ruling(compiled, policy, role) if refused is None else Ruling(refused)
        limits = policy.role(role)
        answer = Answer(
            question=asked,
            spec=compiled.watched,
            table=None,
            parts=None,
            cells=compiled.cells,
            limit=limits.cells,
            dimensions=compiled.dimensions,
            most_dimensions=limits.dimensions,
            verdict=told_of_amount(self.policy, asked.figure, ruling.verdict),
        )
        if ruling.verdict.outcome is Outcome.REFUSED:
            return answer
        compiled = compiled.measured(policy)
        published, provenance = self._numbers.of(compiled.counted, progress)
        brackets = policy.online_for(role).brackets
        reliable = FigureLimits.of_brackets(brackets)
        cells = low_reliability(answer_cells(compiled, published, ruling, reliable), brackets)
        return replace(
            answer,
            table=delivered(
                compiled,
                cells,
                provenance,
                ruling.verdict,
                claims=self._numbers.method(compiled.spec).claims(),
                listed=self.census.origin.listed,
                source=self.source,
                date=self.date,
                census=CensusFacts.of(self.census.schema.census),
                limits=reliable,
                contributors=contributors_needed(policy, compiled.spec, self._rule.smallest),
                computed=part.measure != asked.measure,
            ),
            parts=cells.parts,
            example=worked_example(compiled.axes, cells) if compiled.figure is None else None,
        )

    # ------------------------------------------------------------------------------ the policy

    def _parts(self, question: Question) -> tuple[Question, ...]:
        """The questions of which a figure is computed; a count or a sum is itself."""
        # Here and not above: figures are computed from answers.
        from sdcensus.session.figures.answers import parts_of

        return parts_of(question, self.policy)

    def _policy(self, part: Question, asked: Question) -> Policy:
        """What may be asked of an amount, of counts that a figure of it needs, or of counts."""
        figure = asked.figure
        if figure is None:
            return self.policy
        return self._of_amounts.get((figure.amount, part.figure is None), self.policy)

    def _ruling(self, compiled: Compiled, policy: Policy, role: str | UserRole) -> Ruling:
        rules = policy.online_for(role)
        counted = self._rule.counted(compiled.counted).cells
        if rules.ones is not None or rules.ones_and_twos is not None:
            counted = max(counted, self._rule.counted(unfiltered(compiled.spec)).cells)
        if counted > MOST_COUNTED:
            asked = ask(policy, compiled.spec, role=role, cells=compiled.cells)
            reason = VerdictReason(
                ReasonCode.TOO_MANY_CELLS,
                f"The answer needs {counted:,} cells to be counted, and at most"
                f" {MOST_COUNTED:,} are. Ask for coarser categories, or for fewer of them.",
                words="too-many-cells",
                values=(("limit", MOST_COUNTED), ("found", counted)),
            )
            return Ruling(Verdict((*asked.reasons, reason)))
        ruling = decide(
            policy,
            compiled.spec,
            published=self._numbers.judging,
            role=role,
            cells=compiled.cells,
        )
        if ruling.verdict.outcome is Outcome.REFUSED:
            return ruling
        return replace(ruling, verdict=verdict_of_shown(policy, compiled, ruling.verdict))


def _check_sums(
    policy: Policy, methods: Mapping[Entity, Method], sums: Mapping[Entity, Method]
) -> None:
    """Refuse to offer sums that nothing protects.

    Raises:
        SpecError: A policy offers them, and there is no method for sums.
    """
    for rule in policy.amounts:
        of = policy.schema.variable(rule.variable).entity
        if rule.adds_up and of in methods and of not in sums:
            raise SpecError(
                f"The policy {policy.name!r} offers sums or means of {rule.variable!r}, and there"
                f" is no method for sums of {of.plural}. Give one: sums={{...}}, such as"
                " CellKeySums(secret=...)."
            )
