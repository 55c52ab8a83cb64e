"""Tables that other tools protected, with the code lists that all files have together."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sdcensus.errors import InputError
from sdcensus.formats.read.flagged.rows import FlaggedRows
from sdcensus.formats.read.flagged.statuses import CellState
from sdcensus.formats.read.flagged.trees import CodeTree, TreeAxis, tree_axis
from sdcensus.formats.read.foreign import is_total
from sdcensus.model.schema.variable import Entity, Variable
from sdcensus.model.spec.table_spec import TableSpec

Int64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

_MOST_CELLS = 5_000_000


@dataclass(frozen=True, slots=True, eq=False)
class FlaggedTable:
    """A table of which some cells are withheld. May hold their values: the office's alone.

    Attributes:
        name: The name of the file.
        spec: What it shows, by code lists made from the file.
        states: For each cell what is known of it.
        values: The values of cells that are shown or empty; 0 elsewhere.
        own: The values of withheld cells where the file holds them, else -1 below all of them.
        has_own: Which withheld cells have their value in the file.
        need: How far the interval of each withheld cell has to reach below and above its value.
        decimals: How many digits stand behind the point: values are whole numbers of the last.
        tool: Whose statuses these are.
    """

    name: str
    spec: TableSpec
    states: npt.NDArray[np.uint8]
    values: Int64
    own: Int64
    has_own: Mask
    need: tuple[Int64, Int64] | None
    decimals: int
    tool: str

    def __repr__(self) -> str:
        return f"<FlaggedTable {self.name}>"

    @property
    def known(self) -> Mask:
        """The cells whose value everybody can read."""
        return np.asarray((self.states == CellState.SHOWN) | (self.states == CellState.EMPTY))

    @property
    def withheld(self) -> Mask:
        """The cells that somebody withheld on purpose."""
        return np.asarray((self.states == CellState.PRIMARY) | (self.states == CellState.SECONDARY))


def flagged_tables(
    files: Sequence[FlaggedRows],
    trees: Mapping[str, CodeTree] | None = None,
    *,
    totals: Mapping[str, str] | None = None,
) -> tuple[FlaggedTable, ...]:
    """Tables of other tools with the code lists that all of them have together.

    Args:
        files: What was read.
        trees: The tree of codes of each column that has one.
        totals: The code of the total of each column, where it has an uncommon name.
    """
    given = {name.lower(): tree for name, tree in (trees or {}).items()}
    said = {name.lower(): code for name, code in (totals or {}).items()}
    _check_named(files, [*given, *said])
    decimals = max((rows.values.decimals for rows in files), default=0)
    total_of = [
        {column: _total(rows, column, said.get(column.lower())) for column in rows.codes}
        for rows in files
    ]
    variables = _variables(files, total_of, given)
    return tuple(
        _table(rows, own, names, decimals)
        for rows, own, names in zip(files, total_of, variables, strict=True)
    )


def _check_named(files: Sequence[FlaggedRows], names: Sequence[str]) -> None:
    columns = {column.lower() for rows in files for column in rows.codes}
    for name in names:
        if name not in columns:
            raise InputError(
                f"No file has a column of codes {name!r}. There are: {', '.join(sorted(columns))}."
            )


def _total(rows: FlaggedRows, column: str, said: str | None) -> str | None:
    """The code of the total of a column, as the file writes it; ``None`` if it has none."""
    wanted = said or rows.totals.get(column)
    codes = dict.fromkeys(rows.codes[column])
    if wanted is not None:
        return next((code for code in codes if code.lower() == wanted.strip().lower()), None)
    found = [code for code in codes if is_total(code)]
    if len(found) > 1:
        raise InputError(
            f"{rows.raw.path}: the column {column!r} has several codes of a total:"
            f" {', '.join(map(repr, found))}. Name one of them: --total {column}={found[0]}."
        )
    return found[0] if found else None


def _variables(
    files: Sequence[FlaggedRows],
    totals: Sequence[Mapping[str, str | None]],
    trees: Mapping[str, CodeTree],
) -> list[dict[str, Variable]]:
    """For each file and column its variable; columns of one name that share codes have one."""
    groups: dict[str, list[tuple[set[str], list[tuple[int, str]]]]] = {}
    for at, (rows, own) in enumerate(zip(files, totals, strict=True)):
        for column, codes in rows.codes.items():
            words = set(codes) - {own[column]}
            places = groups.setdefault(column.lower(), [])
            for known, members in places:
                if column.lower() in trees or known & words or not words:
                    known |= words
                    members.append((at, column))
                    break
            else:
                places.append((words, [(at, column)]))
    variables: list[dict[str, Variable]] = [{} for _ in files]
    for name, parts in groups.items():
        for number, (words, members) in enumerate(parts):
            tree = trees.get(name)
            tree = _checked(tree, files[members[0][0]], members[0][1], words) if tree else None
            called = members[0][1] if number == 0 else f"{members[0][1]}_{number + 1}"
            ordered = (code for at, column in members for code in files[at].codes[column])
            made = (tree or CodeTree.flat(code for code in ordered if code in words)).variable(
                called
            )
            for at, column in members:
                variables[at][column] = made
    return variables


def _checked(tree: CodeTree, rows: FlaggedRows, column: str, words: set[str]) -> CodeTree:
    """Refuse codes that a tree does not have."""
    unknown = sorted(words - set(tree.codes))
    if unknown:
        row = rows.codes[column].index(unknown[0]) if unknown[0] in rows.codes[column] else 0
        raise rows.raw.mistake(
            row,
            f"the code {unknown[0]!r} of {column!r} is not in its hierarchy"
            f" ({len(unknown)} such codes). Add it to the hierarchy file, or name the code of the"
            f" total: --total {column}={unknown[0]}.",
        )
    return tree


def _table(
    rows: FlaggedRows,
    totals: Mapping[str, str | None],
    variables: Mapping[str, Variable],
    decimals: int,
) -> FlaggedTable:
    axes = [
        tree_axis(variables[column], set(codes), totals[column])
        for column, codes in rows.codes.items()
    ]
    spec = TableSpec(of=Entity.PERSON, axes=tuple(own.axis for own in axes), name=rows.name)
    if math.prod(spec.shape) > _MOST_CELLS:
        raise InputError(
            f"{rows.raw.path}: its columns of codes ({', '.join(rows.codes)}) have"
            f" {math.prod(spec.shape):,} combinations. At most {_MOST_CELLS:,} can be audited; name"
            " the columns of codes with --codes."
        )
    scale = 10 ** (decimals - rows.values.decimals)
    row_of = _rows_of_cells(rows, axes, spec)
    listed = row_of >= 0
    at = np.maximum(row_of, 0)
    states = np.where(listed, rows.states[at], np.uint8(rows.absent)).astype(np.uint8)
    numbers = np.where(listed & rows.values.known[at], rows.values.numbers[at] * scale, 0)
    shown = states == CellState.SHOWN
    hidden = (states == CellState.PRIMARY) | (states == CellState.SECONDARY)
    need = None
    if rows.need is not None:
        need = tuple(np.where(listed, side[at] * scale, 0) for side in rows.need)
    return FlaggedTable(
        name=rows.name,
        spec=spec,
        states=states,
        values=np.where(shown, numbers, 0),
        own=np.where(hidden, numbers, 0),
        has_own=hidden & listed & rows.values.known[at],
        need=None if need is None else (need[0], need[1]),
        decimals=decimals,
        tool=rows.tool,
    )


def _rows_of_cells(rows: FlaggedRows, axes: Sequence[TreeAxis], spec: TableSpec) -> Int64:
    """For each cell the row that shows it, or -1; refuses a combination that is listed twice."""
    row_of = np.full(spec.shape, -1, dtype=np.int64)
    if not axes:
        if rows.raw.rows > 1:
            raise rows.raw.mistake(1, "a table without columns of codes has one row.")
        return np.zeros(spec.shape, dtype=np.int64)
    columns = list(rows.codes.values())
    for row in range(rows.raw.rows):
        places = [own.places[codes[row]] for own, codes in zip(axes, columns, strict=True)]
        for place in itertools.product(*places):
            if row_of[place] >= 0 and row_of[place] != row:
                raise rows.raw.mistake(
                    row, f"this combination of {', '.join(rows.codes)} stands in the file twice."
                )
            row_of[place] = row
    return row_of
