"""Every way to protect a table of the island, for tests of assessments."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from sdcensus.methods.additivity import Additivity
from sdcensus.methods.building_blocks import LargeAreasExact
from sdcensus.methods.cell_key import CellKey
from sdcensus.methods.coarsening.method import Coarsening
from sdcensus.methods.controlled_rounding.random_rounding import ControlledRandomRounding
from sdcensus.methods.controlled_rounding.rounding import ControlledRounding
from sdcensus.methods.light_touch import LightTouch
from sdcensus.methods.method import Method
from sdcensus.methods.per_unit import PerUnitDeviations
from sdcensus.methods.perturbation.schemes import scheme
from sdcensus.methods.pipeline import Pipeline
from sdcensus.methods.rounding import ConventionalRounding, RandomRounding
from sdcensus.methods.semi_controlled import SemiControlledRounding
from sdcensus.methods.small_cells import SmallCellAdjustment
from sdcensus.methods.small_counts.small_count_rounding import SmallCountRounding
from sdcensus.methods.suppression.method import Suppression
from sdcensus.methods.tabular_adjustment.method import ControlledTabularAdjustment
from sdcensus.methods.threshold import ThresholdRounding
from sdcensus.methods.withhold_sparse import WithholdSparse
from sdcensus.model.published.protected import Protected
from sdcensus.testing.island import SECRET, island, island_cube

AXES = ("area@parish+district", "sex", "age@class")


@cache
def cell_key(name: str = "CP3(EU)") -> CellKey:
    """The cell key method with a scheme."""
    return CellKey(scheme(name), secret=SECRET)


def exempt() -> CellKey:
    """The cell key method, with districts published exactly."""
    return CellKey(scheme("CP3"), secret=SECRET, exempt=[island().spec("area@district")])


def grown() -> CellKey:
    """The cell key method that lets empty cells grow."""
    return CellKey(
        scheme("CP3").with_perturbed_zeros({1: 0.2}),
        secret=SECRET,
        zeros="perturb",
        schema=island().schema,
    )


METHODS: dict[str, Callable[[], Method]] = {
    "cell key": cell_key,
    "cell key CP1": lambda: cell_key("CP1"),
    "cell key, blocked counts": lambda: cell_key("CP3(1,2)"),
    "cell key, exempt": exempt,
    "cell key, zeros grow": grown,
    "random rounding": lambda: RandomRounding(3),
    "random rounding to 7": lambda: RandomRounding(7, lookup="hashed", secret=SECRET),
    "semi-controlled": lambda: SemiControlledRounding(3, secret=SECRET),
    "semi-controlled areas": lambda: SemiControlledRounding(5, secret=SECRET, to="areas"),
    "conventional": lambda: ConventionalRounding(5),
    "conventional even": lambda: ConventionalRounding(4),
    "small cells": SmallCellAdjustment,
    "small counts": lambda: SmallCountRounding(5, secret=SECRET),
    "small cells below 7": lambda: SmallCellAdjustment(3, threshold=7),
    "controlled rounding": lambda: ControlledRounding(5, work=1),
    "controlled random rounding": lambda: ControlledRandomRounding(
        5, secret=SECRET, infeasible="widen"
    ),
    "coarsening": lambda: Coarsening(3),
    "suppression": lambda: Suppression(3),
    "tabular adjustment": lambda: ControlledTabularAdjustment(secret=SECRET),
    "threshold": lambda: ThresholdRounding(10, 5),
    "threshold, zeros shown": lambda: ThresholdRounding(6, 3, zeros="show"),
    "per unit": lambda: PerUnitDeviations(2, secret=SECRET),
    "per unit, own totals": lambda: PerUnitDeviations(2, secret=SECRET, totals="own"),
    "light touch": lambda: LightTouch(secret=SECRET),
    "large areas exact": lambda: LargeAreasExact(cell_key("CP3"), 50),
    "added up": lambda: Pipeline(cell_key("CP3"), Additivity(mode="fast")),
    "withheld": lambda: Pipeline(cell_key("CP3"), WithholdSparse(mean_cell_size=5)),
    "rounded and withheld": lambda: Pipeline(RandomRounding(3), WithholdSparse(mean_cell_size=9)),
    "light touch, withheld": lambda: Pipeline(
        LightTouch(secret=SECRET), WithholdSparse(mean_cell_size=5)
    ),
    "added up and withheld": lambda: Pipeline(
        cell_key("CP3"), Additivity(mode="fast"), WithholdSparse(mean_cell_size=5)
    ),
}


@cache
def method_of(name: str) -> Method:
    """A method by its name above."""
    return METHODS[name]()


@cache
def protected_by(name: str) -> Protected:
    """A table of the island, protected by it."""
    return method_of(name).protect(island_cube(*AXES, people=260))
