"""The words that plans choose from: programmes, indicators, signs; methods declare their own."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from sdcensus.model.published.table import Mark
from sdcensus.model.schema.roles import IndicatorRole

#: Programmes of tables that others define, by name.
PROGRAMME_NAMES: tuple[str, ...] = ("eu-2021",)

#: The signs that an office may choose for itself, by the names under which plans know them.
SYMBOLS: Mapping[str, Mark] = MappingProxyType(
    {
        one.name.lower(): one
        for one in (
            Mark.WITHHELD,
            Mark.BELOW_THRESHOLD,
            Mark.REFUSED,
            Mark.NOT_AVAILABLE,
            Mark.LOW_RELIABILITY,
            Mark.NOT_BROKEN_DOWN,
            Mark.MODERATE_ERROR,
            Mark.UNRELIABLE,
        )
    }
)


@dataclass(frozen=True, slots=True)
class IndicatorKind:
    """A kind of figure that is computed from published counts.

    Attributes:
        name: How plans call it.
        sentence: What it is.
        needs: Settings without which it says nothing.
        takes: Settings that it may have besides.
        numeric: Whether its variable must stand for numbers.
        role: What its variable is, where none is named.
    """

    name: str
    sentence: str
    needs: tuple[str, ...] = ()
    takes: tuple[str, ...] = ()
    numeric: bool = False
    role: IndicatorRole | None = None

    @property
    def settings(self) -> tuple[str, ...]:
        """All settings of its own, besides those that every kind has."""
        return (*self.needs, *self.takes)


class ComparedFigure(StrEnum):
    """What a difference is of."""

    MEAN = "mean"
    SUM = "sum"


#: What indicators of some kinds take, and those of others do not.
INDICATOR_SETTINGS: tuple[str, ...] = (
    *("numerator", "denominator", "variable", "per"),
    *("percent", "first", "second", "figure", "fewest"),
)
#: An amount in the place of a condition: ``sum(rent)``.
SUM_SIDE = re.compile(r"\s*sum\s*\(\s*(?P<amount>[^()]*?)\s*\)\s*")
#: All units in the place of an amount.
COUNT_SIDE = "count"

#: The kinds of figures, by name.
INDICATOR_KINDS: Mapping[str, IndicatorKind] = MappingProxyType(
    {
        indicator_kind.name: indicator_kind
        for indicator_kind in (
            IndicatorKind(
                "share",
                "of those that fulfil the denominator, the percentage that fulfils the numerator",
                ("numerator",),
                ("denominator",),
            ),
            IndicatorKind(
                "ratio",
                "how many fulfil the numerator per so many that fulfil the denominator; or one"
                " amount per another, such as sum(rent) per sum(rooms) or per count",
                ("numerator", "denominator"),
                ("per", "fewest"),
            ),
            IndicatorKind(
                "distribution", "the percentage of each code of a variable", ("variable",)
            ),
            IndicatorKind(
                "median",
                "the middle value of a variable of numbers or of an amount",
                ("variable",),
                ("fewest",),
                numeric=True,
            ),
            IndicatorKind(
                "quartiles",
                "the values below which a quarter, half and three quarters are",
                ("variable",),
                ("fewest",),
                numeric=True,
            ),
            IndicatorKind(
                "percentile",
                "the value below which so many percent are",
                ("variable", "percent"),
                ("fewest",),
                numeric=True,
            ),
            IndicatorKind(
                "mean",
                "the mean of a variable of numbers or of an amount",
                ("variable",),
                ("fewest",),
                numeric=True,
            ),
            IndicatorKind(
                "difference",
                "how much more the first group has of an amount than the second, by means or sums",
                ("variable", "first", "second"),
                ("figure", "fewest"),
            ),
            IndicatorKind(
                "median-age",
                "the middle age",
                (),
                ("variable",),
                numeric=True,
                role=IndicatorRole.AGE,
            ),
            IndicatorKind(
                "sex-ratio",
                "men per so many women",
                (),
                ("variable", "numerator", "denominator", "per"),
                role=IndicatorRole.SEX,
            ),
            IndicatorKind(
                "dependency-ratio",
                "people below 15 or from 65 on per so many from 15 to 64",
                (),
                ("variable", "numerator", "denominator", "per"),
                numeric=True,
                role=IndicatorRole.AGE,
            ),
            IndicatorKind("average-household-size", "people in households for each household"),
        )
    }
)
