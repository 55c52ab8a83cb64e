"""The cell key method: what is added depends on who is counted and on what was asked."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import ClassVar

import numpy as np

from sdcensus.errors import SecretError, SpecError
from sdcensus.kernels.cells.tabulate import weighted_counts
from sdcensus.methods.empty_cells import empty_cell_keys
from sdcensus.methods.listed_cells import ListedCells, mask_of
from sdcensus.methods.look_up import (
    DEFAULT_STRENGTH,
    LOOKUP,
    NOISE,
    CellLookup,
    asked_perturbation,
    biased_on_purpose,
    check_lookup,
    chosen_lookup,
    lookup_cautions,
)
from sdcensus.methods.method import (
    KEY_VERSION,
    CellMethod,
    Int64,
    Mask,
    MethodKind,
    MethodOutcome,
    Numbers,
    UInt32,
    check_key_version,
    check_secret,
    member,
)
from sdcensus.methods.perturbation.schemes import SCHEMES, strength
from sdcensus.model.cube.cube import Accumulators, Cube, Origin
from sdcensus.model.cube.sparse_cube import AnyCube
from sdcensus.model.inference.knowledge import DeviationSupport
from sdcensus.model.method.parameter import Asked, Parameter, ValueKind
from sdcensus.model.perturbation.design import PerturbationDesign
from sdcensus.model.perturbation.table import Lookup, Perturbation, PerturbationTable
from sdcensus.model.published.claims import Claims
from sdcensus.model.published.protected import Audit
from sdcensus.model.schema.schema import KeySpace, Schema
from sdcensus.model.schema.structural import structural_zeros
from sdcensus.model.secret import Purpose, Secret, SubSecret
from sdcensus.model.sentences import sentence
from sdcensus.model.spec.record_sets import cells_of
from sdcensus.model.spec.table_spec import Measure, TableSpec


class Zeros(StrEnum):
    """What happens to cells without records."""

    KEEP = "keep"
    PERTURB = "perturb"


#: What may be said about empty cells, and about cells that are published exactly.
_PARAMETERS = (
    Parameter(
        "zeros",
        ValueKind.WORD,
        "What is published for empty cells.",
        words=tuple(Zeros),
        called="treatment of zeros",
        default=Zeros.KEEP,
        needs=("zero_share", "perturbation"),
        needs_for=Zeros.PERTURB.value,
    ),
    Parameter(
        "zero_share",
        ValueKind.SHARE,
        "Which share of the empty cells grows.",
        needs=("zeros=perturb",),
        excludes=("perturbation",),
    ),
    Parameter(
        "exempt", ValueKind.TABLES, "Publish the cells of this table exactly, such as ed@district."
    ),
)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CellKey(CellMethod):
    """Add a small random number to each count, drawn by the keys of its records.

    The same question has the same published number in every table, on every engine, in every
    re-run, because the draw is a function of the keys of the records and of what the cell asks.

    Attributes:
        perturbation: Which deviations, with which probabilities: a design, or a table in the key
            space of the census.
        secret: The office secret, or the part of it for look-ups. Needed by all look-ups but
            ``ascending``.
        lookup: How a cell key picks a deviation; by default ``definition`` for deviations of three
            and more, else ``ascending``.
        key_version: The version of the series of published numbers.
        zeros: ``keep`` publishes empty cells as 0. ``perturb`` lets those grow that the schema
            does not call impossible; the perturbation then needs a row for 0.
        schema: Whose impossible combinations stay 0, for ``zeros="perturb"``.
        exempt: Tables whose cells are published exactly wherever they appear, such as the
            official population of districts.
    """

    perturbation: PerturbationDesign | PerturbationTable
    secret: Secret | SubSecret | None = None
    lookup: Lookup | str | None = None
    key_version: int = 1
    zeros: Zeros | str = Zeros.KEEP
    schema: Schema | None = None
    exempt: Sequence[TableSpec] | TableSpec = ()
    # Tables of other offices have hundreds of thousands of entries: made ready once.
    _prepared: dict[KeySpace, CellLookup] = field(init=False, default_factory=dict)
    _described: dict[str, object] = field(init=False, default_factory=dict)

    name: ClassVar[str] = "cell-key"
    kind: ClassVar[MethodKind] = MethodKind.PERTURBS
    summary: ClassVar[str] = "A small random change of each count, the same in every table."
    takes: ClassVar[tuple[Parameter, ...]] = (*NOISE, LOOKUP, *_PARAMETERS, KEY_VERSION)

    @classmethod
    def build(cls, asked: Asked) -> CellKey:
        """The method with what somebody said about it; of medium strength by default."""
        said = asked.values
        perturbation = asked_perturbation(asked) or strength(DEFAULT_STRENGTH)
        if "zero_share" in said and isinstance(perturbation, PerturbationDesign):
            least = perturbation.blocked + 1
            perturbation = perturbation.with_perturbed_zeros({least: said["zero_share"]})
        return cls(
            perturbation,
            secret=asked.secret(),
            schema=asked.schema,
            exempt=asked.tables(said.get("exempt", ())),
            **{name: said[name] for name in ("lookup", "key_version", "zeros") if name in said},
        )

    def __post_init__(self) -> None:
        if not isinstance(self.perturbation, PerturbationDesign | PerturbationTable):
            raise SpecError(
                "CellKey needs a perturbation: sc.perturbation.design(...),"
                " sc.perturbation.scheme(...) or sc.perturbation.read(FILE)."
            )
        check_secret(self.secret, type(self).__name__)
        check_key_version(self.key_version)
        object.__setattr__(self, "lookup", member(Lookup, "look-up", self.lookup))
        object.__setattr__(self, "zeros", member(Zeros, "treatment of zeros", self.zeros))
        object.__setattr__(self, "exempt", _tables(self.exempt))
        if self.zeros is Zeros.PERTURB:
            self._check_zeros()
        check_lookup(self._lookup, self.secret, self.key_version)

    def _check_zeros(self) -> None:
        if all(value == 0 for value, _ in self.perturbation.distribution(0)):
            raise SpecError(
                "Empty cells cannot be perturbed: the perturbation leaves 0 as it is. Give it a row"
                " for 0, such as design.with_perturbed_zeros({1: 0.02})."
            )
        if self.schema is None:
            raise SpecError(
                "To perturb empty cells, give the schema (schema=census.schema): its impossible"
                " combinations stay 0."
            )
        if self.secret is None:
            raise SecretError("To perturb empty cells, the office secret is needed.")

    def check(self, cube: AnyCube) -> None:
        """Refuse a cube that cannot be protected like this."""
        CellMethod.check(self, cube)
        if self.zeros is Zeros.PERTURB and cube.spec.measure is Measure.WEIGHTED:
            raise SpecError(
                "Empty cells of a weighted table cannot be perturbed: they have no weights to give"
                " to what they grow to. Keep them (zeros='keep'), or count records."
            )

    def __repr__(self) -> str:
        return "<CellKey: confidential parameters>"

    @property
    def _lookup(self) -> Lookup:
        asked = self.lookup
        return chosen_lookup(self.perturbation, None if asked is None else Lookup(asked))

    @property
    def takes_weights(self) -> bool:
        """Weighted counts are published as whole numbers."""
        return True

    @property
    def largest_deviation(self) -> int | None:
        """That of the perturbation; confidential."""
        return self.perturbation.max_deviation

    @property
    def exempt_tables(self) -> tuple[TableSpec, ...]:
        """Tables whose cells are published exactly wherever they appear."""
        return _tables(self.exempt)

    @property
    def noise(self) -> Perturbation | None:
        """The perturbation; confidential."""
        return self.perturbation

    @property
    def has_own_noise(self) -> bool:
        """Every cell is looked up."""
        return True

    @property
    def scheme(self) -> str | None:
        """The scheme by which every cell is changed that is not empty."""
        design = self.perturbation
        plain = self.zeros is Zeros.KEEP and not self.exempt
        name = design.name if plain and isinstance(design, PerturbationDesign) else ""
        return name if name in SCHEMES else None

    @property
    def support(self) -> DeviationSupport | None:
        """That of the perturbation, unless empty cells have one of their own."""
        return None if self.zeros is Zeros.PERTURB else DeviationSupport.of(self.perturbation)

    def exempting(self, tables: Sequence[TableSpec]) -> CellKey:
        """The same method, which publishes the cells of these tables exactly as well."""
        known = {table.hash() for table in self.exempt_tables}
        further = [table for table in tables if table.hash() not in known]
        return replace(self, exempt=(*self.exempt_tables, *further))

    def exact_cells(self, cube: Cube) -> Mask:
        """Exempt cells, and empty ones that stay so because they must."""
        return mask_of(self._unchanged(cube.spec), cube.spec)

    def parameters(self) -> Mapping[str, object]:
        """Everything that decides the published numbers; confidential."""
        if not self._described:
            self._described.update(described(self.perturbation))
        return {
            "lookup": self._lookup.value,
            "zeros": str(self.zeros),
            "exempt": sorted(table.hash() for table in self.exempt_tables),
            **self._described,
        }

    def claims(self) -> Claims:
        """What the published numbers are promised to be."""
        perturbs_zeros = self.zeros is Zeros.PERTURB
        ignored = frozenset[int]() if perturbs_zeros else frozenset({0})
        meant = biased_on_purpose(self.perturbation) - ignored
        # A look-up with keys of its own mends what rounding in a file has left.
        hashed_table = self._lookup.has_own_keys and not isinstance(
            self.perturbation, PerturbationDesign
        )
        biased = meant if hashed_table else self.perturbation.biased - ignored
        cautions = []
        if meant:
            cautions.append(sentence("cautions.biased"))
        elif biased:
            cautions.append(sentence("cautions.rounded_rows"))
        if isinstance(self.perturbation, PerturbationTable) and self.perturbation.modulus < 1 << 16:
            cautions.append(sentence("cautions.few_keys"))
        cautions += lookup_cautions(self._lookup, self.perturbation)
        if self.exempt:
            cautions.append(sentence("cautions.exempt"))
        return Claims(
            unbiased=not biased,
            bounded=True,
            zeros_kept=not perturbs_zeros,
            never_negative=True,
            blocked_counts_never_appear=self.perturbation.blocked > 0 and not self.exempt,
            consistent=True,
            by_definition=not self._lookup.is_set_key,
            distribution=True,
            takes_sparse=not perturbs_zeros,
            grows_empty_cells=perturbs_zeros,
            cautions=tuple(cautions),
        )

    def publish(
        self,
        cells: Accumulators,
        spec: TableSpec,
        origin: Origin,
        listed: ListedCells | None = None,
    ) -> MethodOutcome:
        """Look every cell up; weighted counts take the mean weight of their records."""
        ready = self._ready(origin)
        published = ready.publish(cells.count, cells.key, ready.definitions(spec, origin, listed))
        if self.zeros is Zeros.PERTURB:
            self._perturb_zeros(published, cells, spec, origin)
        if spec.measure is Measure.WEIGHTED:
            published = _weighted(cells, published, spec)
        return MethodOutcome(published)

    def audit(self, cube: AnyCube) -> Audit:
        """True counts with the keys that were looked up."""
        empty_keys = None
        spec, origin = cube.spec, cube.origin
        if self.zeros is Zeros.PERTURB and self.secret is not None:
            empty_keys = self._empty_keys(spec, origin, self.secret)
        return Audit(
            cube,
            self._ready(origin).replayed(spec, origin),
            empty_keys=empty_keys,
            unchanged=(lambda: self._unchanged(cube.spec))
            if self.exempt or empty_keys is not None
            else None,
        )

    def _unchanged(self, spec: TableSpec) -> Numbers:
        """Exempt cells, and empty ones that stay so because they must."""
        exempt = self.exempt_cells(spec)
        if self.zeros is not Zeros.PERTURB or self.schema is None:
            return exempt
        structural = np.flatnonzero(structural_zeros(spec, self.schema)).astype(np.uint64)
        return np.union1d(exempt, structural)

    def exempt_cells(self, spec: TableSpec) -> Numbers:
        """Cells that hold the same records as a cell of an exempt table."""
        cells = [cells_of(spec, table) for table in self.exempt_tables]
        return np.unique(np.concatenate(cells)) if cells else np.zeros(0, dtype=np.uint64)

    def _ready(self, origin: Origin) -> CellLookup:
        space = origin.key_space
        if space not in self._prepared:
            self._prepared[space] = CellLookup.build(
                self.perturbation, space, self._lookup, self.secret, self.key_version
            )
        return self._prepared[space]

    def _perturb_zeros(
        self, published: Int64, cells: Accumulators, spec: TableSpec, origin: Origin
    ) -> None:
        if self.secret is None or self.schema is None:  # refused when it was built
            return
        empty = (cells.count == 0) & ~structural_zeros(spec, self.schema)
        ready = self._ready(origin)
        keys = self._empty_keys(spec, origin, self.secret)[empty].astype(np.uint64)
        row = ready.table.rows[0]
        # Keys of empty cells have 32 bits; the row may be of a smaller space.
        scaled = (keys * np.uint64(ready.table.modulus)) >> np.uint64(32)
        at = np.searchsorted(np.array(row.uppers, dtype=np.uint64), scaled, side="right")
        published[empty] = np.array(row.deviations, dtype=np.int64)[at]

    def _empty_keys(self, spec: TableSpec, origin: Origin, secret: Secret | SubSecret) -> UInt32:
        ready = self._ready(origin)
        definition = ready.definitions(spec, origin)
        if definition is not None:  # no records, so the definition alone decides
            return ready.effective_keys(np.zeros(spec.shape, dtype=np.uint32), definition)
        return empty_cell_keys(spec, secret.sub_key(Purpose.LOOKUP, self.key_version))

    def exact(self, cells: Accumulators, spec: TableSpec) -> Int64:
        """The true values, for exempt cells."""
        if spec.measure is Measure.WEIGHTED:
            return _weighted(cells, cells.count, spec)
        return cells.count


def _tables(exempt: object) -> tuple[TableSpec, ...]:
    """The tables whose cells are exempt; one may stand by itself."""
    tables = (exempt,) if isinstance(exempt, TableSpec | str) else exempt
    specs = tuple(tables) if isinstance(tables, Iterable) else (tables,)
    if not all(isinstance(spec, TableSpec) for spec in specs):
        raise SpecError(
            "Exempt cells are given as tables, such as exempt=[census.spec('ed@district-total')]."
        )
    return specs


def _weighted(cells: Accumulators, perturbed: Int64, spec: TableSpec) -> Int64:
    if cells.weight is None:
        raise SpecError(f"{spec.title}: the table has no weights.")
    return weighted_counts(cells.count, perturbed, cells.weight, decimals=spec.weight_decimals)


def described(perturbation: PerturbationDesign | PerturbationTable) -> dict[str, object]:
    """A perturbation as few plain values; confidential."""
    table = perturbation
    if isinstance(table, PerturbationDesign):
        table = table.table()
    tail = table.tail
    rows = json.dumps([[row.deviations, row.widths] for row in table.rows])
    return {
        "modulus": table.modulus,
        "key_rule": table.key_rule.value,
        "tail": [tail.start, tail.period, tail.first],
        "rows": hashlib.blake2b(rows.encode(), digest_size=16).hexdigest(),
    }
