"""Tables with too much detail: how sparse they are, and how large what would be written is.

Figures about sparse tables are made from true counts: they are for the office, and stand in no
file that is published.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sdcensus.errors import Unconfirmed
from sdcensus.model.confidential import Confidential
from sdcensus.model.cube.constraints import interior
from sdcensus.model.cube.sparse_cube import LARGEST_DENSE_GRID, AnyCube
from sdcensus.model.published.table_format import table_format
from sdcensus.model.quantities import bytes_text, share_text
from sdcensus.model.spec.axis import Axis
from sdcensus.model.spec.table_spec import Measure, TableSpec
from sdcensus.report.assessment.words import SPARSE_FROM

#: A table with more cells is written only if somebody says so: as csv that is some 150 MB.
MOST_CELLS = 5_000_000
#: A number and the ends of a line, in a text file.
_NUMBER_BYTES = 4


@dataclass(frozen=True, slots=True, repr=False)
class SparseFigures(Confidential):
    """How full the finest cells of a table are.

    Attributes:
        units: What is counted.
        cells: How many finest cells there are; all others are sums of them.
        empty: How many of them hold nobody.
        small: How many hold one or two.
        total: How many units they hold.
    """

    units: str
    cells: int
    empty: int
    small: int
    total: int

    def __repr__(self) -> str:
        return "<SparseFigures: confidential>"

    @property
    def is_sparse(self) -> bool:
        """Whether the assessment would call the table sparse."""
        return self.total > 0 and (self.empty + self.small) / self.cells >= SPARSE_FROM

    @property
    def sentence(self) -> str:
        """The figures in one line, for the office."""
        return (
            f"the table is sparse: {self.total / self.cells:.2g} {self.units} in a cell on"
            f" average; of {self.cells:,} cells {share_text(self.empty / self.cells, digits=0)} are"
            f" empty and {share_text(self.small / self.cells, digits=0)} hold one or two. Take"
            " fewer or coarser axes. These figures are for the office."
        )


def sparse_figures(cube: AnyCube) -> SparseFigures | None:
    """How full a table is; ``None`` where it has no cells of which all others are sums."""
    spec = cube.spec
    if spec.measure is not Measure.COUNT or not all(axis.base_is_shown for axis in spec.axes):
        return None
    counts = cube.values.count if cube.dense is None else cube.dense.count[interior(spec)]
    cells = math.prod(axis.base_size for axis in spec.axes)
    filled = int(np.count_nonzero(counts))
    small = int(np.count_nonzero((counts == 1) | (counts == 2)))
    return SparseFigures(spec.of.plural, cells, cells - filled, small, int(counts.sum()))


def expected_bytes(
    spec: TableSpec,
    formats: Sequence[str],
    *,
    records: int | None,
    labels: bool = False,
    languages: Sequence[str] = (),
) -> int:
    """About how many bytes the files of a table will have.

    Args:
        spec: The table.
        formats: In which formats it is written.
        records: How many records are counted: of a table that is too large to be held, only cells
            that are not empty are listed. ``None`` where that is not known.
        labels: Whether text files have columns of labels.
        languages: The languages of these.
    """
    cells = spec.cells
    if cells > LARGEST_DENSE_GRID and records is not None:
        blocks = itertools.product(*(axis.blocks for axis in spec.axes))
        cells = sum(min(math.prod(block.size for block in each), records) for each in blocks)
    line = _NUMBER_BYTES + sum(_code_bytes(axis, languages if labels else ()) for axis in spec.axes)
    size = 0.0
    for name in formats:
        written = table_format(name)
        files = max(len(languages), 1) if written.each_language else 1
        size += files * cells * (written.bytes_per_cell or line)
    return round(size)


def _code_bytes(axis: Axis, languages: Sequence[str]) -> float:
    """About how long what an axis says in a line is."""
    texts = [
        [code.code, *(code.label.show(language) for language in languages)] for code in axis.codes
    ]
    return sum(len(text) + 1 for each in texts for text in each) / max(len(texts), 1)


def check_size(
    spec: TableSpec,
    formats: Sequence[str],
    *,
    records: int | None,
    labels: bool = False,
    languages: Sequence[str] = (),
    name: str = "",
) -> None:
    """Refuse to write a table of very many cells about which nobody was asked.

    Args:
        spec: The table.
        formats: In which formats it would be written; empty if it is not.
        records: How many records are counted.
        labels, languages: Of its files.
        name: What the table is called.

    Raises:
        Unconfirmed: It has more than ``MOST_CELLS``.
    """
    if not formats or spec.cells <= MOST_CELLS:
        return
    size = expected_bytes(spec, formats, records=records, labels=labels, languages=languages)
    raise Unconfirmed(
        f"{name or spec.title} has {spec.cells:,} cells, about {bytes_text(size)} as"
        f" {', '.join(formats)}. Tables of more than {MOST_CELLS:,} cells are written only if"
        " somebody says so: take fewer or coarser axes, or add --yes."
    )
