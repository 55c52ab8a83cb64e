"""Protecting ten million cells, against the cost of adding two arrays; and against a peer."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measure import Line, seconds
from benchmarks.peer import frame

_SECRET = bytes(range(32))


def cube(cells: int) -> Any:
    """A table of so many cells: half of them empty, most others small, as census tables are."""
    from sdcensus.model.cube.cube import Accumulators, Cube, Origin
    from sdcensus.model.schema.schema import KeySpace
    from sdcensus.model.schema.variable import Code, Entity, Variable
    from sdcensus.model.secret import Secret
    from sdcensus.model.spec.axis import make_axis
    from sdcensus.model.spec.table_spec import TableSpec

    draw = np.random.default_rng(20260301)
    side = round(cells**0.5)
    axes = []
    for name in ("area", "group"):
        codes = tuple(Code(str(at)) for at in range(side))
        variable = Variable(name=name, entity=Entity.PERSON, codes=codes)
        axes.append(make_axis(variable, [variable.level()], total=False))
    shape = (side, side)
    count = (draw.geometric(0.15, shape) - 1) * (draw.random(shape) < 0.6)
    key = draw.integers(0, 1 << 32, shape, dtype=np.uint32)
    key[count == 0] = 0
    spec = TableSpec(of=Entity.PERSON, axes=tuple(axes))
    origin = Origin(KeySpace(), Secret(_SECRET).id)
    return Cube(spec, origin, Accumulators(count.astype(np.int64), key))


def measure(cells: int = 10_000_000) -> list[Line]:
    """Time of each method over the time of adding two arrays of the same length."""
    import sdcensus as sc
    from sdcensus.model.secret import Secret

    secret = Secret(_SECRET)
    table = cube(cells)
    draw = np.random.default_rng(1)
    first, second = (draw.integers(0, 1_000, table.spec.cells) for _ in range(2))
    design = sc.perturbation.scheme("CP3(EU)")
    methods = [
        ("Cell key, ascending", sc.methods.CellKey(design, lookup="ascending"), 10),
        ("Cell key, scrambled", sc.methods.CellKey(design, secret, "scrambled"), 10),
        ("Cell key, hashed", sc.methods.CellKey(design, secret, "hashed"), 20),
        ("Cell key, by definition", sc.methods.CellKey(design, secret, "definition"), 30),
        ("Random rounding to base 3", sc.methods.RandomRounding(base=3), 10),
    ]
    adding = seconds(lambda: first + second)
    lines = [Line(f"Adding two int64 arrays of {table.spec.cells:,}", f"{adding * 1e3:.0f} ms")]
    for name, method, most in methods:
        took = seconds(lambda: method.protect(table))  # noqa: B023
        lines.append(
            Line(
                name,
                f"{took * 1e3:.0f} ms, {took / adding:.1f} times the addition",
                f"at most {most} times",
                took <= most * adding,
            )
        )
    return lines


def measure_peer() -> list[Line]:
    """The whole way from records to published counts, with identical keys and table."""
    from cell_key_perturbation.create_perturbed_table import create_perturbed_table
    from cell_key_perturbation.utils.generate_test_ptable import generate_ptable_10_5_rule

    import sdcensus as sc

    people, theirs = frame(), generate_ptable_10_5_rule()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "ptable.csv"
        theirs.to_csv(file, index=False)
        table = sc.perturbation.read(file, allow_bias=True)
    space = sc.census.KeySpace(modulus=table.modulus)
    census = sc.from_frame(people, key="record_key", key_space=space)
    method = sc.methods.CellKey(table, lookup="ascending")
    axes = ["area-total", "age-total", "sex-total"]

    def peer() -> Any:
        return create_perturbed_table(
            people, theirs, ["area"], ["age", "sex"], "record_key", threshold=0
        )

    def ours() -> Any:
        return method.protect(census.tabulate(*axes)).table

    whole, encoded = seconds(peer, repeats=5), seconds(ours)
    published = {cell.codes: cell.published for cell in ours().cells() if cell.published}
    expected = {
        (str(row["area"]), str(row["age"]), str(row["sex"])): int(row["count"])
        for row in peer().to_dict("records")
        if row["count"]
    }
    assert published == expected
    return [
        Line("cell-key-perturbation, counted and perturbed", f"{whole * 1e3:.0f} ms"),
        Line("sdcensus, the same numbers", f"{encoded * 1e3:.1f} ms"),
        Line("Faster", f"{whole / encoded:.0f} times", "at least 20", whole >= 20 * encoded),
    ]
