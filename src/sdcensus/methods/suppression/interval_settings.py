"""Settings of the engines with protection intervals, and who takes which."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from sdcensus.errors import SpecError
from sdcensus.methods.suppression.intervals import MOST_DISTANCE, MOST_PERCENT
from sdcensus.model.method.parameter import SECONDS, WORK, Parameter, ValueKind

#: About so many seconds of a usual processor are spent on making patterns cheaper.
DEFAULT_WORK = 30

_WITH_INTERVALS = ("secondary=optimal", "secondary=modular")

INTERVAL_PARAMETERS = (
    Parameter(
        "lower_protection",
        ValueKind.WHOLE,
        "How far down the protection of a cell reaches at least; to 0 if not given.",
        least=1,
        most=MOST_DISTANCE,
        needs=_WITH_INTERVALS,
    ),
    Parameter(
        "upper_protection",
        ValueKind.WHOLE,
        "How far up the protection of a cell reaches at least; to the minimum if not given.",
        least=1,
        most=MOST_DISTANCE,
        needs=_WITH_INTERVALS,
    ),
    Parameter(
        "percent_protection",
        ValueKind.WHOLE,
        "How far it reaches both ways in percent of the count, where that is farther.",
        least=1,
        most=MOST_PERCENT,
        needs=_WITH_INTERVALS,
    ),
    Parameter(
        "known_within",
        ValueKind.WHOLE,
        "Everybody knows closed cells to so many percent beforehand.",
        least=1,
        most=MOST_PERCENT,
        needs=_WITH_INTERVALS,
    ),
    replace(WORK, needs=_WITH_INTERVALS),
    replace(SECONDS, needs=_WITH_INTERVALS),
    Parameter(
        "gap",
        ValueKind.SHARE,
        "A result that is proven to be so near to the best is good enough.",
        needs=("secondary=optimal",),
    ),
)


def check_engine(engine: str, said: Mapping[str, object]) -> None:
    """Refuse settings that the engine does not use.

    Args:
        engine: The engine of suppression.
        said: What was said about it: settings that are not what is taken by default.

    Raises:
        SpecError: One of them has no effect.
    """
    if engine in ("fewest", "elimination"):
        unused = [parameter.name for parameter in INTERVAL_PARAMETERS]
        remedy = 'Take secondary = "optimal" or "modular" for protection intervals.'
    else:
        unused = ["order", *(["gap"] if engine == "modular" else [])]
        remedy = "Leave it out: cells are chosen by what they cost."
    for name in unused:
        if name in said:
            raise SpecError(f"The engine {engine!r} does not use {name}. {remedy}")
    if engine in ("optimal", "modular") and said.get("singles") == "any-sum":
        raise SpecError(
            f"The engine {engine!r} does not know the rule for singles 'any-sum'. Take 'alone':"
            " intervals then hold for those as well who are alone in a closed cell; or 'none'."
        )
