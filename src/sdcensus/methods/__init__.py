"""Ways to protect a table; one module for each. Names are loaded when they are first used.

A method is a frozen object of parameters that turns a cube into a published table and says what it
claims. ``perturbation`` designs tables of noise. A method counts nothing and reads no file;
``session/protect`` joins it with a census. Methods that change records before counting are in
``microdata``.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sdcensus.methods.additivity import Additivity
    from sdcensus.methods.building_blocks import BuildingBlocks, LargeAreasExact
    from sdcensus.methods.cell_key import CellKey
    from sdcensus.methods.light_touch import LightTouch
    from sdcensus.methods.per_unit import PerUnitDeviations
    from sdcensus.methods.pipeline import Pipeline
    from sdcensus.methods.rounding import ConventionalRounding, RandomRounding
    from sdcensus.methods.semi_controlled import SemiControlledRounding
    from sdcensus.methods.small_cells import SmallCellAdjustment
    from sdcensus.methods.threshold import ThresholdRounding
    from sdcensus.methods.withhold_sparse import WithholdSparse

_MODULES = {
    "Additivity": "additivity",
    "BuildingBlocks": "building_blocks",
    "CellKey": "cell_key",
    "ConventionalRounding": "rounding",
    "LargeAreasExact": "building_blocks",
    "LightTouch": "light_touch",
    "PerUnitDeviations": "per_unit",
    "Pipeline": "pipeline",
    "RandomRounding": "rounding",
    "SemiControlledRounding": "semi_controlled",
    "SmallCellAdjustment": "small_cells",
    "ThresholdRounding": "threshold",
    "WithholdSparse": "withhold_sparse",
}

__all__ = [
    "Additivity",
    "BuildingBlocks",
    "CellKey",
    "ConventionalRounding",
    "LargeAreasExact",
    "LightTouch",
    "PerUnitDeviations",
    "Pipeline",
    "RandomRounding",
    "SemiControlledRounding",
    "SmallCellAdjustment",
    "ThresholdRounding",
    "WithholdSparse",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
