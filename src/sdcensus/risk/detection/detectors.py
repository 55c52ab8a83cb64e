"""What a table tells about somebody, taken alone: few units, and one call for all detectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.model.cube.layout import positions_of
from sdcensus.model.cube.parts import known_axes
from sdcensus.model.schema.variable import Role
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.risk.detection.attributes import attributes
from sdcensus.risk.detection.findings import ConfidentialFindings, FindingKind, Findings
from sdcensus.risk.detection.held_cells import HeldCells, Source
from sdcensus.risk.detection.wording import (
    PERCEIVED,
    PERCEIVED_SCOPE,
    TRUE_SCOPE,
    group_of,
    sentence_text,
)

Int64 = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.uint64]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class IdentificationWording:
    """Sentences about cells with few units."""

    spec: TableSpec
    cells: Numbers
    values: Int64
    published: bool

    def sentence(self, at: int, language: str | None) -> str:
        """The units of the cell, and what they have in common."""
        value = int(self.values[at])
        group = group_of(self.spec, positions_of(self.spec.shape, int(self.cells[at])), language)
        text = group.there_are(value)
        if value == 2:
            text = f"{text}; {group.word('pair')}"
        lead = PERCEIVED.show(language) if self.published else ""
        return f"{lead}{sentence_text(text)}"


def identification(
    cells: HeldCells, *, known: list[int], threshold: int = 1
) -> tuple[Findings, ...]:
    """Cells of 1 to ``threshold`` units, and apart from them cells of two.

    Args:
        cells: The cells of the table.
        known: The axes that identify; the others stand at their totals.
        threshold: The largest number of units that counts as few.
    """
    others = [at for at in range(len(cells.spec.axes)) if at not in known]
    seen = cells.at_totals(others)
    kinds = [(FindingKind.IDENTIFICATION, seen & (cells.values <= threshold))]
    if threshold < 2:
        kinds.append((FindingKind.PAIR, seen & (cells.values == 2)))
    return tuple(_findings(cells, kind, mask) for kind, mask in kinds)


def _findings(cells: HeldCells, kind: FindingKind, mask: npt.NDArray[np.bool_]) -> Findings:
    numbers, values = cells.numbers[mask], cells.values[mask]
    order = np.lexsort((numbers, known_axes(cells.spec, numbers)))
    numbers, values = numbers[order], values[order]
    nowhere = np.full(numbers.size, -1, dtype=np.int64)
    wording = IdentificationWording(cells.spec, numbers, values, cells.published)
    made, scope = (
        (Findings, PERCEIVED_SCOPE) if cells.published else (ConfidentialFindings, TRUE_SCOPE)
    )
    return made(kind, cells.spec, numbers, values, nowhere, scope, wording)


def detect(
    source: Source,
    *,
    identifying: Sequence[str] | None = None,
    sensitive: Sequence[str] | None = None,
    threshold: int = 1,
    coalition: int = 0,
    structural: npt.NDArray[np.bool_] | None = None,
) -> tuple[Findings, ...]:
    """Look for identification and attribute disclosure in a table taken alone.

    Of a cube the findings are what is so, and confidential; of a published table they are what a
    reader would think who takes its numbers for the truth.

    Args:
        source: True counts or published values.
        identifying: The axes by which an intruder knows people; he knows nothing of the others,
            which therefore stand at their totals. All axes if not named.
        sensitive: The axes along which something is told. If not named, those whose variables are
            sensitive by the schema; if there are none, every axis in turn.
        threshold: The largest number of units that identifies, from 1.
        coalition: How many members of a group may put together what they know, from 0.
        structural: Cells that cannot hold a unit, from ``structural_zeros``. A line on which only
            one cell can hold any tells nothing.

    Returns:
        Findings by kind, empty ones included: identification, pairs (cells of two, unless the
        threshold covers them), individual attribute, group attribute, coalition (if asked for),
        and no value, where all that is told is a missing code.
    """
    threshold = whole_number_from("threshold", threshold, 1)
    coalition = whole_number_from("coalition", coalition, 0)
    cells = HeldCells.of(source)
    spec = cells.spec
    known = _known(spec, identifying)
    told = _told(spec, sensitive)
    _check_totals(spec, known)
    if structural is not None and (structural.shape != spec.shape or structural.dtype != np.bool_):
        raise SpecError(
            f"{spec.title}: the cells that must be empty are a mask of the shape {spec.shape}."
        )
    return (
        *identification(cells, known=known, threshold=threshold),
        *attributes(cells, told=told, known=known, coalition=coalition, structural=structural),
    )


def whole_number_from(what: str, number: object, lowest: int) -> int:
    """A whole number that is not too low; anything else is refused."""
    if isinstance(number, int | np.integer) and not isinstance(number, bool) and number >= lowest:
        return int(number)
    raise SpecError(f"The {what} is a whole number, {lowest} or more.")


def _known(spec: TableSpec, identifying: Sequence[str] | None) -> list[int]:
    if identifying is None:
        return list(range(len(spec.axes)))
    return _positions(spec, identifying)


def _told(spec: TableSpec, sensitive: Sequence[str] | None) -> list[int]:
    if sensitive is not None:
        return _positions(spec, sensitive)
    every = range(len(spec.axes))
    return [at for at in every if spec.axes[at].variable.role is Role.SENSITIVE] or list(every)


def _positions(spec: TableSpec, names: Sequence[str]) -> list[int]:
    listed = [names] if isinstance(names, str) else list(names)
    return sorted({spec.position(name) for name in listed})


def _check_totals(spec: TableSpec, known: list[int]) -> None:
    """Axes of which nothing is known must have totals at which they can stand."""
    for at, axis in enumerate(spec.axes):
        if at not in known and not axis.total:
            raise SpecError(
                f"{spec.title}: {axis.variable.name!r} is not among the identifying axes, and the"
                " table shows no total of it. Ask for the table with that total, or name the axis"
                " as identifying."
            )
