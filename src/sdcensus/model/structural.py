"""Structural zeros: cells that cannot hold a record, by the schema's impossible combinations."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.model.record_sets import leaves_of
from sdcensus.model.schema import Schema
from sdcensus.model.table_spec import TableSpec
from sdcensus.model.universe import LARGEST_TRUTH_TABLE, Universe, universe_of
from sdcensus.model.variable import Variable

Mask = npt.NDArray[np.bool_]


def structural_zeros(spec: TableSpec, schema: Schema) -> Mask:
    """For each cell of a table, whether the schema says that it is empty.

    That is so where every combination of leaves behind the cell is impossible by one rule, or
    outside the universe of the table.
    """
    empty = np.zeros(spec.shape, dtype=bool)
    for rule in schema.impossible:
        empty |= _covered(spec, universe_of(rule.when, schema))
    return empty


def _covered(spec: TableSpec, impossible: Universe) -> Mask:
    """Which cells lie inside an impossible universe."""
    named = {one.name: one for one in (*impossible.variables, *spec.universe.variables)}
    variables = [named[name] for name in sorted(named)]
    sizes = [len(one.codes) for one in variables]
    if np.prod(sizes, dtype=float) > 100 * LARGEST_TRUTH_TABLE:
        raise SpecError(
            f"{spec.title}: its condition and an impossible combination have too many codes"
            " together to say which cells must be empty. Keep empty cells as they are."
        )
    # Leaves that may occur in the table although the rule does not exclude them.
    possible = _over_leaves(spec.universe, variables) & ~_over_leaves(impossible, variables)
    shape = [1] * len(spec.axes)
    kept: list[int] = []
    places = {axis.variable.name: at for at, axis in enumerate(spec.axes)}
    for variable in reversed(variables):
        last = possible.ndim - 1 - len(kept)
        at = places.get(variable.name)
        if at is None:
            possible = np.asarray(possible.any(axis=last))
            continue
        axis = spec.axes[at]
        codes = np.stack([leaves_of(axis, one) for one in range(len(axis.codes))])
        grouped = np.tensordot(possible.astype(np.int64), codes.T.astype(np.int64), (last, 0)) > 0
        possible = np.moveaxis(grouped, -1, last)
        shape[at] = len(axis.codes)
        kept.insert(0, at)
    order = np.argsort(kept)
    return np.broadcast_to(~possible.transpose(order).reshape(shape), spec.shape)


def _over_leaves(universe: Universe, variables: list[Variable]) -> Mask:
    """The truth of a universe for every combination of leaves of these variables."""
    truth = universe.truth
    for axis, classes in enumerate(universe.classes):
        truth = np.take(truth, classes, axis=axis)
    names = [one.name for one in universe.variables]
    shape = [len(one.codes) if one.name in names else 1 for one in variables]
    full = tuple(len(one.codes) for one in variables)
    return np.broadcast_to(truth.reshape(shape), full)
