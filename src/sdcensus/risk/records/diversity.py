"""Diversity and closeness: what a class of records with equal keys gives away of all in it.

Whoever knows the keys of somebody finds the class, not the record; where all in it have the same
illness, that is enough. l-diversity asks for several values in a class (Machanavajjhala and others
2007), t-closeness for a distribution near that of the file (Li, Li and Venkatasubramanian 2007).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.kernels.records.diversity import TOLERANCE, class_measures
from sdcensus.model.confidential import Confidential
from sdcensus.model.release.plan import MissingValues
from sdcensus.model.schema.variable import Code, CodeKind
from sdcensus.risk.records.cells import KeyCells, key_cells, lookalikes
from sdcensus.risk.records.key_column import Integers, KeyColumn

Int64 = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

#: How much more frequent than the rest the most frequent value may be (c of (c, l)-diversity).
RECURSIVE_WEIGHT = 2.0
#: Of so many classes the sizes are told, the worst first.
WORST = 10


@dataclass(frozen=True, slots=True, eq=False, kw_only=True, repr=False)
class SensitiveColumn(Confidential):
    """A variable that nobody should learn about anybody, for every record of a file.

    Attributes:
        name: The variable.
        values: The position of each record's code.
        codes: Its codes. "Not stated" tells nothing and is left out; "not applicable" is a value.
        ordered: Whether values have the order of the codes.
    """

    name: str
    values: Integers
    codes: tuple[Code, ...]
    ordered: bool = False

    def __repr__(self) -> str:
        return f"<SensitiveColumn {self.name!r}: confidential>"

    @classmethod
    def of(cls, name: str, values: Integers, codes: tuple[Code, ...]) -> SensitiveColumn:
        """A column; it is ordered where all its values are numbers or ranges of numbers."""
        valid = [code for code in codes if code.kind is CodeKind.VALID]
        ordered = bool(valid) and all(code.lower is not None for code in valid)
        return cls(name=name, values=values, codes=codes, ordered=ordered)


@dataclass(frozen=True, slots=True)
class Failures:
    """How many classes, and how many records, fail one rule."""

    classes: int
    records: int


@dataclass(frozen=True, slots=True, eq=False, kw_only=True, repr=False)
class Diversity(Confidential):
    """What classes of equal keys tell about one sensitive variable.

    A class is a combination of keys in the file, with the records that may belong to it where
    keys that are not stated may be any value. Classes in which nobody tells the value pass.

    Attributes:
        name: The variable.
        keys: What classes are made of.
        missing: How keys that are not stated were counted.
        ordered: Whether the distance is that of ordered values.
        least: l.
        weight: c of recursive diversity.
        furthest: t.
        sizes: How many records each class has that have its very keys.
        counted: How many records tell a value in it, those that may belong to it included.
        distinct: How many values there are.
        effective: exp of the entropy: how many equally frequent values tell as little.
        recursive: Whether the most frequent value is rare enough.
        distances: How far the class is from the file.
    """

    name: str
    keys: tuple[str, ...]
    missing: MissingValues
    ordered: bool
    least: int
    weight: float
    furthest: float
    sizes: Int64
    counted: Int64
    distinct: Int64
    effective: Floats
    recursive: Mask
    distances: Floats

    def __repr__(self) -> str:
        return f"<Diversity of {self.name!r}: confidential>"

    @property
    def classes(self) -> int:
        """How many classes there are."""
        return int(self.sizes.size)

    @property
    def records(self) -> int:
        """How many records there are."""
        return int(self.sizes.sum())

    @property
    def few_values(self) -> Failures:
        """Classes with fewer than l values."""
        return self._failures(self._fail_distinct)

    @property
    def low_entropy(self) -> Failures:
        """Classes whose values are not as even as l equally frequent ones."""
        return self._failures((self.effective < self.least - TOLERANCE) & (self.counted > 0))

    @property
    def not_recursive(self) -> Failures:
        """Classes whose most frequent value is too frequent."""
        return self._failures(~self.recursive)

    @property
    def too_far(self) -> Failures:
        """Classes that are further from the file than t."""
        return self._failures(self.distances > self.furthest + TOLERANCE)

    @property
    def one_value(self) -> Failures:
        """Classes of several records in which all have the same value: it is known of each."""
        return self._failures((self.distinct == 1) & (self.counted > 1))

    @property
    def fewest_values(self) -> int:
        """The fewest values in any class in which somebody tells one."""
        told = self.distinct[self.counted > 0]
        return int(told.min()) if told.size else 0

    @property
    def largest_distance(self) -> float:
        """The largest distance of a class from the file."""
        return float(self.distances.max(initial=0.0))

    def least_diverse(self, most: int = WORST) -> tuple[int, ...]:
        """The sizes of the largest classes with fewer than l values: most people, least doubt."""
        sizes = np.sort(self.sizes[self._fail_distinct])[::-1]
        return tuple(int(size) for size in sizes[:most])

    def furthest_off(self, most: int = WORST) -> tuple[tuple[int, float], ...]:
        """Sizes and distances of the classes that are furthest from the file, large ones first."""
        order = np.lexsort((-self.sizes, -self.distances))[:most]
        return tuple((int(self.sizes[at]), float(self.distances[at])) for at in order)

    @property
    def _fail_distinct(self) -> Mask:
        fails: Mask = (self.distinct < self.least) & (self.counted > 0)
        return fails

    def _failures(self, failing: Mask) -> Failures:
        return Failures(int(np.count_nonzero(failing)), int(self.sizes[failing].sum()))


def diversity(
    keys: Sequence[KeyColumn],
    sensitive: Sequence[SensitiveColumn],
    *,
    least: int = 2,
    weight: float = RECURSIVE_WEIGHT,
    furthest: float = 0.5,
    missing: MissingValues = MissingValues.ADJUST,
) -> tuple[Diversity, ...]:
    """Measure sensitive variables in the classes that keys make in a file.

    Args:
        keys: The keys of the records of the file; without any all records are one class.
        sensitive: The sensitive variables of the same records.
        least: l: the fewest values in a class.
        weight: c of recursive diversity.
        furthest: t: the largest distance.
        missing: How keys that are not stated are counted.

    Raises:
        SpecError: A limit makes no sense.
    """
    if least < 1:
        raise SpecError(f"Classes should have {least} values. Say 1 or more.")
    if not 0 <= furthest <= 1:
        raise SpecError(f"The largest distance is {furthest}. Say a number from 0 to 1.")
    if not (weight > 0 and math.isfinite(weight)):
        raise SpecError(f"The weight of recursive diversity is {weight}. Say a number above 0.")
    if not sensitive:
        return ()
    classes = _Classes.of(keys, sensitive[0].values.size, missing)
    names = tuple(key.name for key in keys)
    return tuple(
        _measured(column, classes, names, least, weight, furthest, missing) for column in sensitive
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Classes:
    """Cells of keys, their records one after the other, and the cells that may be the same."""

    cells: KeyCells
    starts: Int64
    order: Int64
    first: Int64
    others: Int64

    @classmethod
    def of(cls, keys: Sequence[KeyColumn], size: int, missing: MissingValues) -> _Classes:
        cells = key_cells([_one_open(key, missing) for key in keys], size)
        complete, partly = lookalikes(keys, cells, missing)
        cell = np.concatenate([complete, partly])
        other = np.concatenate([partly, complete])
        by_cell = np.argsort(cell, kind="stable")
        return cls(
            cells,
            _starts(cells.sizes),
            np.argsort(cells.of_records, kind="stable"),
            _starts(np.bincount(cell, minlength=cells.number)),
            other[by_cell],
        )


def _one_open(key: KeyColumn, missing: MissingValues) -> Integers:
    """A key in which all ways not to state it are one, where they may be any value."""
    unstated = key.is_kind(CodeKind.NOT_STATED)
    if missing is MissingValues.CATEGORY or np.count_nonzero(unstated) < 2:
        return key.values
    codes = np.arange(key.size)
    codes[unstated] = int(np.argmax(unstated))
    one: Integers = codes[key.values]
    return one


def _starts(sizes: Integers) -> Int64:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def _measured(
    column: SensitiveColumn,
    classes: _Classes,
    keys: tuple[str, ...],
    least: int,
    weight: float,
    furthest: float,
    missing: MissingValues,
) -> Diversity:
    values, shares, apart = _occurring(column)
    number = classes.cells.number
    counted, distinct = np.zeros(number, dtype=np.int64), np.zeros(number, dtype=np.int64)
    effective, distances = np.zeros(number), np.zeros(number)
    recursive = np.ones(number, dtype=bool)
    class_measures(
        classes.starts, classes.order, values, classes.first, classes.others, shares,
        column.ordered, apart, least, float(weight), counted, distinct, effective, recursive,
        distances,
    )  # fmt: skip
    return Diversity(
        name=column.name,
        keys=keys,
        missing=missing,
        ordered=column.ordered,
        least=least,
        weight=weight,
        furthest=furthest,
        sizes=classes.cells.sizes,
        counted=counted,
        distinct=distinct,
        effective=effective,
        recursive=recursive,
        distances=distances,
    )


def _occurring(column: SensitiveColumn) -> tuple[Int64, Floats, int]:
    """Values numbered among those that occur in the file, their shares, and how many are valid.

    Valid ones come first, in their order; what is not known is below 0.
    """
    counts = np.bincount(column.values, minlength=len(column.codes))
    kinds = [code.kind for code in column.codes]
    places = [at for at in range(len(kinds)) if counts[at] and kinds[at] is CodeKind.VALID]
    if column.ordered:
        places.sort(key=lambda at: (column.codes[at].lower or 0, at))
    apart = len(places)
    places += [
        at for at in range(len(kinds)) if counts[at] and kinds[at] is CodeKind.NOT_APPLICABLE
    ]
    numbers = np.full(len(kinds), -1, dtype=np.int64)
    numbers[places] = np.arange(len(places))
    told = counts[places].astype(np.float64)
    return numbers[column.values], told / max(told.sum(), 1.0), apart
