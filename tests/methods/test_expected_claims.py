"""Every claim and every caution that methods make with typical parameters, written down.

A claim that is dropped weakens what offices rely on, and one that is added needs a test of its
name: neither happens unnoticed. What changes on purpose is changed in ``expected_claims.json``.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import pytest

from sdcensus.methods.additivity import Additivity
from sdcensus.methods.building_blocks import BuildingBlocks, LargeAreasExact
from sdcensus.methods.cell_key import CellKey
from sdcensus.methods.coarsening.method import Coarsening
from sdcensus.methods.controlled_rounding.random_rounding import ControlledRandomRounding
from sdcensus.methods.controlled_rounding.rounding import ControlledRounding
from sdcensus.methods.light_touch import LightTouch
from sdcensus.methods.magnitude.abs_top import AbsTopContributors
from sdcensus.methods.magnitude.cell_key_sums import CellKeySums
from sdcensus.methods.magnitude.layered import ExperimentalLayered
from sdcensus.methods.method import Method
from sdcensus.methods.per_unit import PerUnitDeviations
from sdcensus.methods.perturbation.schemes import scheme, strength
from sdcensus.methods.pipeline import Pipeline
from sdcensus.methods.rounding import ConventionalRounding, RandomRounding
from sdcensus.methods.samples.sample_rounding import SampleRounding
from sdcensus.methods.semi_controlled import SemiControlledRounding
from sdcensus.methods.small_cells import SmallCellAdjustment
from sdcensus.methods.small_counts.small_count_rounding import SmallCountRounding
from sdcensus.methods.suppression.method import Suppression
from sdcensus.methods.tabular_adjustment.method import ControlledTabularAdjustment
from sdcensus.methods.threshold import ThresholdRounding
from sdcensus.methods.withhold_sparse import WithholdSparse
from sdcensus.model.method.registry import TABULAR, built_in
from sdcensus.model.published.claims import Claims
from sdcensus.testing.island import SECRET, island

EXPECTED = json.loads(Path(__file__).with_name("expected_claims.json").read_text("utf-8"))


def cases() -> dict[str, Claims]:
    """What is claimed, by what it is claimed of."""
    census = island(20)
    medium = CellKey(strength("medium"), SECRET)
    large = LargeAreasExact(medium, 40)
    exempt = CellKey(strength("medium"), SECRET, exempt=[census.spec("area@district")])
    growing = CellKey(
        strength("medium").with_perturbed_zeros({1: 0.02}),
        SECRET,
        zeros="perturb",
        schema=census.schema,
    )
    methods: dict[str, Method] = {
        "cell-key, light": CellKey(strength("light"), SECRET),
        "cell-key, medium": medium,
        "cell-key, no-ones-and-twos": CellKey(strength("no-ones-and-twos"), SECRET),
        "cell-key, table of few keys": CellKey(scheme("CP3").table(1_000), SECRET),
        "cell-key, ascending": CellKey(strength("medium"), lookup="ascending"),
        "cell-key, scrambled": CellKey(strength("medium"), SECRET, "scrambled"),
        "cell-key, hashed": CellKey(strength("medium"), SECRET, "hashed"),
        "cell-key, exempt": exempt,
        "cell-key, zeros perturbed": growing,
        "cell-key-sums": CellKeySums(secret=SECRET),
        "cell-key-sums, small values and extra noise": CellKeySums(
            small_values=True, extra_noise=1, sensitive_below=3, secret=SECRET
        ),
        "cell-key-sums, range with the key of the count": CellKeySums(
            measured_by="range", same_key=True, secret=SECRET
        ),
        "cell-key-sums, rotated": CellKeySums(key_derivation="rotated"),
        "abs-top-contributors": AbsTopContributors(secret=SECRET),
        "experimental-layered": ExperimentalLayered(secret=SECRET),
        "random-rounding": RandomRounding(3),
        "random-rounding, definition": RandomRounding(5, lookup="definition", secret=SECRET),
        "random-rounding, independent": RandomRounding(3, draw="independent"),
        "semi-controlled-rounding": SemiControlledRounding(3, secret=SECRET),
        "suppression": Suppression(3),
        "suppression, zeros protected": Suppression(3, zeros="protect"),
        "conventional-rounding": ConventionalRounding(5),
        "small-cell-adjustment": SmallCellAdjustment(3),
        "per-unit-deviations, added": PerUnitDeviations(2, secret=SECRET),
        "per-unit-deviations, own": PerUnitDeviations(2, secret=SECRET, totals="own"),
        "light-touch": LightTouch(),
        "light-touch, CP3": LightTouch(scheme("CP3"), secret=SECRET),
        "threshold-and-rounding": ThresholdRounding(),
        "threshold-and-rounding, zeros shown": ThresholdRounding(zeros="show"),
        "sample-rounding": SampleRounding(),
        "sample-rounding, zeros withheld": SampleRounding(zeros="withhold"),
        "small-count-rounding": SmallCountRounding(3, secret=SECRET),
        "tabular-adjustment": ControlledTabularAdjustment(secret=SECRET),
        "tabular-adjustment, best senses": ControlledTabularAdjustment(
            secret=SECRET, senses="best", zeros="change"
        ),
        "controlled-rounding": ControlledRounding(3),
        "controlled-rounding, widened": ControlledRounding(
            3, extra_steps=1, zeros="change", infeasible="widen"
        ),
        "controlled-random-rounding": ControlledRandomRounding(3, secret=SECRET),
        "controlled-random-rounding, widened": ControlledRandomRounding(
            3, secret=SECRET, infeasible="widen"
        ),
        "coarsening": Coarsening(3),
        "large-areas-exact": large,
        "pipeline, additivity": Pipeline(medium, Additivity()),
        "pipeline, withhold-sparse-areas": Pipeline(medium, WithholdSparse()),
        "pipeline, both": Pipeline(medium, Additivity(), WithholdSparse()),
        "pipeline, exempt and withheld": Pipeline(exempt, WithholdSparse()),
        "pipeline, large areas and withheld": Pipeline(
            LargeAreasExact(medium, 40), WithholdSparse()
        ),
    }
    return {name: method.claims() for name, method in methods.items()} | {
        "additivity": Additivity().claims(),
        "additivity, blocked": Additivity(2).claims(),
        "withhold-sparse-areas": WithholdSparse().claims(),
        "building-blocks": BuildingBlocks().claims(),
    }


CASES = cases()


def written(claims: Claims) -> dict[str, list[str]]:
    values = asdict(claims)
    cautions = list(values.pop("cautions"))
    return {"claims": [name for name, held in values.items() if held], "cautions": cautions}


@pytest.mark.parametrize("name", CASES)
def test_what_is_claimed_is_what_was_claimed(name: str) -> None:
    assert written(CASES[name]) == EXPECTED[name]


def test_everything_that_is_offered_is_written_down() -> None:
    assert list(CASES) == list(EXPECTED)
    begun = {name.split(",")[0] for name in EXPECTED}
    assert {name for part in TABULAR for name in built_in(part)} <= begun


def test_every_claim_is_made_by_somebody() -> None:
    made = {name for one in EXPECTED.values() for name in one["claims"]}
    assert made == set(Claims.__dataclass_fields__) - {"cautions"}
