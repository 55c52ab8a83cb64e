"""The named schemes of the literature, and four strengths in plain words.

CP stands for cell perturbation, RR for random rounding; the number is the largest deviation, or
the base. The schemes are those that the study of ECLAC (2020) on census tables compares. It gives
the parameters of CP1, CP3 and CP3(1,2) and of the rounding rules; those of CP2, CP3(EU) and CP4
follow from the results that it prints, and are the values that agree best with them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from types import MappingProxyType

from sdcensus.methods.perturbation.design import design_perturbation
from sdcensus.model.method.parameter import named
from sdcensus.model.perturbation.design import DesignRow, PerturbationDesign
from sdcensus.model.perturbation.table import Tail


@dataclass(frozen=True, slots=True)
class Strength:
    """How strongly tables are protected, in plain words.

    Attributes:
        name: Of the strength.
        scheme: The scheme behind it.
        sentence: What a count may become.
    """

    name: str
    scheme: str
    sentence: str


def scheme(name: str) -> PerturbationDesign:
    """A scheme by its name, however it is spelled.

    Examples:
        >>> scheme("cp3-eu")
        <PerturbationDesign CP3(EU) with 4 rows: confidential>
        >>> scheme("RR3").targets(4)
        array([3, 6])
    """
    return _made(named("scheme", name, SCHEMES))


def strength(name: str) -> PerturbationDesign:
    """The scheme behind a strength.

    Examples:
        >>> strength("light")
        <PerturbationDesign CP3(EU) with 4 rows: confidential>
    """
    return scheme(STRENGTHS[named("strength", name, STRENGTHS)].scheme)


def random_rounding(base: int) -> PerturbationDesign:
    """Counts become one of the two nearest multiples of a base, the nearer one more often."""
    rows = [DesignRow((0,), (1.0,))]
    for rest in range(1, base):
        rows.append(DesignRow((-rest, base - rest), ((base - rest) / base, rest / base)))
    return PerturbationDesign(
        rows=tuple(rows),
        tail=Tail(0, period=base),
        blocked_up_to=base - 1,
        name=f"RR{base}",
        parameters=(("base", base),),
    )


_DESIGNS: Mapping[str, Callable[[], PerturbationDesign]] = {
    "CP1": lambda: design_perturbation(1, 0.5, stay=0.5),
    "CP2": lambda: design_perturbation(2, 1.0, stay=0.4),
    "CP3(EU)": lambda: design_perturbation(3, 1.0, stay=0.4),
    "RR3": lambda: random_rounding(3),
    "CP3": lambda: design_perturbation(3, 1.5, stay=0.4),
    "CP4": lambda: design_perturbation(4, 2.0, stay=1 / 3),
    # The study writes a variance of 2, with which there is no such design; its rows have 2.01.
    "CP3(1,2)": lambda: design_perturbation(3, 2.01, blocked=2, stay=1 / 3),
    "RR5": lambda: random_rounding(5),
}

#: In the order of the variance of large counts.
SCHEMES: tuple[str, ...] = tuple(_DESIGNS)

STRENGTHS: Mapping[str, Strength] = MappingProxyType(
    {
        strength.name: strength
        for strength in (
            Strength(
                "light",
                "CP3(EU)",
                "Every count moves by at most 3. About four in ten stay as they are, and about one"
                " in eight moves by 2 or 3.",
            ),
            Strength(
                "medium",
                "CP3",
                "Every count moves by at most 3. About four in ten stay as they are, and about one"
                " in five moves by 2 or 3.",
            ),
            Strength(
                "strong",
                "CP4",
                "Every count moves by at most 4. About one in three stays as it is, and more than"
                " one in four moves by 2 or more.",
            ),
            Strength(
                "no-ones-and-twos",
                "CP3(1,2)",
                "No published count is 1 or 2. Every count moves by at most 3, and about one in"
                " three stays as it is.",
            ),
        )
    }
)


@cache
def _made(name: str) -> PerturbationDesign:
    return replace(_DESIGNS[name](), name=name)
