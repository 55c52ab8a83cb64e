"""What a policy says about a table: allowed, some codes withheld, or refused, and why. Public."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from sdcensus.errors import Refused, Sentence, told
from sdcensus.model.policy.policy import OneHousehold, OnlineRules, Policy, WhenSparse
from sdcensus.model.published.table import AnyTable
from sdcensus.model.spec.headings import joined
from sdcensus.model.spec.table_spec import TableSpec

#: Codes that a sentence lists.
_MOST_LISTED = 12


class Outcome(StrEnum):
    """What a policy says about a table."""

    ALLOWED = "allowed"
    WITHHELD = "withheld"
    REFUSED = "refused"


class ReasonCode(StrEnum):
    """Why a table is refused or shown in part only. These words do not change."""

    VARIABLE_NOT_OFFERED = "variable-not-offered"
    MEASURE_NOT_OFFERED = "measure-not-offered"
    NOT_A_FILTER = "variable-not-a-filter"
    LEVEL_TOO_FINE = "level-too-fine"
    AREA_TOO_FINE = "area-too-fine"
    NEVER_TOGETHER = "never-together"
    TOO_MANY_VARIABLES = "too-many-variables"
    TOO_MANY_CELLS = "too-many-cells"
    NOT_OFFERED = "code-not-offered"
    DETAIL_OF_AREA = "too-much-detail-for-area"
    SPARSE_AREA = "sparse-area"
    SPARSE_TABLE = "sparse-table"
    SMALL_POPULATION = "small-population"
    ONES = "too-many-ones"
    ONES_AND_TWOS = "too-many-ones-and-twos"
    ADDS_UP = "withheld-values-add-up"
    TOO_LARGE_FOR_SIGNS = "too-large-for-signs"


#: What a reason tells besides its words: figures of the policy, names of variables and levels.
Told = str | int | float | tuple[str, ...]


class RemedyKind(StrEnum):
    """What a remedy changes."""

    COARSER_AREA = "coarser-area"
    FEWER_CATEGORIES = "fewer-categories"
    FEWER_VARIABLES = "fewer-variables"
    FEWER_CONDITIONS = "fewer-conditions"


class StepKind(StrEnum):
    """What one step of a remedy does."""

    COARSER = "coarser"
    KEEP_ONLY = "keep-only"
    LEAVE_OUT = "leave-out"
    WITHOUT_CONDITION = "without-condition"


@dataclass(frozen=True, slots=True)
class RemedyStep:
    """One step of a remedy, to be told in any language.

    Attributes:
        kind: What it does. Steps of the same kind that follow each other make one list, but for
            coarser levels.
        variable: The variable that it is about.
        levels: The levels at which a coarser variable is shown.
    """

    kind: StepKind
    variable: str
    levels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class VerdictRemedy:
    """Another table that would be answered.

    Attributes:
        kinds: What it changes.
        sentence: What to do.
        spec: The table. Rules on code lists allow it; that was checked.
        variables: The variables that it changes.
        available, areas: Of how many areas how many it would show, as far as published numbers
            tell; ``None`` where they do not.
        steps: What the sentence says, to be told in other languages.
    """

    kinds: tuple[RemedyKind, ...]
    sentence: str
    spec: TableSpec
    variables: tuple[str, ...]
    available: int | None = None
    areas: int | None = None
    steps: tuple[RemedyStep, ...] = ()

    @property
    def by(self) -> tuple[str, ...]:
        """Its axes in the grammar of plans."""
        return tuple(axis.name for axis in self.spec.axes)


@dataclass(frozen=True, slots=True)
class Withheld:
    """Codes of an axis that are not shown."""

    variable: str
    level: str
    codes: tuple[str, ...]

    @property
    def sentence(self) -> str:
        """What is withheld; a long list is cut."""
        codes = [*self.codes[:_MOST_LISTED]]
        if len(self.codes) > _MOST_LISTED:
            codes.append(f"{len(self.codes) - _MOST_LISTED:,} more")
        return f"Withheld of {self.variable}@{self.level}: {joined(codes)}."


@dataclass(frozen=True, slots=True)
class VerdictReason:
    """One rule that does not let a table pass as it is.

    Attributes:
        code: Which rule; stable.
        sentence: What it says, without any figure but those of the policy itself.
        refuses: Whether the whole table is refused; else some codes are withheld.
        variables: The variables that it is about; empty where it is about the table.
        withheld: The codes that are not shown because of it.
        remedies: What would help.
        words: Which text says the same in other languages; stable, such as
            ``sparse-area.withheld``.
        values: What that text tells, by name: ``limit``, ``found``, ``below`` and ``percent`` are
            figures of the policy and of the specification, ``variable`` is the name of one,
            ``level`` of a level, ``at`` are variables at levels, ``units`` is a kind of unit.
    """

    code: ReasonCode
    sentence: str
    refuses: bool = True
    variables: tuple[str, ...] = ()
    withheld: tuple[Withheld, ...] = ()
    remedies: tuple[VerdictRemedy, ...] = ()
    words: str = ""
    values: tuple[tuple[str, Told], ...] = ()


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a policy says about a table, and why.

    Attributes:
        reasons: Every rule that does not let the table pass as it is.
        areas: How many areas the table is about; ``None`` where it has no axis of areas.
        available: How many of them are shown.
        notes: What else to know, such as rules that are still to come; their words are texts like
            those of reasons.
    """

    reasons: tuple[VerdictReason, ...] = ()
    areas: int | None = None
    available: int | None = None
    notes: tuple[Sentence, ...] = ()

    @property
    def outcome(self) -> Outcome:
        """Allowed, withheld in part, or refused."""
        if any(reason.refuses for reason in self.reasons):
            return Outcome.REFUSED
        return Outcome.WITHHELD if self.reasons else Outcome.ALLOWED

    @property
    def withheld(self) -> tuple[Withheld, ...]:
        """Every code that is not shown, each once."""
        codes_at: dict[tuple[str, str], dict[str, None]] = {}
        for reason in self.reasons:
            for withheld in reason.withheld:
                codes_at.setdefault((withheld.variable, withheld.level), {}).update(
                    dict.fromkeys(withheld.codes)
                )
        return tuple(Withheld(*at, tuple(codes)) for at, codes in codes_at.items())

    @property
    def remedies(self) -> tuple[VerdictRemedy, ...]:
        """What would help, each once."""
        by_table = {
            remedy.spec.hash(): remedy for reason in self.reasons for remedy in reason.remedies
        }
        return tuple(by_table.values())

    @property
    def sentence(self) -> str:
        """The verdict in a sentence."""
        if self.outcome is Outcome.REFUSED:
            return "This table is not published."
        areas = ""
        if self.areas is not None and self.available is not None and self.available < self.areas:
            areas = (
                f" {self.available:,} of {self.areas:,} areas are available; protecting personal"
                f" data withholds {self.areas - self.available:,}."
            )
        if self.outcome is Outcome.ALLOWED:
            return "This table can be published."
        return f"This table can be published in part.{areas}"

    def lines(self) -> tuple[str, ...]:
        """The verdict, its reasons and what would help, a line each."""
        lines = [self.sentence]
        for reason in self.reasons:
            lines.append(f"{reason.sentence} [{reason.code}]")
            for withheld in reason.withheld:
                lines.append(f"  {withheld.sentence}")
        lines += [f"What would help: {remedy.sentence}" for remedy in self.remedies]
        return (*lines, *self.notes)

    def raise_if_refused(self) -> None:
        """Stop here if the table is refused.

        Raises:
            Refused: With the reasons and remedies.
        """
        if self.outcome is Outcome.REFUSED:
            raise Refused("\n".join(self.lines()))


