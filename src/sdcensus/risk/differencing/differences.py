"""Disclosure by differencing: few units that one table counts and another does not.

What two tables show together is found by sets of leaves (``model.tiling``), so that nested areas,
filters, levels that do not nest and conditions are all the same case: a cell of one table that is
a union of cells of another, up to some codes of one variable.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.model.cube.cube import Cube
from sdcensus.model.cube.layout import mixed_radix, positions_of, positions_on
from sdcensus.model.cube.parts import known_axes
from sdcensus.model.published.table import Table
from sdcensus.model.schema.variable import Role, Variable
from sdcensus.model.spec.headings import code_label, joined, table_heading, variable_heading
from sdcensus.model.spec.leaf_groups import within
from sdcensus.model.spec.record_sets import leaves_in
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.model.spec.universe import EVERYTHING, Universe, restrict
from sdcensus.model.text import said
from sdcensus.risk.detection.detectors import whole_number_from
from sdcensus.risk.detection.findings import ConfidentialFindings, FindingKind, Findings
from sdcensus.risk.detection.held_cells import HeldCells, Source
from sdcensus.risk.detection.wording import (
    PERCEIVED,
    group_of,
    leaves_text,
    quoted,
    sentence_text,
    tables_scope,
)
from sdcensus.risk.differencing.tiling import NearTiling, near_tilings

Int64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
Numbers = npt.NDArray[np.uint64]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class DifferenceWording:
    """Sentences about units that one table counts and another one does not."""

    first: TableSpec
    second: TableSpec
    cells: Numbers
    values: Int64
    published: bool

    def sentence(self, at: int, language: str | None) -> str:
        """The units, and in which table they are."""
        group = group_of(
            self.first,
            positions_of(self.first.shape, int(self.cells[at])),
            language,
            universe=EVERYTHING,
        )
        number = int(self.values[at])
        first, second = (_name(each, language) for each in (self.first, self.second))
        key = "findings.difference_one" if number == 1 else "findings.difference_more"
        units = said(key, language, units=group.units(number), first=first, second=second)
        lead = PERCEIVED.show(language) if self.published else ""
        return f"{lead}{sentence_text(group.there_are(number, units))}"


def difference(first: Source, second: Source, *, threshold: int = 2) -> Findings:
    """Find cells in which one of two tables on the same axes counts a few units more.

    The universe of one must lie inside that of the other; if the second is the larger one, they
    change places. Tables with one and the same universe (two dates, two editions) are taken in
    the order in which they are given.

    Args:
        first, second: Both true counts, or both published values.
        threshold: The largest difference that is found, from 1.
    """
    threshold = whole_number_from("threshold", threshold, 1)
    larger, smaller = HeldCells.of(first), HeldCells.of(second)
    if larger.published is not smaller.published:
        raise SpecError(
            "A difference is taken between two cubes or between two published tables, not between"
            " true counts and published values."
        )
    if not within(smaller.spec.universe, larger.spec.universe):
        if not within(larger.spec.universe, smaller.spec.universe):
            raise SpecError(
                f"Neither of {larger.spec.title!r} and {smaller.spec.title!r} is about all records"
                " of the other, so their difference is no set of records."
            )
        larger, smaller = smaller, larger
    numbers = larger.numbers
    numbers = numbers[~np.isin(numbers, larger.hidden)]
    matching = _matching(numbers, larger.spec, smaller.spec)
    amount = larger.at(numbers) - smaller.at(matching)
    seen = ~np.isin(matching, smaller.hidden)
    few = np.flatnonzero((amount >= 1) & (amount <= threshold) & seen)
    cells, values = numbers[few], amount[few]
    order = np.lexsort((cells, known_axes(larger.spec, cells)))
    cells, values = cells[order], values[order]
    wording = DifferenceWording(larger.spec, smaller.spec, cells, values, larger.published)
    scope = tables_scope([larger.spec, smaller.spec], published=larger.published)
    nowhere = np.full(cells.size, -1, dtype=np.int64)
    kind = Findings if larger.published else ConfidentialFindings
    return kind(FindingKind.DIFFERENCE, larger.spec, cells, values, nowhere, scope, wording)


def _matching(numbers: Numbers, spec: TableSpec, other: TableSpec) -> Numbers:
    """The cells of another table with the same codes, by their numbers there."""
    mine = {axis.variable.name: at for at, axis in enumerate(spec.axes)}
    if spec.of is not other.of or spec.measure is not other.measure or len(mine) != len(other.axes):
        raise _other_axes(spec, other)
    moved = np.zeros(numbers.size, dtype=np.uint64)
    for axis, weight in zip(other.axes, mixed_radix(other.shape), strict=True):
        at = mine.get(axis.variable.name)
        if at is None:
            raise _other_axes(spec, other)
        places = {(code.level, code.code): place for place, code in enumerate(axis.codes)}
        own = [(code.level, code.code) for code in spec.axes[at].codes]
        if set(own) != set(places) or spec.axes[at].canonical() != axis.canonical():
            raise _other_axes(spec, other)
        place = np.array([places[code] for code in own], dtype=np.uint64)
        moved += place[positions_on(spec.shape, at, numbers)] * np.uint64(weight)
    return moved


def _other_axes(spec: TableSpec, other: TableSpec) -> SpecError:
    return SpecError(
        f"{spec.title!r} and {other.title!r} do not show the same codes of the same variables, so"
        " cells cannot be subtracted one from one. Use differences_between for such tables."
    )


@dataclass(frozen=True, slots=True, eq=False)
class DifferenceRest:
    """What is left of a code of one variable when codes of another table are taken away.

    Attributes:
        near: The tables, and how the codes of one are made of those of the other.
        code: Which code, by its place in the step.
        leaves: The leaves that are left.
    """

    near: NearTiling
    code: int
    leaves: Mask

    def text(self, language: str | None) -> str:
        """The leaves in words; areas that are no short list by what they are part of."""
        step, variable = self.near.step, self.near.variable
        axes = (step.whole_axis, step.parts_axis)
        few = np.count_nonzero(self.leaves) <= _FEW_AREAS
        if variable.role is not Role.GEOGRAPHY or few or None in axes:
            return leaves_text(variable, self.leaves, language)
        tiling = self.near.tiling
        whole = tiling.whole.axis(variable.name)
        parts = tiling.parts.axis(variable.name)
        own = code_label(whole, step.whole.start + int(step.codes[self.code]), language)
        places = step.parts.start + step.part[step.made == self.code]
        others = joined([code_label(parts, int(place), language) for place in places], language)
        inside, outside = (own, others) if self.near.larger else (others, own)
        heading = variable_heading(variable, language)
        key = "findings.part_outside"
        return said(key, language, heading=heading, inside=inside, outside=outside)


#: Areas that are listed one by one; more are told by what they are part of.
_FEW_AREAS = 3


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RestWording:
    """Sentences about units that are left when cells of one table are taken from another's."""

    whole: TableSpec
    parts: TableSpec
    cells: Numbers
    values: Int64
    rests: tuple[DifferenceRest, ...]
    which: Int64
    published: bool

    def sentence(self, at: int, language: str | None) -> str:
        """The units that are left, and which tables together show them."""
        rest = self.rests[self.which[at]]
        variable = rest.near.variable
        positions: list[int | None] = list(positions_of(self.whole.shape, int(self.cells[at])))
        for place, axis in enumerate(self.whole.axes):
            if axis.variable.name == variable.name:
                positions[place] = None
        group = group_of(
            self.whole,
            positions,
            language,
            further=[rest.text(language)],
            universe=_without(self.whole.universe, variable),
        )
        first, second = (_name(each, language) for each in (self.whole, self.parts))
        shown = group.there_are(int(self.values[at]))
        text = said("findings.together", language, first=first, second=second, shown=shown)
        lead = PERCEIVED.show(language) if self.published else ""
        return f"{lead}{sentence_text(text)}"


