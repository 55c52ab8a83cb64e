"""Measures of what protection costs the user of a table; each returns a result dataclass.

Distances, ranks, associations, evaluation sheets: true counts beside published ones. Names are
loaded when they are first used. What protection prevents is measured in ``risk``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sdcensus._names import offer

if TYPE_CHECKING:
    from sdcensus.utility.against_design import (
        chi_square as chi_square,
        signed_rank as signed_rank,
        stay_tests as stay_tests,
    )
    from sdcensus.utility.association import (
        association_change as association_change,
        between_groups as between_groups,
        cramers_v as cramers_v,
    )
    from sdcensus.utility.bases import Base as Base, Source as Source
    from sdcensus.utility.by_row import RowMeasures as RowMeasures, per_row as per_row
    from sdcensus.utility.deviations import (
        deviation_distribution as deviation_distribution,
        worst_cells as worst_cells,
    )
    from sdcensus.utility.distances import (
        Utility as Utility,
        utility_of as utility_of,
        utility_of_values as utility_of_values,
    )
    from sdcensus.utility.evaluation import (
        EvaluationRow as EvaluationRow,
        evaluation_row as evaluation_row,
    )
    from sdcensus.utility.levels import by_code as by_code, by_level as by_level
    from sdcensus.utility.margins import marginal_change as marginal_change
    from sdcensus.utility.ranks import rank_change as rank_change
    from sdcensus.utility.withheld import (
        WithheldCells as WithheldCells,
        withheld_cells as withheld_cells,
    )

__getattr__, __dir__ = offer(__name__)
