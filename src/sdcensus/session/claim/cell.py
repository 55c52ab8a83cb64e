"""The table and the cell that a claim is about, as people write them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sdcensus.errors import InputError, SpecError, UnknownName
from sdcensus.formats.read.tables import READABLE, read_published
from sdcensus.model.published.table import Mark, PublishedTable
from sdcensus.model.spec.axis import TOTAL, Axis
from sdcensus.model.spec.table_spec import TableSpec

#: ``age=47``, ``ed@parish=P1``: the name of an axis, perhaps a level, and what follows.
_PART = re.compile(r"(?:^|[,;])\s*(?P<axis>\w+)\s*(?:@\s*(?P<level>\w+))?\s*=", re.UNICODE)


@dataclass(frozen=True, slots=True)
class PublishedClaimCell:
    """A published cell. Public.

    Attributes:
        table: The table.
        positions: Where the cell stands on each axis.
        value: Its published value; ``None`` where there is no number.
        mark: What stands instead of a number, or beside it.
    """

    table: PublishedTable
    positions: tuple[int, ...]
    value: int | None
    mark: Mark

    @property
    def spec(self) -> TableSpec:
        """What the table shows."""
        return self.table.table.spec

    @property
    def number(self) -> int:
        """The number of the cell, the last axis running fastest."""
        if not self.positions:
            return 0
        return int(np.ravel_multi_index(self.positions, self.spec.shape))

    def words(self, language: str | None) -> tuple[tuple[str, str], ...]:
        """Each axis and where the cell stands on it, totals left out."""
        words = []
        for axis, at in zip(self.spec.axes, self.positions, strict=True):
            code = axis.codes[at]
            if code.is_total:
                continue
            label = axis.variable.label.show(language) or axis.variable.name
            words.append((label, code.label.show(language) or code.code))
        return tuple(words)


def read_table(folder: str | Path, name: str) -> PublishedTable:
    """A published table of a folder by its name, with or without the ending of its file.

    Raises:
        InputError: There is no such folder, or no table in it.
        UnknownName: It has no table of that name.
    """
    root = Path(folder)
    if not root.is_dir():
        what = "is a file, not a folder" if root.exists() else "does not exist"
        raise InputError(f"{root} {what}. Name the folder that holds the published tables.")
    files: dict[str, Path] = {}
    # Of a table that stands there twice, the csv file is read: it comes first.
    for ending in READABLE:
        for path in sorted(root.rglob(f"*{ending}")):
            if not path.name.startswith(".") and not path.name.endswith(".sdmx.csv"):
                files.setdefault(path.name, path)
                files.setdefault(path.stem, path)
    if not files:
        raise InputError(f"{root} holds no published table: no .csv and no .parquet file.")
    if name not in files:
        stems = sorted({path.stem for path in files.values()})
        raise UnknownName("table", name, known=stems)
    return read_published(files[name])


def find_cell(table: PublishedTable, text: str) -> PublishedClaimCell:
    """The cell of a table that a text names: ``ed=E1, age=47``, by codes or labels.

    An axis that is not named stands at its total.

    Raises:
        UnknownName: The table has no such axis, or the axis no such code.
        SpecError: The text cannot be read, or an axis without total is not named.
    """
    spec = table.table.spec
    said = _said(text, spec)
    positions = []
    for axis in spec.axes:
        if axis.variable.name in said:
            level, word = said[axis.variable.name]
            positions.append(_position(axis, level, word))
            continue
        totals = [at for at, code in enumerate(axis.codes) if code.is_total]
        if not totals:
            examples = ", ".join(code.code for code in axis.codes[:3])
            raise SpecError(
                f"The table has no total over {axis.variable.name!r}. Name one of its codes, such"
                f" as {axis.variable.name}=CODE with {examples}."
            )
        positions.append(totals[0])
    at = tuple(positions)
    number = np.array([_number(at, spec.shape)], dtype=np.uint64)
    mark = Mark(int(table.table.flags_at(number)[0]))
    value = int(table.table.at(number)[0]) if mark.has_number else None
    return PublishedClaimCell(table, at, value, mark)


def _number(positions: tuple[int, ...], shape: tuple[int, ...]) -> int:
    return int(np.ravel_multi_index(positions, shape)) if shape else 0


def _said(text: str, spec: TableSpec) -> dict[str, tuple[str | None, str]]:
    """What is said about each axis: a level, and a code or label."""
    parts = list(_PART.finditer(text))
    if not parts or text[: parts[0].start()].strip():
        if not text.strip() or text.strip() == "everybody":
            return {}
        raise SpecError(
            f"{text!r} names no cell. Write AXIS=CODE for each axis, separated by commas, such as"
            ' --cell "ed=12,age=47". An axis that is not named stands at its total.'
        )
    known = [axis.variable.name for axis in spec.axes]
    said: dict[str, tuple[str | None, str]] = {}
    ends = [part.start() for part in parts[1:]] + [len(text)]
    for part, end in zip(parts, ends, strict=True):
        name = part["axis"]
        if name not in known:
            raise UnknownName("axis", name, known=known, where=f"{spec.title}: ")
        if name in said:
            raise SpecError(f"The cell names {name!r} twice. Name each axis once.")
        said[name] = (part["level"], text[part.end() : end].strip())
    return said


def _position(axis: Axis, level: str | None, word: str) -> int:
    """Where a code or a label stands on an axis."""
    if level is not None and level not in {block.level for block in axis.blocks}:
        known = [block.level for block in axis.blocks if block.level != TOTAL]
        raise UnknownName("level", level, known=known, where=f"Axis {axis.name!r}: ")
    try:
        return axis.position(word, level)
    except UnknownName:
        wanted = word.casefold()
        places = [
            at
            for at, code in enumerate(axis.codes)
            if (level is None or code.level == level)
            and wanted in {text.casefold() for _, text in code.label.by_language}
        ]
        if not places:
            raise
        return places[0]
