"""What a store holds, for the people of the office: sizes, codes, missing values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sdcensus.model.confidential import Confidential
from sdcensus.model.published.provenance import Derivation
from sdcensus.model.schema.encoding import NO_VALUE
from sdcensus.model.schema.schema import DeclaredUniverse
from sdcensus.model.schema.variable import CodeKind, Entity, Variable
from sdcensus.model.vocabulary import Measure
from sdcensus.session.census.census import Census
from sdcensus.store.manifest import column_file


@dataclass(frozen=True, slots=True, repr=False)
class VariableSummary(Confidential):
    """One variable: what it is, its levels, and how often its value is missing (shares of 1)."""

    variable: Variable
    levels: tuple[tuple[str, int], ...]
    not_stated: float
    not_applicable: float

    def __repr__(self) -> str:
        return f"<VariableSummary {self.variable.name!r}: confidential>"


@dataclass(frozen=True, slots=True, repr=False)
class Description(Confidential):
    """What a store holds. Shows sizes of the census: not for the public."""

    census: str
    country: str
    rows: tuple[tuple[Entity, int], ...]
    variables: tuple[VariableSummary, ...]
    bytes_on_disk: int
    data_version: str
    secret_id: str
    modulus: int
    combine: str
    made_by: str
    reference_date: str = ""
    measure: Measure | None = None
    lineage: tuple[Derivation, ...] = ()
    universes: tuple[DeclaredUniverse, ...] = ()

    def __repr__(self) -> str:
        return f"<Description of {self.census!r}: confidential>"


def describe(census: Census) -> Description:
    """Summarise a store: one pass over each column."""
    store = census.store
    manifest = store.manifest
    kinds = [spec.entity for spec in census.schema.entities]
    size = sum(
        column_file(store.path, entity, name).stat().st_size
        for entity, columns in manifest.columns.items()
        for name in columns
    )
    return Description(
        census=census.schema.census.name,
        country=census.schema.census.country,
        reference_date=census.schema.census.reference_date,
        measure=census.schema.census.measure,
        rows=tuple((kind, store.rows(kind)) for kind in kinds),
        variables=tuple(
            _summary(census, variable) for variable in census.schema.variables if variable.stored
        ),
        bytes_on_disk=size,
        data_version=manifest.data_version,
        secret_id=manifest.secret_id,
        modulus=manifest.key_space.modulus,
        combine=manifest.key_space.combine.value,
        made_by=manifest.made_by,
        lineage=manifest.lineage,
        universes=census.schema.universes,
    )


def _summary(census: Census, variable: Variable) -> VariableSummary:
    if not variable.is_axis:
        return _summary_of_number(census, variable)
    store = census.store
    # Read through the check for damage: a position beyond the code list has no share.
    column = store.column(variable.entity, variable)[0 : store.rows(variable.entity)]
    counts = np.bincount(column, minlength=len(variable.codes))
    total = max(int(counts.sum()), 1)

    def share(kind: CodeKind) -> float:
        positions = [at for at, code in enumerate(variable.codes) if code.kind is kind]
        return float(counts[positions].sum()) / total

    return VariableSummary(
        variable,
        tuple((level.name, len(level.codes)) for level in variable.levels()),
        share(CodeKind.NOT_STATED),
        share(CodeKind.NOT_APPLICABLE),
    )


def _summary_of_number(census: Census, variable: Variable) -> VariableSummary:
    """A weight, or a continuous variable without codes: numbers, or a mark that there is none."""
    store = census.store
    values = store.values(variable.entity, variable)[0 : store.rows(variable.entity)]
    missing = float(np.count_nonzero(values == NO_VALUE)) / max(values.size, 1)
    return VariableSummary(variable, (), missing, 0.0)
