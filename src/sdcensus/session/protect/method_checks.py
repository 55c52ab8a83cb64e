"""Methods made ready for a policy, and refused where they cannot protect a table."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from sdcensus.errors import Refused, SpecError
from sdcensus.methods.method import Method
from sdcensus.model.cube.cube import Accumulators, Cube, Origin
from sdcensus.model.policy.policy import Policy
from sdcensus.model.schema.variable import Entity
from sdcensus.model.spec.table_spec import Measure, TableSpec


def exempting(method: Method, policy: Policy) -> Method:
    """The same method, publishing exactly what the policy says is exact in every product.

    Raises:
        SpecError: The method changes every number.
        Refused: The policy is locked, and the method would publish more than it exactly.
    """
    if policy.lock:
        _refuse_further(method, policy)
    if not policy.exempt:
        return method
    exact = method.exempting(policy.exempt_specs())
    if exact is None:
        raise SpecError(
            f"The policy {policy.name!r} has totals that are published exactly in every product,"
            f" which the method {method.first.name!r} cannot. Take the method 'cell-key', or"
            " take [exempt] out of the policy."
        )
    return exact


def _refuse_further(method: Method, policy: Policy) -> None:
    """What is said about a method cannot loosen a locked policy."""
    known = {table.hash() for table in policy.exempt_specs()}
    further = [table.title for table in method.exempt_tables if table.hash() not in known]
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
