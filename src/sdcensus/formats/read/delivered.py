"""Reading tables back that were delivered with codes and columns of their receiver's.

A delivered file shows each code once. The table has positions for a code at every level where it
stands, and they get what the file shows for the same records. A position that can hold no record
is 0. One that can, and that the file does not show, is withheld: nothing is known about it.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from sdcensus.errors import InputError
from sdcensus.formats.read.raw import (
    Int64,
    NoPublishedTable,
    RawTable,
    positions_of,
    values_and_flags,
)
from sdcensus.formats.write.about import COUNTS, SIGNS, SMALL_GROUPS, VERSION, ZERO, ZERO_OR_SMALL
from sdcensus.model.cube.layout import mixed_radix
from sdcensus.model.published.small_groups import SmallGroups
from sdcensus.model.published.table import (
    IN_PLACE,
    NOT_BROKEN_DOWN,
    AnyTable,
    Mark,
    SparseTable,
    Table,
)
from sdcensus.model.spec.axis import TOTAL, Axis
from sdcensus.model.spec.record_sets import leaves_in
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.model.spec.universe import Universe
from sdcensus.model.text import Text

#: Where a position is shown by no code: it can hold no record, or it is not known what it holds.
_EMPTY, _NOT_SHOWN = -1, -2


@dataclass(frozen=True, slots=True, eq=False)
class _Shown:
    """How an axis is delivered.

    Attributes:
        places: For each row of the file, the place of its code.
        size: How many codes there are.
        source: For each position of the axis the place of the code that shows its records, or one
            of the two reasons why there is none.
    """

    places: Int64
    size: int
    source: Int64


def check_delivered(raw: RawTable, about: dict[str, Any]) -> None:
    """Refuse files of figures that are no counts of one table, and those of newer versions."""
    version = about.get("delivered", 0)
    if not isinstance(version, int) or version > VERSION:
        raise InputError(f"{raw.path} was written by a newer version of sdcensus. Update it.")
    if version and about.get("decimals") != _decimals(about):
        raise NoPublishedTable(
            f"{raw.path} holds figures of several tables, or computed from them, not the counts of"
            " one table."
        )


def _decimals(about: dict[str, Any]) -> int | None:
    """How many decimals the numbers of a table have; ``None`` where a file is of no table."""
    if "specification" not in about:
        return None
    document = about["specification"]
    amount = document.get("amount") if isinstance(document, dict) else None
    return amount.get("decimals") if isinstance(amount, dict) else 0


def delivered_table(
    raw: RawTable, about: dict[str, Any], spec: TableSpec, notes: tuple[Text, ...]
) -> AnyTable:
    """The table of a delivered file, with all positions of its axes."""
    if "delivered" not in about:
        about = {**about, **_as_it_is(raw, spec)}
    axes = about.get("axes")
    if not isinstance(axes, list) or len(axes) != len(spec.axes):
        raise _damaged(raw, "axes")
    shown = [
        _shown(raw, one, axis, spec.universe) for one, axis in zip(axes, spec.axes, strict=True)
    ]
    decimals = None if spec.amount is None else spec.decimals
    values, flags = _values(raw, about, decimals)
    numbers = np.zeros(raw.rows, dtype=np.uint64)
    sizes = tuple(one.size for one in shown)
    for one, weight in zip(shown, mixed_radix(sizes), strict=True):
        numbers += one.places.astype(np.uint64) * np.uint64(weight)
    raw.check_once(numbers)
    if about.get("cells_not_listed") in (ZERO, ZERO_OR_SMALL):
        small = small_groups(raw, about, spec, values)
        return replace(_sparse(raw, spec, shown, (values, flags), notes), small=small)
    cells = math.prod(sizes)
    if raw.rows != cells:
        raise raw.incomplete(cells)
    at = numbers.astype(np.int64)
    grids = []
    for array in (values, flags):
        grid = np.zeros(cells, dtype=np.int64)
        grid[at] = array
        grids.append(grid.reshape(sizes)[np.ix_(*(np.maximum(one.source, 0) for one in shown))])
    published, signs = grids
    empty = _where(shown, _EMPTY)
    withheld = _where(shown, _NOT_SHOWN) & ~empty
    published = np.where(empty | withheld, 0, published)
    signs = np.select([empty, withheld], [Mark.NONE, Mark.WITHHELD], signs)
    return Table(spec, published, signs.astype(np.uint8), notes)


def _as_it_is(raw: RawTable, spec: TableSpec) -> dict[str, Any]:
    """How earlier versions delivered single tables: every position of every axis as it is."""
    axes = [
        {
            "column": axis.variable.name,
            "codes": [
                {"code": code.code, "level": code.level, "at": at}
                for at, code in enumerate(axis.codes)
            ],
        }
        for axis in spec.axes
    ]
    marks = {mark.name.lower(): mark.sign for mark in IN_PLACE} if SIGNS in raw.columns else {}
    return {"values": COUNTS, "marks": marks, "axes": axes}


def _where(shown: list[_Shown], reason: int) -> Any:
    """The cells that one of their positions makes to be of a kind."""
    found = np.zeros(tuple(one.source.size for one in shown), dtype=bool)
    for at, one in enumerate(shown):
        shape = [1] * len(shown)
        shape[at] = -1
        found |= (one.source == reason).reshape(shape)
    return found


def _sparse(
    raw: RawTable,
    spec: TableSpec,
    shown: list[_Shown],
    cells: tuple[Int64, Int64],
    notes: tuple[Text, ...],
) -> SparseTable:
    values, flags = cells
    if flags.any():
        raise raw.mistake(
            int(np.flatnonzero(flags)[0]),
            "a table that lists its non-zero cells only has no signs.",
        )
    for one, axis in zip(shown, spec.axes, strict=True):
        if (one.source == _NOT_SHOWN).any():
            raise NoPublishedTable(
                f"{raw.path} lists non-zero cells only, and leaves out codes of"
                f" {axis.variable.name!r}: what is not listed need not be 0."
            )
    rows = np.flatnonzero(values)  # a written 0 says what an absent cell says
    numbers = np.zeros(rows.size, dtype=np.uint64)
    for one, weight in zip(shown, mixed_radix(spec.shape), strict=True):
        # A code stands at as many positions as have it as their source.
        order = np.argsort(one.source, kind="stable")
        order = order[one.source[order] >= 0]
        begins = np.searchsorted(one.source[order], np.arange(one.size + 1))
        places = one.places[rows]
        copies = np.diff(begins)[places]
        rows, numbers = np.repeat(rows, copies), np.repeat(numbers, copies)
        within = np.arange(rows.size) - np.repeat(np.cumsum(copies) - copies, copies)
        at = order[np.repeat(begins[:-1][places], copies) + within]
        numbers += at.astype(np.uint64) * np.uint64(weight)
    sorted_by = np.argsort(numbers, kind="stable")
    return SparseTable(spec, numbers[sorted_by], values[rows][sorted_by], notes)


def _values(raw: RawTable, about: dict[str, Any], decimals: int | None) -> tuple[Int64, Int64]:
    marks, name = about.get("marks"), about.get("values")
    known = {mark.name.lower(): mark for mark in Mark if mark}
    if not isinstance(name, str) or not isinstance(marks, dict) or not set(marks) <= set(known):
        raise _damaged(raw, "marks")
    raw.column(name)
    instead, beside = {}, set()
    for word, sign in marks.items():
        mark = known[word]
        if mark.has_number:
            beside.add(str(sign))
        else:
            instead[str(sign)] = mark
    signs = raw.column(SIGNS) if marks else pa.nulls(raw.rows, pa.string()).fill_null("")
    return values_and_flags(raw, name, signs, instead=instead, beside=beside, decimals=decimals)


def _shown(raw: RawTable, document: object, axis: Axis, universe: Universe) -> _Shown:
    where = f"axes, {axis.variable.name}"
    try:
        column, codes = document["column"], document["codes"]  # type: ignore[index]
        words = [str(code["code"]) for code in codes]
        levels = [str(code["level"]) for code in codes]
        at = np.array([code["at"] for code in codes], dtype=np.int64)
    except (LookupError, TypeError, ValueError, OverflowError):
        raise _damaged(raw, where) from None
    if at.size and not (at.min() >= 0 and at.max() < len(axis.codes)):
        raise _damaged(raw, where)
    if len(set(zip(words, levels, strict=True))) != len(words):
        raise _damaged(raw, where)
    if len(set(words)) == len(words):
        places = positions_of(raw.column(str(column)), words)
    else:
        places = _by_level(raw, str(column), words, levels)
    if (places < 0).any():
        row = int(np.flatnonzero(places < 0)[0])
        code = raw.columns[str(column)][row].as_py()
        raise raw.mistake(row, f"{code!r} is no code of {column!r} in this table.")
    return _Shown(places, len(words), _sources(axis, universe, at))


def _by_level(raw: RawTable, column: str, words: list[str], levels: list[str]) -> Int64:
    """A code may stand at several levels: both together name a place."""
    codes = raw.column(column)
    names = list(dict.fromkeys(levels))
    level = positions_of(raw.column(f"{column}_level"), names)
    places = np.full(raw.rows, -1, dtype=np.int64)
    for number, name in enumerate(names):
        here = np.flatnonzero(level == number)
        own = np.array([at for at, level in enumerate(levels) if level == name], dtype=np.int64)
        inside = positions_of(codes.take(here), [words[at] for at in own])
        places[here] = np.where(inside < 0, -1, own[inside])
    return places


def _sources(axis: Axis, universe: Universe, at: Int64) -> Int64:
    """For each position of an axis, the place of the code that shows the same records."""
    sets = _record_sets(axis, universe)
    place_of = {sets[position]: place for place, position in reversed(list(enumerate(at.tolist())))}
    source = np.array(
        [place_of.get(held, _NOT_SHOWN if held else _EMPTY) for held in sets], dtype=np.int64
    )
    source[at] = np.arange(at.size)  # what is shown is what was published, also where it is empty
    return source


def _record_sets(axis: Axis, universe: Universe) -> list[bytes]:
    """The leaves of each position that occur in a universe, as something to compare."""
    inside = np.flatnonzero(leaves_in(universe, axis.variable))
    sets: list[bytes] = []
    for block in axis.blocks:
        group = np.zeros(inside.size, dtype=np.int64)
        if block.level != TOTAL:
            group = axis.variable.level(block.level).group_array[inside]
        order = np.argsort(group, kind="stable")
        ends = np.searchsorted(group[order], np.arange(block.size + 1))
        sets += [inside[order[low:high]].tobytes() for low, high in itertools.pairwise(ends)]
    return sets


def _damaged(raw: RawTable, what: str) -> InputError:
    return InputError(f"{raw.path}: how the table is delivered ({what}) is damaged.")


def small_groups(
    raw: RawTable, about: dict[str, Any], spec: TableSpec, values: Int64
) -> SmallGroups | None:
    """The rule of the smallest group in a sparse file; ``None`` where there is none.

    A file that lost a part of it is refused: cells that are not shown would be read as 0.
    """
    said = about.get(SMALL_GROUPS)
    smallest = said.get("smallest_group") if isinstance(said, dict) else None
    provenance = about.get("provenance")
    made_with = provenance.get("smallest_group", 0) if isinstance(provenance, dict) else 0
    if about.get("cells_not_listed") != ZERO_OR_SMALL:
        if said is not None or made_with or NOT_BROKEN_DOWN in raw.columns:
            raise _unknown_groups(raw)
        return None
    if type(smallest) is not int or smallest < 1 or made_with != smallest:
        raise _unknown_groups(raw)
    assert isinstance(said, dict)
    marks = np.array(raw.column(NOT_BROKEN_DOWN).cast("string").to_pylist(), dtype=object)
    wrong = np.flatnonzero(marks != np.where(values < smallest, "1", "0"))
    if wrong.size:
        raise raw.mistake(
            int(wrong[0]),
            f"{NOT_BROKEN_DOWN} is 1 where fewer than {smallest} are published, and 0 elsewhere.",
        )
    groups: Any = said.get("positions")
    cells: Any = said.get("outside_the_table")
    if not _are_groups(groups, spec) or not _are_rows(cells, len(spec.axes)):
        raise _unknown_groups(raw)
    rows = np.array(cells, dtype=np.int64).reshape(len(cells), len(spec.axes))
    sizes = np.array([len(group) for group in groups], dtype=np.int64)
    if (rows < 0).any() or (rows >= sizes).any():
        raise _unknown_groups(raw)
    named = tuple(tuple(map(tuple, on_axis)) for on_axis in groups)
    return SmallGroups(smallest, named, rows)


def _unknown_groups(raw: RawTable) -> InputError:
    return InputError(
        f"{raw.path}: what stands about the table does not say which groups are not broken down"
        f' ("{SMALL_GROUPS}"), or not as the table does. Cells that are not shown would be read as'
        " 0. Take both files as they were published."
    )


def _are_groups(groups: object, spec: TableSpec) -> bool:
    """Whether there is, for each axis, a list of lists of its positions."""
    if not isinstance(groups, list) or len(groups) != len(spec.axes):
        return False
    for axis, named in zip(spec.axes, groups, strict=True):
        if not isinstance(named, list):
            return False
        for group in named:
            if not isinstance(group, list) or any(type(place) is not int for place in group):
                return False
            if any(not 0 <= place < len(axis.codes) for place in group):
                return False
    return True


def _are_rows(rows: object, width: int) -> bool:
    return isinstance(rows, list) and all(
        isinstance(row, list) and len(row) == width and all(type(place) is int for place in row)
        for row in rows
    )
