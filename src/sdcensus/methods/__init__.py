"""Ways to protect a table; one module for each. Names are loaded when they are first used.

A method is a frozen object of parameters that turns a cube into a published table and says what it
claims. ``perturbation`` designs tables of noise. A method counts nothing and reads no file;
``session/protect`` joins it with a census. Methods that change records before counting are in
``microdata``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sdcensus._names import offer

if TYPE_CHECKING:
    from sdcensus.methods.additivity import Additivity as Additivity
    from sdcensus.methods.building_blocks import (
        BuildingBlocks as BuildingBlocks,
        LargeAreasExact as LargeAreasExact,
    )
    from sdcensus.methods.cell_key import CellKey as CellKey
    from sdcensus.methods.coarsening.method import Coarsening as Coarsening
    from sdcensus.methods.controlled_rounding.random_rounding import (
        ControlledRandomRounding as ControlledRandomRounding,
    )
    from sdcensus.methods.controlled_rounding.rounding import (
        ControlledRounding as ControlledRounding,
    )
    from sdcensus.methods.light_touch import LightTouch as LightTouch
    from sdcensus.methods.magnitude.abs_top import AbsTopContributors as AbsTopContributors
    from sdcensus.methods.magnitude.cell_key_sums import CellKeySums as CellKeySums
    from sdcensus.methods.magnitude.layered import ExperimentalLayered as ExperimentalLayered
    from sdcensus.methods.per_unit import PerUnitDeviations as PerUnitDeviations
    from sdcensus.methods.pipeline import Pipeline as Pipeline
    from sdcensus.methods.rounding import (
        ConventionalRounding as ConventionalRounding,
        RandomRounding as RandomRounding,
    )
    from sdcensus.methods.samples.sample_rounding import SampleRounding as SampleRounding
    from sdcensus.methods.semi_controlled import SemiControlledRounding as SemiControlledRounding
    from sdcensus.methods.small_cells import SmallCellAdjustment as SmallCellAdjustment
    from sdcensus.methods.small_counts.small_count_rounding import (
        SmallCountRounding as SmallCountRounding,
    )
    from sdcensus.methods.suppression.method import Suppression as Suppression
    from sdcensus.methods.tabular_adjustment.method import (
        ControlledTabularAdjustment as ControlledTabularAdjustment,
    )
    from sdcensus.methods.threshold import ThresholdRounding as ThresholdRounding
    from sdcensus.methods.withhold_sparse import WithholdSparse as WithholdSparse

__getattr__, __dir__ = offer(__name__)
