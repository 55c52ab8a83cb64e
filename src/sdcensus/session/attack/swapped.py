"""The attack lab on records that were changed first: what a rate and a rule leave of the claims.

Each trial derives the records in memory, protects the tables of a plan as it says, attacks them,
and compares the claims with the residents of the original census. Nothing is published or written.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path

from sdcensus.attack import Assumptions, AttackReport, run_attacks
from sdcensus.errors import SpecError
from sdcensus.model.confidential import Confidential
from sdcensus.model.cube.cube import Cube
from sdcensus.model.cube.sparse_cube import AnyCube
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.published.table import PublishedTable
from sdcensus.model.schema.variable import Entity
from sdcensus.model.secret import Secret
from sdcensus.model.spec.table_spec import Measure, TableSpec
from sdcensus.risk.combined.chances import observed_risk
from sdcensus.risk.combined.moves import cell_moves
from sdcensus.session.assess.knowledge import noise_of
from sdcensus.session.attack.residents import (
    ResidentScore,
    area_levels,
    score_residents,
)
from sdcensus.session.attack.score import counted_cells
from sdcensus.session.census.census import Census
from sdcensus.session.derive.step import step_from_text
from sdcensus.session.protect.smallest_group import GroupRule
from sdcensus.session.publish.resolution import Resolved, resolve
from sdcensus.store.census_store import CensusStore
from sdcensus.utility.distances import utility_of

#: The attacks that claim groups of few persons from small cells.
LAB_ATTACKS = ("patterns", "zero-patterns", "twins")
#: Claims about groups are to be no better than this.
LIMIT = 0.5
#: A share of fewer claims is chance, and is not judged.
FEWEST_CLAIMS = 10
#: The combined measure is taken over so many tables by area.
_MEASURED_TABLES = 12


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SwapTrial(Confidential):
    """What attacks find in the tables of a plan after one change of the records.

    Attributes:
        step: The method with its parameters in one line; empty for the records as they are.
        residents: How right claims are, by attack, level and size.
        tables: How many tables were attacked.
        mean_absolute_distance: How far published counts are from the original ones, over all
            filled cells of all tables.
        hellinger: The mean over the tables of the normalised Hellinger distance.
        levels: All levels of areas, from the whole country to the finest.
        touched: Units that exchanged something; 0 without a change, ``None`` where the method does
            not say it.
        units: How many of these there are; ``None`` likewise.
        combined: Of claims about cells of tables by area that are published as 1, 2 or 3, the
            share that is right by the combined measure.
        foreseen: Whether nothing was attacked: the claims of the attack on the records as they are
            were compared with the changed ones.
    """

    step: str
    residents: tuple[ResidentScore, ...]
    tables: int
    mean_absolute_distance: float | None
    hellinger: float | None
    levels: tuple[str, ...]
    touched: int | None = None
    units: int | None = None
    combined: float | None = None
    foreseen: bool = False

    def __repr__(self) -> str:
        return "<SwapTrial: confidential>"

    def of(self, level: str, size: int | None = None) -> tuple[int, int]:
        """Claims about groups at a level, and how many are right about residents."""
        lines = [
            line for line in self.residents if line.level == level and size in (None, line.size)
        ]
        return sum(line.claims for line in lines), sum(line.right_residents for line in lines)

    def worst(self, level: str) -> float | None:
        """The largest share of right claims of one attack and size at a level, of enough claims."""
        shares = [
            line.right_residents / line.claims
            for line in self.residents
            if line.level == level and line.claims >= FEWEST_CLAIMS
        ]
        return max(shares, default=None)

    @property
    def worst_below_country(self) -> float:
        """The largest share of right claims of one attack and size at any level of areas."""
        return max((self.worst(level) or 0.0 for level in self.levels[1:]), default=0.0)

    @property
    def share_touched(self) -> float | None:
        """The share of the units that exchanged something."""
        return self.touched / self.units if self.units and self.touched is not None else None

    def above(self, limit: float) -> tuple[str, ...]:
        """The levels at which claims are better than a limit."""
        return tuple(level for level in self.levels if (self.worst(level) or 0.0) > limit)

    def enough(self, limit: float) -> bool:
        """Whether no level below the country is above a limit."""
        return self.worst_below_country <= limit


@dataclass(frozen=True, slots=True, repr=False)
class SwappedAttacks(Confidential):
    """Trials of several changes of the records, the first one without any.

    Attributes:
        limit: Claims about groups are to be no better than this.
        trials: The trials, in the order in which they were asked for.
        milder: After a search, the attacked trial with the best outlook of all that touch fewer
            than the smallest; it is not enough.
        contrast: A change of answers, for what no change of places can do.
    """

    limit: float
    trials: tuple[SwapTrial, ...]
    milder: SwapTrial | None = None
    contrast: SwapTrial | None = None

    def __repr__(self) -> str:
        return f"<SwappedAttacks: {len(self.trials)} trials>"

    @property
    def smallest(self) -> SwapTrial | None:
        """The attacked trial that touches fewest and leaves no level of areas above the limit.

        Of equal ones, and where a method does not say whom it touches, the first.
        """
        enough = [
            trial
            for trial in self.trials
            if not trial.foreseen and trial.enough(self.limit) and not _of_answers(trial.step)
        ]
        if any(trial.touched is None for trial in enough):
            return enough[0]
        return min(enough, key=lambda trial: trial.touched or 0, default=None)

    @property
    def out_of_reach(self) -> tuple[str, ...]:
        """The levels at which every trial leaves claims above the limit: places do not help."""
        levels = self.trials[0].levels
        return tuple(
            level
            for level in levels
            if all(
                level in trial.above(self.limit)
                for trial in self.trials
                if not _of_answers(trial.step)
            )
        )


def _of_answers(step: str) -> bool:
    """Whether a step changes answers, not places."""
    return step.split(" ", 1)[0] in ("attribute-swap", "pram", "over-imputation", "safe")


class SwapLaboratory(Confidential):
    """The tables of a plan, attacked with the records as they are and after changes of them.

    Args:
        plan_file: The plan: its tables, and how they are protected.
        secret: The office secret or its file.
        census: The original census, if it is not the store of the plan.
        attacks: The attacks; those that claim groups are compared with residents.
        tables: Patterns of names: only these tables. None: all.
        assumptions: What the intruder takes to be known.
        progress: Told how far it is.

    Raises:
        SpecError: The plan has no table that can be attacked.
    """

    def __init__(
        self,
        plan_file: str | Path,
        *,
        secret: Secret | str | Path | None = None,
        census: Census | None = None,
        attacks: Sequence[str] = LAB_ATTACKS,
        tables: Sequence[str] = (),
        assumptions: Assumptions | None = None,
        progress: Progress = no_progress,
    ) -> None:
        self._plan_file, self._secret = plan_file, secret
        self._attacks, self._assumptions = attacks, assumptions
        resolved = resolve(plan_file, secret=secret, census=census)
        self.original = resolved.census
        chosen = _chosen(resolved, tables)
        cubes = {name: self.original.tabulate(spec) for name, spec in chosen.items()}
        # Cubes that are too large to hold are left out by the attacks as well.
        self._truth = {name: cube for name, cube in cubes.items() if isinstance(cube, Cube)}
        if not self._truth:
            raise SpecError(f"{plan_file} has no table that can be attacked.")
        self._specs = {name: chosen[name] for name in self._truth}
        counted = _counting(self.original, self._truth, self._specs)
        self._published, self.report = self._attack(resolved, counted, progress)
        self._before = counted_cells(
            self._published, self.original, tabulate=counted, progress=progress
        )
        scores = score_residents(self.report.results, self._before, self._before)
        distance, hellinger = _cost(self._truth, self._published)
        self.base = SwapTrial(
            step="",
            residents=scores,
            tables=len(self._published),
            mean_absolute_distance=distance,
            hellinger=hellinger,
            levels=area_levels(self.original.schema),
            touched=0,
            combined=self._combined(resolved, self.original.store),
        )

    def __repr__(self) -> str:
        return "<SwapLaboratory: confidential>"

    @property
    def specs(self) -> tuple[TableSpec, ...]:
        """The tables."""
        return tuple(self._specs.values())

    def check(self, step: str) -> None:
        """Refuse what is wrong about a step before any work."""
        step_from_text(self.original.store, step, secret=self._secret)

    def touched(self, step: str) -> int:
        """How many units a step would touch; nothing is counted or attacked.

        Raises:
            SpecError: It cannot be done with these records.
        """
        run = step_from_text(self.original.store, step, secret=self._secret).run()
        return _touched(run.changes.figures)[0] or 0

    def foresee(self, step: str, progress: Progress = no_progress) -> SwapTrial:
        """How many claims of the first attack would be right after a step; nothing is attacked."""
        changed, touched, units = self._changed(step, progress)
        there = counted_cells(self._published, changed, same_data=False, progress=progress)
        return replace(
            self.base,
            step=step,
            residents=score_residents(self.report.results, there, self._before),
            mean_absolute_distance=None,
            hellinger=None,
            combined=None,
            touched=touched,
            units=units,
            foreseen=True,
        )

    def attack(self, step: str, progress: Progress = no_progress) -> SwapTrial:
        """Change the records, protect the tables as the plan says, attack them and compare."""
        changed, touched, units = self._changed(step, progress)
        resolved = resolve(self._plan_file, secret=self._secret, census=changed)
        counted = _counting(changed, {}, {})
        published, report = self._attack(resolved, counted, progress)
        there = counted_cells(published, changed, tabulate=counted, progress=progress)
        distance, hellinger = _cost(self._truth, published)
        return SwapTrial(
            step=step,
            residents=score_residents(report.results, there, self._before),
            tables=len(published),
            mean_absolute_distance=distance,
            hellinger=hellinger,
            levels=self.base.levels,
            touched=touched,
            units=units,
            combined=self._combined(resolved, changed.store),
        )

    def _changed(self, step: str, progress: Progress) -> tuple[Census, int | None, int | None]:
        prepared = step_from_text(self.original.store, step, secret=self._secret)
        run = prepared.run(progress)
        touched, entity = _touched(run.changes.figures)
        units = None if entity is None else self.original.store.rows(entity)
        return prepared.census_of(run), touched, units

    def _attack(
        self, resolved: Resolved, counted: Tabulate, progress: Progress
    ) -> tuple[list[PublishedTable], AttackReport]:
        """The tables as the plan would publish them that were attacked, and what was claimed."""
        rule = GroupRule(resolved.smallest_group)
        tables = []
        for at, (name, spec) in enumerate(self._specs.items()):
            progress("protecting tables", at / len(self._specs))
            protected = rule.protect(spec, resolved.method(spec), counted)
            tables.append(PublishedTable(name, protected.table, protected.provenance))
        report = run_attacks(tables, self._assumptions, attacks=self._attacks, progress=progress)
        return [table for table in tables if table.name in report.tables], report

    def _combined(self, resolved: Resolved, changed: CensusStore) -> float | None:
        """The combined measure over the first tables by area, of all claims together."""
        geography = self.original.schema.geography
        by_area = [
            spec
            for spec in self.specs
            if spec.measure is Measure.COUNT
            and geography is not None
            and any(axis.variable.name == geography.name for axis in spec.axes)
        ]
        right = cells = 0.0
        for spec in by_area[:_MEASURED_TABLES]:
            moved = cell_moves(self.original.store, changed, spec)
            risk = observed_risk(moved, noise_of(resolved.method(spec)))
            shown = sum(value.cells for value in risk.values)
            right += (risk.share_right or 0.0) * shown
            cells += shown
        return right / cells if cells else None


Tabulate = Callable[[TableSpec], AnyCube]


def _counting(census: Census, cubes: dict[str, Cube], specs: dict[str, TableSpec]) -> Tabulate:
    """Counting that counts every table once: it is protected, and scored with."""
    known: dict[TableSpec, AnyCube] = {specs[name]: cube for name, cube in cubes.items()}

    def counted(spec: TableSpec) -> AnyCube:
        if spec not in known:
            known[spec] = census.tabulate(spec)
        return known[spec]

    return counted


def _touched(figures: Mapping[str, int]) -> tuple[int | None, Entity | None]:
    """The units that a method says to have exchanged, and their kind."""
    for entity in Entity:
        name = f"{entity.plural} exchanged"
        if name in figures:
            return figures[name], entity
    return None, None


def swapped_attacks(
    plan_file: str | Path,
    steps: Sequence[str],
    *,
    secret: Secret | str | Path | None = None,
    census: Census | None = None,
    attacks: Sequence[str] = LAB_ATTACKS,
    tables: Sequence[str] = (),
    assumptions: Assumptions | None = None,
    limit: float = LIMIT,
    until_enough: bool = False,
    progress: Progress = no_progress,
) -> SwappedAttacks:
    """Try changes of the records against attacks on the tables of a plan.

    Args:
        plan_file: The plan: its tables, and how they are protected.
        steps: Methods with their parameters, one line each, the mildest first.
        secret: The office secret or its file.
        census: The original census, if it is not the store of the plan.
        attacks: The attacks; those that claim groups are compared with residents.
        tables: Patterns of names: only these tables. None: all.
        assumptions: What the intruder takes to be known.
        limit: Claims about groups are to be no better than this.
        until_enough: Stop with the first step that is enough.
        progress: Told how far it is.

    Raises:
        SpecError: The plan has no table that can be attacked, or a step is wrong.
    """
    check_limit(limit)
    store = resolve(plan_file, secret=secret, census=census).census.store
    for text in steps:  # before any work
        step_from_text(store, text, secret=secret)
    progress("attacking the records as they are", 0.0)
    laboratory = SwapLaboratory(
        plan_file,
        secret=secret,
        census=census,
        attacks=attacks,
        tables=tables,
        assumptions=assumptions,
        progress=progress,
    )
    trials = [laboratory.base]
    for number, text in enumerate(steps, start=1):
        if until_enough and trials[-1].enough(limit):
            break
        progress(text, number / (len(steps) + 1))
        trials.append(laboratory.attack(text, progress))
    return SwappedAttacks(limit, tuple(trials))


def check_limit(limit: float) -> None:
    """Refuse a limit that is no probability."""
    if not 0 <= limit < 1:
        raise SpecError("The limit is a probability: 0 or more, and below 1.")


def _chosen(resolved: Resolved, patterns: Sequence[str]) -> dict[str, TableSpec]:
    """The tables of a plan by name; one with several parts has a number behind its name."""
    specs: dict[str, TableSpec] = {}
    for product in resolved.products:
        if patterns and not any(fnmatchcase(product.name, pattern) for pattern in patterns):
            continue
        for at, spec in enumerate(dict.fromkeys(product.specs)):
            specs[product.name if not at else f"{product.name} {at + 1}"] = spec
    if not specs:
        names = ", ".join(product.name for product in resolved.products[:5])
        raise SpecError(f"No table of the plan is called like that. It has {names}, ...")
    return specs


def _cost(
    truth: dict[str, Cube], published: Sequence[PublishedTable]
) -> tuple[float | None, float | None]:
    """The mean absolute distance over all filled cells, and the mean Hellinger distance."""
    distance, cells = 0.0, 0
    hellinger: list[float] = []
    for table in published:
        utility = utility_of(truth[table.name], table.table)
        if utility.mean_absolute_distance is not None:
            distance += utility.mean_absolute_distance * utility.nonzero
            cells += utility.nonzero
        if utility.hellinger_normalised is not None:
            hellinger.append(utility.hellinger_normalised)
    return (
        distance / cells if cells else None,
        sum(hellinger) / len(hellinger) if hellinger else None,
    )
