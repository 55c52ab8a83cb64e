"""Pipelines: one method, then steps that see published values only; nonsense is refused."""

from __future__ import annotations

from typing import Any

import pytest

from sdcensus.errors import SpecError
from sdcensus.methods.additivity import Additivity
from sdcensus.methods.building_blocks import LargeAreasExact
from sdcensus.methods.cell_key import CellKey
from sdcensus.methods.light_touch import LightTouch
from sdcensus.methods.notes import notes_for
from sdcensus.methods.perturbation.schemes import scheme
from sdcensus.methods.pipeline import Pipeline
from sdcensus.methods.rounding import ConventionalRounding, RandomRounding
from sdcensus.methods.small_cells import SmallCellAdjustment
from sdcensus.methods.threshold import ThresholdRounding
from sdcensus.methods.withhold_sparse import WithholdSparse
from sdcensus.model.cube.constraints import adds_up
from sdcensus.model.published.table import Mark, Table
from sdcensus.testing.island import SECRET, island_cube

KEY = CellKey(scheme("CP3"), SECRET)
EXEMPT = CellKey(scheme("CP3"), SECRET, exempt=[island_cube("area@district").spec])
WHOLE = Pipeline(KEY, Additivity(), WithholdSparse())


def test_each_part_does_its_work_in_its_turn() -> None:
    cube = island_cube("area", "sex", "age@class", people=90)
    protected = WHOLE.protect(cube)
    assert isinstance(protected.table, Table)
    stages = dict(protected.audit.stages)
    assert list(stages) == ["cell-key", "additivity"]
    assert stages["cell-key"] == KEY.protect(cube).table
    assert stages["additivity"] == Pipeline(KEY, Additivity()).protect(cube).table
    added = stages["additivity"]
    assert isinstance(added, Table)
    assert adds_up(added.spec, added.published)
    assert protected.table == WithholdSparse().apply(added)
    assert protected.table.flags is not None
    assert (protected.table.flags == Mark.WITHHELD).any()


def test_provenance_names_every_part_and_differs_with_any_of_them() -> None:
    cube = island_cube("area", "sex")
    whole = WHOLE.protect(cube).provenance
    assert whole.method == "cell-key → additivity → withhold-sparse-areas"
    assert whole.method_version == "1 → 1 → 1"
    prints = {
        method.protect(cube).provenance.fingerprint
        for method in (
            KEY,
            WHOLE,
            Pipeline(KEY, Additivity()),
            Pipeline(KEY, WithholdSparse()),
            Pipeline(KEY, Additivity(), WithholdSparse(below=5)),
            Pipeline(CellKey(scheme("CP4"), SECRET), Additivity(), WithholdSparse()),
        )
    }
    assert len(prints) == 6


def test_claims_are_those_of_the_method_changed_by_each_step() -> None:
    assert KEY.claims().consistent
    added = Pipeline(KEY, Additivity()).claims()
    assert (added.consistent, added.additive, added.takes_sparse) == (False, True, False)
    whole = WHOLE.claims()
    assert not whole.additive
    assert any("recomputed" in caution for caution in whole.cautions)


def test_exact_cells_beside_withheld_ones_come_with_a_caution() -> None:
    for method in (EXEMPT, LargeAreasExact(KEY, 300)):
        cautions = Pipeline(method, WithholdSparse()).claims().cautions
        assert any("Do not combine" in caution for caution in cautions)
    assert not any("Do not combine" in caution for caution in WHOLE.claims().cautions)


def test_the_same_parts_in_other_words_are_the_same_pipeline() -> None:
    cube = island_cube("area", "sex")
    table = WHOLE.protect(cube).table
    assert Pipeline(KEY, [Additivity(), WithholdSparse()]).protect(cube).table == table
    assert Pipeline(Pipeline(KEY, Additivity()), WithholdSparse()).protect(cube).table == table
    assert Pipeline(KEY).protect(cube).table == KEY.protect(cube).table


NONSENSE: list[tuple[tuple[Any, ...], str]] = [
    ((KEY, KEY), "noise is added once"),
    ((KEY, RandomRounding(3)), "works on true counts"),
    ((ThresholdRounding(), RandomRounding(3)), "withheld"),
    ((KEY, WithholdSparse(), ConventionalRounding(5)), "withheld"),
    ((KEY, WithholdSparse(), Additivity()), "Put 'additivity' first"),
    ((RandomRounding(3), Additivity()), "take the method controlled-rounding"),
    ((KEY, Additivity(), Additivity()), "adds up already"),
    ((LightTouch(), Additivity()), "adds up already"),
    ((SmallCellAdjustment(3), Additivity()), "adds up already"),
    ((EXEMPT, Additivity()), "exempt"),
    ((Additivity(), WithholdSparse()), "begins with a method"),
    (("cell-key",), "begins with a method"),
    ((KEY, "additivity"), "has steps"),
]


@pytest.mark.parametrize(("parts", "why"), NONSENSE, ids=[why for _, why in NONSENSE])
def test_nonsense_is_refused(parts: tuple[Any, ...], why: str) -> None:
    with pytest.raises(SpecError, match=why):
        Pipeline(*parts)


def test_it_shows_the_names_of_its_parts_only() -> None:
    assert repr(WHOLE) == "<Pipeline cell-key → additivity → withhold-sparse-areas>"


def test_withholding_after_additivity_does_not_say_that_values_were_changed_one_by_one() -> None:
    cube = island_cube("area@parish", "sex", "age", people=300)
    method = Pipeline(CellKey(scheme("CP3"), secret=SECRET), Additivity(), WithholdSparse())
    table = method.protect(cube).table
    assert isinstance(table, Table)
    assert table.flags is not None
    said = " ".join(note.show("en") for note in notes_for(table, method.claims()))
    assert "Wherever a total and all its parts are shown" in said
    assert "changed on its own" not in said
    # Additivity makes the same cell differ between tables, so nothing is said to agree.
    assert not any("agree" in caution for caution in method.claims().cautions)
    plain = Pipeline(CellKey(scheme("CP3"), secret=SECRET), WithholdSparse())
    assert any("agree" in caution for caution in plain.claims().cautions)
