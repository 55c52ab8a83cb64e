"""What a derivation does to tables: original, derived, derived and perturbed, side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SdcensusError, SpecError
from sdcensus.microdata.derived_store import DerivedRecords
from sdcensus.microdata.derived_view import DerivedView
from sdcensus.microdata.edit_rules import NewViolations
from sdcensus.microdata.method import Draws, PreTabularMethod, Searching
from sdcensus.microdata.one_kind import derived_records
from sdcensus.model.confidential import Confidential
from sdcensus.model.cube.constraints import interior
from sdcensus.model.cube.cube import Cube
from sdcensus.model.cube.pairs import true_values
from sdcensus.model.cube.parts import TablePart
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.published.table import Table
from sdcensus.model.schema.edit_rules import edit_rules
from sdcensus.model.schema.schema import Schema
from sdcensus.model.secret import Secret
from sdcensus.model.spec.table_spec import Measure, TableSpec, area_axis
from sdcensus.report.derivation.results import (
    AssociationEffect,
    Effects,
    LevelRisk,
    RuleCheck,
    StageEffect,
    TableEffect,
)
from sdcensus.risk.composite import composite_risk_of
from sdcensus.session.census.census import Census
from sdcensus.session.derive.combined import combined_levels
from sdcensus.session.derive.questions import (
    EffectQuestions,
    association_of,
    table_of,
    table_texts,
)
from sdcensus.session.derive.step import Step
from sdcensus.session.derive.touched import Touched
from sdcensus.session.study.tables import cubes_of
from sdcensus.utility.association import cramers_v
from sdcensus.utility.by_row import RowMeasures, per_row
from sdcensus.utility.distances import Utility, utility_of
from sdcensus.utility.evaluation import Stage, evaluation_row

#: With other keys, a method is run so often, if the census has no more records than this.
REPETITIONS, MOST_REPEATED_RECORDS = 5, 500_000
#: The same for a method that searches for long.
MOST_SEARCHED_RECORDS = 5_000
#: What repetitions tell: names of measures of utility.
REPEATED = ("mean_absolute_distance", "hellinger_normalised", "share_unchanged")
#: Marks draws of repetitions; no method counts so far.
_REPETITION = 1 << 62


class RepeatedDraws(Draws):
    """Draws like those of a secret, and others than any that are used for a store."""

    __slots__ = ("_draws", "_number")

    def __init__(self, draws: Draws, number: int) -> None:
        self._draws, self._number = draws, number

    def words(
        self, digests: npt.NDArray[np.uint64], *counters: int | npt.NDArray[np.uint64]
    ) -> npt.NDArray[np.uint64]:
        """64 random bits for each record, for this repetition."""
        return self._draws.words(digests, *counters, _REPETITION + self._number)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _Lens(Confidential):
    """Counts tables of the original and of a derived store, and perturbs the latter."""

    before: Census
    after: Census
    questions: EffectQuestions
    secret: Secret
    weighted: bool

    def original(self, specs: Sequence[TableSpec]) -> tuple[Cube, ...]:
        return cubes_of(self.before, specs)

    def derived(self, specs: Sequence[TableSpec]) -> tuple[Cube, ...]:
        """The same tables of the derived store; by weights where the method made some."""
        wanted = [
            TableSpec.build(
                self.after.schema,
                [axis.name for axis in spec.axes],
                of=spec.of,
                measure=Measure.WEIGHTED if self.weighted else spec.measure,
            )
            for spec in specs
        ]
        return cubes_of(self.after, wanted)

    def stages(self, spec: TableSpec, derived: Cube) -> tuple[Table, Table]:
        """The table after the step, and perturbed besides, as tables of the original's cells."""
        method = self.questions.method(self.after, spec.of, self.secret)
        protected = method.protect(derived).table.held_for("the report")
        return Table(spec, true_values(derived)), replace(protected, spec=spec)

    def combined(self, spec: TableSpec) -> tuple[LevelRisk, ...]:
        """What small published values say by the step and the perturbation together."""
        if self.weighted or spec.measure is Measure.WEIGHTED:
            return ()
        method = self.questions.method(self.after, spec.of, self.secret)
        return combined_levels(self.before.store, self.after.store, spec, method.noise)


