"""Comparing methods on a census's own tables: what each gives away, and what each costs.

The layout is that of the founding study (ECLAC 2020): tables of growing detail, every method on
each of them, disclosure risk beside the loss of information. Nothing here is published: all of it
is computed from true counts.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace

import numpy as np

from sdcensus.errors import SdcensusError, Sentence, SpecError
from sdcensus.model.confidential import Confidential
from sdcensus.model.cube.ancestors import ancestry_of
from sdcensus.model.cube.constraints import interior
from sdcensus.model.cube.cube import Cube
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.published.table import Table
from sdcensus.model.secret import Secret
from sdcensus.model.sentences import sentence
from sdcensus.model.spec.table_spec import Measure, TableSpec
from sdcensus.model.vocabulary import NoiseDraw, RiskAxis
from sdcensus.report.study.published import preset_of
from sdcensus.report.study.results import (
    Candidate,
    Original,
    Study,
    StudyResult,
    StudyTable,
)
from sdcensus.risk.composite import composite_risk_of
from sdcensus.risk.feasibility import SMALL
from sdcensus.session.census.census import Census
from sdcensus.session.protect.smallest_group import GroupRule
from sdcensus.session.study.derived import Records, derived_records, original_records
from sdcensus.session.study.measuring import TrueTable, measured, true_table
from sdcensus.session.study.tables import cubes_of, with_fresh_keys

#: The generator that draws independent noise begins here, so that a study can be repeated.
SEED = 20_260_301
#: More threads than this gain nothing: memory is what they wait for.
_MOST_WORKERS = 8


def compare(
    census: Census,
    specs: Sequence[TableSpec],
    candidates: Sequence[Candidate],
    *,
    smallest_group: int | None = None,
    secret: Secret | None = None,
    left_out: Sequence[tuple[str, str]] = (),
    preset: str = "",
    risk_axis: RiskAxis = RiskAxis.COMPOSITE,
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
        secret: The office secret, for methods that change records.
        left_out: Points of a grid that cannot be made, each with the reason.
        preset: The printed study that is repeated.
        risk_axis: What stands for risk on the maps.
        generator: Draws the independent noise; by default one that begins where it always does.
        workers: How many threads; by default one for each processor.
        language: The language of words and labels.
        progress: Called with the stage and how much of it is done.
    """
    _check(specs, candidates)
    rule = GroupRule(smallest_group)
    progress("counting", 0.0)
    asked = [rule.counted(spec) for spec in specs]
    original = original_records(census, asked, cubes_of(census, asked), specs)

    def records_of(before: tuple[str, ...]) -> Records:
        if not before:
            return original
        return derived_records(census, before, asked, specs, secret=secret)

    study = _compared(
        _Tables(tuple(specs), original, rule, census.schema.census.name_in(language), language),
        candidates,
        records_of,
        np.random.default_rng(SEED) if generator is None else generator,
        workers,
        progress,
    )
    lineage = () if census.kept_store is None else census.kept_store.manifest.lineage
    return replace(
        study,
        left_out=(*left_out, *study.left_out),
        preset=preset,
        lineage=tuple(step.method for step in lineage),
        risk_axis=risk_axis,
    )


def compare_cubes(
    cubes: Sequence[Cube],
    candidates: Sequence[Candidate],
    *,
    census: str = "",
    generator: np.random.Generator | None = None,
    workers: int | None = None,
    language: str | None = None,
    progress: Progress = no_progress,
) -> Study:
    """The same for tables that are counted already; ``census`` is what it is called.

    Without the records nothing can be changed in them, and further measures are left out.
    """
    specs = tuple(cube.spec for cube in cubes)
    _check(specs, candidates)
    for candidate in candidates:
        if candidate.before:
            raise SpecError(f"{candidate.name}: the records are not at hand, so none is changed.")
    origins = {(cube.origin.data_version, cube.origin.secret_id) for cube in cubes}
    if len(origins) > 1:
        raise SpecError(
            "The tables are counted from different records"
            f" (versions {', '.join(sorted(version for version, _ in origins))}). A study compares"
            " methods on one store: count all tables from the same one."
        )
    original = Records(None, specs, tuple(cubes), None)
    return _compared(
        _Tables(specs, original, GroupRule(None), census, language),
        candidates,
        lambda _: original,
        np.random.default_rng(SEED) if generator is None else generator,
        workers,
        progress,
    )


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _Tables(Confidential):
    """The tables of a study and how they are told."""

    specs: tuple[TableSpec, ...]
    original: Records
    rule: GroupRule
    census: str
    language: str | None

    def __repr__(self) -> str:
        return f"<_Tables {len(self.specs)}: confidential>"

    def cubes(self) -> list[Cube]:
        """True counts, without the ancestors that were counted with them."""
        if not self.rule:
            return [*self.original.cubes]
        pairs = zip(self.specs, self.original.cubes, strict=True)
        return [ancestry_of(spec).cut_cube(cube) for spec, cube in pairs]


