"""SUDA: all minimal sets of six keys of every record, with missing values counted in both ways."""

from __future__ import annotations

import time

import numpy as np

from benchmarks.measure import Line
from sdcensus.model.release.plan import MissingValues
from sdcensus.model.schema.variable import CodeKind
from sdcensus.risk.records.key_column import KeyColumn
from sdcensus.risk.records.special_uniques import special_uniques

#: Codes of the keys, "not stated" included: sex, age, district, occupation, education, tenure.
_KEYS = {"sex": 3, "age": 102, "district": 41, "occupation": 61, "education": 13, "tenure": 7}
_NOT_STATED = 0.02
#: Seconds that are promised, by the number of records.
_PROMISED = {100_000: 2.0}


def _columns(records: int) -> list[KeyColumn]:
    """Keys in which low codes are frequent, and some are not stated."""
    draw = np.random.default_rng(20261118)
    columns = []
    for name, size in _KEYS.items():
        values = ((size - 1) * draw.random(records) ** 2.5).astype(np.uint8)
        values[draw.random(records) < _NOT_STATED] = size - 1
        kinds = (*[CodeKind.VALID] * (size - 1), CodeKind.NOT_STATED)
        columns.append(KeyColumn(name=name, values=values, kinds=kinds))
    return columns


def _processor_time(columns: list[KeyColumn], missing: MissingValues) -> float:
    """Seconds of the one processor that is used, kernels compiled: the best of three."""
    special_uniques(columns, missing=missing)
    times = []
    for _ in range(3):
        start = time.process_time()
        special_uniques(columns, missing=missing)
        times.append(time.process_time() - start)
    return min(times)


def measure(sizes: tuple[int, ...] = (100_000, 1_000_000)) -> list[Line]:
    """The time for each number of records, and how it grows."""
    lines = []
    earlier: dict[MissingValues, float] = {}
    for records in sizes:
        columns = _columns(records)
        for missing in MissingValues:
            took = _processor_time(columns, missing)
            each = took / records
            grown = f", {each / earlier[missing]:.2f} times a record" if missing in earlier else ""
            earlier.setdefault(missing, each)
            promised = _PROMISED.get(records)
            lines.append(
                Line(
                    f"{records / 1e6:g} million records, 6 keys, not stated: {missing}",
                    f"{took:.2f} s of one processor{grown}",
                    "" if promised is None else f"at most {promised:g} s",
                    None if promised is None else took <= promised,
                )
            )
    return lines