def measured_effects(
    step: Step,
    derived: DerivedRecords,
    questions: EffectQuestions,
    secret: Secret,
    violations: Sequence[NewViolations] = (),
    progress: Progress = no_progress,
) -> Effects:
    """Measure a derivation against the store that it began with.

    Args:
        step: The method, its parameters and its draws.
        derived: What it made of the store.
        questions: What the office wants to know.
        secret: The office secret.
        violations: Records that break an edit rule and did not before.
        progress: Called with the stage and how much of it is done.
    """
    store, changes = step.store, derived.changes
    schema = store.schema
    progress("looking at changed records", 0.0)
    view = DerivedView(derived, step.derivation)
    touched = Touched(derived, view)
    lens = _lens(step, view, touched, questions, secret)
    specs = [
        table_of(text, schema, weighing=lens.weighted)
        for text in table_texts(questions, schema, changes)
    ]
    pairs = [
        association_of(text, schema, weighing=lens.weighted) for text in questions.associations
    ]
    repeated, repetitions = _repeated(step, derived, lens, specs, progress)
    gone = {entity: int(mask.sum()) for entity, mask in derived.gone.items() if mask.any()}
    area = schema.geography
    return Effects(
        census=schema.census.name_in(questions.language),
        method=step.method.name,
        summary=step.method.summary,
        settings=tuple(
            (name, _plain(value))
            for name, value in step.settings.items()
            if value is not None and value is not False and value not in ("", ())
        ),
        lineage=(*store.manifest.lineage, step.derivation),
        rows={entity: int(order.size) for entity, order in derived.order.items()},
        dropped=gone,
        levels=tuple(touched.levels()),
        weights=tuple(variable.name for variable, _ in touched.weights()),
        tables=tuple(_tables(lens, touched, specs, repeated, progress)),
        named=bool(questions.tables),
        repetitions=repetitions,
        associations=tuple(_associations(lens, pairs)),
        rules=tuple(_rules(schema, violations)),
        other_areas=tuple(
            (variable.label, variable.name in changes.codes)
            for variable in schema.geographies
            if area is None or variable.name != area.name
        ),
        facts=changes.facts,
        figures=dict(changes.figures),
        notes=changes.notes,
        perturbation=questions.perturbation,
        language=questions.language,
    )


def _lens(
    step: Step, view: DerivedView, touched: Touched, questions: EffectQuestions, secret: Secret
) -> _Lens:
    weighted = any(True for _ in touched.weights())
    before, after = Census(step.store.schema, step.store), Census(view.schema, view)
    return _Lens(before, after, questions, secret, weighted)


def _plain(value: object) -> str:
    if isinstance(value, tuple | list):
        return "; ".join(map(str, value))
    return str(value)


def _tables(
    lens: _Lens,
    touched: Touched,
    specs: Sequence[TableSpec],
    repeated: Mapping[tuple[int, Stage], Mapping[str, tuple[float, float, float]]],
    progress: Progress,
) -> Iterator[TableEffect]:
    progress("measuring tables", 0.0)
    originals, derived = lens.original(specs), lens.derived(specs)
    for at, (spec, cube, after) in enumerate(zip(specs, originals, derived, strict=True)):
        progress("measuring tables", at / len(specs))
        changed, perturbed = lens.stages(spec, after)
        tables = {Stage.SWAPPED: changed, Stage.PUBLISHED: perturbed}
        yield TableEffect(
            spec=spec,
            evaluation=evaluation_row(at + 1, cube, perturbed, others=((Stage.SWAPPED, changed),)),
            original_risk=_risk(cube),
            small=touched.small_cells(spec),
            stages=tuple(
                StageEffect(
                    stage=stage,
                    utility=utility_of(cube, table),
                    risk=_risk(cube, table),
                    rows=_by_area(cube, table),
                    unprotected=_unprotected(touched, cube, table, stage),
                    repeated=repeated.get((at, stage), {}),
                )
                for stage, table in tables.items()
            ),
            combined=lens.combined(spec),
        )


def _risk(cube: Cube, table: Table | None = None) -> float | None:
    """The composite risk, which is one of counts."""
    if cube.spec.measure is Measure.WEIGHTED:
        return None
    return composite_risk_of(cube, table).value


