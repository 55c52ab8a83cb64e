"""Structural zeros: cells that cannot hold a record, by the schema's impossible combinations."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.variable import Variable
from sdcensus.model.spec.record_sets import leaves_of
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.model.spec.universe import Universe, universe_of

Mask = npt.NDArray[np.bool_]

#: Combinations of leaves that can be looked at one by one.
MOST_COMBINATIONS = 20_000_000


def structural_zeros(spec: TableSpec, schema: Schema) -> Mask:
    """For each cell of a table, whether it cannot hold a record.

    That is so where every combination of leaves behind the cell is impossible by the rules of the
    schema or lies outside the universe of the table, and where a code stands for no leaf. Rules
    are taken together, unless they have too many codes together; then one by one. A rule about two
    records forbids no cell.
    """
    rules = [universe_of(rule.when, schema) for rule in schema.impossible if rule.relation is None]
    sets = (
        [rules]
        if _codes([spec.universe, *rules]) <= MOST_COMBINATIONS
        else [[rule] for rule in rules]
    )
    empty = np.zeros(spec.shape, dtype=bool)
    for impossible in [[], *sets]:
        empty |= _covered(spec, impossible)
    for at, axis in enumerate(spec.axes):
        held = [leaves_of(axis, position).any() for position in range(len(axis.codes))]
        shape = [-1 if other == at else 1 for other in range(len(spec.axes))]
        empty |= ~np.array(held).reshape(shape)
    return empty


def _variables(universes: Sequence[Universe]) -> list[Variable]:
    named = {variable.name: variable for universe in universes for variable in universe.variables}
    return [named[name] for name in sorted(named)]


def _codes(universes: Sequence[Universe]) -> float:
    """How many combinations of leaves the variables of universes have."""
    return float(np.prod([len(variable.codes) for variable in _variables(universes)], dtype=float))


def _covered(spec: TableSpec, impossible: Sequence[Universe]) -> Mask:
    """Which cells lie outside the universe of a table or inside impossible ones."""
    if _codes([spec.universe, *impossible]) > MOST_COMBINATIONS:
        raise SpecError(
            f"{spec.title}: its condition and an impossible combination have too many codes"
            " together to say which cells must be empty. Keep empty cells as they are."
        )
    variables = _variables([spec.universe, *impossible])
    # Combinations that may occur in the table because no rule excludes them.
    possible = _over_leaves(spec.universe, variables)
    for universe in impossible:
        possible = possible & ~_over_leaves(universe, variables)
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
        codes = np.stack([leaves_of(axis, position) for position in range(len(axis.codes))])
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
    names = [variable.name for variable in universe.variables]
    shape = [len(variable.codes) if variable.name in names else 1 for variable in variables]
    full = tuple(len(variable.codes) for variable in variables)
    return np.broadcast_to(truth.reshape(shape), full)
