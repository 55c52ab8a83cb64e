"""Uniques: group sizes against pandas and polars, and a ladder of ten keys for four designs.

The same columns, in the same run, one after the other. The ladder has missing values in every key,
so that hundreds of patterns of missing keys occur.
"""

from __future__ import annotations

import json
import time
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.measure import Line, in_own_process, peak_memory, seconds
from sdcensus.kernels.uniques.numbering import group_sizes
from sdcensus.model.schema.variable import CodeKind
from sdcensus.risk.records.key_column import KeyColumn
from sdcensus.risk.records.ladder import ladder_risk

Integers = npt.NDArray[Any]

#: Codes of six keys that an intruder may know: sex, age, district, occupation, ...
_KEYS = {"sex": 2, "age": 101, "district": 40, "occupation": 60, "education": 12, "tenure": 6}
_LADDER = {
    "sex": 2,
    "age": 101,
    "relation": 12,
    "marital": 6,
    "education": 10,
    "ethnicity": 9,
    "religion": 14,
    "birthplace": 25,
    "occupation": 60,
    "industry": 22,
}
#: The share of each key that is not stated.
_NOT_STATED = 0.02
_PERSONS = 1_300_000
#: A share of households, and how many years of age are one code: a design each.
_DESIGNS = ((0.1, 1), (0.2, 1), (0.1, 5), (1.0, 5))


def _columns(sizes: dict[str, int], records: int) -> dict[str, Integers]:
    """Keys in which low codes are frequent, as in any census."""
    draw = np.random.default_rng(20261118)
    return {
        name: (size * draw.random(records) ** 2.5).astype(np.uint8) for name, size in sizes.items()
    }


def _against_frames(records: int) -> list[Line]:
    import pandas as pd
    import polars as pl

    columns = _columns(_KEYS, records)
    names = list(columns)
    pandas_frame, polars_frame = pd.DataFrame(columns), pl.DataFrame(columns)
    values = list(columns.values())
    repeats = 7 if records <= 1_000_000 else 3
    rounds = []
    for _ in range(repeats):  # in turn: other work on the machine meets all three
        ours = seconds(lambda: group_sizes(values, records), repeats=1)
        pandas = seconds(lambda: pandas_frame.groupby(names)["sex"].transform("size"), repeats=1)
        polars = seconds(lambda: polars_frame.select(pl.len().over(names)), repeats=1)
        rounds.append((ours, pandas, polars))
    ours, pandas, polars = np.median(np.array(rounds), axis=0).tolist()
    size = f"{records / 1e6:g} million records"
    return [
        Line(f"Group sizes of six keys, {size}", _text(ours)),
        Line(
            "… against pandas groupby-transform",
            f"{_text(pandas)}, {pandas / ours:.1f} times",
            "at least 3 times",
            pandas / ours >= 3,
        ),
        Line(
            "… against polars len-over",
            f"{_text(polars)}, {polars / ours:.1f} times",
            "at least as fast",
            polars >= ours,
        ),
    ]


def _text(duration: float) -> str:
    return f"{duration * 1e3:.1f} ms"


def _ladder(persons: int) -> dict[str, float]:
    """All designs, households included; in a process of its own."""
    draw = np.random.default_rng(1)
    columns = _columns(_LADDER, persons)
    household = np.arange(persons) // 3
    for name, size in _LADDER.items():
        columns[name][draw.random(persons) < _NOT_STATED] = size
    before = peak_memory()
    start = time.perf_counter()
    for fraction, years in _DESIGNS:
        sampled = (draw.random(household[-1] + 1) < fraction)[household]
        keys = []
        for name, size in _LADDER.items():
            values, codes = columns[name], size
            if name == "age" and years > 1:
                codes = -(-size // years)
                values = np.where(values == size, codes, values // years).astype(np.uint8)
            kinds = (*[CodeKind.VALID] * codes, CodeKind.NOT_STATED)
            keys.append(KeyColumn(name=name, values=values, kinds=kinds))
        ladder_risk(keys, sampled, households=household)
    duration = time.perf_counter() - start
    return {"seconds": duration, "peak": peak_memory(), "before": before}


def measure(*, small: bool) -> list[Line]:
    """The figures for RESULTS.md."""
    scale = 10 if small else 1
    lines: list[Line] = []
    for records in (100_000, 1_000_000, 10_000_000):
        lines += _against_frames(records // scale)
    for persons in (_PERSONS // 10 // scale, _PERSONS // scale):
        figures = in_own_process("benchmarks.uniques", str(persons))
        promised = persons == _PERSONS
        duration, peak = figures["seconds"], figures["peak"] / 2**30
        lines += [
            Line(
                f"Ten keys, four designs, missing values, {persons / 1e6:g} million persons",
                f"{duration:.1f} s",
                "at most 60 s" if promised else "",
                duration <= 60 if promised else None,
            ),
            Line(
                "… memory at its peak",
                f"{peak:.2f} GB",
                "at most 3 GB" if promised else "",
                peak <= 3 if promised else None,
            ),
        ]
    return lines


if __name__ == "__main__":
    import sys

    print(json.dumps(_ladder(int(sys.argv[1]))))
