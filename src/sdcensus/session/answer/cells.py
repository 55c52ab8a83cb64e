"""The cells of an answer: sums of published values of counted cells, and what stands instead.

What was asked for lately is kept, each made once however many ask at the same time.
"""

from __future__ import annotations

import math
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from sdcensus.model.published.figures import (
    DEFAULT_LIMITS,
    Counted,
    FigureLimits,
    Support,
)
from sdcensus.model.published.table import Mark
from sdcensus.model.spec.axis import TOTAL
from sdcensus.session.answer.axes import ShownAxis
from sdcensus.session.answer.recipe import Compiled
from sdcensus.session.policy import Ruling
from sdcensus.session.policy.code_rules import positions_of
from sdcensus.session.policy.verdict import Withheld

Int64 = npt.NDArray[np.int64]
Marks = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True, eq=False)
class CountedCells:
    """The published table behind an answer.

    Attributes:
        values: Published values of the counted cells.
        marks: What stands in the place of values, if anything does.
        records: Of weighted values, the published numbers of records behind them: limits are about
            these. ``None`` where values are numbers of records.
    """

    values: Int64
    marks: Marks | None = None
    records: Int64 | None = None

    @property
    def bytes(self) -> int:
        """How much memory they take."""
        arrays = (self.values, self.marks, self.records)
        return sum(array.nbytes for array in arrays if array is not None)

    @property
    def behind(self) -> Int64:
        """The published numbers of records behind the values."""
        return self.values if self.records is None else self.records


@dataclass(frozen=True, slots=True, eq=False)
class AnswerCells:
    """The cells of an answer.

    Attributes:
        values: Sums of published values; 0 where a mark stands for one.
        parts: How many published values each is the sum of; ``None`` where each is one.
        marks: What stands instead of a value; ``None`` where nothing does.
        small: How much of each comes from published values below the limit for brackets around
            figures; ``None`` where each is one published value.
        records: Of weighted values, the published numbers of records behind them.
    """

    values: Int64
    parts: Int64 | None
    marks: Marks | None
    small: Int64 | None = None
    records: Int64 | None = None

    @property
    def support(self) -> Support | None:
        """What sums rest on, for figures that are computed from them."""
        if self.parts is None or self.small is None:
            return Support.of_records(self.records)
        return Support(self.parts, self.small, self.records)


def answer_cells(
    compiled: Compiled,
    published: CountedCells,
    ruling: Ruling,
    limits: FigureLimits = DEFAULT_LIMITS,
) -> AnswerCells:
    """Put the cells of an answer together.

    A sum of which any part is withheld is withheld.

    Args:
        compiled: The question.
        published: The published values of what was counted for it.
        ruling: What the policy shows.
        limits: When a figure that rests on them is unreliable.
    """
    marks = _with_ruling(compiled, published, ruling)
    if compiled.declared and not compiled.filters:
        return AnswerCells(
            _where_shown(published.values, marks), None, marks, records=published.records
        )
    values = np.zeros(compiled.shape, dtype=np.int64)
    records = None if published.records is None else np.zeros(compiled.shape, dtype=np.int64)
    parts = np.zeros(compiled.shape, dtype=np.int64)
    small = np.zeros(compiled.shape, dtype=np.int64)
    below = Support.of(published.behind, limits).small
    marked = None if marks is None else np.zeros(compiled.shape, dtype=np.uint8)
    for term in range(compiled.terms):
        places = [
            [axis.counted.positions(code.parts[term]) for code in axis.codes]
            for axis in compiled.axes
        ]
        places += [
            [filter_axis.counted.positions(filter_axis.parts[term])]
            for filter_axis in compiled.filters
        ]
        values += _combined(np.add, published.values, places).reshape(compiled.shape)
        small += _combined(np.add, below, places).reshape(compiled.shape)
        if records is not None:
            records += _combined(np.add, published.behind, places).reshape(compiled.shape)
        if marked is not None and marks is not None:
            combined = _combined(np.maximum, marks, places).reshape(compiled.shape)
            marked = np.maximum(marked, combined)
        counts = [np.array([index.size for index in place], dtype=np.int64) for place in places]
        parts += _outer(counts).reshape(compiled.shape)
    if marked is not None and not marked.any():
        marked = None
    values = _where_shown(values, marked)
    if not (parts > 1).any():
        return AnswerCells(values, None, marked, records=records)
    return AnswerCells(values, parts, marked, small, records)


