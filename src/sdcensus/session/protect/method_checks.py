"""Methods made ready for a policy, and refused where they cannot protect a table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from sdcensus.errors import Refused, SpecError
from sdcensus.methods.cell_key import CellKey
from sdcensus.methods.method import Method
from sdcensus.methods.pipeline import Pipeline
from sdcensus.model.cube.accumulators import Accumulators
from sdcensus.model.cube.cube import Cube, Origin
from sdcensus.model.policy.policy import Policy
from sdcensus.model.schema.entity import Entity
from sdcensus.model.spec.table_spec import Measure, TableSpec


def exempting(method: Method, policy: Policy) -> Method:
    """The same method, publishing exactly what the policy says is exact in every product.

    Raises:
        SpecError: The method changes every number.
        Refused: The policy is locked, and the method would publish more than it exactly.
    """
    if isinstance(method, Pipeline):
        return Pipeline(exempting(method.first, policy), *method.steps)
    if policy.lock and isinstance(method, CellKey):
        _refuse_further(method, policy)
    if not policy.exempt:
        return method
    if not isinstance(method, CellKey):
        raise SpecError(
            f"The policy {policy.name!r} has totals that are published exactly in every product,"
            f" which the method {method.described_name!r} cannot. Take the method 'cell-key', or"
            " take [exempt] out of the policy."
        )
    own = (method.exempt,) if isinstance(method.exempt, TableSpec) else tuple(method.exempt)
    known = {one.hash() for one in own}
    more = [one for one in policy.exempt_specs() if one.hash() not in known]
    return replace(method, exempt=(*own, *more))


def _refuse_further(method: CellKey, policy: Policy) -> None:
    """What is said about a method cannot loosen a locked policy."""
    known = {one.hash() for one in policy.exempt_specs()}
    own = (method.exempt,) if isinstance(method.exempt, TableSpec) else tuple(method.exempt)
    further = [one.title for one in own if one.hash() not in known]
    if further:
        raise Refused(
            f"The policy {policy.name!r} is locked, and would be looser: {', '.join(further)} would"
            " be published exactly. Take 'exempt' out, or have it decided in [exempt] of the"
            " policy."
        )


def check_methods(
    specs: Sequence[TableSpec], origin: Origin, method: Callable[[Entity], Method]
) -> None:
    """Refuse tables that their method will not protect, and keys of another secret.

    Args:
        specs: The tables.
        origin: Where their numbers will come from.
        method: Gives the method for what is counted.
    """
    for spec in specs:
        # One zero for all cells: methods look at what a cube is before they look at its numbers.
        nothing = np.broadcast_to(np.zeros((), dtype=np.int64), spec.shape)
        keys = np.broadcast_to(np.zeros((), dtype=np.uint32), spec.shape)
        weight = nothing if spec.measure is Measure.WEIGHTED else None
        method(spec.of).check(Cube(spec, origin, Accumulators(nothing, keys, weight)))