@dataclass(frozen=True, slots=True, eq=False)
class Decision:
    """A published table as the policy lets it be shown; ``None`` where it does not."""

    table: AnyTable | None
    verdict: Verdict


def still_to_come(rules: OnlineRules) -> Iterator[Sentence]:
    """What published numbers decide, for a table that rules on code lists let pass."""
    if rules.mean_cell_size is not None:
        size = float(rules.mean_cell_size)
        match rules.when_sparse:
            case WhenSparse.WITHHOLD_AREA:
                yield told(
                    "note.sparse-area",
                    "Published numbers decide further: below {size} units for each cell, the area"
                    " is withheld.",
                    size=size,
                )
            case WhenSparse.REFUSE_TABLE:
                yield told(
                    "note.sparse-refused",
                    "Published numbers decide further: below {size} units for each cell, the table"
                    " is refused.",
                    size=size,
                )
            case WhenSparse.C:
                yield told(
                    "note.sparse-small",
                    "Published numbers decide further: below {size} units for each cell, values"
                    " below {below} become c.",
                    size=size,
                    below=rules.below,
                )
    if rules.mean_cell_size_of_table is not None:
        yield told(
            "note.sparse-table",
            "Published numbers decide further: below {size} units for each cell of the whole table,"
            " it is refused.",
            size=float(rules.mean_cell_size_of_table),
        )
    if rules.minimum_population is not None:
        yield told(
            "note.small-population",
            "Published numbers decide further: areas below {size} units are withheld.",
            size=float(rules.minimum_population),
        )
    if rules.ones is not None or rules.ones_and_twos is not None:
        yield told(
            "note.ones",
            "Published numbers decide further: a table with too many ones or twos is refused.",
        )


def withholds_households(policy: Policy | None) -> bool:
    """Whether a policy withholds cells of one household."""
    return policy is not None and policy.design.one_household_cells is OneHousehold.WITHHOLD
