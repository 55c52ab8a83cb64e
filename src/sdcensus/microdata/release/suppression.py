"""Local suppression: keys that are blanked until no record of a file is alone.

A blank is "not stated". Whom a record with a blank is a companion of is a setting: of those who
have the blank too (``Blanks.OWN``), or of everybody, as a missing key matches any value in both
directions (``Blanks.ANY``). Whoever is safe by the first is so by the second. Values that several
records share in the file, as members share the tenure of their household, are blanked for all of
them or for none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.kernels.suppression.choices import blank_greedily, take_back
from sdcensus.kernels.suppression.search import cheaper_blanks
from sdcensus.microdata.release.records import FileRecords
from sdcensus.microdata.release.suppression_facts import (
    leaning_records,
    suppressed_values,
    suppression_facts,
    suppression_notes,
)
from sdcensus.microdata.release.suppression_file import (
    KeyedFile,
    check_reached,
    closed_groups,
    keyed_file,
)
from sdcensus.microdata.release.suppression_keys import FileKey, file_keys, integer_weights
from sdcensus.microdata.release.suppression_stated import blank_stated
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.release.file_variable import FileDesign, FileVariable
from sdcensus.model.release.plan import Blanks, Suppression
from sdcensus.model.schema.encoding import NO_VALUE
from sdcensus.model.schema.variable import Code, CodeKind, Level, smallest_width
from sdcensus.model.text import Text

Integers = npt.NDArray[Any]
Bool = npt.NDArray[np.bool_]
Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]
UInt32 = npt.NDArray[np.uint32]

#: Records that are looked at for one choice, in comparisons of records.
_COMPARISONS = 10_000_000
_FEWEST_CANDIDATES = 8
#: Up to so many records something cheaper is searched for, in all with so much work.
_SEARCHED, _SEARCH_WORK, _MOST_ROUNDS = 400, 400_000_000, 600


def suppressed(
    records: FileRecords, suppression: Suppression, progress: Progress = no_progress
) -> FileRecords:
    """A file in which every record has at least ``k`` records alike, itself among them.

    Args:
        records: The file.
        suppression: The keys, how many should be alike, and what blanks cost.
        progress: Told how far it is.

    Raises:
        SpecError: A name is not in the file, or there are fewer than ``k`` records, in all or in a
            stratum, or with the value of a key that is never blanked.
    """
    if suppression.designs and records.design.design.name not in suppression.designs:
        return records
    if suppression.k < 1:
        raise SpecError(f"[suppress] k = {suppression.k} should be at least 1.")
    progress("counting who is alike", 0.0)
    keys = file_keys(records, suppression)
    file = keyed_file(records, keys, suppression)
    before = file.counts < suppression.k
    if suppression.blanks is Blanks.OWN:
        blank_stated(file, integer_weights(keys), suppression.k, progress)
    else:
        _blank(file, integer_weights(keys), suppression.k, progress)
    check_reached(file, keys, suppression)
    blanks = _blanks(records, keys, file)
    leaning = leaning_records(file, suppression)
    design = _design_with_blanks(records.design, keys, blanks)
    codes: dict[str, Integers] = {}
    amounts: dict[str, Int64] = {}
    for key, rows in zip(keys, blanks, strict=True):
        for variable in _same_source(design, key.variable):
            if not rows.any():
                continue
            if variable.amounts:
                amounts[variable.name] = np.where(rows, NO_VALUE, records.amounts[variable.name])
                continue
            at = _blank_position(variable)
            width = smallest_width(len(variable.level.codes))
            codes[variable.name] = np.where(rows, at, records.codes[variable.name]).astype(width)
    return replace(records, design=design).told(
        codes=codes,
        amounts=amounts,
        facts=suppression_facts(keys, blanks, file, before, suppression, leaning),
        notes=suppression_notes(keys, blanks, suppression, leaning),
        files=(suppressed_values(records, keys, blanks),),
    )


def _blank(file: KeyedFile, weights: Int64, k: int, progress: Progress) -> None:
    """Blank values of each group, give back what is not needed, and look for something cheaper."""
    starts, stops = file.bounds[:-1], file.bounds[1:]
    below = np.add.reduceat(file.counts < k, starts) > 0 if starts.size else np.zeros(0, dtype=bool)
    busy = np.flatnonzero(below)
    touched = np.zeros(file.order.size, dtype=bool)
    for done, place in enumerate(busy.tolist()):
        progress("blanking keys", done / busy.size)
        size = int(stops[place] - starts[place])
        most = max(_COMPARISONS // size, _FEWEST_CANDIDATES)
        blank_greedily(
            file.codes,
            file.masks,
            file.counts,
            file.bounds,
            file.group,
            file.slots,
            file.members,
            file.member_starts,
            touched,
            place,
            weights,
            k,
            most,
        )
    _give_back(file, weights, k)
    closed = busy[closed_groups(file)[busy]]
    closed = closed[(stops - starts)[closed] <= _SEARCHED]
    work = int(((stops - starts)[closed] ** 2).sum()) * (1 << min(weights.size, 10))
    rounds = min(_SEARCH_WORK // max(work, 1), _MOST_ROUNDS)
    for done, place in enumerate(closed.tolist() if rounds else []):
        progress("looking for fewer blanks", done / closed.size)
        cheaper_blanks(
            file.codes,
            file.masks,
            file.counts,
            file.given,
            file.bounds,
            file.group,
            file.slots,
            file.slot_keys,
            file.members,
            file.member_starts,
            place,
            weights,
            k,
            rounds,
        )
    _give_back(file, weights, k)
    progress("blanking keys", 1.0)


def _give_back(file: KeyedFile, weights: Int64, k: int) -> None:
    """Give back every blank that nobody needs, the dearest first."""
    blanked = file.blanked
    listed = np.flatnonzero(blanked)
    order = listed[np.argsort(-weights[file.slot_keys[listed]], kind="stable")]
    take_back(
        file.codes,
        file.masks,
        file.counts,
        file.bounds,
        file.group,
        file.members,
        file.member_starts,
        order,
        file.slot_keys,
        blanked,
        k,
    )


def _blanks(records: FileRecords, keys: Sequence[FileKey], file: KeyedFile) -> list[Bool]:
    """For each key which rows of its table are blanked."""
    blanks = []
    for at, key in enumerate(keys):
        rows = np.zeros(records.sample.rows[key.variable.entity].size, dtype=bool)
        bit = np.uint32(1 << at)
        chosen = ((file.masks & bit) != 0) & ((file.given & bit) == 0)
        units = key.unit[file.order[chosen]]
        values = np.zeros(int(key.shared.max(initial=-1)) + 1, dtype=bool)
        values[key.shared[units]] = True
        rows[:] = values[key.shared]
        blanks.append(rows)
    return blanks


def _same_source(design: FileDesign, variable: FileVariable) -> list[FileVariable]:
    """A key and everything that tells the same variable of the census at another level."""
    return [
        each
        for each in design.variables
        if each.source.name == variable.source.name and each.entity is variable.entity
    ]


def _blank_position(variable: FileVariable) -> int:
    kinds = [code.kind for code in variable.level.codes]
    return kinds.index(CodeKind.NOT_STATED)


def _design_with_blanks(
    design: FileDesign, keys: Sequence[FileKey], blanks: Sequence[Bool]
) -> FileDesign:
    """The design whose blanked variables all have a code for "not stated"."""
    changed: dict[str, FileVariable] = {}
    for key, rows in zip(keys, blanks, strict=True):
        for variable in _same_source(design, key.variable):
            if rows.any() and not variable.amounts:
                changed[variable.name] = replace(variable, level=level_with_blank(variable.level))
    return replace(
        design,
        variables=tuple(changed.get(each.name, each) for each in design.variables),
        ladder=tuple(changed.get(each.name, each) for each in design.ladder),
    )


def level_with_blank(level: Level) -> Level:
    """A level that has a code for "not stated": itself, or with one more code.

    Codes that are numbers get nines, as many as the longest has or one more; others ``NS``.

    Examples:
        >>> level = Level("sex", (Code("1"), Code("2")), (0, 1))
        >>> [code.code for code in level_with_blank(level).codes]
        ['1', '2', '9']
    """
    if any(code.kind is CodeKind.NOT_STATED for code in level.codes):
        return level
    taken = {code.code.strip().casefold() for code in level.codes}
    numbers = all(code.isdecimal() for code in taken)
    if numbers:
        values = {int(code) for code in taken}
        width = max(map(len, taken), default=1)
        while int("9" * width) in values:
            width += 1
        text = "9" * width
    else:
        text, more = "NS", 2
        while text.casefold() in taken:
            text, more = f"NS{more}", more + 1
    blank = Code(text, Text.named("labels.not_stated"), CodeKind.NOT_STATED)
    return replace(level, codes=(*level.codes, blank))
