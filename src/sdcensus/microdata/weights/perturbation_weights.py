"""Household weights of 0, 1, 2 and 3 that leave every expected total as it was."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from sdcensus.errors import Sentence, SpecError
from sdcensus.kernels.records.weights import drawn_weights, held_counts
from sdcensus.microdata.method import Changes, Draws, Fact, FactTable
from sdcensus.microdata.weights.products import MultipliedWeights, multiplied
from sdcensus.microdata.weights.strata import USUAL_SIZES, WHOLE, Strata, strata_of
from sdcensus.model.confidential import Confidential
from sdcensus.model.method.parameter import Parameter, ValueKind
from sdcensus.model.progress import Progress
from sdcensus.model.schema.variable import Entity
from sdcensus.model.secret import Purpose
from sdcensus.model.sentences import sentence
from sdcensus.store.census_store import CensusStore

Integers = npt.NDArray[Any]

#: For each choice of weights, how many parts of the changed units weigh 0, 2 and 3; and the
#: variance of a weight of which one unit in one is changed. The mean is 1 in both.
_CHOICES: dict[str, tuple[tuple[int, int, int], Fraction]] = {
    "0,1,2,3": ((3, 1, 1), Fraction(8, 5)),
    "0,1,3": ((2, 0, 1), Fraction(2)),
}
#: Sizes of tables for which the office is told the error that the weights add.
_SIZES = (10, 100, 1_000, 10_000, 100_000)
_MOST_STRATA_NAMED = 3

STRATUM_PARAMETERS = (
    Parameter("of", ValueKind.UNITS, "The units that are weighed.", default="households"),
    Parameter(
        "level",
        ValueKind.TEXT,
        f"The level of areas of the strata; the finest if not given, or {WHOLE}.",
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PerturbationWeights(Confidential):
    """Gives units weights of 0, 1, 2 and 3 whose mean is 1, by strata of area and size.

    A unit is changed with probability 1/a: it then weighs 0 with probability 3/5, and 2 or 3 with
    1/5 each, so that the mean of a weight is 1 and its variance 1.6/a. They multiply the weights
    that the census has; persons have the weight of their household.

    Attributes:
        one_in: One unit in so many is changed: a.
        changed: How many units of each stratum are changed on average; a is their number divided
            by it.
        of: The units that are weighed; households if not given.
        level: The level of areas of the strata; ``total`` for none, the finest if not given.
        sizes: The classes of sizes of the strata.
        weights: Which weights there are.
        small_strata: What is done about strata in which less than one unit would be changed, or
            more than there are.
    """

    one_in: float | None = None
    changed: float | None = None
    of: str = "households"
    level: str = ""
    sizes: str = ""
    weights: str = "0,1,2,3"
    small_strata: str = "refuse"

    name: ClassVar[str] = "perturbation-weights"
    version: ClassVar[int] = 1
    summary: ClassVar[str] = "Give households weights of 0, 1, 2 or 3 that are 1 on average."
    purpose: ClassVar[Purpose | None] = Purpose.WEIGHTS
    takes: ClassVar[tuple[Parameter, ...]] = (
        Parameter(
            "one_in",
            ValueKind.NUMBER,
            "One household in so many gets another weight than 1; at least 1. Confidential.",
            least=1,
            excludes=("changed",),
        ),
        Parameter(
            "changed",
            ValueKind.NUMBER,
            "Instead: how many households of each stratum are changed, on average. Confidential.",
        ),
        *STRATUM_PARAMETERS,
        Parameter(
            "sizes",
            ValueKind.TEXT,
            f"Classes of household sizes of the strata, {USUAL_SIZES} if not given, or 1,2,3+.",
        ),
        Parameter(
            "weights",
            ValueKind.WORD,
            "The weights that there are.",
            words=tuple(_CHOICES),
            default="0,1,2,3",
        ),
        Parameter(
            "small_strata",
            ValueKind.WORD,
            "Strata that are too small for what is asked: refuse, or accept (fewer are changed, or"
            " all of them).",
            words=("refuse", "accept"),
            default="refuse",
        ),
    )

    def __repr__(self) -> str:
        return "<PerturbationWeights: confidential>"

    @property
    def variance(self) -> Fraction:
        """The variance that one changed unit adds to a table."""
        return _CHOICES[self.weights][1]

    def derive(self, records: CensusStore, draws: Draws | None, progress: Progress) -> Changes:
        """Draw a weight for each unit, and multiply the weights of the census by them."""
        assert draws is not None
        progress("putting units into strata", 0.0)
        strata = self.strata(records)
        progress("drawing weights", 0.3)
        factor = self.drawn(records, strata, draws)
        progress("multiplying weights", 0.7)
        products = multiplied(records, strata.unit, factor)
        return Changes(
            amounts=products.amounts,
            added=products.added,
            weights_only=True,
            figures={"households weighed anew": int(np.count_nonzero(factor != 1))}
            if strata.unit is Entity.HOUSEHOLD
            else {f"{strata.unit.plural} weighed anew": int(np.count_nonzero(factor != 1))},
            facts=(
                self._strata_facts(strata, factor),
                self._error_facts(strata),
            ),
            notes=alone_notes(strata.unit, products),
        )

    def foresee(
        self, records: CensusStore, draws: Draws | None, progress: Progress
    ) -> tuple[FactTable, ...]:
        """Strata, how many units will be changed, and the error that tables get."""
        progress("putting units into strata", 0.0)
        strata = self.strata(records)
        return self._strata_facts(strata, None), self._error_facts(strata)

    def strata(self, records: CensusStore) -> Strata:
        """The strata, after a check that they can have what is asked for."""
        unit = weighed_unit(records, self.of)
        if (self.one_in is None) == (self.changed is None):
            raise SpecError(
                "Say how many households are changed: --one-in N (one in so many), or --changed N"
                " (so many in each stratum)."
            )
        if self.one_in is not None and self.one_in < 1:
            raise SpecError("--one-in should be at least 1: with 1, every household is changed.")
        if self.changed is not None and self.changed <= 0:
            raise SpecError("--changed should be above 0, such as 2.")
        strata = strata_of(records, unit, self.level, self.sizes)
        if self.small_strata == "refuse":
            self._refuse_small(records, strata)
        return strata

    def drawn(self, records: CensusStore, strata: Strata, draws: Draws) -> Integers:
        """The weight of each unit: a function of who it is, of its stratum and of the secret."""
        # Weights on top of weights must not be the same draws again: their mean would not be 1.
        earlier = sum(step.method == self.name for step in records.manifest.lineage)
        words = draws.words(records.digests(strata.unit), earlier)
        parts, _ = _CHOICES[self.weights]
        return drawn_weights(words, strata.number, self._units(strata), np.array(parts))

    def _chance(self, size: int) -> Fraction:
        """How likely a unit of a stratum of that size is changed: 1/a."""
        if self.one_in is not None:
            return 1 / Fraction(str(self.one_in))
        return min(Fraction(1), Fraction(str(self.changed)) / max(size, 1))

    def _units(self, strata: Strata) -> npt.NDArray[np.uint64]:
        """For each stratum the width of one part of the changed units among 2**64 words."""
        parts = sum(_CHOICES[self.weights][0])
        sizes, at = np.unique(strata.sizes, return_inverse=True)
        widths = []
        for size in sizes.tolist():
            chance = self._chance(size)
            widths.append((chance.numerator << 64) // (chance.denominator * parts))
        return np.array(widths, dtype=np.uint64)[at.reshape(-1)]

    def _refuse_small(self, records: CensusStore, strata: Strata) -> None:
        asked = self.changed if self.one_in is None else self.one_in
        assert asked is not None
        least = math.ceil(Fraction(str(asked)))
        small = np.flatnonzero((strata.sizes > 0) & (strata.sizes < least))
        if not small.size:
            return
        geography = records.schema.geography
        named = []
        for number in small[:_MOST_STRATA_NAMED].tolist():
            area, size = divmod(number, len(strata.labels))
            place = ""
            if geography is not None and strata.area is not None:
                place = geography.level(strata.level).codes[area].code
            label = strata.labels[size] and f"size {strata.labels[size]}"
            named.append(" ".join(part for part in (place, label) if part))
        option = "--changed" if self.one_in is None else "--one-in"
        raise SpecError(
            f"{small.size:,} strata have fewer than {least} {strata.unit.plural}, which {option}"
            f" {asked:g} asks for, such as {', '.join(named) or 'the whole country'}. Take larger"
            f" areas (--level, or --level {WHOLE}), fewer classes (--sizes 1,2,3+) or a smaller"
            f" {option}; or say --small-strata accept: then"
            + (
                " all households of such strata are changed."
                if self.one_in is None
                else " often none of such a stratum is changed."
            )
        )

    def _expected(self, strata: Strata) -> Integers:
        """For each stratum how many units are changed on average."""
        sizes, at = np.unique(strata.sizes, return_inverse=True)
        expected = np.array([float(size * self._chance(size)) for size in sizes.tolist()])
        return expected[at.reshape(-1)]

    def _strata_facts(self, strata: Strata, factor: Integers | None) -> FactTable:
        heads = ["size", "strata", "units", "expected"]
        if factor is not None:
            heads += ["drawn", "none", "twice", "thrice"]
        expected, classes = self._expected(strata), strata.classes
        drawn = np.zeros((len(strata.labels), 4), dtype=np.int64)
        if factor is not None:
            both = strata.size_class.astype(np.uint32) * np.uint32(4) + factor
            drawn = held_counts(both, drawn.size).reshape(drawn.shape)
        lines: list[tuple[Fact, ...]] = []
        for number, label in enumerate(strata.labels):
            own = classes == number
            sizes = strata.sizes[own]
            if not sizes.sum():
                continue
            line: list[Fact] = [label or sentence("weigh.all_sizes"), int(np.count_nonzero(sizes))]
            line += [int(sizes.sum()), round(float(expected[own].sum()), 1)]
            if factor is not None:
                none, _one, two, three = drawn[number].tolist()
                line += [none + two + three, none, two, three]
            lines.append(tuple(line))
        return FactTable(
            name="weights-strata",
            title=sentence("weigh.strata.title", level=strata.level),
            headings=tuple(sentence(f"weigh.strata.{head}") for head in heads),
            rows=tuple(lines),
            note=sentence("weigh.strata.note"),
        )

    def _error_facts(self, strata: Strata) -> FactTable:
        units, expected = int(strata.sizes.sum()), float(self._expected(strata).sum())
        share = expected / units if units else 0.0
        errors = [math.sqrt(float(self.variance) * share * size) for size in _SIZES]
        return error_table(list(zip(_SIZES, errors, strict=True)), strata.unit)


def error_table(errors: Sequence[tuple[int, float]], unit: Entity) -> FactTable:
    """What a method adds to the standard error of cells of a size."""
    return FactTable(
        name="weights-errors",
        title=sentence("weigh.errors.title"),
        headings=tuple(sentence(f"weigh.errors.{head}") for head in ("units", "error", "share")),
        rows=tuple((size, round(error, 2), round(error / size, 4)) for size, error in errors),
        note=sentence("weigh.errors.note"),
    )


def weighed_unit(records: CensusStore, of: str) -> Entity:
    """The kind of unit that is weighed; refuses one that the census has not."""
    unit = Entity.parse(of)
    kinds = [spec.entity for spec in records.schema.entities]
    if unit not in kinds:
        known = ", ".join(kind.plural for kind in kinds)
        raise SpecError(
            f"The census has no {unit.plural} that could be weighed. Say --of with one of: {known}."
        )
    if not records.rows(unit):
        raise SpecError(f"The store holds no {unit.plural}, so nothing can be weighed.")
    return unit


def alone_notes(unit: Entity, products: MultipliedWeights) -> tuple[Sentence, ...]:
    """What the office is told about persons that lie in none of the units."""
    notes = [sentence("weigh.only_weighted")]
    if products.alone:
        notes.append(sentence("weigh.alone", n=products.alone))
    return tuple(notes)