def _compared(
    tables: _Tables,
    candidates: Sequence[Candidate],
    records_of: Callable[[tuple[str, ...]], Records],
    generator: np.random.Generator,
    workers: int | None,
    progress: Progress,
) -> Study:
    cubes, original = tables.cubes(), tables.original
    fresh: dict[int, Cube] = {}
    if any(candidate.draw is NoiseDraw.INDEPENDENT for candidate in candidates):
        fresh = {at: with_fresh_keys(cube, generator) for at, cube in enumerate(original.cubes)}
    persons = max(int(cube.count[interior(cube.spec)].sum()) for cube in cubes)
    printed = preset_of([cube.spec for cube in cubes], persons) is not None
    true = [true_table(cube, printed=printed, language=tables.language) for cube in cubes]
    weights = [cube.spec.cells for cube in cubes]
    # The largest first: the others fill the time until the last of them ends.
    order = sorted(range(len(cubes)), key=lambda at: -weights[at])
    whole, done = sum(weights) * len(candidates), 0
    results: dict[tuple[int, int], StudyResult] = {}
    refused: list[tuple[str, str]] = []
    violations: dict[tuple[str, ...], int] = {}
    with ThreadPoolExecutor(workers or min(_MOST_WORKERS, os.cpu_count() or 1)) as pool:
        # Records that a method changed are made once, and forgotten before the next ones.
        for before in dict.fromkeys(candidate.before for candidate in candidates):
            own = [which for which in range(len(candidates)) if candidates[which].before == before]
            records = _made(records_of, before, [candidates[which] for which in own], refused)
            if records is None:
                continue
            violations[before] = records.violations
            measure = _Measure(tables, records, candidates, true, fresh)
            running = {
                pool.submit(measure, at, which): (at, which) for at in order for which in own
            }
            try:
                for ended in as_completed(running):
                    at, which = running[ended]
                    done += weights[at]
                    try:
                        results[at, which] = ended.result()
                    except SdcensusError as error:
                        if not candidates[which].optional:
                            raise
                        refused.append((candidates[which].title, str(error)))
                    progress("comparing methods", done / whole)
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise
    refused = list(dict.fromkeys(refused))
    kept = [
        which
        for which in range(len(candidates))
        if all((at, which) in results for at in range(len(cubes)))
    ]
    if not kept:
        raise SpecError("\n".join(f"{title}: {reason}" for title, reason in refused[:3]))
    study = _told(tables, cubes, [candidates[which] for which in kept], results, kept)
    broken = [
        (candidate.title, violations[candidate.before])
        for candidate in study.candidates
        if violations[candidate.before]
    ]
    return replace(study, left_out=tuple(refused), violations=tuple(broken))


class _Measure(Confidential):
    """Protects tables by methods and measures them; those that a method protects together, once."""

    __slots__ = (
        "_candidates",
        "_fresh",
        "_given",
        "_locks",
        "_records",
        "_tables",
        "_together",
        "_true",
    )

    def __init__(
        self,
        tables: _Tables,
        records: Records,
        candidates: Sequence[Candidate],
        true: Sequence[TrueTable],
        fresh: Mapping[int, Cube],
    ) -> None:
        self._tables, self._records, self._candidates = tables, records, candidates
        self._true, self._fresh = true, fresh
        self._given = [records.given(at, spec) for at, spec in enumerate(tables.specs)]
        self._locks = [threading.Lock() for _ in candidates]
        self._together: dict[int, tuple[Table, ...] | None] = {}

    def __call__(self, at: int, which: int) -> StudyResult:
        """What a method makes of a table."""
        candidate = self._candidates[which]
        together = self._protected_together(which)
        if together is not None:
            table = together[at]
        else:
            drawn = candidate.draw is NoiseDraw.INDEPENDENT
            counted = self._fresh[at] if drawn else self._records.cubes[at]
            spec, rule = self._tables.specs[at], self._tables.rule
            table = self._records.protect(spec, counted, candidate, rule)
        return measured(self._true[at], self._given[at], table, candidate)

    def _protected_together(self, which: int) -> tuple[Table, ...] | None:
        with self._locks[which]:
            if which not in self._together:
                self._together[which] = self._records.protect_together(
                    self._tables.specs, self._candidates[which], self._tables.rule
                )
            return self._together[which]


def _made(
    records_of: Callable[[tuple[str, ...]], Records],
    before: tuple[str, ...],
    candidates: Sequence[Candidate],
    refused: list[tuple[str, str]],
) -> Records | None:
    """The records of some methods; of points of a grid that cannot be made, the reason instead."""
    try:
        return records_of(before)
    except SdcensusError as error:
        if any(candidate.point is None and not candidate.optional for candidate in candidates):
            if isinstance(error, SpecError):  # of many methods, which one it is
                raise SpecError(f"{candidates[0].name}: {error}") from None
            raise
        refused += [(candidate.name, str(error)) for candidate in candidates]
        return None


def _told(
    tables: _Tables,
    cubes: Sequence[Cube],
    candidates: Sequence[Candidate],
    results: Mapping[tuple[int, int], StudyResult],
    kept: Sequence[int],
) -> Study:
    names = _names(tables.specs)
    return Study(
        census=tables.census,
        data_version=cubes[0].origin.data_version,
        secret_id=cubes[0].origin.secret_id,
        tables=tuple(
            StudyTable(
                spec=cube.spec,
                name=names[at],
                original=_original(cube),
                results=tuple(results[at, which] for which in kept),
            )
            for at, cube in enumerate(cubes)
        ),
        candidates=tuple(candidates),
        zeros_known=any(
            candidate.knowledge and candidate.knowledge.zeros_known for candidate in candidates
        ),
        language=tables.language,
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
    ways = [
        sentence("study.ways.lettered", name=spec.name) if spec.name else _way(len(spec.axes))
        for spec in specs
    ]
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
