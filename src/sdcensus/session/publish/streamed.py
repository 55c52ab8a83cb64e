"""A table too large to be held: protected and written part by part."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.formats.write.streamed import (
    StreamedTable,
    check_streamed_formats,
    write_streamed,
)
from sdcensus.methods.method import CellMethod, Method
from sdcensus.model.confidential import Confidential
from sdcensus.model.cube.cube import Accumulators
from sdcensus.model.cube.layout import mixed_radix, positions_on
from sdcensus.model.cube.sparse_cube import SparseCube
from sdcensus.model.cube.sparse_stream import DEFAULT_MEMORY, delivers_finest, map_cells
from sdcensus.model.cube.streamed_cells import (
    PublishedCells,
    StreamedCells,
    delivered_numbers,
    places_of,
)
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.published.delivery import DeliveredAxis, heading_of
from sdcensus.model.published.provenance import Provenance
from sdcensus.model.spec.headings import units_text
from sdcensus.model.text import LANGUAGES, Text
from sdcensus.session.publish.last_files import row_to_json
from sdcensus.session.publish.products import Heading, PublishableTable
from sdcensus.utility.evaluation import UNSAFE, Tally, tallied_row

Int64 = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.uint64]

#: What progress calls this stage.
STAGE = "large table"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class StreamedResult(Confidential):
    """A large table that was written.

    Attributes:
        files: The files. Public, as are ``cells``, ``listed``, ``digest`` and ``provenance``.
        cells: How many cells are delivered, those that are not listed among them.
        listed: How many are listed: those that are not published as 0.
        digest: A digest of codes and published numbers: equal where these are.
        provenance: How it was made.
        evaluation: Its row on the evaluation sheet as plain values, or ``None`` if it was not
            asked for. Confidential.
    """

    files: tuple[Path, ...]
    cells: int
    listed: int
    digest: str
    provenance: Provenance
    evaluation: dict[str, Any] | None = None

    def __repr__(self) -> str:
        return f"<StreamedResult of {self.cells:,} cells: confidential>"


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamOptions:
    """How a very large table is written. Neither memory nor threads change a byte of it.

    Attributes:
        formats: ``parquet``, ``csv`` or both; others need a whole table and are refused.
        languages, labels: Of columns of labels.
        notes: What readers should know.
        heading: The office and the date of the publication.
        evaluation: Whether the evaluation is made on the way.
        unsafe: Counts from 1 to this are unsafe, for the evaluation.
        memory: How many bytes the parts may take that are under way at the same time.
        threads: How many threads; as many as there are processors by default.
    """

    formats: Sequence[str] = ("parquet",)
    languages: Sequence[str] = ()
    labels: bool = False
    notes: Sequence[Text] = ()
    heading: Heading = field(default_factory=Heading)
    evaluation: bool = True
    unsafe: int = UNSAFE
    memory: int = DEFAULT_MEMORY
    threads: int | None = None


def stream_table(
    cube: SparseCube,
    method: Method,
    publishable: PublishableTable,
    folder: Path,
    options: StreamOptions | None = None,
    *,
    progress: Progress = no_progress,
) -> StreamedResult:
    """Protect every margin of a very large table and write it, part by part.

    Args:
        cube: The finest cells.
        method: How it is protected: one that looks at each cell alone.
        publishable: What the table is called and how its axes are delivered.
        folder: Where the files go; it exists.
        options: How it is written.
        progress: Told how much is done.
    """
    said = options or StreamOptions()
    check_streamed_formats(said.formats, publishable.name)
    stream = _Stream(cube, _cell_method(method, cube), publishable.axes, said.evaluation)
    provenance = method.provenance(cube)
    table = StreamedTable(
        name=publishable.name,
        title=publishable.title or heading_of(publishable.spec, publishable.axes),
        axes=publishable.axes,
        spec=cube.spec,
        provenance=provenance,
        unit=Text.of({language: units_text(cube.spec, language) for language in LANGUAGES}),
        notes=tuple(said.notes),
        source=said.heading.source,
        date=said.heading.date,
    )
    progress(STAGE, 0.0)
    files = write_streamed(
        table,
        stream.cells(said.memory, said.threads, progress),
        folder,
        formats=said.formats,
        languages=said.languages,
        labels=said.labels,
    )
    progress(STAGE, 1.0)
    return StreamedResult(
        files,
        publishable.cells,
        stream.listed,
        stream.digest(),
        provenance,
        stream.evaluation(publishable.name, said.unsafe) if said.evaluation else None,
    )


def _cell_method(method: Method, cube: SparseCube) -> CellMethod:
    """The method that looks at single cells; refuses others, and cubes that it cannot protect."""
    method.check(cube)
    # A pipeline that takes large tables has no steps.
    first = method.first
    if not isinstance(first, CellMethod):
        raise SpecError(
            f"{cube.spec.title}: the table is too large to be held whole, which"
            f" {method.described_name!r} needs. Take fewer or coarser axes, or the method"
            " 'cell-key' alone."
        )
    first.check(cube)
    return first


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _Part(Confidential):
    """What a thread has made of some cells."""

    last: int
    numbers: Numbers
    cells: PublishedCells
    tally: Tally | None


class _Stream(Confidential):
    """The published cells of one table, and what is found out while they go by."""

    __slots__ = ("_axes", "_cube", "_digests", "_exempt", "_method", "_tally", "listed", "shape")

    def __init__(
        self, cube: SparseCube, method: CellMethod, axes: Sequence[DeliveredAxis], evaluate: bool
    ) -> None:
        self._cube, self._method, self._axes = cube, method, tuple(axes)
        self.shape = tuple(len(axis) for axis in axes)
        self._exempt = method.exempt_cells(cube.spec)
        self._tally = Tally() if evaluate else None
        self._digests = (hashlib.blake2b(digest_size=32), hashlib.blake2b(digest_size=32))
        self.listed = 0

    def cells(
        self, memory: int, threads: int | None, progress: Progress
    ) -> Iterator[PublishedCells]:
        """The cells that are listed, in their order."""
        exempt = delivered_numbers(self._exempt, self._cube.spec.shape, self._axes)

        def work(cells: StreamedCells) -> _Part:
            published, true = self._published(cells.values, cells.numbers, exempt, self._axes)
            shown = published != 0
            numbers, listed = cells.numbers[shown], published[shown]
            return _Part(
                int(cells.numbers[-1]) if cells.numbers.size else 0,
                numbers,
                PublishedCells(places_of(self.shape, numbers), listed),
                None if self._tally is None else Tally.of(true, published),
            )

        whole = math.prod(self.shape)
        for part in map_cells(self._cube, self._axes, work, memory=memory, threads=threads):
            if self._tally is not None and part.tally is not None:
                self._tally.add(part.tally)
            self._digests[0].update(part.numbers.astype("<u8", copy=False).data)
            self._digests[1].update(part.cells.published.astype("<i8", copy=False).data)
            self.listed += len(part.cells)
            yield part.cells
            progress(STAGE, part.last / whole)

    def _published(
        self,
        values: Accumulators,
        numbers: Numbers,
        exempt: Numbers,
        axes: Sequence[DeliveredAxis] | None = None,
    ) -> tuple[Int64, Int64]:
        """Published and true values of cells; both and ``exempt`` are numbered alike.

        Numbers count delivered places of ``axes``, or without them all positions of the table.
        """
        spec, origin = self._cube.spec, self._cube.origin
        published = self._method.publish_listed(values, numbers, exempt, spec, origin, axes)
        return published, self._method.exact(values, spec)

    def digest(self) -> str:
        """A digest of codes and published numbers; equal where these are."""
        head = [self._cube.spec.hash(), *([axis.column, *axis.codes] for axis in self._axes)]
        whole = hashlib.blake2b(json.dumps(head).encode(), digest_size=32)
        for digest in self._digests:
            whole.update(digest.digest())
        return whole.hexdigest()

    def evaluation(self, name: str, unsafe: int) -> dict[str, Any] | None:
        """The row of the table on the evaluation sheet, once all cells went by."""
        if self._tally is None:
            return None
        whole = math.prod(self.shape)
        stages = list(self._tally.figures(cells=whole, margins=True, unsafe=unsafe))
        if self._shows_finest():
            finest = self._finest().figures(
                cells=self._cube.spec.base_cells, margins=False, unsafe=unsafe
            )
            stages = [
                stage_figures for pair in zip(stages, finest, strict=True) for stage_figures in pair
            ]
        return row_to_json(tallied_row(name, self._cube.spec, stages, unsafe=unsafe))

    def _shows_finest(self) -> bool:
        """Whether the finest cells are delivered, each of them as a cell of its own."""
        return all(map(delivers_finest, self._cube.spec.axes, self._axes))

    def _finest(self) -> Tally:
        """The finest cells as they are published."""
        spec = self._cube.spec
        numbers = np.zeros(self._cube.numbers.size, dtype=np.uint64)
        for at, weight in enumerate(mixed_radix(spec.shape)):
            # Where the finest cells are shown, they stand first on every axis.
            digit = positions_on(spec.base_shape, at, self._cube.numbers)
            numbers += digit.astype(np.uint64) * np.uint64(weight)
        published, true = self._published(self._cube.values, numbers, np.sort(self._exempt))
        return Tally.of(true, published)
