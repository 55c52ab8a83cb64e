"""Tables of records that a pre-tabular method changed, beside those of the original records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.kernels.cells.tabulate import weighted_counts
from sdcensus.methods.linked import LinkedMethod
from sdcensus.microdata.derived_store import DerivedRecords
from sdcensus.microdata.derived_view import DerivedView
from sdcensus.microdata.edit_rules import new_violations
from sdcensus.microdata.method import Changes, NewValues
from sdcensus.model.confidential import Confidential
from sdcensus.model.cube.ancestors import ancestry_of
from sdcensus.model.cube.constraints import interior
from sdcensus.model.cube.cube import Cube
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.published.provenance import Derivation
from sdcensus.model.published.table import Mark, Table
from sdcensus.model.schema.variable import Role
from sdcensus.model.secret import Secret
from sdcensus.model.spec.shared_cells import same_layout, shared_cells
from sdcensus.model.spec.table_spec import Measure, TableSpec
from sdcensus.report.study.results import Candidate
from sdcensus.risk.combined import CellMoves, cell_moves, moves_of_cells, prior_of_counts
from sdcensus.session.census.census import Census
from sdcensus.session.derive.step import step_from_text
from sdcensus.session.protect.linked import count_linked
from sdcensus.session.protect.smallest_group import GroupRule, judging_method
from sdcensus.session.study.measuring import Counted
from sdcensus.session.study.records import untouched_by_cell, weight_changed
from sdcensus.session.study.tables import cubes_of
from sdcensus.store.census_store import CensusStore

Int64 = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Records(Confidential):
    """The records that are tabulated for some methods of a study.

    Attributes:
        census: The census that is counted: the original one, or a derived one in memory.
        specs: The tables, as they are counted; weighted where the method gives weights.
        cubes: What is counted.
        untouched: Of each interior cell of the original how many records are neither perturbed
            nor imputed; ``None`` where that is not known.
        moves: For each table who left its interior cells and who came.
        violations: How many records break an edit rule that they kept before.
    """

    census: Census | None
    specs: tuple[TableSpec, ...]
    cubes: tuple[Cube, ...]
    untouched: tuple[Int64, ...] | None
    moves: tuple[CellMoves, ...] = ()
    violations: int = 0

    def __repr__(self) -> str:
        return f"<Records of {len(self.specs)} tables: confidential>"

    def given(self, at: int, plain: TableSpec) -> Counted | None:
        """What a method is given of a table; ``None`` where its records are not at hand."""
        if self.untouched is None:
            return None
        counts = as_counted(self.cubes[at])
        if self.cubes[at].spec.shape != plain.shape:
            counts = ancestry_of(plain).cut(counts)
        weighted = self.cubes[at].spec.measure is not Measure.COUNT
        cells = self.moves[at]
        if weighted:
            cells = _weighted_moves(cells, counts[interior(plain)].reshape(-1))
        return Counted(
            counts,
            self.untouched[at],
            cells,
            prior_of_counts(cells.before) if cells.before.size else None,
            moves_of_cells(cells),
            weighted,
        )

    def protect(
        self, plain: TableSpec, counted: Cube, candidate: Candidate, rule: GroupRule
    ) -> Table:
        """What a method publishes of a table.

        Args:
            plain: The table.
            counted: Its counts and keys, with ancestors where the rule needs them.
            candidate: The method.
            rule: The rule of the smallest group.
        """
        method = candidate.method
        if method is None:
            if rule:
                raise SpecError(
                    "The rule of the smallest group needs a method with a limit for every number."
                    ' Add one behind the change of records, such as "| cell-key", or leave'
                    " --smallest-group away."
                )
            return Table(plain, as_counted(counted))
        if rule and self.census is not None:
            asked = plain.measured(counted.spec.measure, self.census.schema)
            protected = rule.protect(asked, method, self.census.tabulate, counted=counted)
        else:
            protected = method.protect(counted)
        return _as_asked(plain, protected.table.held_for("comparing methods"))

    def protect_together(
        self, plain: Sequence[TableSpec], candidate: Candidate, rule: GroupRule
    ) -> tuple[Table, ...] | None:
        """What a method publishes of tables that it protects together.

        Returns:
            ``None`` where it looks at each table alone, or the records are not at hand.
        """
        method = candidate.method
        if not isinstance(method, LinkedMethod) or self.census is None:
            return None
        if rule:
            judging_method(method)  # it has none, and that says why
        households = method.needs_households
        linked = count_linked(self.census, plain, households=households)
        return tuple(
            _as_asked(spec, protected.table.held_for("comparing methods"))
            for spec, protected in zip(plain, method.protect_together(linked), strict=True)
        )


def _as_asked(plain: TableSpec, table: Table) -> Table:
    """A published table on the cells of the one that was asked for.

    Cells that a coarser version of it does not have are withheld there.
    """
    if table.spec is plain:
        return table
    # A weighted table stands for the counts of its records here.
    if same_layout(plain.records, table.spec.records):
        return Table(plain, table.published, table.flags)
    values = np.zeros(plain.cells, dtype=np.int64)
    flags = np.full(plain.cells, Mark.WITHHELD, dtype=np.uint8)
    shared = shared_cells(plain, table.spec)
    if shared is not None:
        mine, theirs = (numbers.astype(np.int64) for numbers in shared.all())
        values[mine] = table.published.reshape(-1)[theirs]
        flags[mine] = 0 if table.flags is None else table.flags.reshape(-1)[theirs]
    return Table(plain, values.reshape(plain.shape), flags.reshape(plain.shape))


def _weighted_moves(cells: CellMoves, counts: Int64) -> CellMoves:
    """Moves where records stand for several or for nobody: copies have come, and nobody lives so.

    Args:
        cells: The records, each once.
        counts: Weighted counts of the cells.
    """
    return CellMoves(cells.before, counts, np.minimum(cells.stayed, counts))


def as_counted(cube: Cube) -> Int64:
    """The counts of a cube, or its weighted counts, as they are published without noise."""
    if cube.spec.measure is Measure.COUNT:
        return cube.count.copy()
    assert cube.weight is not None  # a weighted cube has weights
    decimals = cube.spec.weight_decimals
    return weighted_counts(cube.count, cube.count, cube.weight, decimals=decimals)


def original_records(
    census: Census, specs: Sequence[TableSpec], cubes: Sequence[Cube], plain: Sequence[TableSpec]
) -> Records:
    """The original records, counted already.

    Args:
        census: The census.
        specs: The tables as they are counted, with ancestors where a rule needs them.
        cubes: What is counted.
        plain: The tables alone.
    """
    store = census.kept_store
    if store is not None:
        untouched = tuple(untouched_by_cell(store, spec) for spec in plain)
    else:  # records without flags of imputation
        untouched = tuple(
            ancestry_of(spec).cut(cube.count)[interior(spec)]
            if cube.spec.shape != spec.shape
            else cube.count[interior(spec)]
            for spec, cube in zip(plain, cubes, strict=True)
        )
    still = []
    for spec, cube in zip(plain, cubes, strict=True):
        counts = cube.count
        if cube.spec.shape != spec.shape:
            counts = ancestry_of(spec).cut(counts)
        inside = counts[interior(spec)].reshape(-1)
        still.append(CellMoves(inside, inside, inside))
    return Records(census, tuple(specs), tuple(cubes), untouched, tuple(still))


def derived_records(
    census: Census,
    texts: Sequence[str],
    specs: Sequence[TableSpec],
    plain: Sequence[TableSpec],
    *,
    secret: Secret | None,
    progress: Progress = no_progress,
) -> Records:
    """What pre-tabular methods make of the records, counted.

    Args:
        census: The original census.
        texts: The methods in their order, each as it is written in one line.
        specs: The tables as they are counted.
        plain: The tables alone.
        secret: The office secret.
        progress: Told how far it is.
    """
    store = derived = with_unit_weights(census.store)
    violations = 0
    for text in texts:
        step = step_from_text(derived, text, secret=secret)
        records = step.run(progress)
        violations += sum(new.rows.size for new in new_violations(records, progress))
        derived = DerivedView(records, step.derivation)
    trial = Census(derived.schema, derived)
    counted = tuple(_as_published(spec, store, derived) for spec in specs)
    return Records(
        trial,
        counted,
        cubes_of(trial, counted),
        tuple(untouched_by_cell(store, spec, derived) for spec in plain),
        tuple(cell_moves(store, derived, spec) for spec in plain),
        violations,
    )


def _as_published(spec: TableSpec, store: CensusStore, derived: CensusStore) -> TableSpec:
    """The table of a derived store: weighted where the method changed weights."""
    if not weight_changed(store, derived, spec.of).any():
        return spec
    return spec.measured(Measure.WEIGHTED, derived.schema)


def with_unit_weights(store: CensusStore) -> CensusStore:
    """The same records with weights of one, in memory.

    A study compares counts of records. What a method does to weights is seen by what it makes of
    weights of one: counts of records under the weights that it multiplies with.
    """
    amounts = {}
    for variable in store.schema.variables:
        if variable.role is Role.WEIGHT:
            rows = np.arange(store.rows(variable.entity), dtype=np.int64)
            ones = np.full(rows.size, 10**variable.decimals, dtype=np.int64)
            amounts[variable.name] = NewValues(rows, ones)
    if not amounts:
        return store
    manifest = store.manifest
    step = Derivation(
        parent=manifest.data_version,
        method="unit-weights",
        method_version="1",
        fingerprint="",
        secret_id=manifest.secret_id,
    )
    return DerivedView(DerivedRecords(store, Changes(amounts=amounts)), step)
