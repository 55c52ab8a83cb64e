"""What PRAM changes: a variable, or several together as one whose codes are combinations."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.microdata.method import Draws
from sdcensus.model.perturbation.transition_matrix import check_size
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.variable import Entity, Variable, smallest_width
from sdcensus.model.spec.universe import Universe, universe_of
from sdcensus.store.census_store import CensusStore

Integers = npt.NDArray[Any]
UInt64 = npt.NDArray[np.uint64]

#: What stands between the names of variables that change together, and between their codes.
TOGETHER, COMBINED = "+", "|"


@dataclass(frozen=True, slots=True)
class Target:
    """One or more variables of one kind of unit that change together.

    Attributes:
        variables: In the order of their names, so that a target has one name however it is said.
    """

    variables: tuple[Variable, ...]

    @property
    def name(self) -> str:
        """What settings and files call it: ``sex``, or ``marital+sex``."""
        return TOGETHER.join(variable.name for variable in self.variables)

    @property
    def entity(self) -> Entity:
        """The kind of unit that it describes."""
        return self.variables[0].entity

    @property
    def is_compound(self) -> bool:
        """Whether several variables change together."""
        return len(self.variables) > 1

    @property
    def codes(self) -> tuple[str, ...]:
        """Its codes; of several variables all combinations, ``1|0``."""
        parts = ([code.code for code in variable.codes] for variable in self.variables)
        return tuple(COMBINED.join(part) for part in itertools.product(*parts))

    @property
    def missing(self) -> tuple[bool, ...]:
        """For each code whether a value is missing in it."""
        parts = ([code.is_missing for code in variable.codes] for variable in self.variables)
        return tuple(any(part) for part in itertools.product(*parts))

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many codes each of its variables has."""
        return tuple(len(variable.codes) for variable in self.variables)

    @property
    def number(self) -> int:
        """What tells its draws apart from those of other targets.

        By its name, not by its place in the schema: a schema with a variable more gives the same
        draws for all others.
        """
        digest = hashlib.blake2b(self.name.encode(), digest_size=8, person=b"pram").digest()
        return int.from_bytes(digest, "little")

    def words(self, draws: Draws, digests: UInt64) -> UInt64:
        """The random words of records: by who they are about, and which target it is."""
        return draws.words(digests, self.number)

    def encoded(self, records: CensusStore) -> Integers:
        """The code of each record, as a position in ``codes``."""
        columns = [records.raw(self.entity, variable.name) for variable in self.variables]
        if len(columns) == 1:
            return columns[0]
        # One more than there are: the number of codes itself is multiplied with.
        width = smallest_width(len(self.codes) + 1)
        pairs = zip(columns[1:], self.sizes[1:], strict=True)

        def extended(high: Integers, pair: tuple[Integers, int]) -> Integers:
            low, size = pair
            return np.asarray(high * np.dtype(width).type(size) + low.astype(width))

        return reduce(extended, pairs, columns[0].astype(width))

    def decoded(self, codes: Integers) -> dict[str, Integers]:
        """The codes of each of its variables."""
        if not self.is_compound:
            return {self.name: codes}
        parts: dict[str, Integers] = {}
        left = codes
        for variable, size in zip(self.variables[::-1], self.sizes[::-1], strict=True):
            parts[variable.name] = (left % size).astype(smallest_width(size))
            left = left // size
        return parts


def targets_of(
    schema: Schema, variables: Sequence[str], together: Sequence[str]
) -> tuple[Target, ...]:
    """The targets that are named, each checked; those of several variables behind the others.

    Raises:
        SpecError: A variable does not exist, is named twice or cannot be changed.
    """
    named: list[tuple[str, ...]] = [(name,) for name in variables]
    for text in together:
        parts = tuple(part.strip() for part in text.replace(TOGETHER, ",").split(","))
        if len(parts) < 2:
            raise SpecError(
                f"--together {text} names one variable. Name those that change together, such as"
                f" --together {text},OTHER."
            )
        named.append(parts)
    if not named:
        raise SpecError(
            "pram needs --variables or --together: which variables change, such as --variables sex."
        )
    seen: set[str] = set()
    targets = []
    for names in named:
        for name in names:
            if name in seen:
                raise SpecError(
                    f"{name!r} is named twice. A variable changes once: name it in --variables, or"
                    " in one --together."
                )
            seen.add(name)
            _check(schema, schema.variable(name))
        chosen = tuple(schema.variable(name) for name in sorted(names))
        kinds = {variable.entity for variable in chosen}
        if len(kinds) > 1:
            listed = ", ".join(f"{each.name} ({each.entity.plural})" for each in chosen)
            raise SpecError(
                f"Variables that change together describe one kind of unit, and these do not:"
                f" {listed}."
            )
        target = Target(chosen)
        check_size(int(np.prod(target.sizes, dtype=object)), repr(target.name))
        if len(set(target.codes)) < len(target.codes):
            raise SpecError(
                f"Combinations of the codes of {target.name} cannot be told apart, because codes"
                f" hold {COMBINED!r}. Name these variables one by one."
            )
        targets.append(target)
    return tuple(targets)


def _check(schema: Schema, variable: Variable) -> None:
    """Refuse variables whose codes cannot change on their own."""
    name = variable.name
    reason = ""
    if schema.geography is not None and name == schema.geography.name:
        reason = "is where units are counted. Households move by --how geographic."
    elif variable.continuous:
        reason = (
            "is an amount, and PRAM changes codes: the amount would contradict them. Name variables"
            " with codes only."
        )
    elif not variable.is_axis:
        reason = "has no codes that could change. Name a variable of tables."
    elif variable.counts is not None:
        reason = (
            f"says how many {variable.counts.plural} a {variable.entity} holds, and its records"
            " would contradict it. Leave it out."
        )
    else:
        identity = identity_with(schema, name)
        if identity:
            reason = (
                f"decides an identity that the schema declares ({identity}), which would not hold"
                " any more. Leave it out, or take the identity out of the schema."
            )
    if reason:
        raise SpecError(f"{name!r} {reason}")


def identity_with(schema: Schema, name: str) -> str:
    """The condition of an identity between units that a variable decides, if there is one."""
    return next((text for text, _ in identities_with(schema, name)), "")


def identities_with(schema: Schema, name: str) -> Iterator[tuple[str, Universe]]:
    """The conditions of all identities between units that a variable decides."""
    for identity in schema.identities:
        if identity.when:
            when = universe_of(identity.when, schema)
            if any(variable.name == name for variable in when.variables):
                yield identity.when, when


def by_name(targets: Sequence[Target]) -> Mapping[str, Target]:
    """Targets by what settings call them."""
    return {target.name: target for target in targets}