def _without(universe: Universe, variable: Variable) -> Universe:
    """A universe without what it says of one variable."""
    if variable.name not in [variable.name for variable in universe.variables]:
        return universe
    rest = EVERYTHING
    for one in universe.variables:
        if one.name != variable.name:
            rest = restrict(rest, one, leaves_in(universe, one))
    return rest


def _name(spec: TableSpec, language: str | None) -> str:
    return quoted(table_heading(spec, language), language)


def differences_between(
    first: Cube | Table, second: Cube | Table, *, threshold: int = 2
) -> tuple[Findings, ...]:
    """Find few units that two tables on any axes show together and neither shows by itself.

    Cells of each table are compared with unions of cells of the other: areas that nest or almost
    nest, classes that differ by a code, conditions. One variable may differ; the others have to
    fit exactly (``eliminate`` has no such limit and takes small tables only). Units that a union
    of published cells shows anyway are left to ``detect``.

    Args:
        first, second: Both true counts, or both published values; they may be the same table.
        threshold: The largest number of units that is found, from 1.

    Returns:
        Findings in cells of the first table, then in cells of the second, where there are any.
    """
    threshold = whole_number_from("threshold", threshold, 1)
    for one in (first, second):
        if not isinstance(one, Cube | Table):
            raise SpecError(
                "Tables too large to hold whole cannot be compared cell by cell with others. Take"
                " fewer or coarser axes."
            )
    if isinstance(first, Cube) is not isinstance(second, Cube):
        raise SpecError(
            "Compare two cubes or two published tables, not true counts with published values."
        )
    pairs = [(first, second)] if first is second else [(first, second), (second, first)]
    made = (_rests(whole, parts, threshold) for whole, parts in pairs)
    return tuple(findings for findings in made if findings)


