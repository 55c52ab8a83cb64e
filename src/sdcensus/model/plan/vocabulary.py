"""The words that plans choose from: programmes, methods and their settings, indicators, signs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from sdcensus.errors import UnknownName
from sdcensus.model.perturbation.lookups import Lookup
from sdcensus.model.published.marks import Mark

#: Programmes of tables that others define, by name.
PROGRAMME_NAMES: tuple[str, ...] = ("eu-2021",)

_CELL_KEY = ("perturbation", "allow_bias", "repeat", "scheme", "strength", "lookup", "key_version")

#: The methods by the names under which users know them, and what may be said about each.
METHOD_SETTINGS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "cell-key": (*_CELL_KEY, "zeros", "zero_share", "exempt"),
        "random-rounding": ("base", "lookup", "key_version"),
        "semi-controlled-rounding": ("base", "to", "area", "key_version"),
        "conventional-rounding": ("base",),
        "small-cell-adjustment": ("base", "threshold"),
        "per-unit-deviations": ("units", "totals", "key_version"),
        "light-touch": _CELL_KEY,
        "threshold-and-rounding": ("threshold", "base", "zeros"),
    }
)
#: The same for the steps after a method.
STEP_SETTINGS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "additivity": ("mode",),
        "withhold-sparse-areas": ("area", "mean_cell_size", "below"),
    }
)

#: Named schemes, in the order of the variance of large counts, and strengths in plain words.
SCHEME_NAMES = ("CP1", "CP2", "CP3(EU)", "RR3", "CP3", "CP4", "CP3(1,2)", "RR5")
STRENGTH_NAMES = ("light", "medium", "strong", "no-ones-and-twos")

#: The words of settings that are a choice, where they are the same for every method.
SETTING_WORDS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "lookup": tuple(one.value for one in Lookup),
        "totals": ("added", "own"),
        "to": ("grand-total", "areas"),
        "mode": ("auto", "exact", "fast"),
    }
)
#: What happens to empty cells, by method.
ZEROS_WORDS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"cell-key": ("keep", "perturb"), "threshold-and-rounding": ("withhold", "show")}
)

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
    """

    name: str
    sentence: str
    needs: tuple[str, ...] = ()
    takes: tuple[str, ...] = ()
    numeric: bool = False

    @property
    def settings(self) -> tuple[str, ...]:
        """All settings of its own, besides those that every kind has."""
        return (*self.needs, *self.takes)


#: The kinds of figures, by name.
INDICATOR_KINDS: Mapping[str, IndicatorKind] = MappingProxyType(
    {
        one.name: one
        for one in (
            IndicatorKind(
                "share",
                "of those that fulfil the denominator, the percentage that fulfils the numerator",
                ("numerator",),
                ("denominator",),
            ),
            IndicatorKind(
                "ratio",
                "how many fulfil the numerator per so many that fulfil the denominator",
                ("numerator", "denominator"),
                ("per",),
            ),
            IndicatorKind(
                "distribution", "the percentage of each code of a variable", ("variable",)
            ),
            IndicatorKind(
                "median", "the middle value of a variable of numbers", ("variable",), numeric=True
            ),
            IndicatorKind("mean", "the mean of a variable of numbers", ("variable",), numeric=True),
            IndicatorKind("median-age", "the middle age", (), ("variable",), numeric=True),
            IndicatorKind(
                "sex-ratio",
                "men per so many women",
                (),
                ("variable", "numerator", "denominator", "per"),
            ),
            IndicatorKind(
                "dependency-ratio",
                "people below 15 or from 65 on per so many from 15 to 64",
                (),
                ("variable", "numerator", "denominator", "per"),
                numeric=True,
            ),
            IndicatorKind("average-household-size", "people in households for each household"),
        )
    }
)


def plain_name(name: str) -> str:
    """A name as it is compared: case, brackets, commas, dashes and blanks do not matter.

    Examples:
        >>> plain_name("CP3(1,2)") == plain_name("cp3-1-2")
        True
    """
    return "".join(one for one in name.casefold() if one.isalnum())


def named(kind: str, name: object, known: Iterable[str]) -> str:
    """The name that was meant, however it is spelled."""
    names = {plain_name(one): one for one in known}
    if not isinstance(name, str) or plain_name(name) not in names:
        raise UnknownName(kind, str(name), known=names.values())
    return names[plain_name(name)]
