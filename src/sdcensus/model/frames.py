"""Cells of public tables as rows of data frames: pandas, Arrow, and what notebooks show.

The model itself needs no data frames. Nothing here may be given to what is confidential.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.errors import MissingExtra
from sdcensus.model.spec.headings import table_heading, units_text
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.model.text import Text

#: Columns, each with its values.
Columns = dict[str, list[Any]]
#: A notebook shows so many rows of a table.
_SHOWN = 20
#: Columns of numbers, by their names, in Arrow; all others hold words.
_WHOLE, _FRACTION = "int64", "float64"


class Framed:
    """A public table whose cells turn into the rows of a data frame.

    Libraries that speak Arrow (polars, pyarrow, DuckDB, pandas) take it as it is.
    """

    __slots__ = ()

    @abstractmethod
    def _rows(self) -> int:
        """How many cells there are."""

    @abstractmethod
    def _first(self, rows: int, language: str | None = None) -> Columns:
        """The first cells as columns."""

    @abstractmethod
    def _about(self, language: str | None = None) -> dict[str, str]:
        """What is to be known about the cells, by ``title``, ``unit`` and others."""

    def _numbers(self) -> dict[str, int]:
        """The columns that hold numbers, and how many digits of each stand behind the point."""
        return {"published": 0}

    def columns(self) -> Columns:
        """The cells as columns: codes, levels where there are several, labels, values, signs."""
        return self._first(self._rows())

    def to_pandas(self) -> Any:
        """The cells as a data frame of pandas, one row for each."""
        return _pandas_frame(self.columns(), self._about())

    def to_arrow(self) -> Any:
        """The cells as a table of pyarrow, one row for each."""
        return _arrow_table(self.columns(), self._numbers(), self._about())

    def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
        """The cells for libraries that speak Arrow."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> Any:
        """The columns for libraries that speak Arrow."""
        schema = _arrow_table(self._first(0), self._numbers(), self._about()).schema
        return schema.__arrow_c_schema__()

    def _repr_html_(self) -> str:
        """What notebooks show: the first cells, and what is to be known about them."""
        rows = self._rows()
        return _html(self._first(min(rows, _SHOWN)), self._about(), rows)


class FramedBySpec(Framed):
    """One whose labels can be had in several languages."""

    __slots__ = ()

    spec: TableSpec
    notes: tuple[Text, ...]

    def _about(self, language: str | None = None) -> dict[str, str]:
        return facts_of(
            table_heading(self.spec, language),
            units_text(self.spec, language),
            self._signs(language),
            [note.show(language) for note in self.notes],
        )

    def _signs(self, language: str | None) -> Iterable[tuple[str, str]]:
        """The signs that stand in the cells, with what each of them means."""
        return ()

    def _numbers(self) -> dict[str, int]:
        return {"published": self.spec.decimals}

    def columns(self, *, language: str | None = None) -> Columns:
        """The cells as columns: codes, levels where there are several, labels, values, signs."""
        return self._first(self._rows(), language)

    def to_pandas(self, *, language: str | None = None) -> Any:
        """The cells as a data frame of pandas, one row for each."""
        return _pandas_frame(self.columns(language=language), self._about(language))

    def to_arrow(self, *, language: str | None = None) -> Any:
        """The cells as a table of pyarrow, one row for each."""
        return _arrow_table(self.columns(language=language), self._numbers(), self._about(language))


def with_decimals(
    values: Sequence[int], decimals: int, numbered: Sequence[bool] | None = None
) -> list[Any]:
    """Whole numbers with so many of their digits behind the point, as a data frame holds them.

    Args:
        values: The numbers.
        decimals: How many digits of each stand behind the point.
        numbered: Where there is a number; everywhere by default.

    Examples:
        >>> with_decimals([125, 7], 2), with_decimals([125, 0], 0, [True, False])
        ([1.25, 0.07], [125, None])
    """
    shown: Sequence[Any] = [value / 10**decimals for value in values] if decimals else values
    if numbered is None:
        return list(shown)
    return [value if has else None for value, has in zip(shown, numbered, strict=True)]


def first_positions(shape: tuple[int, ...], rows: int) -> Sequence[npt.NDArray[np.int64]]:
    """The positions of the first cells on each axis, the last axis running fastest.

    Examples:
        >>> [at.tolist() for at in first_positions((2, 2), 3)]
        [[0, 0, 1], [0, 1, 0]]
    """
    return np.unravel_index(np.arange(rows), shape) if shape else ()


def facts_of(
    title: str, unit: str, signs: Iterable[tuple[str, str]] = (), notes: Iterable[str] = ()
) -> dict[str, str]:
    """What is to be known about cells; what is empty is left out.

    Args:
        title: What the table shows.
        unit: What is counted or measured.
        signs: The signs that stand in its cells, with what each of them means.
        notes: What readers should know.
    """
    legend = "; ".join(f"{sign} {meaning}" for sign, meaning in signs)
    facts = {"title": title, "unit": unit, "signs": legend, "notes": "\n".join(notes)}
    return {name: text for name, text in facts.items() if text}


def _pandas_frame(columns: Columns, about: Mapping[str, str]) -> Any:
    # By name: whoever imports the model must not import pandas with it.
    try:
        pandas = import_module("pandas")
    except ImportError:
        raise MissingExtra("frames", needed_for="A data frame") from None
    frame = pandas.DataFrame(columns)
    frame.attrs.update(about)
    return frame


def _arrow_table(columns: Columns, numbers: Mapping[str, int], about: Mapping[str, str]) -> Any:
    arrow = import_module("pyarrow")
    kinds = {name: _FRACTION if digits else _WHOLE for name, digits in numbers.items()}
    arrays = {
        name: arrow.array(values, getattr(arrow, kinds.get(name, "string"))())
        for name, values in columns.items()
    }
    return arrow.table(arrays).replace_schema_metadata(dict(about))


def _html(columns: Columns, about: Mapping[str, str], rows: int) -> str:
    facts = dict(about)
    title = facts.pop("title", "")
    heads = "".join(f"<th>{escape(name)}</th>" for name in columns)
    lines = [
        "<tr>" + "".join(_html_cell(value) for value in row) + "</tr>"
        for row in zip(*columns.values(), strict=True)
    ]
    if len(lines) < rows:
        lines.append(f'<tr><td colspan="{len(columns)}">… ({len(lines):,} / {rows:,})</td></tr>')
    below = "".join(f"<p>{escape(text)}</p>" for text in facts.values() if text)
    return (
        f"<table><caption>{escape(title)}</caption><thead><tr>{heads}</tr></thead>"
        f"<tbody>{''.join(lines)}</tbody></table>{below}"
    )


def _html_cell(value: object) -> str:
    if isinstance(value, str):
        return f"<td>{escape(value)}</td>"
    return f'<td style="text-align: right">{"" if value is None else f"{value:,}"}</td>'
