"""From the name of a method, and what is said about it, to a method that obeys the policy."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sdcensus.errors import Refused, SecretError, SpecError
from sdcensus.methods.method import Method
from sdcensus.model.cube.accumulators import Accumulators
from sdcensus.model.cube.cube import Cube, Origin
from sdcensus.model.method.parameter import Declaration, MethodOptions
from sdcensus.model.method.registry import Part, checked_options, load, takers_of
from sdcensus.model.perturbation.table import PerturbationTable
from sdcensus.model.policy.policy import Policy
from sdcensus.model.schema.entity import Entity
from sdcensus.model.schema.schema import Schema
from sdcensus.model.secret import Secret, SubSecret
from sdcensus.model.spec.table_spec import Measure, TableSpec
from sdcensus.session.census.census import Census
from sdcensus.session.census.load import SECRET_VARIABLE, find_secret


@dataclass(frozen=True, slots=True, repr=False)
class AskedOfCensus:
    """What a method is built from: what was said about it, the census, and the secret.

    Attributes:
        values: What was said, checked.
        census: The census whose tables are protected.
        of: What is counted in them.
        named: The secret or its file, if one was named.
    """

    values: Mapping[str, Any]
    census: Census
    of: Entity
    named: Path | Secret | SubSecret | None

    def __repr__(self) -> str:
        return f"<AskedOfCensus: {', '.join(self.values)}>"

    @property
    def schema(self) -> Schema:
        """Of the census."""
        return self.census.schema

    def secret(self, *, needed: bool = False) -> Secret | SubSecret | None:
        """The secret at hand, if one is given or its file is named, or if there must be one."""
        if isinstance(self.named, SubSecret):
            return self.named
        if needed or self.named is not None or os.environ.get(SECRET_VARIABLE):
            return find_secret(self.named)
        return None

    def office_secret(self, method: str) -> Secret:
        """The office secret itself, for a method that draws for more than look-ups."""
        if isinstance(self.named, SubSecret):
            raise SecretError(
                f"{method} draws for more than look-ups: it needs the office secret, not a secret"
                " for one purpose."
            )
        return find_secret(self.named)

    def tables(self, texts: Sequence[str]) -> list[TableSpec]:
        """Tables that are written as comma-separated axes."""
        axes = [[axis.strip() for axis in text.split(",") if axis.strip()] for text in texts]
        return [self.census.spec(*by, of=self.of) for by in axes]

    def perturbation(
        self, file: Path, *, allow_bias: bool, repeat: int | None
    ) -> PerturbationTable:
        """The perturbation table in a file."""
        from sdcensus.session.perturbation.tables import read

        return read(file, allow_bias=allow_bias, repeat=repeat)

    def of_taker(self, taker: Declaration) -> AskedOfCensus:
        """The same with what one of a method and its steps takes."""
        names = {parameter.name for parameter in taker.takes}
        values = {name: value for name, value in self.values.items() if name in names}
        return AskedOfCensus(values, self.census, self.of, self.named)


def build_method(
    name: str,
    census: Census,
    *,
    of: str | Entity = Entity.PERSON,
    then: Sequence[str] = (),
    options: MethodOptions | None = None,
    secret: str | Path | Secret | SubSecret | None = None,
) -> Method:
    """A method by its name, with the steps after it.

    Args:
        name: Of a method of this package, or of one that is installed.
        census: The census whose tables it shall protect.
        of: What is counted in them.
        then: Names of steps, in their order.
        options: What is said about the method and the steps; refused where it belongs to none.
        secret: The office secret or its file; else ``SDCENSUS_SECRET_FILE`` names it.
    """
    takers = takers_of(name, then)
    values = checked_options(name, then, options or MethodOptions())
    entity = of if isinstance(of, Entity) else Entity.parse(of)
    named = Path(secret) if isinstance(secret, str) else secret
    asked = AskedOfCensus(values, census, entity, named)
    method: Method = load(Part.METHOD, name).build(asked.of_taker(takers[0]))
    if not then:
        return method
    from sdcensus.methods.pipeline import Pipeline

    steps = [load(Part.STEP, taker.name).build(asked.of_taker(taker)) for taker in takers[1:]]
    return Pipeline(method, *steps)


def takes_option(name: str, then: Sequence[str], option: str) -> bool:
    """Whether a method, or a step after it, has an option.

    Examples:
        >>> takes_option("conventional-rounding", (), "key_version")
        False
    """
    return any(taker.parameter(option) is not None for taker in takers_of(name, then))


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
