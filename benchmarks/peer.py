"""Against the package cell-key-perturbation: a million rows, three axes."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.measure import Line, seconds

_AXES = ["area", "age", "sex"]


def frame(rows: int = 1_000_000) -> Any:
    """Records with text codes, as a survey file has them, and record keys below 256."""
    import pandas

    draw = np.random.default_rng(20260301)
    areas = np.array([f"E{at:04d}" for at in range(100)])
    ages = np.array([f"{at}" for at in range(0, 100, 5)])
    return pandas.DataFrame(
        {
            "area": areas[draw.integers(0, 100, rows)],
            "age": ages[draw.integers(0, 20, rows)],
            "sex": np.array(["1", "2"])[draw.integers(0, 2, rows)],
            "record_key": draw.integers(0, 256, rows),
        }
    )


def measure() -> list[Line]:
    from cell_key_perturbation.create_perturbed_table import create_perturbed_table
    from cell_key_perturbation.utils.generate_test_ptable import generate_ptable_10_5_rule

    import sdcensus as sc

    people = frame()
    table = generate_ptable_10_5_rule()
    space = sc.census.KeySpace(modulus=256)
    axes = [f"{name}-total" for name in _AXES]
    census = sc.from_frame(people, key="record_key", key_space=space)

    def whole_peer() -> Any:
        return create_perturbed_table(people, table, ["area"], ["age", "sex"], "record_key")

    def counting_peer() -> Any:
        grouped = people.groupby(_AXES, dropna=False)
        return grouped.size(), people.groupby(_AXES).agg(ckey=("record_key", "sum"))

    whole, counting = seconds(whole_peer, repeats=5), seconds(counting_peer, repeats=5)
    best = min(whole, counting)
    encoded = seconds(lambda: census.tabulate(*axes))
    with_encoding = seconds(
        lambda: sc.from_frame(people, key="record_key", key_space=space).tabulate(*axes)
    )
    _check_equal(census.tabulate(*axes), whole_peer())
    return [
        Line("cell-key-perturbation, whole call", f"{whole * 1e3:.0f} ms"),
        Line("… its two group-bys alone", f"{counting * 1e3:.0f} ms"),
        Line("sdcensus from encoded data", f"{encoded * 1e3:.1f} ms"),
        Line("sdcensus from the pandas frame, encoding included", f"{with_encoding * 1e3:.0f} ms"),
        Line(
            "Faster from encoded data than the better of the two",
            f"{best / encoded:.0f} times",
            "at least 20",
            best >= 20 * encoded,
        ),
        Line(
            "Faster from the frame than the better of the two",
            f"{best / with_encoding:.1f} times",
            "at least 2",
            best >= 2 * with_encoding,
        ),
    ]


def _check_equal(cube: Any, theirs: Any) -> None:
    found = {cell.codes: (cell.count, cell.key) for cell in cube.cells() if cell.count}
    expected = {
        (str(row.area), str(row.age), str(row.sex)): (int(row.pre_sdc_count), int(row.ckey))
        for row in theirs.itertuples()
        if row.pre_sdc_count
    }
    assert found == expected
