"""Tables as they stand on paper: numbers and labels become specifications, cubes and tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from sdcensus.model.cube.cube import Cube, Origin, finish
from sdcensus.model.published.table import Table
from sdcensus.model.schema.schema import KeySpace
from sdcensus.model.schema.variable import Code, CodeKind, Entity, Role, Variable
from sdcensus.model.spec.axis import make_axis
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.model.spec.universe import EVERYTHING, Universe
from sdcensus.model.text import Text


def printed_variable(
    name: str,
    labels: Sequence[str],
    *,
    role: Role | None = None,
    missing: Sequence[str] = (),
) -> Variable:
    """A variable of persons whose codes are their own labels."""
    kinds = [CodeKind.NOT_STATED if label in missing else CodeKind.VALID for label in labels]
    codes = tuple(
        Code(label, Text.of(label), kind) for label, kind in zip(labels, kinds, strict=True)
    )
    label = Text.of(name.replace("_", " ").capitalize())
    return Variable(name=name, entity=Entity.PERSON, codes=codes, role=role, label=label)


def printed_spec(
    *variables: Variable, name: str = "", universe: Universe = EVERYTHING
) -> TableSpec:
    """The table of persons by these variables, with all totals."""
    axes = tuple(make_axis(variable, [variable.level()], total=True) for variable in variables)
    return TableSpec(of=Entity.PERSON, axes=axes, universe=universe, name=name)


def printed_table(spec: TableSpec, numbers: Sequence[object] | npt.NDArray[np.int64]) -> Table:
    """The table with the numbers as they are printed, totals included, whether they add up or not.

    Numbers stand in the order of the axes, each with its total last.
    """
    return Table(spec, np.array(numbers, dtype=np.int64).reshape(spec.shape))


def printed_cube(spec: TableSpec, numbers: Sequence[object] | npt.NDArray[np.int64]) -> Cube:
    """A cube with these interior counts, without totals; totals are added, keys are 0."""
    counts = np.array(numbers, dtype=np.int64).reshape(spec.base_shape)
    sums = {"count": counts, "key": np.zeros(counts.shape, dtype=np.uint64)}
    return finish(spec, Origin(KeySpace()), sums)


def labels_of(spec: TableSpec, cells: npt.NDArray[np.uint64]) -> set[tuple[str, ...]]:
    """The labels of the codes of cells, in the order of the axes."""
    places = np.unravel_index(cells.astype(np.int64), spec.shape)
    words: list[Mapping[int, str]] = [
        {at: code.label.show() for at, code in enumerate(axis.codes)} for axis in spec.axes
    ]
    rows = zip(*(place.tolist() for place in places), strict=True)
    return {tuple(names[at] for names, at in zip(words, row, strict=True)) for row in rows}