def _where_shown(values: Int64, marks: Marks | None) -> Int64:
    return values if marks is None else np.where(marks != 0, 0, values)


def _combined(
    combine: np.ufunc, array: npt.NDArray[Any], places: Sequence[Sequence[Int64]]
) -> npt.NDArray[Any]:
    """An array whose positions are combined, axis by axis, into those of an answer.

    The axis that loses most is done first: what is left to do is then the least.
    """
    order = sorted(range(array.ndim), key=lambda at: len(places[at]) / max(array.shape[at], 1))
    for at in order:
        sizes = np.array([position.size for position in places[at]], dtype=np.int64)
        if (sizes == 1).all():
            wanted = np.concatenate(places[at])
            if not np.array_equal(wanted, np.arange(array.shape[at])):
                array = np.take(array, wanted, axis=at)
            continue
        # A code of which this term holds nothing takes any position, and is emptied again.
        filled = [
            position if position.size else np.zeros(1, dtype=np.int64) for position in places[at]
        ]
        starts = np.cumsum([0, *(position.size for position in filled[:-1])])
        array = combine.reduceat(np.take(array, np.concatenate(filled), axis=at), starts, axis=at)
        if (sizes == 0).any():
            index: list[Any] = [slice(None)] * array.ndim
            index[at] = sizes == 0
            array[tuple(index)] = 0
    return array


def _outer(counts: Sequence[Int64]) -> Int64:
    product = np.ones((), dtype=np.int64)
    for count in counts:
        product = np.multiply.outer(product, count)
    return np.asarray(product)


def _with_ruling(compiled: Compiled, published: CountedCells, ruling: Ruling) -> Marks | None:
    """The marks of counted cells, with those that the policy sets."""
    spec = compiled.counted
    marks = None if published.marks is None else published.marks.copy()
    named = {axis.variable.name: at for at, axis in enumerate(spec.axes)}

    def rows(withholdings: Sequence[Withheld]) -> list[tuple[int, list[int]]]:
        rows_of_axes = []
        for withheld in withholdings:
            if withheld.variable in named:
                at = named[withheld.variable]
                rows_of_axes.append((at, positions_of(spec.axes[at], withheld)))
        return [(at, places) for at, places in rows_of_axes if places]

    sparse = rows(ruling.sparse)
    if sparse or ruling.everywhere:
        marks = np.zeros(spec.shape, dtype=np.uint8) if marks is None else marks
        # Parts of small groups are not shown whatever their values are.
        small = (published.behind < ruling.below) & (marks == 0)
        if ruling.everywhere:
            marks[small] = Mark.WITHHELD
        for at, places in sparse:
            index = _index(at, places, len(spec.axes))
            marks[index] = np.where(small[index], np.uint8(Mark.WITHHELD), marks[index])
    for at, places in rows(ruling.verdict.withheld):
        marks = np.zeros(spec.shape, dtype=np.uint8) if marks is None else marks
        marks[_index(at, places, len(spec.axes))] = Mark.REFUSED
    return marks


def _index(at: int, places: list[int], axes: int) -> tuple[Any, ...]:
    index: list[Any] = [slice(None)] * axes
    index[at] = places
    return tuple(index)


def low_reliability(cells: AnswerCells, below: int | None) -> AnswerCells:
    """The same cells, with brackets around values that are too small to rely on.

    By the rule of figures that are computed from them. A 0 says itself what it can mean. A weighted
    value is as reliable as the number of records behind it.
    """
    if not below:
        return cells
    limits = FigureLimits(low_below=below, none_below=1)
    support = Support.of_records(cells.records, limits) if cells.parts is None else cells.support
    low = Counted(cells.values, support=support).low(limits)
    marks = np.zeros(cells.values.shape, dtype=np.uint8) if cells.marks is None else cells.marks
    small = (cells.values > 0) & low & (marks == 0)
    if not small.any():
        return cells
    return replace(cells, marks=np.where(small, np.uint8(Mark.LOW_RELIABILITY), marks))


