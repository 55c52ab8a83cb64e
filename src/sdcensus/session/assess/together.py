"""What a table gives away together with others: those published before, those planned."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from sdcensus.documents.policy.document import read_policy
from sdcensus.errors import SdcensusError, SpecError
from sdcensus.model.cube.cube import Cube
from sdcensus.model.policy.policy import UserRole
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.variable import Entity
from sdcensus.model.sentences import sentence
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.risk.detection.findings import Findings
from sdcensus.risk.differencing.cut_cells import crossed_geographies, cut_cells
from sdcensus.risk.differencing.differences import differences_between
from sdcensus.risk.differencing.published_before import differences_with
from sdcensus.risk.looks.budget import LookBudget, look_budget_of_tables
from sdcensus.session.assess.options import Tabulate
from sdcensus.session.looks.budget import budget_in
from sdcensus.store.registry import Registry

#: Larger tables are not compared with themselves and others cell by cell.
COMPARED_CELLS = 2_000_000


def opened_registry(registry: Registry | str | Path | None) -> Registry | None:
    """A registry of published tables, by itself or by its folder."""
    if registry is None or isinstance(registry, Registry):
        return registry
    return Registry.open(registry)


def others_of(
    spec: TableSpec, registry: Registry | None, planned: Iterable[TableSpec] = ()
) -> tuple[TableSpec, ...]:
    """The other tables that the same people are in: published before, or planned.

    Beside counts stand counts, and beside sums those of the same amount: a sum is no look at a
    count.
    """
    before = () if registry is None else registry.specs()
    every = {other.hash(): other for other in (*before, *planned) if _alike(other, spec)}
    every.pop(spec.hash(), None)
    return tuple(every.values())


def _alike(other: TableSpec, spec: TableSpec) -> bool:
    """Whether two tables show counts, or sums of one amount."""
    if other.amount is None or spec.amount is None:
        return other.amount is spec.amount
    return other.amount.name == spec.amount.name


def differences_of(
    cube: Cube,
    others: Sequence[TableSpec],
    tabulate: Tabulate | None,
    *,
    left_out: list[str],
    progress: Progress = no_progress,
) -> tuple[Findings, ...]:
    """Few units that the true counts of a table and of others show together.

    Also within the table itself, where its levels do not nest.

    Args:
        cube: True counts of the table.
        others: The other tables.
        tabulate: Counts them; without it they are counted from the cube, where it is fine enough.
        left_out: Is told what could not be compared.
        progress: Told how far it is.
    """
    if cube.spec.cells > COMPARED_CELLS:
        left_out.append(sentence("assess.left_out.differences_large", n=COMPARED_CELLS))
        return ()
    own = differences_between(cube, cube)
    all_differences = list(own)
    for done, spec in enumerate(others):
        progress("comparing with other tables", done / len(others))
        try:
            if tabulate is None:
                all_differences += differences_with(cube, [spec])[len(own) :]
            else:
                all_differences += differences_between(cube, _counted(spec.records, tabulate))
        except SdcensusError as error:
            what = sentence("assess.left_out.differences", title=spec.title)
            left_out.append(sentence("assess.left_out.why", what=what, why=error.said))
    all_differences += _pieces(cube.spec.records, others, tabulate, left_out)
    return tuple(findings for findings in all_differences if findings)


def _pieces(
    own: TableSpec, others: Sequence[TableSpec], tabulate: Tabulate | None, left_out: list[str]
) -> Iterator[Findings]:
    """Few units in what areas of two geographies have in common."""
    if tabulate is None:
        return
    for spec in crossed_geographies(own, [spec.records for spec in others]):
        try:
            yield cut_cells(tabulate(spec)).findings
        except SdcensusError as error:
            what = sentence("assess.left_out.differences", title=spec.title)
            left_out.append(sentence("assess.left_out.why", what=what, why=error.said))


def _counted(spec: TableSpec, tabulate: Tabulate) -> Cube:
    if spec.cells > COMPARED_CELLS:
        raise SpecError(f"more than {COMPARED_CELLS:,} cells are not compared one by one.")
    return tabulate(spec).held_for("comparing it cell by cell")


def budgets_of(
    spec: TableSpec, others: Sequence[TableSpec], scope: str = ""
) -> tuple[LookBudget, ...]:
    """How often a table and the others together look at a cell of such units."""
    tables = [spec, *(other for other in others if other.of is spec.of)]
    key = {0: "alone", 1: "other_one"}.get(len(others), "others")
    words = scope or sentence(f"assess.scope.{key}", n=len(others))
    return look_budget_of_tables(tables, scope=words)


def budget_of_menu(
    path: str | Path, schema: Schema, of: Entity, role: str | UserRole = UserRole.PUBLIC
) -> tuple[LookBudget, float | None]:
    """The look budget of everything that a policy opens, and the chance that it accepts."""
    policy = read_policy(path, schema)
    return budget_in(policy, of=of, role=role), policy.online.recovery