def _unprotected(touched: Touched, cube: Cube, table: Table, stage: Stage) -> float | None:
    """DR; perturbed cells protect whoever stands in them as well."""
    if stage is Stage.SWAPPED:
        return touched.kept_in_small(cube.spec)
    if not all(axis.base_is_shown for axis in cube.spec.axes):
        return None
    inner = interior(cube.spec)
    same = true_values(cube)[inner] == table.published[inner]
    return touched.kept_in_small(cube.spec, np.asarray(same))


def _by_area(cube: Cube, table: Table) -> RowMeasures | None:
    try:
        area_axis(cube.spec, None, how="axis=")
        return per_row(cube, table)
    except SpecError:
        return None  # a table without areas, or with nothing beside them


def _associations(lens: _Lens, specs: Sequence[TableSpec]) -> Iterator[AssociationEffect]:
    originals, derived = lens.original(specs), lens.derived(specs)
    for spec, cube, after in zip(specs, originals, derived, strict=True):
        changed, perturbed = lens.stages(spec, after)
        inner = interior(spec)
        values = [
            cramers_v(counts[inner])
            for counts in (true_values(cube), changed.published, perturbed.published)
        ]
        first, second = spec.axes
        yield AssociationEffect(
            axes=(first.name, second.name),
            labels=(first.variable.label, second.variable.label),
            original=values[0].value,
            derived=values[1].value,
            perturbed=values[2].value,
            reason=next((value.reason for value in values if value.reason), ""),
        )


def _rules(schema: Schema, violations: Sequence[NewViolations]) -> Iterator[RuleCheck]:
    """The edit rules, and how many records break each that did not before."""
    new = {violation.rule.text: int(violation.rows.size) for violation in violations}
    for rule in schema.kept(edit_rules):
        yield RuleCheck(rule=rule.text, entity=rule.entity, new=new.get(rule.text, 0))


# ----------------------------------------------------------------------------- other keys


def _repeated(
    step: Step,
    derived: DerivedRecords,
    lens: _Lens,
    specs: Sequence[TableSpec],
    progress: Progress,
) -> tuple[dict[tuple[int, Stage], dict[str, tuple[float, float, float]]], int]:
    """How far measures of tables vary when the method draws with other keys."""
    rows = max(step.store.rows(entity) for entity in step.store.schema.top_down)
    searching = isinstance(step.method, Searching)
    most = MOST_SEARCHED_RECORDS if searching else MOST_REPEATED_RECORDS
    if step.draws is None or rows > most or not specs:
        return {}, 0
    originals = lens.original(specs)
    measured: dict[tuple[int, Stage], list[Utility]] = {}
    repetitions = 0
    for number in range(REPETITIONS):
        progress("repeating with other keys", number / REPETITIONS)
        with suppress(SdcensusError):  # other keys may fit neither the records nor a file
            again = _with_other_keys(step, number)
            cubes = replace(lens, after=again).derived(specs)
            for at, (cube, after) in enumerate(zip(originals, cubes, strict=True)):
                tables = replace(lens, after=again).stages(cube.spec, after)
                for stage, table in zip((Stage.SWAPPED, Stage.PUBLISHED), tables, strict=True):
                    utility = utility_of(cube, table, TablePart.ALL)
                    measured.setdefault((at, stage), []).append(utility)
            repetitions += 1
    return {key: _spans(utilities) for key, utilities in measured.items()}, repetitions


def _with_other_keys(step: Step, number: int) -> Census:
    assert step.draws is not None
    draws = RepeatedDraws(step.draws, number)
    changes = _unbound(step.method).derive(step.store, draws, no_progress)
    view = DerivedView(derived_records(step.store, changes), step.derivation)
    return Census(view.schema, view)


def _unbound(method: PreTabularMethod) -> PreTabularMethod:
    """The method without earlier pairs, which other keys would not change."""
    earlier = next((each for each in fields(cast(Any, method)) if each.name == "earlier"), None)
    if earlier is None:
        return method
    return cast(PreTabularMethod, replace(cast(Any, method), earlier=earlier.default))


def _spans(utilities: Sequence[Utility]) -> dict[str, tuple[float, float, float]]:
    spans = {}
    for name in REPEATED:
        values = [value for each in utilities if (value := getattr(each, name)) is not None]
        if values:
            spans[name] = (min(values), sum(values) / len(values), max(values))
    return spans
