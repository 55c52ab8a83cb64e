"""Answers for the public: every one from the closed lattice, under the policy, protected.

The one road of the product: counted cells of declared codes, the office's method, the policy's
rules on published numbers, sums of published values. What leaves this module is public.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sdcensus._version import __version__
from sdcensus.errors import SpecError
from sdcensus.methods.method import Method
from sdcensus.methods.notes import notes_for
from sdcensus.model.axis import TOTAL
from sdcensus.model.confidential import Confidential
from sdcensus.model.delivery import DeliveredAxis, DeliveredTable
from sdcensus.model.entity import Entity
from sdcensus.model.headings import number_text, units_text
from sdcensus.model.marks import Mark
from sdcensus.model.policy import Policy, UserRole
from sdcensus.model.policy_levels import unfiltered
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.provenance import Provenance
from sdcensus.model.question import Question
from sdcensus.model.spec_key import spec_key
from sdcensus.model.table import Flag, SparseTable, Table
from sdcensus.model.table_spec import TableSpec
from sdcensus.model.text import LANGUAGES, Text
from sdcensus.model.variable import Role
from sdcensus.session.answering import words
from sdcensus.session.answering.axes import AnswerAxis
from sdcensus.session.answering.budgets import OpenedBudget
from sdcensus.session.answering.caching import RecentlyUsed
from sdcensus.session.answering.catalogue import Catalogue, make_catalogue
from sdcensus.session.answering.cells import (
    AnswerCells,
    PublishedCells,
    WorkedExample,
    answer_cells,
    error_factor,
    low_reliability,
    worked_example,
)
from sdcensus.session.answering.compiling import Compiled, compile_question, compile_total
from sdcensus.session.answering.levels import axis_label, question_heading
from sdcensus.session.census import Census
from sdcensus.session.policy import (
    Outcome,
    Reason,
    ReasonCode,
    Ruling,
    Verdict,
    ask,
    decide,
)

#: How much memory published tables may take that are kept for the next question.
KEPT_BYTES = 128 << 20
#: More cells than this are not counted for one answer, however few of them are shown.
MOST_COUNTED = 5_000_000


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Checked:
    """What can be said of a question before anything is counted.

    Attributes:
        question: The question.
        spec: The table in the sense of the policy.
        cells, limit: How many cells it has, and how many it may have.
        dimensions, most_dimensions: The same for its variables.
        verdict: What rules on code lists say.
    """

    question: Question
    spec: TableSpec
    cells: int
    limit: int | None
    dimensions: int
    most_dimensions: int | None
    verdict: Verdict


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Answer:
    """What the public is told. Public.

    Attributes:
        question: The question.
        spec: The table in the sense of the policy and of the watch: axes as they were asked for,
            the condition narrowed to the codes that are shown.
        table: The table; ``None`` where the policy refuses it.
        parts: How many published values each cell is the sum of; ``None`` where each is one.
        cells, limit: How many cells it has, and how many it may have.
        dimensions, most_dimensions: The same for its variables.
        verdict: What the policy says.
        example: A place where published parts do not add up, if there is one.
    """

    question: Question
    spec: TableSpec
    table: DeliveredTable | None
    parts: np.ndarray[Any, np.dtype[np.int64]] | None
    cells: int
    limit: int | None
    dimensions: int
    most_dimensions: int | None
    verdict: Verdict
    example: WorkedExample | None = None

    @property
    def areas(self) -> int | None:
        """How many areas the table shows or would show."""
        return self.verdict.areas

    @property
    def available(self) -> int | None:
        """How many of them have numbers."""
        return self.verdict.available


@dataclass(frozen=True, slots=True, kw_only=True)
class Versions:
    """Which numbers these are. Public."""

    data: str
    keys: int
    method: str
    package: str
    policy: str
    secret_id: str


class TableService(Confidential):
    """Answers questions about one census under one policy. Thread-safe.

    Args:
        census: The census.
        policy: What may be asked.
        methods: How tables are protected, by what they count.
        source: Whose numbers these are.
        budgets: The look budgets of what is open; confidential.
        kept_bytes: How much memory tables may take that are kept for the next question.
    """

    __slots__ = (
        "_cache",
        "_catalogue",
        "_judged",
        "_methods",
        "_source",
        "budgets",
        "census",
        "policy",
    )

    def __init__(
        self,
        census: Census,
        policy: Policy,
        methods: Mapping[Entity, Method],
        *,
        source: Text = Text(),
        budgets: tuple[OpenedBudget, ...] = (),
        kept_bytes: int = KEPT_BYTES,
    ) -> None:
        self.census = census
        self.policy = policy
        self.budgets = budgets
        self._catalogue: Catalogue | None = None
        self._methods = dict(methods)
        self._source = source
        self._cache: RecentlyUsed[tuple[PublishedCells, Provenance]] = RecentlyUsed(
            kept_bytes, lambda one: one[0].bytes
        )
        self._judged: RecentlyUsed[Table | SparseTable] = RecentlyUsed(
            kept_bytes // 4, lambda one: one.published.nbytes
        )

    def __repr__(self) -> str:
        return f"<TableService of {self.census.schema.census.name!r}: confidential>"

    @property
    def catalogue(self) -> Catalogue:
        """What can be asked for; found out once."""
        if self._catalogue is None:
            self._catalogue = make_catalogue(self.policy, self.verdict)
        return self._catalogue

    def map(self, variable: str, level: str) -> dict[str, Any] | None:
        """The areas of a level as GeoJSON; ``None`` where the census has no map of them."""
        from sdcensus.session.maps import area_map

        return area_map(self.census, variable, level)

    def mapped_levels(self, variable: str) -> frozenset[str]:
        """The levels of a geography that there is a map of."""
        from sdcensus.session.maps import mapped_levels

        return mapped_levels(self.census, variable)

    @property
    def versions(self) -> Versions:
        """Which numbers it gives."""
        origin = self.census.origin
        method = next(iter(self._methods.values()))
        return Versions(
            data=origin.data_version,
            keys=method.key_version,
            method=method.described_name,
            package=__version__,
            policy=self.policy.name,
            secret_id=origin.secret_id,
        )

    def verdict(self, spec: TableSpec, role: str | UserRole = UserRole.PUBLIC) -> Verdict:
        """What the policy says of a table, by code lists and by published numbers."""
        return decide(self.policy, spec, published=self._judging, role=role).verdict

    def check(self, question: Question, role: str | UserRole = UserRole.PUBLIC) -> Checked:
        """What code lists say about a question; nothing is counted.

        Raises:
            QuestionError: The question names something that does not exist.
        """
        compiled = compile_question(question, self.policy)
        limits = self.policy.role(role)
        verdict = ask(self.policy, compiled.spec, role=role, cells=compiled.cells)
        return Checked(
            question=question,
            spec=compiled.watched,
            cells=compiled.cells,
            limit=limits.cells,
            dimensions=compiled.dimensions,
            most_dimensions=limits.dimensions,
            verdict=verdict
            if verdict.outcome is Outcome.REFUSED
            else _of_shown(self.policy, compiled, verdict),
        )

    def watched(self, question: Question) -> TableSpec:
        """The table of a question in the sense of the watch; nothing is judged or counted.

        Raises:
            QuestionError: The question names something that does not exist.
        """
        return compile_question(question, self.policy).watched

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
        compiled = compile_question(question, self.policy)
        if compiled.spec.of not in self._methods:
            raise SpecError(f"Tables of {compiled.spec.of.plural} are not offered.")
        ruling = self._ruling(compiled, role)
        limits = self.policy.role(role)
        made = Answer(
            question=question,
            spec=compiled.watched,
            table=None,
            parts=None,
            cells=compiled.cells,
            limit=limits.cells,
            dimensions=compiled.dimensions,
            most_dimensions=limits.dimensions,
            verdict=ruling.verdict,
        )
        if ruling.verdict.outcome is Outcome.REFUSED:
            return made
        published, provenance = self._published(compiled.counted, progress)
        cells = answer_cells(compiled, published, ruling)
        cells = low_reliability(cells, self.policy.online_for(role).brackets)
        return replace(
            made,
            table=self._delivered(compiled, cells, provenance, ruling.verdict),
            parts=cells.parts,
            example=worked_example(compiled.axes, cells),
        )

    # ------------------------------------------------------------------------------ the policy

    def _ruling(self, compiled: Compiled, role: str | UserRole) -> Ruling:
        rules = self.policy.online_for(role)
        counted = compiled.counted.cells
        if rules.ones is not None or rules.ones_and_twos is not None:
            counted = max(counted, unfiltered(compiled.spec).cells)
        if counted > MOST_COUNTED:
            asked = ask(self.policy, compiled.spec, role=role, cells=compiled.cells)
            reason = Reason(
                ReasonCode.TOO_MANY_CELLS,
                f"The answer needs {counted:,} cells to be counted, and at most"
                f" {MOST_COUNTED:,} are. Ask for coarser categories, or for fewer of them.",
                words="too-many-cells",
                values=(("limit", MOST_COUNTED), ("found", counted)),
            )
            return Ruling(Verdict((*asked.reasons, reason)))
        ruling = decide(
            self.policy,
            compiled.spec,
            published=self._judging,
            role=role,
            cells=compiled.cells,
        )
        if ruling.verdict.outcome is Outcome.REFUSED:
            return ruling
        return replace(ruling, verdict=_of_shown(self.policy, compiled, ruling.verdict))

    def _judging(self, spec: TableSpec) -> Table | SparseTable:
        """The published table of a specification, for rules on published numbers."""

        def make() -> Table | SparseTable:
            if not spec.universe.everything:
                return self._chosen(spec)
            return self._methods[spec.of].protect(self.census.tabulate(spec)).table

        return self._judged.get(_kept_as(spec), make)

    def _chosen(self, spec: TableSpec) -> Table:
        """How many units a condition chooses, by sums of published values: from the lattice too."""
        if spec.axes:
            raise SpecError(f"{spec.title}: tables with a condition are not judged.")
        compiled = compile_total(spec, self.policy)
        published, _ = self._published(compiled.counted, no_progress)
        cells = answer_cells(compiled, published, Ruling(Verdict()))
        return Table(spec, cells.values)

    # ----------------------------------------------------------------------------- the numbers

    def _published(self, spec: TableSpec, progress: Progress) -> tuple[PublishedCells, Provenance]:
        """Published values of the cells that are counted for an answer."""

        def make() -> tuple[PublishedCells, Provenance]:
            progress("counting", 0.0)
            cube = self.census.tabulate(spec)
            progress("protecting", 0.5)
            protected = self._methods[spec.of].protect(cube)
            table = protected.table
            if isinstance(table, SparseTable):
                table = table.whole()
            progress("protecting", 1.0)
            return PublishedCells(table.published, table.flags), protected.provenance

        return self._cache.get(_kept_as(spec), make)

    def _delivered(
        self, compiled: Compiled, cells: AnswerCells, provenance: Provenance, verdict: Verdict
    ) -> DeliveredTable:
        spec = compiled.spec
        # A condition may need finer levels than those that were asked for: they are not the title.
        asked = spec.with_axes(axis.asked for axis in compiled.axes)
        return DeliveredTable(
            name="table",
            title=question_heading(asked),
            axes=tuple(_delivered_axis(axis) for axis in compiled.axes),
            values=cells.values,
            marks=cells.marks,
            unit=Text.of({one: units_text(spec, one) for one in LANGUAGES}),
            notes=tuple(self._notes(compiled, cells, verdict)),
            provenance=replace(provenance, spec_hash=compiled.watched.hash()),
            spec=spec if compiled.declared else None,
            source=self._source,
        )

    def _notes(self, compiled: Compiled, cells: AnswerCells, verdict: Verdict) -> list[Text]:
        claims = self._methods[compiled.spec.of].claims()
        if compiled.declared:
            table = Table(compiled.spec, _numbers(cells), _flags(cells))
            # Areas that are withheld have a sign of their own, which the table explains.
            marks = cells.marks
            whole = marks is None or not np.isin(marks, [Mark.WITHHELD, Mark.BELOW_THRESHOLD]).any()
            notes = [*notes_for(table, claims, legend=not whole)]
        else:
            spec = compiled.spec
            nothing = SparseTable(spec, np.zeros(0, np.uint64), np.zeros(0, np.int64))
            notes = [*notes_for(nothing, claims)]
        if cells.parts is not None:
            factor = error_factor(cells)
            told = {one: _decimal(factor, one) for one in LANGUAGES}
            notes.append(words.filled(words.SUMS, factor=told))
        if any(code.cut for axis in compiled.axes for code in axis.codes):
            notes.append(words.PARTLY)
        if cells.marks is not None and (cells.marks == Mark.LOW_RELIABILITY).any():
            notes.append(words.LOW_RELIABILITY)
        areas, available = verdict.areas, verdict.available
        if areas is not None and available is not None and available < areas:
            figures = {"available": available, "areas": areas, "withheld": areas - available}
            told_areas = {
                name: {one: number_text(figure, one) for one in LANGUAGES}
                for name, figure in figures.items()
            }
            notes.append(words.filled(words.WITHHELD_AREAS, **told_areas))
        return notes


def _kept_as(spec: TableSpec) -> tuple[str, str]:
    """Under what a counted table is kept: its cells, and in which order they stand.

    Axes that are cut to the codes of a question may tell the same apart in another order.
    """
    order = hashlib.blake2b(digest_size=16)
    for axis in spec.axes:
        codes = "\x1f".join(f"{one.level}\x1e{one.code}" for one in axis.codes)
        order.update(f"{axis.variable.name}\x1d{codes}\x1c".encode())
    return spec_key(spec), order.hexdigest()


def _numbers(cells: AnswerCells) -> np.ndarray[Any, np.dtype[np.int64]]:
    """The values as a table holds them, which is its own."""
    return cells.values.copy()


def _flags(cells: AnswerCells) -> np.ndarray[Any, np.dtype[np.uint8]] | None:
    """Marks as flags of a table: it knows withheld cells, and no brackets."""
    if cells.marks is None:
        return None
    flags = np.zeros(cells.marks.shape, dtype=np.uint8)
    flags[np.isin(cells.marks, [Mark.WITHHELD, Mark.REFUSED])] = Flag.WITHHELD
    flags[cells.marks == Mark.BELOW_THRESHOLD] = Flag.BELOW_THRESHOLD
    return flags


def _delivered_axis(axis: AnswerAxis) -> DeliveredAxis:
    variable = axis.asked.variable
    return DeliveredAxis(
        column=variable.name,
        label=axis_label(axis.asked),
        positions=np.arange(len(axis.codes), dtype=np.int64),
        codes=tuple(one.code for one in axis.codes),
        labels=tuple(one.label for one in axis.codes),
        levels=tuple(one.level for one in axis.codes),
        parents=axis.parents,
        total=axis.total,
        geography=variable.role is Role.GEOGRAPHY,
    )


def _of_shown(policy: Policy, compiled: Compiled, verdict: Verdict) -> Verdict:
    """A verdict about the codes that are shown: what is withheld of others is nobody's concern."""
    shown = {}
    for axis in compiled.axes:
        codes_of = {one.name: one.codes for one in axis.asked.variable.levels()}
        every = {part for code in axis.codes for parts in code.parts for part in parts}
        shown[axis.asked.variable.name] = {
            (one.level, codes_of[one.level][one.at].code) for one in every if not one.total
        }
    reasons = []
    for reason in verdict.reasons:
        kept = []
        for one in reason.withheld:
            there = shown.get(one.variable, set())
            codes = tuple(code for code in one.codes if (one.level, code) in there)
            if codes:
                kept.append(replace(one, codes=codes))
        if kept or not reason.withheld:
            reasons.append(replace(reason, withheld=tuple(kept)))
    areas, available = _areas_shown(policy, compiled, reasons, verdict)
    if areas and available == 0:
        reasons = [replace(one, refuses=True) for one in reasons]
    return Verdict(tuple(reasons), areas, available, verdict.notes)


def _areas_shown(
    policy: Policy, compiled: Compiled, reasons: list[Reason], verdict: Verdict
) -> tuple[int | None, int | None]:
    """Of the areas that are shown, groups of them included, how many there are and have numbers."""
    if verdict.areas is None:
        return None, None
    places = [one.name for one in policy.areas]
    for axis in compiled.axes:
        variable = axis.asked.variable
        if variable.name not in places:
            continue
        gone = {
            (one.level, code)
            for reason in reasons
            for one in reason.withheld
            if one.variable == variable.name
            for code in one.codes
        }
        codes = [code for code in axis.codes if code.level != TOTAL]
        if not gone:
            return len(codes), len(codes)
        names = {level.name: [one.code for one in level.codes] for level in variable.levels()}
        hidden = sum(
            any(
                (part.level, names[part.level][part.at]) in gone for part in parts if not part.total
            )
            for code in codes
            for parts in [[one for some in code.parts for one in some]]
        )
        return len(codes), len(codes) - hidden
    return verdict.areas, verdict.available


def _decimal(number: float, language: str) -> str:
    text = f"{number:.1f}"
    return text if language == "en" else text.replace(".", ",")
