"""Dummy data: the structure of a file, filled from published margins and nothing else.

Nothing here can open a store: what is drawn from are a ``PublicStructure`` and published tables,
and the key of the draws is the digest of the published values, which anybody can compute. So two
censuses with equal published values give the same dummy file, to the byte.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.microdata.method import Draws
from sdcensus.microdata.release.file_columns import (
    FreeNames,
    flag_column,
    number_columns,
    variable_column,
    weight_column,
)
from sdcensus.microdata.release.weights import told_weight
from sdcensus.model.published.table import AnyTable
from sdcensus.model.release.file_variable import FileVariable
from sdcensus.model.release.harmonisation import Harmonisation
from sdcensus.model.release.release_file import ReleaseColumn, ReleaseFile, ReleaseTable
from sdcensus.model.release.structure import PublicStructure
from sdcensus.model.schema.encoding import NO_VALUE, whole_number
from sdcensus.model.schema.variable import Code, Entity
from sdcensus.model.text import Text
from sdcensus.session.release.dummy.margins import PublishedMargins
from sdcensus.session.release.make.harmonisation import harmonised

Int64 = npt.NDArray[np.int64]
UInt64 = npt.NDArray[np.uint64]

#: Persons of a dummy file where nobody says how many.
RECORDS = 1_000
MOST_RECORDS = 10_000_000
#: Households that are drawn from no published sizes: at most so many persons.
_LARGEST = 20
#: Persons in a household on average, where nothing is published.
_MEAN_SIZE = (3, 1)
#: Amounts without published classes lie below this.
_LARGEST_AMOUNT = 10_000
#: Numbers that no class reaches unless it has no end.
_FARTHEST = 10**12
#: What draws are for, besides the variables.
_SIZES, _FLAGS, _WITHIN_CLASS = 0, 1 << 16, 1 << 17


def dummy_file(
    structure: PublicStructure,
    tables: Sequence[AnyTable],
    *,
    records: int = RECORDS,
    harmonisation: Harmonisation | None = None,
) -> ReleaseFile:
    """A file of that structure in which nobody is anybody.

    Variables are drawn in the order of the file: from the published table with the first variable
    drawn before that has one with it, else from the published margin, else with equal chances for
    all codes. Households have published sizes, else those of a geometric distribution with the
    published mean, else with a mean of 3.

    Args:
        structure: What the file holds.
        tables: Published tables.
        records: How many persons; households where the file has no persons.
        harmonisation: International codes beside the national ones.

    Raises:
        SpecError: The number of records cannot be.
    """
    if not 1 <= records <= MOST_RECORDS:
        raise SpecError(
            f"A dummy file of {records} records cannot be made. Say a number from 1 to"
            f" {MOST_RECORDS:,}."
        )
    margins = PublishedMargins(tables)
    draws = Draws(margins.seed(structure.name))
    drawing = _Drawing(structure, margins, draws)
    file = ReleaseFile(
        name=f"dummy-{structure.name}",
        title=Text.named("release_utility.dummy.title").filled(title=structure.title),
        tables=drawing.tables(records),
        licence=structure.licence,
        languages=structure.languages,
        census=structure.census,
        country=structure.country,
        reference_date=structure.reference_date,
        abstract=Text.named("release_utility.dummy.note"),
        producer=structure.producer,
        contact=structure.contact,
        sampling=Text.named("release_utility.dummy.sampling"),
        notes=(Text.named("release_utility.dummy.note"),),
        version="dummy",
    )
    if harmonisation is None or structure.design is None:
        return file
    return harmonised(file, harmonisation, structure.design)


@dataclass(frozen=True, slots=True, eq=False)
class _Households:
    """Households that were drawn.

    Attributes:
        sizes: The persons of each.
        codes: The position of the code of the size, where the file tells it.
        variable: The variable that tells it.
    """

    sizes: Int64
    codes: Int64 | None = None
    variable: FileVariable | None = None


class _Drawing:
    def __init__(self, structure: PublicStructure, margins: PublishedMargins, draws: Draws) -> None:
        self.structure, self.margins, self.draws = structure, margins, draws
        self.names = FreeNames(structure.variables)
        self.number = {variable.name: at for at, variable in enumerate(structure.variables, 1)}

    def tables(self, records: int) -> tuple[ReleaseTable, ...]:
        if self.structure.unit is Entity.PERSON:
            own = np.arange(1, records + 1)
            return (self._table(Entity.PERSON, own, None, None),)
        if not self.structure.persons:
            return (self._table(Entity.HOUSEHOLD, np.arange(1, records + 1), None, None),)
        households = self._households(records)
        sizes = households.sizes
        numbers = np.arange(1, sizes.size + 1)
        holder = np.repeat(numbers, sizes)
        first = np.repeat(np.cumsum(sizes) - sizes, sizes)
        member = np.arange(records) - first + 1
        return (
            self._table(Entity.HOUSEHOLD, numbers, None, households),
            self._table(Entity.PERSON, member, holder, None),
        )

    def _table(
        self, entity: Entity, own: Int64, holder: Int64 | None, households: _Households | None
    ) -> ReleaseTable:
        size = own.size
        columns: list[ReleaseColumn] = number_columns(entity, own, holder, self.names)
        before: list[tuple[FileVariable, Int64]] = []
        for variable in self.structure.of(entity):
            if households is not None and variable is households.variable:
                assert households.codes is not None
                codes = households.codes
            else:
                codes = self._codes(variable, size, before)
            before.append((variable, codes))
            values = self._amounts(variable, codes) if variable.amounts else codes
            columns.append(variable_column(variable, values))
        for variable in self.structure.of(entity):
            if variable.name in self.structure.flags:
                words = self._words(size, _FLAGS + self.number[variable.name])
                columns.append(flag_column(variable, words % np.uint64(2), self.names))
        weight = told_weight(1, 0, 1 / self.structure.fraction)
        columns.append(weight_column(np.full(size, weight, dtype=np.int64), self.names))
        return ReleaseTable(entity=entity, columns=tuple(columns))

    def _words(self, size: int, purpose: int) -> UInt64:
        return self.draws.words(np.arange(size, dtype=np.uint64), purpose)

    # ------------------------------------------------------------------------------ codes

    def _codes(
        self, variable: FileVariable, size: int, before: Sequence[tuple[FileVariable, Int64]]
    ) -> Int64:
        """The position of a code for each record."""
        words = self._words(size, self.number[variable.name])
        number = len(variable.level.codes)
        if not number:
            return (words % np.uint64(_LARGEST_AMOUNT)).astype(np.int64)
        margin = self.margins.margin(variable)
        if margin is None:
            margin = np.ones(number, dtype=np.int64)
        for other, codes in before:
            if not other.level.codes:
                continue
            together = self.margins.pair(other, variable)
            if together is not None:
                return _drawn_given(words, codes, together, margin)
        return _drawn(words, margin)

    def _amounts(self, variable: FileVariable, codes: Int64) -> Int64:
        """A number for each record: within the class that was drawn, if there are classes."""
        decimals, classes = variable.source.decimals, variable.level.codes
        if not classes:
            return np.asarray(codes * 10**decimals, dtype=np.int64)
        words = self._words(codes.size, _WITHIN_CLASS + self.number[variable.name])
        low = np.array([_bounds(code)[0] for code in classes], dtype=np.int64)[codes]
        width = np.array([_bounds(code)[1] for code in classes], dtype=np.int64)[codes]
        amounts = low + (words % width.astype(np.uint64)).astype(np.int64)
        missing = np.array([code.is_missing for code in classes], dtype=bool)[codes]
        return np.where(missing, NO_VALUE, amounts * 10**decimals)

    # ------------------------------------------------------------------------------ households

    def _households(self, persons: int) -> _Households:
        """Households until all persons have one; the last one holds those that are left."""
        variable = next(
            (
                each
                for each in self.structure.of(Entity.HOUSEHOLD)
                if each.source.counts is Entity.PERSON and not each.amounts
            ),
            None,
        )
        words = self._words(persons, _SIZES)
        numbers = np.zeros(0, dtype=np.int64) if variable is None else _sizes_of(variable)
        margin = None if variable is None else self.margins.margin(variable)
        if variable is None or margin is None or not (margin * (numbers > 0)).any():
            sizes = _drawn(words, _geometric(*self._mean_size())) + 1
            codes = None if variable is None else _codes_of_sizes(sizes, numbers)
        else:
            codes = _drawn(words, np.where(numbers > 0, margin, 0))
            sizes = numbers[codes]
        last = int(np.searchsorted(np.cumsum(sizes), persons))
        sizes = sizes[: last + 1].copy()
        sizes[-1] -= int(sizes.sum()) - persons
        if codes is None or variable is None:
            return _Households(sizes)
        codes = codes[: last + 1].copy()
        codes[-1] = _codes_of_sizes(sizes[-1:], numbers)[0]
        return _Households(sizes, codes, variable)

    def _mean_size(self) -> tuple[int, int]:
        persons = self.margins.total(Entity.PERSON)
        households = self.margins.total(Entity.HOUSEHOLD)
        return (persons, households) if persons > households > 0 else _MEAN_SIZE


def _drawn(words: UInt64, weights: Int64) -> Int64:
    """For each word a position, with chances in proportion to whole numbers."""
    ends = np.cumsum(weights)
    points = (words % np.uint64(int(ends[-1]))).astype(np.int64)
    return np.searchsorted(ends, points, side="right").astype(np.int64)


def _drawn_given(words: UInt64, codes: Int64, together: Int64, margin: Int64) -> Int64:
    """The same, given the code of another variable; by the margin where nothing was published."""
    drawn = np.empty(words.size, dtype=np.int64)
    for code in np.unique(codes).tolist():
        mine = codes == code
        weights = together[code]
        drawn[mine] = _drawn(words[mine], weights if weights.sum() > 0 else margin)
    return drawn


def _geometric(persons: int, households: int) -> Int64:
    """Chances of sizes from 1 on, of which each is so much rarer than the one before."""
    more, whole = persons - households, persons
    chances = [((1 << 32) * more**size) // whole**size for size in range(_LARGEST)]
    return np.array(chances, dtype=np.int64)


def _sizes_of(variable: FileVariable) -> Int64:
    """The persons that each code of a size stands for; 0 for what is no number."""
    return np.array([_number(code) for code in variable.level.codes], dtype=np.int64)


def _number(code: Code) -> int:
    if code.is_missing:
        return 0
    number = code.lower if code.lower is not None else whole_number(code.code)
    return min(max(number or 0, 0), 1000)


def _codes_of_sizes(sizes: Int64, numbers: Int64) -> Int64:
    """The code of each size: the largest number that is not above it, else the first code."""
    order = np.argsort(numbers, kind="stable")
    places = np.searchsorted(numbers[order], sizes, side="right") - 1
    return np.asarray(order[np.maximum(places, 0)], dtype=np.int64)


def _bounds(code: Code) -> tuple[int, int]:
    """The lowest number of a class, and how many there are; classes without an end get one."""
    if code.is_missing or code.lower is None:
        return 0, 1
    low, high = code.lower, code.upper
    if low < -_FARTHEST and high is None:  # any number
        return 0, _LARGEST_AMOUNT
    if low < -_FARTHEST:  # everything below a number
        low = min(0, (high or 0) - _LARGEST_AMOUNT)
    if high is None or high > _FARTHEST:  # a number and all above: once more as high
        high = low + max(1, abs(low)) - 1
    return low, max(1, high - low + 1)
