"""Drawing a cube as a table that people can read: rows, columns, and one layer below the other.

Only for those who may see true counts: whoever calls this has asked the user.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from rich.table import Table

from sdcensus.cli.console import Output, plain_table

if TYPE_CHECKING:
    from sdcensus.api import Cube, SparseCube
    from sdcensus.model.axis import Axis, AxisCode

#: Longer tables belong into a file.
MOST_LINES = 2_000
#: Signs that the labels of rows take at most and, where there are long ones, at least.
_WIDEST_LABEL, _NARROWEST_LABEL = 36, 18
#: What is drawn around a column.
_AROUND = 2


def show_cube(
    output: Output,
    cube: Cube | SparseCube,
    *,
    language: str | None = None,
    weight_decimals: int | None = None,
) -> None:
    """Draw a cube: every cell of a dense one, the cells with records of a sparse one.

    Args:
        output: Where to draw it.
        cube: The cube.
        language: The language of the labels.
        weight_decimals: Draw weighted counts, whose last digit is this far behind the point.
    """
    from sdcensus.api import SparseCube

    if output.quiet:
        return
    if isinstance(cube, SparseCube):
        _show_list(output, _sparse_rows(cube, language, weight_decimals), cube.spec.axes, language)
        return
    drawing = _Drawing(cube, language, weight_decimals)
    axes = cube.spec.axes
    if not axes:
        output.say(f"\n{cube.spec.of.plural}: {drawing.text(int(drawing.numbers))}")
        return
    columns = drawing.column_axis(output.width) if len(axes) > 1 else None
    if len(axes) > 1 and columns is None:
        _show_list(output, drawing.cells(), axes, language)
        return
    *layers, rows = [at for at in range(len(axes)) if at != columns]
    lines = 0
    for codes in itertools.product(*(range(len(axes[at].codes)) for at in layers)):
        if lines >= MOST_LINES:
            _say_part(output)
            return
        fixed = dict(zip(layers, codes, strict=True))
        table = drawing.layer(rows, columns, fixed)
        output.say(f"\n{drawing.title(rows, columns, fixed)}", style="bold")
        output.show(table)
        lines += table.row_count
    if len(axes[rows].codes) > MOST_LINES:
        _say_part(output)


def _say_part(output: Output) -> None:
    output.say(
        f"\nThe table goes on: only {MOST_LINES:,} lines are shown. See all with --out FILE."
    )


@dataclass(frozen=True, slots=True)
class _Drawing:
    """A dense cube and how its numbers and labels are written."""

    cube: Cube
    language: str | None
    weight_decimals: int | None

    @property
    def numbers(self) -> Any:
        weight = self.cube.weight if self.weight_decimals is not None else None
        return self.cube.count if weight is None else weight

    def text(self, number: int) -> str:
        if self.weight_decimals is None:
            return f"{number:,}"
        return weight_text(number, self.weight_decimals)

    def label(self, code: AxisCode) -> str:
        return code.label.show(self.language) or code.code

    def column_axis(self, width: int) -> int | None:
        """The last axis whose codes fit side by side; ``None`` if none does."""
        axes = self.cube.spec.axes
        for at in reversed(range(len(axes))):
            if len(axes[at].codes) * (_AROUND + 1) > width:
                continue
            others = [axis for other, axis in enumerate(axes) if other != at]
            longest = max(len(self.label(code)) for code in others[-1].codes)
            used = _AROUND + min(longest, _NARROWEST_LABEL)
            for position, code in enumerate(axes[at].codes):
                most = self.text(int(self.numbers.take(position, axis=at).max()))
                words = self.label(code).split() or [""]
                used += _AROUND + max(len(most), *map(len, words))
            if used <= width:
                return at
        return None

    def layer(self, rows: int, columns: int | None, fixed: Mapping[int, int]) -> Table:
        """One layer: the codes of the other axes are fixed."""
        axes = self.cube.spec.axes
        table = plain_table()
        table.add_column(_name(axes[rows], self.language), overflow="fold", max_width=_WIDEST_LABEL)
        if columns is None:
            table.add_column(self.cube.spec.of.plural, justify="right")
            across = [fixed]
        else:
            for code in axes[columns].codes:
                table.add_column(self.label(code), justify="right")
            across = [{**fixed, columns: at} for at in range(len(axes[columns].codes))]
        before = axes[rows].codes[0].level
        for row, code in enumerate(axes[rows].codes[:MOST_LINES]):
            if code.level != before and not code.is_total:
                table.add_section()
            before = code.level
            table.add_row(
                self.label(code),
                *(self._number({**at, rows: row}) for at in across),
                style="bold" if code.is_total else None,
            )
        return table

    def title(self, rows: int, columns: int | None, fixed: Mapping[int, int]) -> str:
        """What a layer shows."""
        axes = self.cube.spec.axes
        layers = [
            f"{_name(axes[at], self.language)}: {self.label(axes[at].codes[one])}"
            for at, one in fixed.items()
        ]
        sides = [_name(axes[at], self.language) for at in (rows, columns) if at is not None]
        return ". ".join(
            [*layers, f"{self.cube.spec.of.plural.capitalize()} by {' and '.join(sides)}"]
        )

    def _number(self, at: Mapping[int, int]) -> str:
        return self.text(int(self.numbers[tuple(at[axis] for axis in range(len(at)))]))

    def cells(self) -> Iterator[tuple[list[str], str]]:
        """Every cell on a line of its own."""
        axes = self.cube.spec.axes
        for at in itertools.product(*(range(size) for size in self.cube.shape)):
            labels = [self.label(axis.codes[one]) for axis, one in zip(axes, at, strict=True)]
            yield labels, self.text(int(self.numbers[at]))


def _name(axis: Axis, language: str | None) -> str:
    """The label of the variable, and the level where that is not its own."""
    label = axis.variable.label.show(language) or axis.variable.name
    levels = [level.name for level in axis.levels]
    return label if levels == [axis.variable.leaf_level] else f"{label} ({', '.join(levels)})"


def _sparse_rows(
    cube: SparseCube, language: str | None, weight_decimals: int | None
) -> Iterator[tuple[list[str], str]]:
    for block in cube.blocks():
        weights = block.values.weight
        for at, cell in enumerate(block.cells(language=language)):
            if weight_decimals is not None and weights is not None:
                yield list(cell.labels), weight_text(int(weights[at]), weight_decimals)
            else:
                yield list(cell.labels), f"{cell.count:,}"


def _show_list(
    output: Output,
    rows: Iterator[tuple[list[str], str]],
    axes: Sequence[Axis],
    language: str | None,
) -> None:
    table = plain_table()
    for axis in axes:
        table.add_column(_name(axis, language), overflow="fold")
    table.add_column("count", justify="right")
    for labels, number in itertools.islice(rows, MOST_LINES):
        table.add_row(*labels, number)
    output.say()
    output.show(table)
    if next(rows, None) is not None:
        _say_part(output)


def weight_text(number: int, decimals: int) -> str:
    """A weighted count, of which one digit behind the point is enough to look at.

    Examples:
        >>> weight_text(1_234_567_890, 6), weight_text(12, 0)
        ('1,234.6', '12')
    """
    exact = Decimal(number).scaleb(-decimals)
    return f"{exact:,.{min(decimals, 1)}f}"
