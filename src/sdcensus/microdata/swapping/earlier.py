"""Pairs of an earlier derivation, which are kept wherever both units still qualify.

Otherwise one corrected record would reshuffle everybody: published numbers would change all over
the country, and comparing both publications would tell who was exchanged.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.errors import InputError
from sdcensus.microdata.method import OfficeFile
from sdcensus.microdata.swapping.units import NO_UNIT, UnitTable
from sdcensus.model.confidential import Confidential

Integers = npt.NDArray[Any]
Int64 = npt.NDArray[np.int64]

#: What the office keeps beside a store with exchanged places.
PAIRS_FILE = "pairs.csv"
#: Its columns; digests as 16 hex digits, profiles from 1.
_COLUMNS = ("initiator", "partner", "level", "profile", "region")
_DIGEST = re.compile(r"[0-9a-f]{16}")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SwapPairs(Confidential):
    """Pairs with the rule by which they were found.

    Attributes:
        initiators, partners: The units of each.
        levels: The level whose area they left, by name.
        profiles: The number of the profile, from 0.
        regions: The region inside which both lie, by name.
    """

    initiators: Int64
    partners: Int64
    levels: npt.NDArray[np.object_]
    profiles: Int64
    regions: npt.NDArray[np.object_]

    def __len__(self) -> int:
        return int(self.initiators.size)

    def chosen(self, which: npt.NDArray[Any]) -> SwapPairs:
        """Some of them."""
        return SwapPairs(*(getattr(self, each.name)[which] for each in fields(self)))

    @property
    def touched(self) -> Int64:
        """The units of all pairs."""
        return np.concatenate([self.initiators, self.partners])


def joined(parts: Sequence[SwapPairs]) -> SwapPairs:
    """Several lists of pairs as one."""
    empty = np.zeros(0, dtype=np.int64)
    nothing = np.zeros(0, dtype=object)
    every = [SwapPairs(empty, empty, nothing, empty, nothing), *parts]
    return SwapPairs(
        *(
            np.concatenate([getattr(part, each.name) for part in every])
            for each in fields(SwapPairs)
        )
    )


def pairs_file(units: UnitTable, pairs: SwapPairs) -> OfficeFile:
    """What the office keeps of pairs, in an order that does not tell how they were found."""
    order = np.argsort(pairs.initiators, kind="stable")
    ordered = pairs.chosen(order)
    return OfficeFile(
        name=PAIRS_FILE,
        columns={
            "initiator": units.digests[ordered.initiators],
            "partner": units.digests[ordered.partners],
            "level": ordered.levels,
            "profile": ordered.profiles + 1,
            "region": ordered.regions,
        },
    )


def read_pairs(path: Path, units: UnitTable) -> tuple[SwapPairs, int]:
    """Earlier pairs of which both units still exist, and how many there were.

    Raises:
        InputError: The file cannot be read, or is not what a swap has written.
    """
    lines = _lines(path)
    seen: dict[int, int] = {}
    columns: dict[str, list[Any]] = {name: [] for name in _COLUMNS}
    for row, line in enumerate(lines, start=2):
        first, second = (_digest(path, row, line[name]) for name in _COLUMNS[:2])
        for digest in (first, second):
            if digest in seen:
                raise _wrong(path, row, f"{digest:016x} is in row {seen[digest]} as well")
            seen[digest] = row
        profile = line["profile"]
        if not profile.isascii() or not profile.isdigit() or not 0 < int(profile) < 10**6:
            raise _wrong(path, row, f"{profile!r} is no number of a profile")
        values = (first, second, line["level"], int(profile) - 1, line["region"])
        for name, value in zip(_COLUMNS, values, strict=True):
            columns[name].append(value)
    one, other = _numbers(units, columns["initiator"]), _numbers(units, columns["partner"])
    there = (one != NO_UNIT) & (other != NO_UNIT)
    levels, regions = (
        np.array([*columns[name], None], dtype=object)[:-1] for name in ("level", "region")
    )
    profiles = np.array(columns["profile"], dtype=np.int64)
    return SwapPairs(one, other, levels, profiles, regions).chosen(there), len(lines)


def _numbers(units: UnitTable, digests: Sequence[int]) -> Int64:
    asked = np.array(digests, dtype=np.uint64)
    at = np.minimum(np.searchsorted(units.digests, asked), max(len(units) - 1, 0))
    return np.where(units.digests[at] == asked, at, NO_UNIT).astype(np.int64)


def _lines(path: Path) -> list[dict[str, str]]:
    try:
        with path.open(encoding="utf-8", newline="") as file:
            reader = csv.DictReader(file, strict=True)
            lines = list(reader)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise InputError(
            f"{path} cannot be read: {reason}. Name the {PAIRS_FILE} of the office"
            " folder of the earlier store."
        ) from None
    except (csv.Error, UnicodeDecodeError):
        raise InputError(
            f"{path} is no csv file. Name the {PAIRS_FILE} of the office folder of the"
            " earlier store."
        ) from None
    missing = [name for name in _COLUMNS if name not in (reader.fieldnames or ())]
    if missing:
        raise InputError(
            f"{path} has no column {missing[0]!r}. Name the {PAIRS_FILE} of the office folder of"
            f" the earlier store; it has the columns {', '.join(_COLUMNS)}."
        )
    for row, line in enumerate(lines, start=2):
        if any(not isinstance(line[name], str) for name in _COLUMNS):
            raise _wrong(path, row, "it is cut off")
    return lines


def _digest(path: Path, row: int, text: str) -> int:
    if _DIGEST.fullmatch(text) is None:
        raise _wrong(path, row, f"{text[:40]!r} is no digest of 16 hex digits")
    return int(text, 16)


def _wrong(path: Path, row: int, what: str) -> InputError:
    return InputError(
        f"{path}, row {row}: {what}. Name the file as the earlier derivation has written it."
    )
