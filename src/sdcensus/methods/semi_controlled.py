"""Semi-controlled rounding: interior cells are rounded at random so that they sum to a total."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, replace
from enum import StrEnum
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SecretError, SpecError
from sdcensus.kernels.keys.siphash import siphash24
from sdcensus.kernels.perturbation.rounding import round_to_nearest, round_to_totals
from sdcensus.methods.method import (
    KEY_VERSION,
    MethodKind,
    MethodOutcome,
    TableMethod,
    UInt32,
    check_key_version,
    member,
)
from sdcensus.methods.rounding import base_parameter, check_base, rounded_by_cell_key
from sdcensus.model.cube.constraints import interior
from sdcensus.model.cube.cube import Cube
from sdcensus.model.method.parameter import AREA, Asked, Parameter, ValueKind
from sdcensus.model.published.claims import Claims
from sdcensus.model.schema.schema import Combine, KeySpace
from sdcensus.model.secret import Purpose, Secret
from sdcensus.model.sentences import sentence
from sdcensus.model.spec.table_spec import TableSpec, area_axis


class ControlledTotal(StrEnum):
    """Which totals are the sums of the interior cells that are shown."""

    GRAND_TOTAL = "grand-total"
    AREAS = "areas"


@dataclass(frozen=True, slots=True, repr=False)
class SemiControlledRounding(TableMethod):
    """Interior cells become multiples below or above them that sum to the rounded total.

    The total, of the table or of each area, is rounded to the nearest multiple. All other
    margins are rounded at random on their own, by their cell keys.

    Attributes:
        base: What results are multiples of, 2 to 100.
        secret: The office secret.
        to: The total that is controlled: of the whole table, or of every area.
        area: The variable whose finest codes in the table are the areas; the first geography of
            the table by default.
        key_version: The version of the series of published numbers.
    """

    base: int = 3
    _: KW_ONLY
    secret: Secret | None = None
    to: ControlledTotal | str = ControlledTotal.GRAND_TOTAL
    area: str | None = None
    key_version: int = 1

    name: ClassVar[str] = "semi-controlled-rounding"
    kind: ClassVar[MethodKind] = MethodKind.ROUNDS
    summary: ClassVar[str] = "Interior cells are rounded at random so that they sum to a total."
    takes: ClassVar[tuple[Parameter, ...]] = (
        base_parameter(3),
        Parameter(
            "to",
            ValueKind.WORD,
            "The totals that are kept.",
            words=tuple(ControlledTotal),
            called="controlled total",
            default=ControlledTotal.GRAND_TOTAL,
        ),
        replace(AREA, needs=("to=areas",)),
        KEY_VERSION,
    )

    @classmethod
    def build(cls, asked: Asked) -> SemiControlledRounding:
        """The method with what somebody said about it."""
        return cls(secret=asked.office_secret(cls.name), **asked.values)

    def __post_init__(self) -> None:
        check_base(self.base)
        if not isinstance(self.secret, Secret):
            raise SecretError(
                "SemiControlledRounding needs the office secret: secret=sc.read_secret(FILE)."
            )
        check_key_version(self.key_version)
        object.__setattr__(self, "to", member(ControlledTotal, "controlled total", self.to))
        if self.area is not None and self.to is not ControlledTotal.AREAS:
            raise SpecError(
                "Areas are controlled with to='areas' (--to areas). Take that, or leave the area"
                " out."
            )

    def __repr__(self) -> str:
        return f"<SemiControlledRounding to multiples of {self.base}, {self.to}>"

    @property
    def largest_deviation(self) -> int | None:
        """One less than the base."""
        return self.base - 1

    def parameters(self) -> Mapping[str, object]:
        """Everything that decides the published numbers; confidential."""
        return {"base": self.base, "to": str(self.to), "area": self.area}

    def claims(self) -> Claims:
        """What the published numbers are promised to be."""
        return Claims(
            bounded=True,
            zeros_kept=True,
            never_negative=True,
            blocked_counts_never_appear=True,
            cautions=(
                sentence("cautions.controlled_bias"),
                sentence("cautions.controlled_total"),
                sentence("cautions.other_table"),
            ),
        )

    def publish(self, cube: Cube) -> MethodOutcome:
        """Round the interior to its totals, and every margin on its own."""
        spec = cube.spec
        # The ellipsis keeps a table of one cell an array.
        inside: Any = (*interior(spec), ...)
        area = area_axis(spec, self.area) if self.to is ControlledTotal.AREAS else None
        order = _canonical_order(spec, area)
        inner = cube.count[inside].transpose(order)
        groups = 1 if area is None else inner.shape[0]
        count = np.ascontiguousarray(inner).reshape(groups, -1)
        key = np.ascontiguousarray(cube.key[inside].transpose(order)).reshape(groups, -1)
        target = round_to_nearest(count.sum(axis=1), self.base)
        hash_key = self._hash_key
        starts = _starts(key, cube.origin.key_space, hash_key)
        rounded = round_to_totals(count, key, target, starts, self.base, hash_key)
        published = rounded_by_cell_key(cube.count, cube.key, self.base, cube.origin)
        published[inside] = rounded.reshape(inner.shape).transpose(np.argsort(order))
        margin = _controlled_margin(spec, area)
        if margin is not None:
            published[margin] = target if area is not None else target[0]
        return MethodOutcome(published)

    @property
    def _hash_key(self) -> bytes:
        if self.secret is None:  # refused when it was built
            raise SecretError("SemiControlledRounding needs the office secret.")
        return self.secret.sub_key(Purpose.ROUND, self.key_version)


def _canonical_order(spec: TableSpec, area: int | None) -> list[int]:
    """Axes by name of variable, areas first: cells stand alike in every layout of a table."""
    names = [axis.variable.name for axis in spec.axes]
    return sorted(range(len(names)), key=lambda at: (at != area, names[at]))


def _starts(key: UInt32, space: KeySpace, hash_key: bytes) -> npt.NDArray[np.uint64]:
    """A draw for each group, from the cell key of its total.

    Two words are hashed, and one for the order of cells: the draws are unrelated.
    """
    wide = key.astype(np.uint64)
    if space.combine is Combine.XOR:
        combined = np.bitwise_xor.reduce(wide, axis=1)
    else:
        combined = wide.sum(axis=1, dtype=np.uint64)
    words = np.zeros((len(key), 2), dtype=np.uint64)
    words[:, 0] = space.reduce(combined)
    return siphash24(hash_key, words)


def _controlled_margin(spec: TableSpec, area: int | None) -> tuple[Any, ...] | None:
    """Where a table shows the controlled totals, if it does."""
    index: list[Any] = []
    for at, axis in enumerate(spec.axes):
        if at == area:
            index.append(slice(0, axis.base_size))
        elif axis.total:
            index.append(len(axis.codes) - 1)
        else:
            return None
    return (*index, ...)