@dataclass(frozen=True, slots=True)
class WorkedExample:
    """Published parts that do not add up to their published total: places in the answer.

    Attributes:
        axis: Which axis they lie on.
        total: The place of the total on it.
        parts: The places of the parts.
        place: For the other axes the place of the example.
        sum, published: What the parts add up to, and what is published.
    """

    axis: int
    total: int
    parts: tuple[int, ...]
    place: tuple[int, ...]
    sum: int
    published: int


#: An example with more parts than this is none that people read.
MOST_PARTS = 12


def worked_example(axes: Sequence[ShownAxis], cells: AnswerCells) -> WorkedExample | None:
    """The clearest place where published parts do not add up: few parts, a small difference."""
    best: tuple[tuple[int, int, int], WorkedExample] | None = None
    for at, axis in enumerate(axes):
        split = _parts_of(axis)
        if split is None:
            continue
        total, parts = split
        lines = np.moveaxis(cells.values, at, -1)
        sums, totals = lines[..., list(parts)].sum(axis=-1), lines[..., total]
        gap = np.abs(sums - totals)
        usable = (gap > 0) & (totals > 0)
        if cells.marks is not None:
            marked = np.moveaxis(cells.marks != 0, at, -1)
            usable &= ~marked[..., [*parts, total]].any(axis=-1)
        if not usable.any():
            continue
        # The larger total is the better example: a gap of 1 in thousands worries nobody.
        worth = np.where(usable, totals - gap * 1_000_000_000, np.iinfo(np.int64).min)
        place = tuple(int(index) for index in np.unravel_index(int(worth.argmax()), worth.shape))
        rank = (int(gap[place]), len(parts), at)
        example = WorkedExample(at, total, parts, place, int(sums[place]), int(totals[place]))
        if best is None or rank < best[0]:
            best = (rank, example)
    return None if best is None else best[1]


def _parts_of(axis: ShownAxis) -> tuple[int, tuple[int, ...]] | None:
    """The total of an axis and its parts: codes of the coarsest level, all of them shown."""
    if axis.total is None or not axis.whole:
        return None
    levels: dict[str, list[int]] = {}
    for place, code in enumerate(axis.codes):
        if code.level != TOTAL:
            levels.setdefault(code.level, []).append(place)
    fewest = min(levels.values(), key=len, default=[])
    if not 2 <= len(fewest) <= MOST_PARTS:
        return None
    return axis.total, tuple(fewest)


def error_factor(cells: AnswerCells) -> float:
    """The largest error of a sum, as a multiple of that of one published value."""
    return 1.0 if cells.parts is None else math.sqrt(int(cells.parts.max(initial=1)))


Value = TypeVar("Value")


class RecentlyUsed(Generic[Value]):
    """Values by key, the least recently used of which go first.

    Args:
        limit: How many bytes are kept.
        size: How many bytes a value takes.
    """

    def __init__(self, limit: int, size: Callable[[Value], int]) -> None:
        self._limit = limit
        self._size = size
        self._kept: OrderedDict[Hashable, Value] = OrderedDict()
        self._making: dict[Hashable, Future[Value]] = {}
        self._bytes = 0
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._kept)

    @property
    def bytes(self) -> int:
        """How many bytes are kept now."""
        return self._bytes

    def get(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """The value of a key; whoever comes first makes it, the others wait for it."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
            waiting = self._making.get(key)
            if waiting is None:
                mine: Future[Value] = Future()
                self._making[key] = mine
        if waiting is not None:
            return waiting.result()
        try:
            value = make()
        except BaseException as error:
            with self._lock:
                del self._making[key]
            mine.set_exception(error)
            raise
        with self._lock:
            del self._making[key]
            self._keep(key, value)
        mine.set_result(value)
        return value

    def _keep(self, key: Hashable, value: Value) -> None:
        size = self._size(value)
        if size > self._limit // 4:
            return  # one large table would drive out all others
        self._kept[key] = value
        self._bytes += size
        while self._bytes > self._limit:
            _, gone = self._kept.popitem(last=False)
            self._bytes -= self._size(gone)
