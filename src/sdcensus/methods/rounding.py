"""Random rounding and conventional rounding: every count becomes a multiple of a base."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, replace
from enum import StrEnum
from typing import Any, ClassVar

import numpy as np

from sdcensus.errors import SpecError
from sdcensus.kernels.perturbation.lookup import DEFINED, HASHED, effective_keys
from sdcensus.kernels.perturbation.rounding import round_by_key, round_to_nearest
from sdcensus.methods.listed_cells import ListedCells
from sdcensus.methods.look_up import (
    LOOKUP,
    SET_KEYS,
    check_lookup,
    definitions_of,
    key_multiplier,
    multiplied,
)
from sdcensus.methods.method import (
    KEY_VERSION,
    AnySecret,
    CellMethod,
    Int64,
    MethodKind,
    MethodOutcome,
    Numbers,
    UInt32,
    check_key_version,
    check_secret,
    member,
)
from sdcensus.methods.perturbation.schemes import SCHEMES
from sdcensus.model.cube.cube import Accumulators, Origin
from sdcensus.model.cube.sparse_cube import AnyCube
from sdcensus.model.method.parameter import Asked, Parameter, ValueKind
from sdcensus.model.perturbation.table import Lookup
from sdcensus.model.published.claims import Claims
from sdcensus.model.published.protected import Audit
from sdcensus.model.schema.schema import LARGEST_MODULUS
from sdcensus.model.secret import Purpose
from sdcensus.model.sentences import sentence
from sdcensus.model.spec.table_spec import TableSpec

SMALLEST_BASE, LARGEST_BASE = 2, 100


#: Within so many standard errors of the mean lie nine in ten draws.
_NINE_IN_TEN = 1.645


def repetitions_to_know(base: int) -> int:
    """About how many independent draws make nine in ten counts known, at the worst remainder.

    A draw of a count with remainder r has the variance r (base - r); the count is known where the
    mean is nearer to it than to its neighbours.

    Examples:
        >>> repetitions_to_know(3), repetitions_to_know(5)
        (22, 65)
    """
    largest = (base // 2) * (base - base // 2)
    return round(largest * (_NINE_IN_TEN / 0.5) ** 2)


def base_parameter(default: int) -> Parameter:
    """What results are multiples of."""
    return Parameter(
        "base",
        ValueKind.WHOLE,
        "Rounding: to multiples of this number.",
        least=SMALLEST_BASE,
        most=LARGEST_BASE,
        default=default,
    )


class Draw(StrEnum):
    """Where random rounding takes its chance from.

    ``fixed``: from the cell key, so that the same records always give the same number.
    ``independent``: anew for every cell of every table, as offices once did. For comparison only.
    """

    FIXED = "fixed"
    INDEPENDENT = "independent"


class TieRule(StrEnum):
    """Where a count goes that lies in the middle between two multiples of an even base.

    ``half-even-multiple``: to the one that is an even number of times the base. ``up``: up.
    """

    HALF_EVEN_MULTIPLE = "half-even-multiple"
    UP = "up"


@dataclass(frozen=True, slots=True, repr=False)
class RandomRounding(CellMethod):
    """Every count becomes the multiple of the base below or above it, at random and unbiased.

    A count with the remainder ``r`` goes up with the probability ``r / base``; multiples stay.

    Attributes:
        base: What results are multiples of, 2 to 100.
        draw: From the cell key, or anew every time (not for publication).
        generator: The source of independent draws; the system's by default.
        lookup: ``ascending``: the smaller keys go down. ``hashed``: a keyed hash of the cell key
            takes its place; ``definition``: one of the cell key and of what the cell asks. Both
            need the secret.
        secret: The office secret, or the part of it for look-ups.
        key_version: The version of the series of published numbers.
    """

    base: int = 3
    _: KW_ONLY
    draw: Draw | str = Draw.FIXED
    generator: np.random.Generator | None = None
    lookup: Lookup | str = Lookup.ASCENDING
    secret: AnySecret | None = None
    key_version: int = 1

    name: ClassVar[str] = "random-rounding"
    kind: ClassVar[MethodKind] = MethodKind.ROUNDS
    summary: ClassVar[str] = "Every count becomes the multiple below or above it, at random."
    takes: ClassVar[tuple[Parameter, ...]] = (
        base_parameter(3),
        replace(LOOKUP, words=tuple(word.value for word in Lookup if word is not Lookup.SCRAMBLED)),
        KEY_VERSION,
    )

    @classmethod
    def build(cls, asked: Asked) -> RandomRounding:
        """The method with what somebody said about it."""
        return cls(secret=asked.secret(), **asked.values)

    def __post_init__(self) -> None:
        check_base(self.base)
        check_secret(self.secret, type(self).__name__)
        check_key_version(self.key_version)
        object.__setattr__(self, "draw", member(Draw, "draw", self.draw))
        object.__setattr__(self, "lookup", rounding_lookup(self.lookup))
        if self.lookup is not Lookup.ASCENDING and self.draw is Draw.INDEPENDENT:
            raise SpecError("Independent draws look no key up; leave the look-up out.")
        check_lookup(Lookup(self.lookup), self.secret, self.key_version)
        if self.generator is not None:
            if self.draw is Draw.FIXED:
                raise SpecError(
                    "A generator is for independent draws. Leave it out, or take"
                    " draw='independent'."
                )
            if not isinstance(self.generator, np.random.Generator):
                raise SpecError("The generator of independent draws is a numpy.random.Generator.")

    def __repr__(self) -> str:
        return f"<RandomRounding to multiples of {self.base}, {self.draw}: other parameters hidden>"

    @property
    def largest_deviation(self) -> int | None:
        """One less than the base."""
        return self.base - 1

    @property
    def variance(self) -> float | None:
        """The mean of r (base - r) over the remainders r."""
        return (self.base**2 - 1) / 6

    @property
    def scheme(self) -> str | None:
        """The scheme of that base."""
        return f"RR{self.base}" if f"RR{self.base}" in SCHEMES else None

    def parameters(self) -> Mapping[str, object]:
        """Everything that decides the published numbers; confidential."""
        return {"base": self.base, "draw": str(self.draw), "lookup": str(self.lookup)}

    def claims(self) -> Claims:
        """What the published numbers are promised to be."""
        fixed = self.draw is Draw.FIXED
        cautions = [sentence("cautions.totals_rounded")]
        if not fixed:
            cautions.append(sentence("cautions.draws_anew", n=repetitions_to_know(self.base)))
        elif Lookup(self.lookup).is_set_key:
            cautions.append(SET_KEYS)
        return Claims(
            unbiased=True,
            bounded=True,
            zeros_kept=True,
            never_negative=True,
            blocked_counts_never_appear=True,
            consistent=fixed,
            by_definition=fixed and not Lookup(self.lookup).is_set_key,
            distribution=True,
            takes_sparse=True,
            for_publication=fixed,
            cautions=tuple(cautions),
        )

    def publish(
        self,
        cells: Accumulators,
        spec: TableSpec,
        origin: Origin,
        listed: ListedCells | None = None,
    ) -> MethodOutcome:
        """Round every cell on its own."""
        if self.draw is Draw.FIXED:
            return MethodOutcome(self._by_key(cells, spec, origin, listed))
        generator = self.generator
        if generator is None:
            generator = np.random.default_rng(secrets.randbits(128))
        drawn = generator.integers(LARGEST_MODULUS, size=cells.count.shape, dtype=np.uint32)
        # A table of one cell is an array without axes, for which numpy draws a bare number.
        keys = np.asarray(drawn, dtype=np.uint32)
        return MethodOutcome(round_by_key(cells.count, keys, self.base, LARGEST_MODULUS))

    def _by_key(
        self, cells: Accumulators, spec: TableSpec, origin: Origin, listed: ListedCells | None
    ) -> Int64:
        if Lookup(self.lookup).has_own_keys:
            return round_by_key(
                cells.count,
                cells.key,
                self.base,
                LARGEST_MODULUS,
                **self._hashing(spec, origin, listed),
            )
        keys = self._of_version(cells.key, origin)
        return rounded_by_cell_key(cells.count, keys, self.base, origin)

    def _hashing(
        self, spec: TableSpec, origin: Origin, listed: ListedCells | None
    ) -> dict[str, Any]:
        """How the keys that decide are made by a hash, as the kernels take it."""
        if self.secret is None:  # refused when it was built
            return {}
        hash_key = self.secret.sub_key(Purpose.LOOKUP, self.key_version)
        if self.lookup is Lookup.HASHED:
            return {"rule": HASHED, "hash_key": hash_key}
        definition = definitions_of(spec, origin, listed)
        return {"rule": DEFINED, "hash_key": hash_key, "definition": definition}

    def _of_version(self, key: UInt32, origin: Origin) -> UInt32:
        modulus = origin.key_space.modulus
        return multiplied(key, key_multiplier(modulus, self.secret, self.key_version), modulus)

    def audit(self, cube: AnyCube) -> Audit:
        """Independent draws leave no key behind with which they could be replayed."""
        if self.draw is Draw.INDEPENDENT:
            return Audit(cube)
        spec, origin = cube.spec, cube.origin

        def keys_of(key: UInt32, numbers: Numbers) -> UInt32:
            if not Lookup(self.lookup).has_own_keys:
                return self._of_version(key, origin)
            return effective_keys(key, **self._hashing(spec, origin, ListedCells(numbers)))

        return Audit(cube, keys_of)


@dataclass(frozen=True, slots=True, repr=False)
class ConventionalRounding(CellMethod):
    """Every count becomes the nearest multiple of the base. For presentation, not for protection.

    Attributes:
        base: What results are multiples of, 2 to 100.
        tie: Where a count in the middle goes; only an even base has such counts.
    """

    base: int = 5
    _: KW_ONLY
    tie: TieRule | str = TieRule.HALF_EVEN_MULTIPLE

    name: ClassVar[str] = "conventional-rounding"
    kind: ClassVar[MethodKind] = MethodKind.ROUNDS
    summary: ClassVar[str] = "Every count becomes the nearest multiple. It draws nothing."
    takes: ClassVar[tuple[Parameter, ...]] = (base_parameter(5),)
    shows_truth: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_base(self.base)
        object.__setattr__(self, "tie", member(TieRule, "rule for ties", self.tie))

    def __repr__(self) -> str:
        return f"<ConventionalRounding to multiples of {self.base}, ties {self.tie}>"

    @property
    def largest_deviation(self) -> int | None:
        """Half of the base."""
        return self.base // 2

    def parameters(self) -> Mapping[str, object]:
        """Everything that decides the published numbers."""
        return {"base": self.base, "tie": str(self.tie)}

    def claims(self) -> Claims:
        """What the published numbers are promised to be."""
        return Claims(
            bounded=True,
            zeros_kept=True,
            never_negative=True,
            blocked_counts_never_appear=True,
            consistent=True,
            takes_sparse=True,
            cautions=(
                sentence("cautions.one_table"),
                sentence("cautions.totals_rounded"),
            ),
        )

    def publish(
        self,
        cells: Accumulators,
        spec: TableSpec,
        origin: Origin,
        listed: ListedCells | None = None,
    ) -> MethodOutcome:
        """Round every cell on its own."""
        return MethodOutcome(
            round_to_nearest(cells.count, self.base, ties_up=self.tie is TieRule.UP)
        )

    def audit(self, cube: AnyCube) -> Audit:
        """True counts; no key was used."""
        return Audit(cube)


def rounded_by_cell_key(
    count: Int64, key: UInt32, base: int, origin: Origin, *, below: int | None = None
) -> Int64:
    """Counts rounded at random by their cell keys; those from ``below`` on stay."""
    modulus = origin.key_space.modulus
    if modulus < base:
        raise SpecError(
            f"Counts cannot be rounded to multiples of {base} with {modulus} keys. Take a smaller"
            " base, or load the census with more keys ([keys] modulus)."
        )
    return round_by_key(count, key, base, modulus, below=below)


def check_base(base: object) -> None:
    """Refuse what is no base of rounding."""
    if type(base) is not int or not SMALLEST_BASE <= base <= LARGEST_BASE:
        raise SpecError(
            f"The base of rounding is a whole number from {SMALLEST_BASE} to {LARGEST_BASE}."
        )


def rounding_lookup(lookup: Lookup | str) -> Lookup:
    """The look-up of that name, if rounding has it."""
    chosen = member(Lookup, "look-up", lookup)
    if chosen is None or chosen is Lookup.SCRAMBLED:
        raise SpecError("Rounding has the look-ups 'ascending', 'hashed' and 'definition'.")
    return chosen
