"""Measures of what protection costs the user of a table; each returns a result dataclass.

Distances, ranks, associations, evaluation sheets: true counts beside published ones. Names are
loaded when they are first used. What protection prevents is measured in ``risk``.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sdcensus.utility.against_design import chi_square, signed_rank, stay_tests
    from sdcensus.utility.association import association_change, between_groups, cramers_v
    from sdcensus.utility.bases import Base, Source
    from sdcensus.utility.by_row import RowMeasures, per_row
    from sdcensus.utility.deviations import deviation_distribution, worst_cells
    from sdcensus.utility.distances import Utility, utility_of, utility_of_values
    from sdcensus.utility.evaluation import EvaluationRow, evaluation_row
    from sdcensus.utility.levels import by_code, by_level
    from sdcensus.utility.margins import marginal_change
    from sdcensus.utility.ranks import rank_change

_MODULES = {
    "Base": "bases",
    "EvaluationRow": "evaluation",
    "RowMeasures": "by_row",
    "Source": "bases",
    "Utility": "distances",
    "association_change": "association",
    "between_groups": "association",
    "by_code": "levels",
    "by_level": "levels",
    "chi_square": "against_design",
    "cramers_v": "association",
    "deviation_distribution": "deviations",
    "evaluation_row": "evaluation",
    "marginal_change": "margins",
    "per_row": "by_row",
    "rank_change": "ranks",
    "signed_rank": "against_design",
    "stay_tests": "against_design",
    "utility_of": "distances",
    "utility_of_values": "distances",
    "worst_cells": "deviations",
}

__all__ = [
    "Base",
    "EvaluationRow",
    "RowMeasures",
    "Source",
    "Utility",
    "association_change",
    "between_groups",
    "by_code",
    "by_level",
    "chi_square",
    "cramers_v",
    "deviation_distribution",
    "evaluation_row",
    "marginal_change",
    "per_row",
    "rank_change",
    "signed_rank",
    "stay_tests",
    "utility_of",
    "utility_of_values",
    "worst_cells",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
