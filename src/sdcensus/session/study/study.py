"""Comparing methods on a census's own tables: what each gives away, and what each costs.

The layout is that of the founding study (ECLAC 2020): tables of growing detail, every method on
each of them, disclosure risk beside the loss of information. Nothing here is published: all of it
is computed from true counts.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sdcensus.errors import Sentence, SpecError
from sdcensus.methods.cell_key import CellKey
from sdcensus.methods.method import Method, member
from sdcensus.methods.perturbation.schemes import SCHEMES, scheme
from sdcensus.model.confidential import Confidential
from sdcensus.model.cube.ancestors import ancestry_of
from sdcensus.model.cube.constraints import interior
from sdcensus.model.cube.cube import Cube
from sdcensus.model.inference.intervals import shuttle
from sdcensus.model.inference.knowledge import UNBOUNDED, Knowledge
from sdcensus.model.perturbation.table import Lookup
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.published.table import Table
from sdcensus.model.secret import Secret, SubSecret
from sdcensus.model.sentences import sentence
from sdcensus.model.spec.table_spec import Measure, TableSpec
from sdcensus.model.vocabulary import NoiseDraw
from sdcensus.report.study.published import preset_of
from sdcensus.report.study.results import (
    Candidate,
    InteriorSums,
    Original,
    Study,
    StudyResult,
    StudyTable,
)
from sdcensus.risk.composite import composite_risk_of
from sdcensus.risk.feasibility import SMALL
from sdcensus.session.assess.knowledge import fitting, given_intruder, intruder_of
from sdcensus.session.census.census import Census
from sdcensus.session.protect.smallest_group import GroupRule, Tabulate
from sdcensus.session.study.cells import given_away, profile, worst
from sdcensus.session.study.tables import cubes_of, with_fresh_keys
from sdcensus.utility.distances import utility_of


def interior_sums(cube: Cube, table: Table, knowledge: Knowledge) -> InteriorSums:
    """Narrow interior cells and one-axis totals by each other; other totals stay as published.

    So the founding study seems to have counted: its printed shares agree with an intruder who does
    not compare these totals with those above them. The study does not say it; all sums together
    give away more.
    """
    lower, upper = knowledge.bounds(table)
    looked_at = totals_of(cube.spec) <= 1
    intervals = shuttle(
        cube.spec, np.where(looked_at, lower, 0), np.where(looked_at, upper, UNBOUNDED)
    )
    low = np.where(looked_at, intervals.lower, lower)
    high = np.where(looked_at, intervals.upper, upper)
    known = (low == high) | ((low == 0) & (high == 1))
    there = cube.count > 0
    small = there & (cube.count <= SMALL)
    return InteriorSums(_share(known, there), _share(known, small))


def totals_of(spec: TableSpec) -> npt.NDArray[np.int64]:
    """For each cell, on how many axes it stands at a total or a coarser level."""
    totals = np.zeros(spec.shape, dtype=np.int64)
    for at, axis in enumerate(spec.axes):
        place = [1] * len(spec.shape)
        place[at] = -1
        outside = np.arange(len(axis.codes)) >= axis.blocks[0].size
        totals += outside.astype(np.int64).reshape(place)
    return totals


def _share(known: npt.NDArray[np.bool_], of: npt.NDArray[np.bool_]) -> float | None:
    cells = int(of.sum())
    return int((known & of).sum()) / cells if cells else None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Grouped(Confidential):
    """Tables that are counted with their ancestors, for the rule of the smallest group."""

    rule: GroupRule
    specs: tuple[TableSpec, ...]
    tabulate: Tabulate

    def __repr__(self) -> str:
        return f"<Grouped {len(self.specs)} tables>"

    def cubes(self, counted: Sequence[Cube]) -> list[Cube]:
        """The cubes of the tables alone."""
        return [
            ancestry_of(spec).cut_cube(cube) for spec, cube in zip(self.specs, counted, strict=True)
        ]

    def protect(self, at: int, counted: Cube, method: Method) -> tuple[Cube, Table]:
        """The cube of a table, and what is published of it."""
        protected = self.rule.protect(self.specs[at], method, self.tabulate, counted=counted)
        return protected.audit.cube.held_for("the study"), protected.table.held_for("the study")


#: The generator that draws independent noise begins here, so that a study can be repeated.
SEED = 20_260_301
#: More threads than this gain nothing: memory is what they wait for.
_MOST_WORKERS = 8


def scheme_candidates(
    schemes: Iterable[str] = SCHEMES,
    draws: Iterable[NoiseDraw | str] = (NoiseDraw.ASCENDING, NoiseDraw.INDEPENDENT),
    *,
    secret: Secret | SubSecret | None = None,
    zeros_known: bool = False,
) -> tuple[Candidate, ...]:
    """Schemes by their names, each drawn in several ways.

    Args:
        schemes: Names of published schemes, however they are spelled.
        draws: How their noise is drawn; ``hashed`` needs the secret.
        secret: The office secret.
        zeros_known: Whether an intruder knows that empty cells are published as 0. The founding
            study takes it that nothing but the largest change is known.
    """
    chosen = [member(NoiseDraw, "draw", draw) for draw in draws]
    candidates = []
    for design in {design.name: design for design in map(scheme, schemes)}.values():
        knowledge = Knowledge(max_deviation=design.max_deviation, zeros_known=zeros_known)
        for draw in dict.fromkeys(chosen):
            lookup = Lookup.HASHED if draw is NoiseDraw.HASHED else Lookup.ASCENDING
            candidates.append(
                Candidate(
                    name=design.name,
                    method=CellKey(design, secret=secret, lookup=lookup),
                    knowledge=knowledge,
                    draw=draw,
                    perturbation=design,
                )
            )
    return tuple(candidates)


def compare(
    census: Census,
    specs: Sequence[TableSpec],
    candidates: Sequence[Candidate],
    *,
    smallest_group: int | None = None,
    generator: np.random.Generator | None = None,
    workers: int | None = None,
    language: str | None = None,
    progress: Progress = no_progress,
) -> Study:
    """Protect every table by every method, and measure all of them.

    Args:
        census: Whose tables.
        specs: The tables.
        candidates: The methods: ``scheme_candidates(...)``, and any others.
        smallest_group: Groups that are published below this are not broken down further, by any
            of the methods.
        generator: Draws the independent noise; by default one that begins where it always does.
        workers: How many threads; by default one for each processor.
        language: The language of words and labels.
        progress: Called with the stage and how much of it is done.
    """
    _check(specs, candidates)
    rule = GroupRule(smallest_group)
    progress("counting", 0.0)
    return compare_cubes(
        cubes_of(census, [rule.counted(spec) for spec in specs]),
        candidates,
        census=census.schema.census.name_in(language),
        grouped=Grouped(rule, tuple(specs), census.tabulate) if rule else None,
        generator=generator,
        workers=workers,
        language=language,
        progress=progress,
    )


def compare_cubes(
    cubes: Sequence[Cube],
    candidates: Sequence[Candidate],
    *,
    census: str = "",
    grouped: Grouped | None = None,
    generator: np.random.Generator | None = None,
    workers: int | None = None,
    language: str | None = None,
    progress: Progress = no_progress,
) -> Study:
    """The same for tables that are counted already; ``census`` is what it is called."""
    counted = cubes
    if grouped is not None:
        cubes = grouped.cubes(counted)
    _check([cube.spec for cube in cubes], candidates)
    draw = np.random.default_rng(SEED) if generator is None else generator
    fresh: dict[int, Cube] = {}
    if any(candidate.draw is NoiseDraw.INDEPENDENT for candidate in candidates):
        fresh = {at: with_fresh_keys(cube, draw) for at, cube in enumerate(counted)}

    persons = max(int(cube.count[interior(cube.spec)].sum()) for cube in cubes)
    printed = preset_of([cube.spec for cube in cubes], persons) is not None

    def measured(at: int, candidate: Candidate) -> StudyResult:
        source = fresh[at] if candidate.draw is NoiseDraw.INDEPENDENT else counted[at]
        if grouped is not None:
            cube, table = grouped.protect(at, source, candidate.method)
            return _measured(cube, table, candidate, language, printed=printed)
        return _measure(source, candidate, language, printed=printed)

    # The largest first: the others fill the time until the last of them ends.
    order = sorted(range(len(cubes)), key=lambda at: -cubes[at].spec.cells)
    tasks = [(at, which) for at in order for which in range(len(candidates))]
    results: dict[tuple[int, int], StudyResult] = {}
    weights = [cube.spec.cells for cube in cubes]
    whole, done = sum(weights) * len(candidates), 0
    threads = workers or min(_MOST_WORKERS, os.cpu_count() or 1)
    with ThreadPoolExecutor(threads) as pool:
        running = {pool.submit(measured, at, candidates[which]): (at, which) for at, which in tasks}
        try:
            for ended in as_completed(running):
                at, which = running[ended]
                results[at, which] = ended.result()
                done += weights[at]
                progress("comparing methods", done / whole)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    names = _names([cube.spec for cube in cubes])
    return Study(
        census=census,
        data_version=cubes[0].origin.data_version,
        secret_id=cubes[0].origin.secret_id,
        tables=tuple(
            StudyTable(
                spec=cube.spec,
                name=names[at],
                original=_original(cube),
                results=tuple(results[at, which] for which in range(len(candidates))),
            )
            for at, cube in enumerate(cubes)
        ),
        candidates=tuple(candidates),
        zeros_known=any(
            candidate.knowledge and candidate.knowledge.zeros_known for candidate in candidates
        ),
        language=language,
    )


def _check(specs: Sequence[TableSpec], candidates: Sequence[Candidate]) -> None:
    if not specs:
        raise SpecError("A study needs a table at least: --by AXES, or --table AXES.")
    if not candidates:
        raise SpecError("A study needs a method at least, such as the schemes CP1 and CP3.")
    if any(spec.measure is not Measure.COUNT for spec in specs):
        raise SpecError("A study compares counts of records; weighted tables are not compared.")
    titles = [candidate.title for candidate in candidates]
    for at, title in enumerate(titles):
        if title in titles[:at]:
            raise SpecError(f"Two methods of the study are called {title!r}. Give each a name.")


def _measure(
    cube: Cube, candidate: Candidate, language: str | None, *, printed: bool
) -> StudyResult:
    table = candidate.method.protect(cube).table.held_for("comparing methods")
    return _measured(cube, table, candidate, language, printed=printed)


def _measured(
    cube: Cube, table: Table, candidate: Candidate, language: str | None, *, printed: bool
) -> StudyResult:
    method, known = candidate.method, candidate.knowledge
    intruder = (
        intruder_of(cube, table, method)
        if known is None
        else given_intruder(cube, table, method, known)
    )
    fits = fitting(cube, intruder, intruder.known)
    design = candidate.perturbation
    return StudyResult(
        candidate=candidate,
        disclosed=fits.disclosed,
        cells=fits.cells,
        small_disclosed=fits.small_disclosed,
        small_cells=fits.small_cells,
        risk=composite_risk_of(cube, table).value,
        utility=utility_of(cube, table),
        profile=None if design is None else profile(cube, table, design),
        worst=worst(cube, table, language=language),
        given_away=given_away(cube, table, fits.intervals, language=language),
        by_interior=interior_sums(cube, table, intruder.known) if printed else None,
    )


def _original(cube: Cube) -> Original:
    counts = cube.count[interior(cube.spec)]
    risk = composite_risk_of(cube)
    small = int(((counts > 0) & (counts <= SMALL)).sum())
    empty = int((counts == 0).sum())
    return Original(
        population=int(counts.sum()),
        interior_cells=counts.size,
        mean_cell_size=int(counts.sum()) / counts.size,
        share_small=small / counts.size,
        share_small_or_empty=(small + empty) / counts.size,
        risk=risk.value,
        warnings=risk.warnings,
    )


#: The numbers of axes for which tables have a name of their own.
_NAMED_WAYS = 5


def _names(specs: Sequence[TableSpec]) -> list[Sentence]:
    """Tables by their number of axes, with a number where that does not tell them apart."""
    ways = [_way(len(spec.axes)) for spec in specs]
    return [
        way
        if ways.count(way) == 1
        else sentence("study.ways.numbered", way=way, n=ways[: at + 1].count(way))
        for at, way in enumerate(ways)
    ]


def _way(axes: int) -> Sentence:
    if axes <= _NAMED_WAYS:
        return sentence(f"study.ways.{axes}")
    return sentence("study.ways.more", n=axes)
