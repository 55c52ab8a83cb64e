"""What may be said about suppression: the words of its settings, and what each setting means."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum

from sdcensus.methods.suppression.earlier import Contradictions
from sdcensus.methods.suppression.interval_settings import INTERVAL_PARAMETERS
from sdcensus.methods.suppression.sum_settings import CONTRIBUTION_PARAMETERS
from sdcensus.model.method.parameter import AREA, Parameter, ValueKind


class Engine(StrEnum):
    """How the cells are chosen that are closed besides the primary ones.

    ``FEWEST``: by elimination or down the hierarchy, with the promise of elimination.
    """

    FEWEST = "fewest"
    ELIMINATION = "elimination"
    OPTIMAL = "optimal"
    MODULAR = "modular"


class Zeros(StrEnum):
    """What becomes of empty cells: shown, primary like small ones, or closed where that helps."""

    SHOW = "show"
    PROTECT = "protect"
    CANDIDATES = "candidates"


class SinglesRule(StrEnum):
    """What is done for those who are alone in a closed cell; see ``Singles``."""

    NONE = "none"
    ALONE = "alone"
    ANY_SUM = "any-sum"


class Order(StrEnum):
    """Which cells are kept open first: large ones, or sums of many cells."""

    LARGE = "large-first"
    TOTALS = "totals-first"
    ZEROS = "zeros-first"


PARAMETERS: tuple[Parameter, ...] = (
    Parameter(
        "minimum",
        ValueKind.WHOLE,
        "The smallest count that is shown; of sums the smallest number of contributors.",
        least=1,
        default=3,
    ),
    *CONTRIBUTION_PARAMETERS,
    Parameter(
        "zeros",
        ValueKind.WORD,
        "What becomes of empty cells.",
        words=tuple(Zeros),
        called="treatment of zeros",
        default=Zeros.SHOW,
    ),
    Parameter(
        "group",
        ValueKind.WHOLE,
        "Close also what tells of a whole group, or of all but N of it, in which cell it is.",
        least=0,
    ),
    Parameter(
        "group_axes",
        ValueKind.VARIABLES,
        "The variables that a group must not be known for.",
        needs=("group",),
    ),
    Parameter("households", ValueKind.YES, "Close cells of persons who all live in one household."),
    Parameter(
        "population",
        ValueKind.WHOLE,
        "Areas with fewer units show no cell that holds somebody.",
        least=1,
    ),
    replace(AREA, needs=("population",)),
    Parameter(
        "secondary",
        ValueKind.WORD,
        "How the other cells are chosen that are closed; fewest: by elimination or modular.",
        words=tuple(Engine),
        called="engine of suppression",
        default=Engine.FEWEST,
    ),
    Parameter(
        "singles",
        ValueKind.WORD,
        "What is done against those who are alone in a closed cell.",
        words=tuple(SinglesRule),
        called="rule for singles",
        default=SinglesRule.ALONE,
    ),
    Parameter(
        "order",
        ValueKind.WORD,
        "Which cells are kept open first.",
        words=tuple(Order),
        called="order of cells",
        default=Order.LARGE,
    ),
    Parameter(
        "width",
        ValueKind.WHOLE,
        "How far apart the possible values of a cell have to be; 0 for no audit.",
        least=0,
        default=1,
    ),
    *INTERVAL_PARAMETERS,
    Parameter(
        "earlier_release",
        ValueKind.RELEASE,
        "An earlier release, to whose open and closed cells it keeps.",
    ),
    Parameter(
        "contradictions",
        ValueKind.WORD,
        "What is done where an earlier release showed what may not be shown now.",
        words=tuple(Contradictions),
        called="way with contradictions",
        default=Contradictions.REFUSE,
    ),
)