def _values(source: Cube | Table) -> Int64:
    return source.count if isinstance(source, Cube) else source.published


def _withheld(source: Cube | Table) -> Int64 | None:
    if isinstance(source, Cube) or source.flags is None:
        return None
    return np.asarray(source.flags != 0, dtype=np.int64)


def _rests(whole: Cube | Table, parts: Cube | Table, threshold: int) -> Findings:
    """What is left of cells of one table when cells of another are taken away."""
    cells: list[Numbers] = []
    values: list[Int64] = []
    which: list[Int64] = []
    rests: list[DifferenceRest] = []
    seen: dict[tuple[str, bytes], int] = {}
    for near in near_tilings(whole.spec, parts.spec):
        amount = near.differences(_values(whole), _values(parts))
        small = (amount >= 1) & (amount <= threshold) & _visible(near, whole, parts)
        codes = near.codes()
        for code in np.unique(codes[small]).tolist():
            if near.is_shown(code):
                continue
            leaves = near.rest(code)
            number = seen.setdefault((near.variable.name, leaves.tobytes()), len(rests))
            if number == len(rests):
                rests.append(DifferenceRest(near, code, leaves))
            here = np.flatnonzero(small & (codes == code))
            cells.append(near.cells[here])
            values.append(amount[here])
            which.append(np.full(here.size, number, dtype=np.int64))
    return _rest_findings(whole, parts, _Rests(cells, values, which, rests))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _Rests:
    cells: list[Numbers]
    values: list[Int64]
    which: list[Int64]
    rests: list[DifferenceRest]


def _visible(near: NearTiling, whole: Cube | Table, parts: Cube | Table) -> Mask:
    """Which differences rest on cells that all have a number."""
    visible = np.ones(near.cells.size, dtype=bool)
    hidden = _withheld(whole)
    if hidden is not None:
        visible &= hidden.reshape(-1)[near.cells.astype(np.int64)] == 0
    hidden = _withheld(parts)
    if hidden is not None:
        visible &= near.tiling.sums(hidden) == 0
    return visible


def _rest_findings(whole: Cube | Table, parts: Cube | Table, found: _Rests) -> Findings:
    spec = whole.spec
    empty = np.zeros(0, dtype=np.int64)
    cells = np.concatenate([empty.astype(np.uint64), *found.cells])
    values = np.concatenate([empty, *found.values])
    which = np.concatenate([empty, *found.which])
    axes = _axes_of(spec, found.rests)[which] if found.rests else empty
    # The same units can be left over in several ways: at several levels of the same variable.
    held = HeldCells.of(whole)
    others = cells.copy()
    for at, weight in enumerate(mixed_radix(spec.shape)):
        own = axes == at
        others[own] -= held.position(at, others[own]).astype(np.uint64) * np.uint64(weight)
    depth = known_axes(spec, cells)
    order = np.lexsort((cells, which, depth))
    _, first = np.unique(
        np.stack([which[order], others[order].astype(np.int64)]), axis=1, return_index=True
    )
    order = order[np.sort(first)]
    cells, values, which, axes = cells[order], values[order], which[order], axes[order]
    published = isinstance(whole, Table)
    wording = RestWording(
        spec,
        parts.spec,
        cells,
        values,
        tuple(found.rests),
        which,
        published,
    )
    scope = tables_scope([spec, parts.spec], published=published)
    kind = Findings if published else ConfidentialFindings
    return kind(FindingKind.DIFFERENCE, spec, cells, values, axes, scope, wording)


def _axes_of(spec: TableSpec, rests: Sequence[DifferenceRest]) -> Int64:
    names = [axis.variable.name for axis in spec.axes]
    named = [rest.near.variable.name for rest in rests]
    return np.array([names.index(name) if name in names else -1 for name in named], dtype=np.int64)
