"""The attack lab on records that were changed first: what a rate and a rule leave of the claims.

Each trial derives the records in memory, protects the tables of a plan as it says, attacks them,
and compares the claims with the residents of the original census. Nothing is published or written.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from sdcensus.attack import Assumptions, run_attacks
from sdcensus.errors import SpecError
from sdcensus.model.confidential import Confidential
from sdcensus.model.cube.cube import Cube
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.published.table import PublishedTable
from sdcensus.model.secret import Secret
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.session.attack.residents import (
    COUNTRY,
    CountedCells,
    ResidentScore,
    area_levels,
    score_residents,
)
from sdcensus.session.attack.score import counted_cells
from sdcensus.session.census.census import Census
from sdcensus.session.derive.step import step_from_text
from sdcensus.session.protect.smallest_group import GroupRule
from sdcensus.session.publish.resolution import Resolved, resolve
from sdcensus.utility.distances import utility_of

#: The attacks that claim groups of few persons from small cells.
LAB_ATTACKS = ("patterns", "zero-patterns", "twins")
#: Claims about groups are to be no better than this.
LIMIT = 0.5
#: A share of fewer claims is chance, and is not judged.
FEWEST_CLAIMS = 10


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
    """

    step: str
    residents: tuple[ResidentScore, ...]
    tables: int
    mean_absolute_distance: float | None
    hellinger: float | None
    levels: tuple[str, ...]

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

    def above(self, limit: float) -> tuple[str, ...]:
        """The levels at which claims are better than a limit."""
        return tuple(level for level in self.levels if (self.worst(level) or 0.0) > limit)


@dataclass(frozen=True, slots=True, repr=False)
class SwappedAttacks(Confidential):
    """Trials of several changes of the records, the first one without any.

    Attributes:
        limit: Claims about groups are to be no better than this.
        trials: The trials, in the order in which they were asked for.
    """

    limit: float
    trials: tuple[SwapTrial, ...]

    def __repr__(self) -> str:
        return f"<SwappedAttacks: {len(self.trials)} trials>"

    @property
    def smallest(self) -> SwapTrial | None:
        """The first trial after which no level below the country is above the limit."""
        for trial in self.trials:
            if not [level for level in trial.above(self.limit) if level != COUNTRY]:
                return trial
        return None

    @property
    def out_of_reach(self) -> tuple[str, ...]:
        """The levels at which every trial leaves claims above the limit: places do not help."""
        levels = self.trials[0].levels
        return tuple(
            level
            for level in levels
            if all(level in trial.above(self.limit) for trial in self.trials)
        )


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
    until_found: bool = False,
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
        until_found: Stop with the first step that is enough.
        progress: Told how far it is.

    Raises:
        SpecError: The plan has no table that can be attacked, or a step is wrong.
    """
    if not 0 <= limit < 1:
        raise SpecError("The limit is a probability: 0 or more, and below 1.")
    resolved = resolve(plan_file, secret=secret, census=census)
    original = resolved.census
    specs = _chosen(resolved, tables)
    cubes = {name: original.tabulate(spec) for name, spec in specs.items()}
    prepared_steps = [step_from_text(original.store, text, secret=secret) for text in steps]
    # Cubes that are too large to hold are left out by the attacks as well.
    truth = {name: cube for name, cube in cubes.items() if isinstance(cube, Cube)}
    if not truth:
        raise SpecError(f"{plan_file} has no table that can be attacked.")
    before: CountedCells | None = None
    trials: list[SwapTrial] = []
    for number, text in enumerate(("", *steps)):
        progress(text or "attacking the records as they are", number / (len(steps) + 1))
        changed = original if not number else prepared_steps[number - 1].trial(progress)
        own = resolved if not number else resolve(plan_file, secret=secret, census=changed)
        published = _protected(own, {name: specs[name] for name in truth})
        report = run_attacks(published, assumptions, attacks=attacks, progress=progress)
        attacked = [table for table in published if table.name in report.tables]
        if before is None:
            before = counted_cells(attacked, original, progress=progress)
        there = before if not number else counted_cells(attacked, changed, progress=progress)
        scores = score_residents(report.results, there, before)
        distance, hellinger = _cost(truth, published)
        trial = SwapTrial(
            step=text,
            residents=scores,
            tables=len(attacked),
            mean_absolute_distance=distance,
            hellinger=hellinger,
            levels=area_levels(original.schema),
        )
        trials.append(trial)
        tried = SwappedAttacks(limit, tuple(trials))
        if until_found and tried.smallest is not None:
            return tried
    return SwappedAttacks(limit, tuple(trials))


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


def _protected(resolved: Resolved, specs: dict[str, TableSpec]) -> list[PublishedTable]:
    """The tables as the plan would publish them."""
    rule = GroupRule(resolved.smallest_group)
    tables = []
    for name, spec in specs.items():
        method = resolved.method(spec.of)
        protected = rule.protect(spec, method, resolved.census.tabulate)
        tables.append(PublishedTable(name, protected.table, protected.provenance))
    return tables


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
