"""The keys of a file in the order in which local suppression looks at them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.kernels.suppression.matches import match_counts, projected
from sdcensus.kernels.suppression.stated import supports
from sdcensus.microdata.release.records import FileRecords
from sdcensus.microdata.release.suppression_keys import (
    NOWHERE,
    FileKey,
    counted_unit,
    file_keys,
    variable_of,
)
from sdcensus.model.confidential import Confidential
from sdcensus.model.release.plan import Blanks, Suppression

Integers = npt.NDArray[Any]
Bool = npt.NDArray[np.bool_]
Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]
UInt32 = npt.NDArray[np.uint32]


@dataclass(slots=True, eq=False, repr=False)
class KeyedFile(Confidential):
    """The keys of a file in an order of their own: by group, codes and digest.

    Attributes:
        order: The place in the file of each record.
        codes, given: Their codes, and the keys that were missing before.
        masks, counts: The keys that are missing now, and how many records match each one.
        bounds, group: Where the groups begin, and the group of each record.
        slots: For each record and key the number of its value; -1 for one that stays.
        slot_keys: The key of each value.
        members, member_starts: The records that have each value.
    """

    order: Int64
    codes: Int32
    given: UInt32
    masks: UInt32
    counts: Int64
    bounds: Int64
    group: Int64
    slots: Int32
    slot_keys: Int32
    members: Int64
    member_starts: Int64

    def __repr__(self) -> str:
        return "<Keys of a file: confidential>"

    @property
    def blanked(self) -> Bool:
        """Which values are blanked: all of the records that share one have it or have it not."""
        first = self.members[self.member_starts[:-1]]
        bits = (self.masks[first] >> self.slot_keys.astype(np.uint32)) & np.uint32(1)
        return bits.astype(bool)


def keyed_file(
    records: FileRecords, keys: Sequence[FileKey], suppression: Suppression
) -> KeyedFile:
    """Put the keys of a file in order, and count who is alike.

    Raises:
        SpecError: No blank can reach what is asked for.
    """
    unit = counted_unit(records)
    digests = records.store.digests(unit)[records.sample.rows[unit]]
    codes = np.stack([key.codes for key in keys], axis=1)
    missing = np.stack([key.missing for key in keys], axis=1)
    codes[missing] = NOWHERE
    # Keys that are never blanked and always stated part the file, as a stratum does.
    parts = [at for at, key in enumerate(keys) if key.weight is None and not key.missing.any()]
    stratum = _strata(records, suppression)
    columns = [codes[:, [at]] for at in parts] + ([] if stratum is None else [stratum[:, None]])
    group = (
        projected(np.concatenate(columns, axis=1))
        if columns
        else np.zeros(codes.shape[0], dtype=np.int64)
    )
    order = np.lexsort((digests, *codes.T[::-1], group))
    codes, missing, group = codes[order], missing[order], group[order]
    bounds = np.searchsorted(group, np.arange(int(group.max(initial=-1)) + 2))
    bits = np.uint32(1) << np.arange(len(keys), dtype=np.uint32)
    given = (missing * bits).sum(axis=1, dtype=np.uint32)
    slots, slot_keys, members, member_starts = _slots(keys, order, missing)
    file = KeyedFile(
        order=order.astype(np.int64),
        codes=np.ascontiguousarray(codes),
        given=given,
        masks=given.copy(),
        counts=_counts(codes, given, given, bounds, suppression.blanks),
        bounds=bounds.astype(np.int64),
        group=group,
        slots=slots,
        slot_keys=slot_keys,
        members=members,
        member_starts=member_starts,
    )
    _check_possible(file, keys, suppression)
    return file


def _counts(codes: Int32, masks: UInt32, others: UInt32, bounds: Int64, blanks: Blanks) -> Int64:
    """How many records each one has alike in its group, if others have other keys missing."""
    counts = np.zeros(masks.size, dtype=np.int64)
    everybody = np.ones(masks.size, dtype=bool)
    if blanks is Blanks.OWN:
        group = np.repeat(np.arange(bounds.size - 1), np.diff(bounds))
        return supports(codes, others, masks, everybody, group)
    for start, stop in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
        counts[start:stop] = match_counts(codes[start:stop], masks[start:stop])
    return counts


def _strata(records: FileRecords, suppression: Suppression) -> Int32 | None:
    if not suppression.strata:
        return None
    variable = variable_of(records.design, suppression.strata, "strata")
    if variable.amounts:
        raise SpecError(
            f"[suppress] strata: {variable.name!r} is an amount. Name a variable with codes."
        )
    (key,) = file_keys(records, Suppression(keys=(variable.name,)))
    return key.codes


def _slots(
    keys: Sequence[FileKey], order: Int64, missing: Bool
) -> tuple[Int32, Int32, Int64, Int64]:
    """The values that may be blanked, and the records that have each of them."""
    slots = np.full(missing.shape, NOWHERE, dtype=np.int32)
    slot_keys, owners, places = [], [], []
    number = 0
    for at, key in enumerate(keys):
        unit = key.unit[order]
        free = (unit >= 0) & ~missing[:, at]
        if key.weight is None or not free.any():
            continue
        values, own = np.unique(key.shared[unit[free]], return_inverse=True)
        slots[free, at] = own.reshape(-1) + number
        slot_keys.append(np.full(values.size, at, dtype=np.int32))
        owners.append(own.reshape(-1) + number)
        places.append(np.flatnonzero(free))
        number += values.size
    if not number:
        empty = np.zeros(0, dtype=np.int64)
        return slots, empty.astype(np.int32), empty, np.zeros(1, dtype=np.int64)
    owner = np.concatenate(owners)
    by_owner = np.argsort(owner, kind="stable")
    members = np.concatenate(places)[by_owner].astype(np.int64)
    starts = np.searchsorted(owner[by_owner], np.arange(number + 1)).astype(np.int64)
    return slots, np.concatenate(slot_keys), members, starts


def _check_possible(file: KeyedFile, keys: Sequence[FileKey], suppression: Suppression) -> None:
    """Refuse what no blank can reach."""
    k, size = suppression.k, file.order.size
    if size < k:
        raise SpecError(
            f"[suppress] k = {k}: the file has fewer than {k} records, so that no blank can make"
            " them alike. Take a smaller k, or a larger sample."
        )
    every = np.full(file.given.size, (1 << len(keys)) - 1, dtype=np.uint32)
    for at in range(len(keys)):
        every[file.slots[:, at] < 0] &= ~np.uint32(1 << at)
    every |= file.given
    # The groups keep apart what never matches; the last resort is to blank all that may be.
    counts = _counts(file.codes, every, file.given, file.bounds, suppression.blanks)
    if (counts < k).any():
        raise _not_reached(keys, suppression)


def check_reached(file: KeyedFile, keys: Sequence[FileKey], suppression: Suppression) -> None:
    """Refuse a file where blanks have not reached what is asked for.

    Raises:
        SpecError: Somebody has fewer companions still.
    """
    if (file.counts < suppression.k).any():
        raise _not_reached(keys, suppression)


def _not_reached(keys: Sequence[FileKey], suppression: Suppression) -> SpecError:
    k = suppression.k
    fixed = [key.variable.name for key in keys if key.weight is None]
    held = [key.variable.name for key in keys if (key.unit < 0).any()]
    reasons = [
        *([f"share their {suppression.strata!r} (strata)"] if suppression.strata else []),
        *([f"share {', '.join(fixed)}, which importance never blanks"] if fixed else []),
        *([f"have no household to hold {', '.join(held)}"] if held else []),
    ]
    return SpecError(
        f"[suppress] k = {k} cannot be reached: some records {', or '.join(reasons)}, with"
        f" fewer than {k} in all. Take a smaller k, coarser codes or other strata, or let every"
        " key be blanked."
    )


def closed_groups(file: KeyedFile) -> Bool:
    """Groups no value of which is shared with a record of another group."""
    closed = np.ones(file.bounds.size - 1, dtype=bool)
    sizes = np.diff(file.member_starts)
    owner = np.repeat(np.arange(sizes.size), sizes)
    groups = file.group[file.members]
    first = file.group[file.members[file.member_starts[:-1]]]
    apart = groups != first[owner]
    closed[groups[apart]] = False
    closed[first[owner[apart]]] = False
    return closed
