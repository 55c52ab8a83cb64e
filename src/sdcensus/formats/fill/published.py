"""The values of a published folder, looked up by codes. Tables are read when they are asked for."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc

from sdcensus.errors import InputError, UnknownName, unknown
from sdcensus.formats.fill.placeholders import PlaceholderError
from sdcensus.formats.read.raw import RawTable, about_beside, about_file, positions_of, read_raw
from sdcensus.formats.write.about import ZERO, ZERO_OR_SMALL
from sdcensus.model.cube.layout import mixed_radix
from sdcensus.model.published.provenance import line_text
from sdcensus.model.spec.axis import TOTAL
from sdcensus.model.text import Text

_CSV, _SDMX, _PARQUET = ".csv", ".sdmx.csv", ".parquet"
_SEPARATOR = "\x1f"


@dataclass(frozen=True, slots=True)
class FilledValue:
    """What is published for a cell: a number as text, or a sign in its place.

    Attributes:
        number: The number, with a point for decimals; empty if there is none.
        sign: The sign that stands in its place, or beside it.
        uncertain: Whether the number is of low reliability.
    """

    number: str
    sign: str = ""
    uncertain: bool = False


@dataclass(frozen=True, slots=True)
class _Axis:
    """An axis of a published file: its codes at their levels, with labels."""

    name: str
    codes: tuple[str, ...]
    levels: tuple[str, ...]
    labels: tuple[tuple[str, ...], ...]

    def total(self) -> int | None:
        """Where the total stands, if the axis has one."""
        for at, (code, level) in enumerate(zip(self.codes, self.levels, strict=True)):
            if level == TOTAL or code == TOTAL:
                return at
        return None

    def find(self, word: str, level: str, *, number: bool) -> int:
        """The position that a code, or a label, means."""
        if level and level not in self.levels:
            levels = dict.fromkeys(self.levels)
            raise PlaceholderError(f"axis {self.name!r}: {unknown('level', level, levels)}")
        here = [at for at, one in enumerate(self.levels) if not level or one == level]
        folded = word.casefold()
        for same in (
            [at for at in here if self.codes[at] == word],
            [at for at in here if self.codes[at].casefold() == folded],
            [at for at in here if number and _same_number(self.codes[at], word)],
            [at for at in here if folded in self.labels[at]],
        ):
            if len(same) > 1:
                ways = " or ".join(f"{self.name}@{self.levels[at]}" for at in same[:3])
                raise PlaceholderError(
                    f"axis {self.name!r}: {word!r} stands there several times. Write {ways}."
                )
            if same:
                return same[0]
        known = [self.codes[at] for at in here]
        raise PlaceholderError(f"axis {self.name!r}: {unknown('code', word, known)}")


def _same_number(code: str, word: str) -> bool:
    """Whether a code such as 01 is the number that a cell holds."""
    return code.isascii() and code.isdecimal() and word.isdecimal() and int(code) == int(word)


class PublishedValues:
    """One published table whose cells are looked up by codes."""

    def __init__(self, raw: RawTable, about: dict[str, Any]) -> None:
        if "cell_key" in raw.columns:
            raise InputError(f"{raw.path} holds cell keys: it is no published table.")
        self.about = about
        self._axes, at = _axes_of(raw, about)
        weights = mixed_radix(tuple(len(axis.codes) for axis in self._axes))
        numbers = np.zeros(raw.rows, dtype=np.uint64)
        for positions, weight in zip(at, weights, strict=True):
            numbers += positions.astype(np.uint64) * np.uint64(weight)
        self._weights = weights
        self._order = np.argsort(numbers, kind="stable")
        self._numbers = numbers[self._order]
        self._values = raw.column(str(about.get("values", "published")))
        self._signs = raw.columns.get(str(about.get("flags") or "flag"))
        marks = about.get("marks")
        self._uncertain = marks.get("low_reliability") if isinstance(marks, dict) else None
        self._absent = about.get("cells_not_listed")

    @property
    def line(self) -> str | None:
        """From which line of records it was made, in words; ``None`` if it does not say so."""
        made = self.about.get("provenance")
        return line_text(str(made.get("lineage", ""))) if isinstance(made, dict) else None

    @property
    def axes(self) -> tuple[str, ...]:
        """The names of the axes."""
        return tuple(axis.name for axis in self._axes)

    def value(self, chosen: dict[str, tuple[str, str, bool]]) -> FilledValue:
        """What is published for the cell with these codes.

        Args:
            chosen: For an axis: the code or its label, the level or nothing, and whether the code
                was a number; axes that are not named stand at their totals.
        """
        named = {axis.name.casefold(): axis.name for axis in self._axes}
        codes = {}
        for name, code in chosen.items():
            if name.casefold() not in named:
                raise PlaceholderError(f"{unknown('axis of this table', name, self.axes)}")
            codes[named[name.casefold()]] = code
        number = 0
        for axis, weight in zip(self._axes, self._weights, strict=True):
            if axis.name in codes:
                word, level, numeric = codes[axis.name]
                at: int | None = axis.find(word, level, number=numeric)
            else:
                at = axis.total()
            if at is None:
                raise PlaceholderError(
                    f"the axis {axis.name!r} has no total, so one of its codes must be named."
                )
            number += at * weight
        return self._cell(number)

    def _cell(self, number: int) -> FilledValue:
        place = int(np.searchsorted(self._numbers, np.uint64(number)))
        if place >= self._numbers.size or int(self._numbers[place]) != number:
            if self._absent == ZERO:
                return FilledValue("0")
            if self._absent == ZERO_OR_SMALL:
                raise PlaceholderError(
                    "the file does not list this cell, and small groups are not broken down in it:"
                    " it is published as 0, or not shown. Name a coarser code."
                )
            raise PlaceholderError("the file does not have this cell.")
        row = int(self._order[place])
        text = self._values[row].as_py().strip()
        sign = "" if self._signs is None else self._signs[row].as_py().strip()
        if not _is_number(text):
            return FilledValue("", sign or text)
        return FilledValue(text, sign, bool(sign) and sign == (self._uncertain or "( )"))

    def text(self, name: str, language: str | None) -> str:
        """The title, the unit or the notes, in a language."""
        found = self.about.get("unit", self.about.get("units")) if name == "unit" else None
        if name == "title":
            found = self.about.get("title")
        if name == "notes":
            notes = self.about.get("notes")
            texts = notes if isinstance(notes, list) else []
            return "\n".join(_show(text, language) for text in texts)
        return _show(found, language)


def _is_number(text: str) -> bool:
    try:
        return bool(np.isfinite(float(text)))
    except ValueError:
        return False


def _show(found: object, language: str | None) -> str:
    if isinstance(found, dict):
        return Text.of({str(key): str(text) for key, text in found.items()}).show(language)
    return found if isinstance(found, str) else ""


def _axes_of(
    raw: RawTable, about: dict[str, Any]
) -> tuple[list[_Axis], list[npt.NDArray[np.int64]]]:
    """The axes of a file, and the position of each row on each of them."""
    axes = _delivered_axes(about)
    places = []
    for axis in axes:
        column, words = raw.column(axis.name), list(axis.codes)
        level_column = f"{axis.name}_level"
        if level_column in raw.columns:
            levels = raw.columns[level_column]
            column = pc.binary_join_element_wise(column, levels, _SEPARATOR)
            words = [_SEPARATOR.join(one) for one in zip(axis.codes, axis.levels, strict=True)]
        at = positions_of(column, words)
        if (at < 0).any():
            row = int(np.flatnonzero(at < 0)[0])
            code = raw.column(axis.name)[row].as_py()
            raise raw.mistake(row, f"{code!r} is no code of {axis.name!r} in this table.")
        places.append(at)
    return axes, places


def _delivered_axes(about: dict[str, Any]) -> list[_Axis]:
    axes = []
    for one in about["axes"]:
        codes = one.get("codes", [])
        axes.append(
            _Axis(
                str(one.get("column")),
                tuple(str(code.get("code")) for code in codes),
                tuple(str(code.get("level", "")) for code in codes),
                tuple(_words(code.get("label")) for code in codes),
            )
        )
    return axes


def _words(label: object) -> tuple[str, ...]:
    """A label in all its languages, as it is compared."""
    texts = label.values() if isinstance(label, dict) else ()
    return tuple(str(text).strip().casefold() for text in texts)


@dataclass(slots=True)
class PublishedFolderValues:
    """A folder of published tables, each read when it is asked for.

    Attributes:
        folder: The folder.
        files: The file of each table, by name.
    """

    folder: Path
    files: dict[str, Path]
    _read: dict[str, PublishedValues] = field(default_factory=dict)

    @classmethod
    def open(cls, folder: Path) -> PublishedFolderValues:
        """Look which tables a folder has."""
        if not folder.is_dir():
            what = "is a file, not a folder" if folder.exists() else "does not exist"
            raise InputError(f"{folder} {what}. Name the folder that holds the published tables.")
        files: dict[str, Path] = {}
        for path in sorted(folder.rglob("*")):
            inside = path.relative_to(folder)
            hidden = any(part.startswith(".") for part in inside.parts)
            if hidden or path.name.lower().endswith(_SDMX) or not path.is_file():
                continue
            is_csv = path.suffix.lower() == _CSV and about_file(path).is_file()
            # The same table may stand there twice; csv comes first.
            if is_csv or path.suffix.lower() == _PARQUET:
                files.setdefault(inside.with_suffix("").as_posix(), path)
        if not files:
            raise InputError(
                f"{folder} holds no published table (.csv with its .about.json, or .parquet)."
            )
        return cls(folder, files)

    def has(self, name: str) -> bool:
        """Whether there is a table of that name."""
        return name in self.files

    def table(self, name: str) -> PublishedValues:
        """The table of that name."""
        if name not in self.files:
            raise UnknownName("published table", name, known=self.files)
        if name not in self._read:
            path = self.files[name]
            about = about_beside(path) if path.suffix.lower() == _CSV else None
            raw = read_raw(path, about)
            if raw.about is None or "delivered" not in raw.about:
                raise InputError(
                    f"{path} does not say what it shows: sdcensus did not write it, or an earlier"
                    " version did."
                )
            try:
                self._read[name] = PublishedValues(raw, raw.about)
            except (AttributeError, KeyError, TypeError):
                raise InputError(f"{path}: what is said about the table is damaged.") from None
        return self._read[name]

    def word(self, name: str, language: str | None) -> str:
        """Who published it, or when, as the files say."""
        for table, path in self.files.items():
            beside = about_beside(path) if path.suffix.lower() == _CSV else None
            about = beside if beside is not None else self.table(table).about
            if about.get(name):
                return _show(about[name], language)
        return ""
