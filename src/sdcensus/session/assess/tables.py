"""Assessments of tables of a census: one that is described, a published file, or all of a plan."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from sdcensus.documents.policy.document import read_policy
from sdcensus.errors import SdcensusError, SpecError
from sdcensus.formats.read.tables import read_published
from sdcensus.methods.method import Method
from sdcensus.model.cube.contributions import ContributionNeeds
from sdcensus.model.cube.cube import Cube
from sdcensus.model.cube.sparse_cube import AnyCube
from sdcensus.model.policy.policy import UserRole, menu_of
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.published.protected import Protected
from sdcensus.model.published.table import Table
from sdcensus.model.schema.variable import Hierarchy, Variable
from sdcensus.model.sentences import sentence
from sdcensus.model.spec.axis import Axis, make_axis
from sdcensus.model.spec.measures import MeasureOf
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.report.magnitude.results import AnyAssessment
from sdcensus.risk.groups.broken_down import BrokenDown, GroupNoise
from sdcensus.risk.looks.budget import LookBudget
from sdcensus.session.assess.assessment import assess_table
from sdcensus.session.assess.options import AssessOptions, RecordsBehind, Surroundings
from sdcensus.session.assess.records import records_behind
from sdcensus.session.assess.together import (
    budget_of_menu,
    budgets_of,
    opened_registry,
    others_of,
)
from sdcensus.session.census.census import Census, open_store
from sdcensus.session.gate.broken_down import (
    broken_down_in_menu,
    broken_down_in_tables,
    group_noise,
)
from sdcensus.session.protect.smallest_group import in_force
from sdcensus.session.protect.table import protect_table
from sdcensus.store.registry import Registry

#: How many units are put into cells at most.
ASSESS_WORK = 200_000_000


def groups_of(
    census: Census,
    spec: TableSpec,
    others: Sequence[TableSpec],
    method: Method | None,
    *,
    smallest_group: int | None = None,
    policy: str | Path | None = None,
    progress: Progress = no_progress,
) -> tuple[BrokenDown, ...]:
    """What a table and the others together break down, and what a menu does.

    Tables of a registry may be of code lists that this census has no more: what cannot be counted
    is left out.

    Args:
        census: The census.
        spec: The table.
        others: The other tables with the same people.
        method: How they are protected, if that is known.
        smallest_group: The rule of the smallest group, if there is one.
        policy: The policy whose menu is meant as well, if one is named.
        progress: Told how far it is.
    """
    noise = GroupNoise(None, None) if method is None else group_noise(method, smallest_group)
    broken_downs: list[BrokenDown] = []
    tables = [table for table in (spec, *others) if table.of is spec.of]
    if others:
        with suppress(SdcensusError):
            broken_downs += broken_down_in_tables(
                census, tables, lambda _: noise, most_work=ASSESS_WORK, progress=progress
            )
    if policy is not None:
        rules = read_policy(policy, census.schema)
        broken_downs.append(
            broken_down_in_menu(
                census,
                menu_of(rules, census.schema, of=spec.of, role=UserRole.PUBLIC),
                replace(noise, smallest_group=rules.online.smallest_group or smallest_group),
                most_work=ASSESS_WORK,
                progress=progress,
            )
        )
    return tuple(broken_downs)


#: Larger tables are counted anew rather than kept in memory.
_KEPT_CELLS = 200_000


@dataclass(frozen=True, slots=True)
class OthersBeside:
    """The other tables with the same people, what they break down, and the accepted chance."""

    others: tuple[TableSpec, ...] = ()
    budgets: tuple[LookBudget, ...] | None = None
    limit: float | None = None
    groups: tuple[BrokenDown, ...] = ()

    def added_to(self, options: AssessOptions, census: Census) -> AssessOptions:
        """The options of a table of this census, with what it stands beside."""
        return replace(
            options,
            schema=census.schema,
            others=self.others,
            budgets=self.budgets,
            groups=self.groups,
            recovery_limit=self.limit,
        )


class TableCounter:
    """Counts tables of a census; those that are asked for again and again are kept."""

    def __init__(self, census: Census) -> None:
        self.census = census
        self.kept: dict[str, Cube] = {}

    def __call__(self, spec: TableSpec) -> AnyCube:
        """Count a table."""
        key = spec.hash()
        if key in self.kept:
            return self.kept[key]
        counted = self.census.tabulate(in_this_census(self.census, spec))
        if isinstance(counted, Cube) and spec.cells <= _KEPT_CELLS:
            self.kept[key] = counted
        return counted


def assess_spec(
    census: Census,
    spec: TableSpec,
    method: Method,
    options: AssessOptions | None = None,
    around: Surroundings | None = None,
    *,
    progress: Progress = no_progress,
) -> AnyAssessment:
    """Count a table, protect it, and assess what would be published."""
    said = replace(options or AssessOptions(), method=method)
    beside = around or Surroundings()
    if beside.policy is not None:
        policy = read_policy(beside.policy, census.schema)
        smallest = in_force(policy, UserRole.PUBLIC, beside.smallest_group)
        beside = replace(beside, smallest_group=smallest)
    others = others_beside(census, spec, said, beside, progress=progress)
    said = replace(
        others.added_to(said, census),
        tabulate=TableCounter(census),
        behind=_behind(census, spec, beside),
    )
    return assessed(census, spec, method, said, beside, progress)


def _behind(census: Census, spec: TableSpec, around: Surroundings) -> RecordsBehind | None:
    """The records behind a table of counts."""
    if spec.amount is not None:
        if around.original is not None:
            raise SpecError(
                f"{spec.title}: only counts are compared with the records of the original store."
                " Leave --original out."
            )
        return None
    original = None if around.original is None else open_store(around.original)
    return records_behind(census, spec, original)


def assess_published(
    census: Census,
    path: str | Path,
    options: AssessOptions | None = None,
    around: Surroundings | None = None,
    *,
    progress: Progress = no_progress,
) -> AnyAssessment:
    """Assess a file that was written for publication, against the census that it is from.

    Args:
        census: The census.
        path: The file, as ``sdcensus protect`` wrote it.
        options: How it was protected, if that is known, and what is asked.
        around: What it is taken together with.
        progress: Told how far it is.
    """
    said = options or AssessOptions()
    published = read_published(path)
    provenance = published.provenance
    progress(f"counting {published.table.spec.title}", 0.0)
    spec = in_this_census(census, published.table.spec)
    cube = census.tabulate(spec)
    version = cube.origin.data_version
    made_from = "" if provenance is None else provenance.data_version
    if made_from and version and made_from != version:
        raise SpecError(
            f"{path} was made from other records than this store holds (version"
            f" {made_from}, and the store has {version}). Give the store that it is from."
        )
    table = published.table
    if isinstance(table, Table):
        table = replace(table, spec=spec)
    beside = around or Surroundings()
    others = others_beside(census, spec, said, beside, progress=progress)
    said = replace(
        others.added_to(said, census),
        provenance=provenance,
        tabulate=TableCounter(census),
        behind=_behind(census, spec, beside),
    )
    return assess_table(cube, table, said, progress=progress)


def assessed(
    census: Census,
    spec: TableSpec,
    method: Method,
    options: AssessOptions,
    around: Surroundings,
    progress: Progress,
    protected: Protected | None = None,
) -> AnyAssessment:
    """Protect a table, unless it is protected already, and assess what would be published."""
    if protected is None:
        protected = protect_table(
            census, spec, method, smallest_group=around.smallest_group, progress=progress
        )
    cube = protected.audit.cube
    if spec.amount is not None:
        # Attackers look at more of the contributions than the method has to.
        cube = census.tabulate(spec, contributions=ContributionNeeds())
    return assess_table(cube, protected, options, progress=progress)


def others_beside(
    census: Census,
    spec: TableSpec,
    said: AssessOptions,
    around: Surroundings,
    *,
    planned: Sequence[TableSpec] = (),
    obeyed: Path | None = None,
    progress: Progress,
) -> OthersBeside:
    """What a table stands beside: a registry, a plan, the menu of a policy.

    Args:
        census: The census.
        spec: The table, or one of a plan.
        said: What was said on the command line or in Python.
        around: What it is taken together with, besides the plan.
        planned: All tables of the plan, if there is one.
        obeyed: The file of the policy that the plan obeys: its limit holds, its menu is not meant.
        progress: Told how far it is.
    """
    registry = opened_registry(around.registry)
    if spec.amount is not None:
        return OthersBeside(others_of(spec, registry, planned))
    others = others_of(spec, registry, planned)
    budgets: list[LookBudget] = []
    if others or planned:
        alike = sum(table.of is spec.of for table in planned)
        budgets += budgets_of(spec, others, _scope(alike, registry))
    limit = None
    if obeyed is not None:
        limit = read_policy(obeyed, census.schema).online.recovery
    if around.policy is not None:
        budget, limit = budget_of_menu(around.policy, census.schema, spec.of)
        budgets.append(budget)
    if said.recovery_limit is not None:
        limit = said.recovery_limit
    groups = groups_of(
        census,
        spec,
        others,
        said.method,
        smallest_group=around.smallest_group,
        policy=around.policy,
        progress=progress,
    )
    return OthersBeside(others, tuple(budgets), limit, groups)


def _scope(planned: int, registry: Registry | None) -> str:
    """How a budget calls the tables that are taken together."""
    if not planned:
        return ""
    text = sentence(f"assess.scope.plan{'' if planned > 1 else '_one'}", n=planned)
    if registry is not None:
        text = sentence("assess.scope.before", scope=text, n=len(registry.specs()))
    return text


def in_this_census(census: Census, spec: TableSpec) -> TableSpec:
    """The same table with the variables of this census, so that it can be counted."""
    own = {variable.name: variable for variable in census.schema.variables}
    for variable in [*(axis.variable for axis in spec.axes), *spec.universe.variables]:
        if variable.name not in own:
            raise SpecError(
                f"The published table has a variable {variable.name!r}, which this census has not."
                " Give the store that the table was made from."
            )
        codes, mine = variable.codes, own[variable.name].codes
        if [code.code for code in codes] != [code.code for code in mine]:
            raise SpecError(
                f"The published table has another code list of {variable.name!r} than this census."
                " Give the store that the table was made from."
            )
    by = [axis.variable.name for axis in spec.axes]
    amount = "" if spec.amount is None else spec.amount.name
    measure = str(MeasureOf(spec.measure, amount))
    known = census.spec(*by, of=spec.of, measure=measure, name=spec.name)
    axes = tuple(_own_axis(axis, own[axis.variable.name]) for axis in spec.axes)
    planned = replace(known, axes=axes, universe=spec.universe)
    if planned.hash() != spec.hash():
        raise SpecError(
            "The published table has other levels than this census. Give the store that it was made"
            " from."
        )
    return planned


def _own_axis(axis: Axis, variable: Variable) -> Axis:
    """An axis with the variable of a census; levels that only a programme has are added to it."""
    mine = {level.name: level for level in variable.levels()}
    trees = [Hierarchy(level.name, (level,)) for level in axis.levels if level.name not in mine]
    known = replace(variable, hierarchies=(*variable.hierarchies, *trees))
    return make_axis(
        known, [mine.get(level.name, level) for level in axis.levels], total=axis.total
    )
