"""Areas cut by areas: squares of a grid that lie in several municipalities, and the like.

Where two geographies that do not nest are published of the same people, their borders cut each
other. A piece, what a square and a municipality have in common, is published nowhere; but sums of
the whole squares inside a municipality, subtracted from it, lead to the pieces along its border.
Whoever knows that a piece holds one or two people knows where to look. This counts the pieces.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.model.confidential import Confidential
from sdcensus.model.cube.layout import positions_of
from sdcensus.model.cube.sparse_cube import AnyCube
from sdcensus.model.quantities import number_text
from sdcensus.model.spec.axis import Axis, make_axis
from sdcensus.model.spec.headings import entity_text, variable_heading
from sdcensus.model.spec.levels_told_apart import is_area
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.model.text import LANGUAGES, Text
from sdcensus.risk.detection.detectors import whole_number_from
from sdcensus.risk.detection.findings import ConfidentialFindings, FindingKind
from sdcensus.risk.detection.held_cells import HeldCells
from sdcensus.risk.detection.wording import group_of, sentence_text

Int64 = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.uint64]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PieceWording:
    """Sentences about those who live in one area and in another one at the same time."""

    spec: TableSpec
    cells: Numbers
    values: Int64

    def sentence(self, at: int, language: str | None) -> str:
        """How many live where both areas are."""
        place = positions_of(self.spec.shape, int(self.cells[at]))
        group = group_of(self.spec, place, language)
        return sentence_text(group.there_are(int(self.values[at])))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CutCells(Confidential):
    """How two geographies cut each other.

    Attributes:
        inhabited: How many codes of the first geography somebody lives in.
        cut: How many of these lie in several codes of the second.
        pieces: How many pieces there are: neither a whole code of the first nor of the second.
        smallest: How many units the smallest pieces hold, ascending; a few of them.
        findings: Pieces of few units, the smallest first.
    """

    inhabited: int
    cut: int
    pieces: int
    smallest: tuple[int, ...]
    findings: ConfidentialFindings

    def __repr__(self) -> str:
        return f"<CutCells of {self.findings.spec.title}: confidential>"


#: Pieces whose sizes are told.
_MOST_SMALLEST = 10


def cut_cells(cube: AnyCube, *, threshold: int = 2) -> CutCells:
    """Count the pieces into which two geographies cut each other.

    Args:
        cube: True counts by both geographies, each at one level and without a total.
        threshold: Pieces of at most so many units are findings, from 1.

    Raises:
        SpecError: The cube is not of two geographies like this.
    """
    threshold = whole_number_from("threshold", threshold, 1)
    spec = cube.spec
    if len(spec.axes) != 2 or any(len(axis.blocks) != 1 or axis.total for axis in spec.axes):
        raise SpecError(
            f"{spec.title}: pieces are counted in a table of two geographies, each at one level and"
            " without a total."
        )
    held = HeldCells.of(cube)
    first, second = held.position(0), held.position(1)
    in_first = np.bincount(first, minlength=spec.shape[0])
    in_second = np.bincount(second, minlength=spec.shape[1])
    # A piece that is all of an area is published as that area.
    own = (in_first[first] > 1) & (in_second[second] > 1)
    numbers, sizes = held.numbers[own], held.values[own]
    order = np.lexsort((numbers, sizes))
    numbers, sizes = numbers[order], sizes[order]
    few = int(np.searchsorted(sizes, threshold, side="right"))
    cut, inhabited = int((in_first > 1).sum()), int((in_first > 0).sum())
    cells, values = numbers[:few].copy(), sizes[:few].copy()
    findings = ConfidentialFindings(
        FindingKind.CUT_CELL,
        spec,
        cells,
        values,
        np.full(few, -1, dtype=np.int64),
        _scope(spec, cut=cut, inhabited=inhabited, pieces=sizes.size, small=few, most=threshold),
        PieceWording(spec, cells, values),
    )
    smallest = tuple(sizes[:_MOST_SMALLEST].tolist())
    return CutCells(inhabited, cut, int(sizes.size), smallest, findings)


def _scope(spec: TableSpec, **numbers: int) -> Text:
    first, second = (axis.variable for axis in spec.axes)
    return Text.named("findings.cut_scope").filled(
        first={each: variable_heading(first, each) for each in LANGUAGES},
        second={each: variable_heading(second, each) for each in LANGUAGES},
        units={each: entity_text(spec.of, each) for each in LANGUAGES},
        **{
            name: {each: number_text(number, each) for each in LANGUAGES}
            for name, number in numbers.items()
        },
    )


def crossed_geographies(own: TableSpec, others: Sequence[TableSpec]) -> Iterator[TableSpec]:
    """The tables by two geographies that have to be looked at: one of a table, one of any.

    Each geography at the finest level that is shown, of tables of the same units and universe.
    Levels of one geography that do not nest are compared by their leaves, in
    ``differences_between``.

    Args:
        own: The table.
        others: The others, published or planned.
    """
    comparable = [
        spec for spec in (own, *others) if spec.of is own.of and spec.universe == own.universe
    ]
    shown: dict[str, Axis] = {}
    for spec in comparable:
        for axis in spec.axes:
            known = shown.get(axis.variable.name)
            if is_area(axis.variable) and (
                known is None or len(axis.levels[0].codes) > len(known.levels[0].codes)
            ):
                shown[axis.variable.name] = axis
    mine = {axis.variable.name for axis in own.axes if is_area(axis.variable)}
    # The one with more codes is the one that is said to be cut.
    ordered = sorted(shown.values(), key=lambda axis: -len(axis.levels[0].codes))
    for at, fine in enumerate(ordered):
        for coarse in ordered[at + 1 :]:
            if {fine.variable.name, coarse.variable.name} & mine:
                axes = (
                    make_axis(axis.variable, axis.levels[:1], total=False)
                    for axis in (fine, coarse)
                )
                yield TableSpec(of=own.of, axes=tuple(axes), universe=own.universe)
