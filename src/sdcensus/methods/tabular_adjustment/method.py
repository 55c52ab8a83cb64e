"""Controlled tabular adjustment as a method: rules, protection levels, bounds, and a search."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from sdcensus.errors import SecretError, SpecError
from sdcensus.methods.linked import LinkedMethod, LinkedOutcome
from sdcensus.methods.method import (
    KEY_VERSION,
    Mask,
    MethodKind,
    Numbers,
    check_key_version,
    member,
)
from sdcensus.methods.suppression.rules import (
    Rule,
    any_of,
    check_variables,
    fewer_than,
    group_disclosure,
    one_household,
    primary_cells,
    small_areas,
)
from sdcensus.methods.tabular_adjustment.cell_file import CellFile, read_cells
from sdcensus.methods.tabular_adjustment.protection import (
    Kept,
    ProtectionSettings,
    SmallCounts,
    Weights,
    Zeros,
    cells_in_common,
    requirements,
)
from sdcensus.methods.tabular_adjustment.search import Effort, SearchOptions, Senses, least_change
from sdcensus.methods.tabular_adjustment.senses import Draws
from sdcensus.model.linked.cubes import LinkedCubes
from sdcensus.model.linked.tables import LinkedTables
from sdcensus.model.method.parameter import AREA, SECONDS, WORK, Asked, Parameter, ValueKind
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.published.claims import Claims
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.structural import structural_zeros
from sdcensus.model.secret import Secret
from sdcensus.model.sentences import sentence
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.solvers.limits import Limits
from sdcensus.solvers.solve import Solver

#: About so many seconds of a usual processor are spent on proving that a change is the least.
DEFAULT_WORK = 20


@dataclass(frozen=True, slots=True, repr=False)
class ControlledTabularAdjustment(LinkedMethod):
    """Cells that may not be shown are moved far enough up or down; others make up for it.

    All totals stay sums, and as little as possible is changed.

    Attributes:
        minimum: Counts from 1 to below this may not be shown.
        secret: The office secret.
        group: Groups of which all but so many are in one cell are sensitive; not if ``None``.
        group_axes: The variables for which that holds; all if empty.
        households: Whether cells of persons who all live in one household are sensitive.
        population: In areas with fewer units every cell that holds somebody is sensitive.
        area: The variable of these areas; the first geography of a table by default.
        rules: Own rules, beside these.
        unless: Cells of which this rule holds are never sensitive.
        lower_protection, upper_protection: How far a cell that may not be shown is moved down or
            up at least; where nothing is said, a small count goes to 0 or to the minimum.
        new_small_counts: Whether small counts may be published where others moved there.
        zeros: Whether empty cells stay empty.
        kept_totals: Which totals stay as they are, unless they may not be shown themselves.
        fixed: Tables whose cells stay as they are wherever they appear.
        largest_change: How far any other cell may move, as a share of it.
        weights: What one unit of change costs.
        cells: What is said of single cells: a file, or what ``read_cells`` made of one.
        senses: Whether ways up and down are drawn, or chosen for the least change.
        effort: How hard the least change is looked for.
        work, seconds, gap: When the search ends.
        key_version: The version of the series of published numbers.
        schema: Of the census; needed where empty cells may change, some of which cannot.
        solver: Which solver proves that a change is the least.
    """

    minimum: int = 3
    _: KW_ONLY
    secret: Secret | None = None
    group: int | None = None
    group_axes: tuple[str, ...] = ()
    households: bool = False
    population: int | None = None
    area: str | None = None
    rules: tuple[Rule, ...] = ()
    unless: Rule | None = None
    lower_protection: int | None = None
    upper_protection: int | None = None
    new_small_counts: SmallCounts | str = SmallCounts.AVOID
    zeros: Zeros | str = Zeros.KEEP
    kept_totals: Kept | str = Kept.NOTHING
    fixed: Sequence[TableSpec] = ()
    largest_change: float | Fraction | None = None
    weights: Weights | str = Weights.EQUAL
    cells: CellFile | Path | str | None = None
    senses: Senses | str = Senses.DRAWN
    effort: Effort | str = Effort.AUTO
    work: float = DEFAULT_WORK
    seconds: float | None = None
    gap: float = 0.0
    key_version: int = 1
    schema: Schema | None = None
    solver: Solver | str = Solver.HIGHS

    name: ClassVar[str] = "tabular-adjustment"
    kind: ClassVar[MethodKind] = MethodKind.PERTURBS
    summary: ClassVar[str] = "Small cells move away from the truth, others make up for it."
    shows_truth: ClassVar[bool] = True
    takes: ClassVar[tuple[Parameter, ...]] = (
        Parameter("minimum", ValueKind.WHOLE, "Smaller counts are small.", least=1, default=3),
        Parameter(
            "group",
            ValueKind.WHOLE,
            "Move also what tells of a whole group, or of all but N of it, in which cell it is.",
            least=0,
        ),
        Parameter(
            "group_axes",
            ValueKind.VARIABLES,
            "The variables that a group must not be known for.",
            needs=("group",),
        ),
        Parameter(
            "households", ValueKind.YES, "Move cells of persons who all live in one household."
        ),
        Parameter(
            "population",
            ValueKind.WHOLE,
            "In areas with fewer units every cell that holds somebody is moved.",
            least=1,
        ),
        replace(AREA, needs=("population",)),
        Parameter(
            "lower_protection",
            ValueKind.WHOLE,
            "How far a sensitive cell goes down at least; to 0 if not given.",
            least=1,
        ),
        Parameter(
            "upper_protection",
            ValueKind.WHOLE,
            "How far a sensitive cell goes up at least; to the minimum if not given.",
            least=1,
        ),
        Parameter(
            "new_small_counts",
            ValueKind.WORD,
            "Whether other cells may become small.",
            words=tuple(SmallCounts),
            called="treatment of small counts",
            default=SmallCounts.AVOID,
        ),
        Parameter(
            "zeros",
            ValueKind.WORD,
            "Whether empty cells may change.",
            words=tuple(Zeros),
            called="treatment of zeros",
            default=Zeros.KEEP,
        ),
        Parameter(
            "kept_totals",
            ValueKind.WORD,
            "Which totals stay as they are.",
            words=tuple(Kept),
            called="kept total",
            default=Kept.NOTHING,
        ),
        Parameter("fixed", ValueKind.TABLES, "Tables whose cells stay as they are."),
        Parameter(
            "largest_change",
            ValueKind.NUMBER,
            "How far cells that are not sensitive may move, as a share of them.",
            least=0,
        ),
        Parameter(
            "weights",
            ValueKind.WORD,
            "What one unit of change costs.",
            words=tuple(Weights),
            called="kind of weights",
            default=Weights.EQUAL,
        ),
        Parameter("cells", ValueKind.FILE, "What is said of single cells."),
        Parameter(
            "senses",
            ValueKind.WORD,
            "Who decides whether a cell goes up or down.",
            words=tuple(Senses),
            called="choice of senses",
            default=Senses.DRAWN,
        ),
        Parameter(
            "effort",
            ValueKind.WORD,
            "How hard the least change is looked for.",
            words=tuple(Effort),
            called="effort",
            default=Effort.AUTO,
        ),
        replace(WORK, default=DEFAULT_WORK),
        SECONDS,
        Parameter(
            "gap",
            ValueKind.SHARE,
            "A change that is proven to be so near is good enough.",
            default=0,
        ),
        KEY_VERSION,
    )

    @classmethod
    def build(cls, asked: Asked) -> ControlledTabularAdjustment:
        """The method with what somebody said about it."""
        values = dict(asked.values)
        values["fixed"] = asked.tables(values.pop("fixed", ()))
        return cls(secret=asked.office_secret(cls.name), schema=asked.schema, **values)

    def __post_init__(self) -> None:
        if type(self.minimum) is not int or self.minimum < 1:
            raise SpecError("The smallest count that is shown is a whole number, 1 or more.")
        if not isinstance(self.secret, Secret):
            raise SecretError(
                "ControlledTabularAdjustment needs the office secret: secret=sc.read_secret(FILE)."
            )
        check_key_version(self.key_version)
        for name, least in (("group", 0), ("population", 1)):
            value = getattr(self, name)
            if value is not None and (type(value) is not int or value < least):
                raise SpecError(f"{name} is a whole number, {least} or more.")
        object.__setattr__(self, "group_axes", tuple(self.group_axes))
        for level in (self.lower_protection, self.upper_protection):
            if level is not None and (type(level) is not int or level < 1):
                raise SpecError("A protection level is a whole number, 1 or more.")
        if self.largest_change is not None and not self.largest_change >= 0:
            raise SpecError("The largest change of a cell is a share of it, 0 or more.")
        for field, options, what in (
            ("new_small_counts", SmallCounts, "treatment of small counts"),
            ("zeros", Zeros, "treatment of zeros"),
            ("kept_totals", Kept, "kept total"),
            ("weights", Weights, "kind of weights"),
            ("senses", Senses, "choice of senses"),
            ("effort", Effort, "effort"),
            ("solver", Solver, "solver"),
        ):
            object.__setattr__(self, field, member(options, what, getattr(self, field)))
        object.__setattr__(self, "fixed", tuple(self.fixed))
        if isinstance(self.cells, str | Path):
            object.__setattr__(self, "cells", read_cells(self.cells))
        self._limits()

    def __repr__(self) -> str:
        return f"<ControlledTabularAdjustment of counts below {self.minimum}: confidential levels>"

    @property
    def exempt_tables(self) -> tuple[TableSpec, ...]:
        """Tables whose cells stay as they are."""
        return tuple(self.fixed)

    def exempting(self, tables: Sequence[TableSpec]) -> ControlledTabularAdjustment:
        """The same, leaving the cells of these tables as they are as well."""
        return replace(self, fixed=(*self.fixed, *tables))

    def exempt_cells(self, spec: TableSpec) -> Numbers:
        """Cells of a table that stay as they are, as numbers in the order of its cells."""
        if not self.fixed:
            return np.zeros(0, dtype=np.uint64)
        tables = LinkedTables.of([spec])
        held = cells_in_common(tables, self.fixed)
        cells = tables.cell_of[0].reshape(-1)
        fixed: Mask = np.append(held, False)[cells]
        return np.flatnonzero(fixed).astype(np.uint64)

    def parameters(self) -> Mapping[str, object]:
        """Everything that decides the published numbers; confidential."""
        cells = self.cells
        return {
            "minimum": self.minimum,
            "group": self.group,
            "group_axes": list(self.group_axes),
            "households": self.households,
            "population": self.population,
            "area": self.area,
            "rules": [getattr(rule, "__qualname__", "rule") for rule in self.rules],
            "unless": None if self.unless is None else getattr(self.unless, "__qualname__", ""),
            "lower_protection": self.lower_protection,
            "upper_protection": self.upper_protection,
            "new_small_counts": str(self.new_small_counts),
            "zeros": str(self.zeros),
            "kept_totals": str(self.kept_totals),
            "fixed": sorted(spec.hash() for spec in self.fixed),
            "largest_change": None if self.largest_change is None else str(self.largest_change),
            "weights": str(self.weights),
            "cells": [line.plain() for line in cells.lines] if isinstance(cells, CellFile) else [],
            "senses": str(self.senses),
            "effort": str(self.effort),
            "work": self.work,
            "gap": self.gap,
            "solver": str(self.solver),
        }

    def claims(self) -> Claims:
        """What the published numbers are promised to be."""
        plain = self.cells is None and not self.rules and self.unless is None
        zeros = plain and self.zeros is Zeros.KEEP and self.group is None
        return Claims(
            zeros_kept=zeros,
            never_negative=True,
            blocked_counts_never_appear=plain and self.new_small_counts is SmallCounts.AVOID,
            additive=True,
            grows_empty_cells=not zeros,
            cautions=(
                sentence("adjustment.exact_cells"),
                sentence("adjustment.other_table"),
                *((sentence("adjustment.best_senses"),) if self.senses is Senses.BEST else ()),
            ),
        )

    @property
    def needs_households(self) -> bool:
        """Whether cells of one household are asked for."""
        return self.households

    def rule(self) -> Rule:
        """Which cells may not be shown as they are."""
        rules = [fewer_than(self.minimum)]
        if self.group is not None:
            rules.append(group_disclosure(self.group, self.group_axes))
        if self.households:
            rules.append(one_household())
        if self.population is not None:
            rules.append(small_areas(self.population, self.area))
        return any_of(*rules, *self.rules, unless=self.unless)

    def publish_linked(
        self, linked: LinkedCubes, progress: Progress = no_progress
    ) -> LinkedOutcome:
        """Change as little as possible."""
        if self.secret is None:  # refused when it was built
            raise SecretError("ControlledTabularAdjustment needs the office secret.")
        tables = linked.tables
        check_variables(tables.specs, self.group_axes, self.population, self.area)
        sensitive = primary_cells(linked, self.rule())
        settings = self._settings()
        asked = requirements(linked, sensitive, self._impossible(tables), settings)
        draws = Draws.of(tables, self.secret, self.key_version)
        options = SearchOptions(
            senses=Senses(self.senses),
            effort=Effort(self.effort),
            solver=Solver(self.solver),
            limits=self._limits(),
        )
        change, report = least_change(linked, asked, draws, options, progress)
        return LinkedOutcome(linked.counts + change, solution=report)

    def _impossible(self, tables: LinkedTables) -> Mask:
        """Cells in which no record can be by the rules of the schema."""
        impossible = np.zeros(tables.size, dtype=bool)
        grows = self.zeros is Zeros.CHANGE or self.group is not None or self.rules
        if self.schema is None or not grows:
            return impossible
        for spec, cells in zip(tables.counted, tables.counted_cell_of, strict=True):
            empty = structural_zeros(spec, self.schema) & (cells >= 0)
            impossible[cells[empty]] = True
        return impossible

    def _limits(self) -> Limits:
        return Limits(work=self.work, seconds=self.seconds, gap=self.gap)

    def _settings(self) -> ProtectionSettings:
        share: Any = self.largest_change
        return ProtectionSettings(
            minimum=self.minimum,
            lower_protection=self.lower_protection,
            upper_protection=self.upper_protection,
            small=SmallCounts(self.new_small_counts),
            zeros=Zeros(self.zeros),
            keep=Kept(self.kept_totals),
            fixed=tuple(self.fixed),
            # A share is what was written: 0.1 is a tenth, not the float nearest to it.
            largest_change=None if share is None else Fraction(str(share)),
            weights=Weights(self.weights),
            cells=self.cells if isinstance(self.cells, CellFile) else None,
        )
