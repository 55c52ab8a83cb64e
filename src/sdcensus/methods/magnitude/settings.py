"""What may be said about the cell key method for sums, and what that means."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Any

from sdcensus.errors import SpecError
from sdcensus.kernels.magnitude.numeric_rows import BILLION
from sdcensus.methods.magnitude.magnitude_functions import (
    LARGEST_POWER,
    MagnitudeFunction,
    SmallSeparation,
)
from sdcensus.methods.magnitude.numeric_tables import FINEST, NumericTable, design_numeric_table
from sdcensus.methods.magnitude.sensitive_cells import SensitiveCells
from sdcensus.model.confidential import Confidential
from sdcensus.model.cube.contributions import MOST_LARGEST
from sdcensus.model.cube.primary_rules import PrimaryRules
from sdcensus.model.exact_shares import exactly, in_billionths, in_last_decimals, numbers_of
from sdcensus.model.method.parameter import Parameter, ValueKind

NOISE_SHARE, POWER = 0.1, 2
#: The numeric table that is taken where nothing is said: its standard deviation is one, so that
#: the share of noise is the standard deviation of noise, as a share of the contribution.
MAX_DEVIATION, VARIANCE, STEP = 3, 1.0, 4
SMALL_DEVIATION, SMALL_VARIANCE = 3, 1.0


class MeasuredBy(StrEnum):
    """What the noise of a sum is measured by.

    ``top-contributors``: its largest contributions. ``mean``: the mean contribution, without
    signs. ``range``: the largest less the smallest contribution; where all are equal, the largest.
    ``sum``: the sum itself.
    """

    TOP = "top-contributors"
    MEAN = "mean"
    RANGE = "range"
    SUM = "sum"


class KeyDerivation(StrEnum):
    """How the keys of the noise of a sum are made.

    ``definition``: a keyed hash of the cell key, of what the cell asks and of the amount.
    ``hashed``: of the cell key alone; the same contributors have the same noise.
    ``rotated``: the digits of decimal cell keys in turn, as tau-ARGUS does; for exchange.
    """

    DEFINITION = "definition"
    HASHED = "hashed"
    ROTATED = "rotated"


_SIZE = (
    Parameter(
        "measured_by",
        ValueKind.WORD,
        "What the noise of a sum is measured by.",
        words=tuple(MeasuredBy),
        called="measure of noise",
        default=MeasuredBy.TOP,
    ),
    Parameter(
        "contribution_shares",
        ValueKind.TEXT,
        "What each of the largest contributions counts, six at most, such as 1, 0.5, 0.3.",
        default="1",
    ),
    Parameter(
        "noise_share",
        ValueKind.SHARE,
        "The standard deviation of noise as a share of a contribution, with the built-in table.",
        default=NOISE_SHARE,
    ),
    Parameter(
        "large_share",
        ValueKind.SHARE,
        "The same for very large contributions: the share falls from the flex point on.",
        needs=("flex_point",),
    ),
    Parameter(
        "flex_point",
        ValueKind.NUMBER,
        "The contribution from which on the share falls, in units of the variable.",
        needs=("large_share",),
    ),
    Parameter(
        "power",
        ValueKind.WHOLE,
        "How fast the share falls; 1 is refused, as it would rise.",
        least=1,
        most=LARGEST_POWER,
        default=POWER,
        needs=("flex_point",),
    ),
)
_TABLE = (
    Parameter(
        "max_deviation",
        ValueKind.WHOLE,
        "The largest deviation of the numeric table, and its last anchor.",
        least=1,
        most=FINEST - 1,
        default=MAX_DEVIATION,
    ),
    Parameter(
        "table_variance",
        ValueKind.NUMBER,
        "The variance of the numeric table.",
        least=0,
        default=VARIANCE,
    ),
    Parameter(
        "step",
        ValueKind.WHOLE,
        "How many steps of its grid make one; below 50 times the largest deviation.",
        least=1,
        most=FINEST - 1,
        default=STEP,
    ),
    Parameter(
        "anchors",
        ValueKind.TEXT,
        "Which rows it has, from 1 to the largest deviation: 1, 2, 3. All if not given.",
    ),
    Parameter(
        "odd_variance",
        ValueKind.NUMBER,
        "The variance of another table, for odd numbers of contributors.",
        least=0,
    ),
)
_SMALL = (
    Parameter(
        "small_values",
        ValueKind.YES,
        "Small contributions have noise in units of the variable.",
    ),
    Parameter(
        "small_deviation",
        ValueKind.WHOLE,
        "The largest deviation of small values, in units.",
        least=1,
        most=FINEST - 1,
        default=SMALL_DEVIATION,
        needs=("small_values",),
    ),
    Parameter(
        "small_variance",
        ValueKind.NUMBER,
        "The variance of small values, in squared units.",
        least=0,
        default=SMALL_VARIANCE,
        needs=("small_values",),
    ),
    Parameter(
        "small_unit",
        ValueKind.NUMBER,
        "One unit of small values, in units of the variable.",
        least=0,
        default=1,
        needs=("small_values",),
    ),
)
_ROUNDING = Parameter(
    "rounded_to",
    ValueKind.NUMBER,
    "Published sums are multiples of this, in units of the variable: people give round amounts, and"
    " the last digits of a sum would tell its noise.",
    least=0,
)
_RULES = ("sensitive_below", "sensitive_remainder", "sensitive_dominance")
_SENSITIVE = (
    Parameter(
        "extra_noise",
        ValueKind.NUMBER,
        "How much farther sensitive cells move at least, in deviations of the table.",
        least=0,
        needs=_RULES,
    ),
    Parameter(
        "sensitive_below",
        ValueKind.WHOLE,
        "Cells with fewer contributors are sensitive.",
        least=2,
        needs=("extra_noise",),
    ),
    Parameter(
        "sensitive_remainder",
        ValueKind.NUMBER,
        "The p of the p % rule: cells are sensitive whose contributions behind the two largest are"
        " less than that percentage of the largest.",
        least=0,
        most=100,
        needs=("extra_noise",),
    ),
    Parameter(
        "sensitive_dominance",
        ValueKind.TEXT,
        "A number and a percentage: cells are sensitive of which so many have more, such as 2, 85.",
        needs=("extra_noise",),
    ),
)
_KEYS = (
    Parameter(
        "key_derivation",
        ValueKind.WORD,
        "How keys are made. Best left out: the others are set keys, for exchange.",
        words=tuple(KeyDerivation),
        called="way to make keys",
        default=KeyDerivation.DEFINITION,
    ),
    Parameter(
        "same_key",
        ValueKind.YES,
        "The largest contribution has the key with which the count of the cell is looked up.",
    ),
    Parameter(
        "zeros_in_key",
        ValueKind.YES,
        "Records whose amount is 0 or missing take part in the cell key.",
    ),
)
PARAMETERS = (*_SIZE, *_TABLE, *_SMALL, *_SENSITIVE, _ROUNDING, *_KEYS)
_DEFAULTS = {parameter.name: parameter.default for parameter in PARAMETERS}


@dataclass(frozen=True, slots=True, repr=False)
class NoiseSettings(Confidential):
    """What was said about the noise of sums, checked and put together.

    Attributes:
        shares: What each of the largest contributions counts, in billionths.
        magnitude: How large noise is, relative to a contribution.
        table, odd_table: Which deviations, with which probabilities.
        small: Where small contributions have noise of their own.
        extra: How much farther sensitive cells move at least, in billionths.
        sensitive: Which cells are sensitive.
        rounded_to: Of what published sums are multiples, in units of the variable.
    """

    shares: tuple[int, ...]
    magnitude: MagnitudeFunction
    table: NumericTable
    odd_table: NumericTable | None
    small: SmallSeparation | None
    extra: int
    sensitive: SensitiveCells | None
    rounded_to: Fraction | None = None

    def __post_init__(self) -> None:
        ordered = tuple(sorted(self.shares, reverse=True))
        if not 1 <= len(self.shares) <= MOST_LARGEST or self.shares != ordered:
            raise SpecError(
                f"Shares of contributions are 1 to {MOST_LARGEST} numbers, none larger than the one"
                " before, such as 1, 0.5, 0.3."
            )
        if self.shares[0] != BILLION:
            raise SpecError("The share of the largest contribution is 1; noise_share scales it.")
        if len(self.shares) > 1 and self.odd_table is not None:
            raise SpecError(
                "Odd numbers of contributors have a table of their own only where one contribution"
                " counts. Leave odd_variance or contribution_shares out."
            )
        if (self.extra > 0) != (self.sensitive is not None):
            raise SpecError(
                "Extra noise above 0 (extra_noise) and the rule that says for which cells"
                f" ({', '.join(_RULES)}) belong together."
            )

    def __repr__(self) -> str:
        return "<NoiseSettings: confidential>"

    @property
    def least_deviation(self) -> float:
        """The least standard deviation, as a share of the largest contribution."""
        function = self.magnitude
        share = function.share if function.large_share is None else function.large_share
        tables = [self.table, *([self.odd_table] if self.odd_table is not None else [])]
        variances = [table.variance(anchor) for table in tables for anchor in table.anchors]
        return float(share) * math.sqrt(min(variances))

    @classmethod
    def of(cls, said: Mapping[str, Any]) -> NoiseSettings:
        """Take values by the names of parameters, and tables that were made by hand."""
        _check_kinds(said)
        _refuse_without_effect(said)
        texts = numbers_of("Shares of contributions", said["contribution_shares"])
        odd = said["odd_table"]
        if odd is None and said["odd_variance"] is not None:
            odd = _table(said, said["odd_variance"])
        return cls(
            shares=tuple(in_billionths("A share of contributions", text) for text in texts),
            magnitude=MagnitudeFunction(
                said["noise_share"], said["large_share"], said["flex_point"], said["power"]
            ),
            table=said["table"] or _table(said, said["table_variance"]),
            odd_table=odd,
            small=_small(said),
            extra=in_billionths("The extra noise", said["extra_noise"] or 0, most=100),
            sensitive=_sensitive(said),
            rounded_to=_rounded_to(said),
        )

    def base(self, decimals: int) -> int:
        """Of what published sums are multiples, in last decimals."""
        if self.rounded_to is None:
            return 1
        return in_last_decimals("What sums are rounded to", self.rounded_to, decimals)

    def described(self) -> dict[str, object]:
        """As few plain values; confidential."""
        parts = (self.magnitude, self.table, self.odd_table, self.small, self.sensitive)
        text = json.dumps([None if part is None else part.described() for part in parts])
        return {
            "shares": list(self.shares),
            "extra_noise": self.extra,
            "rounded_to": None if self.rounded_to is None else str(self.rounded_to),
            "noise": hashlib.blake2b(text.encode(), digest_size=16).hexdigest(),
        }


def _check_kinds(said: Mapping[str, Any]) -> None:
    """Refuse what Python would take for yes or no, or for a table, and is none."""
    for parameter in PARAMETERS:
        value = said[parameter.name]
        if parameter.kind is ValueKind.YES and not isinstance(value, bool):
            raise SpecError(f"{parameter.name} is True or False, not {value!r}.")
    for name in ("table", "odd_table", "small_table"):
        if said[name] is not None and not isinstance(said[name], NumericTable):
            raise SpecError(
                f"{name} is a NumericTable, as design_numeric_table makes one, not {said[name]!r}."
            )


def _refuse_without_effect(said: Mapping[str, Any]) -> None:
    """Refuse settings that change nothing beside the others."""
    small = ("small_deviation", "small_variance", "small_unit", "small_table")
    for name, other in (("power", "flex_point"), *((name, "small_values") for name in small)):
        if said[name] != _DEFAULTS.get(name) and not said[other]:
            raise SpecError(f"{name} has no effect without {other}. Say both, or neither.")
    designed = ["table_variance"]
    if said["odd_table"] is not None or said["odd_variance"] is None:
        designed += ["max_deviation", "step", "anchors"]
    taken = {
        "table": designed,
        "odd_table": ["odd_variance"],
        "small_table": ["small_deviation", "small_variance"],
    }
    for table, names in taken.items():
        for name in names:
            if said[table] is not None and said[name] != _DEFAULTS[name]:
                raise SpecError(f"{name} has no effect beside {table}. Leave one of them out.")
    both = said["table"] is None and said["odd_table"] is None
    if both and said["odd_variance"] == said["table_variance"]:
        raise SpecError(
            "With the variance of all others (table_variance), odd_variance has no effect. Take"
            " another one, or leave it out."
        )


def _rounded_to(said: Mapping[str, Any]) -> Fraction | None:
    if said["rounded_to"] is None:
        return None
    base = exactly("What sums are rounded to", said["rounded_to"])
    if base <= 0:
        raise SpecError("What sums are rounded to is above 0.")
    return base


def _table(said: Mapping[str, Any], variance: object) -> NumericTable:
    anchors = None
    if said["anchors"] is not None:
        texts = [str(text) for text in numbers_of("Anchors", said["anchors"])]
        if not all(text.isascii() and text.isdigit() for text in texts):
            raise SpecError("Anchors are whole numbers with commas between them, such as 1, 2, 3.")
        anchors = tuple(int(text) for text in texts)
    return _designed(said["max_deviation"], variance, said["step"], anchors)


def _designed(
    max_deviation: int, variance: object, step: int = 1, anchors: tuple[int, ...] | None = None
) -> NumericTable:
    number = exactly("The variance of a numeric table", variance)
    return design_numeric_table(max_deviation, float(number), step, anchors)


def _small(said: Mapping[str, Any]) -> SmallSeparation | None:
    if not said["small_values"]:
        return None
    table = said["small_table"] or _designed(said["small_deviation"], said["small_variance"])
    return SmallSeparation(table, said["small_unit"])


def _sensitive(said: Mapping[str, Any]) -> SensitiveCells | None:
    if all(said[name] is None for name in _RULES):
        return None
    rules = PrimaryRules.written(
        fewest=said["sensitive_below"],
        percent=said["sensitive_remainder"],
        dominance=said["sensitive_dominance"],
    )
    return SensitiveCells(rules.fewest, rules.percent, rules.dominance)
