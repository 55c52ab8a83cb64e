"""Drawing tables that people can read: rows, columns, and one layer below the other.

``show_cube`` is only for those who may see true counts: whoever calls it has asked the user.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from rich.table import Table as DrawnTable

from sdcensus.cli.shared.console import Output, plain_table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sdcensus.model.cube.sparse_cube import AnyCube, SparseCube
    from sdcensus.model.published.table import AnyTable, SparseTable, Table
    from sdcensus.model.spec.axis import Axis, AxisCode
    from sdcensus.model.spec.table_spec import TableSpec
    from sdcensus.session.census.census import Census
    from sdcensus.session.gate.broken_down import BrokenDown


#: Longer tables belong into a file.
MOST_LINES = 2_000
#: Signs that the labels of rows take at most and, where there are long ones, at least.
_WIDEST_LABEL, _NARROWEST_LABEL = 36, 18
#: What is drawn around a column.
_AROUND = 2


def show_cube(
    output: Output,
    cube: AnyCube,
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
    from sdcensus.model.cube.sparse_cube import SparseCube

    if output.quiet:
        return
    amount = cube.spec.amount
    if isinstance(cube, SparseCube):
        rows = _sparse_rows(cube, language, weight_decimals)
        show_list(output, rows, cube.spec.axes, "count", language)
        return
    weight = cube.weight if weight_decimals is not None else None
    numbers: Any = cube.count if weight is None else weight
    if amount is not None:
        numbers = cube.values.sum_of(amount.name)

    def text(number: int) -> str:
        if amount is not None:
            return amount_text(number, amount.decimals)
        return f"{number:,}" if weight_decimals is None else weight_text(number, weight_decimals)

    drawing = Drawing(
        spec=cube.spec,
        text=lambda at: text(int(numbers[at])),
        longest=lambda axis, position: len(text(int(numbers.take(position, axis=axis).max()))),
        language=language,
    )
    drawing.show(output)


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing:
    """A table of which every cell can be asked for its text.

    Attributes:
        spec: What the table shows.
        text: What stands in the cell at these positions.
        longest: How long the longest text at a position of an axis is.
        language: The language of the labels.
    """

    spec: TableSpec
    text: Callable[[tuple[int, ...]], str]
    longest: Callable[[int, int], int]
    language: str | None = None

    def show(self, output: Output) -> None:
        """Draw it: one axis side by side, one down the rows, a layer for each other code."""
        axes = self.spec.axes
        if not axes:
            output.say(f"\n{self.spec.of.plural}: {self.text(())}")
            return
        columns = self._column_axis(output.width) if len(axes) > 1 else None
        if len(axes) > 1 and columns is None:
            show_list(output, self._cells(), axes, "count", self.language)
            return
        *layers, rows = [at for at in range(len(axes)) if at != columns]
        lines = 0
        for codes in itertools.product(*(range(len(axes[at].codes)) for at in layers)):
            if lines >= MOST_LINES:
                _say_part(output)
                return
            fixed = dict(zip(layers, codes, strict=True))
            table = self._layer(rows, columns, fixed)
            output.say(f"\n{self._title(rows, columns, fixed)}", style="bold")
            output.show(table)
            lines += table.row_count
        if len(axes[rows].codes) > MOST_LINES:
            _say_part(output)

    def _label(self, code: AxisCode) -> str:
        return code.label.show(self.language) or code.code

    def _column_axis(self, width: int) -> int | None:
        """The last axis whose codes fit side by side; ``None`` if none does."""
        axes = self.spec.axes
        for at in reversed(range(len(axes))):
            if len(axes[at].codes) * (_AROUND + 1) > width:
                continue
            others = [axis for other, axis in enumerate(axes) if other != at]
            longest = max(len(self._label(code)) for code in others[-1].codes)
            used = _AROUND + min(longest, _NARROWEST_LABEL)
            for position, code in enumerate(axes[at].codes):
                words = self._label(code).split() or [""]
                used += _AROUND + max(self.longest(at, position), *map(len, words))
            if used <= width:
                return at
        return None

    def _layer(self, rows: int, columns: int | None, fixed: Mapping[int, int]) -> DrawnTable:
        """One layer: the codes of the other axes are fixed."""
        axes = self.spec.axes
        table = plain_table()
        heading = _heading(axes[rows], self.language)
        table.add_column(heading, overflow="fold", max_width=_WIDEST_LABEL)
        if columns is None:
            table.add_column(self.spec.of.plural, justify="right")
            across = [fixed]
        else:
            for code in axes[columns].codes:
                table.add_column(self._label(code), justify="right")
            across = [{**fixed, columns: at} for at in range(len(axes[columns].codes))]
        before = axes[rows].codes[0].level
        for row, code in enumerate(axes[rows].codes[:MOST_LINES]):
            if code.level != before and not code.is_total:
                table.add_section()
            before = code.level
            table.add_row(
                self._label(code),
                *(self._at({**at, rows: row}) for at in across),
                style="bold" if code.is_total else None,
            )
        return table

    def _title(self, rows: int, columns: int | None, fixed: Mapping[int, int]) -> str:
        """What a layer shows."""
        from sdcensus.model.spec.headings import layer_heading

        axes = self.spec.axes
        layers = [
            f"{_heading(axes[at], self.language)}: {self._label(axes[at].codes[position])}"
            for at, position in fixed.items()
        ]
        sides = [_heading(axes[at], self.language) for at in (rows, columns) if at is not None]
        return ". ".join([*layers, layer_heading(self.spec, sides, self.language)])

    def _at(self, at: Mapping[int, int]) -> str:
        return self.text(tuple(at[axis] for axis in range(len(at))))

    def _cells(self) -> Iterator[tuple[list[str], str]]:
        """Every cell on a line of its own."""
        axes = self.spec.axes
        for at in itertools.product(*(range(size) for size in self.spec.shape)):
            labels = [
                self._label(axis.codes[position]) for axis, position in zip(axes, at, strict=True)
            ]
            yield labels, self.text(at)


def show_list(
    output: Output,
    rows: Iterator[tuple[list[str], str]],
    axes: Sequence[Axis],
    name: str,
    language: str | None,
) -> None:
    """Draw cells one below the other: their labels, and the text of each under ``name``."""
    table = plain_table()
    for axis in axes:
        table.add_column(_heading(axis, language), overflow="fold")
    table.add_column(name, justify="right")
    for labels, number in itertools.islice(rows, MOST_LINES):
        table.add_row(*labels, number)
    output.say()
    output.show(table)
    if next(rows, None) is not None:
        _say_part(output)


def _say_part(output: Output) -> None:
    output.say(
        f"\nThe table goes on: only {MOST_LINES:,} lines are shown. See all with --out FILE."
    )


def _heading(axis: Axis, language: str | None) -> str:
    from sdcensus.model.spec.headings import axis_heading

    return axis_heading(axis, language)


def _sparse_rows(
    cube: SparseCube, language: str | None, weight_decimals: int | None
) -> Iterator[tuple[list[str], str]]:
    for block in cube.blocks():
        weights = block.values.weight
        amount = cube.spec.amount
        sums = None if amount is None else block.values.sum_of(amount.name)
        for at, cell in enumerate(block.cells(language=language)):
            if amount is not None and sums is not None:
                yield list(cell.labels), amount_text(int(sums[at]), amount.decimals)
            elif weight_decimals is not None and weights is not None:
                yield list(cell.labels), weight_text(int(weights[at]), weight_decimals)
            else:
                yield list(cell.labels), f"{cell.count:,}"


def amount_text(number: int, decimals: int) -> str:
    """A sum with its decimals.

    Examples:
        >>> amount_text(-1_234_567, 2), amount_text(12, 0)
        ('-12,345.67', '12')
    """
    return f"{Decimal(number).scaleb(-decimals):,.{decimals}f}"


def weight_text(number: int, decimals: int) -> str:
    """A weighted count, of which one digit behind the point is enough to look at.

    Examples:
        >>> weight_text(1_234_567_890, 6), weight_text(12, 0)
        ('1,234.6', '12')
    """
    exact = Decimal(number).scaleb(-decimals)
    return f"{exact:,.{min(decimals, 1)}f}"


def show_published(output: Output, table: AnyTable, *, language: str | None = None) -> None:
    """Draw a published table; of a sparse one the cells that are not published as 0."""
    from sdcensus.model.published.table import SparseTable

    if output.quiet:
        return
    if isinstance(table, SparseTable):
        rows = _listed_rows(table, language)
        show_list(output, rows, table.spec.axes, "published", language)
        output.say(table.absent.show(language))
        return
    published_drawing(table, language=language).show(output)


def published_drawing(table: Table, *, language: str | None = None) -> Drawing:
    """How a published table is drawn."""
    from sdcensus.model.published.table import IN_PLACE, Mark

    decimals = table.spec.decimals

    def text(at: tuple[int, ...]) -> str:
        mark = Mark.NONE if table.marks is None else Mark(int(table.marks[at]))
        if not mark.has_number:
            return mark.sign
        number = amount_text(int(table.published[at]), decimals)
        return f"({number})" if mark is Mark.LOW_RELIABILITY else f"{number} {mark.sign}".rstrip()

    def longest(axis: int, position: int) -> int:
        numbers = table.published.take(position, axis=axis)
        extremes = (int(numbers.max()), int(numbers.min()))
        lengths = [len(amount_text(number, decimals)) for number in extremes]
        beside = 0 if table.beside is None else 2
        return beside + max(*lengths, *(len(mark.sign) for mark in IN_PLACE))

    return Drawing(spec=table.spec, text=text, longest=longest, language=language)


def _listed_rows(table: SparseTable, language: str | None) -> Iterator[tuple[list[str], str]]:
    labels = [
        [code.label.show(language) or code.code for code in axis.codes] for axis in table.spec.axes
    ]
    # One more than is shown, so that whoever draws them knows that there are more.
    first = slice(0, MOST_LINES + 1)
    positions = table.positions()[:, first].T.tolist()
    for at, value in zip(positions, table.published[first].tolist(), strict=True):
        names = [words[place] for words, place in zip(labels, at, strict=True)]
        yield names, amount_text(value, table.spec.decimals)


def show_broken_down(
    output: Output,
    census: Census,
    measures: Sequence[BrokenDown],
    limit: float | None = None,
    *,
    assumed: str = "",
) -> None:
    """Say what was counted, list the worst kinds of cells, and say what would help.

    Args:
        output: Where to.
        census: The census, for what would help.
        measures: What was measured, by what is counted.
        limit: The largest share of small visible groups that is accepted, if that is known.
        assumed: The noise that it was taken with, where no plan says it.
    """
    from sdcensus.report.assessment.broken_down import broken_down_lines, help_line, worst_kinds
    from sdcensus.session.gate.broken_down import smallest_group_text

    for found in measures:
        output.say(f"\nGroups that are broken down: {found.of.plural}", style="bold")
        if assumed:
            output.say(f"With the noise {assumed}. plan check and serve take the plan's own.")
        for line in broken_down_lines(found, limit):
            output.say(line)
        worst = worst_kinds(found)
        if worst:
            table = plain_table()
            table.add_column("cells by", overflow="fold")
            for title in ("further\nvariables", "of 1, 2, 3", f"up to {found.largest:,}"):
                table.add_column(title, justify="right", no_wrap=True)
            table.add_column("one\nhousehold", justify="right")
            table.add_column("with a\ntwin", justify="right")
            for kind_figures in worst:
                table.add_row(
                    kind_figures.title,
                    f"{kind_figures.finer}",
                    ", ".join(f"{number:,}" for number in kind_figures.groups),
                    f"{kind_figures.small:,}",
                    f"{kind_figures.households:,}",
                    f"{kind_figures.twins:,}",
                )
            output.show(table)
    if measures:
        text = smallest_group_text(census, measures[0].noise)
        helps = help_line(measures, text)
        if helps:
            output.say(helps)
        output.say("These figures come from true counts: they are for the office.")
