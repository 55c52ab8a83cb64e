"""Notes for readers of a published table, made from what is published and nothing else.

They tell that values are protected and what follows from that: what a 0 means, and why totals are
not the sums of their parts, with an example from the table itself. They tell no parameter.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sdcensus.model.cube.constraints import nests
from sdcensus.model.cube.layout import mixed_radix
from sdcensus.model.published.claims import Claims
from sdcensus.model.published.record_changes import notes_of_records
from sdcensus.model.published.table import AnyTable, Mark, Table, marks_in
from sdcensus.model.quantities import number_text
from sdcensus.model.spec.axis import Axis, AxisCode, Block
from sdcensus.model.spec.headings import axis_heading, joined, pairs_text
from sdcensus.model.spec.listed_tables import ListedTables
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.model.text import LANGUAGES, Text, catalogue

Int64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

#: An example with more parts than this does not list them.
MOST_LISTED = 8


@dataclass(frozen=True, slots=True)
class Example:
    """A published total and its published parts that do not add up to it.

    Attributes:
        axis: The axis along which they lie.
        whole, total: The code of the total and its published value.
        parts: The codes of the parts with their published values.
        place: Where on the other axes, as far as that is not their total.
        decimals: How many digits of the values stand behind the point.
    """

    axis: Axis
    whole: AxisCode
    total: int
    parts: tuple[tuple[AxisCode, int], ...]
    place: tuple[tuple[Axis, AxisCode], ...] = ()
    decimals: int = 0

    @property
    def sum(self) -> int:
        """What the published parts add up to."""
        return sum(value for _, value in self.parts)


def notes_for(
    table: AnyTable,
    claims: Claims,
    *,
    lineage: str = "",
    listed: ListedTables | None = None,
    legend: bool = True,
) -> tuple[Text, ...]:
    """What readers of a published table should know, as notes in every language that we write.

    Args:
        table: The published table.
        claims: What its method promises.
        lineage: How its records were derived, as published files name it.
        listed: The tables for which small counts of these records were rounded.
        legend: Whether its signs are explained: not where it is shown with others.
    """
    *notes, same = notes_behind(table.spec, claims, lineage=lineage, listed=listed)
    if claims.grows_empty_cells:
        notes.append(Text.named("notes.zeros_grow"))
    elif table.dense is None or _shows_zeros(table.dense):
        notes.append(Text.named(_about_zeros(claims, table.spec)))
    notes += _about_sums(table, claims)
    notes.append(same)
    dense = table.dense
    signs = marks_in(None if dense is None else dense.marks) if legend else ()
    if signs:
        notes.append(Text.of({language: _legend(signs, language) for language in LANGUAGES}))
    return tuple(notes)


def notes_behind(
    spec: TableSpec, claims: Claims, *, lineage: str = "", listed: ListedTables | None = None
) -> tuple[Text, ...]:
    """What holds of figures that are computed from published values as of these themselves.

    Args:
        spec: A table of the values.
        claims: What its method promises.
        lineage: How its records were derived, as published files name it.
        listed: The tables for which small counts of these records were rounded.
    """
    changed, same = _about_values(claims, spec)
    records = notes_of_records(lineage, listed, [spec])
    return (*weighted_notes(spec), *records, Text.named(changed), Text.named(same))


def _about_zeros(claims: Claims, spec: TableSpec) -> str:
    """The note on what a published 0 means."""
    if not claims.zeros_are_true:
        return "notes.zeros"
    return "notes.true_zeros" if spec.amount is None else "notes.true_zeros_sums"


def _about_values(claims: Claims, spec: TableSpec) -> tuple[str, str]:
    """The notes on what was done to values, and on equal groups in different tables."""
    if claims.shown_are_true:
        note = "suppression.note" if spec.amount is None else "suppression.note_sums"
        return note, "suppression.same"
    if claims.codes_put_together:
        return "coarsening.note", "coarsening.same"
    # The same words for every look-up: which one it is would tell how large the noise is.
    return "notes.protected", "notes.consistent" if claims.consistent else "notes.inconsistent"


def weighted_notes(spec: TableSpec) -> tuple[Text, ...]:
    """That values are estimates from a sample, where they are weighted."""
    return (Text.named("notes.weighted"),) if spec.measure.is_weighted else ()


def find_example(table: AnyTable) -> Example | None:
    """The clearest place where published parts do not add up to their published total.

    Few parts come first, and totals of the other axes, so that little has to be said about where
    it is. The same table always gives the same example. Of a sparse table only places at the
    totals of all other axes are tried.
    """
    best = _best(table, at_totals=True)
    if table.dense is not None and (best is None or best[0][0]):
        further = _best(table, at_totals=False)
        best = min(
            (ranked for ranked in (best, further) if ranked is not None), default=None, key=_rank
        )
    return None if best is None else best[1]


Rank = tuple[bool, int, int, int, int, int]
_Ranked = tuple[Rank, Example]


def _rank(one: _Ranked) -> Rank:
    return one[0]


def _about_sums(table: AnyTable, claims: Claims) -> list[Text]:
    if claims.shown_cells_add_up:
        return [Text.named("notes.adds_up" if table.flags is None else "notes.shown_add_up")]
    if not any(_relations(axis) for axis in table.spec.axes):
        return [] if claims.additive else [Text.named("notes.not_additive")]
    example = find_example(table)
    if example is not None:
        return [Text.of({language: _told(example, language) for language in LANGUAGES})]
    if table.dense is None or table.flags is not None:
        return [] if claims.additive else [Text.named("notes.not_additive")]
    return [Text.named("notes.adds_up" if claims.additive else "notes.happens_to")]


def _told(example: Example, language: str) -> str:
    """The note about sums, with its example."""
    said = catalogue("notes", language)

    def label(code: AxisCode) -> str:
        return code.label.show(language) or code.code

    def number(value: int) -> str:
        return number_text(value, language, example.decimals)

    if len(example.parts) > MOST_LISTED:
        heading = axis_heading(example.axis, language)
        parts = said["example.counted"].format(count=len(example.parts), axis=heading)
    else:
        values = [f"{label(code)} ({number(value)})" for code, value in example.parts]
        parts = said["example.listed"].format(parts=joined(values, language))
    whole = said["example.total"]
    if not example.whole.is_total:
        whole = said["example.value"].format(code=label(example.whole))
    place = pairs_text(
        [(axis_heading(axis, language), label(at)) for axis, at in example.place], language
    )
    return said["example.note"].format(
        place=f" ({place})" if place else "",
        parts=parts,
        sum=number(example.sum),
        whole=whole,
        total_value=number(example.total),
    )


def _legend(marks: Sequence[Mark], language: str) -> str:
    return "; ".join(f"{mark.sign} = {mark.meaning.show(language)}" for mark in marks) + "."


# ---------------------------------------------------------------- looking for it


@dataclass(frozen=True, slots=True)
class _Relation:
    """A position of an axis and the positions of which it is the total, at least two."""

    whole: int
    parts: Int64


def _relations(axis: Axis) -> list[_Relation]:
    """What should add up along an axis, from every level to every coarser one."""
    relations = []
    for at, coarse in enumerate(axis.blocks):
        for fine in axis.blocks[:at]:
            if nests(fine, coarse):
                relations += list(_between(fine, coarse))
    return relations


def _between(fine: Block, coarse: Block) -> Iterator[_Relation]:
    inside, first = np.unique(fine.group, return_index=True)  # codes without leaves are no parts
    above = coarse.group[first]
    for code in range(coarse.size):
        parts = inside[above == code]
        if parts.size > 1:
            yield _Relation(coarse.start + code, fine.start + parts)


def _best(table: AnyTable, *, at_totals: bool) -> _Ranked | None:
    """The best example, at the totals of all other axes or anywhere."""
    ranked: list[_Ranked] = []
    for at, axis in enumerate(table.spec.axes):
        lines = _at_totals(table, at) if at_totals else _everywhere(table, at)
        if lines is None:
            continue
        for number, relation in enumerate(_relations(axis)):
            candidate = _example(table, at, relation, lines)
            if candidate is not None:
                line, distance, zeros, example = candidate
                many = len(example.parts)
                rank = (many > MOST_LISTED, distance, many, zeros, at * 1_000_000 + number, line)
                ranked.append((rank, example))
    return min(ranked, default=None, key=_rank)


@dataclass(frozen=True, slots=True, eq=False)
class _Lines:
    """Published values along an axis: one row for each place on the other axes.

    Attributes:
        values: Places by positions of the axis.
        missing: Where a sign stands instead of a number.
        shape: How many places each axis has.
        distance: For each row, how many of the other axes do not stand at their total.
    """

    values: Int64
    missing: Mask | None
    shape: tuple[int, ...]
    distance: Int64


def _at_totals(table: AnyTable, at: int) -> _Lines | None:
    """The one line at the totals of all other axes; ``None`` where one of them has no total."""
    axes = table.spec.axes
    if not all(axis.total for other, axis in enumerate(axes) if other != at):
        return None
    weights = mixed_radix(table.shape)
    start = sum(
        weight * (len(axis.codes) - 1)
        for other, (axis, weight) in enumerate(zip(axes, weights, strict=True))
        if other != at
    )
    steps = np.arange(len(axes[at].codes), dtype=np.uint64) * np.uint64(weights[at])
    numbers = steps + np.uint64(start)
    missing = table.flags_at(numbers)[None, :] != 0
    distance = np.zeros(1, dtype=np.int64)
    return _Lines(table.at(numbers)[None, :], missing, (1,) * len(axes), distance)


def _everywhere(table: AnyTable, at: int) -> _Lines | None:
    if table.dense is None:
        return None
    shape = tuple(1 if other == at else size for other, size in enumerate(table.shape))
    distance = np.zeros(shape, dtype=np.int64)
    for other, axis in enumerate(table.spec.axes):
        if other != at:
            outside = np.array([not code.is_total for code in axis.codes], dtype=np.int64)
            distance += outside.reshape(
                [-1 if number == other else 1 for number in range(len(shape))]
            )
    size = table.shape[at]
    values = np.moveaxis(table.published, at, -1).reshape(-1, size)
    missing = None
    if table.flags is not None:
        missing = np.moveaxis(table.flags, at, -1).reshape(-1, size) != 0
    return _Lines(values, missing, shape, distance.reshape(-1))


def _example(
    table: AnyTable, at: int, relation: _Relation, lines: _Lines
) -> tuple[int, int, int, Example] | None:
    """The first line, by its distance from totals and by zeros, in which a relation fails."""
    parts, whole = lines.values[:, relation.parts], lines.values[:, relation.whole]
    fails = parts.sum(axis=1) != whole
    if lines.missing is not None:
        fails &= ~lines.missing[:, relation.parts].any(axis=1) & ~lines.missing[:, relation.whole]
    failing = np.flatnonzero(fails)
    if not failing.size:
        return None
    zeros = (parts[failing] == 0).sum(axis=1)
    order = np.lexsort((failing, zeros, lines.distance[failing]))
    line = int(failing[order[0]])
    axis = table.spec.axes[at]
    place = []
    if lines.distance[line]:
        positions = [int(position) for position in np.unravel_index(line, lines.shape)]
        for number, (other, position) in enumerate(zip(table.spec.axes, positions, strict=True)):
            if number != at and not other.codes[position].is_total:
                place.append((other, other.codes[position]))
    listed = zip(relation.parts.tolist(), parts[line].tolist(), strict=True)
    example = Example(
        axis=axis,
        whole=axis.codes[relation.whole],
        total=int(whole[line]),
        parts=tuple((axis.codes[position], value) for position, value in listed),
        place=tuple(place),
        decimals=table.spec.decimals,
    )
    return line, int(lines.distance[line]), int(zeros[order[0]]), example


def _shows_zeros(table: Table) -> bool:
    zeros = table.published == 0
    return bool((zeros if table.flags is None else zeros & (table.flags == 0)).any())
