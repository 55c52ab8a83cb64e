"""Per-unit deviations: each count is the sum of its units, of which a few count 0 or 3 times."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from enum import StrEnum
from typing import Any, ClassVar

from sdcensus.errors import SecretError
from sdcensus.kernels.perturbation.lookup import HASHED, LookupRows, effective_keys, publish
from sdcensus.kernels.perturbation.unit_deviations import distinct_counts, unit_row
from sdcensus.methods.listed_cells import ListedCells
from sdcensus.methods.look_up import SET_KEYS
from sdcensus.methods.method import (
    KEY_VERSION,
    AnySecret,
    CellMethod,
    MethodKind,
    MethodOutcome,
    UInt32,
    check_key_version,
    check_secret,
    member,
)
from sdcensus.methods.perturbation.sources import check_units
from sdcensus.model.cube.constraints import interior, with_totals
from sdcensus.model.cube.cube import Accumulators, Origin
from sdcensus.model.cube.sparse_cube import AnyCube
from sdcensus.model.method.parameter import Asked, Parameter, ValueKind
from sdcensus.model.published.claims import Claims
from sdcensus.model.published.protected import Protected
from sdcensus.model.published.table import Table
from sdcensus.model.schema.schema import LARGEST_MODULUS
from sdcensus.model.secret import Purpose
from sdcensus.model.sentences import sentence
from sdcensus.model.spec.table_spec import TableSpec


class Totals(StrEnum):
    """Where totals come from.

    ``added``: they are sums of the published interior cells, so that every table adds up.
    ``own``: they have noise of their own, so that the same records have one number everywhere.
    """

    ADDED = "added"
    OWN = "own"


@dataclass(frozen=True, slots=True, repr=False)
class PerUnitDeviations(CellMethod):
    """Every unit of a count may be left out or counted three times, a few of them on average.

    A count up to ``units`` has all its units changed; in a larger one, ``units`` of them change on
    average. A changed unit counts 0 two times in three, else 3. The mean is the true count, the
    variance twice the number of changed units, at most ``2 * units``. The sum of all these is
    drawn at once, from its exact distribution, by the cell key.

    Attributes:
        units: How many units change on average, 1 to 20; the ``x`` of the study.
        secret: The office secret, or the part of it for look-ups.
        key_version: The version of the series of published numbers.
        totals: ``added`` or ``own``.
    """

    units: int = 2
    _: KW_ONLY
    secret: AnySecret | None = None
    key_version: int = 1
    totals: Totals | str = Totals.ADDED

    name: ClassVar[str] = "per-unit-deviations"
    kind: ClassVar[MethodKind] = MethodKind.PERTURBS
    summary: ClassVar[str] = "A few units of each count are left out or counted three times."
    takes: ClassVar[tuple[Parameter, ...]] = (
        Parameter(
            "units",
            ValueKind.WHOLE,
            "How many units change on average.",
            least=1,
            most=20,
            default=2,
        ),
        Parameter(
            "totals",
            ValueKind.WORD,
            "Totals are added up, or have noise of their own.",
            words=tuple(Totals),
            called="kind of totals",
            default=Totals.ADDED,
        ),
        KEY_VERSION,
    )

    @classmethod
    def build(cls, asked: Asked) -> PerUnitDeviations:
        """The method with what somebody said about it."""
        return cls(secret=asked.secret(needed=True), **asked.values)

    def __post_init__(self) -> None:
        check_units(self.units)
        check_secret(self.secret, type(self).__name__)
        check_key_version(self.key_version)
        object.__setattr__(self, "totals", member(Totals, "way to totals", self.totals))
        if self.secret is None:
            raise SecretError(
                "Per-unit deviations need the office secret. Give it (secret=sc.read_secret(FILE),"
                " on the command line --secret FILE)."
            )

    def __repr__(self) -> str:
        return "<PerUnitDeviations: confidential parameters>"

    def parameters(self) -> Mapping[str, object]:
        """Everything that decides the published numbers; confidential."""
        return {"units": self.units, "totals": str(self.totals)}

    def claims(self) -> Claims:
        """What the published numbers are promised to be."""
        own = self.totals is Totals.OWN
        cautions = [sentence("cautions.single_large"), SET_KEYS]
        if own:
            cautions.append(sentence("cautions.totals_noise"))
        else:
            cautions.append(sentence("cautions.total_cells"))
        return Claims(
            unbiased=True,
            zeros_kept=True,
            never_negative=True,
            consistent=own,
            additive=not own,
            distribution=own,
            takes_sparse=own,
            cautions=tuple(cautions),
        )

    def publish(
        self,
        cells: Accumulators,
        spec: TableSpec,
        origin: Origin,
        listed: ListedCells | None = None,
    ) -> MethodOutcome:
        """Draw the deviation of every cell on its own."""
        distinct, row_of_cell = distinct_counts(cells.count)
        rows: list[tuple[range, list[int]]] = [(range(1), [LARGEST_MODULUS])]
        for count in distinct[1:].tolist():
            row = unit_row(self.units, count)
            deviations = range(row.lowest, row.lowest + row.widths.size)
            rows.append((deviations, row.widths.tolist()))
        # The place of its row takes the place of each count; what it adds is the same.
        ready = LookupRows.build(rows, LARGEST_MODULUS, start=len(rows))
        moved = publish(row_of_cell, cells.key, ready, rule=HASHED, hash_key=self._hash_key)
        moved -= row_of_cell
        moved += cells.count
        return MethodOutcome(moved)

    def protect(self, cube: AnyCube) -> Protected:
        """Publish every cell, or the interior cells and their sums."""
        if self.totals is Totals.OWN or cube.dense is None:  # which check refuses
            return CellMethod.protect(self, cube)
        self.check(cube)
        # The ellipsis keeps a table of one cell an array.
        inside: Any = (*interior(cube.spec), ...)
        cells = cube.values.map(lambda array: array[inside])
        inner = self.publish(cells, cube.spec, cube.origin).published
        return self.finished(cube, Table(cube.spec, with_totals(cube.spec, inner)))

    def effective_keys(self, key: UInt32) -> UInt32:
        """The keys that are looked up, for the audit."""
        return effective_keys(key, rule=HASHED, hash_key=self._hash_key)

    @property
    def _hash_key(self) -> bytes:
        if self.secret is None:  # refused when it was built
            raise SecretError("Per-unit deviations need the office secret.")
        return self.secret.sub_key(Purpose.LOOKUP, self.key_version)
