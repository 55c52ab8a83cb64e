"""From the name of a method, and what is said about it, to the method itself."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sdcensus.errors import SecretError
from sdcensus.methods.method import Method
from sdcensus.model.method.parameter import Declaration, MethodOptions
from sdcensus.model.method.registry import Part, checked_options, load, takers_of
from sdcensus.model.perturbation.table import PerturbationTable
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.variable import Entity
from sdcensus.model.secret import Secret, SubSecret
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.session.census.census import SECRET_VARIABLE, Census, find_secret


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
